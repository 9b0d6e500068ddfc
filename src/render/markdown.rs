//! Documents as Markdown: the header line and fence of each file, and the sections around them.

use std::fmt::Write as _;

use ::base64::Engine as _;
use ::base64::engine::general_purpose::STANDARD;
use memchr::memchr_iter;

use super::layout::{DISCUSSION_HEADING, LayoutBuilder, WrittenPiece};
use super::quoted;
use crate::model::{
    BeadIssue, BeadsList, DiscussionEntry, Document, DocumentBlock, DocumentLayout, DocumentText,
    DocumentTextBuilder, OVERVIEW, Screenshot, ScreenshotImage, SummaryProvenance, ViewMode,
    count_redactions, is_unsafe_to_print, printable,
};

/// The note in a document that omits files to fit a budget. It neither counts nor names them: the receipt does, and the
/// note would change with every edit.
const OMISSION_NOTE: &str =
    "\n### (further files)\nomitted to stay within the limit; the receipt names them\n";

/// A piece of a document's prefix; a block of a provider's request may end with any of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrefixPiece<'a> {
    Text(String),
    /// An image, for readers that accept images.
    Image {
        media_type: &'static str,
        bytes: &'a [u8],
        /// Its Markdown form.
        markdown: String,
        /// The text sent with it if it is sent as an image.
        caption: String,
    },
    /// No text: everything before it stays the same from task to task, or from commit to commit.
    StableEnd,
}

/// Renders a document: its prefix, then its suffix. The result is deterministic.
pub fn render_markdown(document: &Document) -> DocumentText {
    let mut text = DocumentTextBuilder::with_capacity(expected_bytes(document));
    write_markdown(document, &mut |piece| text.push_str(piece));
    text.finish()
}

/// Renders like [`render_markdown`], but frees each block once it is written, so that a large document is not in memory
/// twice. Also returns the layout of the text.
pub fn take_markdown(document: &mut Document) -> (DocumentText, DocumentLayout) {
    let mut text = DocumentTextBuilder::with_capacity(expected_bytes(document));
    let mut layout = LayoutBuilder::default();
    let frame = MarkdownFrame::new(document);
    let write_one = |block: &mut DocumentBlock, text: &mut String| {
        write_block(text, block);
        block.body = String::new().into();
    };
    frame.write_around(document.blocks.iter_mut(), write_one, &mut |subject, piece| {
        layout.push(subject, piece);
        text.push_str(piece);
    });
    (text.finish(), layout.finish(document))
}

/// Returns the layout of a document's Markdown; an image that is sent separately is only its caption.
pub fn document_layout(document: &Document, images_apart: bool) -> DocumentLayout {
    let mut layout = LayoutBuilder::default();
    let frame =
        MarkdownFrame { after: pieces_behind_files(document, images_apart), ..MarkdownFrame::new(document) };
    let write_one = |block: &DocumentBlock, text: &mut String| write_block(text, block);
    frame.write_around(document.blocks.iter(), write_one, &mut |subject, piece| layout.push(subject, piece));
    layout.finish(document)
}

/// Returns the length of [`render_markdown`]'s result in bytes.
pub fn markdown_bytes(document: &Document) -> usize {
    let mut bytes = 0;
    write_markdown(document, &mut |piece| bytes += piece.len());
    bytes
}

/// Returns the approximate size of a document: 200 bytes suffice for the heading, the header line and the fences of a
/// block; a block that needs more costs a reallocation.
fn expected_bytes(document: &Document) -> usize {
    document.blocks.iter().map(|block| block.body.len() + 200).sum()
}

fn write_markdown(document: &Document, write: &mut dyn FnMut(&str)) {
    let write_one = |block: &DocumentBlock, text: &mut String| write_block(text, block);
    let mut write_piece = |_: WrittenPiece, piece: &str| write(piece);
    MarkdownFrame::new(document).write_around(document.blocks.iter(), write_one, &mut write_piece);
}

/// A text outside of blocks, with the section that it belongs to.
type FramePiece = (&'static str, String);

/// The text around the blocks of a document.
struct MarkdownFrame {
    heading: Vec<FramePiece>,
    /// The number of blocks that come first.
    stable: usize,
    /// Whether the document has a part that stays the same.
    has_stable: bool,
    stable_rows: String,
    next_heading: FramePiece,
    after: Vec<FramePiece>,
    /// The discussion is last, because it changes with every turn, and a provider's cache ends at the first changed
    /// byte.
    suffix: String,
}

impl MarkdownFrame {
    fn new(document: &Document) -> Self {
        let next_heading = document.stable.as_ref().map_or("", |stable| stable.next_heading);
        Self {
            heading: heading_pieces(document),
            stable: stable_blocks(document),
            has_stable: document.stable.is_some(),
            stable_rows: stable_rows(document),
            next_heading: (next_heading, self::next_heading(document)),
            after: pieces_behind_files(document, false),
            suffix: suffix_text(document),
        }
    }

    /// Writes a document block by block, so that only one at a time is decompressed in memory.
    fn write_around<B>(
        &self,
        blocks: impl Iterator<Item = B>,
        mut write_one: impl FnMut(B, &mut String),
        write: &mut dyn FnMut(WrittenPiece, &str),
    ) {
        let write_frame = |pieces: &[FramePiece], write: &mut dyn FnMut(WrittenPiece, &str)| {
            for (section, text) in pieces {
                write(WrittenPiece::Section(section), text);
            }
        };
        write_frame(&self.heading, write);
        let (mut text, mut count) = (String::new(), 0);
        for block in blocks {
            if count == self.stable {
                self.write_after_stable(write);
            }
            text.clear();
            text.push('\n');
            write_one(block, &mut text);
            write(WrittenPiece::Block(count), &text);
            count += 1;
        }
        // All blocks come first, or there are none.
        if count <= self.stable {
            self.write_after_stable(write);
        }
        write_frame(&self.after, write);
        write(WrittenPiece::Suffix, &self.suffix);
    }

    fn write_after_stable(&self, write: &mut dyn FnMut(WrittenPiece, &str)) {
        if self.has_stable {
            write(WrittenPiece::Section(MORE_FILES), &self.stable_rows);
            write(WrittenPiece::StableEnd, "");
            write(WrittenPiece::Section(self.next_heading.0), &self.next_heading.1);
        }
    }
}

const MORE_FILES: &str = "More files";

/// Returns the text before the first file, by sections.
fn heading_pieces(document: &Document) -> Vec<FramePiece> {
    if !document.part.has_prefix() {
        return Vec::new();
    }
    let heading = (document.files_heading, format!("## {}\n", document.files_heading));
    if document.overview.is_empty() {
        return vec![heading];
    }
    vec![(OVERVIEW, format!("{}\n\n", document.overview)), heading]
}

/// Returns the part of the prefix after the files, by sections; an image that is sent separately is only its caption.
fn pieces_behind_files(document: &Document, images_apart: bool) -> Vec<FramePiece> {
    let text_of = |piece: PrefixPiece<'_>| match piece {
        PrefixPiece::Text(text) => text,
        PrefixPiece::Image { caption, .. } if images_apart => caption,
        PrefixPiece::Image { markdown, .. } => markdown,
        PrefixPiece::StableEnd => String::new(),
    };
    pieces_after_files(document).map(|(section, piece)| (section, text_of(piece))).collect()
}

/// Returns the text before the first file: the overview, and the heading of the files.
pub fn files_heading(document: &Document) -> String {
    heading_pieces(document).into_iter().map(|(_, text)| text).collect()
}

/// Returns the number of blocks in the part that comes first.
fn stable_blocks(document: &Document) -> usize {
    document.stable.as_ref().map_or(0, |stable| stable.blocks.min(document.blocks.len()))
}

/// Returns the text between the files that come first and the others.
pub fn after_stable(document: &Document) -> String {
    stable_rows(document) + &next_heading(document)
}

/// Returns the rows of the files that come first.
fn stable_rows(document: &Document) -> String {
    let rows = document.stable.as_ref().and_then(|stable| stable.rows.as_deref());
    rows.map_or_else(String::new, more_files_section)
}

/// Returns the heading of the files after those that come first, if there are any.
fn next_heading(document: &Document) -> String {
    let Some(stable) = &document.stable else { return String::new() };
    let has_next = stable.blocks < document.blocks.len() || document.more_files.is_some();
    if has_next { format!("\n## {}\n", stable.next_heading) } else { String::new() }
}

/// Returns the part before the cache boundary, in pieces: each file is one.
pub fn prefix_pieces(document: &Document) -> impl Iterator<Item = PrefixPiece<'_>> {
    let block_piece = |block: &DocumentBlock| {
        let mut text = String::with_capacity(block.body.len() + 200);
        text.push('\n');
        write_block(&mut text, block);
        PrefixPiece::Text(text)
    };
    let (stable, rest) = document.blocks.split_at(stable_blocks(document));
    let between = document.stable.is_some().then(|| {
        let rows = PrefixPiece::Text(stable_rows(document));
        [rows, PrefixPiece::StableEnd, PrefixPiece::Text(next_heading(document))]
    });
    let between = between.into_iter().flatten();
    let blocks = stable.iter().map(block_piece).chain(between).chain(rest.iter().map(block_piece));
    let heading = heading_pieces(document).into_iter().map(|(_, text)| PrefixPiece::Text(text));
    heading.chain(blocks).chain(pieces_after_files(document).map(|(_, piece)| piece))
}

/// Returns the part of the prefix after the files, each piece with its section.
fn pieces_after_files(document: &Document) -> impl Iterator<Item = (&'static str, PrefixPiece<'_>)> {
    // The tree follows the files, because it changes with every new file, and the files are most of what a provider
    // caches.
    let text = |section, text| (section, PrefixPiece::Text(text));
    let names = document.more_files.iter().map(move |rows| text(MORE_FILES, more_files_section(rows)));
    let cut = document.is_cut.then(|| text("Further files", OMISSION_NOTE.to_owned()));
    let tree = document.tree.iter().map(move |tree| text("File Tree", tree_section(tree)));
    let beads = document.beads.iter().map(move |beads| text("Tracked work", tracked_work(beads)));
    let screenshots = screenshot_pieces(document).map(|piece| ("Screenshots", piece));
    names.chain(cut).chain(tree).chain(screenshots).chain(beads)
}

/// Returns the part about files that are shown by the names of their symbols, one per line.
fn more_files_section(rows: &str) -> String {
    let mut text = "\n### More files\n\n".to_owned();
    write_fenced(&mut text, "", rows);
    text
}

fn tree_section(tree: &str) -> String {
    let mut text = "\n## File Tree\n\n".to_owned();
    write_fenced(&mut text, "", tree);
    text
}

/// Returns everything in a document except its heading and its files, as Markdown; images that are sent separately are
/// only captions.
pub fn attachments(document: &Document, images_apart: bool) -> String {
    let pieces = pieces_behind_files(document, images_apart).into_iter().map(|(_, text)| text);
    pieces.chain([suffix_text(document)]).collect()
}

/// Returns the block of a file, from the `#` of its heading to the empty line after it.
pub fn block_text(block: &DocumentBlock) -> String {
    let mut text = String::with_capacity(block.body.len() + 200);
    write_block(&mut text, block);
    // No token of `o200k_base` spans a line break and a `#`, so the tokens of a document are the sum of the tokens of
    // its blocks.
    text.push('\n');
    text
}

fn write_block(text: &mut String, block: &DocumentBlock) {
    text.push_str("### ");
    text.push_str(&block.path.to_string());
    text.push('\n');
    text.push_str(&head_line(block));
    text.push('\n');
    if block.view != ViewMode::Path {
        text.push('\n');
        write_fenced(text, fence_language(block), &block.body.text());
    }
}

fn fence_language(block: &DocumentBlock) -> &'static str {
    match block.view {
        // A file without content shows an error message, which is in no language.
        _ if block.content.is_none() => "",
        // A notebook is JSON, but its skeleton and its excerpts are scripts.
        ViewMode::Skeleton | ViewMode::Excerpt if block.file_type.is_notebook() => "python",
        ViewMode::Full
        | ViewMode::Skeleton
        | ViewMode::Definitions
        | ViewMode::Masked
        | ViewMode::Excerpt => block.file_type.fence,
        ViewMode::Diff | ViewMode::Delta => "diff",
        ViewMode::Outline
        | ViewMode::Summary
        | ViewMode::Window
        | ViewMode::Custom
        | ViewMode::Signatures
        | ViewMode::Names
        | ViewMode::Path
        | ViewMode::None => "",
    }
}

/// Writes a code block whose fence is longer than any run of backticks in it, so that no text can end it.
pub fn write_fenced(text: &mut String, language: &str, body: &str) {
    let fence = "`".repeat((longest_run(body) + 1).max(3));
    text.push_str(&fence);
    text.push_str(language);
    text.push('\n');
    text.push_str(body);
    // A fence closes a block only at the beginning of a line.
    if !body.is_empty() && !body.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&fence);
    text.push('\n');
}

/// Returns the length of the longest run of backticks.
fn longest_run(body: &str) -> usize {
    let (mut longest, mut run, mut next) = (0, 0, 0);
    // Every block passes through here, and most contain few backticks or none: memchr skips the bytes in between.
    for at in memchr_iter(b'`', body.as_bytes()) {
        run = if at == next { run + 1 } else { 1 };
        next = at + 1;
        longest = longest.max(run);
    }
    longest
}

/// Returns the header line of a block: language, view, and remarks. It has no counts: those would change with every
/// edit, and invalidate everything that a provider has cached after it.
///
/// A view that could be mistaken for the whole text says so, and names the content, so that no agent writes it back.
pub fn head_line(block: &DocumentBlock) -> String {
    let mut words = Vec::new();
    if block.content.is_some() || matches!(block.view, ViewMode::None | ViewMode::Path) {
        words.push(block.file_type.name.to_owned());
    }
    words.push(match (block.view.is_reduced_text(), block.content) {
        (true, Some(content)) => format!("{} of {}, not the file's text", block.view, content.short_hex()),
        (true, None) | (false, _) => {
            format!("{}{}", block.view, block.summary.as_ref().map_or("", SummaryProvenance::view_suffix))
        }
    });
    words.extend(block.remarks.iter().cloned());
    let redacted: u64 = count_redactions(&block.body.text()).values().sum();
    if 0 < redacted {
        words.push(format!("secrets redacted: {redacted}, so this is not the file's text"));
    }
    words.join(" · ")
}

/// Returns the part after the cache boundary; empty if there is no discussion.
pub fn suffix_text(document: &Document) -> String {
    discussion_text(&document.discussion)
}

pub(super) fn discussion_text(entries: &[DiscussionEntry]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let excerpts = entries.iter().zip(1..).map(|(entry, number)| {
        let role = entry.role.as_ref().map_or(String::new(), |role| format!("{}: ", quoted::role(role)));
        format!("### Discussion Excerpt {number}\n\n{}", quoted::body(&role, &entry.content, ""))
    });
    format!("\n## {DISCUSSION_HEADING}\n\n{}\n", excerpts.collect::<Vec<_>>().join("\n\n---\n\n"))
}

/// Returns bytes in base64, as in data URLs and providers' requests.
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

pub(super) fn screenshot_pieces(document: &Document) -> impl Iterator<Item = PrefixPiece<'_>> {
    let heading = (!document.screenshots.is_empty()).then(|| "\n## Screenshots\n\n".to_owned());
    heading.into_iter().map(PrefixPiece::Text).chain(document.screenshots.iter().map(screenshot_piece))
}

fn screenshot_piece(screenshot: &Screenshot) -> PrefixPiece<'_> {
    let path = &screenshot.path;
    let link = |address: &str| format!("![{}]({address})\n", link_text(path));
    match &screenshot.image {
        ScreenshotImage::Link => PrefixPiece::Text(link(&link_address(path))),
        ScreenshotImage::Inline { media_type, bytes } => PrefixPiece::Image {
            media_type,
            bytes,
            markdown: link(&format!("data:{media_type};base64,{}", base64(bytes))),
            caption: link(&link_address(path)),
        },
        // An image that cannot be read is reported in its place, so that the reader gets the rest of the document.
        ScreenshotImage::Failed(reason) => {
            PrefixPiece::Text(format!("ERROR: screenshot {}: {reason}\n", printable(path)))
        }
    }
}

/// Returns the name of a file as link text.
fn link_text(path: &str) -> String {
    // A bracket in the name could end the link text and begin another.
    let name = path.rsplit('/').next().unwrap_or(path);
    printable(&name.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]"))
}

/// Returns a path as the target of a link: unchanged, unless a character would end the link.
fn link_address(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for c in path.chars() {
        match c {
            // `%` is encoded as well: otherwise, a name that contains an escape would be decoded to another file's
            // name.
            c if matches!(c, '<' | '>' | '%') || is_unsafe_to_print(c) => {
                text.extend(c.to_string().bytes().map(|byte| format!("%{byte:02X}")));
            }
            c => text.push(c),
        }
    }
    // In angle brackets, a link target may contain spaces and parentheses, which would otherwise end it.
    let is_plain = !text.contains([' ', '(', ')']) && !text.is_empty();
    if is_plain { text } else { format!("<{text}>") }
}

pub(super) fn tracked_work(beads: &BeadsList) -> String {
    let mut text = "\n## Beads Mode: Progress Track\n".to_owned();
    if let Some(failure) = &beads.failure {
        let _ = write!(text, "\nERROR: {failure}\n");
        return text;
    }
    let completed: Vec<String> = beads.completed.iter().map(bead_label).collect();
    let none = |text: String| if text.is_empty() { "none".to_owned() } else { text };
    // Writing to a `String` never fails.
    let _ = write!(text, "\nCompleted: {}\n\nActive:\n", none(completed.join(", ")));
    if beads.active.is_empty() {
        text.push_str("\nnone\n");
    }
    for bead in &beads.active {
        let status =
            if bead.status == "open" { String::new() } else { format!(" [{}]", quoted::role(&bead.status)) };
        let label = format!("\n- {}{status}", bead_label(bead));
        if bead.description.is_empty() {
            text.push_str(&label);
        } else {
            text.push_str(&quoted::body(&format!("{label}: "), &bead.description, "  "));
        }
    }
    if !beads.active.is_empty() {
        text.push('\n');
    }
    text
}

fn bead_label(bead: &BeadIssue) -> String {
    let id = quoted::inline(&bead.id);
    if bead.title.is_empty() { id } else { format!("{} ({id})", quoted::inline(&bead.title)) }
}

#[cfg(test)]
mod markdown_tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, expected: &str) {
        let mut text = String::new();
        write_fenced(&mut text, "md", body);
        assert_eq!(text, expected);
    }

    #[test]
    fn no_text_can_end_its_own_fence() {
        check("a\n", "```md\na\n```\n");
        check("a", "```md\na\n```\n");
        check("", "```md\n```\n");
        check("````\nx\n````\n", "`````md\n````\nx\n````\n`````\n");
        check("`a` ``b`` c```", "````md\n`a` ``b`` c```\n````\n");
        check("` ` ` `", "```md\n` ` ` `\n```\n");
    }
}

#[cfg(test)]
mod head_tests {
    use super::*;
    use crate::model::{ContentHash, FileRole, FileType, ModelName, RelPath};

    static PYTHON: FileType =
        FileType { id: "python", name: "Python", fence: "python", role: FileRole::Code };

    #[track_caller]
    fn check(view: ViewMode, remarks: &[&str], expected: &str) -> DocumentBlock {
        let block = DocumentBlock {
            path: RelPath::new(b"a.py").unwrap(),
            file_type: &PYTHON,
            view,
            content: Some(ContentHash::digest(b"abc")),
            remarks: remarks.iter().map(|remark| (*remark).to_owned()).collect(),
            body: String::new().into(),
            summary: None,
        };
        assert_eq!(head_line(&block), expected);
        block
    }

    #[test]
    fn a_reduced_text_says_so_and_names_its_content() {
        check(ViewMode::Full, &[], "Python · full");
        check(ViewMode::Summary, &[], "Python · summary");
        check(
            ViewMode::Skeleton,
            &["parse health 99.0 %"],
            "Python · skeleton of ba7816bf8f01, not the file's text · parse health 99.0 %",
        );
    }

    #[test]
    fn a_models_summary_is_marked_without_naming_the_model() {
        let by = |model: &str, is_earlier| {
            let name = ModelName { provider: "here".to_owned(), model: model.to_owned() };
            let summary = Some(SummaryProvenance::Model { name, is_outdated: is_earlier });
            head_line(&DocumentBlock { summary, ..check(ViewMode::Summary, &[], "Python · summary") })
        };
        assert_eq!(by("small", false), "Python · summary by a model");
        assert_eq!(by("large", false), by("small", false));
        assert_eq!(by("small", true), "Python · summary by a model, of an earlier version");
    }
}

#[cfg(test)]
mod sections_tests {
    use super::*;

    #[test]
    fn an_address_cannot_end_its_link() {
        assert_eq!(link_address("shots/a.png"), "shots/a.png");
        assert_eq!(link_address("my shot (1).png"), "<my shot (1).png>");
        assert_eq!(link_address("a\n<b>%\u{202e}.png"), "a%0A%3Cb%3E%25%E2%80%AE.png");
        assert_eq!(link_text("x/a]b\n.png"), "a\\]b\\u{a}.png");
    }

    #[test]
    fn issues_are_listed_with_indented_descriptions() {
        let bead = |id: &str, status: &str, description: &str| BeadIssue {
            id: id.to_owned(),
            title: format!("T{id}"),
            status: status.to_owned(),
            description: description.to_owned(),
        };
        let beads = BeadsList {
            completed: vec![bead("1", "closed", "x"), bead("2", "closed", "")],
            active: vec![
                bead("3", "open", "one\ntwo"),
                bead("4", "blocked", ""),
                bead("5", "open", "x\n## y"),
            ],
            skipped: 0,
            failure: None,
        };
        let expected = "\n## Beads Mode: Progress Track\n\nCompleted: T1 (1), T2 (2)\n\nActive:\n\n\
            - T3 (3): one\n  two\n- T4 (4) [blocked]\n- T5 (5):\n\n  ```text\n  x\n  ## y\n  ```\n";
        assert_eq!(tracked_work(&beads), expected);
    }
}

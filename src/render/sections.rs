//! What stands beside the files: screenshots, tracked work, discussion.

use std::fmt::Write as _;

use ::base64::Engine as _;
use ::base64::engine::general_purpose::STANDARD;

use super::markdown::PrefixPiece;
use crate::model::BeadIssue;
use crate::model::BeadsList;
use crate::model::Document;
use crate::model::Screenshot;
use crate::model::ScreenshotImage;

/// Returns what stands behind the cache boundary; nothing where nothing was said.
pub fn suffix_text(document: &Document) -> String {
    if document.discussion.is_empty() {
        return String::new();
    }
    let excerpts = document.discussion.iter().zip(1..).map(|(said, number)| {
        let role = said.role.as_ref().map_or(String::new(), |role| format!("{role}: "));
        format!("### Discussion Excerpt {number}\n\n{role}{}", said.content)
    });
    format!("\n## Discussion History\n\n{}\n", excerpts.collect::<Vec<_>>().join("\n\n---\n\n"))
}

/// Returns bytes as text, in base64 as data addresses and providers have it.
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Returns the section of screenshots.
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
        ScreenshotImage::Failed(why) => {
            PrefixPiece::Text(format!("ERROR: screenshot {}: {why}\n", printable(path)))
        }
    }
}

/// Returns the name of a file as the text of a link.
fn link_text(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    printable(&name.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]"))
}

/// Returns a path as the address of a link: as it is, unless a character of it would end the link.
fn link_address(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for c in path.chars() {
        match c {
            '<' | '>' | '%' => text.extend(c.to_string().bytes().map(|byte| format!("%{byte:02X}"))),
            c if c.is_control() => text.extend(c.to_string().bytes().map(|byte| format!("%{byte:02X}"))),
            c => text.push(c),
        }
    }
    let is_plain = !text.contains([' ', '(', ')']) && !text.is_empty();
    if is_plain { text } else { format!("<{text}>") }
}

fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { c.escape_unicode().to_string() } else { c.to_string() })
        .collect()
}

/// Returns the section of tracked work.
pub(super) fn tracked_work(beads: &BeadsList) -> String {
    let mut text = "\n## Beads Mode: Progress Track\n".to_owned();
    if let Some(failure) = &beads.failure {
        let _ = write!(text, "\nERROR: {failure}\n");
        return text;
    }
    let completed: Vec<String> = beads.completed.iter().map(bead_label).collect();
    let none = |text: String| if text.is_empty() { "none".to_owned() } else { text };
    let _ = write!(text, "\nCompleted: {}\n\nActive:\n", none(completed.join(", ")));
    if beads.active.is_empty() {
        text.push_str("\nnone\n");
    }
    for bead in &beads.active {
        let status = if bead.status == "open" { String::new() } else { format!(" [{}]", bead.status) };
        let _ = write!(text, "\n- {}{status}", bead_label(bead));
        for (at, line) in bead.description.lines().enumerate() {
            // The first line goes on with the bullet; the others are indented, so that none can end it.
            let before = match (at, line.trim_end().is_empty()) {
                (0, _) => ": ",
                (_, true) => "\n",
                (_, false) => "\n  ",
            };
            text.push_str(before);
            text.push_str(line.trim_end());
        }
    }
    if !beads.active.is_empty() {
        text.push('\n');
    }
    text
}

fn bead_label(bead: &BeadIssue) -> String {
    if bead.title.is_empty() { bead.id.clone() } else { format!("{} ({})", bead.title, bead.id) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_cannot_end_its_link() {
        assert_eq!(link_address("shots/a.png"), "shots/a.png");
        assert_eq!(link_address("my shot (1).png"), "<my shot (1).png>");
        assert_eq!(link_address("a\n<b>%.png"), "a%0A%3Cb%3E%25.png");
        assert_eq!(link_text("x/a]b\n.png"), "a\\]b\\u{a}.png");
    }

    #[test]
    fn work_is_listed_with_its_description_indented() {
        let bead = |id: &str, status: &str, description: &str| BeadIssue {
            id: id.to_owned(),
            title: format!("T{id}"),
            status: status.to_owned(),
            description: description.to_owned(),
        };
        let beads = BeadsList {
            completed: vec![bead("1", "closed", "x"), bead("2", "closed", "")],
            active: vec![bead("3", "open", "one\n\n## two"), bead("4", "blocked", "")],
            skipped: 0,
            failure: None,
        };
        let expected = "\n## Beads Mode: Progress Track\n\nCompleted: T1 (1), T2 (2)\n\nActive:\n\n\
            - T3 (3): one\n\n  ## two\n- T4 (4) [blocked]\n";
        assert_eq!(tracked_work(&beads), expected);
    }
}

//! Composes views into a document with a receipt: order of the files, tree of names, sections.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use super::row_groups::{NamesRow, RowText, group_rows};
use super::texts::sanitize_line;
use crate::model::{
    AggregationStrategy, BeadsList, DiscussionEntry, Document, DocumentBlock, DocumentPart, FileDetails,
    FileOrder, MissingFile, Omission, OmittedFile, PackingReceipt, RankScore, Receipt, ReceiptEntry, RelPath,
    RoutingRule, Screenshot, SectionProblem, StableFiles, TaskReceipt, Tier, ViewFault, ViewMode,
    count_redactions, resource_name,
};

/// The parts of the request that the document as a whole depends on.
#[derive(Debug, Clone)]
pub struct DocumentPlan {
    pub tier: Option<Tier>,
    pub strategy: AggregationStrategy,
    pub order: FileOrder,
    /// The view of most files; the section is named after it.
    pub common_view: ViewMode,
    /// What the project is and how to read the document, as Markdown; empty if it has no overview.
    pub overview: String,
    pub tree: Option<NameTree>,
    /// The folders of files that are only counted; `None` if the tree names them.
    pub folder_counts: Option<String>,
    /// Whether it shows the changes since the last document of its name.
    pub since_last: bool,
    /// Whether nothing has changed since.
    pub is_unchanged: bool,
    /// Whether it is made for a task.
    pub has_task: bool,
    pub sections: DocumentSections,
}

/// The sections other than files.
#[derive(Debug, Clone)]
pub struct DocumentSections {
    pub part: DocumentPart,
    pub screenshots: Vec<Screenshot>,
    /// The tracked work, if the project uses it.
    pub beads: Option<BeadsList>,
    pub discussion: Vec<DiscussionEntry>,
    /// The sections that could not be read.
    pub problems: Vec<SectionProblem>,
}

/// A file with its view, before it is placed.
#[derive(Debug, Clone)]
pub struct CandidateFile {
    pub block: DocumentBlock,
    pub details: FileDetails,
    /// The view it would have without any limit or problem.
    pub wanted: ViewMode,
    pub rule: RoutingRule,
    /// Why it is not shown in the view `wanted`.
    pub reason: Option<String>,
    /// The problem, if the file could not be read, shown or parsed.
    pub fault: Option<ViewFault>,
    pub stability: FileStability,
    pub request_position: usize,
    /// Its score, if the document has a limit.
    pub score: Option<RankScore>,
    pub part: FilePart,
}

/// The parts of a document that files are divided into, in order: the part that changes least comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum FilePart {
    /// Unchanged since the scores were frozen, within the space reserved then.
    Stable,
    /// Changed since, within the space reserved then.
    Changed,
    /// What was selected for this document.
    #[default]
    Rest,
}

/// The size limits of a document; `None` is unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DocumentLimits {
    /// The maximum number of tokens.
    pub tokens: Option<u64>,
    /// The maximum number of bytes.
    pub bytes: Option<u64>,
    /// Whether the limits are defaults rather than requested. If so, files that have to be shown get smaller views
    /// where the document would otherwise be impossible.
    pub is_default: bool,
    /// Whether a document that already meets them is left as it is, instead of being filled up.
    pub is_ceiling: bool,
}

impl DocumentLimits {
    /// Returns whether anything is limited.
    pub const fn is_some(&self) -> bool {
        self.tokens.is_some() || self.bytes.is_some()
    }
}

/// A file that a limited document only names.
#[derive(Debug, Clone)]
pub struct ListedFile {
    /// The file, with the view [`ViewMode::Names`] or [`ViewMode::Path`].
    pub file: CandidateFile,
    /// The names of its symbols; none if it is a line in the tree.
    pub names: Arc<[String]>,
}

/// Data about the document as a whole for its receipt.
#[derive(Debug, Clone, Default)]
pub struct ReceiptNotes {
    pub name: Option<String>,
    pub limits: DocumentLimits,
    /// Files that are not shown.
    pub omitted: Vec<OmittedFile>,
    pub missing: Vec<MissingFile>,
    /// How the task was understood.
    pub task: Option<TaskReceipt>,
    /// How the budget was spent.
    pub packing: Option<PackingReceipt>,
}

/// Sorts the files and writes the receipt. Sizes in it are 0 until the renderer has measured the document.
pub fn compose(
    plan: DocumentPlan,
    files: Vec<CandidateFile>,
    listed: &[ListedFile],
    remarks: ReceiptNotes,
) -> Document {
    compose_with(plan, files, listed, remarks, |files, rows| {
        receipt_entries(files.iter().chain(rows.files(listed)))
    })
}

/// Composes a document that is only measured: its receipt does not list the files.
pub fn compose_draft(
    plan: DocumentPlan,
    files: Vec<CandidateFile>,
    listed: &[ListedFile],
    remarks: ReceiptNotes,
) -> Document {
    compose_with(plan, files, listed, remarks, |_, _| Vec::new())
}

fn compose_with(
    plan: DocumentPlan,
    mut files: Vec<CandidateFile>,
    listed: &[ListedFile],
    remarks: ReceiptNotes,
    entries: impl FnOnce(&[CandidateFile], &NamedRows) -> Vec<ReceiptEntry>,
) -> Document {
    files.sort_by(|a, b| {
        a.part.cmp(&b.part).then_with(|| compare_files(plan.order, sort_key(a), sort_key(b)))
    });
    let rows = NamedRows::from_files(listed);
    let stable = stable_files(&plan, &files, &rows);
    let ReceiptNotes { name, limits, omitted: left_out, missing, task, packing } = remarks;
    let receipt = Receipt {
        tier: plan.tier.map(Tier::number),
        name,
        since_last: plan.since_last,
        strategy: plan.strategy.name(),
        order: plan.order.name(),
        counter: "",
        budget_tokens: limits.tokens,
        max_bytes: limits.bytes,
        bytes: 0,
        tokens: 0,
        folders_by_model: plan.tree.as_ref().map_or(0, |tree| tree.annotated_folders),
        files: entries(&files, &rows),
        symbols: BTreeMap::new(),
        has_tree: plan.tree.is_some(),
        task,
        packing,
        omitted: left_out,
        missing,
        problems: plan.sections.problems.clone(),
    };
    let files_heading = section_heading(&plan, limits.is_some());
    let sections = plan.sections;
    let blocks = files.into_iter().map(|file| file.block).collect();
    // Only the budget counts: a reader does not miss what was excluded on purpose. A tree states how much is missing.
    let is_cut = plan.tree.is_none()
        && receipt.omitted.iter().any(|file| matches!(file.reason, Omission::Budget { .. }));
    let more_files = text_of(&rows.others).or(plan.folder_counts);
    let DocumentSections { part, screenshots, beads, discussion, .. } = sections;
    let tree = plan.tree.map(|tree| tree.text);
    Document {
        part,
        overview: plan.overview,
        files_heading,
        blocks,
        stable,
        more_files,
        files_of_rows: rows.lines().map(|line| line.files.len()).collect(),
        is_cut,
        tree,
        screenshots,
        beads,
        discussion,
        receipt,
    }
}

/// Returns the files that come first, if there are any.
fn stable_files(plan: &DocumentPlan, files: &[CandidateFile], rows: &NamedRows) -> Option<StableFiles> {
    // A file that has changed will change again. That matters between documents, but not between tasks.
    let last = if plan.has_task { FilePart::Changed } else { FilePart::Stable };
    let blocks = files.iter().filter(|file| file.part <= last).count();
    let rows = text_of(&rows.stable);
    let next_heading = if plan.has_task { "For this task" } else { "Changed lately, and what else has room" };
    (0 < blocks || rows.is_some()).then_some(StableFiles { blocks, rows, next_heading })
}

/// The rows of files shown by names, and the positions of these files in the list.
struct NamedRows {
    stable: Vec<RowText>,
    others: Vec<RowText>,
}

impl NamedRows {
    fn from_files(listed: &[ListedFile]) -> Self {
        let rows_of = |is_stable: bool| {
            let positions: Vec<usize> = (0..listed.len())
                .filter(|at| {
                    let file = &listed[*at].file;
                    file.block.view == ViewMode::Names && (file.part == FilePart::Stable) == is_stable
                })
                .collect();
            let rows: Vec<NamesRow<'_>> = positions.iter().map(|at| names_row(&listed[*at])).collect();
            let mut lines = group_rows(&rows);
            lines.iter_mut().flat_map(|line| &mut line.files).for_each(|file| *file = positions[*file]);
            lines
        };
        Self { stable: rows_of(true), others: rows_of(false) }
    }

    fn lines(&self) -> impl Iterator<Item = &RowText> {
        self.stable.iter().chain(&self.others)
    }

    /// Returns the listed files: first those of the rows, in their order.
    fn files<'l>(&'l self, listed: &'l [ListedFile]) -> impl Iterator<Item = &'l CandidateFile> {
        let named = self.lines().flat_map(|line| &line.files).map(|at| &listed[*at].file);
        named
            .chain(listed.iter().map(|listed| &listed.file).filter(|file| file.block.view != ViewMode::Names))
    }
}

fn names_row(listed: &ListedFile) -> NamesRow<'_> {
    let block = &listed.file.block;
    NamesRow { path: &block.path, names: &listed.names, is_groupable: !block.file_type.is_program() }
}

/// Returns rows as a text; `None` if there are none.
fn text_of(rows: &[RowText]) -> Option<String> {
    (!rows.is_empty()).then(|| rows.iter().map(|row| row.text.as_str()).collect())
}

fn receipt_entries<'f>(files: impl Iterator<Item = &'f CandidateFile>) -> Vec<ReceiptEntry> {
    let mut first = HashSet::new();
    files
        .map(|file| {
            if file.part != FilePart::Rest {
                first.insert(&file.block.path);
            }
            let is_repeated = file.part == FilePart::Rest && first.contains(&file.block.path);
            ReceiptEntry { is_repeated, ..receipt_entry(file) }
        })
        .collect()
}

fn receipt_entry(file: &CandidateFile) -> ReceiptEntry {
    ReceiptEntry {
        path: file.block.path.clone(),
        details: file.details,
        content: file.block.content,
        view: file.block.view,
        wanted: file.wanted,
        rule: file.rule,
        reason: file.reason.clone(),
        fault: file.fault,
        summary: file.block.summary.clone(),
        redacted: count_redactions(&file.block.body.text()),
        score: file.score.clone(),
        bytes: 0,
        tokens: 0,
        is_repeated: false,
    }
}

/// Returns the heading of the section of files. It precedes all of them, so it must not depend on which are in focus.
/// In a limited document, ranks decide on the views.
fn section_heading(plan: &DocumentPlan, is_limited: bool) -> &'static str {
    if plan.is_unchanged {
        return "Files (No Changes Since the Last Aggregation)";
    }
    if plan.since_last {
        return "Files (Changed Since the Last Aggregation)";
    }
    match (plan.strategy, plan.tier, plan.common_view) {
        (AggregationStrategy::Auto, Some(Tier::Worker), _) => "Files (Tier 3 - Focused)",
        (_, _, ViewMode::Summary) if !is_limited => "Files (Summary)",
        (_, _, _) => "Files",
    }
}

/// How likely a file's block is to change; the likeliest come last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct FileStability {
    /// The commit since the scores were frozen that last changed the rendered block, counted from 1; 0 for none, and
    /// the maximum for uncommitted changes.
    pub changed_at: u32,
    /// How often commits changed the file; each change is halved with age. In millionths.
    pub score: u64,
    /// The rank by purpose: program code, then tests, then prose and data. It decides between equally stable files, as
    /// all are in a project without history; only there is it free for a prompt cache.
    pub class: u8,
}

/// The sort key of a file: path, stability, and its position in the request.
type SortKey<'a> = (&'a RelPath, FileStability, usize);

const fn sort_key(file: &CandidateFile) -> SortKey<'_> {
    (&file.block.path, file.stability, file.request_position)
}

fn compare_files(order: FileOrder, a: SortKey<'_>, b: SortKey<'_>) -> Ordering {
    // The root's files come first, so that work in a linked folder moves neither the text of the root nor that of a
    // linked folder whose name sorts earlier.
    let (resource_a, resource_b) = (resource_name(a.0.as_bytes()), resource_name(b.0.as_bytes()));
    let first = match order {
        FileOrder::Stable => resource_a.cmp(&resource_b).then_with(|| a.1.cmp(&b.1)),
        FileOrder::Given => a.2.cmp(&b.2),
        FileOrder::Path => resource_a.cmp(&resource_b),
    };
    // The path breaks ties, so that the order does not depend on how files were found.
    first.then_with(|| a.0.cmp(b.0))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameTree {
    pub text: String,
    /// How many folders are annotated with a model's summary.
    pub annotated_folders: u64,
}

/// Returns the tree of the given sorted paths: one line per folder (with a trailing slash) and per file (with its
/// remark), indented two spaces below its folder. `words` maps folders to the models' summaries that are appended to
/// their lines; the empty path is the whole project.
pub fn build_name_tree<'a>(
    files: impl Iterator<Item = (&'a RelPath, Option<&'a str>)>,
    words: &BTreeMap<Vec<u8>, String>,
) -> NameTree {
    let mut annotated = 0;
    let mut annotation = |folder: &[u8]| {
        // Sanitized, because a model could otherwise add lines that look like file names.
        let words = words.get(folder).map(|words| sanitize_line(words)).filter(|words| !words.is_empty());
        annotated += u64::from(words.is_some());
        words.map_or("/".to_owned(), |words| format!("/ (by a model: {words})"))
    };
    let mut text = String::new();
    if words.contains_key(&b""[..]) {
        let _ = writeln!(text, ".{}", annotation(b""));
    }
    let mut open: Vec<&[u8]> = Vec::new();
    for (path, remark) in files {
        let parts: Vec<&[u8]> = path.components().collect();
        let folders = &parts[..parts.len() - 1];
        // If the paths are sorted, a folder that is closed here does not occur again.
        let common = open.iter().zip(folders).take_while(|(a, b)| a == b).count();
        open.truncate(common);
        for folder in &folders[common..] {
            let depth = open.len();
            open.push(folder);
            write_line(&mut text, depth, folder, &annotation(&open.join(&b'/')));
        }
        let remark = remark.map_or(String::new(), |remark| format!(" ({remark})"));
        write_line(&mut text, open.len(), path.file_name(), &remark);
    }
    NameTree { text, annotated_folders: annotated }
}

/// Returns folders with the number of files in them. Each file is counted in its highest ancestor that contains none of
/// the `shown` files, or else in its own folder. `None` if there are no files.
pub fn count_by_folder<'a>(
    files: impl Iterator<Item = &'a RelPath>,
    shown: impl Iterator<Item = &'a RelPath>,
) -> Option<String> {
    let open: HashSet<&[u8]> = shown.flat_map(RelPath::ancestors).collect();
    let mut folders: BTreeMap<&[u8], usize> = BTreeMap::new();
    for path in files {
        let highest = path.ancestors().take_while(|folder| !open.contains(folder)).last();
        *folders.entry(highest.unwrap_or(path.parent())).or_default() += 1;
    }
    let mut text = String::new();
    for (folder, count) in &folders {
        let files = if *count == 1 { "file" } else { "files" };
        // The root folder has no name.
        let own = if folder.is_empty() { "." } else { "" };
        write_line(&mut text, 0, folder, &format!("{own}/ ({count} {files} not shown)"));
    }
    (!folders.is_empty()).then_some(text)
}

fn write_line(text: &mut String, depth: usize, name: &[u8], rest: &str) {
    // A name is escaped like a path, because it could break the line as well.
    let shown = RelPath::new(name).map_or(String::new(), |name| name.to_string());
    let _ = writeln!(text, "{:indent$}{shown}{rest}", "", indent = depth * 2);
}

#[cfg(test)]
mod order_tests {
    use super::*;

    #[track_caller]
    fn check(order: FileOrder, expected: &[&str]) {
        let file = |path: &str, changed_at, score, given| {
            let class = u8::from(path == "c");
            (RelPath::new(path.as_bytes()).unwrap(), FileStability { changed_at, score, class }, given)
        };
        let mut files = [
            file("e", 7, 9, 4),
            file("b", 8, 0, 0),
            file("a", 0, 9, 3),
            file("c", 0, 1, 1),
            file("d", 0, 1, 2),
        ];
        files.sort_by(|a, b| compare_files(order, (&a.0, a.1, a.2), (&b.0, b.1, b.2)));
        let paths: Vec<_> = files.iter().map(|f| f.0.to_string()).collect();
        assert_eq!(paths, expected);
    }

    #[test]
    fn what_seldom_changes_comes_first_and_among_equals_the_program() {
        check(FileOrder::Stable, &["d", "c", "a", "e", "b"]);
    }

    #[test]
    fn other_orders_are_as_named() {
        check(FileOrder::Path, &["a", "b", "c", "d", "e"]);
        check(FileOrder::Given, &["b", "c", "d", "a", "e"]);
    }
}

#[cfg(test)]
mod tree_tests {
    use super::*;

    #[test]
    fn folders_are_opened_once() {
        let paths = ["README.md", "src/a.py", "src/b/c.py", "src/logo.png", "tests/t.py"];
        let paths = paths.map(|path| RelPath::new(path.as_bytes()).unwrap());
        let remark = |path: &RelPath| (path.extension() == Some(b"png")).then_some("binary");
        let text = build_name_tree(paths.iter().map(|path| (path, remark(path))), &BTreeMap::new()).text;
        assert_eq!(text, "README.md\nsrc/\n  a.py\n  b/\n    c.py\n  logo.png (binary)\ntests/\n  t.py\n");
    }

    #[test]
    fn files_are_counted_in_the_highest_folder_of_which_nothing_is_shown() {
        let path = |path: &str| RelPath::new(path.as_bytes()).unwrap();
        let files = ["a.txt", "t/b.txt", "t/c.txt", "t/x\ny/d.txt", "t/x\ny/z/e.txt"].map(path);
        let text = count_by_folder(files.iter(), [path("t/f.txt")].iter());
        let expected = "./ (1 file not shown)\nt/ (2 files not shown)\nt/x\\u{a}y/ (2 files not shown)\n";
        assert_eq!(text.as_deref(), Some(expected));
        assert_eq!(count_by_folder([].iter(), files.iter()), None);
    }

    #[test]
    fn a_models_summary_follows_its_folder_on_the_same_line() {
        let paths = ["src/a.py", "src/b/c.py", "x.py"].map(|path| RelPath::new(path.as_bytes()).unwrap());
        let said =
            [("", "The whole."), ("src/b", "Deep.\n  secret.py\u{1b}[0m"), ("gone", "No."), ("src", " ")];
        let said = said.map(|(path, words)| (path.as_bytes().to_vec(), words.to_owned()));
        let NameTree { text, annotated_folders: noted } =
            build_name_tree(paths.iter().map(|path| (path, None)), &said.into_iter().collect());
        assert_eq!(noted, text.matches("(by a model: ").count() as u64);
        let expected = "./ (by a model: The whole.)\nsrc/\n  a.py\n  b/ (by a model: Deep. secret.py[0m)\n    c.py\nx.py\n";
        assert_eq!(text, expected);
    }
}

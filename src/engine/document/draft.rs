//! A document while it is composed: its files and everything around them.

use std::collections::BTreeMap;

use super::request::AggregationRequest;
use crate::aggregate;
use crate::aggregate::{
    CandidateFile, DocumentPlan, DocumentSections, ListedFile, NameTree, ReceiptNotes, sanitize_line,
};
use crate::engine::workspace::KnownFile;
use crate::model::{
    AggregationStrategy, DocumentBlock, FragmentName, MissingFile, Omission, OmittedFile, RelPath,
    SkipReason, SummaryDetail, ViewMode,
};

/// The maximum number of WARM files that a map names. A path takes about six tokens, so these take 3,000.
const MAPPED_FILES: usize = 500;

/// The files of a document, after routing.
#[derive(Default)]
pub(super) struct GatheredFiles {
    /// All files for the tree, with the reason why a file has no text.
    pub(super) listed: Vec<(RelPath, Option<SkipReason>)>,
    pub(super) shown: Vec<ShownFile>,
    pub(super) left_out: Vec<OmittedFile>,
    pub(super) missing: Vec<MissingFile>,
}

/// A file that the document shows.
#[derive(Clone)]
pub(super) struct ShownFile {
    pub(super) file: KnownFile,
    pub(super) candidate: CandidateFile,
    /// The block of the file itself, if only what the reader lacks is shown in its place.
    pub(super) full_block: Option<Box<DocumentBlock>>,
    /// The file as it would be selected without the reader's earlier document. Set if its changes are shown although
    /// the request, which is not the last one, may want more.
    pub(super) unreduced: Option<Box<CandidateFile>>,
    /// What has changed since an earlier delivery, if the file itself is shown.
    pub(super) changes: Option<String>,
    /// What follows the summary, if the file is shown as one.
    pub(super) detail: SummaryDetail,
}

impl ShownFile {
    pub(super) const fn new(file: KnownFile, candidate: CandidateFile, detail: SummaryDetail) -> Self {
        Self { file, candidate, full_block: None, unreduced: None, changes: None, detail }
    }

    /// Returns what a reader of the document has of the file, including what was shown of it earlier.
    pub(super) fn settled_block(&self) -> &DocumentBlock {
        let block = &self.candidate.block;
        let is_part = matches!(block.view, ViewMode::Delta | ViewMode::Excerpt);
        self.full_block.as_deref().filter(|_| is_part).unwrap_or(block)
    }
}

/// A document whose files are still being selected.
#[derive(Clone)]
pub(super) struct DraftDocument {
    pub(super) plan: DocumentPlan,
    pub(super) files: Vec<ShownFile>,
    /// The task-independent blocks of files that are shown again for the task.
    pub(super) shown_again: Vec<ShownFile>,
    /// Files that a limited document only names.
    pub(super) listed: Vec<ListedFile>,
    pub(super) dropped: Vec<ShownFile>,
    pub(super) remarks: ReceiptNotes,
}

impl DraftDocument {
    /// Returns a draft of the gathered files. `folders` are the summaries of folders, by path.
    pub(super) fn new(
        request: &AggregationRequest,
        gathered: GatheredFiles,
        sections: DocumentSections,
        folders: &BTreeMap<Vec<u8>, String>,
    ) -> Self {
        let plan = DocumentPlan {
            tier: request.tier.as_ref().map(|tier| tier.tier),
            strategy: request.strategy,
            order: request.order,
            common_view: common_view(request),
            overview: String::new(),
            tree: name_tree(request, &gathered, folders),
            folder_counts: folder_counts(request, &gathered),
            has_task: request.task.is_some(),
            since_last: false,
            is_unchanged: false,
            sections,
        };
        let remarks = ReceiptNotes {
            name: request.history.as_ref().map(|history| history.name.clone()),
            limits: request.limits,
            omitted: gathered.left_out,
            missing: gathered.missing,
            task: None,
            packing: None,
        };
        let (shown_again, listed, dropped) = (Vec::new(), Vec::new(), Vec::new());
        Self { plan, files: gathered.shown, shown_again, listed, dropped, remarks }
    }
}

fn common_view(request: &AggregationRequest) -> ViewMode {
    match (request.strategy, &request.tier) {
        (AggregationStrategy::Full, _) => ViewMode::Full,
        (AggregationStrategy::Summarize, _) => ViewMode::Summary,
        (AggregationStrategy::Auto, Some(tier)) => tier.view,
        (AggregationStrategy::Auto, None) => request.default_mode,
    }
}

/// Returns the tree of all files, where the tier has one; for a hydrated document, the map of its WARM fragments.
fn name_tree(
    request: &AggregationRequest,
    gathered: &GatheredFiles,
    folders: &BTreeMap<Vec<u8>, String>,
) -> Option<NameTree> {
    if let Some(places) = request.hydrated.as_ref().filter(|places| !places.warm.is_empty()) {
        return Some(NameTree { text: fragment_map(&places.warm), annotated_folders: 0 });
    }
    let listed = || gathered.listed.iter().map(|(path, reason)| (path, reason.map(SkipReason::name)));
    (names_all_files(request) && has_tree(request)).then(|| aggregate::build_name_tree(listed(), folders))
}

/// Returns how many uninteresting files each folder has, where no tree names them.
fn folder_counts(request: &AggregationRequest, gathered: &GatheredFiles) -> Option<String> {
    if !names_all_files(request) || has_tree(request) {
        return None;
    }
    let is_counted = |file: &&OmittedFile| file.reason == Omission::NoInterest;
    let counted = gathered.left_out.iter().filter(is_counted);
    let shown = gathered.shown.iter().map(|shown| &shown.file.path);
    aggregate::count_by_folder(counted.map(|file| &file.path), shown)
}

/// Returns whether a document accounts for every file. A limited one lists those that did not fit instead.
fn names_all_files(request: &AggregationRequest) -> bool {
    request.sections.part.has_prefix() && !request.limits.is_some()
}

fn has_tree(request: &AggregationRequest) -> bool {
    request.tier.as_ref().is_some_and(|tier| tier.tree)
}

/// Returns a map of fragments: a tree that names the first files and counts the others, followed by the slices.
pub(super) fn fragment_map(fragments: &[FragmentName]) -> String {
    let mut files: Vec<&RelPath> =
        fragments.iter().filter(|name| name.part.is_none()).map(|name| &name.path).collect();
    let named = files.len().min(MAPPED_FILES);
    let (named, counted) = files.split_at_mut(named);
    counted.sort_unstable();
    let slices = fragments.iter().filter_map(|name| Some((&name.path, name.part.as_ref()?)));
    let slices = slices.map(|(path, part)| format!("{path} [{}]\n", sanitize_line(part)));
    aggregate::render_path_tree(named, counted) + &slices.collect::<String>()
}

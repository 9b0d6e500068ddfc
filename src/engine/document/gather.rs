//! Gathers and renders the files of a document.

use std::path::Path;

use super::ineffective_masks::shows_nothing;
use super::render::{Renderer, type_or_unknown};
use super::request::AggregationRequest;
use super::view::{BaseText, BaseTexts, ViewAnswer, ViewOverrides, ViewParams, base_text, base_texts};
use crate::aggregate::{
    CandidateFile, CuratedItems, DocumentPlan, DocumentSections, ExclusionPatterns, FilePart, FileStability,
    Focus, FocusLines, ListedFile, NameTree, ReceiptNotes, RoutedView, RoutingContext, Selector,
};
use crate::engine::artifacts::{ArtifactCache, ContentRef, SkeletonPrefetch};
use crate::engine::error::Error;
use crate::engine::index::{FileArgument, FileSelection, listed_files, resolve_names_or_note, select};
use crate::engine::workspace::{HashedText, KnownFile, KnownState, Workspace};
use crate::model::{
    AggregationStrategy, DocumentBlock, FileItem, MAX_PLAIN_BYTES, MissingFile, Omission, OmittedFile,
    RelPath, RoutingRule, SkipReason, SummaryDetail, Tier, ViewMode, normalized_path,
};
use crate::search::{GeneratedPages, PathClass};
use crate::sys::Files;
use crate::{aggregate, syntax};

/// Shows each of the files that are asked for as the routing wants it. What `is_followed` is
/// shown whatever it is, because its reader has something of it.
pub(super) fn gather_files(
    renderer: &mut Renderer<'_, '_>,
    request: &AggregationRequest,
    routing: &RoutingContext<'_>,
    mut selection: FileSelection,
    is_followed: &dyn Fn(&RelPath) -> bool,
) -> Result<GatheredFiles, Error> {
    let preset = request.preset.iter().flatten().map(|item| item.path.clone());
    let words: Vec<String> = preset.chain(request.files.iter().cloned()).collect();
    // Lenient, because a malformed pattern was refused or reported when the files were selected.
    let selectors: Vec<Selector> = words.iter().map(|word| Selector::new_lenient(word)).collect();
    let mut gathered = GatheredFiles {
        listed: Vec::new(),
        shown: Vec::new(),
        left_out: Vec::new(),
        missing: std::mem::take(&mut selection.missing),
    };
    // Only where the whole project is listed: a request for some files leaves the others out on purpose.
    if request.is_whole() {
        gathered.missing.extend(unmatched_items(routing.items, &selection.files));
    }
    let routed: Vec<RoutedView> = selection.files.iter().map(|file| route(file, routing)).collect();
    let is_limited = request.limits.is_some();
    // In a document with a limit, ranks decide. What is asked for by name or in full is shown, whatever it is.
    let may_skip = !is_limited
        && request.is_whole()
        && request.tier.is_some()
        && request.strategy != AggregationStrategy::Full;
    let pages = GeneratedPages::among(selection.files.iter().map(|file| &file.path));
    let mut texts = prepare_rendering(renderer, request, routing, &selection.files, &routed)?;
    gathered.listed.reserve_exact(selection.files.len());
    gathered.shown.reserve_exact(selection.files.len());
    let (mut bytes, mut is_long) = (0, false);
    for (file, routed) in selection.files.into_iter().zip(routed) {
        renderer.cache.workspace.check_cancelled()?;
        let left_out = match &file.state {
            KnownState::Content { .. } => None,
            KnownState::LeftOut(reason) => Some(*reason),
        };
        let is_discussion = request.sections.is_discussion(&renderer.cache.workspace.root, &file.path);
        if !is_discussion {
            gathered.listed.push((file.path.clone(), left_out));
        }
        let is_named = selection.named.contains(&file.path);
        // A discussion among the files would change the prefix with every entry.
        let reason = if is_discussion {
            Some(Omission::LeftOut(SkipReason::History))
        } else {
            omission(&file, is_named, routed.rule).or_else(|| {
                let is_skipped = may_skip
                    && !is_named
                    && is_uninteresting(&file, routed, &pages)
                    && !is_followed(&file.path);
                is_skipped.then_some(Omission::NoInterest)
            })
        };
        if let Some(reason) = reason {
            let details = file.details();
            gathered.left_out.push(OmittedFile { path: file.path, details, reason });
            continue;
        }
        // Removed, so that a text is in memory only until its file is rendered.
        let text = selection.texts.remove(&file.path);
        let old = if routed.view == ViewMode::Diff {
            base_text(&renderer.cache.workspace, &mut texts, &file.path)
        } else {
            BaseText::Nothing("")
        };
        let position = selectors.iter().position(|selector| selector.selects(&file.path));
        let position = position.unwrap_or(usize::MAX);
        let mut candidate = if is_limited && is_selectable(&file, routed) {
            name_candidate(&file, routed, position)
        } else {
            render_candidate(renderer, &file, routed, routing, (text, old), position)
        };
        bytes += candidate.block.body.len();
        if MAX_PLAIN_BYTES < bytes {
            candidate.block.body.compress();
        }
        if MAX_PLAIN_BYTES < bytes && !is_long {
            is_long = true;
            gathered.shown.iter_mut().for_each(|shown| shown.candidate.block.body.compress());
        }
        gathered.shown.push(ShownFile::new(file, candidate, summary_detail(routing)));
    }
    Ok(gathered)
}

/// Returns whether a limited document decides how a file is shown, so that nothing is rendered before that.
fn is_selectable(file: &KnownFile, routed: RoutedView) -> bool {
    matches!(file.state, KnownState::Content { .. })
        && routed.rule.is_general()
        && !matches!(routed.view, ViewMode::Path | ViewMode::None)
}

/// Returns a file by its name, until it is decided how it is shown.
fn name_candidate(file: &KnownFile, routed: RoutedView, given: usize) -> CandidateFile {
    let content = ContentRef::from_file(file).map(|subject| subject.hash);
    let block = DocumentBlock {
        path: file.path.clone(),
        file_type: type_or_unknown(file),
        view: ViewMode::Path,
        content,
        remarks: Vec::new(),
        body: String::new().into(),
        summary: None,
    };
    CandidateFile {
        block,
        details: file.details(),
        wanted: routed.view,
        rule: routed.rule,
        reason: None,
        fault: None,
        stability: unknown_stability(file),
        request_position: given,
        score: None,
        part: FilePart::default(),
    }
}

/// Prepares what takes many files at a time: asking git for the base texts of diffs, which are returned, and checking
/// skeletons.
fn prepare_rendering(
    renderer: &mut Renderer<'_, '_>,
    request: &AggregationRequest,
    routing: &RoutingContext<'_>,
    files: &[KnownFile],
    routed: &[RoutedView],
) -> Result<BaseTexts, Error> {
    let all = || files.iter().zip(routed);
    let diffs = all().filter(|(_, routed)| routed.view == ViewMode::Diff).map(|(file, _)| file.path.clone());
    let texts = base_texts(&renderer.cache.workspace, request.base.as_deref(), diffs.collect())?;
    let is_limited = request.limits.is_some();
    let is_rendered = |file: &KnownFile, routed: RoutedView| !(is_limited && is_selectable(file, routed));
    let skeletons = all().filter(|(file, routed)| {
        is_rendered(file, **routed)
            && is_skeleton(file, routed.view, routing.max_bytes)
            && !renderer.keeps_skeleton(file)
    });
    renderer.prefetch = SkeletonPrefetch::new(skeletons.map(|(file, _)| file));
    Ok(texts)
}

pub(in crate::engine) fn merged_items(
    workspace: &Workspace<'_>,
    request: &AggregationRequest,
) -> CuratedItems {
    let preset = request.preset.as_deref().unwrap_or_default();
    CuratedItems::new(workspace.relative_items(&request.items))
        .overlaid_by(CuratedItems::new(workspace.relative_items(preset)))
        .overridden_by(CuratedItems::new(workspace.relative_items(&request.overrides)))
}

pub(super) fn routing<'a>(
    workspace: &Workspace<'_>,
    request: &'a AggregationRequest,
    focus: &'a Focus,
    items: &'a CuratedItems,
) -> RoutingContext<'a> {
    RoutingContext {
        strategy: request.strategy,
        tier: request.tier.as_ref(),
        focus,
        items,
        default_mode: request.default_mode,
        max_bytes: workspace.options.max_bytes,
        depths: request.hydrated.as_ref().map(|places| &places.hot),
    }
}

pub(super) fn render_candidate(
    renderer: &mut Renderer<'_, '_>,
    file: &KnownFile,
    routed: RoutedView,
    routing: &RoutingContext<'_>,
    (text, old): (Option<HashedText>, BaseText),
    given: usize,
) -> CandidateFile {
    let overrides = ViewOverrides { mask: &[], keeps_hidden: false, lines: &[], base: old };
    let overrides = Some(&overrides);
    let ViewAnswer { block, reason, fault } =
        render_as(renderer, routed.view, summary_detail(routing), file, routing, (text, overrides));
    CandidateFile {
        block,
        details: file.details(),
        wanted: routed.view,
        rule: routed.rule,
        reason,
        fault,
        stability: unknown_stability(file),
        request_position: given,
        score: None,
        part: FilePart::default(),
    }
}

/// Renders a file in a view, as the routing's items would have it.
pub(super) fn render_as(
    renderer: &mut Renderer<'_, '_>,
    view: ViewMode,
    detail: SummaryDetail,
    file: &KnownFile,
    routing: &RoutingContext<'_>,
    (text, overrides): (Option<HashedText>, Option<&ViewOverrides<'_>>),
) -> ViewAnswer {
    let lines = routing.focus.lines(&file.path).unwrap_or(FocusLines(Vec::new()));
    let item = routing.items.find(&file.path);
    let by_model = routing.tier.is_some_and(|tier| tier.by_model);
    let slices = routing.depths.and_then(|depths| depths.slices.get(&file.path));
    let params =
        |view, text| ViewParams { view, detail, by_model, lines: &lines, item, slices, overrides, text };
    let answer = renderer.render(file, params(view, text), routing.max_bytes);
    // A mask of which no name is there is no reason to show less than without it.
    let is_replaced = (view, answer.block.view) == (ViewMode::Masked, ViewMode::Summary);
    if is_replaced && item.is_some_and(|item| shows_nothing(renderer.cache, file, &item.ast_mask)) {
        let view = aggregate::view_without_mask(&file.path, type_or_unknown(file), routing);
        return ViewAnswer {
            reason: answer.reason,
            ..renderer.render(file, params(view, None), routing.max_bytes)
        };
    }
    answer
}

#[derive(Default)]
pub(super) struct GatheredFiles {
    pub(super) listed: Vec<(RelPath, Option<SkipReason>)>,
    pub(super) shown: Vec<ShownFile>,
    pub(super) left_out: Vec<OmittedFile>,
    pub(super) missing: Vec<MissingFile>,
}

/// Returns why a file is not shown at all. A file without text is mentioned in its place only if it was named, or if
/// that is an error.
fn omission(file: &KnownFile, is_named: bool, rule: RoutingRule) -> Option<Omission> {
    if let KnownState::LeftOut(reason) = &file.state
        && !reason.is_error()
        && !is_named
    {
        return Some(Omission::LeftOut(*reason));
    }
    (rule == RoutingRule::AutoAggregate).then_some(Omission::AutoAggregate)
}

/// Returns what the order of files is decided by where their history is not known.
fn unknown_stability(file: &KnownFile) -> FileStability {
    let class = PathClass::of(&file.path, type_or_unknown(file).role, false);
    FileStability { class: class as u8, ..FileStability::default() }
}

/// Returns whether a file is better counted in its folder than shown.
fn is_uninteresting(file: &KnownFile, routed: RoutedView, pages: &GeneratedPages) -> bool {
    let KnownState::Content { file_type, facts, .. } = &file.state else { return false };
    is_selectable(file, routed)
        && (pages.contains(&file.path) || PathClass::is_uninteresting(&file.path, file_type, facts.size))
}

pub(super) fn route(file: &KnownFile, routing: &RoutingContext<'_>) -> RoutedView {
    let routed = aggregate::route_file(&file.path, type_or_unknown(file), routing);
    routing.depths.map_or(routed, |depths| routed.hydrated(&file.path, depths))
}

/// Returns whether a file is shown as a skeleton, because that is wanted or because it is too large.
fn is_skeleton(file: &KnownFile, wanted: ViewMode, max_bytes: u64) -> bool {
    let KnownState::Content { file_type, facts, .. } = &file.state else { return false };
    let has_structure = syntax::has_structure(file_type.id);
    aggregate::limit_to_size(wanted, facts.size, max_bytes, has_structure).0 == ViewMode::Skeleton
}

/// How an entry of the settings is called among what is missing.
const ITEM: &str = "an item of [[files]]";

/// The same of an entry of the question.
const ENTRY: &str = "an entry of `items`";

/// Returns the items, of the project and of the question, that name a file which does not exist or lies outside of the project,
/// and those of the question whose patterns match none. Of the project's patterns, which may be about other files, it says nothing.
pub(super) fn absent_items(
    cache: &mut ArtifactCache<'_>,
    request: &AggregationRequest,
) -> Result<Vec<MissingFile>, Error> {
    let mut missing = absent_of(&cache.workspace, &request.items, ITEM);
    missing.extend(absent_of(&cache.workspace, &request.overrides, ENTRY));
    let is_pattern = |item: &FileItem| {
        Selector::new_lenient(&item.path).literal_path().is_none() && !leads_outside(&item.path)
    };
    let mut patterns = cache.workspace.relative_items(&request.overrides);
    patterns.retain(is_pattern);
    if !patterns.is_empty() {
        let patterns = CuratedItems::new(patterns);
        let listed = listed_files(cache)?;
        let [unmatched, _] = patterns.unmatched(&listed.paths().collect::<Vec<_>>());
        missing.extend(unmatched.into_iter().map(|item| missing_item(item, ENTRY)));
    }
    Ok(missing)
}

fn absent_of(workspace: &Workspace<'_>, items: &[FileItem], origin: &str) -> Vec<MissingFile> {
    let is_absent = |item: &&FileItem| {
        if leads_outside(&item.path) {
            return true;
        }
        let path = Selector::new_lenient(&item.path).literal_path();
        let stat = path.map(|path| workspace.files.stat(&path));
        stat.is_some_and(|stat| stat.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound))
    };
    let items = workspace.relative_items(items);
    items.iter().filter(is_absent).map(|item| missing_item(item, origin)).collect()
}

fn missing_item(item: &FileItem, origin: &str) -> MissingFile {
    let reason = if leads_outside(&item.path) {
        format!("{origin} whose path is outside of the project")
    } else {
        format!("{origin} that no file of the project answers to")
    };
    MissingFile { pattern: item.path.clone(), reason }
}

/// Returns whether a path or pattern, as [`Workspace::relative_items`] returns it, can match no file of the project.
fn leads_outside(path: &str) -> bool {
    std::path::Path::new(path).is_absolute() || normalized_path(path).split('/').next() == Some("..")
}

/// Returns the items whose patterns match none of the project's files.
fn unmatched_items(items: &CuratedItems, files: &[KnownFile]) -> Vec<MissingFile> {
    let paths: Vec<&RelPath> = files.iter().map(|file| &file.path).collect();
    let origins = [ITEM, ENTRY];
    let missing = items
        .unmatched(&paths)
        .into_iter()
        .zip(origins)
        .flat_map(|(items, origin)| items.into_iter().map(move |item| missing_item(item, origin)));
    missing.collect()
}

pub(super) fn summary_detail(routing: &RoutingContext<'_>) -> SummaryDetail {
    routing.tier.map_or(SummaryDetail::Words, |tier| tier.summary_detail)
}

/// Returns whether the text of a file may be needed; its type is not known yet, so the answer is yes when in doubt.
/// What a limited document selects is read when it is known what that is.
pub(super) fn may_need_text(path: &RelPath, routing: &RoutingContext<'_>, is_limited: bool) -> bool {
    let is_focus = routing.focus.lines(path).is_some();
    let tier_wants = routing.tier.is_some_and(|tier| {
        tier.view.needs_text() || tier.language_views.values().any(|view| view.needs_text())
    });
    // With a tier, the tier's view is routed to before the default one.
    let default_wants = routing.tier.is_none() && routing.default_mode.needs_text();
    let item_wants = routing.items.find(path).is_some_and(|item| {
        item.force_full
            || item.tier == Some(Tier::Worker)
            || item.ast_signatures
            || item.ast_definitions
            || !item.custom_slices.is_empty()
            || !item.ast_mask.is_empty()
            || item.view_mode.is_some_and(ViewMode::needs_text)
    });
    match routing.strategy {
        _ if is_limited => is_focus || item_wants,
        AggregationStrategy::Full => true,
        AggregationStrategy::Summarize => is_focus || item_wants,
        AggregationStrategy::Auto => is_focus || item_wants || tier_wants || default_wants,
    }
}

pub(super) fn document_plan(
    request: &AggregationRequest,
    tree: Option<NameTree>,
    sections: DocumentSections,
) -> DocumentPlan {
    DocumentPlan {
        tier: request.tier.as_ref().map(|tier| tier.tier),
        strategy: request.strategy,
        order: request.order,
        common_view: common_view(request),
        overview: String::new(),
        tree,
        folder_counts: None,
        has_task: request.task.is_some(),
        since_last: false,
        is_unchanged: false,
        sections,
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

/// Returns the files that an aggregation is about: those of its preset first. What a preset names and is gone is
/// reported, not an error.
pub(super) fn select_requested(
    cache: &mut ArtifactCache<'_>,
    request: &AggregationRequest,
    keeps_text: &(dyn Fn(&RelPath) -> bool + Sync),
) -> Result<FileSelection, Error> {
    let preset = request.preset.iter().flatten();
    let preset = preset.map(|item| FileArgument { text: &item.path, is_required: false });
    let files = resolve_names_or_note(cache, &request.files)?;
    let given = files.iter().map(|text| FileArgument { text, is_required: true });
    let words: Vec<FileArgument<'_>> = preset.chain(given).collect();
    // A preset without files is a choice; without words all files would be selected.
    if words.is_empty() && request.preset.is_some() {
        return Ok(FileSelection::default());
    }
    let mut selection = select(cache, &words, request.trust, keeps_text)?;
    filter_selection(&mut selection, request, &cache.workspace.root)?;
    Ok(selection)
}

/// Leaves out the files that the request's patterns do not include, or exclude. It is an error if a pattern that should
/// include files matches none.
fn filter_selection(
    selection: &mut FileSelection,
    request: &AggregationRequest,
    root: &Path,
) -> Result<(), Error> {
    let included = request.include.iter().map(|word| Selector::new(word)).collect::<Result<Vec<_>, _>>()?;
    let is_meant = |selector: &Selector, path: &RelPath| selector.selects(path) || selector.touches(path);
    for (word, selector) in request.include.iter().zip(&included) {
        if !selection.files.iter().any(|file| is_meant(selector, &file.path)) {
            return Err(Error::NothingSelected { word: word.clone() });
        }
    }
    let excluded = ExclusionPatterns::new(&request.exclude, root)?;
    selection.files.retain(|file| {
        let is_included =
            included.is_empty() || included.iter().any(|selector| is_meant(selector, &file.path));
        is_included && !excluded.excludes(&file.path)
    });
    Ok(())
}

/// A file that the document is to show.
#[derive(Clone)]
pub(super) struct ShownFile {
    pub(super) file: KnownFile,
    pub(super) candidate: CandidateFile,
    /// The block of the file itself, if what its reader does not have is shown in its place.
    pub(super) full_block: Option<Box<DocumentBlock>>,
    /// The file as it would be selected, if its changes are shown although another request than the last one may want more.
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

    /// Returns what a reader of the document has of the file, with what was shown of it earlier.
    pub(super) fn settled_block(&self) -> &DocumentBlock {
        let block = &self.candidate.block;
        let is_part = matches!(block.view, ViewMode::Delta | ViewMode::Excerpt);
        self.full_block.as_deref().filter(|_| is_part).unwrap_or(block)
    }
}

#[derive(Clone)]
pub(super) struct DraftDocument {
    pub(super) plan: DocumentPlan,
    pub(super) files: Vec<ShownFile>,
    /// The blocks that are the same for every task of those files that are shown again for this one.
    pub(super) shown_again: Vec<ShownFile>,
    /// Files that a limited document only names.
    pub(super) listed: Vec<ListedFile>,
    pub(super) dropped: Vec<ShownFile>,
    pub(super) remarks: ReceiptNotes,
}

//! Gathers and renders the files of a document.

use std::collections::HashSet;

use super::draft::{GatheredFiles, ShownFile};
use super::inputs::{shows_nothing, unmatched_items};
use super::rendering::{
    BaseText, BaseTexts, Renderer, ViewAnswer, ViewOverrides, ViewParams, base_text, base_texts,
    type_or_unknown,
};
use super::request::AggregationRequest;
use super::routing::{route, summary_detail};
use crate::aggregate::{
    CandidateFile, FilePart, FileStability, FocusLines, RoutedView, RoutingContext, Selector,
};
use crate::engine::artifacts::{ContentRef, SkeletonPrefetch};
use crate::engine::error::Error;
use crate::engine::index::FileSelection;
use crate::engine::workspace::{HashedText, KnownFile, KnownState};
use crate::model::{
    AggregationStrategy, DocumentBlock, MAX_PLAIN_BYTES, Omission, OmittedFile, RelPath, RoutingRule,
    SkipReason, SummaryDetail, ViewMode,
};
use crate::search::{GeneratedPages, PathClass};
use crate::{aggregate, syntax};

/// Renders each selected file in the view that the routing determines. Files for which `is_followed` are shown even if
/// they are uninteresting, because the reader has something of them.
pub(super) fn gather_files(
    renderer: &mut Renderer<'_, '_>,
    request: &AggregationRequest,
    routing: &RoutingContext<'_>,
    selection: FileSelection,
    is_followed: &dyn Fn(&RelPath) -> bool,
) -> Result<GatheredFiles, Error> {
    let FileSelection { files, named, mut texts, mut missing, .. } = selection;
    // Only where the whole project is listed: a request for some files leaves out the others on purpose.
    if request.is_whole() {
        missing.extend(unmatched_items(routing.items, &files));
    }
    let routed: Vec<RoutedView> = files.iter().map(|file| route(file, routing)).collect();
    let pages = GeneratedPages::among(files.iter().map(|file| &file.path));
    let skips_uninteresting = skips_uninteresting(request);
    let omissions = Omissions { named: &named, pages, skips_uninteresting, is_followed };
    let selectors = requested_selectors(request);
    let mut base_texts = prepare_rendering(renderer, request, routing, &files, &routed)?;
    let (listed, shown) = (Vec::with_capacity(files.len()), Vec::with_capacity(files.len()));
    let mut gathered = GatheredFiles { listed, shown, left_out: Vec::new(), missing };
    let (mut bytes, mut is_long) = (0, false);
    for (file, routed) in files.into_iter().zip(routed) {
        renderer.cache.workspace.check_cancelled()?;
        let is_discussion = request.sections.is_discussion(&renderer.cache.workspace.root, &file.path);
        if !is_discussion {
            gathered.listed.push((file.path.clone(), left_out_reason(&file)));
        }
        let omission = if is_discussion {
            // A discussion among the files would change the prefix with every entry.
            Some(Omission::LeftOut(SkipReason::History))
        } else {
            omissions.omission(&file, routed)
        };
        if let Some(reason) = omission {
            let details = file.details();
            gathered.left_out.push(OmittedFile { path: file.path, details, reason });
            continue;
        }
        // Removed, so that a text is in memory only until its file is rendered.
        let text = texts.remove(&file.path);
        let old = if routed.view == ViewMode::Diff {
            base_text(&renderer.cache.workspace, &mut base_texts, &file.path)
        } else {
            BaseText::Nothing("")
        };
        let position = selectors.iter().position(|selector| selector.selects(&file.path));
        let position = position.unwrap_or(usize::MAX);
        let mut candidate = if request.limits.is_some() && is_selectable(&file, routed) {
            name_candidate(&file, routed)
        } else {
            render_candidate(renderer, &file, routed, routing, text, old)
        };
        candidate.request_position = position;
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

/// Returns the selectors of a request, in its order. Malformed patterns are tolerated, because they were rejected or
/// reported when the files were selected.
fn requested_selectors(request: &AggregationRequest) -> Vec<Selector> {
    let preset = request.preset.iter().flatten().map(|item| item.path.as_str());
    preset.chain(request.files.iter().map(String::as_str)).map(Selector::new_lenient).collect()
}

/// Returns whether uninteresting files are counted in their folders instead of shown. In a document with a limit, ranks
/// decide.
fn skips_uninteresting(request: &AggregationRequest) -> bool {
    !request.limits.is_some()
        && request.is_whole()
        && request.tier.is_some()
        && request.strategy != AggregationStrategy::Full
}

/// Decides which of the selected files are not shown.
struct Omissions<'a> {
    named: &'a HashSet<RelPath>,
    pages: GeneratedPages,
    skips_uninteresting: bool,
    is_followed: &'a dyn Fn(&RelPath) -> bool,
}

impl Omissions<'_> {
    /// Returns why a file is not shown at all. A file without text is shown as an error only if it was named, or should
    /// have had a text.
    fn omission(&self, file: &KnownFile, routed: RoutedView) -> Option<Omission> {
        let is_named = self.named.contains(&file.path);
        match left_out_reason(file) {
            Some(reason) if !reason.is_error() && !is_named => return Some(Omission::LeftOut(reason)),
            _ if routed.rule == RoutingRule::AutoAggregate => return Some(Omission::AutoAggregate),
            _ => {}
        }
        let is_skipped = self.skips_uninteresting
            && !is_named
            && is_uninteresting(file, routed, &self.pages)
            && !(self.is_followed)(&file.path);
        is_skipped.then_some(Omission::NoInterest)
    }
}

fn left_out_reason(file: &KnownFile) -> Option<SkipReason> {
    match &file.state {
        KnownState::Content { .. } => None,
        KnownState::LeftOut(reason) => Some(*reason),
    }
}

/// Returns whether a limited document decides how a file is shown; if so, nothing is rendered before that.
fn is_selectable(file: &KnownFile, routed: RoutedView) -> bool {
    matches!(file.state, KnownState::Content { .. })
        && routed.rule.is_general()
        && !matches!(routed.view, ViewMode::Path | ViewMode::None)
}

/// Returns a file by its name, until it is decided how it is shown.
fn name_candidate(file: &KnownFile, routed: RoutedView) -> CandidateFile {
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
    unplaced_candidate(file, routed, ViewAnswer { block, reason: None, fault: None })
}

/// Does in advance what is done for many files at once: asks git for the base texts of diffs, which are returned, and
/// checks skeletons.
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

pub(super) fn render_candidate(
    renderer: &mut Renderer<'_, '_>,
    file: &KnownFile,
    routed: RoutedView,
    routing: &RoutingContext<'_>,
    text: Option<HashedText>,
    base: BaseText,
) -> CandidateFile {
    let overrides = ViewOverrides { mask: &[], keeps_hidden: false, lines: &[], base };
    let wanted = WantedView {
        overrides: Some(&overrides),
        text,
        ..WantedView::new(routed.view, summary_detail(routing))
    };
    unplaced_candidate(file, routed, render_as(renderer, file, routing, wanted))
}

/// Returns a file of which only the view is known.
fn unplaced_candidate(file: &KnownFile, routed: RoutedView, answer: ViewAnswer) -> CandidateFile {
    let ViewAnswer { block, reason, fault } = answer;
    CandidateFile {
        block,
        details: file.details(),
        wanted: routed.view,
        rule: routed.rule,
        reason,
        fault,
        stability: unknown_stability(file),
        request_position: 0,
        score: None,
        part: FilePart::default(),
    }
}

/// A view in which a file is rendered, whatever its routing.
pub(super) struct WantedView<'a> {
    view: ViewMode,
    detail: SummaryDetail,
    overrides: Option<&'a ViewOverrides<'a>>,
    /// The text, if it has been read in this run already.
    text: Option<HashedText>,
}

impl WantedView<'_> {
    pub(super) const fn new(view: ViewMode, detail: SummaryDetail) -> Self {
        Self { view, detail, overrides: None, text: None }
    }
}

/// Renders a file in a view, with the items of the routing.
pub(super) fn render_as(
    renderer: &mut Renderer<'_, '_>,
    file: &KnownFile,
    routing: &RoutingContext<'_>,
    wanted: WantedView<'_>,
) -> ViewAnswer {
    let WantedView { view, detail, overrides, text } = wanted;
    let lines = routing.focus.lines(&file.path).unwrap_or(FocusLines(Vec::new()));
    let item = routing.items.find(&file.path);
    let by_model = routing.tier.is_some_and(|tier| tier.by_model);
    let slices = routing.depths.and_then(|depths| depths.slices.get(&file.path));
    let params =
        |view, text| ViewParams { view, detail, by_model, lines: &lines, item, slices, overrides, text };
    let answer = renderer.render(file, params(view, text), routing.max_bytes);
    // A mask whose names do not exist must not show less than no mask.
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

/// Returns the sort key of a file whose history is not known.
fn unknown_stability(file: &KnownFile) -> FileStability {
    let class = PathClass::from_path(&file.path, type_or_unknown(file).role, false);
    FileStability { class: class as u8, ..FileStability::default() }
}

/// Returns whether a file is better counted in its folder than shown.
fn is_uninteresting(file: &KnownFile, routed: RoutedView, pages: &GeneratedPages) -> bool {
    let KnownState::Content { file_type, facts, .. } = &file.state else { return false };
    is_selectable(file, routed)
        && (pages.contains(&file.path) || PathClass::is_uninteresting(&file.path, file_type, facts.size))
}

/// Returns whether a file is shown as a skeleton, because that is wanted or because it is too large.
fn is_skeleton(file: &KnownFile, wanted: ViewMode, max_bytes: u64) -> bool {
    let KnownState::Content { file_type, facts, .. } = &file.state else { return false };
    let has_structure = syntax::has_structure(file_type.id);
    aggregate::limit_to_size(wanted, facts.size, max_bytes, has_structure).0 == ViewMode::Skeleton
}

//! Fits a document into its limits.

use std::collections::HashMap;

use super::gather::{DraftDocument, ShownFile, render_as};
use super::ladders::{BYTES_A_TOKEN, FitMemo, FrameSizes, LadderRung, LadderState, TextSizes, ViewLadders};
use super::render::Renderer;
use crate::aggregate::{DocumentLimits, DocumentPlan, Importance, RoutingContext};
use crate::engine::artifacts::{ArtifactCache, ImportanceInputs, SkeletonPrefetch, importance};
use crate::engine::error::Error;
use crate::engine::history::GitHistory;
use crate::engine::parallel::on_all_cores;
use crate::engine::workspace::KnownFile;
use crate::model::{Document, SummaryDetail, ViewMode};
use crate::{aggregate, render};

/// No text of a project has so many bytes a token as a whole; what has more bytes than this allows need not be counted.
const MOST_BYTES_A_TOKEN: u64 = 16;
/// Below so many blocks one thread is faster than two.
const BLOCKS_FOR_A_THREAD: usize = 512;
/// At the end of a document there is one line's end less than behind its last file, which may make a token two.
const SLACK_TOKENS: u64 = 1;

/// Shows files, which are sorted by importance, in smaller views, the last first, until the document keeps its limits;
/// in the smallest views if that is not enough.
pub(super) fn fit(
    renderer: &mut Renderer<'_, '_>,
    mut draft: DraftDocument,
    memo: &mut FitMemo,
    routing: &RoutingContext<'_>,
    images_apart: bool,
) -> Result<DraftDocument, Error> {
    let limits = draft.remarks.limits;
    if !limits.is_some() {
        return Ok(draft);
    }
    let files = std::mem::take(&mut draft.files);
    let frame = memo.frame.unwrap_or_else(|| frame(renderer.cache, &draft.plan, images_apart));
    memo.frame = Some(frame);
    let mut ladders = ViewLadders::new(files, frame, limits, std::mem::take(&mut memo.rungs));
    let most = ladders.steps.len();
    let guess = ladders.guess(limits);
    let found = aggregate::fewest_steps(most, guess, &mut |steps| {
        // To say that everything fits ends the search soonest; what it found is discarded below.
        if renderer.cache.workspace.world.progress.is_cancelled() {
            return true;
        }
        let state = ladders.state_after(steps);
        sizes_after(renderer, &mut ladders, &state, routing, limits).is_within(limits)
    });
    renderer.cache.workspace.check_cancelled()?;
    let state = match found {
        Some(steps) => ladders.state_after(steps),
        None => smallest(renderer, &mut ladders, routing, limits),
    };
    let (draft, rungs) = ladders.apply(&state, draft);
    memo.rungs = rungs;
    Ok(draft)
}

/// Returns the smallest that the document can be. A note that files are left out may take more room than the path of
/// the only one.
fn smallest(
    renderer: &mut Renderer<'_, '_>,
    ladders: &mut ViewLadders,
    routing: &RoutingContext<'_>,
    limits: DocumentLimits,
) -> LadderState {
    let paths = ladders.paths_alone();
    let sizes = sizes_after(renderer, ladders, &paths, routing, limits);
    if sizes.is_within(limits) { paths } else { ladders.state_after(ladders.steps.len()) }
}

/// Returns the sizes of the document in this state. If there are too many bytes already, tokens are estimated instead
/// of counted.
fn sizes_after(
    renderer: &mut Renderer<'_, '_>,
    ladders: &mut ViewLadders,
    state: &LadderState,
    routing: &RoutingContext<'_>,
    limits: DocumentLimits,
) -> TextSizes {
    let keys: Vec<(usize, usize)> =
        state.rungs.iter().enumerate().filter_map(|(file, rung)| Some((file, (*rung)?))).collect();
    let is_new = |key: &&(usize, usize)| !ladders.rungs.contains_key(key);
    let new = keys.iter().filter(is_new).filter(|(file, rung)| {
        rung.checked_sub(1).is_some_and(|rung| ladders.views[*file][rung] == ViewMode::Skeleton)
    });
    renderer.prefetch = SkeletonPrefetch::new(new.map(|(file, _)| &ladders.files[*file].file));
    // A rung is rendered when a step of the search first needs it: most rungs of most files never are.
    for &(file, rung) in &keys {
        render_rung(renderer, ladders, file, rung, routing);
    }
    let mut sizes = ladders.frame.rest;
    if state.with_tree {
        sizes.add(ladders.frame.tree);
    }
    if keys.len() < state.rungs.len() {
        sizes.add(ladders.frame.cut);
    }
    sizes.bytes += keys.iter().map(|key| ladders.rungs[key].bytes).sum::<u64>();
    let is_hopeless =
        limits.tokens.is_some_and(|tokens| tokens.saturating_mul(MOST_BYTES_A_TOKEN) < sizes.bytes);
    if is_hopeless || limits.bytes.is_some_and(|bytes| bytes < sizes.bytes) {
        // Refused in either case: one limit is exceeded by the bytes, the other by even the lowest count that they
        // allow.
        sizes.tokens = sizes.bytes / BYTES_A_TOKEN;
        return sizes;
    }
    // All that is new at once, so that every core counts.
    count_rungs(renderer.cache, ladders, &keys);
    sizes.tokens += keys.iter().filter_map(|key| ladders.rungs[key].tokens).sum::<u64>();
    sizes
}

/// Returns the files, the most important first.
pub(super) fn by_importance(
    cache: &mut ArtifactCache<'_>,
    files: Vec<ShownFile>,
    attached: &[KnownFile],
    routing: &RoutingContext<'_>,
    history: Option<&GitHistory>,
) -> Vec<ShownFile> {
    let none = HashMap::new();
    let inputs = ImportanceInputs {
        in_focus: &|path| routing.focus.lines(path).is_some(),
        is_curated: &|path| routing.items.find(path).is_some_and(|item| !item.is_plain()),
        changes: history.map_or(&none, |history| &history.scores),
    };
    let known: Vec<&KnownFile> = files.iter().map(|shown| &shown.file).chain(attached).collect();
    let importance = importance(cache, &known, &inputs);
    let mut ranked: Vec<(Importance, ShownFile)> = importance.into_iter().zip(files).collect();
    // By path where importance is equal, as of many files that are not code: the same files have to give the same
    // document.
    ranked.sort_by(|(a, first), (b, second)| b.cmp(a).then_with(|| first.file.path.cmp(&second.file.path)));
    let placed = (1..).zip(ranked).map(|(place, (importance, shown))| {
        let inputs = Some((place, importance));
        ShownFile { rank: inputs, ..shown }
    });
    placed.collect()
}

fn render_rung(
    renderer: &mut Renderer<'_, '_>,
    ladders: &mut ViewLadders,
    file: usize,
    rung: usize,
    routing: &RoutingContext<'_>,
) {
    if ladders.rungs.contains_key(&(file, rung)) {
        return;
    }
    let view = ladders.views[file][rung - 1];
    let shown = &ladders.files[file].file;
    let block = render_as(renderer, view, SummaryDetail::Words, shown, routing, (None, None)).block;
    let top = &ladders.rungs[&(file, 0)];
    let bytes = render::block_text(&block).len() as u64;
    // A smaller view of a very small file may be larger than the file.
    let smaller = if top.bytes <= bytes {
        LadderRung { block: top.block.clone(), bytes: top.bytes, tokens: top.tokens }
    } else {
        LadderRung { block, bytes, tokens: None }
    };
    ladders.rungs.insert((file, rung), smaller);
}

fn count_rungs(cache: &mut ArtifactCache<'_>, ladders: &mut ViewLadders, keys: &[(usize, usize)]) {
    let unknown: Vec<(usize, usize)> =
        keys.iter().copied().filter(|key| ladders.rungs[key].tokens.is_none()).collect();
    let texts: Vec<String> =
        unknown.iter().map(|key| render::block_text(&ladders.rungs[key].block)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let counts = cache.count_tokens(&texts);
    for (key, tokens) in unknown.iter().zip(counts) {
        if let Some(rung) = ladders.rungs.get_mut(key) {
            rung.tokens = Some(tokens);
        }
    }
}

/// Returns the sizes of a document that shows no file, by its parts. Each begins with the `#` of a heading and ends
/// with an empty line, so that their tokens are those of the whole.
fn frame(cache: &mut ArtifactCache<'_>, plan: &DocumentPlan, images_apart: bool) -> FrameSizes {
    let empty = aggregate::compose_without_files(plan);
    let heading = heading(&empty);
    let tree = plan.tree.as_ref().map(|tree| render::tree_section(&tree.text)).unwrap_or_default();
    let attached = attachment_text(&empty, images_apart);
    let texts = [heading.as_str(), attached.as_str(), render::OMISSION_NOTE, tree.as_str()];
    // If nothing precedes the sections, they begin with the empty line themselves.
    let begins = !empty.part.has_prefix();
    let texts = texts.map(|text| match text.strip_prefix('\n') {
        Some(text) if !begins => format!("{text}\n"),
        Some(_) | None => text.to_owned(),
    });
    let tokens = cache.count_tokens(&texts.each_ref().map(String::as_str));
    let sizes = |at: usize| TextSizes { bytes: texts[at].len() as u64, tokens: tokens[at] };
    let mut frame = FrameSizes { rest: sizes(0), cut: sizes(2), tree: sizes(3) };
    frame.rest.add(sizes(1));
    frame.rest.tokens += SLACK_TOKENS;
    // The images themselves; and there is one line's end less than behind the last file.
    let bytes = heading.len().saturating_sub(1) + render::attachments(&empty).len();
    frame.rest.bytes = bytes as u64;
    frame
}

/// Writes the sizes of a document and of its files into its receipt; tokens are estimated unless they are to be
/// `exact`.
pub(super) fn measure(
    cache: &mut ArtifactCache<'_>,
    document: &mut Document,
    exact: bool,
    images_apart: bool,
) {
    let mut texts: Vec<String> = if document.blocks.len() < BLOCKS_FOR_A_THREAD {
        document.blocks.iter().map(render::block_text).collect()
    } else {
        on_all_cores(&document.blocks, render::block_text)
    };
    let attached = attachment_text(document, images_apart);
    texts.push(heading(document));
    // A block takes the empty line behind it; behind the last part there is none.
    match attached.strip_prefix('\n') {
        Some(sections) if document.part.has_prefix() => texts.push(sections.to_owned()),
        Some(_) => texts.push(attached),
        None => shorten_the_last(&mut texts),
    }
    let tokens: Vec<u64> = if exact {
        cache.count_tokens(&texts.iter().map(String::as_str).collect::<Vec<_>>())
    } else {
        texts.iter().map(|text| aggregate::estimate_tokens(text.len() as u64)).collect()
    };
    let bytes = if images_apart {
        render::render_markdown(document).len()
    } else {
        texts.iter().map(String::len).sum()
    };
    let receipt = &mut document.receipt;
    receipt.bytes = bytes as u64;
    receipt.counter = if exact { cache.workspace.options.counter.name() } else { aggregate::ESTIMATE };
    receipt.tokens = tokens.iter().sum();
    for (entry, (text, tokens)) in receipt.files.iter_mut().zip(texts.iter().zip(&tokens)) {
        entry.bytes = text.len() as u64;
        entry.tokens = *tokens;
    }
}

/// Returns the heading of the files, with the empty line behind it.
fn heading(document: &Document) -> String {
    if document.part.has_prefix() { format!("## {}\n\n", document.files_heading) } else { String::new() }
}

/// Returns the text of the attachments as a model reads it.
fn attachment_text(document: &Document, images_apart: bool) -> String {
    if images_apart { render::attachments_without_images(document) } else { render::attachments(document) }
}

/// Removes the final newline from the last part: the last file, or the heading if there is none.
fn shorten_the_last(texts: &mut [String]) {
    let last = texts.len().saturating_sub(2);
    if let Some(text) = texts.get_mut(last) {
        text.pop();
    }
}

//! The files in focus of a document: which they are, and what becomes of them if a limit that nobody asked for is too small.

use super::gather::{ShownFile, render_as};
use super::pack_costs::BudgetUnit;
use super::placed_files::show_as;
use super::render::Renderer;
use crate::aggregate::{AmbiguousFocus, Focus, FocusCandidate, RoutingContext, nearest_paths};
use crate::engine::artifacts::{ArtifactCache, ContentRef};
use crate::engine::error::Error;
use crate::engine::workspace::{KnownFile, KnownState};
use crate::model::{RelPath, SkipReason, SummaryDetail, ViewMode};
use crate::render;
use crate::search::PathClass;

/// The maximum number of other files named that a word fits.
const MAX_OTHERS: usize = 5;
/// The maximum number of paths that are suggested for a word that fits none.
const MAX_NEAREST: usize = 3;
/// The views that a file in focus steps down to.
const STEPS: [ViewMode; 3] = [ViewMode::Skeleton, ViewMode::Outline, ViewMode::Summary];

/// Decides which of the files are in focus. It is an error if a word fits none of the whole project; if only some files
/// were selected, the focus adds none to them, and a word that fits none is noted.
pub(super) fn resolve_focus(
    cache: &mut ArtifactCache<'_>,
    focus: &mut Focus,
    files: &[KnownFile],
    is_whole: bool,
) -> Result<(), Error> {
    // The path of every file is looked at to learn what is likely to be meant.
    let files = if focus.is_empty() { &[] } else { files };
    // Git lists files that are gone as well, until that is committed.
    let present =
        || files.iter().filter(|file| !matches!(file.state, KnownState::LeftOut(SkipReason::Vanished)));
    let candidates: Vec<FocusCandidate<'_>> =
        present().map(|file| FocusCandidate { path: &file.path, penalty: penalty(file) }).collect();
    let problems = focus.resolve(&candidates);
    for word in problems.unmatched {
        if is_whole {
            let nearest = nearest_paths(&word, present().map(|file| &file.path), MAX_NEAREST);
            return Err(Error::NothingInFocus { word, nearest });
        }
        cache.workspace.note(format!("focus `{word}` matches none of the selected files"));
    }
    for word in problems.ambiguous {
        let note = ambiguity_note(cache, &word);
        cache.workspace.note(note);
    }
    for file in files {
        let KnownState::Content { facts, .. } = &file.state else { continue };
        let last = focus.lines(&file.path).and_then(|lines| lines.0.iter().max().copied());
        if let Some(line) = last.filter(|line| facts.lines < *line) {
            let (path, lines) = (&file.path, facts.lines);
            cache
                .workspace
                .note(format!("line {line} of the focus is not in {path}, which has {lines} lines"));
        }
    }
    Ok(())
}

/// Returns how unlikely a file is to be meant by a word that fits others as well.
fn penalty(file: &KnownFile) -> u8 {
    let Some(subject) = ContentRef::from_file(file) else { return 5 };
    match PathClass::of(&file.path, subject.file_type.role, false) {
        PathClass::Source => 0,
        PathClass::Test => 1,
        PathClass::Peripheral => 2,
        PathClass::NotCode => 3,
        PathClass::Vendored | PathClass::Amalgamation | PathClass::Generated => 4,
    }
}

fn ambiguity_note(cache: &mut ArtifactCache<'_>, word: &AmbiguousFocus) -> String {
    let read = |path: &RelPath| cache.workspace.read_text(path).map(|(_, text)| text).unwrap_or_default();
    let named: Vec<&RelPath> = word.others.iter().take(MAX_OTHERS).collect();
    let texts: Vec<String> = named.iter().map(|path| read(path)).collect();
    let counts = cache.count_tokens(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let others = named.iter().zip(counts).map(|(path, tokens)| format!("{path} ({tokens} tokens)"));
    let mut others: Vec<String> = others.collect();
    if MAX_OTHERS < word.others.len() {
        others.push(format!("{} more", word.others.len() - MAX_OTHERS));
    }
    format!("focus `{}` is {}; it also matches {}", word.word, word.chosen, others.join(", "))
}

/// Shows files that have to be shown in smaller views, until they leave room for others within a limit that nobody asked
/// for: the last one first, and the first one last.
pub(super) fn step_down(
    renderer: &mut Renderer<'_, '_>,
    files: &mut [ShownFile],
    routing: &RoutingContext<'_>,
    (unit, limit): (BudgetUnit, u64),
) {
    let size = |shown: &ShownFile| unit.count(&render::block_text(&shown.candidate.block));
    let mut order: Vec<usize> =
        (0..files.len()).filter(|at| files[*at].candidate.rule.is_binding()).collect();
    order.sort_by_key(|at| (routing.focus.place(&files[*at].file.path).unwrap_or(usize::MAX), *at));
    let mut total: u64 = order.iter().map(|at| size(&files[*at])).sum();
    // A fifth is left for the rest of the document.
    let most = limit - limit / 5;
    let Some((first, others)) = order.split_first() else { return };
    let rounds = [others, std::slice::from_ref(first)];
    for (view, at) in rounds
        .iter()
        .flat_map(|files| STEPS.iter().flat_map(move |view| files.iter().rev().map(move |at| (*view, *at))))
    {
        if total <= most {
            return;
        }
        let shown = &mut files[at];
        let before = size(shown);
        let block = render_as(renderer, view, SummaryDetail::Words, &shown.file, routing, (None, None)).block;
        let after = unit.count(&render::block_text(&block));
        if block.content.is_some() && after < before {
            show_as(shown, block);
            total = total - before + after;
        }
    }
}

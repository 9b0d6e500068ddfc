//! Where a slice is now.

use std::ops::Range;

use super::candidates;
use super::changed;
use super::changed::FollowedLines;
use super::items::AnchorLine;
use super::items::AnchorSequence;
use super::lines::LineTable;
use super::lines::to_index;
use super::lines::to_line_number;
use super::surroundings;
use crate::model::Slice;
use crate::model::SliceAnchors;
use crate::model::SliceResolution;
use crate::model::SliceStatus;

/// How much better than any other the surroundings of a copy must fit.
const MARGIN: i64 = 150;
/// What most of it is, once a copy has gone and the rest are suspected: three in four, as a fraction turned over. Nothing
/// less kept apart the entries of a long table that are all but the same.
const MOST_RATIO: (i64, i64) = (4, 3);
/// How many lines one of several copies may have drifted: tables repeat whole pages, with all that stands around.
const MAX_DRIFT: usize = 1000;
/// How many lines may have come between a slice and a line that was near it, while another copy of its text has gone.
const MAX_DISTANCE: usize = 30;

/// A copy of the slice's text that is picked, and how well what stands around it fits.
struct CopyMatch {
    first: usize,
    fit: i64,
    /// Whether on each side most of what stood around it is there.
    fits_both: bool,
    /// How well what stood around it fits at any place, whatever stands there.
    best_fit: i64,
    is_clear: bool,
}

/// Finds a slice in a text. Only what has the slice's very text is called exact or moved, which its `content_hash`
/// tells: a slice without one is never more than changed, for nobody knows what its text was.
pub fn locate_slice(slice: &Slice, text: &str) -> SliceResolution {
    if slice.start_line < 1 || slice.end_line < slice.start_line {
        return unresolved(slice, SliceStatus::Stale, "its lines are no range");
    }
    let lines = LineTable::new(text);
    let length = to_index(slice.end_line - slice.start_line) + 1;
    let items = AnchorSequence::from_slice(slice, length, &lines);
    let copies = candidates::find_copies(slice, length, &items, &lines);
    match pick_copy(&copies, length, &items, &lines) {
        Some(pick) => resolve_copy(slice, length, &pick, &copies, &items, &lines),
        None => resolve_without_copy(slice, length, &items, &lines),
    }
}

fn pick_copy(
    copies: &[usize],
    length: usize,
    items: &AnchorSequence,
    lines: &LineTable<'_>,
) -> Option<CopyMatch> {
    let above = surroundings::score_above(&items.before, lines);
    let below = surroundings::score_below(&items.after, lines);
    let fit = |first: &usize| above[*first] + below[*first + length];
    let first = *copies.iter().max_by_key(|first| fit(first))?;
    let second = copies.iter().filter(|other| **other != first).map(fit).max();
    let is_clear = second.is_none_or(|second| second + MARGIN <= fit(&first));
    let best_fit = above.iter().zip(&below).map(|(above, below)| above + below).max().unwrap_or_default();
    let worth = |items: &[AnchorLine]| items.iter().map(|item| item.weight).sum::<i64>();
    let is_most = |fit: i64, items: &[AnchorLine]| MOST_RATIO.1 * worth(items) <= MOST_RATIO.0 * fit;
    let fits_both = is_most(above[first], &items.before) && is_most(below[first + length], &items.after);
    Some(CopyMatch { first, fit: fit(&first), fits_both, best_fit, is_clear })
}

/// Answers where the slice's text is still there.
fn resolve_copy(
    slice: &Slice,
    length: usize,
    pick: &CopyMatch,
    copies: &[usize],
    items: &AnchorSequence,
    lines: &LineTable<'_>,
) -> SliceResolution {
    let stood = to_index(slice.start_line) - 1;
    let here = pick.first..pick.first + length;
    if !pick.is_clear {
        if copies.contains(&stood) {
            return resolved_at(slice, stood..stood + length, "the same text, one of several copies alike");
        }
        let reason = format!("its text stands at {} places that are equally good", copies.len());
        return resolution(SliceStatus::Stale, &here, &reason);
    }
    if slice.anchors.copies != 1 {
        let (score, followed) = changed::follow_slice(items, length, lines);
        let is_one_gone = copies.len() < to_index(slice.anchors.copies);
        if is_one_gone
            && (!pick.fits_both
                || pick.fit + MARGIN < pick.best_fit
                || is_far_from_landmarks(slice, &here, lines))
            || pick.fit + items.inside_weight() + MARGIN < score
            || 1 < slice.anchors.copies
                && here.start != stood
                && (MAX_DRIFT < here.start.abs_diff(stood) || !has_landmark_near(slice, &here, lines))
        {
            // The text stood in the file more than once, and it is the slice's own copy that has changed.
            let is_elsewhere = |followed: &FollowedLines| {
                followed.lines.end <= here.start || here.end <= followed.lines.start
            };
            return match followed {
                Some(followed) if is_elsewhere(&followed) => {
                    resolve_changed(&followed, "only another copy of its text is unchanged")
                }
                Some(_) | None => {
                    resolution(SliceStatus::Stale, &here, "only another copy of its text is left")
                }
            };
        }
    }
    resolved_at(
        slice,
        here,
        if copies.len() == 1 { "the same text" } else { "the copy with the same surroundings" },
    )
}

/// Says whether a line that stood once in the file, and does so now, is on the other side of this place than it was of
/// the slice, or is far from it and was near the slice.
fn is_far_from_landmarks(slice: &Slice, here: &Range<usize>, lines: &LineTable<'_>) -> bool {
    let SliceAnchors { before, after, unique_before, unique_after, .. } = &slice.anchors;
    let place = |line: &String| unique_place(line, lines);
    let is_far = |line: &String, away: Option<usize>, near: &[String]| {
        away.is_none_or(|away| MAX_DISTANCE < away && near.contains(line))
    };
    let above = |line: &String| is_far(line, here.start.checked_sub(place(line)? + 1), before).then_some(());
    let below = |line: &String| is_far(line, place(line)?.checked_sub(here.end), after).then_some(());
    // Where nothing tells the copies apart any more, nobody knows which one has gone.
    !has_landmark_near(slice, here, lines)
        || unique_before.iter().any(|line| above(line).is_some())
        || unique_after.iter().any(|line| below(line).is_some())
}

/// Says whether one of the lines that stood once in the file, and told this copy from the others, stands near a place. The
/// ones that stood right by the slice tell it best: the name of the function that it is in, in a file in which all
/// functions begin alike. The others are asked only where there are no such.
fn has_landmark_near(slice: &Slice, here: &Range<usize>, lines: &LineTable<'_>) -> bool {
    let SliceAnchors { before, after, unique_before, unique_after, .. } = &slice.anchors;
    let is_near = |line: &&String| {
        unique_place(line, lines).is_some_and(|place| {
            here.start <= place + 2 * MAX_DISTANCE && place < here.end + 2 * MAX_DISTANCE
        })
    };
    let above = unique_before.last().filter(|line| before.contains(line));
    let below = unique_after.first().filter(|line| after.contains(line));
    if above.is_some() && below.is_some() {
        return above.iter().chain(&below).any(is_near);
    }
    unique_before.iter().chain(unique_after).any(|line| is_near(&line))
}

/// Returns where a line stands that stands once.
fn unique_place(line: &str, lines: &LineTable<'_>) -> Option<usize> {
    match lines.places(lines.id_of(line)?) {
        [place] => Some(to_index(*place)),
        _ => None,
    }
}

/// Answers where the slice's text is nowhere, or is not known.
fn resolve_without_copy(
    slice: &Slice,
    length: usize,
    items: &AnchorSequence,
    lines: &LineTable<'_>,
) -> SliceResolution {
    let is_unknown = slice.anchors.content_hash.is_none();
    if let (_, Some(followed)) = changed::follow_slice(items, length, lines) {
        let reason = if is_unknown { "it has no content_hash to tell by" } else { "its text has changed" };
        return resolve_changed(&followed, reason);
    }
    if lines.ids.len() < to_index(slice.end_line) {
        return unresolved(slice, SliceStatus::Stale, "the file ends before it");
    }
    if is_unknown && items.is_empty() {
        // The lines are all that its author said; they are taken at their word, and not called right.
        return unresolved(
            slice,
            SliceStatus::Changed,
            "it has no anchors: these are the lines as they were marked",
        );
    }
    unresolved(slice, SliceStatus::Stale, "nothing of it is left")
}

fn resolve_changed(followed: &FollowedLines, reason: &str) -> SliceResolution {
    if !followed.is_clear {
        return resolution(SliceStatus::Stale, &followed.lines, "what is left of it fits several places");
    }
    if !followed.is_enough {
        return resolution(SliceStatus::Stale, &followed.lines, "too little of it is left");
    }
    resolution(SliceStatus::Changed, &followed.lines, reason)
}

fn resolved_at(slice: &Slice, here: Range<usize>, reason: &str) -> SliceResolution {
    let is_here = here.start + 1 == to_index(slice.start_line);
    resolution(if is_here { SliceStatus::Exact } else { SliceStatus::Moved }, &here, reason)
}

fn resolution(status: SliceStatus, here: &Range<usize>, reason: &str) -> SliceResolution {
    let (start_line, end_line) = (to_line_number(here.start + 1), to_line_number(here.end));
    SliceResolution { status, start_line, end_line, reason: reason.to_owned() }
}

/// Answers with the lines as they were marked, for want of better ones.
fn unresolved(slice: &Slice, status: SliceStatus, reason: &str) -> SliceResolution {
    let Slice { start_line, end_line, .. } = *slice;
    SliceResolution { status, start_line, end_line, reason: reason.to_owned() }
}

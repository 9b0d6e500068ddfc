//! Where a slice is now.

use std::ops::Range;

use super::candidates;
use super::changed;
use super::changed::Followed;
use super::items::Item;
use super::items::Items;
use super::lines::Lines;
use super::lines::index;
use super::lines::number;
use super::surroundings;
use crate::model::Anchors;
use crate::model::Resolution;
use crate::model::Slice;
use crate::model::SliceStatus;

/// How much better than any other the surroundings of a copy must fit.
const MARGIN: i64 = 150;
/// What most of it is, once a copy has gone and the rest are suspected: three in four, as a fraction turned over. Nothing
/// less kept apart the entries of a long table that are all but the same.
const MOST: (i64, i64) = (4, 3);
/// How many lines one of several copies may have drifted: tables repeat whole pages, with all that stands around.
const DRIFT: usize = 1000;
/// How many lines may have come between a slice and a line that was near it, while another copy of its text has gone.
const FAR: usize = 30;

/// A copy of the slice's text that is picked, and how well what stands around it fits.
struct Pick {
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
pub fn resolve(slice: &Slice, text: &str) -> Resolution {
    if slice.start_line < 1 || slice.end_line < slice.start_line {
        return unknown(slice, SliceStatus::Stale, "its lines are no range");
    }
    let lines = Lines::of(text);
    let length = index(slice.end_line - slice.start_line) + 1;
    let items = Items::of(slice, length, &lines);
    let copies = candidates::find(slice, length, &items, &lines);
    match pick(&copies, length, &items, &lines) {
        Some(pick) => copy(slice, length, &pick, &copies, &items, &lines),
        None => other(slice, length, &items, &lines),
    }
}

fn pick(copies: &[usize], length: usize, items: &Items, lines: &Lines<'_>) -> Option<Pick> {
    let above = surroundings::above(&items.before, lines);
    let below = surroundings::below(&items.after, lines);
    let fit = |first: &usize| above[*first] + below[*first + length];
    let first = *copies.iter().max_by_key(|first| fit(first))?;
    let second = copies.iter().filter(|other| **other != first).map(fit).max();
    let is_clear = second.is_none_or(|second| second + MARGIN <= fit(&first));
    let best_fit = above.iter().zip(&below).map(|(above, below)| above + below).max().unwrap_or_default();
    let worth = |items: &[Item]| items.iter().map(|item| item.weight).sum::<i64>();
    let is_most = |fit: i64, items: &[Item]| MOST.1 * worth(items) <= MOST.0 * fit;
    let fits_both = is_most(above[first], &items.before) && is_most(below[first + length], &items.after);
    Some(Pick { first, fit: fit(&first), fits_both, best_fit, is_clear })
}

/// Answers where the slice's text is still there.
fn copy(
    slice: &Slice,
    length: usize,
    pick: &Pick,
    copies: &[usize],
    items: &Items,
    lines: &Lines<'_>,
) -> Resolution {
    let stood = index(slice.start_line) - 1;
    let here = pick.first..pick.first + length;
    if !pick.is_clear {
        if copies.contains(&stood) {
            return found(slice, stood..stood + length, "the same text, one of several copies alike");
        }
        let reason = format!("its text stands at {} places that are equally good", copies.len());
        return answer(SliceStatus::Stale, &here, &reason);
    }
    if slice.anchors.copies != 1 {
        let (score, followed) = changed::follow(items, length, lines);
        let is_one_gone = copies.len() < index(slice.anchors.copies);
        if is_one_gone
            && (!pick.fits_both
                || pick.fit + MARGIN < pick.best_fit
                || is_far_from_landmarks(slice, &here, lines))
            || pick.fit + items.worth() + MARGIN < score
            || 1 < slice.anchors.copies
                && here.start != stood
                && (DRIFT < here.start.abs_diff(stood) || !has_landmark_near(slice, &here, lines))
        {
            // The text stood in the file more than once, and it is the slice's own copy that has changed.
            let is_elsewhere =
                |followed: &Followed| followed.lines.end <= here.start || here.end <= followed.lines.start;
            return match followed {
                Some(followed) if is_elsewhere(&followed) => {
                    changed(&followed, "only another copy of its text is unchanged")
                }
                Some(_) | None => answer(SliceStatus::Stale, &here, "only another copy of its text is left"),
            };
        }
    }
    found(
        slice,
        here,
        if copies.len() == 1 { "the same text" } else { "the copy with the same surroundings" },
    )
}

/// Says whether a line that stood once in the file, and does so now, is on the other side of this place than it was of
/// the slice, or is far from it and was near the slice.
fn is_far_from_landmarks(slice: &Slice, here: &Range<usize>, lines: &Lines<'_>) -> bool {
    let Anchors { before, after, unique_before, unique_after, .. } = &slice.anchors;
    let place = |line: &String| only_place(line, lines);
    let is_far = |line: &String, away: Option<usize>, near: &[String]| {
        away.is_none_or(|away| FAR < away && near.contains(line))
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
fn has_landmark_near(slice: &Slice, here: &Range<usize>, lines: &Lines<'_>) -> bool {
    let Anchors { before, after, unique_before, unique_after, .. } = &slice.anchors;
    let is_near = |line: &&String| {
        only_place(line, lines)
            .is_some_and(|place| here.start <= place + 2 * FAR && place < here.end + 2 * FAR)
    };
    let above = unique_before.last().filter(|line| before.contains(line));
    let below = unique_after.first().filter(|line| after.contains(line));
    if above.is_some() && below.is_some() {
        return above.iter().chain(&below).any(is_near);
    }
    unique_before.iter().chain(unique_after).any(|line| is_near(&line))
}

/// Returns where a line stands that stands once.
fn only_place(line: &str, lines: &Lines<'_>) -> Option<usize> {
    match lines.places(lines.id_of(line)?) {
        [place] => Some(index(*place)),
        _ => None,
    }
}

/// Answers where the slice's text is nowhere, or is not known.
fn other(slice: &Slice, length: usize, items: &Items, lines: &Lines<'_>) -> Resolution {
    let is_unknown = slice.anchors.content_hash.is_none();
    if let (_, Some(followed)) = changed::follow(items, length, lines) {
        let reason = if is_unknown { "it has no content_hash to tell by" } else { "its text has changed" };
        return changed(&followed, reason);
    }
    if lines.ids.len() < index(slice.end_line) {
        return unknown(slice, SliceStatus::Stale, "the file ends before it");
    }
    if is_unknown && items.is_empty() {
        // The lines are all that its author said; they are taken at their word, and not called right.
        return unknown(
            slice,
            SliceStatus::Changed,
            "it has no anchors: these are the lines as they were marked",
        );
    }
    unknown(slice, SliceStatus::Stale, "nothing of it is left")
}

fn changed(followed: &Followed, reason: &str) -> Resolution {
    if !followed.is_clear {
        return answer(SliceStatus::Stale, &followed.lines, "what is left of it fits several places");
    }
    if !followed.is_enough {
        return answer(SliceStatus::Stale, &followed.lines, "too little of it is left");
    }
    answer(SliceStatus::Changed, &followed.lines, reason)
}

fn found(slice: &Slice, here: Range<usize>, reason: &str) -> Resolution {
    let is_here = here.start + 1 == index(slice.start_line);
    answer(if is_here { SliceStatus::Exact } else { SliceStatus::Moved }, &here, reason)
}

fn answer(status: SliceStatus, here: &Range<usize>, reason: &str) -> Resolution {
    let (start_line, end_line) = (number(here.start + 1), number(here.end));
    Resolution { status, start_line, end_line, reason: reason.to_owned() }
}

/// Answers with the lines as they were marked, for want of better ones.
fn unknown(slice: &Slice, status: SliceStatus, reason: &str) -> Resolution {
    let Slice { start_line, end_line, .. } = *slice;
    Resolution { status, start_line, end_line, reason: reason.to_owned() }
}

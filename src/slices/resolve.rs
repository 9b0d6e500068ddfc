//! Where a slice is now.

use std::ops::Range;

use super::candidates;
use super::changed;
use super::changed::Followed;
use super::items::Items;
use super::lines::Lines;
use super::lines::index;
use super::lines::number;
use super::surroundings;
use crate::model::Resolution;
use crate::model::Slice;
use crate::model::SliceStatus;

/// How much better than any other the surroundings of a copy must fit.
const MARGIN: i64 = 150;

/// A copy of the slice's text that is picked, and how well what stands around it fits.
struct Pick {
    first: usize,
    fit: i64,
    is_clear: bool,
}

/// Finds a slice in a text.
pub fn resolve(slice: &Slice, text: &str) -> Resolution {
    let lines = Lines::of(text);
    let length = index(slice.end_line.saturating_sub(slice.start_line)) + 1;
    if slice.start_line < 1 || slice.end_line < slice.start_line {
        return stale(slice, None, "its lines are no range");
    }
    let items = Items::of(slice, length, &lines);
    let copies = candidates::find(slice, length, &items, &lines);
    let followed = changed::follow(&items, &lines);
    match pick(slice, &copies, &items, &lines) {
        Some(pick) => copy(slice, length, &pick, &copies, &items, followed.as_ref()),
        None => other(slice, length, &items, &lines, followed),
    }
}

fn pick(slice: &Slice, copies: &[usize], items: &Items, lines: &Lines<'_>) -> Option<Pick> {
    let length = index(slice.end_line - slice.start_line) + 1;
    let above = surroundings::above(&items.before, lines);
    let below = surroundings::below(&items.after, lines);
    let fit = |first: &usize| above[*first] + below[*first + length];
    let first = *copies.iter().max_by_key(|first| fit(first))?;
    let second = copies.iter().filter(|other| **other != first).map(fit).max();
    let is_clear = second.is_none_or(|second| second + MARGIN <= fit(&first));
    Some(Pick { first, fit: fit(&first), is_clear })
}

/// Answers where the slice's text is still there.
fn copy(
    slice: &Slice,
    length: usize,
    pick: &Pick,
    copies: &[usize],
    items: &Items,
    followed: Option<&Followed>,
) -> Resolution {
    let stood = index(slice.start_line) - 1;
    if !pick.is_clear {
        if copies.contains(&stood) {
            return found(
                slice,
                stood..stood + length,
                "the same text at the same lines, one of several copies",
            );
        }
        let reason = format!("its text stands at {} places that are equally good", copies.len());
        return stale(slice, Some(pick.first..pick.first + length), &reason);
    }
    let here = pick.first..pick.first + length;
    let own: i64 = items.inside.iter().map(|item| item.weight).sum();
    let is_elsewhere =
        |followed: &&Followed| followed.lines != here && pick.fit + own + MARGIN < followed.score;
    if slice.anchors.copies != 1
        && let Some(followed) = followed.filter(is_elsewhere)
    {
        let reason = "only another copy of its text is left";
        return changed(slice, followed, reason);
    }
    let reason = if copies.len() == 1 { "the same text" } else { "the copy with the same lines around it" };
    found(slice, here, reason)
}

/// Answers where the slice's text is nowhere.
fn other(
    slice: &Slice,
    length: usize,
    items: &Items,
    lines: &Lines<'_>,
    followed: Option<Followed>,
) -> Resolution {
    let marked = index(slice.start_line) - 1..index(slice.end_line);
    let _ = (length, items);
    if let Some(followed) = followed {
        return changed(slice, &followed, "its text has changed");
    }
    if lines.ids.len() < marked.end {
        return stale(slice, None, "the file ends before it");
    }
    stale(slice, None, "none of its lines is left")
}

fn changed(slice: &Slice, followed: &Followed, reason: &str) -> Resolution {
    if !followed.is_clear {
        return stale(slice, Some(followed.lines.clone()), "what is left of it fits several places");
    }
    if followed.kept * 3 < followed.had && !followed.is_framed || followed.kept == 0 {
        return stale(slice, Some(followed.lines.clone()), "too little of it is left");
    }
    answer(SliceStatus::Changed, followed.lines.clone(), reason)
}

fn found(slice: &Slice, here: Range<usize>, reason: &str) -> Resolution {
    let status =
        if here.start + 1 == index(slice.start_line) { SliceStatus::Exact } else { SliceStatus::Moved };
    answer(status, here, reason)
}

fn stale(slice: &Slice, guess: Option<Range<usize>>, reason: &str) -> Resolution {
    match guess {
        Some(guess) => answer(SliceStatus::Stale, guess, reason),
        None => Resolution {
            status: SliceStatus::Stale,
            start_line: slice.start_line,
            end_line: slice.end_line,
            reason: reason.to_owned(),
        },
    }
}

fn answer(status: SliceStatus, here: Range<usize>, reason: &str) -> Resolution {
    Resolution {
        status,
        start_line: number(here.start + 1),
        end_line: number(here.end),
        reason: reason.to_owned(),
    }
}

//! Finds the current place of a slice: its unchanged text among several copies, or the lines that it turned into.

use std::collections::BTreeSet;
use std::ops::Range;

use super::align::{score_above, score_below};
use super::anchors::{AnchorLine, AnchorSequence, UNIT};
use super::follow::{FollowedLines, follow_slice};
use super::lines::{LineTable, find_occurrences, to_index, to_line_number};
use crate::model::{ContentHash, Slice, SliceAnchors, SliceResolution, SliceStatus};

/// By how much the surroundings of a copy must fit better than those of any other.
const COPY_MARGIN: i64 = 200;
/// By how much they must fit better than those of the copy at the recorded lines.
const MARKED_MARGIN: i64 = 300;
/// By how much they must fit better than those of a copy that has the slice's neighbors and may be the original, if
/// copies were added.
const RIVAL_MARGIN: i64 = 1500;
/// What counts as most, once a copy has gone and the rest are in doubt: three quarters, as an inverted fraction. A
/// smaller share failed to separate the nearly identical entries of a long table.
const MAX_RATIO: (i64, i64) = (4, 3);
/// How many lines one of several copies may have drifted: tables repeat whole pages, including their surroundings.
const MAX_DRIFT: usize = 1000;
/// How many lines it may have drifted if it is still the only copy between the same landmarks.
const MAX_DRIFT_BETWEEN: usize = 4 * MAX_DRIFT;
/// How many lines may have been inserted between a slice and a line that was near it, if another copy of its text has
/// gone.
const MAX_DISTANCE: usize = 30;

/// The copy of the slice's text that was picked, and how well its surroundings fit.
struct CopyMatch {
    first: usize,
    fit: i64,
    fits_both: bool,
    /// The best fit of the surroundings at any place, regardless of the text there.
    best_fit: i64,
    is_clear: bool,
}

/// A slice that is looked for in a text.
#[derive(Clone, Copy)]
struct SliceSearch<'s> {
    slice: &'s Slice,
    /// How many lines it had.
    length: usize,
    items: &'s AnchorSequence,
    lines: &'s LineTable<'s>,
    /// The first lines of the places where its text occurs.
    copies: &'s [usize],
}

/// Finds a slice in a text. Only a slice whose `content_hash` matches is exact or moved. Without a hash, the old text
/// is unknown, so the result is at best changed, unless the slice has no anchors either and consists only of line
/// numbers.
pub fn locate_slice(slice: &Slice, text: &str) -> SliceResolution {
    // Slices are stored in a file that people edit, so the numbers may be arbitrary.
    if slice.start_line < 1 || slice.end_line < slice.start_line {
        return unresolved(slice, SliceStatus::Stale, "its lines are no range");
    }
    let found = locate_in(slice, text);
    if matches!(found.status, SliceStatus::Exact | SliceStatus::Moved) {
        return found;
    }
    with_recorded_endings(text, &slice.anchors).map_or(found, |converted| locate_in(slice, &converted))
}

fn locate_in(slice: &Slice, text: &str) -> SliceResolution {
    let lines = LineTable::new(text);
    let length = to_index(slice.end_line - slice.start_line) + 1;
    let items = AnchorSequence::from_slice(slice, length, &lines);
    let copies = find_copies(slice, length, &items, &lines);
    let search = SliceSearch { slice, length, items: &items, lines: &lines, copies: &copies };
    match pick_copy(search) {
        Some(pick) => resolve_copy(search, &pick),
        None => resolve_without_copy(search),
    }
}

/// Returns the text with the line endings that it had when the slice was created, if these are others: git converts
/// them at checkout (`core.autocrlf`), and an editor may when it saves.
fn with_recorded_endings(text: &str, anchors: &SliceAnchors) -> Option<String> {
    let around = || anchors.before.iter().chain(&anchors.after);
    let had_crlf = around().any(|line| line.ends_with('\r'));
    // Nothing is around a slice of a whole file.
    let may_have_had_crlf = had_crlf || around().next().is_none();
    match text.contains("\r\n") {
        true if !had_crlf => Some(text.replace("\r\n", "\n")),
        false if may_have_had_crlf => Some(text.replace('\n', "\r\n")),
        _ => None,
    }
}

fn pick_copy(search: SliceSearch<'_>) -> Option<CopyMatch> {
    let SliceSearch { slice, length, items, lines, copies } = search;
    // Scored for all borders at once, because the text may occur thousands of times and an alignment for each copy
    // would be too slow.
    let above = score_above(&items.before, lines);
    let below = score_below(&items.after, lines);
    let fit = |first: &usize| above[*first] + below[*first + length];
    let first = *copies.iter().max_by_key(|first| fit(first))?;
    // Both sides are scored at one border, because the slice may now have any length; the remaining lines between its
    // surroundings count as a gap, whose cost is limited.
    let best_fit = above.iter().zip(&below).map(|(above, below)| above + below).max().unwrap_or_default();
    let worth = |items: &[AnchorLine]| items.iter().map(|item| item.weight).sum::<i64>();
    let is_most = |fit: i64, items: &[AnchorLine]| MAX_RATIO.1 * worth(items) <= MAX_RATIO.0 * fit;
    // The recorded line numbers are weak evidence for a copy: all of them may have moved.
    let marked = to_index(slice.start_line) - 1;
    let margin = |other: usize| if other == marked { MARKED_MARGIN } else { COPY_MARGIN };
    let is_close = |other: &usize| fit(&first) < fit(other) + margin(*other);
    // A copy made with its surroundings may fit better than the original: a line that was inserted next to the original
    // is missing next to the copy.
    let known = to_index(slice.anchors.copies);
    let has_more = 0 < known && known < copies.len();
    let is_rival =
        |other: &usize| has_more && fit(&first) < fit(other) + RIVAL_MARGIN && has_neighbors(search, *other);
    let is_clear = !copies.iter().any(|other| *other != first && (is_close(other) || is_rival(other)));
    let fits_both = is_most(above[first], &items.before) && is_most(below[first + length], &items.after);
    Some(CopyMatch { first, fit: fit(&first), fits_both, best_fit, is_clear })
}

/// Returns whether most of the slice's neighbors on one side are directly next to a copy of its text.
fn has_neighbors(SliceSearch { slice, length, items, lines, .. }: SliceSearch<'_>, first: usize) -> bool {
    let SliceAnchors { before, after, .. } = &slice.anchors;
    let above = items.before.iter().rev().take(before.len());
    let above = above.zip((0..first).rev().map(Some).chain(std::iter::repeat(None)));
    let below = items.after.iter().take(after.len()).zip((first + length..).map(Some));
    let weigh = |(worth, same): (i64, i64), (item, at): (&AnchorLine, Option<usize>)| {
        let id = at.and_then(|at| lines.ids.get(at));
        let is_same = id.is_some() && id == item.id.as_ref();
        (worth + item.weight, if is_same { same + item.weight } else { same })
    };
    // Brackets alone are next to any copy.
    let is_most = |(worth, same)| UNIT / 2 <= same && MAX_RATIO.1 * worth <= MAX_RATIO.0 * same;
    is_most(above.fold((0, 0), weigh)) || is_most(below.fold((0, 0), weigh))
}

/// Resolves a slice whose text still occurs.
fn resolve_copy(search: SliceSearch<'_>, pick: &CopyMatch) -> SliceResolution {
    let SliceSearch { slice, length, copies, .. } = search;
    let marked = to_index(slice.start_line) - 1;
    let here = pick.first..pick.first + length;
    if !pick.is_clear {
        // Nothing distinguishes the copies. The one at the recorded lines is as likely as any other, and a slice in an
        // unchanged file must not become stale.
        if copies.contains(&marked) {
            return resolved_at(slice, marked..marked + length, "the same text, one of several copies alike");
        }
        let reason = format!("its text stands at {} places that are equally good", copies.len());
        return resolution(SliceStatus::Stale, &here, &reason);
    }
    // 0 means that the number is unknown, so such a slice is treated like one with copies.
    let elsewhere = if slice.anchors.copies == 1 {
        resolve_replaced(search, pick)
    } else {
        resolve_lost_copy(search, pick)
    };
    if let Some(elsewhere) = elsewhere {
        return elsewhere;
    }
    let is_only = copies.len() == 1;
    resolved_at(slice, here, if is_only { "the same text" } else { "the copy with the same surroundings" })
}

/// Resolves a slice whose text was unique, if the edit that changed it has created the same text at another place: for
/// example, two similar tests whose numbers have shifted by one. `None` if the text that was found is the slice.
fn resolve_replaced(
    SliceSearch { length, items, lines, .. }: SliceSearch<'_>,
    pick: &CopyMatch,
) -> Option<SliceResolution> {
    if pick.best_fit <= pick.fit + COPY_MARGIN {
        return None;
    }
    let here = pick.first..pick.first + length;
    let (score, followed) = follow_slice(items, length, lines);
    // A slice that has only moved leaves nothing similar between its neighbors.
    let followed = followed.filter(|followed| followed.is_in_place && is_apart(&followed.lines, &here))?;
    let is_better = pick.fit + items.inside_weight() + COPY_MARGIN < score;
    is_better.then(|| resolve_changed(&followed, "its text has changed, and another place has the old one"))
}

fn is_apart(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.end <= other.start || other.end <= one.start
}

/// Resolves a slice whose text occurred more than once, if its own copy seems to have changed; `None` if the copy that
/// was picked is the slice.
fn resolve_lost_copy(search: SliceSearch<'_>, pick: &CopyMatch) -> Option<SliceResolution> {
    let SliceSearch { slice, length, items, lines, copies } = search;
    let marked = to_index(slice.start_line) - 1;
    let here = pick.first..pick.first + length;
    let (score, followed) = follow_slice(items, length, lines);
    // Three independent signs. The number of copies alone proves nothing, because an edit may add one copy and change
    // another.
    let is_one_gone = copies.len() < to_index(slice.anchors.copies);
    let is_misplaced = !pick.fits_both
        || pick.fit + COPY_MARGIN < pick.best_fit
        || is_far_from_landmarks(slice, &here, lines);
    let drift = here.start.abs_diff(marked);
    // Similar sections, such as one for each architecture, are longer than the distance to a landmark.
    let is_between = !is_one_gone && is_between_landmarks(search, &here);
    let has_drifted = 0 < drift
        && if is_between {
            MAX_DRIFT_BETWEEN < drift
        } else {
            MAX_DRIFT < drift || !has_landmark_near(slice, &here, lines)
        };
    let is_lost = is_one_gone && is_misplaced
        // The anchors as a whole align better somewhere else, although every line of this copy is the slice's.
        || pick.fit + items.inside_weight() + COPY_MARGIN < score
        || 1 < slice.anchors.copies && has_drifted;
    if !is_lost {
        return None;
    }
    Some(match followed {
        // An alignment that leads back to this copy does not show where the slice went.
        Some(followed) if is_apart(&followed.lines, &here) => {
            resolve_changed(&followed, "only another copy of its text is unchanged")
        }
        Some(_) | None => resolution(SliceStatus::Stale, &here, "only another copy of its text is left"),
    })
}

/// Returns whether a line that was and still is unique in the file is now on the other side of this place, or is far
/// from it although it was near the slice.
fn is_far_from_landmarks(slice: &Slice, here: &Range<usize>, lines: &LineTable<'_>) -> bool {
    let SliceAnchors { before, after, unique_before, unique_after, .. } = &slice.anchors;
    let place = |line: &String| unique_place(line, lines);
    let is_far = |line: &String, away: Option<usize>, near: &[String]| {
        away.is_none_or(|away| MAX_DISTANCE < away && near.contains(line))
    };
    let above = |line: &String| is_far(line, here.start.checked_sub(place(line)? + 1), before).then_some(());
    let below = |line: &String| is_far(line, place(line)?.checked_sub(here.end), after).then_some(());
    // If nothing distinguishes the copies any more, it is unknown which one is gone.
    !has_landmark_near(slice, here, lines)
        || unique_before.iter().any(|line| above(line).is_some())
        || unique_after.iter().any(|line| below(line).is_some())
}

/// Returns whether a unique line that distinguished this copy is near a place. Unique lines directly next to the slice
/// are the best evidence: for example, the name of the enclosing function in a file whose functions all begin alike.
/// The others are only used if there are no such lines.
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

/// Returns whether a copy is the only one between the nearest unique lines before and after the slice, not counting
/// copies with other neighbors.
fn is_between_landmarks(search: SliceSearch<'_>, here: &Range<usize>) -> bool {
    let SliceSearch { slice, lines, copies, .. } = search;
    let SliceAnchors { unique_before, unique_after, .. } = &slice.anchors;
    let place = |line: Option<&String>| unique_place(line?, lines);
    let (Some(above), Some(below)) = (place(unique_before.last()), place(unique_after.first())) else {
        return false;
    };
    let is_other =
        |copy: &usize| *copy != here.start && above < *copy && *copy < below && has_neighbors(search, *copy);
    above < here.start && here.end <= below && !copies.iter().any(is_other)
}

/// Returns the position of a line that is unique.
fn unique_place(line: &str, lines: &LineTable<'_>) -> Option<usize> {
    match lines.places(lines.id_of(line)?) {
        [place] => Some(to_index(*place)),
        _ => None,
    }
}

/// Resolves a slice whose text does not occur, or is not known.
fn resolve_without_copy(search: SliceSearch<'_>) -> SliceResolution {
    let SliceSearch { slice, length, items, lines, .. } = search;
    let is_unknown = slice.anchors.content_hash.is_none();
    if let (_, Some(followed)) = follow_slice(items, length, lines) {
        let reason = if is_unknown { "it has no content_hash to tell by" } else { "its text has changed" };
        return resolve_changed(&followed, reason);
    }
    if lines.ids.len() < to_index(slice.end_line) {
        return unresolved(slice, SliceStatus::Stale, "the file ends before it");
    }
    if is_unknown && items.is_empty() {
        // The slice consists only of line numbers: nothing shows that they mean another text now.
        return unresolved(
            slice,
            SliceStatus::Exact,
            "it has no anchors: these are the lines as they were marked",
        );
    }
    let marked = to_index(slice.start_line) - 1;
    if is_unknown && items.inside.is_empty() && has_neighbors(search, marked) {
        // Anchors on one side only do not rule out other places.
        return unresolved(slice, SliceStatus::Changed, "it has no content_hash to tell by");
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

/// Returns the lines as they were marked, because there are no better ones.
fn unresolved(slice: &Slice, status: SliceStatus, reason: &str) -> SliceResolution {
    let Slice { start_line, end_line, .. } = *slice;
    SliceResolution { status, start_line, end_line, reason: reason.to_owned() }
}

/// The maximum number of places with equal short hashes that are verified: short hashes collide once in four billion
/// times.
const MAX_TRIES: usize = 16;
/// The maximum number of bytes that are hashed to find a slice whose lines are not recorded.
const MAX_HASHED_BYTES: usize = 8 << 20;

/// Returns where the text of the slice occurs, from 0, ascending; empty if it has no content hash.
pub(super) fn find_copies(
    slice: &Slice,
    length: usize,
    items: &AnchorSequence,
    lines: &LineTable<'_>,
) -> Vec<usize> {
    let Some(hash) = slice.anchors.content_hash else { return Vec::new() };
    if lines.ids.len() < length {
        return Vec::new();
    }
    let is_it = |first: &usize| {
        // Without the last line break, as when the slice was created: a file that gains or loses its final newline
        // keeps its slices.
        ContentHash::digest(lines.texts[*first..*first + length].join("\n").as_bytes()) == hash
    };
    let found = if items.inside.is_empty() {
        candidate_windows(slice, length, lines).find(is_it)
    } else {
        items.alike.iter().copied().take(MAX_TRIES).find(is_it)
    };
    // All copies have the lines of the first, so none of the others has to be hashed.
    found.map_or_else(Vec::new, |first| find_occurrences(&lines.ids, &lines.ids[first..first + length]))
}

/// Returns the places to check if the slice's lines are not recorded: its former lines, the places next to its former
/// neighbors, and the rest outward from there.
fn candidate_windows<'a>(
    slice: &'a Slice,
    length: usize,
    lines: &'a LineTable<'_>,
) -> impl Iterator<Item = usize> + 'a {
    let places = |line: Option<&String>| {
        let id = line.and_then(|line| lines.id_of(line));
        id.map_or(&[][..], |id| lines.places(id)).iter().map(|place| to_index(*place))
    };
    let last = lines.ids.len() - length;
    let marked = to_index(slice.start_line).saturating_sub(1).min(last);
    let below = places(slice.anchors.before.last()).map(|place| place + 1);
    let above = places(slice.anchors.after.first()).filter_map(move |place| place.checked_sub(length));
    let outward = (1..=last).flat_map(move |away| [marked.checked_sub(away), Some(marked + away)]).flatten();
    let mut seen = BTreeSet::new();
    let mut bytes = 0;
    [marked]
        .into_iter()
        .chain(below)
        .chain(above)
        .chain(outward)
        .filter(move |first| *first <= last && seen.insert(*first))
        .take_while(move |first| {
            bytes += lines.texts[*first..*first + length].iter().map(|line| line.len() + 1).sum::<usize>();
            bytes <= MAX_HASHED_BYTES
        })
}

//! Where a slice is now: its unchanged text among several copies, or the lines that it has become.

use std::collections::BTreeSet;
use std::ops::Range;

use super::align::{ChainLink, MatchChain, best_chain, score_above, score_below};
use super::anchors::{AnchorLine, AnchorSequence, UNIT};
use super::lines::{LineTable, find_occurrences, to_index, to_line_number};
use crate::model::{ContentHash, Slice, SliceAnchors, SliceResolution, SliceStatus};

/// How much better than any other the surroundings of a copy must fit.
const COPY_MARGIN: i64 = 150;
/// What most of it is, once a copy has gone and the rest are suspected: three in four, as a fraction turned over. Nothing
/// less kept apart the entries of a long table that are all but the same.
const MOST_RATIO: (i64, i64) = (4, 3);
/// How many lines one of several copies may have drifted: tables repeat whole pages, surroundings included.
const MAX_DRIFT: usize = 1000;
/// How many lines may have come between a slice and a line that was near it, while another copy of its text has gone.
const MAX_DISTANCE: usize = 30;

/// A copy of the slice's text that is picked, and how well what is around it fits.
struct CopyMatch {
    first: usize,
    fit: i64,
    fits_both: bool,
    /// How well its surroundings fit at the best place, whatever text is there.
    best_fit: i64,
    is_clear: bool,
}

/// Finds a slice in a text. Only what has the slice's very text is called exact or moved, which its `content_hash`
/// tells: a slice without one is never more than changed, for it is unknown what its text was; unless it has no anchors
/// either, so that the lines are all there is to it.
pub fn locate_slice(slice: &Slice, text: &str) -> SliceResolution {
    // Slices are stored in a file that people edit, so the numbers may be anything.
    if slice.start_line < 1 || slice.end_line < slice.start_line {
        return unresolved(slice, SliceStatus::Stale, "its lines are no range");
    }
    let lines = LineTable::new(text);
    let length = to_index(slice.end_line - slice.start_line) + 1;
    let items = AnchorSequence::from_slice(slice, length, &lines);
    let copies = find_copies(slice, length, &items, &lines);
    match pick_copy(slice, &copies, length, &items, &lines) {
        Some(pick) => resolve_copy(slice, length, &pick, &copies, &items, &lines),
        None => resolve_without_copy(slice, length, &items, &lines),
    }
}

fn pick_copy(
    slice: &Slice,
    copies: &[usize],
    length: usize,
    items: &AnchorSequence,
    lines: &LineTable<'_>,
) -> Option<CopyMatch> {
    // Scored for all borders at once, because a text may be in the file thousands of times and an alignment
    // for each copy would be too slow.
    let above = score_above(&items.before, lines);
    let below = score_below(&items.after, lines);
    let fit = |first: &usize| above[*first] + below[*first + length];
    let first = *copies.iter().max_by_key(|first| fit(first))?;
    let second = copies.iter().filter(|other| **other != first).map(fit).max();
    // Both sides are taken at one border, because the slice may have any number of lines by now; those that
    // are left between its surroundings count as a gap, which has a limited cost.
    let best_fit = above.iter().zip(&below).map(|(above, below)| above + below).max().unwrap_or_default();
    let worth = |items: &[AnchorLine]| items.iter().map(|item| item.weight).sum::<i64>();
    let is_most = |fit: i64, items: &[AnchorLine]| MOST_RATIO.1 * worth(items) <= MOST_RATIO.0 * fit;
    // What was copied with its surroundings may fit better than the original: a line that was inserted next to the original
    // is missing next to the copy.
    let known = to_index(slice.anchors.copies);
    let is_rival = |other: &usize| *other != first && has_neighbors(slice, *other, length, items, lines);
    let has_rival = 0 < known && known < copies.len() && copies.iter().any(is_rival);
    let is_clear = !has_rival && second.is_none_or(|second| second + COPY_MARGIN <= fit(&first));
    let fits_both = is_most(above[first], &items.before) && is_most(below[first + length], &items.after);
    Some(CopyMatch { first, fit: fit(&first), fits_both, best_fit, is_clear })
}

/// Returns whether most of the lines that were next to the slice on one side are directly next to a copy of its text.
fn has_neighbors(
    slice: &Slice,
    first: usize,
    length: usize,
    items: &AnchorSequence,
    lines: &LineTable<'_>,
) -> bool {
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
    let is_most = |(worth, same)| UNIT / 2 <= same && MOST_RATIO.1 * worth <= MOST_RATIO.0 * same;
    is_most(above.fold((0, 0), weigh)) || is_most(below.fold((0, 0), weigh))
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
    let marked = to_index(slice.start_line) - 1;
    let here = pick.first..pick.first + length;
    if !pick.is_clear {
        // Nothing distinguishes the copies. The one on the remembered lines is as likely as any other, and
        // a file that did not change must not become stale.
        if copies.contains(&marked) {
            return resolved_at(slice, marked..marked + length, "the same text, one of several copies alike");
        }
        let reason = format!("its text stands at {} places that are equally good", copies.len());
        return resolution(SliceStatus::Stale, &here, &reason);
    }
    // If the text was unique when it was marked, what is found cannot be another copy of it. 0 means that
    // the number is not known, so such a slice is doubted, too.
    if slice.anchors.copies != 1
        && let Some(lost) = resolve_lost_copy(slice, length, pick, copies, items, lines)
    {
        return lost;
    }
    let is_only = copies.len() == 1;
    resolved_at(slice, here, if is_only { "the same text" } else { "the copy with the same surroundings" })
}

/// Resolves a slice whose text occurred in the file more than once, if its own copy seems to have changed; `None` if the
/// copy that was picked is the slice.
fn resolve_lost_copy(
    slice: &Slice,
    length: usize,
    pick: &CopyMatch,
    copies: &[usize],
    items: &AnchorSequence,
    lines: &LineTable<'_>,
) -> Option<SliceResolution> {
    let marked = to_index(slice.start_line) - 1;
    let here = pick.first..pick.first + length;
    let (score, followed) = follow_slice(items, length, lines);
    // Three independent signs. The number of copies alone proves nothing, because an edit may add one copy
    // and change another.
    let is_one_gone = copies.len() < to_index(slice.anchors.copies);
    let is_misplaced = !pick.fits_both
        || pick.fit + COPY_MARGIN < pick.best_fit
        || is_far_from_landmarks(slice, &here, lines);
    let has_drifted = here.start != marked
        && (MAX_DRIFT < here.start.abs_diff(marked) || !has_landmark_near(slice, &here, lines));
    let is_lost = is_one_gone && is_misplaced
        // All that is remembered aligns better somewhere else, although every line of this copy is the
        // slice's.
        || pick.fit + items.inside_weight() + COPY_MARGIN < score
        || 1 < slice.anchors.copies && has_drifted;
    if !is_lost {
        return None;
    }
    // An alignment that leads back to this copy is no evidence of where the slice went.
    let is_elsewhere =
        |followed: &FollowedLines| followed.lines.end <= here.start || here.end <= followed.lines.start;
    Some(match followed {
        Some(followed) if is_elsewhere(&followed) => {
            resolve_changed(&followed, "only another copy of its text is unchanged")
        }
        Some(_) | None => resolution(SliceStatus::Stale, &here, "only another copy of its text is left"),
    })
}

/// Returns whether a line that occurred once in the file, and still does, is on the other side of this place than it was of
/// the slice, or is far from it and was near the slice.
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

/// Returns whether one of the lines that occurred once in the file, and distinguished this copy, is near a place. The
/// ones directly next to the slice are the best evidence: the name of the function that it is in, in a file in which all
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

/// Returns the place of a line that occurs once.
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
    if let (_, Some(followed)) = follow_slice(items, length, lines) {
        let reason = if is_unknown { "it has no content_hash to tell by" } else { "its text has changed" };
        return resolve_changed(&followed, reason);
    }
    if lines.ids.len() < to_index(slice.end_line) {
        return unresolved(slice, SliceStatus::Stale, "the file ends before it");
    }
    if is_unknown && items.is_empty() {
        // The lines are all that its author said: nothing shows that they mean another text now.
        return unresolved(
            slice,
            SliceStatus::Exact,
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

/// Answers with the lines as they were marked, because there are no better ones.
fn unresolved(slice: &Slice, status: SliceStatus, reason: &str) -> SliceResolution {
    let Slice { start_line, end_line, .. } = *slice;
    SliceResolution { status, start_line, end_line, reason: reason.to_owned() }
}

/// How many places that only look alike are hashed before it is given up: short hashes lie once in four billion times.
const MAX_TRIES: usize = 16;
/// How many bytes are hashed in search of a slice that does not remember its lines.
const MAX_HASHED_BYTES: usize = 8 << 20;

/// Returns where the text of the slice occurs, from 0, ascending; nothing if it has no content hash.
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
        // Without the last line ending, as when the slice was made: a file that gains or loses its final
        // newline keeps its slices.
        ContentHash::digest(lines.texts[*first..*first + length].join("\n").as_bytes()) == hash
    };
    let found = if items.inside.is_empty() {
        candidate_windows(slice, length, lines).find(is_it)
    } else {
        items.alike.iter().copied().take(MAX_TRIES).find(is_it)
    };
    // All copies have the lines of the first: there is no need to hash each.
    found.map_or_else(Vec::new, |first| find_occurrences(&lines.ids, &lines.ids[first..first + length]))
}

/// Returns the places to look at where nothing is known of the slice's lines: where it stood, next to the lines that
/// stood next to it, and the rest from there to both sides.
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

/// Of the lines that were found, two may lie so far apart before one of them is taken for another's, besides as many
/// lines as the slice has.
const MAX_STRAY: usize = 60;
/// How much better than any other place the best one must fit.
const CHANGED_MARGIN: i64 = 300;
/// How many of the lines must be left, weighed by how rare they are: one in so many.
const ENOUGH_DIVISOR: i64 = 4;

/// The lines that a slice became.
pub(super) struct FollowedLines {
    pub(super) lines: Range<usize>,
    /// Whether no other place fits about as well.
    pub(super) is_clear: bool,
    /// Whether enough of it is left to call it the slice.
    pub(super) is_enough: bool,
}

/// Follows the lines of a slice, of which each but a few may have changed. Returns how well all that is remembered fits,
/// and what became of the slice if there is anything left of it.
pub(super) fn follow_slice(
    items: &AnchorSequence,
    length: usize,
    lines: &LineTable<'_>,
) -> (i64, Option<FollowedLines>) {
    let (all, first) = items.concatenated();
    let chain = best_chain(&all, lines, |_| true);
    (chain.score, follow_chain(&chain, items, &all, first, length, lines))
}

fn follow_chain(
    chain: &MatchChain,
    items: &AnchorSequence,
    all: &[AnchorLine],
    first: usize,
    length: usize,
    lines: &LineTable<'_>,
) -> Option<FollowedLines> {
    let inside = first..first + items.inside.len();
    if inside.is_empty() {
        return follow_between(chain, all, first, length, lines);
    }
    let own = core_links(chain, &inside, all);
    let (head, tail) = (own.first()?, own.last()?);
    let hull = head.place..tail.place + 1;
    let other = best_chain(all, lines, |link| !(inside.contains(&link.item) && hull.contains(&link.place)));
    let rivals = core_links(&other, &inside, all);
    let kept = links_weight(&own, all);
    let is_clear = links_weight(&rivals, all) * 2 < kept || other.score + CHANGED_MARGIN <= chain.score;
    let above = place_of_item(chain, first.checked_sub(1)).filter(|place| *place < hull.start);
    let below = place_of_item(chain, Some(inside.end)).filter(|place| hull.end <= *place);
    let is_framed = above.is_some() && below.is_some();
    let has_solid = own.iter().any(|link| all[link.item].is_solid);
    Some(FollowedLines {
        lines: widen_hull(&hull, above, below, head.item - inside.start, inside.end - 1 - tail.item),
        is_clear,
        is_enough: has_solid
            && items.inside_weight() < kept * if is_framed { 2 * ENOUGH_DIVISOR } else { ENOUGH_DIVISOR },
    })
}

/// Follows a slice that remembers nothing of its own lines: it is what is between the lines that were next to it.
fn follow_between(
    chain: &MatchChain,
    all: &[AnchorLine],
    first: usize,
    length: usize,
    lines: &LineTable<'_>,
) -> Option<FollowedLines> {
    let above = place_of_item(chain, first.checked_sub(1))?;
    let below = place_of_item(chain, Some(first))?;
    let other = best_chain(all, lines, |link| link.place != above && link.place != below);
    let is_rival =
        place_of_item(&other, first.checked_sub(1)).is_some() && place_of_item(&other, Some(first)).is_some();
    let there = above + 1..below;
    Some(FollowedLines {
        is_clear: !is_rival || other.score + CHANGED_MARGIN <= chain.score,
        is_enough: !there.is_empty() && there.len() <= 2 * length + MAX_STRAY,
        lines: there,
    })
}

fn place_of_item(chain: &MatchChain, item: Option<usize>) -> Option<usize> {
    chain.links.iter().find(|link| Some(link.item) == item).map(|link| link.place)
}

fn links_weight(links: &[ChainLink], all: &[AnchorLine]) -> i64 {
    links.iter().map(|link| all[link.item].weight).sum()
}

/// Returns the links that are the slice's own, without those that are far from the rest, and without brackets and
/// blanks at the ends that are not next to another line of the slice.
fn core_links(chain: &MatchChain, inside: &Range<usize>, all: &[AnchorLine]) -> Vec<ChainLink> {
    let own: Vec<ChainLink> =
        chain.links.iter().copied().filter(|link| inside.contains(&link.item)).collect();
    let limit = MAX_STRAY + inside.len();
    let clusters = own.chunk_by(|one, next| next.place - one.place <= limit);
    let mut links = clusters.max_by_key(|links| links_weight(links, all)).unwrap_or_default();
    let neighbor = |item: usize, place: usize| chain.links.contains(&ChainLink { item, place });
    while let [one, rest @ ..] = links
        && !all[one.item].is_solid
        && !(0 < one.item.min(one.place) && one.item == inside.start && neighbor(one.item - 1, one.place - 1))
    {
        links = rest;
    }
    while let [rest @ .., one] = links
        && !all[one.item].is_solid
        && !(one.item + 1 == inside.end && neighbor(one.item + 1, one.place + 1))
    {
        links = rest;
    }
    links.to_vec()
}

/// Extends a range over what replaced lines of the slice, up to the lines that were next to it.
fn widen_hull(
    hull: &Range<usize>,
    above: Option<usize>,
    below: Option<usize>,
    gone_above: usize,
    gone_below: usize,
) -> Range<usize> {
    let fits = |there: usize, gone: usize| 0 < gone && there <= 2 * gone + 4;
    let start = above.map(|above| above + 1).filter(|start| fits(hull.start - start, gone_above));
    let end = below.filter(|end| fits(end - hull.end, gone_below));
    start.unwrap_or(hull.start)..end.unwrap_or(hull.end)
}

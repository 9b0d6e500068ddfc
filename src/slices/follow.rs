//! Follows a slice whose lines have changed.

use std::ops::Range;

use super::align::{ChainLink, MatchChain, best_chain};
use super::anchors::{AnchorLine, AnchorSequence};
use super::lines::LineTable;

/// The maximum distance between two found lines of a slice, in addition to its length, before one of them is considered
/// a coincidence.
const MAX_STRAY: usize = 60;
/// By how much the best place must fit better than any other.
const CHANGED_MARGIN: i64 = 300;
/// The share of the lines that must remain, weighted by rarity: 1/`ENOUGH_DIVISOR`.
const ENOUGH_DIVISOR: i64 = 4;

/// The lines that a slice turned into.
pub(super) struct FollowedLines {
    pub(super) lines: Range<usize>,
    /// Whether no other place fits similarly well.
    pub(super) is_clear: bool,
    /// Whether enough of it remains to consider it the same slice.
    pub(super) is_enough: bool,
    /// Whether at least half of its lines are there, between its former neighbors.
    pub(super) is_in_place: bool,
}

/// Follows a slice, most of whose lines may have changed. Returns how well its anchors match, and what the slice turned
/// into if anything is left of it.
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
    let kept_solid = own.iter().filter(|link| all[link.item].is_solid).count();
    let solid = items.inside.iter().filter(|item| item.is_solid).count();
    Some(FollowedLines {
        lines: widen_hull(&hull, above, below, head.item - inside.start, inside.end - 1 - tail.item),
        is_clear,
        is_enough: 0 < kept_solid
            && items.inside_weight() < kept * if is_framed { 2 * ENOUGH_DIVISOR } else { ENOUGH_DIVISOR },
        is_in_place: is_framed && 0 < kept_solid && solid <= 2 * kept_solid,
    })
}

/// Follows a slice whose own lines are not recorded: it is what lies between its former neighbors.
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
        is_in_place: false,
        lines: there,
    })
}

fn place_of_item(chain: &MatchChain, item: Option<usize>) -> Option<usize> {
    chain.links.iter().find(|link| Some(link.item) == item).map(|link| link.place)
}

fn links_weight(links: &[ChainLink], all: &[AnchorLine]) -> i64 {
    links.iter().map(|link| all[link.item].weight).sum()
}

/// Returns the links of the slice's own lines, without those far from the rest, and without brackets and blanks at the
/// ends that are not next to an adjacent anchor line.
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

/// Extends a range over the lines that replaced some of the slice's, up to its former neighbors.
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

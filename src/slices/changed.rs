//! What became of a slice whose text is nowhere any more.

use std::ops::Range;

use super::chain;
use super::chain::Chain;
use super::chain::Link;
use super::items::Item;
use super::items::Items;
use super::lines::Lines;

/// Of the lines that were found, two may lie so far apart before one of them is taken for another's, beside as many
/// lines as the slice has.
const STRAY: usize = 60;
/// How much better than any other place the best one must fit.
const MARGIN: i64 = 300;
/// How many of the lines must be left, weighed by how rare they are: one in so many.
const ENOUGH: i64 = 4;

/// The lines that a slice became.
pub(super) struct Followed {
    /// From 0.
    pub(super) lines: Range<usize>,
    /// Whether no other place fits about as well.
    pub(super) is_clear: bool,
    /// Whether enough of it is left to call it the slice.
    pub(super) is_enough: bool,
}

/// Follows the lines of a slice, of which each but a few may have changed. Says how well all that is remembered fits,
/// and what became of the slice if there is anything left of it.
pub(super) fn follow(items: &Items, length: usize, lines: &Lines<'_>) -> (i64, Option<Followed>) {
    let (all, first) = items.in_order();
    let chain = chain::best(&all, lines, |_| true);
    (chain.score, in_chain(&chain, items, &all, first, length, lines))
}

fn in_chain(
    chain: &Chain,
    items: &Items,
    all: &[Item],
    first: usize,
    length: usize,
    lines: &Lines<'_>,
) -> Option<Followed> {
    let inside = first..first + items.inside.len();
    if inside.is_empty() {
        return between(chain, all, first, length, lines);
    }
    let links = core(chain, &inside, all);
    let (head, tail) = (links.first()?, links.last()?);
    let hull = head.place..tail.place + 1;
    let other = chain::best(all, lines, |link| !(inside.contains(&link.item) && hull.contains(&link.place)));
    let rivals = core(&other, &inside, all);
    let kept = worth(&links, all);
    let is_clear = worth(&rivals, all) * 2 < kept || other.score + MARGIN <= chain.score;
    let above = place_of(chain, first.checked_sub(1)).filter(|place| *place < hull.start);
    let below = place_of(chain, Some(inside.end)).filter(|place| hull.end <= *place);
    let is_framed = above.is_some() && below.is_some();
    let has_solid = links.iter().any(|link| all[link.item].is_solid);
    Some(Followed {
        lines: widened(&hull, above, below, head.item - inside.start, inside.end - 1 - tail.item),
        is_clear,
        is_enough: has_solid && items.worth() < kept * if is_framed { 2 * ENOUGH } else { ENOUGH },
    })
}

/// Follows a slice that remembers nothing of its own lines: it is what stands between the lines that stood next to it.
fn between(chain: &Chain, all: &[Item], first: usize, length: usize, lines: &Lines<'_>) -> Option<Followed> {
    let above = place_of(chain, first.checked_sub(1))?;
    let below = place_of(chain, Some(first))?;
    let other = chain::best(all, lines, |link| link.place != above && link.place != below);
    let there = above + 1..below;
    Some(Followed {
        is_clear: other.score + MARGIN <= chain.score,
        is_enough: !there.is_empty() && there.len() <= 2 * length + STRAY,
        lines: there,
    })
}

fn place_of(chain: &Chain, item: Option<usize>) -> Option<usize> {
    chain.links.iter().find(|link| Some(link.item) == item).map(|link| link.place)
}

fn worth(links: &[Link], all: &[Item]) -> i64 {
    links.iter().map(|link| all[link.item].weight).sum()
}

/// Returns the links that are the slice's own, without those that are far from the rest, and without brackets and
/// blanks at the ends that are not next to another line of the slice.
fn core(chain: &Chain, inside: &Range<usize>, all: &[Item]) -> Vec<Link> {
    let own: Vec<Link> = chain.links.iter().copied().filter(|link| inside.contains(&link.item)).collect();
    let limit = STRAY + inside.len();
    let clusters = own.chunk_by(|one, next| next.place - one.place <= limit);
    let mut links = clusters.max_by_key(|links| worth(links, all)).unwrap_or_default();
    let neighbor = |item: usize, place: usize| chain.links.contains(&Link { item, place });
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

/// Takes in what stands where lines of the slice stood, up to the lines that stood next to it.
fn widened(
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

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

/// The lines that a slice became.
pub(super) struct Followed {
    /// From 0.
    pub(super) lines: Range<usize>,
    /// How many of its lines are still there that are more than brackets and blanks.
    pub(super) kept: usize,
    /// How many such lines it had.
    pub(super) had: usize,
    /// How well all that is remembered fits.
    pub(super) score: i64,
    /// Whether no other place fits about as well.
    pub(super) is_clear: bool,
    /// Whether the lines on both sides of it are where they were found by their neighbors.
    pub(super) is_framed: bool,
}

/// Follows the lines of a slice, of which each but a few may have changed.
pub(super) fn follow(items: &Items, lines: &Lines<'_>) -> Option<Followed> {
    let (all, first) = items.in_order();
    let inside = first..first + items.inside.len();
    let chain = chain::best(&all, lines, |_| true);
    let links = core(&chain, &inside, &all);
    let (head, tail) = (links.first()?, links.last()?);
    let hull = head.place..tail.place + 1;
    let other = chain::best(&all, lines, |link| !(inside.contains(&link.item) && hull.contains(&link.place)));
    let rivals = core(&other, &inside, &all);
    let solid = |links: &[Link]| links.iter().filter(|link| all[link.item].is_solid).count();
    let kept = solid(&links);
    let is_clear = solid(&rivals) * 2 < kept || other.score + MARGIN <= chain.score;
    let above = link_of(&chain, first.checked_sub(1)).filter(|place| *place < hull.start);
    let below = link_of(&chain, Some(inside.end)).filter(|place| hull.end <= *place);
    Some(Followed {
        lines: widened(&hull, above, below, head.item - inside.start, inside.end - 1 - tail.item),
        kept,
        had: items.inside.iter().filter(|item| item.is_solid).count(),
        score: chain.score,
        is_clear,
        is_framed: above.is_some() && below.is_some(),
    })
}

fn link_of(chain: &Chain, item: Option<usize>) -> Option<usize> {
    chain.links.iter().find(|link| Some(link.item) == item).map(|link| link.place)
}

/// Returns the links that are the slice's own, without those that are far from the rest, and without brackets and
/// blanks at the ends that are not next to another line of the slice.
fn core(chain: &Chain, inside: &Range<usize>, all: &[Item]) -> Vec<Link> {
    let own: Vec<Link> = chain.links.iter().copied().filter(|link| inside.contains(&link.item)).collect();
    let limit = STRAY + inside.len();
    let clusters = own.chunk_by(|one, next| next.place - one.place <= limit);
    let weight = |links: &[Link]| links.iter().map(|link| all[link.item].weight).sum::<i64>();
    let mut links = clusters.max_by_key(|links| weight(links)).unwrap_or_default();
    while let [one, rest @ ..] = links
        && !all[one.item].is_solid
        && !rest.first().is_some_and(|next| next.place - one.place == next.item - one.item)
    {
        links = rest;
    }
    while let [rest @ .., one] = links
        && !all[one.item].is_solid
        && !rest.last().is_some_and(|last| one.place - last.place == one.item - last.item)
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

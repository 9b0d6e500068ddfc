//! The places where a slice's text stands unchanged.

use std::collections::BTreeSet;

use super::items::AnchorSequence;
use super::lines::LineTable;
use super::lines::to_index;
use super::occurrences;
use crate::model::ContentHash;
use crate::model::Slice;

/// How many places that only look alike are hashed before it is given up: short hashes lie once in four billion times.
const MAX_TRIES: usize = 16;
/// How many bytes are hashed in search of a slice that does not remember its lines.
const MAX_HASHED_BYTES: usize = 8 << 20;

/// Returns where the text of the slice stands, from 0, ascending; nothing where it has no hash to tell.
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
        ContentHash::digest(lines.texts[*first..*first + length].join("\n").as_bytes()) == hash
    };
    let found = if items.inside.is_empty() {
        candidate_windows(slice, length, lines).find(is_it)
    } else {
        items.alike.iter().copied().take(MAX_TRIES).find(is_it)
    };
    // All copies have the lines of the first: there is no need to hash each.
    found.map_or_else(Vec::new, |first| {
        occurrences::find_occurrences(&lines.ids, &lines.ids[first..first + length])
    })
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
    let stood = to_index(slice.start_line).saturating_sub(1).min(last);
    let below = places(slice.anchors.before.last()).map(|place| place + 1);
    let above = places(slice.anchors.after.first()).filter_map(move |place| place.checked_sub(length));
    let outward = (1..=last).flat_map(move |away| [stood.checked_sub(away), Some(stood + away)]).flatten();
    let mut seen = BTreeSet::new();
    let mut bytes = 0;
    [stood]
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

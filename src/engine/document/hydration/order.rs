//! The order of the files in a hydrated document: decided when they are placed, and stored with their places.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::hydrate::{HydrationDraft, KnownPlaces, PlacedUnit};
use crate::aggregate::{HotFile, order_hot_files};
use crate::model::{RelPath, Warmth, resource_name};

/// The HOT fragments of a file.
#[derive(Default)]
struct HotUnits {
    /// The rank of the file's purpose, which decides where no history does.
    class: u8,
    bytes: u64,
    units: usize,
    /// Whether each of them was shown exactly as it is now.
    are_same: bool,
}

/// Returns the HOT files in the order of their document, after those of `before`. The files of each linked folder
/// follow those of the root, so that work in one does not move the text of another.
pub(super) fn hydrated_order(
    placed: &[PlacedUnit],
    known: &KnownPlaces<'_>,
    before: &[RelPath],
    HydrationDraft { files: drafted, inputs }: HydrationDraft<'_>,
) -> Vec<RelPath> {
    let mut hot: BTreeMap<&RelPath, HotUnits> = BTreeMap::new();
    for PlacedUnit { unit, place, .. } in
        placed.iter().filter(|placed| placed.place.warmth == Some(Warmth::Hot))
    {
        let row = known.stored(&unit.name).filter(|row| row.warmth == Some(Warmth::Hot));
        let is_same = row.is_some_and(|row| (row.content, row.depth) == (unit.content, place.depth));
        let class = drafted[unit.at].candidate.stability.class;
        let first = HotUnits { class, are_same: true, ..HotUnits::default() };
        let file = hot.entry(&unit.name.path).or_insert(first);
        (file.bytes, file.units) = (file.bytes.saturating_add(place.bytes), file.units + 1);
        file.are_same &= is_same;
    }
    let units_before = known.hot_units();
    let mut by_resource: BTreeMap<Option<&[u8]>, Vec<(&RelPath, HotUnits)>> = BTreeMap::new();
    for (path, file) in hot {
        by_resource.entry(resource_name(path.as_bytes())).or_default().push((path, file));
    }
    let mut order = Vec::new();
    for (resource, mut files) in by_resource {
        files.sort_by_key(|(path, file)| (file.class, *path));
        let of_resource = before.iter().filter(|path| resource_name(path.as_bytes()) == resource);
        let positions: FxHashMap<&RelPath, usize> = of_resource.zip(0..).collect();
        let hot_file = |(path, file): &(&RelPath, HotUnits)| {
            let is_same = file.are_same && units_before.get(path) == Some(&file.units);
            let history = inputs.history.as_ref().and_then(|history| history.of_file(path));
            HotFile {
                place_before: positions.get(path).copied().filter(|_| is_same),
                bytes: file.bytes,
                change_rate: history.map(|history| history.change_rate(path)),
            }
        };
        let described: Vec<HotFile> = files.iter().map(hot_file).collect();
        order.extend(order_hot_files(&described).into_iter().map(|at| files[at].0.clone()));
    }
    order
}

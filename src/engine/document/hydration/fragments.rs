//! Fragments between hydrations: which ones there are, what each shows now, and what is pinned.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::aggregate::{CuratedItems, HydratedDepths, RoutingContext, view_of_item};
use crate::engine::artifacts::ArtifactCache;
use crate::engine::document::gather::render_candidate;
use crate::engine::document::inputs::DocumentInputs;
use crate::engine::document::rendering::{BaseText, find_slices};
use crate::engine::document::request::{AggregationRequest, HydratedPlace, HydratedPlaces};
use crate::engine::document::routing::{merged_items, route, routing};
use crate::engine::document::run::DocumentRun;
use crate::engine::error::Error;
use crate::engine::index::{Trust, resolve_name, select_named};
use crate::engine::workspace::{KnownState, Workspace, with_byte_order_mark};
use crate::model::{ContentHash, Depth, FileItem, Fragment, FragmentName, Pin, RelPath, ViewMode, Warmth};
use crate::store::{Error as StoreError, PlacementUpdate, Store};

/// The fragments that a person names.
#[derive(Debug, Clone, Copy)]
pub struct NamedFragments<'a> {
    /// A file, a folder or a pattern.
    pub word: &'a str,
    /// The name of a slice, if only slices of this name are meant.
    pub slice: Option<&'a str>,
    /// All curated items, which determine the slices of files.
    pub items: &'a [FileItem],
}

impl DocumentRun<'_, '_> {
    /// Pins fragments, so that they are HOT after the next hydration, or unpins them.
    pub(in crate::engine) fn pin(
        &mut self,
        named: NamedFragments<'_>,
        pin: Option<Pin>,
    ) -> Result<Vec<Fragment>, Error> {
        self.change_fragments(named, |fragment| {
            fragment.pin = pin;
            if pin.is_some() {
                "pinned: placed by the next hydration".clone_into(&mut fragment.why);
            }
        })
    }

    /// Removes the places of fragments, their pins and uses. They come back when they are relevant.
    pub(in crate::engine) fn forget(&mut self, named: NamedFragments<'_>) -> Result<Vec<Fragment>, Error> {
        self.change_fragments(named, |fragment| {
            (fragment.warmth, fragment.depth) = (None, Depth::PATH);
            (fragment.tokens, fragment.shown_bytes) = (0, 0);
            (fragment.pin, fragment.uses, fragment.used_at_s) = (None, 0, None);
            "forgotten by request".clone_into(&mut fragment.why);
        })
    }

    fn change_fragments(
        &mut self,
        named: NamedFragments<'_>,
        change: impl Fn(&mut Fragment),
    ) -> Result<Vec<Fragment>, Error> {
        let rows = read(self.cache, Store::fragments)?;
        // The row of a deleted file is kept as long as it is pinned.
        let is_named = |row: &&Fragment| row.name.path.to_string() == named.word;
        let mut meant: BTreeMap<FragmentName, Fragment> =
            rows.iter().filter(is_named).map(|row| (row.name.clone(), row.clone())).collect();
        match self.current(named, &rows) {
            Ok(current) => meant.extend(current),
            Err(error) if meant.is_empty() => return Err(error),
            Err(_) => {}
        }
        if let Some(slice) = named.slice {
            let known = meant.keys().filter_map(|name| name.part.clone()).collect();
            meant.retain(|name, _| name.part.as_deref() == Some(slice));
            if meant.is_empty() {
                let (word, slice) = (named.word.to_owned(), slice.to_owned());
                return Err(Error::NoSuchSlice { word, slice, known });
            }
        }
        meant.values_mut().for_each(change);
        let changed: Vec<Fragment> = meant.into_values().collect();
        let update = PlacementUpdate { changed: changed.clone(), ..PlacementUpdate::default() };
        write(self.cache, |store| store.record_places(&update))?;
        Ok(changed)
    }

    /// Returns the fragments that a word names, with or without a place.
    fn current(
        &mut self,
        named: NamedFragments<'_>,
        rows: &[Fragment],
    ) -> Result<BTreeMap<FragmentName, Fragment>, Error> {
        let word = resolve_name(self.cache, named.word)?;
        let selection = select_named(self.cache, std::slice::from_ref(&word), Trust::Stamps, &|_| false)?;
        let items = CuratedItems::new(self.cache.workspace.relative_items(named.items));
        let now_s = self.cache.workspace.world.clock.now_s();
        let mut found = BTreeMap::new();
        for file in selection.files {
            let KnownState::Content { hash, facts, .. } = &file.state else {
                if let KnownState::LeftOut(reason) = file.state
                    && selection.named.contains(&file.path)
                {
                    return Err(Error::LeftOut { path: file.path, reason });
                }
                continue;
            };
            let item = items.find(&file.path).filter(|item| view_of_item(item) == Some(ViewMode::Custom));
            let slices =
                item.map_or(Vec::new(), |item| slice_contents(&self.cache.workspace, &file.path, item));
            let mut units: Vec<(Option<String>, ContentHash, u64)> =
                slices.into_iter().map(|slice| (Some(slice.name), slice.content, slice.bytes)).collect();
            if units.is_empty() {
                units.push((None, *hash, facts.size));
            }
            for (part, content, bytes) in units {
                let name = FragmentName { path: file.path.clone(), part };
                let row = rows.binary_search_by(|row| row.name.cmp(&name)).ok().map(|at| rows[at].clone());
                let fragment = row.unwrap_or_else(|| without_place(name.clone(), content, bytes, now_s));
                found.insert(name, fragment);
            }
        }
        if found.is_empty() { Err(Error::NothingSelected { word }) } else { Ok(found) }
    }

    /// Returns what fragments show now, by name, as the hydrated document of the request would. Deleted files, and
    /// those known only by path, have no text.
    pub(in crate::engine) fn fragment_texts(
        &mut self,
        fragments: &[Fragment],
        request: &AggregationRequest,
    ) -> Result<BTreeMap<FragmentName, String>, Error> {
        let paths: std::collections::BTreeSet<&RelPath> =
            fragments.iter().map(|fragment| &fragment.name.path).collect();
        let request = AggregationRequest {
            preset: Some(paths.into_iter().map(|path| FileItem::plain(path.to_string())).collect()),
            hydrated: Some(HydratedPlaces::default()),
            ..request.clone()
        };
        let DocumentInputs { selection, focus, summaries, .. } = self.select_for(&request)?;
        let items = merged_items(&self.cache.workspace, &request);
        let mut renderer = self.renderer(&summaries, request.docs);
        let mut texts = BTreeMap::new();
        for file in selection.files {
            renderer.cache.workspace.check_cancelled()?;
            let own = fragments.partition_point(|fragment| fragment.name.path < file.path);
            let own = fragments[own..].iter().take_while(|fragment| fragment.name.path == file.path);
            for Fragment { name, depth, .. } in own.filter(|fragment| fragment.depth != Depth::PATH) {
                let depths = HydratedDepths::of_fragments([(name, *depth)]);
                let routing = routing(&renderer.cache.workspace, &request, &focus, &items);
                let routing = RoutingContext { depths: Some(&depths), ..routing };
                let routed = route(&file, &routing);
                let nothing = BaseText::Nothing("a fragment is no diff");
                let candidate = render_candidate(&mut renderer, &file, routed, &routing, None, nothing);
                texts.insert(name.clone(), candidate.block.body.text().into_owned());
            }
        }
        Ok(texts)
    }
}

fn without_place(name: FragmentName, content: ContentHash, bytes: u64, now_s: i64) -> Fragment {
    Fragment {
        name,
        content,
        bytes,
        tokens: 0,
        shown_bytes: 0,
        warmth: None,
        depth: Depth::PATH,
        score: 0,
        pin: None,
        uses: 0,
        used_at_s: None,
        since_s: now_s,
        why: String::new(),
    }
}

/// The current lines of a slice.
pub(super) struct SliceContent {
    pub(in crate::engine::document) name: String,
    pub(in crate::engine::document) content: ContentHash,
    pub(in crate::engine::document) bytes: u64,
}

/// Returns the slices that an item marks in a file, merged by name; none if the file cannot be read.
pub(super) fn slice_contents(
    workspace: &Workspace<'_>,
    path: &RelPath,
    item: &FileItem,
) -> Vec<SliceContent> {
    let Ok((hash, text)) = workspace.read_text(path) else { return Vec::new() };
    let text = with_byte_order_mark((hash, text));
    let mut texts: Vec<(String, String)> = Vec::new();
    for found in find_slices(workspace, path, &hash, &text, &item.custom_slices) {
        let name = found.slice.name();
        match texts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, text)) => text.push_str(&found.part.content),
            None => texts.push((name, found.part.content)),
        }
    }
    let content = |(name, text): (String, String)| SliceContent {
        name,
        content: ContentHash::digest(text.as_bytes()),
        bytes: text.len() as u64,
    };
    texts.into_iter().map(content).collect()
}

/// Returns the fragments as they were last placed, by name.
pub(in crate::engine) fn fragments(cache: &mut ArtifactCache<'_>) -> Result<Vec<Fragment>, Error> {
    read(cache, Store::fragments)
}

/// Completes a request for a hydrated document: it contains the HOT fragments, each at its depth.
pub(in crate::engine) fn with_places(
    cache: &mut ArtifactCache<'_>,
    mut request: AggregationRequest,
) -> Result<AggregationRequest, Error> {
    if request.hydrated.is_none() {
        return Ok(request);
    }
    let rows = read(cache, Store::fragments)?;
    let of = |warmth| rows.iter().filter(move |row| row.warmth == Some(warmth));
    let mut warm: Vec<&Fragment> = of(Warmth::Warm).collect();
    warm.sort_by_key(|row| Reverse(row.score));
    let order = read(cache, Store::hydrated_order)?;
    let content = |path: &RelPath| {
        let name = FragmentName::of_file(path.clone());
        let row = rows.binary_search_by(|row| row.name.cmp(&name)).ok().map(|at| &rows[at]);
        // A file that is placed slice by slice may have a row too, for its pin.
        row.filter(|row| row.warmth == Some(Warmth::Hot)).map(|row| row.content)
    };
    let place = |(position, path)| (path, HydratedPlace { position, content: content(path) });
    let order = (0..).zip(&order).map(place).map(|(path, place)| (path.clone(), place)).collect();
    let places = HydratedPlaces {
        order,
        hot: HydratedDepths::of_fragments(of(Warmth::Hot).map(|row| (&row.name, row.depth))),
        warm: warm.into_iter().map(|row| row.name.clone()).collect(),
    };
    let mut hot: Vec<&RelPath> = places.hot.paths().collect();
    if hot.is_empty() && places.warm.is_empty() {
        return Err(Error::NotHydrated);
    }
    hot.sort_unstable();
    // As a preset, whose files may be missing.
    request.preset = Some(hot.into_iter().map(|path| FileItem::plain(path.to_string())).collect());
    request.hydrated = Some(places);
    Ok(request)
}

/// Counts a delivery of the HOT fragments to an agent.
pub(in crate::engine) fn count_uses(cache: &mut ArtifactCache<'_>) -> Result<(), Error> {
    let now_s = cache.workspace.world.clock.now_s();
    write(cache, |store| store.count_uses(now_s))
}

pub(in crate::engine::document) fn read<T>(
    cache: &mut ArtifactCache<'_>,
    ask: impl FnOnce(&Store) -> Result<T, StoreError>,
) -> Result<T, Error> {
    cache.query_store(ask).ok_or(Error::NoCache)
}

pub(in crate::engine::document) fn write(
    cache: &mut ArtifactCache<'_>,
    change: impl FnOnce(&mut Store) -> Result<(), StoreError>,
) -> Result<(), Error> {
    let tracker = cache.workspace.tracker.clone();
    let _alone = tracker.as_ref().map(|tracker| tracker.lock_writes());
    Ok(change(cache.store.as_mut().ok_or(Error::NoCache)?)?)
}

//! Hydration: places the files of the project, and keeps the places. The only writer of them.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::compose::ComposeInputs;
use super::gather::{ShownFile, render_as, routing, summary_detail};
use super::render::{DocumentRun, Renderer};
use super::request::{AggregationRequest, HydratedPlaces, SectionRequest};
use super::select::DocumentInputs;
use crate::aggregate::{
    DepthCosts, DocumentLimits, HydrationFile, HydrationLimits, PlacedFragment, RankReason, RoutingContext,
    ViewCost, place_fragments,
};
use crate::engine::artifacts::ArtifactCache;
use crate::engine::error::Error;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::history::commit_log;
use crate::engine::index::{Trust, resolve_name, select_named};
use crate::engine::workspace::KnownState;
use crate::model::{ContentHash, Depth, FileItem, FileOrder, Fragment, Pin, RelPath, Warmth};
use crate::render;
use crate::search::ChangeHorizon;
use crate::store::{Error as StoreError, HydrationRecord, PlacementUpdate, Store};

const SECONDS_A_DAY: u64 = 86_400;
/// The score of files in focus and of those that are pinned.
const FULL_SCORE: u16 = 1000;

/// What is to be placed, and within what.
#[derive(Debug, Clone, PartialEq)]
pub struct HydrationRequest {
    /// The choice of a document: its tier, focus and task decide ranks and views.
    pub choice: AggregationRequest,
    pub limits: HydrationLimits,
    /// Whether the places are kept.
    pub is_kept: bool,
}

/// Where the files of a project are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HydrationAnswer {
    /// The fragments that have a warmth, by path.
    pub fragments: Vec<Fragment>,
    /// Files that have another warmth than before, each with the one it had: those that were placed, promoted or demoted.
    pub moved: Vec<(RelPath, Option<Warmth>)>,
    /// How many files of each folder have no place, by its path; the project's own is empty.
    pub beyond: BTreeMap<String, u64>,
    pub limits: HydrationLimits,
}

impl DocumentRun<'_, '_> {
    /// Places all files of the project.
    pub(in crate::engine) fn hydrate(
        &mut self,
        request: &HydrationRequest,
    ) -> Result<HydrationAnswer, Error> {
        let asked = ranked_request(&request.choice);
        let rows = read(self.cache, Store::fragments)?;
        let selected = self.select_for(&asked)?;
        let inputs = self.placed_from(&asked, &request.limits, &selected, &rows);
        let known = read(self.cache, Store::hydration)?;
        if let Some(known) = known.filter(|known| known.inputs == inputs) {
            return Ok(answer(rows, Vec::new(), known.beyond, request.limits));
        }
        // Places are kept, and hold what an agent needs for a long time.
        let (prepared, _) = self.prepare_selected(&asked, selected, ChangeHorizon::Far)?;
        let (draft, composed_from) = prepared.into_parts();
        let now_s = self.cache.workspace.world.clock.now_s();
        let before: FxHashMap<&RelPath, &Fragment> = rows.iter().map(|row| (&row.path, row)).collect();
        let placed = self.place_files(request, &asked, (&draft.files, &composed_from), (&before, now_s))?;
        let found = compare(placed, &before, now_s);
        if request.is_kept {
            let hydration = Some(HydrationRecord { inputs, beyond: found.beyond.clone() });
            let update = PlacementUpdate { changed: found.changed, removed: found.removed, hydration };
            write(self.cache, |store| store.record_places(&update))?;
        }
        Ok(answer(found.rows, found.moved, found.beyond, request.limits))
    }

    /// Places the files of a draft.
    fn place_files(
        &mut self,
        request: &HydrationRequest,
        asked: &AggregationRequest,
        (drafted, inputs): (&[ShownFile], &ComposeInputs),
        (before, now_s): (&FxHashMap<&RelPath, &Fragment>, i64),
    ) -> Result<Vec<PlacedFile>, Error> {
        let Some(ranking) = &inputs.ranking else { return Ok(Vec::new()) };
        let mut renderer = self.renderer(&inputs.summaries, asked.docs);
        let routing = routing(&renderer.cache.workspace, asked, &inputs.focus, &inputs.items);
        let contents = ranking.order.iter().filter_map(|at| match &drafted[*at].file.state {
            KnownState::Content { hash, facts, .. } => Some((*at, *hash, facts.size)),
            KnownState::LeftOut(_) => None,
        });
        let contents: Vec<(usize, ContentHash, u64)> = contents.collect();
        let best = ranking.scores.iter().map(|score| score.total).fold(0.0, f64::max);
        let to_place = |(at, _, bytes): &(usize, ContentHash, u64)| {
            let shown = &drafted[*at];
            let known = before.get(&shown.file.path).copied();
            let reason = reason(shown, known, &routing);
            HydrationFile {
                bytes: *bytes,
                score: match reason {
                    RankReason::Focus | RankReason::Pinned(_) => FULL_SCORE,
                    RankReason::Curated | RankReason::Score => relevance(ranking.scores[*at].total, best),
                },
                reason,
                wanted: Depth::of_view(shown.candidate.wanted),
                hot_at: known.filter(|known| known.warmth == Some(Warmth::Hot)).map(|known| known.depth),
                is_forgotten: known.is_some_and(|known| is_forgotten(known, &request.limits, now_s)),
            }
        };
        let files: Vec<HydrationFile> = contents.iter().map(to_place).collect();
        let order: Vec<usize> = contents.iter().map(|(at, ..)| *at).collect();
        let mut costs = ViewCosts {
            renderer: &mut renderer,
            routing: &routing,
            files: drafted,
            order: &order,
            known: FxHashMap::default(),
        };
        let placed = place_fragments(&request.limits, &files, &mut costs)
            .map_err(|pins| Error::PinsOverBudget { tokens: pins.tokens, budget: pins.limit })?;
        let hidden = &renderer.cache.workspace.hidden;
        let placed = contents.into_iter().zip(files).zip(placed).map(|(((at, hash, bytes), file), place)| {
            let path = drafted[at].file.path.clone();
            PlacedFile { content: hidden.file_hash(&path, hash), path, bytes, score: file.score, place }
        });
        Ok(placed.collect())
    }

    /// Returns a hash of all that decides where files are.
    fn placed_from(
        &mut self,
        asked: &AggregationRequest,
        limits: &HydrationLimits,
        selected: &DocumentInputs,
        rows: &[Fragment],
    ) -> ContentHash {
        let mut hash = Fingerprint::default();
        hash.bytes(env!("CARGO_PKG_VERSION").as_bytes());
        let commits = self.caches.map(|caches| &caches.commits);
        let commits = commit_log(self.cache, commits, selected.selection.rules);
        if let Some(commits) = &commits {
            hash.bytes(commits.head.as_bytes()).bytes(commits.frozen.as_bytes());
            for (checkout, ends) in &commits.linked {
                hash.bytes(checkout.as_bytes()).bytes(ends.head.as_bytes()).bytes(ends.frozen.as_bytes());
            }
        }
        // The text of a value may be another one in another build: then the places are only found again.
        hash.bytes(format!("{asked:?}{limits:?}{:?}", self.cache.workspace.options).as_bytes());
        for row in rows.iter().filter(|row| row.pin.is_some()) {
            hash.bytes(row.path.as_bytes()).bytes(format!("{:?}", row.pin).as_bytes());
        }
        let files = &selected.selection.files;
        hash.bytes(selected.summaries.fingerprint(files).as_bytes());
        for file in files {
            hash.bytes(file.path.as_bytes());
            match &file.state {
                KnownState::Content { hash: content, file_type, .. } => {
                    hash.bytes(content.as_bytes()).bytes(file_type.id.as_bytes())
                }
                KnownState::LeftOut(reason) => hash.bytes(reason.name().as_bytes()),
            };
        }
        hash.finish()
    }

    /// Pins the files that a word names, so that they are HOT after the next hydration, or takes that back.
    pub(in crate::engine) fn pin(&mut self, word: &str, pin: Option<Pin>) -> Result<Vec<Fragment>, Error> {
        self.change_fragments(word, |fragment| {
            fragment.pin = pin;
            if pin.is_some() {
                "pinned: placed by the next hydration".clone_into(&mut fragment.why);
            }
        })
    }

    /// Forgets the places of the files that a word names, their pins and uses. They come back when they are relevant.
    pub(in crate::engine) fn forget(&mut self, word: &str) -> Result<Vec<Fragment>, Error> {
        self.change_fragments(word, |fragment| {
            (fragment.warmth, fragment.depth, fragment.tokens) = (None, Depth::PATH, 0);
            (fragment.pin, fragment.uses, fragment.used_at_s) = (None, 0, None);
            "forgotten by request".clone_into(&mut fragment.why);
        })
    }

    fn change_fragments(
        &mut self,
        word: &str,
        change: impl Fn(&mut Fragment),
    ) -> Result<Vec<Fragment>, Error> {
        let rows = read(self.cache, Store::fragments)?;
        // A file that is gone keeps its row as long as it is pinned.
        let known = rows.iter().find(|row| row.path.to_string() == word);
        let mut meant = match known {
            Some(known) => vec![known.clone()],
            None => self.unplaced(word, &rows)?,
        };
        meant.iter_mut().for_each(change);
        let update = PlacementUpdate { changed: meant.clone(), ..PlacementUpdate::default() };
        write(self.cache, |store| store.record_places(&update))?;
        Ok(meant)
    }

    /// Returns the files that a word names, each where it is or as a fragment without a place.
    fn unplaced(&mut self, word: &str, rows: &[Fragment]) -> Result<Vec<Fragment>, Error> {
        let word = resolve_name(self.cache, word)?;
        let selection = select_named(self.cache, std::slice::from_ref(&word), Trust::Stamps, &|_| false)?;
        let now_s = self.cache.workspace.world.clock.now_s();
        let mut found = Vec::new();
        for file in selection.files {
            let KnownState::Content { hash, facts, .. } = &file.state else {
                if let KnownState::LeftOut(reason) = file.state
                    && selection.named.contains(&file.path)
                {
                    return Err(Error::LeftOut { path: file.path, reason });
                }
                continue;
            };
            let known = rows.binary_search_by(|row| row.path.cmp(&file.path)).ok();
            found.push(known.map_or_else(
                || Fragment {
                    path: file.path.clone(),
                    content: *hash,
                    bytes: facts.size,
                    tokens: 0,
                    warmth: None,
                    depth: Depth::PATH,
                    score: 0,
                    pin: None,
                    uses: 0,
                    used_at_s: None,
                    since_s: now_s,
                    why: String::new(),
                },
                |at| rows[at].clone(),
            ));
        }
        if found.is_empty() { Err(Error::NothingSelected { word }) } else { Ok(found) }
    }
}

/// A file with its new place.
struct PlacedFile {
    path: RelPath,
    content: ContentHash,
    bytes: u64,
    score: u16,
    place: PlacedFragment,
}

/// Returns the fragments as they were placed last, by path.
pub(in crate::engine) fn fragments(cache: &mut ArtifactCache<'_>) -> Result<Vec<Fragment>, Error> {
    read(cache, Store::fragments)
}

/// Completes a request for a hydrated document: it has the files that are HOT, each at its depth.
pub(in crate::engine) fn with_places(
    cache: &mut ArtifactCache<'_>,
    mut request: AggregationRequest,
) -> Result<AggregationRequest, Error> {
    if request.hydrated.is_none() {
        return Ok(request);
    }
    let rows = read(cache, Store::fragments)?;
    let of = |warmth| rows.iter().filter(move |row| row.warmth == Some(warmth));
    let places = HydratedPlaces {
        hot: of(Warmth::Hot).map(|row| (row.path.clone(), row.depth)).collect(),
        warm: of(Warmth::Warm).map(|row| row.path.clone()).collect(),
    };
    if places.hot.is_empty() && places.warm.is_empty() {
        return Err(Error::NotHydrated);
    }
    // As a preset, of which files may be gone.
    request.preset = Some(places.hot.keys().map(|path| FileItem::plain(path.to_string())).collect());
    request.hydrated = Some(places);
    Ok(request)
}

/// Counts that the HOT files were given to an agent.
pub(in crate::engine) fn count_uses(cache: &mut ArtifactCache<'_>) -> Result<(), Error> {
    let now_s = cache.workspace.world.clock.now_s();
    write(cache, |store| store.count_uses(now_s))
}

/// Returns the request by which the files are ranked, and views chosen: a document with a limit that all is within, of
/// which nothing is rendered.
fn ranked_request(choice: &AggregationRequest) -> AggregationRequest {
    let mut asked = AggregationRequest {
        overview: false,
        // The order of a document does not matter here, and takes git's log.
        order: FileOrder::Path,
        limits: DocumentLimits { tokens: Some(u64::MAX), ..DocumentLimits::default() },
        exact_tokens: false,
        counts_symbols: false,
        sections: SectionRequest::nothing(),
        history: None,
        ..choice.clone()
    };
    if let Some(tier) = &mut asked.tier {
        // What a document keeps for all tasks is not ranked by this one.
        (tier.stable_thousandths, tier.tree) = (0, false);
    }
    asked
}

fn reason(shown: &ShownFile, known: Option<&Fragment>, routing: &RoutingContext<'_>) -> RankReason {
    if let Some(pin) = known.and_then(|known| known.pin) {
        return RankReason::Pinned(pin);
    }
    if routing.focus.lines(&shown.file.path).is_some() {
        return RankReason::Focus;
    }
    if shown.candidate.rule.is_general() { RankReason::Score } else { RankReason::Curated }
}

fn is_forgotten(known: &Fragment, limits: &HydrationLimits, now_s: i64) -> bool {
    let idle_s = limits.cold_days.saturating_mul(SECONDS_A_DAY);
    let last_s = known.used_at_s.unwrap_or(known.since_s).max(known.since_s);
    let is_idle =
        0 < idle_s && i64::try_from(idle_s).is_ok_and(|idle_s| idle_s < now_s.saturating_sub(last_s));
    match known.warmth {
        None => known.pin.is_none(),
        Some(Warmth::Cold) => is_idle,
        Some(Warmth::Hot | Warmth::Warm) => false,
    }
}

/// Returns an importance in thousandths of the best one, by their logarithms.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to 1000")]
fn relevance(importance: f64, best: f64) -> u16 {
    if !(0.0 < importance && 0.0 < best) {
        return 0;
    }
    let part = importance.ln_1p() / best.ln_1p();
    (part.clamp(0.0, 1.0) * f64::from(FULL_SCORE)).round() as u16
}

/// What the views of the files of a draft cost, as they are rendered.
struct ViewCosts<'a, 'r, 'w> {
    renderer: &'a mut Renderer<'r, 'w>,
    routing: &'a RoutingContext<'a>,
    files: &'a [ShownFile],
    /// The positions of the files, by rank.
    order: &'a [usize],
    known: FxHashMap<(usize, Depth), ViewCost>,
}

impl DepthCosts for ViewCosts<'_, '_, '_> {
    fn cost(&mut self, file: usize, depth: Depth) -> ViewCost {
        if let Some(known) = self.known.get(&(file, depth)) {
            return *known;
        }
        let shown = &self.files[self.order[file]];
        // What is curated is shown as it is curated, not as the whole text.
        let wanted = shown.candidate.wanted;
        let view = if depth == Depth::of_view(wanted) { wanted } else { depth.view() };
        let detail = summary_detail(self.routing);
        let answer = render_as(self.renderer, view, detail, &shown.file, self.routing, (None, None));
        let text = render::block_text(&answer.block);
        let cost = ViewCost {
            tokens: self.renderer.cache.count_tokens(&[text.as_str()])[0],
            bytes: text.len() as u64,
            depth: Depth::of_view(answer.block.view).min(depth),
        };
        self.known.insert((file, depth), cost);
        cost
    }
}

/// What a hydration has found.
#[derive(Default)]
struct FoundPlaces {
    rows: Vec<Fragment>,
    changed: Vec<Fragment>,
    removed: Vec<RelPath>,
    moved: Vec<(RelPath, Option<Warmth>)>,
    beyond: BTreeMap<String, u64>,
}

/// Compares the new places with those before.
fn compare(placed: Vec<PlacedFile>, before: &FxHashMap<&RelPath, &Fragment>, now_s: i64) -> FoundPlaces {
    let mut found = FoundPlaces::default();
    let mut gone: FxHashMap<&RelPath, &Fragment> = before.clone();
    for PlacedFile { path, content, bytes, score, place } in placed {
        let known = before.get(&path).copied();
        let earlier = known.and_then(|known| known.warmth);
        if earlier != place.warmth {
            found.moved.push((path.clone(), earlier));
        }
        if place.warmth.is_none() {
            *found.beyond.entry(folder_of(&path)).or_default() += 1;
            // It stays forgotten, or has no row at all.
            if known.is_none() {
                continue;
            }
        }
        gone.remove(&path);
        let rules: Vec<String> = place.rules.iter().map(ToString::to_string).collect();
        let row = Fragment {
            path,
            content,
            bytes,
            tokens: place.tokens,
            warmth: place.warmth,
            depth: place.depth,
            score,
            pin: known.and_then(|known| known.pin),
            uses: known.map_or(0, |known| known.uses),
            used_at_s: known.and_then(|known| known.used_at_s),
            since_s: known.filter(|_| earlier == place.warmth).map_or(now_s, |known| known.since_s),
            why: rules.join("\n"),
        };
        if known != Some(&row) {
            found.changed.push(row.clone());
        }
        found.rows.push(row);
    }
    for row in gone.into_values() {
        let why = "gone".to_owned();
        let without_file = Fragment { warmth: None, depth: Depth::PATH, tokens: 0, why, ..row.clone() };
        if row.pin.is_none() {
            found.removed.push(without_file.path);
        } else if *row != without_file {
            // The pin of a file that is gone is kept, for the file may come back with another branch.
            found.changed.push(without_file);
        }
    }
    found
}

fn folder_of(path: &RelPath) -> String {
    path.ancestors().next().map_or(String::new(), |folder| String::from_utf8_lossy(folder).into_owned())
}

/// Returns what the hydration of these rows is answered by.
fn answer(
    mut rows: Vec<Fragment>,
    mut moved: Vec<(RelPath, Option<Warmth>)>,
    beyond: BTreeMap<String, u64>,
    limits: HydrationLimits,
) -> HydrationAnswer {
    rows.retain(|row| row.warmth.is_some());
    rows.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    moved.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    HydrationAnswer { fragments: rows, moved, beyond, limits }
}

fn read<T>(
    cache: &mut ArtifactCache<'_>,
    ask: impl FnOnce(&Store) -> Result<T, StoreError>,
) -> Result<T, Error> {
    cache.query_store(ask).ok_or(Error::NoCache)
}

fn write(
    cache: &mut ArtifactCache<'_>,
    change: impl FnOnce(&mut Store) -> Result<(), StoreError>,
) -> Result<(), Error> {
    let tracker = cache.workspace.tracker.clone();
    let _alone = tracker.as_ref().map(|tracker| tracker.lock_writes());
    Ok(change(cache.store.as_mut().ok_or(Error::NoCache)?)?)
}

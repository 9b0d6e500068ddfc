//! Hydration: places the files of the project, and records the places.

use std::collections::{BTreeMap, HashSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::fragments::{SliceContent, read, slice_contents, write};
use super::order::hydrated_order;
use crate::aggregate::{
    DepthCosts, DocumentLimits, HydratedDepths, HydrationFile, HydrationLimits, PlacedFragment, RankReason,
    RoutingContext, ViewCost, place_fragments,
};
use crate::engine::document::draft::ShownFile;
use crate::engine::document::gather::{WantedView, render_as};
use crate::engine::document::inputs::DocumentInputs;
use crate::engine::document::prepare::ComposeInputs;
use crate::engine::document::rendering::Renderer;
use crate::engine::document::request::{AggregationRequest, SectionRequest};
use crate::engine::document::routing::{routing, summary_detail};
use crate::engine::document::run::DocumentRun;
use crate::engine::error::Error;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::history::project_commits;
use crate::engine::workspace::KnownState;
use crate::model::{
    ContentHash, Depth, FileOrder, Fragment, FragmentName, Pin, RankScore, RelPath, RoutingRule,
    SECONDS_A_DAY, ViewMode, Warmth,
};
use crate::render;
use crate::search::ChangeHorizon;
use crate::store::{HydrationRecord, PlacementUpdate, Store};

/// Incremented when the same project would be placed or ordered differently.
const PLACEMENT_VERSION: u64 = 1;
/// The score of files in focus and of pinned files.
const FULL_SCORE: u16 = 1000;

/// What is to be placed, and its limits.
#[derive(Debug, Clone, PartialEq)]
pub struct HydrationRequest {
    /// The request of a document: its tier, focus and task decide ranks and views.
    pub choice: AggregationRequest,
    pub limits: HydrationLimits,
    /// Whether the places are stored.
    pub is_kept: bool,
}

/// The places of the files of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HydrationAnswer {
    /// The fragments that have a warmth, by name.
    pub fragments: Vec<Fragment>,
    /// The fragments whose warmth has changed, each with its previous one: those that were placed, promoted or demoted.
    pub moved: Vec<(FragmentName, Option<Warmth>)>,
    /// The number of fragments without a place in each folder, by path; the path of the project's root is empty.
    pub beyond: BTreeMap<String, u64>,
    pub limits: HydrationLimits,
}

/// The document that a hydration places the files of.
#[derive(Clone, Copy)]
pub(super) struct HydrationDraft<'d> {
    pub(super) files: &'d [ShownFile],
    pub(super) inputs: &'d ComposeInputs,
}

/// What is to be placed, with what is known about its former places.
struct UnplacedUnits<'p> {
    units: Vec<UnplacedFragment>,
    known: &'p KnownPlaces<'p>,
    now_s: i64,
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
        // Places are kept, and have to serve an agent for a long time.
        let (prepared, _) = self.prepare_selected(&asked, selected, ChangeHorizon::Far)?;
        let (draft, composed_from) = prepared.into_parts();
        let now_s = self.cache.workspace.world.clock.now_s();
        let draft = HydrationDraft { files: &draft.files, inputs: &composed_from };
        let units = self.units(&asked, draft);
        let known = KnownPlaces::new(&rows, &units);
        let unplaced = UnplacedUnits { units, known: &known, now_s };
        let placed = self.place_units(&request.limits, &asked, draft, unplaced)?;
        let before = read(self.cache, Store::hydrated_order)?;
        let order = hydrated_order(&placed, &known, &before, draft);
        let found = compare(placed, &known, now_s);
        if request.is_kept {
            let hydration = Some(HydrationRecord { inputs, beyond: found.beyond.clone() });
            let (changed, removed) = (found.changed, found.removed);
            let update = PlacementUpdate { changed, removed, hydration, order: Some(order) };
            write(self.cache, |store| store.record_places(&update))?;
        }
        Ok(answer(found.rows, found.moved, found.beyond, request.limits))
    }

    /// Returns what is to be placed, by rank: each file that has a content, or its slices where a document shows only
    /// those.
    fn units(
        &mut self,
        asked: &AggregationRequest,
        HydrationDraft { files: drafted, inputs }: HydrationDraft<'_>,
    ) -> Vec<UnplacedFragment> {
        let Some(ranking) = &inputs.ranking else { return Vec::new() };
        let renderer = self.renderer(&inputs.summaries, asked.docs);
        let workspace = &renderer.cache.workspace;
        let mut units = Vec::new();
        for at in ranking.order.iter() {
            let ShownFile { file, candidate, .. } = &drafted[*at];
            let KnownState::Content { hash, facts, .. } = &file.state else { continue };
            let path = &file.path;
            let item = inputs.items.find(path).filter(|_| candidate.rule == RoutingRule::Slices);
            let slices = item.map_or(Vec::new(), |item| slice_contents(workspace, path, item));
            let slice = |SliceContent { name, content, bytes }| UnplacedFragment {
                at: *at,
                name: FragmentName { path: path.clone(), part: Some(name) },
                content,
                bytes,
            };
            if slices.is_empty() {
                let content = workspace.hidden.file_hash(path, *hash);
                let name = FragmentName::of_file(path.clone());
                units.push(UnplacedFragment { at: *at, name, content, bytes: facts.size });
            }
            units.extend(slices.into_iter().map(slice));
        }
        units
    }

    /// Places the files and slices of a draft.
    fn place_units(
        &mut self,
        limits: &HydrationLimits,
        asked: &AggregationRequest,
        HydrationDraft { files: drafted, inputs }: HydrationDraft<'_>,
        UnplacedUnits { units, known, now_s }: UnplacedUnits<'_>,
    ) -> Result<Vec<PlacedUnit>, Error> {
        let Some(ranking) = &inputs.ranking else { return Ok(Vec::new()) };
        let mut renderer = self.renderer(&inputs.summaries, asked.docs);
        let routing = routing(&renderer.cache.workspace, asked, &inputs.focus, &inputs.items);
        let best = ranking.scores.iter().map(|score| score.total).fold(0.0, f64::max);
        let to_place = |unit: &UnplacedFragment| {
            let shown = &drafted[unit.at];
            let before = known.row(&unit.name);
            let reason = reason(shown, known.pin(&unit.name), &routing);
            HydrationFile {
                bytes: unit.bytes,
                score: match reason {
                    RankReason::Focus | RankReason::Pinned(_) => FULL_SCORE,
                    RankReason::Curated | RankReason::Score => relevance(ranking.scores[unit.at].total, best),
                },
                evidence: {
                    let score = &ranking.scores[unit.at];
                    RankScore::new(score.total, &score.parts.named()).parts
                },
                linked_checkout: inputs.linked_checkout_of(&unit.name.path),
                reason,
                wanted: Depth::of_view(shown.candidate.wanted),
                hot_at: before.filter(|row| row.warmth == Some(Warmth::Hot)).map(|row| row.depth),
                is_forgotten: before.is_some_and(|row| is_forgotten(row, limits, now_s)),
            }
        };
        let files: Vec<HydrationFile> = units.iter().map(to_place).collect();
        let mut costs = ViewCosts {
            renderer: &mut renderer,
            routing: &routing,
            files: drafted,
            units: &units,
            known: FxHashMap::default(),
        };
        let placed = place_fragments(limits, &files, &mut costs)
            .map_err(|pins| Error::PinsOverBudget { tokens: pins.tokens, budget: pins.limit })?;
        let placed = units.into_iter().zip(files).zip(placed);
        Ok(placed.map(|((unit, file), place)| PlacedUnit { unit, score: file.score, place }).collect())
    }

    /// Returns a hash of everything that decides the places.
    fn placed_from(
        &mut self,
        asked: &AggregationRequest,
        limits: &HydrationLimits,
        selected: &DocumentInputs,
        rows: &[Fragment],
    ) -> ContentHash {
        let mut hash = Fingerprint::default();
        hash.bytes(env!("CARGO_PKG_VERSION").as_bytes()).number(PLACEMENT_VERSION);
        let commits = self.caches.map(|caches| &caches.commits);
        let commits = project_commits(self.cache, commits, selected.selection.rules);
        for (checkout, log) in commits.iter().flat_map(|commits| commits.iter()) {
            hash.bytes(checkout.as_bytes()).bytes(log.head.as_bytes()).bytes(log.frozen.as_bytes());
        }
        // The debug text of a value may differ in another build: then the places are only computed again.
        hash.bytes(format!("{asked:?}{limits:?}{:?}", self.cache.workspace.options).as_bytes());
        for row in rows.iter().filter(|row| row.pin.is_some()) {
            hash.bytes(format!("{:?}{:?}", row.name, row.pin).as_bytes());
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
}

/// A file or a slice that is to be placed.
pub(super) struct UnplacedFragment {
    /// The position of its file in the draft.
    pub(in crate::engine::document) at: usize,
    pub(in crate::engine::document) name: FragmentName,
    pub(in crate::engine::document) content: ContentHash,
    bytes: u64,
}

/// A file or a slice with its new place.
pub(super) struct PlacedUnit {
    pub(in crate::engine::document) unit: UnplacedFragment,
    score: u16,
    pub(in crate::engine::document) place: PlacedFragment,
}

/// The previous places of fragments.
pub(super) struct KnownPlaces<'r> {
    stored: FxHashMap<&'r FragmentName, &'r Fragment>,
    /// The rows of fragments whose path has changed, by their new names.
    renamed: FxHashMap<FragmentName, &'r Fragment>,
    /// Their previous names.
    renamed_from: FxHashSet<&'r FragmentName>,
}

impl<'r> KnownPlaces<'r> {
    /// Looks up the previous places of these fragments. A fragment without a row gets the row of a missing fragment
    /// with the same content, if no other fragment on either side has that content: then its file was renamed.
    fn new(rows: &'r [Fragment], units: &[UnplacedFragment]) -> Self {
        let stored: FxHashMap<&FragmentName, &Fragment> = rows.iter().map(|row| (&row.name, row)).collect();
        let names: FxHashSet<&FragmentName> = units.iter().map(|unit| &unit.name).collect();
        let gone = rows.iter().filter(|row| 0 < row.bytes && !names.contains(&row.name));
        let gone = unique_values(gone.map(|row| ((row.content, row.name.part.as_deref()), row)));
        let new = units.iter().filter(|unit| !stored.contains_key(&unit.name));
        let new = unique_values(new.map(|unit| ((unit.content, unit.name.part.as_deref()), unit)));
        let renamed = new.into_iter().filter_map(|(key, unit)| Some((unit.name.clone(), *gone.get(&key)?)));
        let renamed: FxHashMap<FragmentName, &Fragment> = renamed.collect();
        let renamed_from = renamed.values().map(|row| &row.name).collect();
        Self { stored, renamed, renamed_from }
    }

    /// Returns the row of a fragment that was not renamed.
    pub(super) fn stored(&self, name: &FragmentName) -> Option<&'r Fragment> {
        self.stored.get(name).copied()
    }

    /// Returns how many fragments of each file were HOT.
    pub(super) fn hot_units(&self) -> FxHashMap<&'r RelPath, usize> {
        let mut units = FxHashMap::default();
        for row in self.stored.values().filter(|row| row.warmth == Some(Warmth::Hot)) {
            *units.entry(&row.name.path).or_default() += 1;
        }
        units
    }

    fn row(&self, name: &FragmentName) -> Option<&'r Fragment> {
        self.stored.get(name).or_else(|| self.renamed.get(name)).copied()
    }

    /// Returns the pin of a fragment. Pinning a file pins its slices.
    fn pin(&self, name: &FragmentName) -> Option<Pin> {
        let own = self.row(name).and_then(|row| row.pin);
        own.or_else(|| self.stored.get(&FragmentName::of_file(name.path.clone()))?.pin)
    }
}

/// Returns the values whose keys are unique.
fn unique_values<K: std::hash::Hash + Eq, V>(all: impl Iterator<Item = (K, V)>) -> FxHashMap<K, V> {
    let mut found: FxHashMap<K, Option<V>> = FxHashMap::default();
    for (key, value) in all {
        found.entry(key).and_modify(|other| *other = None).or_insert(Some(value));
    }
    found.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

/// Returns the request that the files are ranked by, and views chosen: a document with a limit that everything fits in,
/// of which nothing is rendered.
fn ranked_request(choice: &AggregationRequest) -> AggregationRequest {
    let mut asked = AggregationRequest {
        overview: false,
        // The order of a document does not matter here, and would take git's log.
        order: FileOrder::Path,
        limits: DocumentLimits { tokens: Some(u64::MAX), ..DocumentLimits::default() },
        exact_tokens: false,
        counts_symbols: false,
        sections: SectionRequest::nothing(),
        history: None,
        ..choice.clone()
    };
    if let Some(tier) = &mut asked.tier {
        // The part that is the same for all tasks is not ranked by this one.
        (tier.stable_thousandths, tier.tree) = (0, false);
    }
    asked
}

fn reason(shown: &ShownFile, pin: Option<Pin>, routing: &RoutingContext<'_>) -> RankReason {
    if let Some(pin) = pin {
        return RankReason::Pinned(pin);
    }
    if routing.focus.lines(&shown.file.path).is_some() {
        return RankReason::Focus;
    }
    if shown.candidate.rule.is_general() { RankReason::Score } else { RankReason::Curated }
}

fn is_forgotten(known: &Fragment, limits: &HydrationLimits, now_s: i64) -> bool {
    let cold_days = i64::try_from(limits.cold_days).unwrap_or(i64::MAX);
    let idle_s = cold_days.saturating_mul(SECONDS_A_DAY);
    let last_s = known.used_at_s.unwrap_or(known.since_s).max(known.since_s);
    let is_idle = 0 < idle_s && idle_s < now_s.saturating_sub(last_s);
    match known.warmth {
        None => known.pin.is_none(),
        Some(Warmth::Cold) => is_idle,
        Some(Warmth::Hot | Warmth::Warm) => false,
    }
}

/// Returns an importance in thousandths of the best one, on a logarithmic scale.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to 1000")]
fn relevance(importance: f64, best: f64) -> u16 {
    if !(0.0 < importance && 0.0 < best) {
        return 0;
    }
    let part = importance.ln_1p() / best.ln_1p();
    (part.clamp(0.0, 1.0) * f64::from(FULL_SCORE)).round() as u16
}

/// The costs of views of the files of a draft, and of their slices, as they are rendered.
struct ViewCosts<'a, 'r, 'w> {
    renderer: &'a mut Renderer<'r, 'w>,
    routing: &'a RoutingContext<'a>,
    files: &'a [ShownFile],
    /// What is placed, by rank.
    units: &'a [UnplacedFragment],
    known: FxHashMap<(usize, Depth), ViewCost>,
}

impl DepthCosts for ViewCosts<'_, '_, '_> {
    fn cost(&mut self, unit: usize, depth: Depth) -> ViewCost {
        if let Some(known) = self.known.get(&(unit, depth)) {
            return *known;
        }
        let UnplacedFragment { at, name, .. } = &self.units[unit];
        let shown = &self.files[*at];
        let wanted = shown.candidate.wanted;
        let detail = summary_detail(self.routing);
        let (view, one);
        let routing = if name.part.is_some() {
            // As if it were the only slice: several in one block cost less.
            one = HydratedDepths::of_fragments([(name, depth)]);
            view = ViewMode::Custom;
            &RoutingContext { depths: Some(&one), ..*self.routing }
        } else {
            // Curated files are shown as curated, not as the whole text.
            view = if depth == Depth::of_view(wanted) { wanted } else { depth.view() };
            self.routing
        };
        let answer = render_as(self.renderer, &shown.file, routing, WantedView::new(view, detail));
        let text = render::block_text(&answer.block);
        // A slice has no structure: the only smaller view is its name and comment.
        let has_less = name.part.is_some() && depth < Depth::FULL;
        let deepest = if has_less { Depth::SUMMARY } else { Depth::of_view(answer.block.view) };
        let cost = ViewCost {
            tokens: self.renderer.cache.count_tokens(&[text.as_str()])[0],
            bytes: text.len() as u64,
            depth: deepest.min(depth),
        };
        self.known.insert((unit, depth), cost);
        cost
    }
}

/// The result of a hydration.
#[derive(Default)]
struct FoundPlaces {
    rows: Vec<Fragment>,
    changed: Vec<Fragment>,
    removed: Vec<FragmentName>,
    moved: Vec<(FragmentName, Option<Warmth>)>,
    beyond: BTreeMap<String, u64>,
}

/// Compares the new places with the previous ones.
fn compare(placed: Vec<PlacedUnit>, known: &KnownPlaces<'_>, now_s: i64) -> FoundPlaces {
    let mut found = FoundPlaces::default();
    let mut gone = known.stored.clone();
    let (mut whole, mut in_slices) = (HashSet::new(), HashSet::new());
    for PlacedUnit { unit: UnplacedFragment { name, content, bytes, .. }, score, place } in placed {
        if name.part.is_some() { &mut in_slices } else { &mut whole }.insert(name.path.clone());
        let before = known.row(&name);
        let earlier = before.and_then(|row| row.warmth);
        if earlier != place.warmth {
            found.moved.push((name.clone(), earlier));
        }
        if place.warmth.is_none() {
            *found.beyond.entry(folder_of(&name.path)).or_default() += 1;
            // It stays forgotten, or has no row at all.
            if before.is_none() {
                continue;
            }
        }
        gone.remove(&name);
        let rules: Vec<String> = place.rules.iter().map(ToString::to_string).collect();
        let row = Fragment {
            pin: known.pin(&name),
            name,
            content,
            bytes,
            tokens: place.tokens,
            shown_bytes: place.bytes,
            warmth: place.warmth,
            depth: place.depth,
            score,
            uses: before.map_or(0, |row| row.uses),
            used_at_s: before.and_then(|row| row.used_at_s),
            since_s: before.filter(|_| earlier == place.warmth).map_or(now_s, |row| row.since_s),
            why: rules.join("\n"),
        };
        if known.stored.get(&row.name) != Some(&&row) {
            found.changed.push(row.clone());
        }
        found.rows.push(row);
    }
    for (name, row) in gone {
        // The slices of a file have taken over its pin, and a renamed file has its row.
        let is_replaced = name.part.is_none() && in_slices.contains(&name.path);
        if row.pin.is_none() || is_replaced || known.renamed_from.contains(name) {
            found.removed.push(name.clone());
            continue;
        }
        let is_whole = whole.contains(&name.path);
        let why = if is_whole { "its file is placed as a whole" } else { "gone" }.to_owned();
        let unplaced =
            Fragment { warmth: None, depth: Depth::PATH, tokens: 0, shown_bytes: 0, why, ..row.clone() };
        if *row != unplaced {
            // The pin of a deleted file is kept, because the file may come back with another branch.
            found.changed.push(unplaced);
        }
    }
    found
}

fn folder_of(path: &RelPath) -> String {
    path.ancestors().next().map_or(String::new(), |folder| String::from_utf8_lossy(folder).into_owned())
}

/// Returns the answer of a hydration with these rows.
fn answer(
    mut rows: Vec<Fragment>,
    mut moved: Vec<(FragmentName, Option<Warmth>)>,
    beyond: BTreeMap<String, u64>,
    limits: HydrationLimits,
) -> HydrationAnswer {
    rows.retain(|row| row.warmth.is_some());
    rows.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    moved.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    HydrationAnswer { fragments: rows, moved, beyond, limits }
}

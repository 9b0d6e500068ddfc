//! How a document shows each file of the project: taken from the composed document, or estimated from the rules alone
//! where composing takes too long.

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::cache::InputsKey;
use super::inputs::DocumentInputs;
use super::request::AggregationRequest;
use super::routing::{merged_items, routing};
use super::run::DocumentRun;
use super::symbol_counts::{file_symbols, kept_symbols};
use crate::aggregate::{Focus, RoutedView, RoutingContext};
use crate::engine::artifacts::{ContentRef, hide};
use crate::engine::error::{Code, Error};
use crate::engine::index::{FileStatus, Freshness, selected_status, status};
use crate::engine::workspace::KnownFile;
use crate::model::{Omission, ParseHealth, Receipt, RelPath, RoutingRule, ViewMode};
use crate::{aggregate, discover, syntax};

/// How a document shows one file.
#[derive(Debug, Clone, PartialEq)]
pub struct FilePlacement {
    /// The view; `None` if the document does not contain the file.
    pub view: Option<ViewMode>,
    pub wanted: ViewMode,
    pub rule: RoutingRule,
    /// The number of the project's item that decided, if one did.
    pub item: Option<usize>,
    /// Why the view is not the wanted one: a stable identifier for a file that the document does not contain, otherwise
    /// a text.
    pub why: Option<Arc<str>>,
    /// Tokens of its block.
    pub tokens: u64,
    /// The number of its symbols, and how well it was parsed; `None` if it has no structure, or that is not known yet.
    pub structure: Option<(u32, ParseHealth)>,
}

/// How a document shows all files.
#[derive(Debug, Clone)]
pub(in crate::engine) struct Placements {
    /// In the order of the requested files.
    pub(in crate::engine) files: Vec<FilePlacement>,
    pub(in crate::engine) tokens: u64,
    pub(in crate::engine) bytes: u64,
    /// Whether these are the views and tokens of the document itself.
    pub(in crate::engine) is_exact: bool,
    /// Why the document cannot be composed.
    pub(in crate::engine) problem: Option<String>,
    /// The key of the inputs; `None` if the document depends on more than can be compared.
    pub(in crate::engine) key: Option<Arc<InputsKey>>,
}

/// How files were shown by an earlier answer, each with whether it had a text.
pub(in crate::engine) type KnownPlacements<'a> = FxHashMap<&'a RelPath, (&'a FilePlacement, bool)>;

/// What is known of the document from an earlier answer.
pub(in crate::engine) struct ComposedPlacements<'a> {
    pub(in crate::engine) key: Option<&'a Arc<InputsKey>>,
    pub(in crate::engine) files: KnownPlacements<'a>,
    pub(in crate::engine) tokens: u64,
    pub(in crate::engine) bytes: u64,
    pub(in crate::engine) is_exact: bool,
    pub(in crate::engine) problem: Option<&'a str>,
}

/// The files that a request selects, and those of them in focus.
struct SelectedFiles<'s> {
    files: &'s [KnownFile],
    focus: &'s Focus,
}

impl DocumentRun<'_, '_> {
    /// Returns all files of the project; `selected` contains those that were selected.
    pub(in crate::engine) fn all_files(
        &mut self,
        request: &AggregationRequest,
        selected: &DocumentInputs,
    ) -> Result<Vec<FileStatus>, Error> {
        let selected = &selected.selection.files;
        if request.is_whole() {
            return Ok(selected.iter().map(|file| selected_status(&self.cache.workspace, file)).collect());
        }
        let mut files = status(self.cache)?;
        let selected: FxHashMap<&RelPath, &KnownFile> =
            selected.iter().map(|file| (&file.path, file)).collect();
        for file in &mut files {
            if let Some(known) = selected.get(&file.path) {
                *file = selected_status(&self.cache.workspace, known);
            }
        }
        Ok(files)
    }

    /// Returns how a document shows these files, which are all of the project. It is composed only if `composes` is set
    /// and nothing has changed; otherwise, views and tokens are those already known, or estimates.
    pub(in crate::engine) fn placements(
        &mut self,
        request: &AggregationRequest,
        files: &[FileStatus],
        selected: DocumentInputs,
        known: Option<&ComposedPlacements<'_>>,
        composes: bool,
    ) -> Result<Placements, Error> {
        let key = selected.key();
        let same = known.filter(|known| key.is_some() && known.key == key.as_ref());
        let same = same.filter(|known| known.is_exact || known.problem.is_some() || !composes);
        if let Some(placements) = same.and_then(|known| known.unchanged(files)) {
            return Ok(placements);
        }
        let selection = SelectedFiles { files: &selected.selection.files, focus: &selected.focus };
        let mut placed = self.route_all(request, files, selection, composes);
        let placements = |files: Vec<FilePlacement>, problem| Placements {
            tokens: files.iter().map(|file| file.tokens).sum(),
            bytes: 0,
            is_exact: false,
            problem,
            key: key.clone(),
            files,
        };
        if !composes {
            if let Some(known) = known {
                keep_known(&mut placed, files, &known.files);
            }
            return Ok(placements(placed, None));
        }
        let exact = AggregationRequest { exact_tokens: true, ..request.clone() };
        match self.aggregate_selected(&exact, selected) {
            Ok((document, ..)) => {
                place_by_receipt(&mut placed, files, &document.receipt);
                let Receipt { tokens, bytes, .. } = document.receipt;
                Ok(Placements { tokens, bytes, is_exact: true, ..placements(placed, None) })
            }
            // The table is where a person finds out what to change, so it is answered even then.
            Err(error) if error.code() == Code::OverBudget => Ok(placements(placed, Some(error.to_string()))),
            Err(error) => Err(error),
        }
    }

    /// Returns how a document of the whole project shows changed files, each given with how it was shown before: that
    /// is kept where the rules say the same, and otherwise estimated.
    pub(in crate::engine) fn changed_placements(
        &mut self,
        request: &AggregationRequest,
        focus: &Focus,
        files: &mut [KnownFile],
        before: &KnownPlacements<'_>,
    ) -> (Vec<FileStatus>, Vec<FilePlacement>) {
        let items = merged_items(&self.cache.workspace, request);
        hide(self.cache, &items, files, &mut HashMap::new());
        let (files, workspace) = (&*files, &self.cache.workspace);
        let changed: Vec<FileStatus> = files.iter().map(|file| selected_status(workspace, file)).collect();
        let mut placed = self.route_all(request, &changed, SelectedFiles { files, focus }, false);
        keep_known(&mut placed, &changed, before);
        (changed, placed)
    }

    /// Returns the result of the rules for each file, with estimates of its tokens.
    fn route_all(
        &mut self,
        request: &AggregationRequest,
        files: &[FileStatus],
        SelectedFiles { files: selection, focus }: SelectedFiles<'_>,
        derives: bool,
    ) -> Vec<FilePlacement> {
        let items = merged_items(&self.cache.workspace, request);
        let max_bytes = self.cache.workspace.options.max_bytes;
        let structures = self.structures(selection, derives);
        let routing = routing(&self.cache.workspace, request, focus, &items);
        let chosen: Option<FxHashSet<&RelPath>> =
            (!request.is_whole()).then(|| selection.iter().map(|file| &file.path).collect());
        let place = |file: &FileStatus| {
            let structure = structures.get(&file.path).copied();
            let mut placement = estimated_placement(file, &routing, max_bytes);
            if chosen.as_ref().is_some_and(|chosen| !chosen.contains(&file.path)) {
                (placement.view, placement.tokens) = (None, 0);
            }
            FilePlacement { structure, ..placement }
        };
        files.iter().map(place).collect()
    }

    /// Returns the number of symbols and the health of each file that has a structure; unless `derives`, only of those
    /// already known.
    fn structures(&mut self, files: &[KnownFile], derives: bool) -> FxHashMap<RelPath, (u32, ParseHealth)> {
        let kept = self.caches.map(|caches| &caches.symbols);
        let mut structures = FxHashMap::default();
        for subject in files.iter().filter_map(ContentRef::from_file) {
            if !syntax::has_structure(subject.file_type.id) {
                continue;
            }
            let found =
                if derives { file_symbols(self.cache, kept, &subject) } else { kept_symbols(kept, &subject) };
            structures.extend(found.map(|found| (subject.path.clone(), (found.count(), found.health))));
        }
        structures
    }
}

impl ComposedPlacements<'_> {
    /// Returns the known placements, if they are of exactly these files.
    fn unchanged(&self, files: &[FileStatus]) -> Option<Placements> {
        let known = |file: &FileStatus| self.files.get(&file.path).map(|(placement, _)| (*placement).clone());
        Some(Placements {
            files: files.iter().map(known).collect::<Option<_>>()?,
            tokens: self.tokens,
            bytes: self.bytes,
            is_exact: self.is_exact,
            problem: self.problem.map(str::to_owned),
            key: self.key.cloned(),
        })
    }
}

/// Returns the result of the rules for a file.
fn estimated_placement(file: &FileStatus, routing: &RoutingContext<'_>, max_bytes: u64) -> FilePlacement {
    let file_type = file.content.map_or_else(discover::unknown_type, |(_, file_type)| file_type);
    let RoutedView { view: wanted, rule } = aggregate::route_file(&file.path, file_type, routing);
    let item = rule.is_of_item().then(|| routing.items.own_position(&file.path)).flatten();
    let omitted = match file.freshness {
        Freshness::LeftOut(reason) => Some(Omission::LeftOut(reason)),
        Freshness::Fresh | Freshness::Stale | Freshness::New => {
            (rule == RoutingRule::AutoAggregate).then_some(Omission::AutoAggregate)
        }
    };
    let placement = FilePlacement { view: None, wanted, rule, item, why: None, tokens: 0, structure: None };
    if let Some(omitted) = omitted {
        return FilePlacement { why: Some(omitted.name().into()), ..placement };
    }
    let size = file.size.unwrap_or_default();
    let has_structure = syntax::has_structure(file_type.id);
    let (view, why) = aggregate::limit_to_size(wanted, size, max_bytes, has_structure);
    let tokens = aggregate::estimate_tokens(estimated_bytes(view, size));
    FilePlacement { view: Some(view), why: why.map(Into::into), tokens, ..placement }
}

/// Returns the approximate size in bytes of a view of a file with `size` bytes.
const fn estimated_bytes(view: ViewMode, size: u64) -> u64 {
    /// The summary of a large file is about as long as that of a small one.
    const SUMMARY_BYTES: u64 = 300;
    match view {
        ViewMode::Full => size,
        ViewMode::Skeleton | ViewMode::Definitions | ViewMode::Excerpt => size / 2,
        ViewMode::Outline | ViewMode::Signatures | ViewMode::Masked | ViewMode::Custom => size / 5,
        ViewMode::Window | ViewMode::Diff | ViewMode::Delta => size / 10,
        ViewMode::Summary | ViewMode::Names => {
            if size < SUMMARY_BYTES {
                size
            } else {
                SUMMARY_BYTES
            }
        }
        ViewMode::Path | ViewMode::None => 0,
    }
}

/// Replaces estimates by the known values of the same files, where the rules say the same.
fn keep_known(placed: &mut [FilePlacement], files: &[FileStatus], known: &KnownPlacements<'_>) {
    for (placement, file) in placed.iter_mut().zip(files) {
        let Some((before, was_text)) = known.get(&file.path) else { continue };
        let is_routed_as_before = before.wanted == placement.wanted && before.rule == placement.rule;
        let has_text = !matches!(file.freshness, Freshness::LeftOut(_));
        if is_routed_as_before && has_text && *was_text {
            placement.view = before.view;
            placement.why.clone_from(&before.why);
            placement.tokens = before.tokens;
            placement.structure = placement.structure.or(before.structure);
        }
    }
}

/// Takes views and tokens from the receipt of the document.
fn place_by_receipt(placed: &mut [FilePlacement], files: &[FileStatus], receipt: &Receipt) {
    let positions: FxHashMap<&RelPath, usize> =
        files.iter().enumerate().map(|(at, file)| (&file.path, at)).collect();
    for placement in placed.iter_mut() {
        (placement.view, placement.tokens) = (None, 0);
    }
    for entry in &receipt.files {
        let Some(at) = positions.get(&entry.path) else { continue };
        let placement = &mut placed[*at];
        (placement.view, placement.wanted, placement.rule) = (Some(entry.view), entry.wanted, entry.rule);
        placement.why = entry.reason.as_deref().map(Into::into);
        // A file that is shown again has two entries.
        placement.tokens += entry.tokens;
    }
    for omitted in &receipt.omitted {
        let Some(at) = positions.get(&omitted.path) else { continue };
        placed[*at].why = Some(omitted.reason.name().into());
        if let Omission::Budget { wanted } = omitted.reason {
            placed[*at].wanted = wanted;
        }
    }
}

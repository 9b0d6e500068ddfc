//! The files that a document is about, and whether the document is cached.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::absent_items::absent_items;
use super::focus::resolve_focus;
use super::ineffective_masks::note_ineffective_masks;
use super::sections::sections;
use super::unshown_items::note_unshown_items;
use crate::aggregate::{DocumentSections, ExclusionPatterns, Focus, Selector, hides_symbols};
use crate::engine::artifacts::{ArtifactCache, hide};
use crate::engine::document::cache::InputsKey;
use crate::engine::document::request::{AggregationRequest, BeadsRequest};
use crate::engine::document::routing::{may_need_text, merged_items, route, routing};
use crate::engine::document::run::DocumentRun;
use crate::engine::error::Error;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::history::WorktreeStates;
use crate::engine::index::{FileArgument, FileSelection, FileSelector, Trust, resolve_names_or_note};
use crate::engine::summaries::{ModelSummaries, choose_summaries};
use crate::engine::workspace::{KnownFile, KnownState, Workspace};
use crate::model::{ContentHash, FileOrder, RelPath, ViewMode};

/// The current inputs of a document.
pub struct DocumentInputs {
    pub(in crate::engine) selection: FileSelection,
    /// The files in focus.
    pub(in crate::engine) focus: Focus,
    pub(in crate::engine) sections: DocumentSections,
    pub(in crate::engine) summaries: ModelSummaries,
    /// Hashes of all files and of the state of git, for each checkout; `None` if they are not known.
    pub(in crate::engine::document) worktree_states: Option<WorktreeStates>,
    pub(in crate::engine) digest: InputsDigest,
}

/// What is kept of the inputs while the document is composed, to decide afterwards whether it may be cached.
pub struct InputsDigest {
    /// The key of the inputs; `None` if the document depends on more than can be compared.
    pub(in crate::engine::document) key: Option<Arc<InputsKey>>,
    pub(in crate::engine::document) contents: FxHashMap<RelPath, ContentHash>,
    pub(in crate::engine::document) notes: usize,
}

impl InputsDigest {
    /// Records the contents of the files that the document is about to be composed from.
    pub(in crate::engine::document) fn note_contents(
        &mut self,
        workspace: &Workspace<'_>,
        files: &[KnownFile],
    ) {
        if self.key.is_none() {
            return;
        }
        let content = |file: &KnownFile| match &file.state {
            KnownState::Content { hash, .. } => {
                Some((file.path.clone(), workspace.hidden.file_hash(&file.path, *hash)))
            }
            KnownState::LeftOut(_) => None,
        };
        self.contents = files.iter().filter_map(content).collect();
    }
}

impl DocumentInputs {
    /// Returns the key of the inputs; `None` if the document depends on more than can be compared.
    pub(in crate::engine) fn key(&self) -> Option<Arc<InputsKey>> {
        self.digest.key.clone()
    }
}

impl DocumentRun<'_, '_> {
    pub(in crate::engine) fn select_for(
        &mut self,
        request: &AggregationRequest,
    ) -> Result<DocumentInputs, Error> {
        // First, because it may be refused, and costs nothing.
        let mut sections = sections(&self.cache.workspace, &request.sections)?;
        if request.exact_tokens || request.limits.tokens.is_some() {
            self.cache.workspace.options.counter.prepare();
        }
        let (mut focus, items) = (Focus::new(&request.focus)?, merged_items(&self.cache.workspace, request));
        if request.files.is_empty() && request.preset.as_ref().is_some_and(Vec::is_empty) {
            self.cache.workspace.note("the preset has no files, and so has the document".to_owned());
        }
        let mut notes = self.cache.workspace.log.note_count();
        let selection = if request.sections.part.has_prefix() {
            let unresolved = focus.clone();
            let routing = routing(&self.cache.workspace, request, &unresolved, &items);
            let mut selection = select_requested(self.cache, request, &|path| {
                may_need_text(path, &routing, request.limits.is_some())
            })?;
            if !request.is_whole() {
                selection.missing.extend(absent_items(self.cache, request)?);
            }
            hide(self.cache, &items, &mut selection.files, &mut selection.texts);
            // The notes from here on depend on the inputs alone, and are made again for each answer.
            let uncertain = self.cache.workspace.log.note_count() - notes;
            sections.problems.extend(note_ineffective_masks(self.cache, &items, &selection.files)?);
            let is_named = |path: &RelPath| selection.named.contains(path);
            let unshown = note_unshown_items(self.cache, request, &selection.files, &is_named)?;
            sections.problems.extend(unshown);
            resolve_focus(self.cache, &mut focus, &selection.files, request.is_whole())?;
            notes = self.cache.workspace.log.note_count() - uncertain;
            selection
        } else {
            FileSelection::default()
        };
        let routing = routing(&self.cache.workspace, request, &focus, &items);
        // A model's summary of a folder may mention what only this question hides.
        let is_hiding = request.overrides.iter().any(|item| hides_symbols(&item.ast_mask));
        let whole = (request.is_whole() && !is_hiding).then_some(request.items.as_slice());
        let summaries =
            choose_summaries(self.cache, self.lookup, request.tier.as_ref(), &selection.files, whole);
        let worktree = self.worktree_key(request, &selection);
        let has_diffs = routing.may_show_diffs()
            && selection.files.iter().any(|file| route(file, &routing).view == ViewMode::Diff);
        let is_alone =
            depends_on_files_alone(request) && !has_diffs && self.cache.workspace.log.note_count() == notes;
        let key = match &worktree {
            Some(worktree) if is_alone => {
                self.inputs_key(request, &selection, &summaries, &sections, worktree)
            }
            Some(_) | None => None,
        };
        let worktree_states = worktree.and_then(|worktree| worktree.with_history);
        let digest = InputsDigest { key, contents: FxHashMap::default(), notes };
        Ok(DocumentInputs { selection, focus, sections, summaries, worktree_states, digest })
    }

    /// Returns whether a document has the same inputs as one with that key, except for the files and their curation.
    pub(in crate::engine) fn is_made_of(
        &self,
        request: &AggregationRequest,
        key: &InputsKey,
    ) -> Result<bool, Error> {
        let DocumentSections { part, discussion, problems, .. } =
            sections(&self.cache.workspace, &request.sections)?;
        Ok(key.options.has_index_of(&self.cache.workspace.options)
            && (key.part, &key.discussion, &key.problems) == (part, &discussion, &problems))
    }

    /// Returns hashes of the files' states without reading the files; `None` if that must not be a part of the answer.
    fn worktree_key(&self, request: &AggregationRequest, selection: &FileSelection) -> Option<WorktreeKey> {
        let trusts_stamps =
            self.caches.is_some() && !self.cache.workspace.paranoid && request.trust == Trust::Stamps;
        trusts_stamps.then(|| {
            let files = hash_files(&self.cache.workspace, &selection.files);
            // Uncommitted changes of the other files are not a part of the answer, but their attributes may be.
            let rules = selection.rules.filter(|_| request.is_whole());
            let with_history = rules.map(|rules| {
                let state = |(name, files): (&String, &ContentHash)| {
                    let mut hash = Fingerprint::default();
                    (name.clone(), hash.bytes(rules.as_bytes()).bytes(files.as_bytes()).finish())
                };
                files.iter().map(state).collect()
            });
            WorktreeKey { files, with_history }
        })
    }

    /// Returns the key of the inputs; `None` if the document depends on git's history and its state is not known.
    fn inputs_key(
        &self,
        request: &AggregationRequest,
        selection: &FileSelection,
        summaries: &ModelSummaries,
        sections: &DocumentSections,
        worktree: &WorktreeKey,
    ) -> Option<Arc<InputsKey>> {
        let has_history = request.order == FileOrder::Stable || request.limits.is_some();
        let states = if has_history { worktree.with_history.as_ref()? } else { &worktree.files };
        let mut hash = Fingerprint::default();
        for (name, state) in states {
            hash.bytes(name.as_bytes()).bytes(state.as_bytes());
        }
        hash.bytes(summaries.fingerprint(&selection.files).as_bytes());
        // Screenshots and tracked work are not in the key: a document that has them is not cached.
        Some(Arc::new(InputsKey {
            options: self.cache.workspace.options.clone(),
            part: sections.part,
            discussion: sections.discussion.clone(),
            problems: sections.problems.clone(),
            missing: selection.missing.clone(),
            files: hash.finish(),
        }))
    }
}

/// Returns whether a document depends only on the project's files, its history and the discussion.
fn depends_on_files_alone(request: &AggregationRequest) -> bool {
    let sections = &request.sections;
    // A revision may come to mean another commit, screenshots may be anywhere, and another program lists issues: no
    // stamp that an answer compares changes with them.
    request.base.is_none()
        && request.history.as_ref().is_none_or(|history| !history.since_last)
        && sections.screenshots.is_empty()
        && sections.beads != BeadsRequest::Included
}

/// Hashes of the current states of the selected files, for each checkout by its name.
struct WorktreeKey {
    files: WorktreeStates,
    /// Also of the state of git; `None` if it is not known, or other files may be a part of what git says.
    with_history: Option<WorktreeStates>,
}

/// Returns hashes of the states of the files, for each linked folder by its name, which is empty for the project
/// itself.
fn hash_files(workspace: &Workspace<'_>, files: &[KnownFile]) -> WorktreeStates {
    let mut hashes = BTreeMap::from([("", Fingerprint::default())]);
    for file in files {
        let mounted = workspace.files.mount_of(file.path.as_bytes());
        let hash = hashes.entry(mounted.map_or("", |(mount, _)| &mount.linked.name)).or_default();
        // The receipt reports when a file was written.
        let mtime_ns = file.mtime_ns().unwrap_or_default().cast_unsigned();
        hash.bytes(file.path.as_bytes()).number(u64::from(file.tracked)).number(mtime_ns);
        match &file.state {
            KnownState::Content { hash: content, file_type, .. } => {
                hash.bytes(content.as_bytes()).bytes(file_type.id.as_bytes())
            }
            KnownState::LeftOut(reason) => hash.bytes(reason.name().as_bytes()),
        };
    }
    hashes.into_iter().map(|(name, hash)| (name.to_owned(), hash.finish())).collect()
}

/// Returns the files of an aggregation, those of its preset first. A missing file of a preset is reported, and is not
/// an error.
pub(super) fn select_requested(
    cache: &mut ArtifactCache<'_>,
    request: &AggregationRequest,
    keeps_text: &(dyn Fn(&RelPath) -> bool + Sync),
) -> Result<FileSelection, Error> {
    let preset = request.preset.iter().flatten();
    let preset = preset.map(|item| FileArgument { text: &item.path, is_required: false });
    let files = resolve_names_or_note(cache, &request.files)?;
    let given = files.iter().map(|text| FileArgument::required(text));
    let words: Vec<FileArgument<'_>> = preset.chain(given).collect();
    // A preset without files is valid; without words all files would be selected.
    if words.is_empty() && request.preset.is_some() {
        return Ok(FileSelection::default());
    }
    let mut selection = FileSelector::new(cache, request.trust, keeps_text).select(cache, &words)?;
    filter_selection(&mut selection, request, &cache.workspace.root)?;
    Ok(selection)
}

/// Keeps only the files that the request's patterns include and do not exclude. It is an error if an including pattern
/// matches none.
fn filter_selection(
    selection: &mut FileSelection,
    request: &AggregationRequest,
    root: &Path,
) -> Result<(), Error> {
    let included = request.include.iter().map(|word| Selector::new(word)).collect::<Result<Vec<_>, _>>()?;
    let is_meant = |selector: &Selector, path: &RelPath| selector.selects(path) || selector.touches(path);
    for (word, selector) in request.include.iter().zip(&included) {
        if !selection.files.iter().any(|file| is_meant(selector, &file.path)) {
            return Err(Error::NothingSelected { word: word.clone() });
        }
    }
    let excluded = ExclusionPatterns::new(&request.exclude, root)?;
    selection.files.retain(|file| {
        let is_included =
            included.is_empty() || included.iter().any(|selector| is_meant(selector, &file.path));
        is_included && !excluded.excludes(&file.path)
    });
    Ok(())
}

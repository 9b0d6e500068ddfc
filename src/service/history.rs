//! The history of `slop.toml`: every state is recorded, including edits by hand, and can be restored.

use std::path::{Path, PathBuf};

use super::resolved::{QuerySettings, ResolvedQuery, complete};
use super::sources::{SETTINGS_FILE, settings_error};
use super::takes::{read_takes, settle, take_files};
use crate::api::{
    ApiError, HistoryMoved, HistoryQuery, HistoryState, HistoryStep, JumpQuery, RedoQuery, UndoQuery,
};
use crate::config::LoadedConfig;
use crate::config::edit::{self, TakeChange, TakesOutcome};
use crate::engine::{self, HISTORY_DATABASE, HistoryChange, HistoryDb, HistoryEntry, make_cache_folder};
use crate::model::{ContentHash, RelPath, suggest_known_name};
use crate::sys::{Clock, Disk, RealDisk, RealFiles, WallClock};

/// The history of one project's `slop.toml`.
#[derive(Debug, Clone)]
pub struct CurationHistory {
    pub(super) root: PathBuf,
    /// The folder of the cache; `None` if the settings disable it.
    cache_dir: Option<RelPath>,
}

/// Which entry to return to.
#[derive(Debug, Clone, Copy)]
enum HistoryTarget {
    /// The one before the current one.
    Before,
    /// The newest one after the current one.
    After,
    Entry(i64),
}

impl CurationHistory {
    pub fn new(root: &Path, loaded: &LoadedConfig) -> Self {
        let options = loaded.engine_options(root);
        let cache_dir = options.cache_enabled.then_some(options.cache_dir);
        Self { root: root.to_owned(), cache_dir }
    }

    /// Records the current state of `slop.toml` unless it is already recorded. A project with neither a history nor a
    /// `slop.toml` gets no history.
    pub fn record_settled(&self) -> Result<(), ApiError> {
        let Some(file) = self.database_file() else { return Ok(()) };
        if self.text()?.is_empty() && !file.exists() {
            return Ok(());
        }
        let mut db = self.open()?;
        let change = db.begin().map_err(engine::Error::History)?;
        // Read again: a command may have edited the file until the change could begin.
        record(&change, &settle(&self.root)?, &self.text()?, None)?;
        Ok(change.commit().map_err(engine::Error::History)?)
    }

    /// Makes an edit, and records the states before and after it. If recording fails, the edit is made all the same,
    /// and the error is returned with its result.
    pub fn recorded<T>(&self, label: &str, make_edit: impl FnOnce() -> T) -> (T, Option<ApiError>) {
        if self.cache_dir.is_none() {
            return (make_edit(), settle(&self.root).err());
        }
        let mut db = match self.open() {
            Ok(db) => db,
            Err(error) => return (make_edit(), Some(error)),
        };
        let begun = db.begin().map_err(|error| ApiError::from(engine::Error::History(error)));
        // Before the edit, because it changes the revision that identifies an interrupted switch.
        let before = begun.and_then(|change| Ok((change, settle(&self.root)?, self.text()?)));
        let edited = make_edit();
        let recorded =
            before.and_then(|(change, take, before)| self.record_edit(change, &take, &before, label));
        (edited, recorded.err())
    }

    fn record_edit(
        &self,
        change: HistoryChange<'_>,
        take: &str,
        before: &[u8],
        label: &str,
    ) -> Result<(), ApiError> {
        let after = self.text()?;
        // An edit that failed or changed nothing is not recorded.
        if before == after {
            return Ok(());
        }
        // The text before the edit too, so that earlier edits by hand can be restored.
        record(&change, take, before, None)?;
        record(&change, take, &after, Some(label))?;
        Ok(change.commit().map_err(engine::Error::History)?)
    }

    /// Changes the takes and their histories. If recording fails, the change is made all the same, and the error is
    /// returned with its result.
    pub(super) fn change_takes(
        &self,
        revision: &str,
        change: &TakeChange,
    ) -> Result<Option<ApiError>, ApiError> {
        let files = take_files(&self.root)?;
        let make = || {
            edit::change_takes(&RealDisk, &files, revision, change).map_err(|error| settings_error(&error))
        };
        if self.cache_dir.is_none() {
            return make().map(|_| None);
        }
        let mut db = match self.open() {
            Ok(db) => db,
            Err(error) => return make().map(|_| Some(error)),
        };
        let begun = db.begin().map_err(|error| ApiError::from(engine::Error::History(error)));
        let before = self.text()?;
        let done = make()?;
        Ok(begun.and_then(|history| self.record_takes(history, change, &done, &before)).err())
    }

    fn record_takes(
        &self,
        history: HistoryChange<'_>,
        change: &TakeChange,
        done: &TakesOutcome,
        before: &[u8],
    ) -> Result<(), ApiError> {
        match change {
            // The remaining history of that name belongs to a take that another program deleted.
            TakeChange::Create { name, .. } | TakeChange::Delete { name, .. } => history.delete_take(name),
            TakeChange::Rename { name, to } => history.rename_take(name, to),
            TakeChange::Switch { .. } if done.before == done.current => Ok(()),
            TakeChange::Switch { .. } => {
                record(&history, &done.before, before, None)?;
                let label = format!("switched from {}", done.before);
                record(&history, &done.current, &self.text()?, Some(&label))?;
                Ok(())
            }
        }
        .map_err(engine::Error::History)?;
        Ok(history.commit().map_err(engine::Error::History)?)
    }

    /// Returns the history of a take, by default of the current one.
    pub(super) fn state(&self, take: Option<&str>) -> Result<HistoryState, ApiError> {
        let takes = read_takes(&self.root)?;
        if let Some(take) = take.filter(|take| takes.takes.iter().all(|known| known.name != **take)) {
            let suggestion = suggest_known_name(take, takes.takes.iter().map(|known| known.name.as_str()));
            let name = take.to_owned();
            return Err(settings_error(&crate::config::Error::NoSuchTake { name, suggestion }));
        }
        let take = take.unwrap_or(&takes.current);
        let Some(db) = self.open_reader()? else { return Ok(HistoryState::default()) };
        let entries = db.entries(take).map_err(engine::Error::History)?;
        let current = db.current(take).map_err(engine::Error::History)?;
        if take != takes.current {
            // The take is as it was left, and cannot be undone or redone until it is current again.
            return Ok(HistoryState {
                current: current.map(|entry| entry.id),
                is_recorded: true,
                entries: entries.iter().map(history_step).collect(),
                ..HistoryState::default()
            });
        }
        let text = self.text()?;
        let is_recorded = current.as_ref().is_some_and(|entry| entry.state == ContentHash::digest(&text));
        let before = find(HistoryTarget::Before, &entries, current.as_ref());
        let after = find(HistoryTarget::After, &entries, current.as_ref());
        Ok(HistoryState {
            // Edits by hand since the current entry can be undone, too.
            can_undo: before.is_some() || current.is_some() && !is_recorded,
            can_redo: is_recorded && after.is_some(),
            is_recorded,
            current: current.map(|entry| entry.id),
            entries: entries.iter().map(history_step).collect(),
        })
    }

    fn return_to(&self, target: HistoryTarget, revision: &str) -> Result<HistoryMoved, ApiError> {
        if self.cache_dir.is_none() {
            return Err(engine::Error::NoCache.into());
        }
        let file = self.root.join(SETTINGS_FILE);
        let mut db = self.open()?;
        let change = db.begin().map_err(engine::Error::History)?;
        let take = settle(&self.root)?;
        let now = self.text()?;
        edit::check_revision(&file, &now, revision).map_err(|error| settings_error(&error))?;
        // Edits by hand since the last entry are recorded as one, so that they can be restored.
        let current = record(&change, &take, &now, None)?;
        let entries = change.entries(&take).map_err(engine::Error::History)?;
        let entry = find(target, &entries, Some(&current)).ok_or_else(|| no_such_entry(target))?;
        let text = change.text(&entry.state).map_err(engine::Error::History)?;
        let text = text.ok_or_else(|| no_such_entry(HistoryTarget::Entry(entry.id)))?;
        change.move_to(entry).map_err(engine::Error::History)?;
        let revision =
            edit::replace_text(&RealDisk, &file, revision, &text).map_err(|error| settings_error(&error))?;
        change.commit().map_err(engine::Error::History)?;
        Ok(HistoryMoved { revision, entry: history_step(entry) })
    }

    fn text(&self) -> Result<Vec<u8>, ApiError> {
        let file = self.root.join(SETTINGS_FILE);
        let read = RealDisk.read(&file).map_err(|source| crate::config::Error::Read { path: file, source });
        Ok(read.map_err(|error| settings_error(&error))?.unwrap_or_default())
    }

    fn database_file(&self) -> Option<PathBuf> {
        let cache_dir = self.cache_dir.as_ref()?;
        Some(self.root.join(cache_dir.as_path()).join(HISTORY_DATABASE))
    }

    fn open(&self) -> Result<HistoryDb, ApiError> {
        let (Some(cache_dir), Some(file)) = (&self.cache_dir, self.database_file()) else {
            return Err(engine::Error::NoCache.into());
        };
        let files = RealFiles::open(&self.root).map_err(|error| ApiError::no_project(&self.root, &error))?;
        make_cache_folder(&self.root, cache_dir, &files, &RealDisk).map_err(|_| engine::Error::NoCache)?;
        Ok(HistoryDb::open(&file).map_err(engine::Error::History)?)
    }

    fn open_reader(&self) -> Result<Option<HistoryDb>, ApiError> {
        let Some(file) = self.database_file() else { return Ok(None) };
        Ok(HistoryDb::open_reader(&file).map_err(engine::Error::History)?)
    }
}

fn record(
    change: &HistoryChange<'_>,
    take: &str,
    text: &[u8],
    label: Option<&str>,
) -> Result<HistoryEntry, ApiError> {
    Ok(change.record(take, text, label, WallClock.now_ms()).map_err(engine::Error::History)?)
}

pub(super) fn resolve_history(query: HistoryQuery, settings: QuerySettings<'_>) -> ResolvedQuery {
    let history = CurationHistory::new(settings.root, settings.loaded);
    complete::<HistoryQuery>(move |_| history.state(query.take.as_deref())).without_cache()
}

pub(super) fn resolve_undo(query: UndoQuery, settings: QuerySettings<'_>) -> ResolvedQuery {
    let history = CurationHistory::new(settings.root, settings.loaded);
    complete::<UndoQuery>(move |_| history.return_to(HistoryTarget::Before, &query.revision)).without_cache()
}

pub(super) fn resolve_redo(query: RedoQuery, settings: QuerySettings<'_>) -> ResolvedQuery {
    let history = CurationHistory::new(settings.root, settings.loaded);
    complete::<RedoQuery>(move |_| history.return_to(HistoryTarget::After, &query.revision)).without_cache()
}

pub(super) fn resolve_jump(query: JumpQuery, settings: QuerySettings<'_>) -> ResolvedQuery {
    let history = CurationHistory::new(settings.root, settings.loaded);
    complete::<JumpQuery>(move |_| history.return_to(HistoryTarget::Entry(query.to), &query.revision))
        .without_cache()
}

/// Returns the entry that a target refers to.
fn find<'e>(
    target: HistoryTarget,
    entries: &'e [HistoryEntry],
    current: Option<&HistoryEntry>,
) -> Option<&'e HistoryEntry> {
    let id = match target {
        HistoryTarget::Before => current?.parent?,
        HistoryTarget::After => {
            let current = current?.id;
            return entries.iter().rfind(|entry| entry.parent == Some(current));
        }
        HistoryTarget::Entry(id) => id,
    };
    entries.iter().find(|entry| entry.id == id)
}

fn no_such_entry(target: HistoryTarget) -> ApiError {
    let hint = "`slop history` lists the states that can be restored";
    match target {
        HistoryTarget::Before => ApiError::user("nothing_to_undo", "nothing to undo", hint),
        HistoryTarget::After => ApiError::user("nothing_to_redo", "nothing to redo", hint),
        HistoryTarget::Entry(id) => {
            ApiError::user("not_found", format!("no state {id} in the history"), hint)
        }
    }
}

fn history_step(entry: &HistoryEntry) -> HistoryStep {
    // The first state was there before slop recorded any; the others were written by someone else.
    let by_hand = if entry.parent.is_none() { "first state" } else { "edited by hand" };
    HistoryStep {
        id: entry.id,
        label: entry.label.clone().unwrap_or_else(|| by_hand.to_owned()),
        by_hand: entry.label.is_none(),
        revision: entry.state.to_string(),
        parent: entry.parent,
        at_ms: entry.at_ms,
    }
}

//! Edits the curation: the names in a request are looked up in the project, then `slop.toml` is edited once.

use std::collections::BTreeSet;
use std::path::Path;

use super::curation::match_symbols;
use super::history::CurationHistory;
use super::profile::{find_persona, find_preset};
use super::resolved::{QuerySettings, ResolvedQuery, bad_query, complete};
use super::sources::{SETTINGS_FILE, settings_error};
use super::table::parse_clock;
use crate::api::{
    ApiError, CurationEdit, CurationEdited, DocumentEdit, DocumentKeys, EditCurationQuery, FileSelect,
    ItemKeys, MaskEdit, MatchSymbolsQuery, PresetSaveEdit, ScreenshotsEdit, SetEdit, SliceAddEdit,
    SliceChangeEdit,
};
use crate::config::edit::{self, ItemSetting, PresetDraft, ScreenshotChange, SliceChange};
use crate::config::{Curation, edit::plain_path};
use crate::engine::{Covering, CoveringEntry, Project};
use crate::model::{DocumentDefaults, RelPath, Slice, Tier, path_text};
use crate::sys::RealDisk;

/// The most entries that one edit writes: longer lists are unreadable, and slow to match.
const MAX_ENTRIES: usize = 500;

pub(super) fn resolve_edit(
    query: EditCurationQuery,
    settings: QuerySettings<'_>,
) -> Result<ResolvedQuery, ApiError> {
    if query.edits.is_empty() {
        return Err(bad_query("no edit is given", "give at least one edit, such as {\"remove\": {…}}"));
    }
    let file = settings.root.join(SETTINGS_FILE);
    let history = CurationHistory::new(settings.root, settings.loaded);
    let curation = settings.loaded.curation.clone();
    Ok(complete::<EditCurationQuery>(move |project| {
        edit_curation(project, &file, &curation, &history, query)
    }))
}

fn edit_curation(
    project: &mut Project<'_>,
    file: &Path,
    curation: &Curation,
    history: &CurationHistory,
    query: EditCurationQuery,
) -> Result<CurationEdited, ApiError> {
    let mut lookup = EditLookup { project, curation, files: BTreeSet::new() };
    let edits = query.edits.into_iter().map(|edit| lookup.resolve(edit)).collect::<Result<Vec<_>, _>>()?;
    let files_affected = lookup.files.len();
    for note in carried_hides(&edits, file, curation) {
        project.add_note(note);
    }
    let make_edits = || edit::edit_curation(&RealDisk, file, &query.revision, &edits, query.dry_run);
    let done = if query.dry_run {
        make_edits()
    } else {
        let label = if query.label.is_empty() { default_label(&edits) } else { query.label };
        let (done, failure) = history.recorded(&label, make_edits);
        if let Some(error) = failure {
            project.add_note(format!("the edit is not in the history: {}", error.message));
        }
        done
    };
    let edit::EditOutcome { revision, entries_written } = done.map_err(|error| settings_error(&error))?;
    Ok(CurationEdited { revision, entries_written, files_affected })
}

fn default_label(edits: &[edit::CurationEdit]) -> String {
    match edits {
        [only] => only.label(),
        _ => "several edits".to_owned(),
    }
}

/// Returns what new entries hide because a pattern already hides it.
fn carried_hides(edits: &[edit::CurationEdit], file: &Path, curation: &Curation) -> BTreeSet<String> {
    let items = &curation.files;
    // The entry of a folder is changed, not added.
    let is_known = |entry: &&CoveringEntry| {
        let folder = entry.folder.as_ref();
        folder.is_some_and(|folder| items.iter().any(|item| plain_path(&item.path) == *folder))
    };
    let mut paths: Vec<&String> = Vec::new();
    for edit in edits {
        match edit {
            edit::CurationEdit::SetKeys { entries, settings, .. } if !settings.is_empty() => {
                paths.extend(entries.iter().filter(|entry| !is_known(entry)).map(|entry| &entry.path));
            }
            edit::CurationEdit::AddSlice { path, .. } => paths.push(path),
            edit::CurationEdit::Mask { path, set, .. } if !set.is_empty() => paths.push(path),
            _ => {}
        }
    }
    let notes = |path: &String| edit::notes_of_carried_hides(&RealDisk, file, items, path);
    paths.into_iter().flat_map(notes).collect()
}

/// Looks up the names in edits, and collects the files that they affect.
struct EditLookup<'e, 'w> {
    project: &'e mut Project<'w>,
    curation: &'e Curation,
    files: BTreeSet<RelPath>,
}

impl EditLookup<'_, '_> {
    fn resolve(&mut self, edit: CurationEdit) -> Result<edit::CurationEdit, ApiError> {
        Ok(match edit {
            CurationEdit::Set(SetEdit { files, to, unset }) => {
                let settings = settings_of(to);
                let unset: Vec<&str> = unset.iter().map(|key| key.key()).collect();
                if settings.is_empty() && unset.is_empty() {
                    return Err(bad_query("no key is set or removed", "give keys in `to` or `unset`"));
                }
                let covering = self.selected(&files)?;
                check_count(&covering)?;
                edit::CurationEdit::SetKeys { entries: self.take_entries(covering), settings, unset }
            }
            CurationEdit::Remove(remove) => {
                let covering = self.selected(&remove.files)?;
                edit::CurationEdit::RemoveItems { entries: self.take_entries(covering) }
            }
            CurationEdit::SliceAdd(SliceAddEdit { path, start_line, end_line, tag, comment }) => {
                self.add_file(&path)?;
                let slice = self.project.make_slice(&path, start_line, end_line)?;
                let slice = Slice { tag, comment, ..slice };
                edit::CurationEdit::AddSlice { path: plain_path(&path), slice }
            }
            CurationEdit::SliceChange(change) => self.slice_change(change)?,
            CurationEdit::SliceRemove(remove) => {
                edit::CurationEdit::RemoveSlice { path: remove.path, index: remove.index }
            }
            CurationEdit::Mask(mask) => self.mask(mask)?,
            CurationEdit::PresetSave(PresetSaveEdit { name, description, files, overwrite }) => {
                for path in &files {
                    self.add_file(path)?;
                }
                edit::CurationEdit::SavePreset(PresetDraft {
                    name,
                    description,
                    files,
                    overwrites: overwrite,
                })
            }
            CurationEdit::PresetApply(preset) => {
                let saved = self.curation.preset(&preset.name).map(|saved| &saved.value.files);
                let paths: Vec<String> = saved.into_iter().flatten().map(|item| item.path.clone()).collect();
                let covering = self.project.cover_files(&paths)?;
                self.files.extend(covering.files);
                // A pattern never counts as gone, because it may match again.
                let is_pattern = |path: &String| path.contains(['*', '?', '[', '{']);
                let gone = covering.unmatched.into_iter().filter(|path| !is_pattern(path)).collect();
                edit::CurationEdit::ApplyPreset { name: preset.name, gone }
            }
            CurationEdit::PresetDelete(preset) => edit::CurationEdit::DeletePreset(preset.name),
            CurationEdit::Screenshots(ScreenshotsEdit { add, remove, order }) => {
                if add.iter().any(|path| path.is_empty() || path.contains('\0')) {
                    return Err(bad_query(
                        "path of an image is empty",
                        "give the path of an image in the project",
                    ));
                }
                edit::CurationEdit::Screenshots(ScreenshotChange { add, remove, order })
            }
            CurationEdit::Document(document) => self.document(document)?,
        })
    }

    /// Returns the entries for a selection.
    fn selected(&mut self, select: &FileSelect) -> Result<Covering, ApiError> {
        match select {
            FileSelect { paths, clock: None, rows } if rows.is_empty() => self.covering(paths),
            FileSelect { paths, clock: Some(clock), rows } if paths.is_empty() => {
                let paths = rows_of_table(self.project, clock, rows)?;
                self.covering(&paths)
            }
            FileSelect { .. } => Err(bad_query(
                "files are selected both by paths and by rows, or by rows without a clock",
                "give `paths`, or `rows` with the `clock` of the table",
            )),
        }
    }

    /// Returns the entries for paths. A word that selects no file may be the path of an item.
    fn covering(&mut self, paths: &[String]) -> Result<Covering, ApiError> {
        let mut covering = self.project.cover_files(paths)?;
        for word in std::mem::take(&mut covering.unmatched) {
            let path = plain_path(&word);
            if !self.curation.files.iter().any(|item| plain_path(&item.path) == path) {
                let message = format!("no file of the project and no entry matches `{word}`");
                let hint = "`slop status --all` lists the files of the project, `slop item list` the entries";
                return Err(ApiError::user("not_found", message, hint));
            }
            covering.entries.push(CoveringEntry { path, folder: None });
        }
        Ok(covering)
    }

    fn take_entries(&mut self, covering: Covering) -> Vec<CoveringEntry> {
        self.files.extend(covering.files);
        covering.entries
    }

    /// Adds the files that a path or pattern selects, at least one.
    fn add_file(&mut self, path: &str) -> Result<(), ApiError> {
        let covering = self.covering(&[path.to_owned()])?;
        self.take_entries(covering);
        Ok(())
    }

    fn slice_change(&mut self, change: SliceChangeEdit) -> Result<edit::CurationEdit, ApiError> {
        let SliceChangeEdit { path, index, start_line, end_line, tag, comment } = change;
        let lines = match (start_line, end_line) {
            (Some(start), Some(end)) => Some(self.project.make_slice(&path, start, end)?),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => {
                return Err(bad_query(
                    "only one line of a slice is given",
                    "give `start_line` and `end_line`",
                ));
            }
        };
        self.add_file(&path)?;
        Ok(edit::CurationEdit::ChangeSlice { path, index, change: SliceChange { lines, tag, comment } })
    }

    fn document(&self, edit: DocumentEdit) -> Result<edit::CurationEdit, ApiError> {
        let DocumentEdit { to, unset } = edit;
        if to == DocumentKeys::default() && unset.is_empty() {
            return Err(bad_query("no key is set or removed", "give keys in `to` or `unset`"));
        }
        let DocumentKeys { tier, persona, preset, focus, budget_tokens } = to;
        if tier.is_some() && persona.is_some() {
            return Err(bad_query("both a tier and a persona are given", "give a tier or a persona"));
        }
        persona.as_deref().map(|name| find_persona(name, self.curation)).transpose()?;
        preset.as_deref().map(|name| find_preset(name, self.curation)).transpose()?;
        let tier = tier.and_then(Tier::from_number);
        Ok(edit::CurationEdit::Document {
            to: DocumentDefaults { tier, persona, preset, focus, budget_tokens },
            unset: unset.iter().map(|key| key.key()).collect(),
        })
    }

    fn mask(&mut self, mask: MaskEdit) -> Result<edit::CurationEdit, ApiError> {
        let MaskEdit { path, set, unset } = mask;
        if set.is_empty() && unset.is_empty() {
            return Err(bad_query("no symbol is named", "give symbols in `set` or `unset`"));
        }
        self.add_file(&path)?;
        if !set.is_empty() {
            let symbols: Vec<String> = set.keys().cloned().collect();
            let query = MatchSymbolsQuery { file: path.clone(), symbols: symbols.clone() };
            for (symbol, matches) in symbols.iter().zip(match_symbols(self.project, query)?) {
                // With a misspelled name, the intended symbol would stay hidden, or shown.
                if matches.found == 0 {
                    let message = format!("no symbol `{symbol}` in {path}{}", matches.suggestion());
                    let hint = "`slop outline PATH --json` has the qualified names of all";
                    return Err(ApiError::user("no_such_symbol", message, hint));
                }
            }
        }
        let set = set.into_iter().map(|(symbol, show)| (symbol, show.into())).collect();
        Ok(edit::CurationEdit::Mask { path: plain_path(&path), set, unset })
    }
}

/// Returns the paths of the files in rows of a table.
fn rows_of_table(
    project: &mut Project<'_>,
    clock: &str,
    rows: &[(usize, usize)],
) -> Result<Vec<String>, ApiError> {
    let rows: Vec<_> = rows.iter().map(|(first, last)| *first..=*last).collect();
    let files = project.table_files(parse_clock(clock)?, &rows)?.ok_or_else(|| {
        let message = "files were added or removed since that clock of the table, or it has no such rows";
        ApiError::user("table_moved", message, "ask /v1/table for the table, and select again")
    })?;
    Ok(files.iter().map(|path| path_text(path.as_bytes())).collect())
}

fn settings_of(keys: ItemKeys) -> Vec<ItemSetting> {
    let ItemKeys {
        auto_aggregate,
        force_full,
        view_mode,
        selected,
        ast_signatures,
        ast_definitions,
        tier,
        injected_at,
    } = keys;
    let settings = [
        auto_aggregate.map(ItemSetting::AutoAggregate),
        force_full.map(ItemSetting::ForceFull),
        view_mode.map(|view| ItemSetting::ViewMode(view.0)),
        selected.map(ItemSetting::Selected),
        ast_signatures.map(ItemSetting::Signatures),
        ast_definitions.map(ItemSetting::Definitions),
        tier.and_then(Tier::from_number).map(ItemSetting::Tier),
        injected_at.map(ItemSetting::InjectedAt),
    ];
    settings.into_iter().flatten().collect()
}

/// Rejects a selection that needs too many entries, and suggests folders to select instead.
fn check_count(covering: &Covering) -> Result<(), ApiError> {
    let count = covering.entries.len();
    if count <= MAX_ENTRIES {
        return Ok(());
    }
    let folders = covering.crowded.iter();
    let folders = folders.map(|near| format!("{} ({} of {} files)", near.pattern, near.selected, near.files));
    let folders = folders.collect::<Vec<_>>().join(", ");
    Err(ApiError::user(
        "too_many_entries",
        format!("selection needs {count} entries, limit is {MAX_ENTRIES}"),
        format!("select whole folders or give patterns; the nearest are {folders}"),
    ))
}

//! Lists and changes the takes of a project.

use std::path::Path;

use super::history::CurationHistory;
use super::resolved::{QuerySettings, ResolvedQuery, bad_query, complete};
use super::sources::{SETTINGS_FILE, TAKES_FILE, settings_error};
use crate::api::{ApiError, EditTakesQuery, TakeAction, TakeState, TakesQuery, TakesState};
use crate::config::edit::{self, TakeChange, TakeFiles, TakeSummary, TakesSummary};
use crate::config::{self, revision_of};
use crate::sys::{Disk, RealDisk};

pub(super) fn resolve_takes(settings: QuerySettings<'_>) -> ResolvedQuery {
    let root = settings.root.to_owned();
    complete::<TakesQuery>(move |_| takes_state(&root)).without_cache()
}

pub(super) fn resolve_edit_takes(
    query: EditTakesQuery,
    settings: QuerySettings<'_>,
) -> Result<ResolvedQuery, ApiError> {
    let EditTakesQuery { revision, action, name, from, to, force } = query;
    let change = match (action, from, to) {
        (TakeAction::Create, from, None) => TakeChange::Create { name, from },
        (TakeAction::Switch, None, None) => TakeChange::Switch { name },
        (TakeAction::Rename, None, Some(to)) => TakeChange::Rename { name, to },
        (TakeAction::Delete, None, None) => TakeChange::Delete { name, may_lose: force },
        (TakeAction::Rename, _, None) => {
            return Err(bad_query("no new name is given", "give the new name in `to`"));
        }
        (_, Some(_), _) => {
            return Err(bad_query("`from` is only for `create`", "leave `from` out"));
        }
        (_, None, Some(_)) => return Err(bad_query("`to` is only for `rename`", "leave `to` out")),
    };
    let history = CurationHistory::new(settings.root, settings.loaded);
    let done = complete::<crate::api::EditTakesQuery>(move |project| {
        if let Some(error) = history.change_takes(&revision, &change)? {
            project.add_note(format!("the change is not in the history: {}", error.message));
        }
        takes_state(&history.root)
    });
    Ok(done)
}

fn takes_state(root: &Path) -> Result<TakesState, ApiError> {
    let TakesSummary { current, takes } = read_takes(root)?;
    let file = root.join(SETTINGS_FILE);
    let text = RealDisk.read(&file).map_err(|source| config::Error::Read { path: file, source });
    let text = text.map_err(|error| settings_error(&error))?.unwrap_or_default();
    Ok(TakesState {
        revision: revision_of(&text),
        current,
        takes: takes.into_iter().map(take_state).collect(),
    })
}

fn take_state(take: TakeSummary) -> TakeState {
    let TakeSummary { name, items, masks, slices, screenshots, document } = take;
    TakeState { name, entries: items, masks, slices, screenshots, document }
}

/// Returns the current takes.
pub(super) fn read_takes(root: &Path) -> Result<TakesSummary, ApiError> {
    edit::read_takes(&RealDisk, &take_files(root)?).map_err(|error| settings_error(&error))
}

/// Finishes a switch that was interrupted, and returns the name of the current take.
pub(super) fn settle(root: &Path) -> Result<String, ApiError> {
    edit::settle_takes(&RealDisk, &take_files(root)?).map_err(|error| settings_error(&error))
}

/// Returns the files with the takes of the project in the folder `root`.
pub(super) fn take_files(root: &Path) -> Result<TakeFiles, ApiError> {
    let files = TakeFiles { settings: root.join(SETTINGS_FILE), takes: root.join(TAKES_FILE) };
    // Otherwise a checked-out project could make slop read and replace any file of the user.
    if let Some(target) = RealDisk.link_outside(&files.takes, root) {
        let reason = format!("is a link to {}, outside of the project", target.display());
        return Err(settings_error(&config::Error::BadTakes { path: files.takes, reason }));
    }
    Ok(files)
}

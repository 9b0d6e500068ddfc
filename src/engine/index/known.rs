//! All files as far as events have kept them up to date, without comparing their stamps.

use super::scan::state_from_row;
use super::snapshot::take_snapshot;
use crate::engine::artifacts::ArtifactCache;
use crate::engine::error::Error;
use crate::engine::workspace::{KnownFile, KnownState};

/// Returns all files, by path; `None` if one of them has to be looked at first, or changes are not reported by events.
///
/// An event that was lost is missed here. So this is for what helps a person to find their way, and not for what an agent
/// is given.
pub(in crate::engine) fn known_files(cache: &mut ArtifactCache<'_>) -> Result<Option<Vec<KnownFile>>, Error> {
    if cache.workspace.tracker.is_none() || cache.workspace.paranoid {
        return Ok(None);
    }
    let snapshot = take_snapshot(cache, &|_| false)?;
    let is_reported = snapshot.tree.as_ref().is_some_and(|tree| tree.is_complete && tree.dirty.is_empty());
    if !is_reported || !snapshot.is_current {
        return Ok(None);
    }
    let files = snapshot.files().iter().map(|found| {
        let row = snapshot.rows.get(&found.path);
        let state = match found.skip_reason {
            Some(reason) => KnownState::LeftOut(reason),
            None => state_from_row(row?, Some(&snapshot.listed.neighbors))?,
        };
        Some(KnownFile { path: found.path.clone(), tracked: found.tracked, state, mtime_ns: None })
    });
    Ok(files.collect())
}

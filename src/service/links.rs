//! Changes to the user's own file of links.

use std::path::Path;

use super::sources::{SettingsSources, settings_error};
use crate::api::ApiError;
use crate::config::{Link, Links, LoadedConfig, links_text};
use crate::engine;
pub use crate::engine::LinkedSize;
use crate::model::LinkedFolder;
use crate::sys::{Disk, RealDisk, RealProcesses};

/// Replaces the links in the user's own file by what `change` makes of those that are there now.
pub fn edit_links(
    sources: &SettingsSources,
    root: &Path,
    change: impl FnOnce(&Links) -> Result<Vec<Link>, ApiError>,
) -> Result<(), ApiError> {
    let file = sources.links_file.as_deref().ok_or_else(|| {
        let hint = "set HOME or XDG_CONFIG_HOME, or name a file in SLOP_LINKS";
        ApiError::user("bad_settings", "there is no place for a file of links", hint)
    })?;
    let failed = |source| settings_error(&crate::config::Error::Write { path: file.to_owned(), source });
    let folder = file.parent().unwrap_or(Path::new("."));
    RealDisk.create_private_folder(folder).map_err(failed)?;
    // Two commands at the same time must not lose the link of one of them.
    let _lock = RealDisk.lock_folder(folder).map_err(failed)?;
    let links = change(&sources.load(root)?.links)?;
    let text = links_text(links).ok_or_else(ApiError::bug)?;
    RealDisk.replace_private(file, text.as_bytes()).map_err(failed)
}

/// Returns whether a checkout is another worktree of the project's own repository: its files are those of the project once
/// more.
pub fn is_own_worktree(root: &Path, checkout: &Path) -> bool {
    engine::are_of_one_repository(root, checkout, &RealDisk)
}

/// Returns how much a folder holds that may be linked to the project in the folder `root`.
pub fn measure_linked(
    folder: &LinkedFolder,
    root: &Path,
    loaded: &LoadedConfig,
) -> Result<LinkedSize, ApiError> {
    Ok(engine::measure_linked(folder, &loaded.engine_options(root), &RealProcesses)?)
}

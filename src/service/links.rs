//! The linked folders of a project, and changes to the user's own file of links.

use std::path::Path;

use super::resolved::{QuerySettings, ResolvedQuery, complete};
use super::sources::{SettingsSources, settings_error};
use crate::api::{ApiError, LinkState, LinksQuery, LinksState};
use crate::config::{Link, Links, LoadedConfig, NamedBy, Resource, links_text};
use crate::engine;
pub use crate::engine::LinkedSize;
use crate::model::{LinkedFolder, RelPath, path_bytes, path_text};
use crate::sys::{Disk, RealDisk, RealProcesses};

pub(super) fn resolve_links(settings: QuerySettings<'_>) -> ResolvedQuery {
    let links = settings.loaded.links.resources(settings.root).iter().map(link_state).collect();
    complete::<LinksQuery>(move |_| Ok(LinksState { links })).without_cache()
}

/// Returns a resource as clients see it.
pub fn link_state(resource: &Resource) -> LinkState {
    let LinkedFolder { name, kind, path, .. } = &resource.folder;
    let named_by = match resource.named_by {
        NamedBy::User => "user",
        NamedBy::Project => "project",
    };
    LinkState {
        name: name.clone(),
        kind: kind.name().to_owned(),
        path: path_text(path_bytes(path)),
        named_by: named_by.to_owned(),
        state: resource.state.name().to_owned(),
        reason: resource.state.reason().to_owned(),
    }
}

/// Replaces the links in the user's own file by the result of applying `change` to them.
pub fn edit_links(
    sources: &SettingsSources,
    root: &Path,
    change: impl FnOnce(&Links) -> Result<Vec<Link>, ApiError>,
) -> Result<(), ApiError> {
    let file = sources.links_file.as_deref().ok_or_else(|| {
        let hint = "set HOME or XDG_CONFIG_HOME, or name a file in SLOP_LINKS";
        ApiError::user("bad_settings", "no location is known for the file of links", hint)
    })?;
    let failed = |source| settings_error(&crate::config::Error::Write { path: file.to_owned(), source });
    let folder = file.parent().unwrap_or(Path::new("."));
    RealDisk.create_private_folder(folder).map_err(failed)?;
    // Of two commands at the same time, neither must lose the other's link.
    let _lock = RealDisk.lock_folder(folder).map_err(failed)?;
    let links = change(&sources.load(root)?.links)?;
    let text = links_text(links).ok_or_else(ApiError::bug)?;
    RealDisk.replace_private(file, text.as_bytes()).map_err(failed)
}

/// Returns whether a checkout is another worktree of the project's own repository, whose files duplicate those of the
/// project.
pub fn is_own_worktree(root: &Path, checkout: &Path) -> bool {
    engine::are_of_one_repository(root, checkout, &RealDisk)
}

/// Returns the checkouts within a linked folder, by their paths in it.
pub fn checkouts_within(
    folder: &LinkedFolder,
    root: &Path,
    loaded: &LoadedConfig,
) -> Result<Vec<RelPath>, ApiError> {
    Ok(engine::checkouts_within(folder, &loaded.engine_options(root), &RealProcesses)?)
}

/// Measures a folder that may be linked to the project in the folder `root`.
pub fn measure_linked(
    folder: &LinkedFolder,
    root: &Path,
    loaded: &LoadedConfig,
) -> Result<LinkedSize, ApiError> {
    Ok(engine::measure_linked(folder, &loaded.engine_options(root), &RealProcesses)?)
}

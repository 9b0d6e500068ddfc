//! Curated items that apply to no file of the project.

use crate::aggregate::{CuratedItems, Selector};
use crate::engine::artifacts::ArtifactCache;
use crate::engine::document::request::AggregationRequest;
use crate::engine::error::Error;
use crate::engine::index::listed_files;
use crate::engine::workspace::{KnownFile, Workspace};
use crate::model::{FileItem, MissingFile, RelPath, normalized_path};
use crate::sys::Files;

/// The name of an entry of the settings in the list of missing files.
const ITEM: &str = "an item of [[files]]";

/// The name of an entry of the question there.
const ENTRY: &str = "an entry of `items`";

/// Returns the items of the project and of the question that name a file that does not exist or lies outside of the
/// project, and those of the question whose patterns match none. Patterns of the project are not checked, because they
/// may be about other files.
pub(in crate::engine::document) fn absent_items(
    cache: &mut ArtifactCache<'_>,
    request: &AggregationRequest,
) -> Result<Vec<MissingFile>, Error> {
    let mut missing = absent_of(&cache.workspace, &request.items, ITEM);
    missing.extend(absent_of(&cache.workspace, &request.overrides, ENTRY));
    let is_pattern = |item: &FileItem| {
        Selector::new_lenient(&item.path).literal_path().is_none() && !leads_outside(&item.path)
    };
    let mut patterns = cache.workspace.relative_items(&request.overrides);
    patterns.retain(is_pattern);
    if !patterns.is_empty() {
        let patterns = CuratedItems::new(patterns);
        let listed = listed_files(cache)?;
        let [unmatched, _] = patterns.unmatched(&listed.paths().collect::<Vec<_>>());
        missing.extend(unmatched.into_iter().map(|item| missing_item(item, ENTRY)));
    }
    Ok(missing)
}

fn absent_of(workspace: &Workspace<'_>, items: &[FileItem], origin: &str) -> Vec<MissingFile> {
    let is_absent = |item: &&FileItem| {
        if leads_outside(&item.path) {
            return true;
        }
        let path = Selector::new_lenient(&item.path).literal_path();
        let stat = path.map(|path| workspace.files.stat(&path));
        stat.is_some_and(|stat| stat.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound))
    };
    let items = workspace.relative_items(items);
    items.iter().filter(is_absent).map(|item| missing_item(item, origin)).collect()
}

fn missing_item(item: &FileItem, origin: &str) -> MissingFile {
    let reason = if leads_outside(&item.path) {
        format!("{origin} whose path is outside of the project")
    } else {
        format!("{origin} that no file of the project answers to")
    };
    MissingFile { pattern: item.path.clone(), reason }
}

/// Returns whether a path or pattern, as [`Workspace::relative_items`] returns it, can match no file of the project.
fn leads_outside(path: &str) -> bool {
    std::path::Path::new(path).is_absolute() || normalized_path(path).split('/').next() == Some("..")
}

/// Returns the items whose patterns match none of the project's files.
pub(in crate::engine::document) fn unmatched_items(
    items: &CuratedItems,
    files: &[KnownFile],
) -> Vec<MissingFile> {
    let paths: Vec<&RelPath> = files.iter().map(|file| &file.path).collect();
    let origins = [ITEM, ENTRY];
    let missing = items
        .unmatched(&paths)
        .into_iter()
        .zip(origins)
        .flat_map(|(items, origin)| items.into_iter().map(move |item| missing_item(item, origin)));
    missing.collect()
}

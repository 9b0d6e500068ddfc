//! Writes documents to files, and deletes old numbered ones.

use std::io;
use std::path::{Path, PathBuf};

use crate::engine::artifacts::ArtifactCache;
use crate::engine::error::Error;
use crate::engine::workspace::Workspace;
use crate::model::{ContentHash, DocumentText, RelPath, path_bytes};
use crate::sys::{Disk, FileKind, Files};

/// The number of numbers that are tried, because another process may take one first.
const TRIES: usize = 1000;
/// A larger output is not recognized, and so is never deleted.
const MAX_BYTES: u64 = 1 << 30;

/// The record of an output: only by this is a file recognized as slop's own.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NumberedOutput {
    number: u64,
    file: String,
    content: ContentHash,
}

/// The numbered outputs that slop had written when a run began, without those that other runs write meanwhile.
#[derive(Debug)]
pub struct PriorOutputs(Vec<NumberedOutput>);

pub(in crate::engine) fn prior_outputs(cache: &ArtifactCache<'_>, folder: &Path, name: &str) -> PriorOutputs {
    let key = output_key(folder, "");
    // What the cache no longer knows is never pruned.
    let found = cache.store.as_ref().and_then(|store| store.list_meta(&key).ok()).unwrap_or_default();
    let mut written: Vec<NumberedOutput> = found
        .into_iter()
        .filter_map(|(entry, value)| {
            let file = entry.strip_prefix(&key)?.to_owned();
            let number = output_number(&file, name)?;
            Some(NumberedOutput { number, file, content: ContentHash::from_bytes(value.try_into().ok()?) })
        })
        .collect();
    written.sort_unstable_by_key(|one| one.number);
    PriorOutputs(written)
}

pub(in crate::engine) fn prune_outputs(
    cache: &mut ArtifactCache<'_>,
    folder: &Path,
    before: PriorOutputs,
    keep: u32,
) {
    let disk = cache.workspace.world.disk;
    let Some(spared) = usize::try_from(keep).ok().filter(|keep| 0 < *keep).map(|keep| keep - 1) else {
        return;
    };
    let place = cache.workspace.root.join(folder);
    let (ours, gone): (Vec<NumberedOutput>, Vec<NumberedOutput>) = before.0.into_iter().partition(|one| {
        let bytes = disk.read_prefix(&place.join(&one.file), MAX_BYTES);
        bytes.is_ok_and(|bytes| ContentHash::digest(&bytes) == one.content)
    });
    let doomed = ours.len().saturating_sub(spared);
    for old in &ours[..doomed] {
        match disk.remove_file(&place.join(&old.file)) {
            Ok(()) => {}
            // Another run has deleted it already.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                cache.workspace.note(format!("the old output {} could not be deleted: {error}", old.file));
            }
        }
    }
    let Some(store) = &mut cache.store else { return };
    for old in ours[..doomed].iter().chain(&gone) {
        // A stale record is deleted another time.
        let _ = store.delete_meta(&output_key(folder, &old.file));
    }
}

pub(in crate::engine) fn write_numbered(
    cache: &mut ArtifactCache<'_>,
    folder: &Path,
    name: &str,
    extension: &str,
    text: &DocumentText,
) -> Result<PathBuf, Error> {
    if !cache.workspace.options.trusts_project {
        refuse_links(cache.workspace.world.files, folder)?;
    }
    let (given, folder) = (folder, cache.workspace.root.join(folder));
    let disk = cache.workspace.world.disk;
    let names = disk.entry_names(&folder).map_err(|source| Error::Write { path: folder.clone(), source })?;
    ignore_new_folder(disk, &folder);
    let taken = names.iter().filter_map(|file| output_number(file.to_str()?, name)).max().unwrap_or(0);
    let mut path = folder.clone();
    for number in (taken + 1..).take(TRIES) {
        let file = format!("{name}_{number:03}.{extension}");
        path = folder.join(&file);
        // Never over an existing file, so that two runs at the same time do not lose a document.
        match disk.create_new_with(&path, &mut |file| write_pieces(file, text)) {
            Ok(()) => {
                record_output(cache, given, &file, text);
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(Error::Write { path, source }),
        }
    }
    let source = io::Error::new(io::ErrorKind::AlreadyExists, "every number tried was taken");
    Err(Error::Write { path, source })
}

/// Returns an error if the path to a folder of the project leads through a link, which could lead anywhere. A folder
/// elsewhere was named by the user, not by the project.
fn refuse_links(files: &dyn Files, folder: &Path) -> Result<(), Error> {
    let Ok(folder) = RelPath::new(path_bytes(folder)) else { return Ok(()) };
    for part in folder.ancestors().chain([folder.as_bytes()]) {
        let Ok(part) = RelPath::new(part) else { continue };
        if files.stat(&part).is_ok_and(|found| found.kind == FileKind::Symlink) {
            return Err(Error::OutputLink { link: part });
        }
    }
    Ok(())
}

/// Creates the folder if it is missing, with a `.gitignore` that keeps the documents in it from being committed. A
/// folder that exists belongs to its creator.
fn ignore_new_folder(disk: &dyn Disk, folder: &Path) {
    if disk.stamp(folder).is_ok_and(|found| found.is_none()) {
        // Another run may have created it meanwhile. If it cannot be created, writing the document reports that.
        let _ = disk.create_new(&folder.join(".gitignore"), b"*\n");
    }
}

fn record_output(cache: &mut ArtifactCache<'_>, folder: &Path, file: &str, text: &DocumentText) {
    let Some(store) = &mut cache.store else { return };
    let content = ContentHash::digest_pieces(text.pieces());
    if let Err(error) = store.set_meta(&output_key(folder, file), content.as_bytes()) {
        cache
            .workspace
            .note(format!("{file} will not be pruned, for the cache could not take it down: {error}"));
    }
}

/// Writes a text piece by piece, so that a long one is never in memory as a whole.
fn write_pieces(file: &mut dyn io::Write, text: &DocumentText) -> io::Result<()> {
    text.pieces().try_for_each(|piece| file.write_all(piece.as_bytes()))
}

pub(in crate::engine) fn write_file(
    workspace: &Workspace<'_>,
    path: &Path,
    text: &DocumentText,
) -> Result<(), Error> {
    let written = workspace.world.disk.replace_with(path, &mut |file| write_pieces(file, text));
    written.map_err(|source| Error::Write { path: path.to_owned(), source })
}

/// Returns the key under which the store records an output; the keys of a folder have a common prefix.
fn output_key(folder: &Path, file: &str) -> String {
    format!("output/{}/{file}", ContentHash::digest(folder.as_os_str().as_encoded_bytes()))
}

/// Returns the number in `{name}_{NNN}.{extension}`.
fn output_number(file: &str, name: &str) -> Option<u64> {
    let rest = file.strip_prefix(name)?.strip_prefix('_')?;
    let (number, _) = rest.split_once('.')?;
    // slop writes at least three digits, so `name_1.md` is a person's file.
    if number.len() < 3 || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // The next document takes the number after the highest, so the highest must have a successor.
    number.parse().ok().filter(|number| *number < u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::output_number;

    #[test]
    fn only_names_in_the_format_of_slop_have_a_number() {
        assert_eq!(output_number("app_007.md", "app"), Some(7));
        assert_eq!(output_number("app_1234.json", "app"), Some(1234));
        assert_eq!(output_number("app_x_007.md", "app"), None);
        assert_eq!(output_number("app_07.md", "app"), None);
        assert_eq!(output_number("app_007", "app"), None);
    }
}

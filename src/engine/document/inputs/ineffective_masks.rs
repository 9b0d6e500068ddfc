//! Masks and slices that have no effect. What a mask should hide is shown, and the file in another view than was
//! requested, so the answer reports it.

use std::collections::{HashMap, HashSet};

use crate::aggregate::{
    CuratedItems, Selector, hides_symbols, ineffective_hides, nearest_paths, unmatched_shown_keys,
};
use crate::engine::artifacts::{ArtifactCache, ContentRef};
use crate::engine::document::rendering::{FoundSlice, find_slices, slice_warnings};
use crate::engine::error::{Error, MAX_NEAREST};
use crate::engine::index::listed_files;
use crate::engine::workspace::KnownFile;
use crate::model::{FileItem, MaskMode, RelPath, SectionProblem};
use crate::syntax;

/// The maximum number of entries, and of names of one file, for which the nearest existing names are searched: that is
/// costly, and nobody reads it for hundreds.
const MAX_SUGGESTED: usize = 10;

/// Adds a note for each mask that hides or shows nothing, and for each lost slice of a question's own items, and returns
/// the notes as problems. The symbols of `files` have been hidden already.
pub(in crate::engine::document) fn note_ineffective_masks(
    cache: &mut ArtifactCache<'_>,
    items: &CuratedItems,
    files: &[KnownFile],
) -> Result<Vec<SectionProblem>, Error> {
    if !items.any(|item| !item.ast_mask.is_empty() || !item.custom_slices.is_empty()) {
        return Ok(Vec::new());
    }
    let mut errors = unmatched_paths(cache, items, files)?;
    errors.extend(unmatched_symbols(cache, items, files));
    errors.extend(lost_slices(cache, items, files));
    // What the project's settings hide was right once: that it is gone must not fail every later command.
    let renamed = renamed_symbols(cache, items, files);
    let problem = |is_error| move |reason| SectionProblem { section: "items", reason, is_error };
    let problems = errors.into_iter().map(problem(true)).chain(renamed.into_iter().map(problem(false)));
    let problems: Vec<SectionProblem> = problems.collect();
    for problem in &problems {
        cache.workspace.note(problem.reason.clone());
    }
    Ok(problems)
}

/// Returns the slices of the question's own entries that are not found in their files.
fn lost_slices(cache: &ArtifactCache<'_>, items: &CuratedItems, files: &[KnownFile]) -> Vec<String> {
    let lost = |file: &KnownFile| {
        let item = items.find_override(&file.path).filter(|item| !item.custom_slices.is_empty())?;
        let (hash, text) = cache.workspace.read_text(ContentRef::from_file(file)?.path).ok()?;
        let mut found = find_slices(&cache.workspace, &file.path, &hash, &text, &item.custom_slices);
        found.retain(FoundSlice::is_lost);
        Some(format!("{}: {}", file.path, slice_warnings(&found)?))
    };
    files.iter().filter_map(lost).collect()
}

/// Returns the names that the project's own entries for single files hide, but no symbol has any more. The symbol may
/// have been renamed, and is shown then.
fn renamed_symbols(cache: &ArtifactCache<'_>, items: &CuratedItems, files: &[KnownFile]) -> Vec<String> {
    let of_file = |file: &KnownFile| {
        items.own_position(&file.path)?;
        let item = items.find(&file.path)?;
        // Hardly any file has all symbols that a pattern hides.
        if Selector::new_lenient(&item.path).literal_path().as_ref() != Some(&file.path) {
            return None;
        }
        let hidden = cache.workspace.hidden.get(&file.path)?;
        let (text, outline) = (&hidden.original.1, hidden.outline.as_ref());
        let gone = ineffective_hides(text, outline, &item.ast_mask, MAX_SUGGESTED);
        let reason = |name| without_effect(item, HIDES, NO_SYMBOL, name);
        Some(gone.into_iter().map(reason).collect::<Vec<_>>())
    };
    files.iter().filter_map(of_file).flatten().collect()
}

const NO_SYMBOL: &str = "no symbol of the file";

/// Describes a name in the mask of an entry that has no effect.
fn without_effect(item: &FileItem, does: &str, what: &str, (key, near): UnknownName) -> String {
    let near = if near.is_empty() { String::new() } else { format!(" (nearest: {})", near.join(", ")) };
    format!("the mask for `{}` {does} nothing by `{key}`: {what} has that name{near}", item.path)
}

/// Returns the entries of the question that hide symbols but match no file of the project, selected or not: entries do
/// not select files, so an entry for a file that is not in the answer is not a mistake.
fn unmatched_paths(
    cache: &mut ArtifactCache<'_>,
    items: &CuratedItems,
    files: &[KnownFile],
) -> Result<Vec<String>, Error> {
    if !items.any(|item| hides_symbols(&item.ast_mask)) {
        return Ok(Vec::new());
    }
    let is_hiding = |item: &&FileItem| hides_symbols(&item.ast_mask);
    let selected = files.iter().filter(|file| ContentRef::from_file(file).is_some()).map(|file| &file.path);
    let mut known: Vec<&RelPath> = selected.collect();
    let [_, unmatched] = items.unmatched(&known);
    if !unmatched.iter().any(is_hiding) {
        return Ok(Vec::new());
    }
    let listed = listed_files(cache)?;
    known.extend(listed.paths().filter(|path| listed.may_show(path)));
    let [_, unmatched] = items.unmatched(&known);
    let reason = |(at, item): (usize, &FileItem)| {
        let most = if at < MAX_SUGGESTED { MAX_NEAREST } else { 0 };
        let near = nearest_paths(&item.path, known.iter().copied().filter(|_| 0 < most), most);
        let near = if near.is_empty() { String::new() } else { format!(" (nearest: {})", near.join(", ")) };
        format!("the mask for `{}` hides nothing: no file of the project has that path{near}", item.path)
    };
    Ok(unmatched.into_iter().filter(is_hiding).enumerate().map(reason).collect())
}

/// A name that matches no symbol of a file, with the nearest names.
type UnknownName = (String, Vec<String>);

/// The effect that a mask should have by such a name.
const HIDES: &str = "hides";
const SHOWS: &str = "shows";

/// Returns the names that have no effect in any of the files to which an entry of the question or of its preset
/// applies.
fn unmatched_symbols(
    cache: &mut ArtifactCache<'_>,
    items: &CuratedItems,
    files: &[KnownFile],
) -> Vec<String> {
    let mut entries: Vec<(&FileItem, Vec<&KnownFile>)> = Vec::new();
    let mut positions: HashMap<*const FileItem, usize> = HashMap::new();
    for file in files.iter().filter(|file| items.own_position(&file.path).is_none()) {
        let Some(item) = items.find(&file.path).filter(|item| !item.ast_mask.is_empty()) else { continue };
        let at = *positions.entry(std::ptr::from_ref(item)).or_insert_with(|| {
            entries.push((item, Vec::new()));
            entries.len() - 1
        });
        entries[at].1.push(file);
    }
    entries.into_iter().flat_map(|(item, files)| unmatched_of_entry(cache, item, &files)).collect()
}

/// Returns the names of an entry that have no effect in any of its files.
fn unmatched_of_entry(cache: &mut ArtifactCache<'_>, item: &FileItem, files: &[&KnownFile]) -> Vec<String> {
    // The nearest names are reported only for a single file.
    let suggested = if files.len() == 1 { MAX_SUGGESTED } else { 0 };
    let mut names: Option<Vec<(&'static str, UnknownName)>> = None;
    let mut known = 0;
    for file in files {
        let Some(gone) = gone_names(cache, file, &item.ast_mask, suggested) else { continue };
        known += 1;
        names = Some(match names {
            None => gone,
            Some(mut names) => {
                let gone: HashSet<&str> = gone.iter().map(|(_, (key, _))| key.as_str()).collect();
                names.retain(|(_, (key, _))| gone.contains(key.as_str()));
                names
            }
        });
    }
    let what = if known == 1 { NO_SYMBOL } else { "no symbol of its files in this answer" };
    names.into_iter().flatten().map(|(does, name)| without_effect(item, does, what, name)).collect()
}

/// Returns the names of a mask that have no effect on a file, with suggestions for the first of them; `None` if that is
/// not known.
fn gone_names(
    cache: &mut ArtifactCache<'_>,
    file: &KnownFile,
    mask: &[(String, MaskMode)],
    suggested: usize,
) -> Option<Vec<(&'static str, UnknownName)>> {
    let hidden = cache.workspace.hidden.get(&file.path);
    let hides =
        hidden.map(|hidden| ineffective_hides(&hidden.original.1, hidden.outline.as_ref(), mask, suggested));
    let shows = unknown_names(cache, file, mask, suggested);
    if hides.is_none() && shows.is_none() {
        return None;
    }
    let hides = hides.into_iter().flatten().map(|name| (HIDES, name));
    Some(hides.chain(shows.into_iter().flatten().map(|name| (SHOWS, name))).collect())
}

/// Returns the names of a mask that show nothing of a file; `None` if the mask should show nothing, or the file's
/// symbols are not known.
fn unknown_names(
    cache: &mut ArtifactCache<'_>,
    file: &KnownFile,
    mask: &[(String, MaskMode)],
    suggested: usize,
) -> Option<Vec<UnknownName>> {
    let subject = ContentRef::from_file(file)?;
    if shown_names(mask) == 0 || !syntax::has_structure(subject.file_type.id) {
        return None;
    }
    if let Some(hidden) = cache.workspace.hidden.of_content(subject.path, &subject.hash) {
        return Some(unmatched_shown_keys(hidden.outline.as_ref()?, mask, &hidden.mask, suggested));
    }
    let outline = cache.outline(&subject).filter(|outline| outline.health.fallback.is_none())?;
    Some(unmatched_shown_keys(&outline, mask, &[], suggested))
}

/// Returns whether a mask should show some symbols of a file, and none of them exists.
pub(in crate::engine::document) fn shows_nothing(
    cache: &mut ArtifactCache<'_>,
    file: &KnownFile,
    mask: &[(String, MaskMode)],
) -> bool {
    unknown_names(cache, file, mask, 0).is_some_and(|gone| gone.len() == shown_names(mask))
}

fn shown_names(mask: &[(String, MaskMode)]) -> usize {
    mask.iter().filter(|(_, mode)| *mode != MaskMode::Hide).count()
}

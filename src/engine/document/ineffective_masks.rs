//! Masks of a question that are to hide or to show something and do not. What they were to hide is shown, and the file in
//! another view than was asked for, so the answer says it.

use crate::aggregate::{CuratedItems, hides_symbols, ineffective_hides, nearest_paths, unmatched_shown_keys};
use crate::engine::artifacts::{ArtifactCache, ContentRef};
use crate::engine::error::Error;
use crate::engine::index::listed_files;
use crate::engine::workspace::KnownFile;
use crate::model::{FileItem, MaskMode, RelPath, SectionProblem};
use crate::syntax;

/// The maximum number of paths that are suggested in place of one that is none.
const MAX_NEAREST: usize = 3;

/// Adds a note for each mask of a question's own items that hides or shows nothing, and returns the notes as problems. The symbols
/// of `files` have been hidden already.
pub(super) fn note_ineffective_masks(
    cache: &mut ArtifactCache<'_>,
    items: &CuratedItems,
    files: &[KnownFile],
) -> Result<Vec<SectionProblem>, Error> {
    if !items.any(|item| !item.ast_mask.is_empty()) {
        return Ok(Vec::new());
    }
    let mut reasons = unmatched_paths(cache, items, files)?;
    reasons.extend(unmatched_symbols(cache, items, files));
    for reason in &reasons {
        cache.workspace.note(reason.clone());
    }
    let problem = |reason| SectionProblem { section: "items", reason, is_error: true };
    Ok(reasons.into_iter().map(problem).collect())
}

/// Returns the entries of the question that hide symbols of no file of the project, selected or not: entries do not select
/// files, so that one for a file that is not in the answer is no mistake.
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
    let reason = |item: &FileItem| {
        let near = nearest_paths(&item.path, known.iter().copied(), MAX_NEAREST);
        let near = if near.is_empty() { String::new() } else { format!(" (nearest: {})", near.join(", ")) };
        format!("the mask for `{}` hides nothing: no file of the project has that path{near}", item.path)
    };
    Ok(unmatched.into_iter().filter(is_hiding).map(reason).collect())
}

/// A name that is none of the symbols of a file, with those nearest to it.
type UnknownName = (String, Vec<String>);

/// What a mask was to do by such a name.
const HIDES: &str = "hides";
const SHOWS: &str = "shows";

/// The names by which an entry has no effect on its files so far, each with what it was to do.
struct IneffectiveEntry<'i> {
    item: &'i FileItem,
    names: Vec<(&'static str, UnknownName)>,
    files: usize,
}

/// Returns the names that have no effect in any of the files to which an entry of the question or of its preset applies.
fn unmatched_symbols(
    cache: &mut ArtifactCache<'_>,
    items: &CuratedItems,
    files: &[KnownFile],
) -> Vec<String> {
    let mut found: Vec<IneffectiveEntry<'_>> = Vec::new();
    let given = files.iter().filter(|file| items.own_position(&file.path).is_none());
    for file in given {
        let Some(item) = items.find(&file.path).filter(|item| !item.ast_mask.is_empty()) else { continue };
        let Some(gone) = gone_names(cache, file, &item.ast_mask) else { continue };
        match found.iter_mut().find(|known| std::ptr::eq(known.item, item)) {
            Some(known) => {
                known.names.retain(|(_, (key, _))| gone.iter().any(|(_, (other, _))| other == key));
                known.files += 1;
            }
            None => found.push(IneffectiveEntry { item, names: gone, files: 1 }),
        }
    }
    let reasons = found.into_iter().flat_map(|IneffectiveEntry { item, names, files }| {
        names.into_iter().map(move |(does, (key, near))| {
            let what =
                if files == 1 { "no symbol of the file" } else { "no symbol of its files in this answer" };
            let near = if files == 1 && !near.is_empty() {
                format!(" (nearest: {})", near.join(", "))
            } else {
                String::new()
            };
            format!("the mask for `{}` {does} nothing by `{key}`: {what} has that name{near}", item.path)
        })
    });
    reasons.collect()
}

/// Returns the names by which a mask has no effect on a file; `None` if that is not known.
fn gone_names(
    cache: &mut ArtifactCache<'_>,
    file: &KnownFile,
    mask: &[(String, MaskMode)],
) -> Option<Vec<(&'static str, UnknownName)>> {
    let hidden = cache.workspace.hidden.get(&file.path);
    let hides = hidden.map(|hidden| ineffective_hides(&hidden.original.1, hidden.outline.as_ref(), mask));
    let shows = unknown_names(cache, file, mask);
    if hides.is_none() && shows.is_none() {
        return None;
    }
    let hides = hides.into_iter().flatten().map(|name| (HIDES, name));
    Some(hides.chain(shows.into_iter().flatten().map(|name| (SHOWS, name))).collect())
}

/// Returns the names by which a mask shows nothing of a file; `None` if it is to show nothing, or the file's symbols are not
/// known.
fn unknown_names(
    cache: &mut ArtifactCache<'_>,
    file: &KnownFile,
    mask: &[(String, MaskMode)],
) -> Option<Vec<UnknownName>> {
    let subject = ContentRef::from_file(file)?;
    if shown_names(mask) == 0 || !syntax::has_structure(subject.file_type.id) {
        return None;
    }
    if let Some(hidden) = cache.workspace.hidden.of_content(subject.path, &subject.hash) {
        return Some(unmatched_shown_keys(hidden.outline.as_ref()?, mask, &hidden.mask));
    }
    let outline = cache.outline(&subject).filter(|outline| outline.health.fallback.is_none())?;
    Some(unmatched_shown_keys(&outline, mask, &[]))
}

/// Returns whether a mask is to show some symbols of a file, and none of them is there.
pub(super) fn shows_nothing(
    cache: &mut ArtifactCache<'_>,
    file: &KnownFile,
    mask: &[(String, MaskMode)],
) -> bool {
    unknown_names(cache, file, mask).is_some_and(|gone| gone.len() == shown_names(mask))
}

fn shown_names(mask: &[(String, MaskMode)]) -> usize {
    mask.iter().filter(|(_, mode)| *mode != MaskMode::Hide).count()
}

//! Masks of a question that are to hide something and hide nothing. What they were to hide is shown, so the answer says it.

use crate::aggregate::{CuratedItems, hides_symbols, ineffective_hides, nearest_paths};
use crate::engine::artifacts::{ArtifactCache, ContentRef};
use crate::engine::error::Error;
use crate::engine::index::listed_files;
use crate::engine::workspace::{KnownFile, Workspace};
use crate::model::{FileItem, RelPath, SectionProblem};

/// So many paths are suggested in place of one that is none.
const MAX_NEAREST: usize = 3;

/// Adds a note for each mask of a question's own items that hides nothing, and returns the notes as problems. The symbols
/// of `files` have been hidden already.
pub(super) fn note_ineffective_hides(
    cache: &mut ArtifactCache<'_>,
    items: &CuratedItems,
    files: &[KnownFile],
) -> Result<Vec<SectionProblem>, Error> {
    if !items.any(|item| hides_symbols(&item.ast_mask)) {
        return Ok(Vec::new());
    }
    let mut reasons = unmatched_paths(cache, items, files)?;
    reasons.extend(unmatched_symbols(&cache.workspace, items, files));
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

/// A name that is none of the symbols of the files of an entry so far, with those nearest to it.
type UnknownName = (String, Vec<String>);

/// Returns the names that hide nothing in any of the files to which an entry of the question or of its preset applies.
fn unmatched_symbols(workspace: &Workspace<'_>, items: &CuratedItems, files: &[KnownFile]) -> Vec<String> {
    let mut found: Vec<(&FileItem, Vec<UnknownName>, usize)> = Vec::new();
    let given = files.iter().filter(|file| items.own_position(&file.path).is_none());
    for file in given {
        let Some(item) = items.find(&file.path).filter(|item| hides_symbols(&item.ast_mask)) else {
            continue;
        };
        let Some(hidden) = workspace.hidden.get(&file.path) else { continue };
        let gone = ineffective_hides(&hidden.original.1, hidden.outline.as_ref(), &item.ast_mask);
        match found.iter_mut().find(|(known, ..)| std::ptr::eq(*known, item)) {
            Some((_, known, files)) => {
                known.retain(|(key, _)| gone.iter().any(|(other, _)| other == key));
                *files += 1;
            }
            None => found.push((item, gone, 1)),
        }
    }
    let reasons = found.into_iter().flat_map(|(item, gone, files)| {
        gone.into_iter().map(move |(key, near)| {
            let what =
                if files == 1 { "no symbol of the file" } else { "no symbol of its files in this answer" };
            let near = if files == 1 && !near.is_empty() {
                format!(" (nearest: {})", near.join(", "))
            } else {
                String::new()
            };
            format!("the mask for `{}` hides nothing by `{key}`: {what} has that name{near}", item.path)
        })
    });
    reasons.collect()
}

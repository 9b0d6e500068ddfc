//! Hides what masks hide: replaces selected files by what is left of them.

use std::collections::HashMap;

use super::cache::ArtifactCache;
use super::derive::{IdentifiedText, derive, identify};
use super::lookup::ContentRef;
use crate::aggregate::{
    CuratedItems, HiddenLines, hide_mentions, hide_symbols, hides_symbols, unmatched_hidden_keys,
};
use crate::discover::HeaderNeighbors;
use crate::engine::workspace::{HashedText, HiddenSymbols, KnownFile, KnownState, Workspace};
use crate::model::{ContentHash, FileType, MaskMode, Outline, RelPath, SkipReason};
use crate::store::ArtifactBody;

/// A mask, as an item has it.
type Mask = [(String, MaskMode)];

/// Returns whether a mask of the project's settings hides symbols of any file.
pub(in crate::engine) fn hides_by_settings(cache: &ArtifactCache<'_>) -> bool {
    cache.workspace.options.items.iter().any(|item| hides_symbols(&item.ast_mask))
}

/// Hides what the masks of the project's settings hide of these files.
pub(in crate::engine) fn hide_by_settings(cache: &mut ArtifactCache<'_>, files: &mut [KnownFile]) {
    if hides_by_settings(cache) {
        let items = CuratedItems::new(cache.workspace.relative_items(&cache.workspace.options.items));
        hide(cache, &items, files, &mut HashMap::new());
    }
}

/// Hides what the masks of these items hide of the files. Texts that were read already are replaced too.
pub(in crate::engine) fn hide(
    cache: &mut ArtifactCache<'_>,
    items: &CuratedItems,
    files: &mut [KnownFile],
    texts: &mut HashMap<RelPath, HashedText>,
) {
    if !items.any(|item| hides_symbols(&item.ast_mask)) {
        return;
    }
    for file in files {
        let Some(item) = items.find(&file.path).filter(|item| hides_symbols(&item.ast_mask)) else {
            continue;
        };
        let Some(subject) = ContentRef::from_file(file) else { continue };
        match hidden_symbols(cache, &subject, &item.ast_mask, texts.remove(&file.path)) {
            Ok(hidden) => {
                if let KnownState::Content { hash, .. } = &mut file.state {
                    *hash = hidden.visible.0;
                }
                cache.workspace.hidden.insert(file.path.clone(), hidden);
            }
            // The file is not what it was when it was selected; what it was cannot be shown either.
            Err(reason) => file.state = KnownState::LeftOut(reason),
        }
    }
}

fn hidden_symbols(
    cache: &mut ArtifactCache<'_>,
    subject: &ContentRef<'_>,
    mask: &Mask,
    text: Option<HashedText>,
) -> Result<HiddenSymbols, SkipReason> {
    let outline = cache.outline(subject).filter(|outline| outline.health.fallback.is_none());
    let original = text.map_or_else(|| cache.workspace.read_text(subject.path), Ok)?;
    if original.0 != subject.hash {
        return Err(SkipReason::Unstable);
    }
    let language = subject.file_type.id;
    let text = |lines| visible_text(&original.1, outline.as_ref(), mask, language, lines);
    let (visible, shown) = (text(HiddenLines::Blank), text(HiddenLines::Removed));
    let visible = (ContentHash::digest(visible.as_bytes()), visible);
    let (mask, file_type) = (mask.to_vec(), subject.file_type);
    Ok(HiddenSymbols { mask, file_type, original, outline, visible, shown })
}

/// Returns a text without what a mask hides. Where a symbol cannot be found although it may be there, the lines that
/// mention it are hidden.
fn visible_text(
    text: &str,
    outline: Option<&Outline>,
    mask: &Mask,
    language: &str,
    lines: HiddenLines,
) -> String {
    let Some(outline) = outline else {
        let keys = mask.iter().filter(|(_, mode)| *mode == MaskMode::Hide).map(|(key, _)| key.as_str());
        return hide_mentions(text, &keys.collect::<Vec<_>>());
    };
    let hidden = hide_symbols(text, outline, mask, language, lines);
    let lost = if outline.health.is_perfect() { Vec::new() } else { unmatched_hidden_keys(outline, mask) };
    if lost.is_empty() { hidden } else { hide_mentions(&hidden, &lost) }
}

/// Returns another version of a file's text, as git has it, without what is hidden of the file; `None` if nothing is.
pub(in crate::engine) fn hide_in_version(
    workspace: &Workspace<'_>,
    path: &RelPath,
    text: &str,
) -> Option<String> {
    let hidden = workspace.hidden.get(path)?;
    Some(visible_version(workspace, path, text, hidden.file_type, &hidden.mask))
}

/// Returns a text that is not saved yet, without what the masks of the project's settings hide of its file; `None` if
/// nothing is.
pub(in crate::engine) fn hide_in_buffer(
    workspace: &Workspace<'_>,
    path: &RelPath,
    text: &str,
    file_type: &'static FileType,
) -> Option<String> {
    let items = CuratedItems::new(workspace.relative_items(&workspace.options.items));
    let item = items.find(path).filter(|item| hides_symbols(&item.ast_mask))?;
    Some(visible_version(workspace, path, text, file_type, &item.ast_mask))
}

fn visible_version(
    workspace: &Workspace<'_>,
    path: &RelPath,
    text: &str,
    file_type: &'static FileType,
    mask: &Mask,
) -> String {
    let outline = outline_of_text(workspace, path, text, file_type);
    let outline = outline.filter(|outline| outline.health.fallback.is_none());
    visible_text(text, outline.as_ref(), mask, file_type.id, HiddenLines::Blank)
}

/// Returns the outline of a text that need not be that of a file, and stores nothing; `None` if the type has none.
pub(in crate::engine) fn outline_of_text(
    workspace: &Workspace<'_>,
    path: &RelPath,
    text: &str,
    file_type: &'static FileType,
) -> Option<Outline> {
    let content = identify(path, text.as_bytes(), &HeaderNeighbors::default()).ok()?;
    let content = IdentifiedText { file_type, ..content };
    let derived = derive(&content, workspace.options.parse_timeout, &workspace.steps);
    derived.artifacts.into_iter().find_map(|(_, body)| match body {
        ArtifactBody::Outline(outline) => Some(outline),
        _ => None,
    })
}

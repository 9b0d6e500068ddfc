//! Applies masks that hide symbols: replaces selected files by their visible text.

use std::collections::HashMap;

use super::cache::ArtifactCache;
use super::derive::{IdentifiedText, derive, identify};
use super::lookup::ContentRef;
use crate::aggregate::{
    CuratedItems, HiddenLines, OutlinedText, SymbolsByName, hide_mentions, hide_symbols, hides_same_earlier,
    hides_symbols, unmatched_hidden_keys,
};
use crate::discover;
use crate::discover::HeaderNeighbors;
use crate::engine::workspace::{HashedText, HiddenSymbols, KnownFile, KnownState, Workspace};
use crate::model::{ContentHash, FileType, MaskMode, Outline, RelPath, SkipReason};
use crate::store::ArtifactBody;

/// A mask, as in an item.
type Mask = [(String, MaskMode)];

/// Returns whether a mask of the project's settings hides symbols of any file.
pub(in crate::engine) fn hides_by_settings(cache: &ArtifactCache<'_>) -> bool {
    cache.workspace.options.items.iter().any(|item| hides_symbols(&item.ast_mask))
}

/// Applies the hiding masks of the project's settings to these files.
pub(in crate::engine) fn hide_by_settings(cache: &mut ArtifactCache<'_>, files: &mut [KnownFile]) {
    if hides_by_settings(cache) {
        let items = CuratedItems::new(cache.workspace.relative_items(&cache.workspace.options.items));
        hide(cache, &items, files, &mut HashMap::new());
    }
}

/// Applies the hiding masks of these items to the files, including texts that were already read.
pub(in crate::engine) fn hide(
    cache: &mut ArtifactCache<'_>,
    items: &CuratedItems,
    files: &mut [KnownFile],
    texts: &mut HashMap<RelPath, HashedText>,
) {
    if !items.any(|item| hides_symbols(&item.ast_mask)) {
        return;
    }
    cache.workspace.hidden.keys.extend(items.hidden_keys().into_iter().map(str::to_owned));
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
            // The file has changed since it was selected, so its earlier content cannot be shown either.
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
    let visible = text(HiddenLines::Blank);
    let shown = if visible == original.1 { visible.clone() } else { text(HiddenLines::Removed) };
    let visible = (ContentHash::digest(visible.as_bytes()), visible);
    Ok(HiddenSymbols { mask: mask.to_vec(), original, outline, visible, shown })
}

/// Returns a text without what a mask hides. If a symbol cannot be found although it may exist, the lines that mention
/// it are hidden.
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

/// An earlier text of a file, and the visible current one, if there is one.
#[derive(Debug)]
pub(in crate::engine) struct TextVersions<'t> {
    pub(in crate::engine) old: String,
    pub(in crate::engine) new: Option<&'t str>,
}

/// An earlier version of a file, without hidden parts.
#[derive(Debug)]
pub(in crate::engine) struct EarlierVersion {
    pub(in crate::engine) text: String,
    /// Whether something that was removed from the file may be a symbol that is hidden now, under its former name.
    pub(in crate::engine) may_show_hidden: bool,
    /// Whether the file's own mask hides a name that the text does not contain.
    pub(in crate::engine) lacks_hidden: bool,
}

/// Returns an earlier text of a file without hidden parts: without what `mask`, which is the file's own, hides; and
/// without symbols that are hidden in any other file and no longer exist in this one, because they may have been moved
/// there.
pub(in crate::engine) fn hide_in_earlier(
    workspace: &Workspace<'_>,
    path: &RelPath,
    TextVersions { old, new }: TextVersions<'_>,
    mask: &Mask,
    file_type: &'static FileType,
) -> EarlierVersion {
    if workspace.hidden.keys.is_empty() {
        return EarlierVersion { text: old, may_show_hidden: false, lacks_hidden: false };
    }
    let outline_of = |text: &str| known_outline(workspace, path, text, file_type);
    let hidden = workspace.hidden.get(path);
    let old_outline = outline_of(&old);
    let mut keys: Vec<(String, MaskMode)> = if hides_symbols(mask) { mask.to_vec() } else { Vec::new() };
    if let Some(old_outline) = &old_outline {
        let new_outline = match hidden {
            Some(hidden) => hidden.outline.clone(),
            None => new.and_then(outline_of),
        };
        let new_symbols = new_outline.as_ref().map(SymbolsByName::new).unwrap_or_default();
        let old_symbols = SymbolsByName::new(old_outline);
        let gone = workspace.hidden.keys.iter().filter(|key| new_symbols.has_lost(&old_symbols, key));
        keys.extend(gone.map(|key| (key.clone(), MaskMode::Hide)));
    }
    let may_show_hidden = hidden.is_some_and(|hidden| {
        let old = OutlinedText { text: &old, outline: old_outline.as_ref() };
        let new = OutlinedText { text: &hidden.original.1, outline: hidden.outline.as_ref() };
        !hidden.hides_nothing() && !hides_same_earlier(old, new, &hidden.mask)
    });
    let lacks_hidden =
        old_outline.as_ref().is_some_and(|outline| !unmatched_hidden_keys(outline, mask).is_empty());
    let text = if hides_symbols(&keys) {
        visible_text(&old, old_outline.as_ref(), &keys, file_type.id, HiddenLines::Blank)
    } else {
        old
    };
    EarlierVersion { text, may_show_hidden, lacks_hidden }
}

/// Returns whether an earlier text of a file with hidden symbols, from which these were removed, contains a symbol that
/// the file no longer has: it may now be hidden under another name.
pub(in crate::engine) fn has_lost_symbols(
    workspace: &Workspace<'_>,
    path: &RelPath,
    old: &str,
    hidden: &HiddenSymbols,
    file_type: &'static FileType,
) -> bool {
    let outlines = known_outline(workspace, path, old, file_type).zip(hidden.outline.as_ref());
    outlines.is_none_or(|(old, new)| !SymbolsByName::new(new).has_all_of(&SymbolsByName::new(&old)))
}

/// Returns an unsaved text without what the masks of the project's settings hide in its file; `None` if they hide
/// nothing.
pub(in crate::engine) fn hide_in_buffer(
    workspace: &Workspace<'_>,
    path: &RelPath,
    text: &str,
    file_type: &'static FileType,
) -> Option<String> {
    let items = CuratedItems::new(workspace.relative_items(&workspace.options.items));
    let item = items.find(path).filter(|item| hides_symbols(&item.ast_mask))?;
    let outline = known_outline(workspace, path, text, file_type);
    Some(visible_text(text, outline.as_ref(), &item.ast_mask, file_type.id, HiddenLines::Blank))
}

fn known_outline(
    workspace: &Workspace<'_>,
    path: &RelPath,
    text: &str,
    file_type: &'static FileType,
) -> Option<Outline> {
    outline_of_text(workspace, path, text, file_type).filter(|outline| outline.health.fallback.is_none())
}

/// Returns the type of a text that may not be a file's.
pub(in crate::engine) fn type_of_text(path: &RelPath, text: &str) -> &'static FileType {
    let content = identify(path, text.as_bytes(), &HeaderNeighbors::default());
    content.map_or_else(|_| discover::unknown_type(), |content| content.file_type)
}

/// Returns the outline of a text that may not be a file's, without storing it; `None` if the type has none.
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

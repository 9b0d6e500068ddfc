//! Shows a file as the changes since its delivery to the reader.
//!
//! How much is known of the delivered version depends on the view. For a file that was shown in full, the texts are
//! compared; for a part of it, such as slices or a mask, only the parts, so that nothing else is named. For a view
//! derived from the structure, the symbols are compared by the hashes of their lines, regardless of what the view shows
//! of them.

use crate::aggregate;
use crate::aggregate::{Delta, DeltaOptions, FileVersion};
use crate::engine::artifacts::{ArtifactCache, ContentRef, StoredStructure, producer, stored_structure};
use crate::engine::document::rendering::Renderer;
use crate::engine::workspace::Workspace;
use crate::model::{
    ArtifactKind, ContentHash, DocumentBlock, FileRole, FileType, Outline, RelPath, Symbol, ViewMode,
};
use crate::store::DeliveredFile;
use crate::{render, summarize, syntax};

/// The maximum number of symbols that are named for a file that is not source code: a table of data may have thousands.
const MAX_DATA_SYMBOLS: usize = 40;
/// The base of a delta, as it is named in the document.
pub(super) const BASE: &str = "the last aggregation";

/// A version of a file that a reader has.
pub(super) struct DeliveredVersion<'a> {
    pub(in crate::engine::document) row: &'a DeliveredFile,
    /// The text that was shown, if it was kept.
    pub(in crate::engine::document) text: Option<String>,
}

/// Returns whether a view is derived from the structure of a file, so that the file can change while the view stays the
/// same.
pub(super) const fn is_of_structure(view: ViewMode) -> bool {
    match view {
        ViewMode::Skeleton
        | ViewMode::Outline
        | ViewMode::Summary
        | ViewMode::Signatures
        | ViewMode::Excerpt => true,
        ViewMode::Full
        | ViewMode::Window
        | ViewMode::Masked
        | ViewMode::Custom
        | ViewMode::Diff
        | ViewMode::Delta
        | ViewMode::Definitions
        | ViewMode::Names
        | ViewMode::Path
        | ViewMode::None => false,
    }
}

/// Returns a block with the changes from the delivered version to `settled`, which shows the current one in the same
/// view. `None` if that would be larger than `settled`, or the delivered version is not known.
pub(super) fn delta_block(
    renderer: &mut Renderer<'_, '_>,
    subject: &ContentRef<'_>,
    delivered: &DeliveredVersion<'_>,
    settled: &DocumentBlock,
) -> Option<DocumentBlock> {
    let view = settled.view;
    let Delta { text: body, has_removed } = delta(renderer.cache, subject, delivered, settled)?;
    let mut block =
        DocumentBlock { view: ViewMode::Delta, body: body.into(), summary: None, ..settled.clone() };
    if view != ViewMode::Full {
        let before =
            if view == ViewMode::Path { "only named".to_owned() } else { format!("shown as {view}") };
        block.remarks.push(format!("{before} before"));
    }
    // A summary, or an unchanged skeleton, does not show what has changed, however small it is, and no view shows what
    // was removed.
    let shows_change = !has_removed
        && !matches!(view, ViewMode::Summary | ViewMode::Excerpt | ViewMode::Path)
        && delivered.text.as_ref().is_none_or(|text| *text != settled.body.text());
    let is_larger = render::block_text(settled).len() <= render::block_text(&block).len();
    (!(shows_change && is_larger)).then_some(block)
}

fn delta(
    cache: &mut ArtifactCache<'_>,
    subject: &ContentRef<'_>,
    delivered: &DeliveredVersion<'_>,
    settled: &DocumentBlock,
) -> Option<Delta> {
    let text = delivered.text.as_deref();
    // Only the view differs, for example because a model has written a new summary.
    if delivered.row.wanted == subject.hash {
        return Some(view_delta(subject, text?, &settled.body.text(), None, None));
    }
    match settled.view {
        ViewMode::Full => full_delta(cache, subject, delivered, &settled.body.text()),
        ViewMode::Masked | ViewMode::Definitions => {
            let outline = |text: &str| parsed_outline(&cache.workspace, subject.file_type, text);
            let (old, new) = (outline(text?), outline(&settled.body.text()));
            Some(view_delta(subject, text?, &settled.body.text(), old.as_ref(), new.as_ref()))
        }
        ViewMode::Window | ViewMode::Custom => {
            Some(view_delta(subject, text?, &settled.body.text(), None, None))
        }
        ViewMode::Path => compared_structures(cache, subject, delivered),
        view if is_of_structure(view) => Some(structure_delta(cache, subject, delivered, settled)),
        _ => None,
    }
}

/// Returns a block that says that a file had another path before.
pub(super) fn renamed_block(settled: &DocumentBlock, old: &RelPath) -> DocumentBlock {
    let body = format!("@@ renamed from {old}, with the same content\n");
    DocumentBlock { view: ViewMode::Delta, body: body.into(), summary: None, ..settled.clone() }
}

fn full_delta(
    cache: &mut ArtifactCache<'_>,
    subject: &ContentRef<'_>,
    delivered: &DeliveredVersion<'_>,
    text: &str,
) -> Option<Delta> {
    let old_text = delivered.text.as_deref()?;
    let old_outline = stored_outline(cache, &delivered.row.wanted, subject.file_type)
        .or_else(|| parsed_outline(&cache.workspace, subject.file_type, old_text));
    let new_outline = cache.outline(subject);
    // With the symbols of only one side, all of them would look added or removed.
    let outlines = old_outline.zip(new_outline);
    let (old_outline, new_outline) =
        outlines.as_ref().map_or((None, None), |(old, new)| (Some(old), Some(new)));
    let old = FileVersion::from_text(old_outline, old_text);
    let new = FileVersion::from_text(new_outline, text);
    Some(aggregate::render_delta(&old, &new, &options(subject, true)))
}

/// Compares what was shown with what would be shown now.
fn view_delta(
    subject: &ContentRef<'_>,
    old: &str,
    new: &str,
    old_outline: Option<&Outline>,
    new_outline: Option<&Outline>,
) -> Delta {
    let (old, new) = (FileVersion::from_text(old_outline, old), FileVersion::from_text(new_outline, new));
    aggregate::render_delta(&old, &new, &options(subject, false))
}

/// Compares the symbols of two versions, or the views if the symbols of the delivered version are not known.
fn structure_delta(
    cache: &mut ArtifactCache<'_>,
    subject: &ContentRef<'_>,
    delivered: &DeliveredVersion<'_>,
    settled: &DocumentBlock,
) -> Delta {
    if let Some(delta) = compared_structures(cache, subject, delivered) {
        return delta;
    }
    match &delivered.text {
        Some(text) if !settled.body.is_empty() && *text != settled.body.text() => {
            view_delta(subject, text, &settled.body.text(), None, None)
        }
        _ => {
            let path = subject.path.to_argument();
            Delta { text: format!("@@ changed: slop view {path}\n"), has_removed: false }
        }
    }
}

/// Compares the symbols of two versions; `None` if those of either are not known.
fn compared_structures(
    cache: &mut ArtifactCache<'_>,
    subject: &ContentRef<'_>,
    delivered: &DeliveredVersion<'_>,
) -> Option<Delta> {
    let is_config = matches!(subject.file_type.role, FileRole::Config(_));
    // A value may be a password, which these views do not show either.
    let signature = |symbol: &Symbol| {
        if is_config { symbol.name.clone() } else { summarize::safe_signature(symbol) }
    };
    let version = |structure: StoredStructure| {
        FileVersion::from_structure(&structure.outline, structure.hashes, &signature)
    };
    let old = stored_structure(cache, &delivered.row.wanted, subject.file_type).and_then(version)?;
    let new = cache.current_structure(subject).and_then(version)?;
    Some(aggregate::render_delta(&old, &new, &options(subject, true)))
}

/// Returns the names in a delta, on one line.
pub(super) fn named_changes(delta: &DocumentBlock) -> String {
    let text = delta.body.text();
    let labels = text.lines().filter_map(|line| line.strip_prefix("@@ "));
    let labels: Vec<&str> = labels.filter(|label| !label.starts_with("slop view ")).collect();
    format!("since {BASE}: {}", labels.join("; "))
}

fn options<'a>(subject: &ContentRef<'a>, is_file_text: bool) -> DeltaOptions<'a> {
    let is_code = subject.file_type.role == FileRole::Code;
    let max_symbols = if is_code { usize::MAX } else { MAX_DATA_SYMBOLS };
    DeltaOptions { path: subject.path, is_file_text, max_symbols }
}

fn stored_outline(
    cache: &mut ArtifactCache<'_>,
    hash: &ContentHash,
    file_type: &'static FileType,
) -> Option<Outline> {
    let by = producer(ArtifactKind::Outline, file_type)?;
    cache.query_store(|store| store.outline(&by, hash)).flatten()
}

/// Returns the outline of a text that is not the file's own.
fn parsed_outline(workspace: &Workspace<'_>, file_type: &FileType, text: &str) -> Option<Outline> {
    let (clock, timeout) = (workspace.world.clock, workspace.options.parse_timeout);
    let began = clock.thread_time();
    let mut give_up = || timeout < clock.thread_time().saturating_sub(began);
    syntax::derive(file_type.id, text, &mut give_up).map(|structure| structure.outline)
}

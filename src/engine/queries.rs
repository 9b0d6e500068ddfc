//! Outlines and slices of single files: only those files are read, so that an answer takes milliseconds.

use super::error::Error;
use crate::engine::artifacts::{ArtifactCache, ContentRef, hide_by_settings};
use crate::engine::index::{FileSelection, Trust, note_unreadable, resolve_names, select_named};
use crate::engine::workspace::{KnownFile, KnownState, Workspace, with_byte_order_mark};
use crate::model::{
    ContentHash, FileType, Outline, RelPath, SkipReason, Slice, SliceResolution, SliceStatus, ViewMode,
};
use crate::sys::{FileKind, Files};
use crate::{aggregate, slices};

#[derive(Debug, Clone)]
pub struct OutlineAnswer {
    pub path: RelPath,
    pub hash: ContentHash,
    pub file_type: &'static FileType,
    pub lines: u32,
    pub outline: Outline,
}

impl OutlineAnswer {
    /// Returns the symbols, one per line.
    pub fn text(&self) -> String {
        aggregate::render_outline(&self.outline)
    }
}

pub(super) fn outlines(
    cache: &mut ArtifactCache<'_>,
    words: &[String],
    trust: Trust,
) -> Result<Vec<OutlineAnswer>, Error> {
    outlines_among(cache, words, trust, hide_by_settings)
}

/// Returns the outlines of files including hidden symbols, for editing masks.
pub(super) fn unmasked_outlines(
    cache: &mut ArtifactCache<'_>,
    words: &[String],
    trust: Trust,
) -> Result<Vec<OutlineAnswer>, Error> {
    outlines_among(cache, words, trust, |_, _| {})
}

fn outlines_among(
    cache: &mut ArtifactCache<'_>,
    words: &[String],
    trust: Trust,
    hide: fn(&mut ArtifactCache<'_>, &mut [KnownFile]),
) -> Result<Vec<OutlineAnswer>, Error> {
    let words = resolve_names(cache, words)?;
    let FileSelection { mut files, named: by_name, .. } = select_named(cache, &words, trust, &|_| false)?;
    hide(cache, &mut files);
    // A selection lists files named by path first, in the order of the arguments.
    files.sort_by(|a, b| a.path.cmp(&b.path));
    // Only files named by their paths must have an outline: in a folder, files without one are normal.
    for file in files.iter().filter(|file| by_name.contains(&file.path)) {
        must_have_outline(file)?;
    }
    note_unreadable(&mut cache.workspace, &files);
    let outlines = outlines_of(cache, &files);
    cache.workspace.check_cancelled()?;
    Ok(outlines)
}

pub(super) fn outlines_of(cache: &mut ArtifactCache<'_>, files: &[KnownFile]) -> Vec<OutlineAnswer> {
    let mut answers = Vec::new();
    for subject in files.iter().filter_map(ContentRef::from_file) {
        if cache.workspace.world.progress.is_cancelled() {
            // The caller has to check for cancellation.
            break;
        }
        let answer = cache.outline(&subject).map(|outline| OutlineAnswer {
            path: subject.path.clone(),
            hash: cache.workspace.hidden.file_hash(subject.path, subject.hash),
            file_type: subject.file_type,
            lines: subject.facts.lines,
            outline,
        });
        answers.extend(answer);
    }
    answers
}

fn must_have_outline(file: &KnownFile) -> Result<(), Error> {
    let path = file.path.clone();
    match &file.state {
        KnownState::LeftOut(reason) => Err(Error::LeftOut { path, reason: *reason }),
        KnownState::Content { file_type, .. } if crate::syntax::has_structure(file_type.id) => Ok(()),
        KnownState::Content { file_type, .. } => {
            let feature = crate::syntax::missing_feature(file_type.id);
            Err(Error::NoSuchView { path, view: ViewMode::Outline, file_type: file_type.name, feature })
        }
    }
}

/// A larger file is not read to mark its lines. The limit is higher than for parsing: finding lines takes no parser,
/// and amalgamated sources (such as SQLite's) exceed that one.
const MAX_BYTES: u64 = 128 << 20;

pub(super) fn make_slice(
    workspace: &Workspace<'_>,
    word: &str,
    start_line: u32,
    end_line: u32,
) -> Result<Slice, Error> {
    let path = file_to_slice(workspace, word)?;
    match text_to_slice(workspace, &path) {
        Err(reason) => Err(Error::LeftOut { path, reason }),
        Ok(text) => {
            let made = slices::create_slice(&text, start_line, end_line);
            made.map_err(|source| Error::Slice { path, source })
        }
    }
}

pub(super) fn resolve_slices(
    workspace: &Workspace<'_>,
    word: &str,
    marked: &[Slice],
) -> Result<Vec<SliceResolution>, Error> {
    let path = file_to_slice(workspace, word)?;
    let stale = |slice: &Slice, reason: SkipReason| SliceResolution {
        status: SliceStatus::Stale,
        start_line: slice.start_line,
        end_line: slice.end_line,
        reason: reason.description().to_owned(),
    };
    match text_to_slice(workspace, &path) {
        Ok(text) => Ok(marked.iter().map(|slice| slices::locate_slice(slice, &text)).collect()),
        Err(reason) if is_withheld(reason) => Err(Error::LeftOut { path, reason }),
        Err(reason) => Ok(marked.iter().map(|slice| stale(slice, reason)).collect()),
    }
}

fn file_to_slice(workspace: &Workspace<'_>, word: &str) -> Result<RelPath, Error> {
    let nothing = || Error::NothingSelected { word: word.to_owned() };
    let path = workspace.resolve_path(word)?.ok_or_else(nothing)?;
    if workspace.names.is_excluded(&path) {
        return Err(Error::Apart { path });
    }
    Ok(path)
}

fn text_to_slice(workspace: &Workspace<'_>, path: &RelPath) -> Result<String, SkipReason> {
    // Before the file is opened, so that one with a secret's name never is.
    if let Some(reason) = workspace.names.skip_reason(path) {
        return Err(reason);
    }
    // Checked before reading, because a failed read does not distinguish a link from other special files.
    match workspace.files.stat(path).map(|stat| stat.kind) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(SkipReason::Vanished),
        Err(_) => Err(SkipReason::Unreadable),
        Ok(FileKind::Symlink) => Err(SkipReason::Symlink),
        Ok(FileKind::Directory | FileKind::Special) => Err(SkipReason::Special),
        Ok(FileKind::Regular) => workspace.read_text_up_to(path, MAX_BYTES).map(with_byte_order_mark),
    }
}

/// Returns whether a file is withheld from readers by its name, regardless of its content.
const fn is_withheld(reason: SkipReason) -> bool {
    match reason {
        SkipReason::Secret | SkipReason::History | SkipReason::Settings | SkipReason::Takes => true,
        // These are properties of the current bytes or file, and may be temporary: the slice is then found again.
        SkipReason::Binary
        | SkipReason::TooLarge
        | SkipReason::Unreadable
        | SkipReason::Undecodable
        | SkipReason::Vanished
        | SkipReason::Unstable
        | SkipReason::Symlink
        | SkipReason::Special
        | SkipReason::Submodule
        | SkipReason::NestedRepository
        | SkipReason::SkippedFolder
        | SkipReason::HiddenFolder
        | SkipReason::OtherFileSystem
        | SkipReason::ResourceGone
        | SkipReason::Unlisted => false,
    }
}

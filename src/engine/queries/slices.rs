//! Lines of a file are marked, and found again.

use crate::engine::error::Error;
use crate::engine::workspace::{Workspace, with_byte_order_mark};
use crate::model::RelPath;
use crate::model::SkipReason;
use crate::model::Slice;
use crate::model::SliceResolution;
use crate::model::SliceStatus;
use crate::slices;
use crate::sys::FileKind;

/// A larger file is not read to mark its lines. It is more than what is parsed: to find lines takes no parser, and
/// sources that were put together into one file (SQLite's) are larger than that.
const MOST_BYTES: u64 = 128 << 20;

/// Marks the lines `start_line` to `end_line` of a file, from 1 and inclusive. Nothing is written.
pub(in crate::engine) fn make_slice(
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

/// Says where a slice is in a file now. Of a file that has no text any more it says so, for that is the answer.
pub(in crate::engine) fn resolve_slice(
    workspace: &Workspace<'_>,
    word: &str,
    slice: &Slice,
) -> Result<SliceResolution, Error> {
    Ok(resolve_slices(workspace, word, std::slice::from_ref(slice))?.remove(0))
}

/// Says where each of several slices is in a file now, which is read once for all.
pub(in crate::engine) fn resolve_slices(
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
    if let Some(reason) = workspace.names.skip_reason(path) {
        return Err(reason);
    }
    match workspace.world.files.stat(path).map(|stat| stat.kind) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(SkipReason::Vanished),
        Err(_) => Err(SkipReason::Unreadable),
        Ok(FileKind::Symlink) => Err(SkipReason::Symlink),
        Ok(FileKind::Directory | FileKind::Special) => Err(SkipReason::Special),
        Ok(FileKind::Regular) => workspace.read_text_up_to(path, MOST_BYTES).map(with_byte_order_mark),
    }
}

/// Says whether a file is kept from readers by its name, whatever is in it.
const fn is_withheld(reason: SkipReason) -> bool {
    match reason {
        SkipReason::Secret | SkipReason::History => true,
        SkipReason::Binary
        | SkipReason::TooLarge
        | SkipReason::Unreadable
        | SkipReason::Undecodable
        | SkipReason::Vanished
        | SkipReason::Unstable
        | SkipReason::Symlink
        | SkipReason::Special
        | SkipReason::Submodule
        | SkipReason::NestedRepository => false,
    }
}

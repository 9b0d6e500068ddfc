//! Lines of a file are marked, and found again.

use crate::engine::error::Error;
use crate::engine::index::HashedText;
use crate::engine::project::Project;
use crate::model::ContentHash;
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

impl Project<'_> {
    /// Marks the lines `start_line` to `end_line` of a file, from 1 and inclusive. Nothing is written.
    pub fn make_slice(&self, word: &str, start_line: u32, end_line: u32) -> Result<Slice, Error> {
        let path = self.file_to_slice(word)?;
        match self.text_to_slice(&path) {
            Err(reason) => Err(Error::LeftOut { path, reason }),
            Ok(text) => {
                let made = slices::create_slice(&text, start_line, end_line);
                made.map_err(|source| Error::Slice { path, source })
            }
        }
    }

    /// Says where a slice is in a file now. Of a file that has no text any more it says so, for that is the answer.
    pub fn resolve_slice(&self, word: &str, slice: &Slice) -> Result<SliceResolution, Error> {
        Ok(self.resolve_slices(word, std::slice::from_ref(slice))?.remove(0))
    }

    /// Says where each of several slices is in a file now, which is read once for all.
    pub fn resolve_slices(&self, word: &str, marked: &[Slice]) -> Result<Vec<SliceResolution>, Error> {
        let path = self.file_to_slice(word)?;
        let stale = |slice: &Slice, reason: SkipReason| SliceResolution {
            status: SliceStatus::Stale,
            start_line: slice.start_line,
            end_line: slice.end_line,
            reason: reason.description().to_owned(),
        };
        match self.text_to_slice(&path) {
            Ok(text) => Ok(marked.iter().map(|slice| slices::locate_slice(slice, &text)).collect()),
            Err(reason) if is_withheld(reason) => Err(Error::LeftOut { path, reason }),
            Err(reason) => Ok(marked.iter().map(|slice| stale(slice, reason)).collect()),
        }
    }

    fn file_to_slice(&self, word: &str) -> Result<RelPath, Error> {
        let nothing = || Error::NothingSelected { word: word.to_owned() };
        let path = self.resolve_path(word)?.ok_or_else(nothing)?;
        if self.names.is_excluded(&path) {
            return Err(Error::Apart { path });
        }
        Ok(path)
    }

    fn text_to_slice(&self, path: &RelPath) -> Result<String, SkipReason> {
        if let Some(reason) = self.names.skip_reason(path) {
            return Err(reason);
        }
        match self.world.files.stat(path).map(|stat| stat.kind) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(SkipReason::Vanished),
            Err(_) => Err(SkipReason::Unreadable),
            Ok(FileKind::Symlink) => Err(SkipReason::Symlink),
            Ok(FileKind::Directory | FileKind::Special) => Err(SkipReason::Special),
            Ok(FileKind::Regular) => self.read_text_up_to(path, MOST_BYTES).map(with_byte_order_mark),
        }
    }
}

/// Returns a text with the mark of UTF-8 that its bytes may begin with: for git, whose lines these are, the mark is a
/// part of the first line, which has changed when it comes or goes.
pub(in crate::engine) fn with_byte_order_mark((hash, text): HashedText) -> String {
    let marked = ["\u{feff}", &text].concat();
    // The bytes are not at hand any more, but what they were identified by is.
    if hash == ContentHash::digest(marked.as_bytes()) { marked } else { text }
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

//! The known state of single files, and helpers for their texts and stamps.

use crate::model::{
    BYTE_ORDER_MARK, ContentFacts, ContentHash, FileDetails, FileStamp, FileType, RelPath, SkipReason,
};

/// A file of the project in its current state.
#[derive(Debug, Clone)]
pub(in crate::engine) struct KnownFile {
    pub(in crate::engine) path: RelPath,
    pub(in crate::engine) tracked: bool,
    pub(in crate::engine) state: KnownState,
    /// `None` if it was not needed.
    pub(in crate::engine) stamp: Option<FileStamp>,
}

impl KnownFile {
    /// Returns the type of the file; `None` if it is not text.
    pub(in crate::engine) const fn file_type(&self) -> Option<&'static FileType> {
        match &self.state {
            KnownState::Content { file_type, .. } => Some(file_type),
            KnownState::LeftOut(_) => None,
        }
    }

    /// Returns the file's metadata for a receipt.
    pub(in crate::engine) fn details(&self) -> FileDetails {
        let mtime_ns = self.mtime_ns();
        match &self.state {
            KnownState::Content { file_type, facts, .. } => FileDetails {
                language: Some(file_type.id),
                size: Some(facts.size),
                lines: Some(facts.lines),
                mtime_ns,
            },
            // Shows how much a document lacks; sizes of files left out by name are irrelevant.
            KnownState::LeftOut(SkipReason::TooLarge) => {
                FileDetails { mtime_ns, size: self.stamp.map(|stamp| stamp.size), ..FileDetails::default() }
            }
            KnownState::LeftOut(_) => FileDetails { mtime_ns, ..FileDetails::default() },
        }
    }

    /// Returns when it was last written, in nanoseconds since the epoch.
    pub(in crate::engine) fn mtime_ns(&self) -> Option<i64> {
        self.stamp.map(|stamp| stamp.mtime_ns)
    }
}

#[derive(Debug, Clone)]
pub(in crate::engine) enum KnownState {
    Content { hash: ContentHash, file_type: &'static FileType, facts: ContentFacts },
    LeftOut(SkipReason),
}

/// A text that was read during selection, with the hash of its bytes.
pub(in crate::engine) type HashedText = (ContentHash, String);

/// Returns a text with the UTF-8 byte order mark that its bytes may begin with: for git, the mark is part of the first
/// line, which changes when the mark is added or removed.
pub(in crate::engine) fn with_byte_order_mark((hash, text): HashedText) -> String {
    let marked = format!("{BYTE_ORDER_MARK}{text}");
    // The bytes are no longer available, but their hash is.
    if hash == ContentHash::digest(marked.as_bytes()) { marked } else { text }
}

/// File system clocks tick at least every 10 ms; this is several ticks.
const TICK_NS: i64 = 50_000_000;
/// The clocks of old file systems tick every two seconds.
const COARSE_TICK_NS: i64 = 2_000_000_000;
/// A file is stamped when a write begins. A large write may still be in progress when the file is read, and end without
/// another stamp. Writes are faster than this, except on a machine under heavy load.
const WRITE_BYTES_PER_SECOND: i64 = 16 << 20;
const SECOND_NS: i64 = 1_000_000_000;

/// Returns how long after its stamp a file must be unchanged before the stamp can be trusted.
pub(in crate::engine) fn window_ns(stamp: &FileStamp) -> i64 {
    let is_coarse = stamp.mtime_ns % SECOND_NS == 0 && stamp.ctime_ns % SECOND_NS == 0;
    let tick = if is_coarse { COARSE_TICK_NS } else { TICK_NS };
    let size = i64::try_from(stamp.size).unwrap_or(i64::MAX);
    let write = size.saturating_mul(SECOND_NS) / WRITE_BYTES_PER_SECOND;
    tick.saturating_add(write).min(COARSE_TICK_NS)
}

/// Returns whether a file with this stamp, read at that time, could have been written afterwards without a new stamp.
///
/// A file may be written twice within one tick of the clock that stamps it, and keep its size: then its stamp is the
/// same before and after, and only its bytes differ. As in git, a file whose stamp is about as recent as the read is
/// "racily clean": it is read again. The window was measured. A stamp from the future (the clock was set back) proves
/// nothing either.
pub(in crate::engine) fn is_racy(stamp: &FileStamp, read_at_ns: i64) -> bool {
    read_at_ns <= stamp.ctime_ns.saturating_add(window_ns(stamp))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(size: u64, ctime_ns: i64) -> FileStamp {
        FileStamp { dev: 1, ino: 1, size, mtime_ns: ctime_ns, ctime_ns }
    }

    #[test]
    fn a_file_as_young_as_the_look_at_it_is_not_believed() {
        let young = stamp(10, 7_000_000_001);
        assert!(is_racy(&young, 7_000_000_001));
        assert!(is_racy(&young, 7_000_000_001 + TICK_NS));
        assert!(!is_racy(&young, 7_000_000_001 + TICK_NS + 1_000));
    }

    #[test]
    fn a_stamp_from_the_future_is_not_believed() {
        assert!(is_racy(&stamp(10, 9_000_000_001), 7_000_000_000));
    }

    #[test]
    fn a_large_file_and_a_coarse_clock_need_more_rest() {
        let later = |size, ctime_ns: i64| !is_racy(&stamp(size, ctime_ns), ctime_ns + 1_500_000_000);
        assert!(later(1 << 20, 7_000_000_001));
        assert!(!later(64 << 20, 7_000_000_001));
        assert!(!later(10, 7_000_000_000));
    }
}

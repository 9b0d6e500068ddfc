//! What is known of single files, and how their text is read.

use super::root::Workspace;
use crate::model::ContentFacts;
use crate::model::ContentHash;
use crate::model::FileType;
use crate::model::RelPath;
use crate::model::SkipReason;
use crate::sys::ReadError;

/// A file of the project as it is now.
#[derive(Debug, Clone)]
pub(in crate::engine) struct KnownFile {
    pub(in crate::engine) path: RelPath,
    pub(in crate::engine) tracked: bool,
    pub(in crate::engine) state: KnownState,
}

/// What a file is.
#[derive(Debug, Clone)]
pub(in crate::engine) enum KnownState {
    Content { hash: ContentHash, file_type: &'static FileType, facts: ContentFacts },
    LeftOut(SkipReason),
}

/// A text that was read on the way, with the hash of its bytes.
pub(in crate::engine) type HashedText = (ContentHash, String);

impl Workspace<'_> {
    /// Reads a file's text, with the hash of the bytes that it was read from.
    pub(in crate::engine) fn read_text(&self, path: &RelPath) -> Result<(ContentHash, String), SkipReason> {
        self.read_text_up_to(path, self.options.structure_max_bytes)
    }

    /// Reads the text of a file of at most `max_bytes`.
    pub(in crate::engine) fn read_text_up_to(
        &self,
        path: &RelPath,
        max_bytes: u64,
    ) -> Result<(ContentHash, String), SkipReason> {
        let reading = self.world.files.read(path, max_bytes);
        let reading = reading.map_err(|error| match error {
            ReadError::TooLarge { .. } => SkipReason::TooLarge,
            ReadError::Changing => SkipReason::Unstable,
            ReadError::NotRegular(_) => SkipReason::Special,
            ReadError::Io(error) if error.kind() == std::io::ErrorKind::NotFound => SkipReason::Vanished,
            ReadError::Io(_) => SkipReason::Unreadable,
        })?;
        let hash = ContentHash::digest(&reading.bytes);
        let text = crate::discover::read_as_text(&reading.bytes)?;
        Ok((hash, text.text.into_owned()))
    }
}

/// Returns a text with the mark of UTF-8 that its bytes may begin with: for git, whose lines these are, the mark is a
/// part of the first line, which has changed when it comes or goes.
pub(in crate::engine) fn with_byte_order_mark((hash, text): HashedText) -> String {
    let marked = ["\u{feff}", &text].concat();
    // The bytes are not at hand any more, but what they were identified by is.
    if hash == ContentHash::digest(marked.as_bytes()) { marked } else { text }
}

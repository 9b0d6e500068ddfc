//! Converts the bytes of a file to the text that everything is derived from: without the secrets in it.
//!
//! A secret is replaced by a mark that names the rule, and that never depends on its value. The text keeps its lines,
//! and the hash of the file remains that of its bytes; so the keys of artifacts include the version of the rules.

use std::borrow::Cow;
use std::sync::Mutex;

use rustc_hash::FxHashSet;

use crate::discover;
use crate::discover::DecodedText;
use crate::model::{ContentFacts, ContentHash, FileItem, RelPath, SkipReason, lock};
use crate::summarize::secrets;

/// Replaces the secrets in the tags and comments of an item's slices, which may contain them just like the files.
pub fn redact_slices(item: &mut FileItem) {
    let words = item.custom_slices.iter_mut().flat_map(|slice| [&mut slice.tag, &mut slice.comment]);
    for word in words {
        if let Cow::Owned(redacted) = secrets::redacted(word) {
            *word = redacted;
        }
    }
}

/// Decodes bytes, and replaces the secrets in them.
pub(in crate::engine) fn decode_shown(bytes: &[u8]) -> Result<DecodedText<'_>, SkipReason> {
    discover::read_as_text(bytes).map(|text| without_secrets(text).0)
}

/// Contents that were found to have no secrets, so that a process need not scan them again.
#[derive(Default)]
pub(in crate::engine) struct CleanContents(Mutex<FxHashSet<ContentHash>>);

impl CleanContents {
    /// If there are more contents, all are dropped; each takes 32 bytes.
    const MAX_CONTENTS: usize = 1 << 17;

    /// Decodes bytes as [`decode_shown`] does.
    pub(in crate::engine) fn decode<'a>(
        &self,
        hash: &ContentHash,
        bytes: &'a [u8],
    ) -> Result<DecodedText<'a>, SkipReason> {
        let text = discover::read_as_text(bytes)?;
        if lock(&self.0).contains(hash) {
            return Ok(text);
        }
        let (text, is_clean) = without_secrets(text);
        if is_clean {
            let mut contents = lock(&self.0);
            if Self::MAX_CONTENTS <= contents.len() {
                contents.clear();
            }
            contents.insert(*hash);
        }
        Ok(text)
    }
}

/// A text that may contain secrets: unusable before they are replaced, which takes longer than decoding.
pub(in crate::engine) struct RawText<'a>(DecodedText<'a>);

impl<'a> RawText<'a> {
    /// Decodes bytes, and returns their properties.
    pub(in crate::engine) fn decode(
        path: &RelPath,
        bytes: &'a [u8],
    ) -> Result<(Self, ContentFacts), SkipReason> {
        let text = discover::read_as_text(bytes)?;
        let facts = discover::content_facts(bytes, Some(&text), path);
        Ok((Self(text), facts))
    }

    pub(in crate::engine) fn without_secrets(self) -> DecodedText<'a> {
        without_secrets(self.0).0
    }
}

/// Replaces the secrets of a text, and returns whether there were none.
fn without_secrets(decoded: DecodedText<'_>) -> (DecodedText<'_>, bool) {
    let redacted = match secrets::redacted(&decoded.text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text),
    };
    match redacted {
        Some(text) => (DecodedText { text: Cow::Owned(text), encoding: decoded.encoding }, false),
        None => (decoded, true),
    }
}

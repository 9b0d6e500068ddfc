//! Where the bytes of a file become the text that everything is derived from and shown of: without the secrets in it.
//!
//! A secret is replaced by a mark that names the rule, and never by anything that depends on its value. The text keeps
//! its lines, and the hash of the file remains that of its bytes; so the keys of what is derived name the version of
//! the rules.

use std::borrow::Cow;

use crate::discover;
use crate::discover::DecodedText;
use crate::model::{ContentFacts, RelPath, SkipReason};
use crate::summarize::secrets;

/// Decodes bytes, and replaces the secrets in them.
pub(in crate::engine) fn decode_shown(bytes: &[u8]) -> Result<DecodedText<'_>, SkipReason> {
    discover::read_as_text(bytes).map(without_secrets)
}

/// Decodes bytes in the same way, and returns what is known of them. Facts are those of the bytes.
pub(in crate::engine) fn decode_with_facts<'a>(
    path: &RelPath,
    bytes: &'a [u8],
) -> Result<(DecodedText<'a>, ContentFacts), SkipReason> {
    let text = discover::read_as_text(bytes)?;
    let facts = discover::content_facts(bytes, Some(&text), discover::is_header(path));
    Ok((without_secrets(text), facts))
}

fn without_secrets(decoded: DecodedText<'_>) -> DecodedText<'_> {
    let redacted = match secrets::redacted(&decoded.text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text),
    };
    match redacted {
        Some(text) => DecodedText { text: Cow::Owned(text), encoding: decoded.encoding },
        None => decoded,
    }
}

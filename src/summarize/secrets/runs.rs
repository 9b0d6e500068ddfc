//! Long runs of characters: text in base64, and generated words.

use std::ops::{Range, RangeInclusive};

use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine, alphabet};

use super::generated::{is_compound_name, is_generated, is_resource_name, is_surely_generated};
use super::notation::{line_after, line_before};
use super::values::{SecretPolicy, is_placeholder, is_random};

/// The minimum and maximum length of base64 that is decoded.
const MIN_BASE64: usize = 20;
const MAX_BASE64: usize = 64 << 10;

/// Returns the runs of characters that may be base64, or generated words.
pub(super) fn long_runs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut done = 0;
    std::iter::from_fn(move || {
        loop {
            // A run that is long enough contains this byte, unless it begins after it.
            let probe = done + MIN_BASE64 - 1;
            if !is_base64(*bytes.get(probe)?) {
                done = probe + 1;
                continue;
            }
            let before = bytes[done..probe].iter().rev().take_while(|b| is_base64(**b)).count();
            let after = bytes[probe..].iter().take_while(|b| is_base64(**b)).count();
            let run = probe - before..probe + after;
            done = run.end;
            if MIN_BASE64 <= run.len() && may_be_generated(&bytes[run.clone()]) {
                return Some(run);
            }
        }
    })
}

/// Returns whether a run has digits and letters, and is not merely hexadecimal.
fn may_be_generated(run: &[u8]) -> bool {
    run.iter().any(u8::is_ascii_digit)
        && run.iter().any(|b| b.is_ascii_alphabetic() && !b.is_ascii_hexdigit())
}

/// Returns whether a run has small and capital letters, as base64 of a text has.
fn is_mixed(run: &str) -> bool {
    run.bytes().any(|b| b.is_ascii_uppercase()) && run.bytes().any(|b| b.is_ascii_lowercase())
}

/// Decodes a run of characters, if it is base64 of a text.
pub(super) fn decode_run(run: &str) -> Option<String> {
    let marks = run.bytes().filter(|b| !b.is_ascii_alphanumeric()).count();
    (run.len() <= MAX_BASE64 && marks * 8 <= run.len() && is_mixed(run)).then(|| decode(run)).flatten()
}

/// Returns the token of a Discord bot that begins with a run: a number in base64, a time and a signature, separated by
/// dots.
pub(super) fn bot_token(text: &str, span: &Range<usize>) -> Option<Range<usize>> {
    const NUMBER_LENGTHS: RangeInclusive<usize> = 23..=28;
    const TIME_LENGTH: usize = 6;
    const SIGNATURE_LENGTHS: RangeInclusive<usize> = 27..=40;
    // The name before it may belong to the run, as in `token=…`.
    let name = text[span.clone()].rfind('=').map_or(0, |at| at + 1);
    let span = span.start + name..span.end;
    let is_number = NUMBER_LENGTHS.contains(&span.len()) && text[span.clone()].starts_with(['M', 'N', 'O']);
    let behind = text[span.end..].strip_prefix('.').filter(|_| is_number)?;
    let length =
        |text: &str| text.bytes().take_while(|b| b.is_ascii_alphanumeric() || b"_-".contains(b)).count();
    let signature = behind.get(TIME_LENGTH..).filter(|_| length(behind) == TIME_LENGTH)?.strip_prefix('.')?;
    let end = span.end + TIME_LENGTH + 2 + length(signature);
    SIGNATURE_LENGTHS.contains(&length(signature)).then_some(span.start..end)
}

/// Returns whether nothing else is on a line, as in blocks of encoded data such as a public key.
fn is_alone_on_its_line(text: &str, span: &Range<usize>) -> bool {
    line_before(text, span.start).trim().is_empty() && line_after(text, span.end).trim().is_empty()
}

/// Returns whether a run is a generated word by itself, and neither a line of encoded data nor a part of an address, a
/// path or a digest.
pub(super) fn is_random_word(text: &str, span: &Range<usize>) -> bool {
    const LONGEST: usize = 100;
    const SHORTEST_PADDED: usize = 40;
    let run = &text[span.clone()];
    let before = text[..span.start].bytes().next_back().unwrap_or(b' ');
    let after = text[span.end..].bytes().next().unwrap_or(b' ');
    let is_quoted = b"\"'`".contains(&before) && before == after;
    // Padding ends encoded data, and long keys that are quoted.
    let is_padded_key = is_quoted && SHORTEST_PADDED <= run.len();
    let unpadded = if is_padded_key { run.trim_end_matches('=') } else { run };
    let is_word = run.len() <= LONGEST
        && !unpadded.contains(['/', '+', '='])
        && !run.starts_with("sha")
        // The form in which addresses have names of other scripts.
        && !run.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("xn--"))
        && !run.starts_with("0x");
    is_word
        && (before.is_ascii_whitespace() || b"\"'`{>".contains(&before))
        && (after.is_ascii_whitespace() || b"\"'`,;)}]<\\".contains(&after))
        && !is_resource_name(run)
        && (is_surely_generated(run) || is_quoted && is_long_key(unpadded))
        && !is_placeholder(run)
        && !is_compound_name(run)
        && !is_named_digest(line_before(text, span.start))
        && !is_declared(line_before(text, span.start))
        && !is_alone_on_its_line(text, span)
}

/// Returns whether a word is the name of what its line declares or asks for: `#define X`, `ADD CONSTRAINT "x"`.
fn is_declared(before: &str) -> bool {
    const DECLARATIONS: [&str; 9] =
        ["define", "undef", "ifdef", "ifndef", "constraint", "index", "sequence", "trigger", "references"];
    let last =
        before.trim_end_matches(['"', '`', ' ', '\t']).rsplit([' ', '\t', '#']).next().unwrap_or_default();
    DECLARATIONS.iter().any(|word| last.eq_ignore_ascii_case(word))
}

/// Returns whether what is before a word says that it is a digest: `sha256 = "…"`.
fn is_named_digest(before: &str) -> bool {
    const DIGESTS: [&str; 8] =
        ["sha1", "sha256", "sha384", "sha512", "hash", "checksum", "integrity", "digest"];
    let name = before.trim_end_matches(['"', '\'', '`', ' ', '\t']);
    let name = name.strip_suffix(['=', ':']).unwrap_or_default().trim_end_matches([' ', '"', '\'']);
    let name =
        name.rsplit([' ', '\t', ',', '{', '(', '"', '\'']).next().unwrap_or_default().to_ascii_lowercase();
    DIGESTS.iter().any(|digest| name.ends_with(digest)) && !name.contains("pass")
}

/// Returns whether a word is long and mixes small letters, capitals and digits, as keys do and names do not.
fn is_long_key(word: &str) -> bool {
    is_random(word, SecretPolicy::Display) && is_generated(word)
}

fn is_base64(b: u8) -> bool {
    BASE64_BYTES[usize::from(b)]
}

/// Whether a byte may be part of base64 of either alphabet, or of a name before it.
static BASE64_BYTES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] =
            byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-' | b'=');
        byte += 1;
    }
    table
};

/// Decodes base64 of either alphabet, if the result is text.
fn decode(packed: &str) -> Option<String> {
    const LAX: GeneralPurposeConfig = GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let alphabet = if packed.contains(['-', '_']) { alphabet::URL_SAFE } else { alphabet::STANDARD };
    // A leading name, as in `KEY=…`, is not part of it.
    let inner = packed.trim_end_matches('=');
    let inner = inner.rsplit('=').next()?;
    let text = String::from_utf8(GeneralPurpose::new(&alphabet, LAX).decode(inner).ok()?).ok()?;
    let is_plain = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    (MIN_BASE64 / 2 <= text.len() && text.chars().all(is_plain)).then_some(text)
}

//! The format of an entry: sealed for the team, signed by its writer, and bound to the key of one summary.
//!
//! ```text
//! format 1 │ writer 8 │ nonce 12 │ sealed: 16 + n × 256 │ signature 64
//! ```
//!
//! The sealed body begins with its two-byte length, repeats the key of the summary, and is padded with zeros, so that
//! its size reveals little. The signature covers the remote key and everything before the signature; the seal covers
//! the remote key too. So nobody can move an entry to another key.

use ring::aead::{Aad, CHACHA20_POLY1305, NONCE_LEN, Nonce};
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ED25519, UnparsedPublicKey};
use serde::{Deserialize, Serialize};

use super::keys::{DOMAIN, SigningKey, TeamKey, WRITER_ID_BYTES};
use crate::model::{ContentHash, ModelName, Money, SummaryKey, Tier, TokenUsage, WriterKey};

const FORMAT: u8 = 1;
const SIGNATURE_BYTES: usize = 64;
const HEADER_BYTES: usize = 1 + WRITER_ID_BYTES + NONCE_LEN;
/// The body is padded to a multiple of this.
const BLOCK_BYTES: usize = 256;
const LENGTH_BYTES: usize = 2;
/// A longer entry is not read: a summary has at most 1.6 KB.
pub(super) const MAX_ENTRY_BYTES: usize = 8 << 10;

/// A summary as it is shared: a model's text, and its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedSummary {
    pub key: SummaryKey,
    pub tier: Tier,
    pub model: ModelName,
    pub text: String,
    pub tokens: TokenUsage,
    /// The cost of the call that produced it, paid by its writer.
    pub cost: Money,
    /// When it was received, in milliseconds since the epoch.
    pub at_ms: i64,
}

/// Why an entry is invalid and counts as missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum EntryDefect {
    #[error("of another format")]
    Format,
    #[error("cut off or too long")]
    Length,
    #[error("by nobody in share.writers")]
    Writer,
    #[error("signature does not match")]
    Signature,
    #[error("sealed with another team key")]
    Seal,
    #[error("of another summary")]
    Key,
    #[error("body is not a summary")]
    Body,
    /// The text is not a valid answer of a model.
    #[error("text is not a summary for its tier")]
    Text,
}

impl EntryDefect {
    /// Returns whether an entry with this defect is useless to everybody, so that it may be replaced. An entry by
    /// another version, or by a writer that this reader does not list, may be useful to others.
    pub(super) const fn is_worthless(self) -> bool {
        match self {
            Self::Length | Self::Signature | Self::Seal | Self::Key | Self::Body => true,
            Self::Format | Self::Writer | Self::Text => false,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct EntryBody<'b> {
    key: [u8; 32],
    tier: u8,
    provider: &'b str,
    model: &'b str,
    text: &'b str,
    input: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    output: Option<u64>,
    cost: u64,
    at_ms: i64,
}

/// Returns the entry of a summary; `None` if it is too long for an entry, or the system has no random numbers.
pub(super) fn seal_entry(team: &TeamKey, signer: &SigningKey, summary: &SharedSummary) -> Option<Vec<u8>> {
    let body = padded_body(summary)?;
    let mut nonce = [0; NONCE_LEN];
    SystemRandom::new().fill(&mut nonce).ok()?;
    let remote = team.remote_key(&summary.key);
    let mut entry = vec![FORMAT];
    entry.extend(team.writer_id(&signer.writer_key()));
    entry.extend(nonce);
    let mut sealed = body;
    let nonce = Nonce::assume_unique_for_key(nonce);
    team.sealing_key().seal_in_place_append_tag(nonce, Aad::from(remote), &mut sealed).ok()?;
    entry.extend(sealed);
    let signature = signer.sign(&signed_message(&remote, &entry));
    entry.extend(signature.as_ref());
    (entry.len() <= MAX_ENTRY_BYTES).then_some(entry)
}

/// Returns the summary in an entry and its writer, if the entry is for this key and by one of these writers.
pub(super) fn open_entry(
    team: &TeamKey,
    writers: &[WriterKey],
    key: &SummaryKey,
    entry: &[u8],
) -> Result<(SharedSummary, WriterKey), EntryDefect> {
    // Entries of every format are signed.
    if entry.len() <= SIGNATURE_BYTES {
        return Err(EntryDefect::Length);
    }
    // The format is checked next: in another one, the length may be valid.
    if entry.first().is_some_and(|format| *format != FORMAT) {
        return Err(EntryDefect::Format);
    }
    let sealed_bytes = entry.len().checked_sub(HEADER_BYTES + SIGNATURE_BYTES);
    let is_whole = |bytes: usize| {
        CHACHA20_POLY1305.tag_len() < bytes
            && (bytes - CHACHA20_POLY1305.tag_len()).is_multiple_of(BLOCK_BYTES)
            && entry.len() <= MAX_ENTRY_BYTES
    };
    let sealed_bytes = sealed_bytes.filter(|bytes| is_whole(*bytes)).ok_or(EntryDefect::Length)?;
    let (signed, signature) = entry.split_at(HEADER_BYTES + sealed_bytes);
    let id = &signed[1..=WRITER_ID_BYTES];
    let writer = writers.iter().find(|writer| team.writer_id(writer) == id).ok_or(EntryDefect::Writer)?;
    let remote = team.remote_key(key);
    // Before anything is decrypted: unsigned data is not interpreted.
    let public = UnparsedPublicKey::new(&ED25519, writer.0);
    public.verify(&signed_message(&remote, signed), signature).map_err(|_| EntryDefect::Signature)?;
    let nonce = signed[1 + WRITER_ID_BYTES..HEADER_BYTES].try_into().expect("the header has a nonce");
    let mut sealed = signed[HEADER_BYTES..].to_vec();
    let nonce = Nonce::assume_unique_for_key(nonce);
    let body = team.sealing_key().open_in_place(nonce, Aad::from(remote), &mut sealed);
    let summary = read_body(body.map_err(|_| EntryDefect::Seal)?).ok_or(EntryDefect::Body)?;
    if summary.key != *key {
        return Err(EntryDefect::Key);
    }
    Ok((summary, *writer))
}

fn signed_message(remote: &[u8; 32], entry: &[u8]) -> Vec<u8> {
    [DOMAIN, remote, entry].concat()
}

fn padded_body(summary: &SharedSummary) -> Option<Vec<u8>> {
    let body = EntryBody {
        key: *summary.key.0.as_bytes(),
        tier: summary.tier.number(),
        provider: &summary.model.provider,
        model: &summary.model.model,
        text: &summary.text,
        input: summary.tokens.input,
        cache_read: summary.tokens.cache_read,
        cache_write: summary.tokens.cache_write,
        output: summary.tokens.output,
        cost: summary.cost.nanos(),
        at_ms: summary.at_ms,
    };
    let body = postcard::to_stdvec(&body).ok()?;
    let length = u16::try_from(body.len()).ok()?;
    let mut padded = length.to_le_bytes().to_vec();
    padded.extend(body);
    padded.resize(padded.len().next_multiple_of(BLOCK_BYTES), 0);
    Some(padded)
}

fn read_body(padded: &[u8]) -> Option<SharedSummary> {
    let (length, rest) = padded.split_at_checked(LENGTH_BYTES)?;
    let length = usize::from(u16::from_le_bytes(length.try_into().ok()?));
    let (body, after) = postcard::take_from_bytes::<EntryBody<'_>>(rest.get(..length)?).ok()?;
    let EntryBody { input, cache_read, cache_write, output, .. } = body;
    after.is_empty().then_some(SharedSummary {
        key: SummaryKey(ContentHash::from_bytes(body.key)),
        tier: Tier::from_number(body.tier)?,
        model: ModelName { provider: body.provider.to_owned(), model: body.model.to_owned() },
        text: body.text.to_owned(),
        tokens: TokenUsage { input, cache_read, cache_write, output },
        cost: Money::from_nanos(body.cost),
        at_ms: body.at_ms,
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::share) fn summary(name: &str) -> SharedSummary {
        SharedSummary {
            key: SummaryKey(ContentHash::digest(name.as_bytes())),
            tier: Tier::Orchestrator,
            model: ModelName { provider: "anthropic".to_owned(), model: "small".to_owned() },
            text: format!("It does {name}."),
            tokens: TokenUsage { input: Some(900), output: Some(40), ..TokenUsage::default() },
            cost: Money::from_nanos(40_000),
            at_ms: 1_700_000_000_000,
        }
    }

    fn team() -> TeamKey {
        TeamKey::from_bytes(&[1; 32])
    }

    fn signer() -> SigningKey {
        SigningKey::from_bytes(&[2; 32])
    }

    fn open(key: &str, entry: &[u8]) -> Result<(SharedSummary, WriterKey), EntryDefect> {
        open_entry(&team(), &[signer().writer_key()], &summary(key).key, entry)
    }

    fn sealed(name: &str) -> Vec<u8> {
        seal_entry(&team(), &signer(), &summary(name)).unwrap()
    }

    #[test]
    fn an_entry_is_read_as_written_and_never_encoded_twice_alike() {
        assert_eq!(open("a", &sealed("a")), Ok((summary("a"), signer().writer_key())));
        assert_ne!(sealed("a"), sealed("a"));
    }

    #[test]
    fn no_changed_byte_goes_unnoticed() {
        let entry = sealed("a");
        for at in 0..entry.len() {
            let mut changed = entry.clone();
            changed[at] ^= 1;
            let expected = match at {
                0 => EntryDefect::Format,
                1..=WRITER_ID_BYTES => EntryDefect::Writer,
                _ => EntryDefect::Signature,
            };
            assert_eq!(open("a", &changed), Err(expected), "{at}");
        }
    }

    #[test]
    fn what_is_cut_off_or_too_long_is_not_read() {
        let entry = sealed("a");
        for length in 0..entry.len() {
            assert_eq!(open("a", &entry[..length]), Err(EntryDefect::Length), "{length}");
        }
        let longer = [entry.clone(), vec![0; BLOCK_BYTES]].concat();
        assert_eq!(open("a", &longer), Err(EntryDefect::Signature));
        let huge = [entry, vec![0; 32 * BLOCK_BYTES]].concat();
        assert_eq!(open("a", &huge), Err(EntryDefect::Length));
        let mut long = summary("a");
        long.text = "word ".repeat(2_000);
        assert_eq!(seal_entry(&team(), &signer(), &long), None);
    }

    #[test]
    fn an_entry_under_another_key_is_none() {
        assert_eq!(open("b", &sealed("a")), Err(EntryDefect::Signature));
        // Signed and sealed for one key by a trusted writer, but about another.
        let (team, signer, other) = (team(), signer(), summary("b"));
        let remote = team.remote_key(&summary("a").key);
        let nonce = [3; NONCE_LEN];
        let mut body = padded_body(&other).unwrap();
        let unique = Nonce::assume_unique_for_key(nonce);
        team.sealing_key().seal_in_place_append_tag(unique, Aad::from(remote), &mut body).unwrap();
        let mut entry = [&[FORMAT][..], &team.writer_id(&signer.writer_key()), &nonce, &body].concat();
        let signature = signer.sign(&signed_message(&remote, &entry));
        entry.extend(signature.as_ref());
        assert_eq!(open("a", &entry), Err(EntryDefect::Key));
    }

    #[test]
    fn only_writers_who_are_listed_are_believed() {
        let stranger = SigningKey::from_bytes(&[9; 32]);
        let entry = seal_entry(&team(), &stranger, &summary("a")).unwrap();
        assert_eq!(open("a", &entry), Err(EntryDefect::Writer));
        // A stranger who claims to be another writer.
        let mut forged = entry;
        forged[1..=WRITER_ID_BYTES].copy_from_slice(&team().writer_id(&signer().writer_key()));
        assert_eq!(open("a", &forged), Err(EntryDefect::Signature));
        // A writer who was removed from the list.
        assert_eq!(open_entry(&team(), &[], &summary("a").key, &sealed("a")), Err(EntryDefect::Writer));
    }

    #[test]
    fn another_team_reads_nothing() {
        let (other, writers) = (TeamKey::from_bytes(&[7; 32]), [signer().writer_key()]);
        let found = open_entry(&other, &writers, &summary("a").key, &sealed("a"));
        assert_eq!(found, Err(EntryDefect::Writer));
    }

    #[test]
    fn nothing_of_an_entry_can_be_read_but_its_size_in_steps() {
        let entry = sealed("a");
        let summary = summary("a");
        let is_in = |needle: &[u8]| entry.windows(needle.len()).any(|window| window == needle);
        for planted in [&b"anthropic"[..], b"small", b"It does", summary.key.0.as_bytes()] {
            assert!(!is_in(planted));
        }
        let longer = SharedSummary { text: "It does a and more.".to_owned(), ..summary };
        assert_eq!(seal_entry(&team(), &signer(), &longer).unwrap().len(), entry.len());
    }

    #[test]
    fn a_newer_format_is_left_alone() {
        let mut entry = sealed("a");
        entry[0] = FORMAT + 1;
        assert_eq!(open("a", &entry), Err(EntryDefect::Format));
        assert!(!EntryDefect::Format.is_worthless());
        assert_eq!(open("a", b"garbage\n"), Err(EntryDefect::Length));
    }
}

//! Detection of secrets: one table of rules, and two policies.
//!
//! | policy | function | finds | errs on the side of |
//! |---|---|---|---|
//! | `SecretPolicy::Display`: what a summary shows | [`redact_line`] | values of secret names, tokens by shape, in one line | redacting |
//! | `SecretPolicy::Prompt`: what leaves the machine | [`scan()`] | the same and much more, in whole files (joined strings, base64, structures) | precision: whole files would be withheld |
//!
//! Knows: what secrets look like (`config/secrets.toml`, `values.rs`). Does not know: which files are
//! read, and what becomes of one that contains a secret. No rule can know every secret: `docs/secrets.md` has the
//! measurements.

mod assigned;
#[cfg(test)]
mod code_tests;
#[cfg(test)]
mod corpus_tests;
mod display;
mod expressions;
mod generated;
mod joined;
mod keywords;
mod notation;
mod rules;
mod runs;
#[cfg(test)]
mod samples_tests;
mod scan;
mod structures;
mod values;

pub(super) use display::{REDACTED, redact_line, without_pem};
pub use scan::{SecretScan, redact, redacted, scan, version};
pub(super) use values::{KeySecrecy, is_flag, is_reference, key_secrecy};

//! Detection of secrets: one table of rules, and two policies.
//!
//! | policy | function | finds | errs on the side of |
//! |---|---|---|---|
//! | display: what a summary shows | [`redact_line`] | values of secret names, tokens by shape, in one line | redacting |
//! | prompts: what leaves the machine | [`scan()`] | the same and much more, in whole files (joined strings, base64, structures) | precision: whole files would be withheld |
//!
//! Knows: what secrets look like (`config/secrets.toml`, `names.rs`, `values.rs`). Does not know: which files are
//! read, and what becomes of one that contains a secret. No rule can know every secret: `docs/secrets.md` has the
//! measurements.

mod assigned;
mod rules;
mod scan;
mod structures;
mod values;
mod views;

#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod samples_tests;

pub use scan::ScanError;
pub use scan::SecretMatch;
pub use scan::SecretScan;
pub use scan::redact;
pub use scan::scan;
pub use scan::version;

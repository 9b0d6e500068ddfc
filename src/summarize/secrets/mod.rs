//! The scanner: what must not leave the machine in a prompt.
//!
//! Knows: what secrets look like (`config/secrets.toml`), where they hide (pieces that are put together, base64,
//! values under names that say what they are). Does not know: which files are looked at, and what becomes of one in
//! which something is found. No rule can know every secret: `docs/secrets.md` says what was measured.
//!
//! Start with [`scan()`].

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

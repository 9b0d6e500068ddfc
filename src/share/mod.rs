//! A cache of models' summaries that a team shares: what is stored, who is trusted, and where it is.
//!
//! Knows: keys, the format of an entry, how it is sealed and signed, and the engines that store entries. Does not know:
//! which summaries a project lacks, `agent.db`, where settings come from.
//!
//! An engine is not trusted at all. It sees keys that only members of the team can compute, and sealed bytes;
//! everything that it returns is checked, and what is not an entry by a writer that the user lists counts as missing.
//!
//! Start with [`TeamCache`]; `entry.rs` defines the format of an entry, `engine.rs` the interface of engines.

mod cache;
mod engine;
mod entry;
mod folder;
mod keys;
mod pack;
#[cfg(feature = "share-redis")]
mod redis;
#[cfg(feature = "share-s3")]
mod s3;
mod s3_address;
#[cfg(feature = "share-s3")]
mod sigv4;
mod timed;
mod url;

pub use cache::{FetchedEntry, StoreReport, TeamCache};
pub use engine::{EngineAccess, EngineOptions, Error};
pub use entry::{EntryDefect, SharedSummary};
pub use keys::{KeyError, SigningKey, TeamKey, Writer, generate_key, parse_writer};
pub use s3_address::{S3Keys, S3Server, S3ServerError};
pub use url::{ShareUrl, share_schemes};

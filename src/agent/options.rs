//! The settings of the sub-agent.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::engine::summaries::SummaryPolicy;
use crate::llm::Model;
use crate::model::{ModelName, WriterKey};
use crate::store;
use crate::store::agent::SpendCaps;

/// How the sub-agent works.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Whether the daemon runs tasks automatically.
    pub is_background: bool,
    /// The models to call, in this order: the next one if a call failed in a way that another model may not.
    pub chain: Vec<Model>,
    pub policy: SummaryPolicy,
    /// The most calls in flight.
    pub concurrency: u32,
    /// The most calls a minute; the provider's own limits apply too.
    pub requests_a_minute: u32,
    /// The most tokens a minute, likewise.
    pub tokens_a_minute: u32,
    /// How long one call may take.
    pub timeout: Duration,
    /// A proxy for servers other than this machine.
    pub proxy: Option<String>,
    pub caps: SpendCaps,
    /// The writers whose summaries in the team's cache are trusted.
    pub writers: Vec<WriterKey>,
    /// Whether new summaries are queued for the team's cache.
    pub fills_outbox: bool,
}

/// Why no model can be called.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no model is configured")]
    NoModels,
    /// A batch was requested of a chain without batch support.
    #[error("no configured model supports batches")]
    NoBatches,
    /// The model's price is unknown, so no cap could be enforced.
    #[error("price of {0} is unknown")]
    NoPrice(ModelName),
    /// The provider requires a key, and none is configured.
    #[error("provider {provider} has no key: none of {} is set", variables.join(", "))]
    NoKey {
        provider: String,
        /// The environment variables that may hold it.
        variables: Vec<String>,
    },
    /// The lock that shows other processes that this one is alive could not be taken.
    #[error("{} cannot be locked", path.display())]
    Lock { path: PathBuf, source: io::Error },
    /// The database of paid calls cannot be used. Without it nothing is spent.
    #[error("spending cannot be recorded")]
    Store(#[from] store::Error),
}

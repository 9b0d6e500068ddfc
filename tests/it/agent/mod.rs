//! End-to-end tests of the sub-agent: the real binary and a scripted model server.
//!
//! Failures that take a quarter of an hour or more are covered by the unit tests of the room `llm`, with a simulated
//! clock: `attempt.rs` and `limits.rs`.

mod batches;
mod commands;
mod documents;
mod failures;
pub(crate) mod project;
mod prompts;
mod secrets;
pub(crate) mod server;
mod sharing;
mod sharing_kills;
mod sharing_tls;
mod spending;
mod summarize;
mod trust;

use super::sandbox::run;
use crate::sandbox::wait_until;
use project::{AgentProject, CALL_COST, error_response, module_source, ok_response, usd_nanos};

/// The API key, which no output may contain.
pub(crate) const KEY: &str = "the-key-that-nobody-shows";

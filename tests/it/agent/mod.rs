//! The sub-agent at the door: the real binary, and a server that a test writes the lines for.
//!
//! Where a row of the table of failures takes a quarter of an hour or more, the tests of the room `llm`, with a clock
//! that is told the time, stand for it: `attempt.rs`, `breaker.rs`, `retry_after.rs` and `budget.rs`.

mod batches;
mod commands;
mod documents;
mod failures;
pub(crate) mod project;
mod prompts;
mod secrets;
pub(crate) mod server;
mod spending;
mod summarize;
mod trust;

use super::sandbox::run;
use crate::sandbox::wait_until;
use project::AgentProject;
use project::CALL_COST;
use project::error_response;
use project::module_source;
use project::ok_response;
use project::usd_nanos;

/// What no output may ever hold.
pub(crate) const KEY: &str = "the-key-that-nobody-shows";

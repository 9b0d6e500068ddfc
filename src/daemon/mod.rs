//! Left running in a project: one instance, one event loop, scheduling, lifecycle.
//!
//! Knows: when to look, whom to ask, when to stop. Does not know: how anything is derived, how a request looks on the
//! wire.
//!
//! Start with [`run()`]; then read `steady.rs`, the loop, and `barrier.rs`, by which an answer is never stale.

mod barrier;
mod condition;
mod either;
mod error;
mod event;
mod front;
mod owner;
mod places;
mod run;
mod scribe;
mod settle;
mod sockets;
mod standing;
mod start;
mod steady;
mod supervisor;
mod told;
mod unit;
mod upkeep;
mod worker;

pub use crate::engine::FileChange;
pub use crate::engine::FileChangeKind;
pub use either::{DaemonOrLocal, DaemonService};
pub use error::Error;
pub use places::DaemonPaths;
pub use run::Options;
pub use run::run;
pub use scribe::KeyLookup;
pub use start::StartOutcome;
pub use start::start;
pub use start::status;
pub use start::stop;
pub use start::unresponsive;
pub use told::Notice;
pub use unit::systemd_unit;

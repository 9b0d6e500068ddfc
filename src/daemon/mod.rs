//! The long-running process of a project: one instance, one event loop, scheduling, lifecycle.
//!
//! Knows: when to check for changes, which worker to use, when to stop. Does not know: how anything is derived, how a
//! request looks on the wire.
//!
//! Start with [`run()`]; then read `event_loop.rs`, and `barrier.rs`, which ensures that an answer is never stale.

mod barrier;
mod client;
mod debounce;
mod error;
mod event;
mod event_loop;
mod instance;
mod plan;
mod run;
mod service;
mod settings;
mod sockets;
mod status;
mod summarizer;
mod supervisor;
mod systemd;
mod team_round;
mod worker;

pub use crate::engine::{FileChange, FileChangeKind};
pub use client::{StartOutcome, page_ticket, performance, start, status, stop, unresponsive};
pub use event::{HydrationCounts, Notice};
pub use instance::DaemonPaths;
pub use run::{Options, run};
pub use service::DaemonOrLocal;
pub use systemd::systemd_unit;

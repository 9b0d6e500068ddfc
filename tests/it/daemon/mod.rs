//! The long-running daemon: its answers are never stale, there is only one, and it survives failures.
//!
//! Each file covers some of the failure modes in docs/reliability.md, with few repetitions; `tests/soak.sh` runs
//! the same tests for a whole night.

mod agent;
mod api;
mod confined;
mod documents;
mod events;
mod faults;
mod files;
pub(crate) mod harness;
mod lifecycle;
mod limits;
mod linked;
mod page;
mod writes;

//! The daemon, left running: what it answers is never stale, it is one, and it outlives what befalls it.
//!
//! Each file is a part of the failure modes that docs/reliability.md lists. Tests are short here; `tests/torture.sh` runs
//! the same ones as often as a night has room for.

mod agent;
mod api;
mod confined;
mod events;
mod faults;
mod files;
pub(crate) mod harness;
mod lifecycle;
mod limits;
mod writes;

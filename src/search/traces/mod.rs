//! Recognizes the stack traces and diagnostics of common tools in a text.
//!
//! Each line is offered to the detectors of `detect.rs` in turn. A detector is a function of one line and its
//! neighbors, without state, so that the time is linear for any text. `scan.rs` groups the lines into traces and ranks
//! the frames.
//!
//! A new tool is one more detector, and a fixture in `tests/fixtures/traces/` with its actual output. Each file imports
//! only those before it: `location`, `project_names`, `frame`, `lines`, `stacks`, `native`, `other_tools`,
//! `diagnostics`, `detect`, `scan`.

mod detect;
mod diagnostics;
mod frame;
mod lines;
mod location;
mod native;
mod other_tools;
mod project_names;
mod scan;
mod stacks;
#[cfg(test)]
mod tests;

pub use frame::TraceFrame;
#[cfg(test)]
pub use frame::TraceTool;
pub(super) use location::{parse_spaced_prefix as parse_location, with_slashes};
pub use project_names::ProjectNames;
pub use scan::{FoundTraces, find_traces};

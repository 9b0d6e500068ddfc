//! Places fragments: decides which files are HOT, WARM and COLD, and how much of each is shown.
//!
//! The files are visited by rank. A file that exceeds a limit is first shown at a lesser depth, and gets a lower warmth
//! only if no lesser depth fits; no file is dropped that could be shown by its path. The function is pure: the cost of
//! a view is requested only when its turn comes.
//!
//! | file | what it does |
//! |---|---|
//! | `problem` | The limits, the files and what their views cost; where each was placed, and the rules that decided |
//! | `place` | The placement |
//! | `order` | The order of the HOT files in their document |
//!
//! Start with [`place_fragments()`].

mod order;
mod place;
mod problem;
#[cfg(test)]
mod tests;

pub use order::{HotFile, order_hot_files};
pub use place::place_fragments;
pub use problem::{DepthCosts, HydrationFile, HydrationLimits, PlacedFragment, RankReason, ViewCost};

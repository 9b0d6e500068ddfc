//! Which view each file gets, and how the views become one document.
//!
//! Knows: tiers, strategies, focus, order, the tree of names, the text of each view. Does not know: where texts,
//! summaries and histories come from (the engine brings them), and how a document is written (`render` does that).
//!
//! Start with [`route`], then [`view_outline`] and its siblings, then [`compose()`].

mod compose;
mod focus;
mod order;
mod routing;
mod selector;
mod tokens;
mod tree;
mod views;

pub use compose::Candidate;
pub use compose::Plan;
pub use compose::Sections;
pub use compose::compose;
pub use focus::Focus;
pub use focus::FocusLines;
pub use order::Stability;
pub use order::arrange;
pub use routing::Routed;
pub use routing::Routing;
pub use routing::TierOptions;
pub use routing::Verdict;
pub use routing::explain;
pub use routing::fit_to_size;
pub use routing::route;
pub use selector::Error;
pub use selector::Selector;
pub use tokens::ESTIMATE;
pub use tokens::estimate_tokens;
pub use tree::tree;
pub use views::EXCLUDED;
pub use views::error_line;
pub use views::view_outline;
pub use views::view_summary;
pub use views::view_window;

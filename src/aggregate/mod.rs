//! Which view each file gets, and how the views become one document.
//!
//! Knows: tiers, strategies, focus, order, the tree of names, the text of each view. Does not know: where texts,
//! summaries and histories come from (the engine brings them), and how a document is written (`render` does that).
//!
//! Start with [`route`], then [`view_outline`] and its siblings, then [`compose()`].

mod budget;
mod compose;
mod diff;
mod exclusions;
mod focus;
mod heads;
mod importance;
mod items;
mod masked;
mod masks;
mod nesting;
mod order;
mod page;
mod routing;
mod selector;
mod slices_view;
mod style;
mod tokens;
mod tree;
mod views;
mod words;

pub use budget::Limits;
pub use budget::Step;
pub use budget::Yielding;
pub use budget::fewest;
pub use budget::ladder;
pub use budget::steps;
pub use compose::Candidate;
pub use compose::Plan;
pub use compose::Remarks;
pub use compose::Sections;
pub use compose::compose;
pub use compose::heading;
pub use compose::without_files;
pub use diff::view_diff;
pub use exclusions::Exclusions;
pub use focus::Focus;
pub use focus::FocusLines;
pub use importance::Importance;
pub use importance::Referrer;
pub use importance::importance;
pub use items::Items;
pub use masked::MaskedView;
pub use masked::view_definitions;
pub use masked::view_masked;
pub use masked::view_signatures;
pub use masks::nearest;
pub use masks::select;
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
pub use slices_view::SlicePart;
pub use slices_view::view_slices;
pub use tokens::Counter;
pub use tokens::ESTIMATE;
pub use tokens::estimate_tokens;
pub use tree::NameTree;
pub use tree::tree;
pub use views::EXCLUDED;
pub use views::OutlineLine;
pub use views::error_line;
pub use views::view_outline;
pub use views::view_summary;
pub use views::view_window;
pub use views::view_written;
pub use words::plain_words;
pub use words::words_on_a_line;

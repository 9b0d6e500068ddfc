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

pub use budget::BudgetStep;
pub use budget::DocumentLimits;
pub use budget::ShrinkableFile;
pub use budget::fewest_steps;
pub use budget::reduction_steps;
pub use budget::view_ladder;
pub use compose::CandidateFile;
pub use compose::DocumentPlan;
pub use compose::DocumentSections;
pub use compose::ReceiptNotes;
pub use compose::compose;
pub use compose::compose_without_files;
pub use compose::section_heading;
pub use diff::render_diff;
pub use exclusions::ExclusionPatterns;
pub use focus::Focus;
pub use focus::FocusLines;
pub use importance::Importance;
pub use importance::ImportanceSubject;
pub use importance::rate_files;
pub use items::CuratedItems;
pub use masked::MaskedView;
pub use masked::render_definitions;
pub use masked::render_masked;
pub use masked::render_signatures;
pub use masks::nearest_keys;
pub use masks::select_symbols;
pub use order::FileStability;
pub use order::sort_files;
pub use routing::RoutedView;
pub use routing::RoutingContext;
pub use routing::RuleVerdict;
pub use routing::TierOptions;
pub use routing::explain_routing;
pub use routing::limit_to_size;
pub use routing::route_file;
pub use selector::Error;
pub use selector::Selector;
pub use slices_view::SlicePart;
pub use slices_view::render_slices;
pub use tokens::ESTIMATE;
pub use tokens::TokenCounter;
pub use tokens::estimate_tokens;
pub use tree::NameTree;
pub use tree::build_name_tree;
pub use views::EXCLUDED;
pub use views::OutlineLine;
pub use views::error_line;
pub use views::render_model_summary;
pub use views::render_outline;
pub use views::render_summary;
pub use views::render_window;
pub use words::sanitize_line;
pub use words::sanitize_paragraphs;

//! Decides which view each file gets, renders the views, and composes them into one document.
//!
//! Knows: tiers, strategies, focus, order, the tree of names, the text of each view. Does not know: where texts,
//! summaries and histories come from (the engine brings them), and how a document is written (`render` does that).
//!
//! Start with [`route_file`], then [`render_outline`] and its siblings, then [`compose()`].

mod breadth;
mod code_lines;
mod compose;
mod covering;
mod delta;
mod diff;
mod focus;
mod heads;
mod hidden;
mod hydrate;
mod importance;
mod items;
mod masked;
mod masks;
mod model_text;
mod pack;
mod page;
mod regions;
mod repeated;
mod routing;
mod row_groups;
mod selector;
mod shown_lines;
mod slice_view;
mod symbol_lines;
mod tokens;
mod views;
mod vocabulary;

pub use breadth::{fit_path_tree, important_names, render_path_tree, row_name};
pub use code_lines::{code_lines, lines_before_code};
pub use compose::{
    CandidateFile, DocumentLimits, DocumentPlan, DocumentSections, FilePart, FileStability, ListedFile,
    NameTree, ReceiptNotes, build_name_tree, compose, count_by_folder,
};
pub use covering::{Covering, CoveringEntry, cover_files};
pub use delta::{Delta, DeltaOptions, FileVersion, render_delta};
pub use diff::{render_diff, without_old_lines};
pub use focus::{AmbiguousFocus, Focus, FocusCandidate, FocusLines, name_distance, nearest_paths};
pub use hidden::{
    HiddenLines, hide_mentions, hide_symbols, hides_same_earlier, hides_symbols, ineffective_hides,
    unmatched_hidden_keys, unmatched_shown_keys,
};
pub use hydrate::{
    DepthCosts, HotFile, HydrationFile, HydrationLimits, PlacedFragment, RankReason, ViewCost,
    order_hot_files, place_fragments,
};
pub use importance::{Importance, ImportanceSubject, rate_files};
pub use items::CuratedItems;
pub use masked::{render_definitions, render_masked, render_signatures};
pub use masks::{SymbolsByName, nearest_keys, select_symbols};
pub use model_text::sanitize_line;
pub use pack::{
    BodyTurn, FileDemand, PackCosts, PackInput, PackShares, PackSymbol, PackableFile, PackedView, Packing,
    pack,
};
pub use page::skipped_lines_mark;
pub use routing::{
    HydratedDepths, RoutedView, RoutingContext, RuleVerdict, SliceDepths, TierOptions, explain_routing,
    limit_to_size, route_file, view_of_item, view_without_mask,
};
pub use selector::{Error, ExclusionPatterns, Selector};
pub use shown_lines::{
    after_delta, has_new_lines, lacks_lines, merge_part, merge_shown, seen_lines, split_shown,
    without_known_lines,
};
pub use slice_view::{SlicePart, render_slices};
pub use symbol_lines::{OwnHashes, SymbolLines, compare_symbols, outline_lines};
pub use tokens::{BYTES_PER_TOKEN, ESTIMATE, TokenCounter, estimate_tokens};
pub use views::{
    EXCLUDED, MAX_SUMMARY_TOKENS, OutlineLine, SummaryLines, error_line, model_summary_lines, render_outline,
    render_window, summary_lines,
};

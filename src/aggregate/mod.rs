//! Decides which view each file gets, renders the views, and composes them into one document.
//!
//! Knows: tiers, strategies, focus, order, the tree of names, the text of each view. Does not know: where texts,
//! summaries and histories come from (the engine brings them), and how a document is written (`render` does that).
//!
//! Start with [`route_file`], then [`render_outline`] and its siblings, then [`compose()`].

mod breadth;
mod compose;
mod delta;
mod hydrate;
mod importance;
mod pack;
mod routing;
mod row_groups;
mod texts;
mod tokens;
mod vocabulary;

pub use breadth::{fit_path_tree, important_names, render_path_tree, row_name};
pub use compose::{
    CandidateFile, DocumentLimits, DocumentPlan, DocumentSections, FilePart, FileStability, ListedFile,
    NameTree, ReceiptNotes, build_name_tree, compose, compose_draft, count_by_folder,
};
pub use delta::{
    Delta, DeltaOptions, FileVersion, OwnHashes, SymbolLines, compare_symbols, outline_lines, render_delta,
};
pub use hydrate::{
    DepthCosts, HotFile, HydrationFile, HydrationLimits, PlacedFragment, RankReason, ViewCost,
    order_hot_files, place_fragments,
};
pub use importance::{Importance, ImportanceSubject, rate_files};
pub use pack::{
    BodyTurn, FileDemand, PackCosts, PackInput, PackShares, PackSymbol, PackableFile, PackedView, Packing,
    pack,
};
pub use routing::{
    AmbiguousFocus, Covering, CoveringEntry, CuratedItems, Error, ExclusionPatterns, Focus, FocusCandidate,
    FocusLines, HydratedDepths, RoutedView, RoutingContext, RuleVerdict, Selector, SliceDepths, TierOptions,
    cover_files, explain_routing, limit_to_size, nearest_paths, route_file, view_of_item, view_without_mask,
};
pub use texts::{
    EXCLUDED, HiddenLines, MAX_SUMMARY_TOKENS, OutlineLine, OutlinedText, SlicePart, SummaryLines,
    SymbolsByName, after_delta, code_lines, error_line, has_new_lines, hide_mentions, hide_symbols,
    hides_same_earlier, hides_symbols, ineffective_hides, lacks_lines, lines_before_code, merge_part,
    merge_shown, model_summary_lines, nearest_keys, render_definitions, render_diff, render_masked,
    render_outline, render_signatures, render_slices, render_window, sanitize_line, seen_lines,
    select_symbols, skipped_lines_mark, split_shown, summary_lines, unmatched_hidden_keys,
    unmatched_shown_keys, without_known_lines, without_old_lines,
};
pub use tokens::{BYTES_PER_TOKEN, ESTIMATE, TokenCounter, estimate_tokens, rough_tokens};

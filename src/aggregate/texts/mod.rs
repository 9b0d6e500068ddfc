//! The texts of views.
//!
//! | view | where |
//! |---|---|
//! | outlines, summaries, windows of lines | `views`; `model_text` cleans the summaries of models |
//! | diffs | `diff` |
//! | slices | `slice_view` |
//! | masked files, signatures, definitions | `masked`, with `masks`, `heads`, `regions` and `repeated` |
//! | files without their hidden symbols | `hidden` |
//!
//! `page` and `code_lines` know the syntax of comments and braces. `shown_lines` finds what a view shows that earlier
//! ones did not.

mod code_lines;
mod diff;
mod heads;
mod hidden;
mod masked;
mod masks;
mod model_text;
mod page;
mod regions;
mod repeated;
mod shown_lines;
mod slice_view;
mod views;

pub use code_lines::{code_lines, lines_before_code};
pub use diff::{render_diff, without_old_lines};
pub use hidden::{
    HiddenLines, OutlinedText, hide_mentions, hide_symbols, hides_same_earlier, hides_symbols,
    ineffective_hides, unmatched_hidden_keys, unmatched_shown_keys,
};
pub use masked::{render_definitions, render_masked, render_signatures};
pub use masks::{SymbolsByName, nearest_keys, select_symbols};
pub use model_text::sanitize_line;
pub use page::skipped_lines_mark;
pub use shown_lines::{
    after_delta, has_new_lines, lacks_lines, merge_part, merge_shown, seen_lines, split_shown,
    without_known_lines,
};
pub use slice_view::{SlicePart, render_slices};
pub use views::{
    EXCLUDED, MAX_SUMMARY_TOKENS, OutlineLine, SummaryLines, error_line, model_summary_lines, render_outline,
    render_window, summary_lines,
};

//! Ranks files and symbols by a query, by history and by what they are.
//!
//! - `files.rs` scores files by their terms (`text_matches.rs`), by the paths and lines that a task mentions (`mentions.rs`), by
//!   history (`subjects.rs`) and by their likeness to files in focus (`focus_terms.rs`).
//! - `symbols.rs` and `symbol_parts.rs` continue with the symbols of the best files; `run_content.rs` recognizes
//!   insignificant lines.
//! - `path_class.rs` and `generated_pages.rs` classify files by their paths, and `amalgamations.rs` finds files that
//!   repeat others.

mod amalgamations;
mod files;
mod focus_terms;
mod generated_pages;
mod mentions;
mod path_class;
mod run_content;
mod subjects;
mod symbol_parts;
mod symbols;
mod text_matches;

pub use amalgamations::{FunctionSizes, find_amalgamations, hash_functions};
pub(in crate::search) use files::is_common_stem;
pub use files::{FileRanking, FileScore, FileSignals, FilesForSymbols, RankedFile, rank_files};
pub use focus_terms::query_of_focus;
pub use generated_pages::GeneratedPages;
pub use path_class::PathClass;
pub use subjects::{ChangeHorizon, MAX_COMMITS, PastCommit, change_scores, subject_scores, together_scores};
pub use symbol_parts::{ChunkMatches, FileWithSymbols, SymbolParts, match_chunks};
pub use symbols::rank_symbols;

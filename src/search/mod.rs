//! Parses the text of a task, and finds the files and symbols of a project that it is about.
//!
//! Knows: terms, the contents of task texts, scores. Does not know: files on disk, git, the store, how a document is
//! composed. It maps bytes and values to values.
//!
//! - `words.rs` splits any text into terms (`stems.rs`), which all parts of this room share.
//! - `traces` and `task` parse task texts, and `query.rs` prepares the result for ranking.
//! - `vector.rs` is the stored form of a content's terms.
//! - `rank.rs` scores the files of a project by their terms (`text_matches.rs`) and by history (`subjects.rs`).
//! - `rank_symbols.rs` and `symbol_parts.rs` continue with the symbols of the best files: their chunks (`chunks.rs`),
//!   text that the task quotes (`verbatim.rs`), and insignificant lines (`run_content.rs`). `windows.rs` cuts chunks
//!   that are too long.
//! - `path_class.rs` and `generated_pages.rs` classify files by their paths, and `amalgamations.rs` finds files that
//!   repeat others.
//! - `line_targets.rs` finds the files of mentioned lines, and `mentioned_files.rs` the mentioned paths that exist.
//!
//! Folders import only those before them: `words`, `traces`, `task`.

mod amalgamations;
mod bits;
mod bm25;
mod chunks;
mod comment_lines;
mod generated_pages;
mod installed_code;
mod line_targets;
mod mentioned_files;
mod path_class;
mod plain_text;
mod query;
mod rank;
mod rank_symbols;
mod run_content;
mod stems;
mod subjects;
mod subsequence;
mod symbol_parts;
mod task;
mod text_matches;
mod traces;
mod vector;
mod verbatim;
mod windows;
mod words;

pub use amalgamations::{FunctionSizes, find_amalgamations, hash_functions};
pub use bm25::{Saturation, inverse_frequency, real};
pub use chunks::{Chunk, FileChunks, chunk_file};
pub use generated_pages::GeneratedPages;
pub use mentioned_files::find_mentioned;
pub use path_class::PathClass;
pub use plain_text::{PlainText, plain_text};
pub use query::RankingQuery;
pub use rank::{FileRanking, FileScore, FileSignals, FilesForSymbols, RankedFile, rank_files};
pub use rank_symbols::rank_symbols;
pub use stems::{TERMS_VERSION, Term};
pub use subjects::{ChangeHorizon, MAX_COMMITS, PastCommit, change_scores, subject_scores, together_scores};
pub use subsequence::Subsequence;
pub use symbol_parts::{ChunkMatches, FileWithSymbols, SymbolParts, match_chunks};
pub use task::{Error, IgnoredTextReason, MentionedPath, MentionedPathKind, TaskReading, read_task};
pub use vector::{TermVector, VECTOR_VERSION, VectorBuilder};
pub use windows::cut_around_mentions;
pub use words::terms;

//! Reads the text of a task, and finds the files and symbols of a project that it is about.
//!
//! Knows: terms of a text, what a task text says, scores. Does not know: files on disk, git, the store, how a document
//! is composed. Bytes and values go in, values come out.
//!
//! `words.rs` splits any text into terms (`stems.rs`), the common vocabulary of this room. `task` and `traces` read what a
//! task says, and `query.rs` prepares it for ranking. `vector.rs` is what is stored of each content. `rank.rs` scores the files
//! of a project by these (`text_matches.rs`) and by history (`subjects.rs`); `chunks.rs`, `symbol_parts.rs` and `rank_symbols.rs` continue with the
//! symbols of the best files (`run_content.rs` says which lines mean nothing, and `verbatim.rs` what the task has word for word), and `windows.rs` cuts those that are too long.
//! `path_class.rs` and `generated_pages.rs` know files by their paths, and `amalgamations.rs` those that repeat others.
//! `line_targets.rs` says which files have the lines that a task points to, and `mentioned_files.rs` which of the paths that it
//! mentions are in the project.
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

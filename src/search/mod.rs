//! Parses the text of a task, and finds the files and symbols of a project that it is about.
//!
//! Knows: terms, the contents of task texts, scores. Does not know: files on disk, git, the store, how a document is
//! composed. It maps bytes and values to values.
//!
//! - `terms` splits texts into terms, and stores and scores these. All parts of this room use it.
//! - `traces` and `task` parse task texts, and `query.rs` prepares the result for ranking. `mentioned_files.rs` finds the
//!   mentioned paths that exist; `installed_code.rs` excludes those of installed packages.
//! - `chunks.rs` cuts texts into chunks, and `windows.rs` cuts chunks that are too long.
//! - `ranking` scores files and symbols.
//!
//! Folders import only those before them: `terms`, `traces`, `task`, `ranking`.

mod chunks;
mod comment_lines;
mod installed_code;
mod mentioned_files;
mod plain_text;
mod query;
mod ranking;
mod subsequence;
mod task;
mod terms;
mod traces;
mod windows;

pub use chunks::{Chunk, FileChunks, chunk_file};
pub use mentioned_files::find_mentioned;
pub use plain_text::{PlainText, plain_text};
pub use query::RankingQuery;
pub use ranking::{
    ChangeHorizon, ChunkMatches, FileRanking, FileScore, FileSignals, FileWithSymbols, FilesForSymbols,
    FunctionSizes, GeneratedPages, MAX_COMMITS, PastCommit, PathClass, RankedFile, SymbolParts,
    change_scores, find_amalgamations, hash_functions, match_chunks, query_of_focus, rank_files,
    rank_symbols, subject_scores, together_scores,
};
pub use subsequence::Subsequence;
pub use task::{Error, IgnoredTextReason, MentionedPath, MentionedPathKind, TaskReading, read_task};
pub use terms::{
    Saturation, TERMS_VERSION, Term, TermVector, VECTOR_VERSION, VectorBuilder, inverse_frequency, real,
    terms,
};
pub use traces::ProjectNames;
pub use windows::cut_around_mentions;

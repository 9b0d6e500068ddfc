//! Reads the text of a task, and finds the files and symbols of a project that it is about.
//!
//! Knows: terms of a text, what a task text says, scores. Does not know: files on disk, git, the store, how a document
//! is composed. Bytes and values go in, values come out.
//!
//! `words.rs` splits any text into terms, the common vocabulary of this room. `traces/` recognizes stack traces and
//! diagnostics, and `task/` reads the text of a task. Folders import only those before them: `words`, `traces`, `task`.

mod task;
mod traces;
mod words;

pub use task::{
    Error, IgnoredText, IgnoredTextReason, MAX_TASK_BYTES, MentionedName, MentionedPath, MentionedPathKind,
    QuotedText, TaskReading, TaskTerm, read_task,
};
pub use traces::{TraceFrame, TraceTool};
pub use words::{TERMS_VERSION, Term, Word, terms, words};

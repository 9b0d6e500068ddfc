//! Reads the text of a task, and finds the files and symbols of a project that it is about.
//!
//! Knows: terms of a text, what a task text says, scores. Does not know: files on disk, git, the store, how a document
//! is composed. Bytes and values go in, values come out.
//!
//! `words.rs` splits any text into terms, the common vocabulary of this room.

mod task;
mod traces;
mod words;

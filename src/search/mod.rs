//! Reads the text of a task, and finds the files and symbols of a project that it is about.
//!
//! Knows: terms of a text, what a task text says, scores. Does not know: files on disk, git, the store, how a document
//! is composed. Bytes and values go in, values come out.
//!
//! `words.rs` splits any text into terms, the common vocabulary of this room. `vector.rs` is what is stored of each
//! content.

mod bits;
mod chunks;
mod vector;
mod words;

pub use chunks::{Chunk, ChunkKind, Container, FileChunks, chunk_file};
pub use vector::{DamagedVector, QueryTerms, TermVector, VECTOR_VERSION, VectorBuilder};

//! Scanners that run before the parser.
//!
//! A scanner reads a text once, from its beginning to its end, and builds a
//! [`PreprocessedText`](crate::syntax::text::PreprocessedText): it elides what an outline does not need, synthesizes
//! what it has read with certainty, repairs what the grammar does not support, and copies the rest. If it meets
//! anything that it does not support (such as an unclosed bracket), it gives up, and the text is parsed unchanged: a
//! scanner must never lose a symbol by guessing.
//!
//! Knows: the bytes of a language. Does not know: trees, qualified names, docs. Imports `text` alone. Scanners of one
//! file are in the file of their language.

mod c;
mod python;

pub(in crate::syntax) use c::{macro_function, preprocess_c, preprocess_cpp};
pub(in crate::syntax) use python::{LARGE_LITERAL, preprocess_python};

//! Scanners that run before the parser.
//!
//! A scanner reads a text once, from its beginning to its end, and builds a
//! [`PreprocessedText`](crate::syntax::text::PreprocessedText): it elides what an outline does not need, synthesizes what
//! it has read for certain, repairs what the grammar would stumble over, and copies the rest. At the first thing that it
//! does not support (a bracket that nothing closes) it gives up, and the text is parsed as it is: no guess of a scanner may
//! cost a symbol.
//!
//! Knows: the bytes of a language. Does not know: trees, qualified names, docs. Imports `text` alone. Scanners of one
//! file are in the file of their language.

mod c;
mod python;

pub(in crate::syntax) use c::{preprocess_c, preprocess_cpp};
pub(in crate::syntax) use python::{LARGE_LITERAL, preprocess_python};

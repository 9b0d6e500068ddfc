//! Python: lines, indents, strings and brackets.
//!
//! The bodies of functions are taken out but for their docstrings, and so is what stands within strings and within
//! brackets, if no large literal is among it, for a skeleton tells the size of those. A comment becomes a `#`, so that it
//! stays where it belongs in the tree; only those within brackets are taken out. What is left is laid out as it was:
//! which line belongs to which block is for the grammar to say.

mod body;
mod brackets;
mod lines;
mod scan;
mod strings;
mod tokens;

use lines::PythonScanner;

use super::super::reduced::PreprocessedText;

/// Takes out of a Python text what neither its outline nor its skeleton needs.
pub(in crate::syntax) fn preprocess_python(text: &str) -> Option<PreprocessedText> {
    PythonScanner::new(text)?.preprocess()
}

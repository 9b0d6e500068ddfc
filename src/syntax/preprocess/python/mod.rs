//! The scanner for Python: lines, indents, strings and brackets.
//!
//! The bodies of functions are elided except for their docstrings, and so is what strings and brackets contain, unless
//! a large literal is among it, because a skeleton shows the size of those. A comment becomes a `#`, so that it keeps
//! its place in the tree; only comments within brackets are elided. The layout stays as it was: which line belongs to
//! which block is for the grammar to decide.

mod bodies;
mod scanner;
mod statements;
mod tokens;

pub(in crate::syntax) use scanner::preprocess_python;
pub(in crate::syntax) use tokens::LARGE_LITERAL;

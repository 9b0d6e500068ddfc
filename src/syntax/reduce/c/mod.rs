//! The scanner of C and C++.
//!
//! Start with `scan`: it goes from token to token and knows in which scope it stands. What is between two semicolons
//! is an item (`items`): either it is understood at sight (`read`) and supplied, or it is repaired (`repairs`) and
//! handed to the grammar. Insides of functions are run over (`bodies`); lines of the preprocessor are in `directives`,
//! and what they leave out is in `conditions`.

mod bodies;
mod bytes;
mod clauses;
mod conditions;
mod constants;
mod directives;
mod emit;
mod heads;
mod items;
mod names;
mod read;
mod repairs;
mod scan;
mod tokens;

#[cfg(test)]
mod tests;

use super::super::reduced::PreprocessedText;

/// Reduces a text in C.
pub(in crate::syntax) fn preprocess_c(text: &str) -> Option<PreprocessedText> {
    scan::CScanner::new(text, Dialect::C).preprocess()
}

/// Reduces a text in C++.
pub(in crate::syntax) fn preprocess_cpp(text: &str) -> Option<PreprocessedText> {
    scan::CScanner::new(text, Dialect::Cpp).preprocess()
}

/// Which of the two languages a text is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    C,
    Cpp,
}

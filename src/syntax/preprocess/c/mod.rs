//! The scanner of C and C++.
//!
//! Start with `scanner`: it goes from token to token. The code between two semicolons is an item (`items`): either it
//! is unambiguous (`item_reader`, `declarator_reader`, `function_reader`) and synthesized, or it is repaired (`emit`)
//! and given to the grammar. `heads` reads the heads of scopes, `directives` the lines of the preprocessor, which
//! decide the branches that are read.

mod declarator_reader;
mod directives;
mod emit;
mod function_reader;
mod heads;
mod item_reader;
mod items;
mod scanner;
mod tokens;
mod words;

#[cfg(test)]
mod tests;

pub(in crate::syntax) use scanner::{preprocess_c, preprocess_cpp};
pub(in crate::syntax) use words::macro_function;

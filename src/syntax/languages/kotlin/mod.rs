//! Kotlin and its scripts.
//!
//! The parser is not given the bodies of functions. An outline does not need them, and a guard of a `when` or a second
//! `catch` can make the grammar fail on a whole file. Anything that is not certainly the body of a function stays; a
//! text whose brackets do not match is parsed unchanged.

mod declarations;
mod scanner;
mod tokens;

pub(super) use declarations::KOTLIN;

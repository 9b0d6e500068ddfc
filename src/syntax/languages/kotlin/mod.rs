//! Kotlin and its scripts.
//!
//! The parser is not given the bodies of functions. An outline needs none of them, and the grammar loses whole files over
//! a guard of a `when` or a second `catch`. What is not surely the body of a function stays; a text whose brackets do not
//! match is parsed as it is.

mod declarations;
mod scanner;
mod tokens;

pub(super) use declarations::KOTLIN;

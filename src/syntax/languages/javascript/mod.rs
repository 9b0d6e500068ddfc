//! JavaScript with JSX; what TypeScript shares with it is here too.

mod bindings;
mod statements;

#[cfg(feature = "lang-typescript")]
pub(super) use bindings::read_file_comment;
#[cfg(feature = "lang-javascript")]
pub(super) use statements::JAVASCRIPT;
#[cfg(feature = "lang-typescript")]
pub(super) use statements::{JAVASCRIPT_NODES, field, method};

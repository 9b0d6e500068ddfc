//! JavaScript with JSX; what TypeScript shares with it is here too.

mod ampersands;
mod bindings;
mod statements;

pub(super) use ampersands::without_bare_ampersands;
#[cfg(feature = "lang-typescript")]
pub(super) use bindings::read_file_comment;
#[cfg(feature = "lang-javascript")]
pub(super) use statements::JAVASCRIPT;
#[cfg(feature = "lang-typescript")]
pub(super) use statements::{JAVASCRIPT_NODES, field, method};

//! JavaScript with JSX; what TypeScript shares with it is read here too.

mod bindings;
mod calls;
mod imports;
mod members;
mod table;
mod values;

#[cfg(feature = "lang-typescript")]
pub(super) use imports::read_file_comment;
#[cfg(feature = "lang-typescript")]
pub(super) use members::field;
#[cfg(feature = "lang-typescript")]
pub(super) use members::method;
#[cfg(feature = "lang-javascript")]
pub(super) use table::JAVASCRIPT;
#[cfg(feature = "lang-typescript")]
pub(super) use table::SHARED as JAVASCRIPT_NODES;

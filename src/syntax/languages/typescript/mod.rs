//! TypeScript, with JSX and without.

mod repairs;
mod symbols;
mod table;

pub(super) use table::TSX;
pub(super) use table::TYPESCRIPT;

//! PHP, with the HTML around it.

mod imports;
mod statements;
mod symbols;
mod table;

pub(super) use table::PHP;

//! CSS.

mod symbols;
mod table;

pub(super) use table::CSS;

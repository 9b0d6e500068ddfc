//! Ruby.

mod bodies;
mod calls;
mod symbols;
mod table;

pub(super) use table::RUBY;

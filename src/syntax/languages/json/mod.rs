//! JSON, with comments where there are some.

mod reduce;
mod symbols;
mod table;

pub(super) use table::JSON;

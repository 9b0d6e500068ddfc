//! C#.

mod conditionals;
mod literals;
mod symbols;
mod table;

pub(super) use table::CSHARP;

//! C#.

mod symbols;
mod table;

pub(super) use table::CSHARP;

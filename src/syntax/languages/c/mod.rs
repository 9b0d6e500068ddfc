//! C; what C++ shares with it is here too.

mod declarations;
mod declarators;
mod table;

pub(super) use declarations::{declaration, type_specifier};
pub(super) use table::{C, C_NODES, cut_synthesized};

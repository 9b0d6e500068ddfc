//! C; what C++ shares with it is read here too.

mod declarations;
mod declarators;
mod functions;
mod preprocessor;
mod supplied;
mod table;
mod types;

pub(super) use declarations::declaration;
pub(super) use supplied::cut_supplied;
pub(super) use table::C;
pub(super) use table::NODES as C_NODES;
pub(super) use types::type_specifier;

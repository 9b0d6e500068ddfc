//! C; what C++ shares with it is read here too.

mod declarations;
mod declarators;
mod functions;
mod preprocessor;
mod table;
mod types;

pub(super) use declarations::declaration;
pub(super) use declarations::type_definition;
pub(super) use functions::function_definition;
pub(super) use preprocessor::include;
pub(super) use preprocessor::macro_definition;
pub(super) use preprocessor::object_macro;
pub(super) use table::C;
pub(super) use types::enumerator;
pub(super) use types::type_specifier;

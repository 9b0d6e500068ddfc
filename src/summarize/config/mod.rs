//! Files that set a program up: key paths with their values.
//!
//! Knows: how five syntaxes spell keys. Does not know: what any key means, but that some name secrets. Each syntax
//! is read into one [`Value`] tree by its own file; `listing` alone writes trees as words.
//!
//! Start with [`describe`]; a new syntax begins in `read`.

mod json;
mod lines;
mod listing;
mod read;
mod relaxed;
mod toml;
mod value;
mod yaml;

pub(super) use read::describe;
pub(super) use read::keys;

use value::ConfigValue;

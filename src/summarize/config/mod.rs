//! Configuration files: key paths with their values.
//!
//! Knows: how five formats write keys. Does not know: what a key means, except that some name secrets. Each format is
//! read into one [`ConfigValue`] tree; this file alone renders trees.
//!
//! Start with [`describe`]; a new format begins in [`keys`].

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

//! YAML.

mod symbols;
mod table;

pub(super) use table::YAML;

//! YAML.

mod depth;
mod symbols;
mod table;

pub(super) use table::YAML;

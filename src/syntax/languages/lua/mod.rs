//! Lua.

mod symbols;
mod table;

pub(super) use table::LUA;

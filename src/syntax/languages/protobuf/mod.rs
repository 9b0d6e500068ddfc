//! Protocol buffers.

mod symbols;
mod table;

pub(super) use table::PROTOBUF;

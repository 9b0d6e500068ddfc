//! Dockerfiles.

mod symbols;
mod table;

pub(super) use table::DOCKERFILE;

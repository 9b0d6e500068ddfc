//! What a model is to be asked about a project, and what of its answers is shown.
//!
//! The engine says which contents lack a summary, in which order they matter, and what a model is to read of each. It
//! asks nobody: that is for the room `agent`.
//!
//! Start with [`Wish`] and `Project::errands`; a [`Preparer`] makes a prompt of each errand, on any thread.

mod eligible;
mod errand;
mod errands;
mod folders;
mod known;
mod lookup;
mod prepare;
mod previewing;
mod quiet;
mod subjects;
#[cfg(test)]
mod tests;
mod words;

pub use crate::discover::Options as SecretNames;
pub use eligible::NotAsked;
pub use errand::Errand;
pub use errand::Errands;
pub use errand::Place;
pub use errand::Prepared;
pub use errand::Wish;
pub use errand::Withheld;
pub use errand::keys_of;
pub use folders::Folder;
pub use folders::Leaf;
pub use folders::Node;
pub use folders::folders_of;
pub use prepare::Preparer;
pub use prepare::SecretAt;
pub use previewing::Preview;
pub use quiet::Quiet;
pub use words::LookupOptions;

pub(in crate::engine) use lookup::Desk;
pub(in crate::engine) use words::Asked;
pub(in crate::engine) use words::Chosen;
pub(in crate::engine) use words::Words;

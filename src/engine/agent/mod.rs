//! What a model is to be asked about a project, and what of its answers is shown.
//!
//! The engine says which contents lack a summary, in which order they matter, and what a model is to read of each. It
//! asks nobody: that is for the room `agent`.

mod errand;
mod lookup;

pub use errand::Errand;
pub use errand::Errands;
pub use errand::Place;
pub use errand::Prepared;
pub use errand::Wish;
pub use errand::Withheld;
pub use lookup::LookupOptions;

pub(in crate::engine) use lookup::Asked;
pub(in crate::engine) use lookup::Chosen;
pub(in crate::engine) use lookup::Desk;
pub(in crate::engine) use lookup::Words;

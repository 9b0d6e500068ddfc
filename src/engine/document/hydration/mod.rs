//! Hydration: places fragments of files, and stores the places. May import all other parts of `document`.
//!
//! `hydrate` writes the places and `fragments` the pins; `fragments` also answers questions about them between
//! hydrations. `order` orders the HOT fragments of a document.

mod fragments;
mod hydrate;
mod order;

pub use fragments::NamedFragments;
pub(in crate::engine) use fragments::{count_uses, fragments, with_places};
pub use hydrate::{HydrationAnswer, HydrationRequest};

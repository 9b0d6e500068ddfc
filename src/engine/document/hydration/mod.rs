//! Hydration: places fragments of files, and stores the places. May import all other parts of `document`.
//!
//! `hydrate` is the only writer of places, `order` orders the HOT fragments of a document, and `fragments` answers
//! questions about them between hydrations.

mod fragments;
mod hydrate;
mod order;

pub use fragments::NamedFragments;
pub(in crate::engine) use fragments::{count_uses, fragments, with_places};
pub use hydrate::{HydrationAnswer, HydrationRequest};

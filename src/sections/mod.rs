//! Reads the sections of a document that do not come from its files: discussions, tracked work, images.
//!
//! Knows: the formats of discussions and issues, and the signatures of image formats. Does not know: where the bytes
//! come from (the engine brings them), nor how a section is rendered (`render` does that).
//!
//! Start with [`read_discussion`], [`read_beads`] and [`image_media_type`].

mod beads;
mod discussion;
mod format;
mod message_parts;

pub use beads::read_beads;
pub use discussion::{Discussion, read_discussion};
pub use format::{DataSyntax, Error, image_media_type};

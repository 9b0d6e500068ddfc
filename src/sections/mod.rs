//! What stands in a document beside the files, read from the bytes that hold it: discussions, tracked work, images.
//!
//! Knows: the shapes in which discussions and issues are written down, and what an image begins with. Does not know:
//! where the bytes come from (the engine brings them), nor how a section is written (`render` does that).
//!
//! Start with [`discussion()`], [`beads()`] and [`media_type`].

mod beads;
mod discussion;
mod error;
mod image;
mod syntax;

pub use beads::read_beads;
pub use discussion::read_discussion;
pub use error::Error;
pub use image::image_media_type;
pub use syntax::DataSyntax;

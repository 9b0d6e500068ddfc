//! Texts that people read: title, headings, first paragraph.
//!
//! Knows: how some markups mark headings. Does not know: what a text means. Each markup is read into one [`Reading`]
//! by its own file; `write` alone writes readings as words.
//!
//! Start with [`describe`].

mod markdown;
mod marked;
mod reading;
mod restructured;
mod write;

pub(super) use write::describe;

use reading::ProseReading;

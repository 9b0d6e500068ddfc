//! Summaries of prose: title, headings, first paragraph.

mod markdown;
mod marked;
mod reading;
mod restructured;
mod write;

pub(super) use write::describe;

use reading::ProseReading;

//! The wire formats: how each writes a prompt, and where its responses hold the text and the token counts.
//!
//! Each body is written in one order, with everything that is the same for many files first, so that a provider finds
//! the prefix in its cache. Responses are read field by field and may contain more than is known here.

mod dispatch;
mod openai;
mod shared;
#[cfg(test)]
mod tests;
mod vendors;

pub(super) use dispatch::{answer, body, path_part, request, tokens};
pub use dispatch::{encode, marks_cache};
pub(super) use shared::JsonObject;

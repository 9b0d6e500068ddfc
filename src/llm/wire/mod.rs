//! The wire formats: how each writes a prompt, and where its responses hold the text and the token counts.
//!
//! Each body is written in one order, with everything that is the same for many files first, so that a provider finds
//! the prefix in its cache. Responses are read field by field and may contain more than is known here.

mod anthropic;
mod caching;
mod chat;
mod command;
mod gemini;
mod kinds;
mod ollama;
mod responses;

pub(super) use caching::is_marked;
pub(super) use command::encode_command;
pub(super) use kinds::answer;
pub(super) use kinds::body;
pub(super) use kinds::headers;
pub(super) use kinds::path;
pub(super) use kinds::secret_header;
pub(super) use kinds::tokens;

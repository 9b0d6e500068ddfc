//! The wire formats: what a question looks like on each, and where in an answer the words and the counts stand.
//!
//! Every body is written in one order, with all that is the same for many files before what is not, so that a provider
//! finds the beginning in its cache. Answers are read field by field: a server may say more than is known of it.

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

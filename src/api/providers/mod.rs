//! Request bodies, ready to be sent: the prefix first, so that a provider can cache it, then the discussion.
//!
//! Knows: each provider's field names, and how it marks what to cache. Does not know: addresses,
//! keys, or how a body is sent.
//!
//! Start with [`anthropic()`]; its siblings differ in names alone.

mod anthropic;
mod content;
mod gemini;
mod openai;
#[cfg(test)]
mod tests;

pub(super) use anthropic::anthropic;
pub(super) use content::PromptContent;
pub(super) use gemini::gemini;
pub(super) use openai::openai;

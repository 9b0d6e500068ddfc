//! Request bodies, ready to be sent: the prefix first, so that a provider can cache it, then the discussion.
//!
//! Knows: what each provider calls its fields, and where it wants to be told what to cache. Does not know: addresses,
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

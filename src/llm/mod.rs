//! The protocol of language models: how each provider expects a prompt, what its response means, what it costs.
//!
//! Knows: the wire formats, which failures are worth a retry and when, prices. Does not know: the content of prompts,
//! how bytes reach a server, what time it is, how much money is left. Every function here is pure. Providers are rows
//! of data (`config/providers.toml`), and so are prices (`config/prices.toml`).
//!
//! | part | purpose | may import |
//! |---|---|---|
//! | `catalog` | providers and prices, known before any call | – |
//! | `call` | models, their requests and the decoded results | `catalog` |
//! | `wire` | one file for each format | `call`, `catalog` |
//! | `decode`, `error_body`, `message_text`, `headers` | reading responses | `call`, `wire` |
//! | `batch` | many requests at once | all of these |
//! | `pacing` | retries, circuit breaker and rate limits | `call` |
//!
//! Start with [`encode()`] and [`decode()`]; [`RequestAttempt`] decides what follows each response.

pub mod batch;
mod call;
mod catalog;
mod decode;
mod error_body;
mod headers;
mod message_text;
mod pacing;
#[cfg(test)]
mod testing;
mod wire;

pub use call::{CallFailure, EncodedRequest, FailureClass, Model, ModelReply, RateLimits, SoftFailure};
#[cfg(test)]
pub use catalog::LongInputPrice;
pub use catalog::{
    PriceList, PriceRow, Provider, ProviderRow, ProviderRowError, QuirkRow, TokenPrice, WireFormat,
    built_in_prices, built_in_providers,
};
pub use decode::{decode, decode_command};
pub use pacing::{
    AttemptEffect, AttemptEvent, BreakerState, CircuitBreaker, GiveUpReason, RateDecision, RateLimiter,
    RequestAttempt, RetryBudget,
};
pub use wire::{encode, marks_cache};

//! The protocol of language models: how each provider expects a prompt, what its response means, what it costs.
//!
//! Knows: the wire formats, which failures are worth a retry and when, prices. Does not know: the content of prompts,
//! how bytes reach a server, what time it is, how much money is left. Every function here is pure. Providers are rows
//! of data (`config/providers.toml`), and so are prices (`config/prices.toml`).
//!
//! | part | purpose | may import |
//! |---|---|---|
//! | `provider`, `price` | providers and prices, known before any call | – |
//! | `call` | models, their requests and the decoded results | `provider`, `price` |
//! | `wire` | how each format is written and read | `call`, `provider` |
//! | `decode`, `error_body`, `message_text`, `headers` | reading responses | `call`, `wire` |
//! | `batch` | many requests at once | all of these |
//! | `attempt`, `limits` | retries, circuit breaker and rate limits | `call` |
//!
//! Start with [`encode()`] and [`decode()`]; [`RequestAttempt`] decides what follows each response.

mod attempt;
pub mod batch;
mod call;
mod decode;
mod error_body;
mod headers;
mod limits;
mod message_text;
mod price;
mod provider;
#[cfg(test)]
mod testing;
mod wire;

pub use attempt::{AttemptEffect, AttemptEvent, GiveUpReason, RequestAttempt};
pub use call::{CallFailure, EncodedRequest, FailureClass, Model, ModelReply, RateLimits, SoftFailure};
pub use decode::{decode, decode_command};
pub use limits::{BreakerState, CircuitBreaker, RateDecision, RateLimiter, RetryBudget};
#[cfg(test)]
pub use price::LongInputPrice;
pub use price::{PriceList, PriceRow, TokenPrice, built_in_prices};
pub use provider::{Provider, ProviderRow, ProviderRowError, QuirkRow, WireFormat, built_in_providers};
pub use wire::{encode, marks_cache};

//! The protocol of language models: how each provider expects a prompt, what its response means, what it costs.
//!
//! Knows: the wire formats, which failures are worth a retry and when, prices. Does not know: the content of prompts,
//! how bytes reach a server, what time it is, how much money is left. Every function here is pure. Providers are rows
//! of data (`config/providers.toml`), and so are prices (`config/prices.toml`).
//!
//! Start with [`encode()`] and [`decode()`]; [`RequestAttempt`] decides what follows each response.

pub mod batch;

mod attempt;
mod breaker;
mod budget;
mod decode;
mod encode;
mod failure;
mod limits;
mod model;
mod pace;
mod price;
mod provider;
mod reply;
mod retry_after;
mod row;
#[cfg(test)]
mod testing;
mod text;
mod wire;

pub use attempt::AttemptEffect;
pub use attempt::AttemptEvent;
pub use attempt::GiveUpReason;
pub use attempt::RequestAttempt;
pub use breaker::BreakerState;
pub use breaker::CircuitBreaker;
pub use budget::RetryBudget;
pub use decode::decode;
pub use decode::decode_command;
pub use encode::encode;
pub use encode::marks_cache;
pub use model::Model;
pub use pace::RateDecision;
pub use pace::RateLimiter;
pub use price::LongInputPrice;
pub use price::PriceList;
pub use price::PriceRow;
pub use price::TokenPrice;
pub use price::built_in_prices;
pub use price::dollars;
pub use provider::ModelQuirk;
pub use provider::Provider;
pub use provider::WireFormat;
pub use reply::CallFailure;
pub use reply::EncodedRequest;
pub use reply::FailureClass;
pub use reply::LimitWindow;
pub use reply::ModelReply;
pub use reply::RateLimits;
pub use reply::SoftFailure;
pub use row::ProviderRow;
pub use row::ProviderRowError;
pub use row::QuirkRow;
pub use row::built_in_providers;

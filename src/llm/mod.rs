//! One question to a language model: as each provider wants it written, what its answer means, what it costs.
//!
//! Knows: the wire formats, which refusals are worth another try and when, prices. Does not know: what is asked, how
//! bytes reach a server, what time it is, how much money is left. Every function here is pure. Providers are rows of
//! data (`config/providers.toml`), and so are prices (`config/prices.toml`).
//!
//! Start with [`encode()`] and [`decode()`]; [`Attempt`] says what is done after each answer.

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

pub use attempt::Attempt;
pub use attempt::Effect;
pub use attempt::Event;
pub use attempt::Failure;
pub use breaker::Breaker;
pub use breaker::Gate;
pub use budget::RetryBudget;
pub use decode::decode;
pub use decode::decode_command;
pub use encode::encode;
pub use encode::marks_cache;
pub use model::Model;
pub use pace::Rates;
pub use pace::Turn;
pub use price::LongPrice;
pub use price::Price;
pub use price::PriceList;
pub use price::PriceRow;
pub use price::built_in_prices;
pub use price::dollars;
pub use provider::Provider;
pub use provider::Quirk;
pub use provider::Wire;
pub use reply::Class;
pub use reply::Pace;
pub use reply::Refusal;
pub use reply::Reply;
pub use reply::Sending;
pub use reply::Soft;
pub use reply::Window;
pub use row::ProviderRow;
pub use row::QuirkRow;
pub use row::RowError;
pub use row::built_in_providers;

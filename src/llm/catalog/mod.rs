//! What is known about models before any call: providers and prices, as rows of data.
//!
//! Imports nothing else of this room.

mod price;
mod provider;

#[cfg(test)]
pub use price::LongInputPrice;
pub use price::{PriceList, PriceRow, TokenPrice, built_in_prices};
pub use provider::{Provider, ProviderRow, ProviderRowError, QuirkRow, WireFormat, built_in_providers};

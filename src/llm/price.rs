//! What tokens cost.

use crate::model::Money;

/// What a million tokens of a model cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Input.
    pub input: Money,
    /// Input that the provider had in its cache.
    pub cache_read: Money,
    /// Input that the provider takes into its cache.
    pub cache_write: Money,
    /// Output, with what the model thinks.
    pub output: Money,
    /// From how many tokens of input on all of it costs more, and what a million of it costs then.
    pub long_input: Option<(u64, Money)>,
}

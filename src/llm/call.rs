//! Models, the requests that are sent to them, and the decoded responses, independent of the provider.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::price::TokenPrice;
use super::provider::Provider;
use crate::model::{HttpRequest, ModelName, TokenUsage};

/// A request as it is sent.
#[derive(Debug, Clone)]
pub enum EncodedRequest {
    Web(HttpRequest),
    /// To a program, on its standard input.
    Command {
        command: Vec<String>,
        input: String,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct ModelReply {
    /// The model's text, as it came.
    pub text: String,
    pub tokens: TokenUsage,
    /// The provider's id of the call.
    pub request_id: Option<String>,
    /// The provider's reported limits.
    pub rate_limits: RateLimits,
}

/// A call without a usable answer.
#[derive(Debug, Clone, PartialEq)]
pub struct CallFailure {
    pub class: FailureClass,
    /// The provider's message, printable and short.
    pub message: String,
    /// The delay that the provider requested.
    pub retry_after: Option<Duration>,
    /// The tokens used; `None` if nothing is charged. A response with a success status is charged whatever it says:
    /// it always has some, each of whose counts may be unknown.
    pub tokens: Option<TokenUsage>,
    /// The provider's id of the call.
    pub request_id: Option<String>,
    /// The provider's reported limits.
    pub rate_limits: RateLimits,
}

impl CallFailure {
    /// Returns a failure for which nothing is charged, and of which nothing else is known.
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            retry_after: None,
            tokens: None,
            request_id: None,
            rate_limits: RateLimits::default(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureClass {
    /// Too many calls or tokens for now: wait as requested, and slow down.
    Rate,
    /// The server has an outage: retry with increasing delays.
    Overload,
    /// Payment or quota is needed: never retry until a user has acted.
    Money,
    /// The key is not accepted: likewise.
    Auth,
    /// It cannot be called as configured: likewise.
    Settings,
    /// The prompt is too long for the model: shorten it once, or try another model.
    TooLong,
    /// The request is invalid for this model: another model may accept it.
    Request,
    /// It answered, but without a summary.
    Soft(SoftFailure),
    /// The response is not in the wire format. It may be charged.
    Garbled,
}

/// Answers without a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SoftFailure {
    /// The model declined, or a filter withheld the answer.
    Declined,
    Empty,
    /// It was cut off at the token limit.
    CutOff,
    Misshapen,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RateLimits {
    pub requests: Option<LimitWindow>,
    /// The limit of tokens, or of input tokens if they are reported separately.
    pub tokens: Option<LimitWindow>,
}

impl RateLimits {
    /// Returns the limits with their resets no later than a requested delay. A reset may be minutes away; a server
    /// that requests a delay knows better.
    #[must_use]
    pub fn capped_at(self, wait: Option<Duration>) -> Self {
        let Some(wait) = wait else { return self };
        let sooner = |window: LimitWindow| LimitWindow { resets_in: window.resets_in.min(wait), ..window };
        Self { requests: self.requests.map(sooner), tokens: self.tokens.map(sooner) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitWindow {
    /// How much is allowed.
    pub limit: Option<u64>,
    /// How much of it is left.
    pub remaining: u64,
    pub resets_in: Duration,
}

/// A model and its parameters. What is `None` is not sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    pub provider: Arc<Provider>,
    pub name: String,
    /// Sampling temperature, if configured: many models reject any.
    pub temperature: Option<f64>,
    /// Nucleus sampling, likewise.
    pub top_p: Option<f64>,
    /// The most tokens of an answer, reasoning included, if it is not left to the prompt.
    pub max_output_tokens: Option<u32>,
    /// Its price; `None` if unknown. A free model has a price of zero.
    pub price: Option<TokenPrice>,
    /// From how many tokens on the provider caches a prompt's prefix; `None` if unknown.
    pub min_cacheable_tokens: Option<u32>,
}

impl Model {
    /// Returns its name together with its provider's.
    pub fn full_name(&self) -> ModelName {
        ModelName { provider: self.provider.name.clone(), model: self.name.clone() }
    }

    /// Returns the additional fields that the provider expects in a body for this model.
    pub(super) fn quirk_fields(&self) -> Option<&Map<String, Value>> {
        self.provider.quirk(&self.name).map(|quirk| &quirk.fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requested_delay_overrides_a_later_reset() {
        let window =
            |seconds| LimitWindow { limit: Some(60), remaining: 0, resets_in: Duration::from_secs(seconds) };
        let pace = RateLimits { requests: Some(window(1)), tokens: Some(window(360)) };
        let told = pace.capped_at(Some(Duration::from_secs(2)));
        assert_eq!(told, RateLimits { requests: Some(window(1)), tokens: Some(window(2)) });
        assert_eq!(pace.capped_at(None), pace);
    }
}

//! What is sent, and what came back of it, whoever the provider is.

use std::time::Duration;

use crate::model::HttpRequest;
use crate::model::TokenUsage;

/// A question as it is sent.
#[derive(Debug, Clone)]
pub enum EncodedRequest {
    /// To a server.
    Web(HttpRequest),
    /// To a program, on its standard input.
    Command {
        /// The program and its arguments.
        command: Vec<String>,
        /// What it reads.
        input: String,
    },
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelReply {
    /// The model's words, as they came.
    pub text: String,
    /// What was counted.
    pub tokens: TokenUsage,
    /// The provider's name for the call, by which it finds it again.
    pub request_id: Option<String>,
    /// What the provider says of its limits.
    pub rate_limits: RateLimits,
}

/// There are no words that can be used.
#[derive(Debug, Clone, PartialEq)]
pub struct CallFailure {
    /// Of which kind it is: that decides what is done about it.
    pub class: FailureClass,
    /// What the provider said, made printable and short.
    pub message: String,
    /// How long the provider wants to be left alone, where it said so.
    pub retry_after: Option<Duration>,
    /// What was counted; `None` where nothing is charged. An answer with a good status is charged whatever it says: there
    /// are always some, each of whose parts may be unknown.
    pub tokens: Option<TokenUsage>,
    /// The provider's name for the call.
    pub request_id: Option<String>,
    /// What the provider says of its limits.
    pub rate_limits: RateLimits,
}

/// Kinds of refusals, by what is done about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureClass {
    /// Too many calls or tokens for now: wait as told, and go slower.
    Rate,
    /// The server is in trouble: try again, ever later.
    Overload,
    /// There is no more money, or no more allowance: never again, until a person has done something.
    Money,
    /// The key is not accepted: likewise.
    Auth,
    /// As the settings say, it cannot be asked at all: likewise.
    Settings,
    /// The prompt is too long for the model: a shorter one, once, or another model.
    TooLong,
    /// The request is wrong for this model: another model may take it.
    Request,
    /// It answered, and there is no summary in it.
    Soft(SoftFailure),
    /// What came is not what this wire answers. It may be charged.
    Garbled,
}

/// Answers without a summary in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SoftFailure {
    /// The model would not, or a filter kept it back.
    Declined,
    /// It is empty.
    Empty,
    /// It was cut off at the most tokens that were allowed.
    CutOff,
    /// It is not of the shape that was asked for.
    Misshapen,
}

/// What a provider says of its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RateLimits {
    /// Of calls.
    pub requests: Option<LimitWindow>,
    /// Of tokens; of those of the input where they are told apart.
    pub tokens: Option<LimitWindow>,
}

impl RateLimits {
    /// Returns the limits as they are to be heeded by one who was told how long to wait. Limits tell when they are full
    /// again, which may be minutes; a server that says when to come again knows better.
    #[must_use]
    pub fn capped_at(self, wait: Option<Duration>) -> Self {
        let Some(wait) = wait else { return self };
        let sooner = |window: LimitWindow| LimitWindow { resets_in: window.resets_in.min(wait), ..window };
        Self { requests: self.requests.map(sooner), tokens: self.tokens.map(sooner) }
    }
}

/// One limit, as it stands after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitWindow {
    /// How much is allowed.
    pub limit: Option<u64>,
    /// How much of it is left.
    pub remaining: u64,
    /// When it is full again, from now.
    pub resets_in: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_told_how_long_to_wait_waits_no_longer_for_a_limit() {
        let window =
            |seconds| LimitWindow { limit: Some(60), remaining: 0, resets_in: Duration::from_secs(seconds) };
        let pace = RateLimits { requests: Some(window(1)), tokens: Some(window(360)) };
        let told = pace.capped_at(Some(Duration::from_secs(2)));
        assert_eq!(told, RateLimits { requests: Some(window(1)), tokens: Some(window(2)) });
        assert_eq!(pace.capped_at(None), pace);
    }
}

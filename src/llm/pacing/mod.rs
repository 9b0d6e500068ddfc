//! When a provider is called: retries of one request, the circuit breaker and the rate limits of a provider.
//!
//! Pure state machines: time and randomness are passed in. Imports `call`, whose failures they classify by.

mod attempt;
mod breaker;
mod rate;

pub use attempt::{AttemptEffect, AttemptEvent, GiveUpReason, RequestAttempt};
pub use breaker::{BreakerState, CircuitBreaker, RetryBudget};
pub use rate::{RateDecision, RateLimiter};

//! Decides what follows each response to one request, until there is an answer or no model is left.
//!
//! A pure state machine without clock, network or store: [`RequestAttempt::step`] takes what happened and returns
//! what to do next; randomness is passed in. The state of a provider as a whole (whether it rests, at what rate it is
//! called) is kept by [`CircuitBreaker`](super::CircuitBreaker) and [`RateLimiter`](super::RateLimiter).

use std::time::Duration;

use super::call::{CallFailure, FailureClass, SoftFailure};

/// The most calls to one model for one task.
const MAX_TRIES: u32 = 4;
/// The upper bound of the first backoff; it doubles with each retry.
const FIRST_BACKOFF: Duration = Duration::from_millis(500);
/// The longest backoff, apart from delays that the provider requested.
const MAX_BACKOFF: Duration = Duration::from_secs(8);
/// The longest requested delay that is honored.
const MAX_RETRY_AFTER: Duration = Duration::from_mins(15);

/// One request on its way through the models of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestAttempt {
    model: usize,
    models: usize,
    /// How often the current model has been called.
    tries: u32,
    is_halved: bool,
    /// Whether the model has had its second chance after an unusable answer.
    has_tried_again: bool,
    /// The gravest reason for which earlier models were given up.
    reason: Option<GiveUpReason>,
}

#[derive(Debug, Clone, Copy)]
pub enum AttemptEvent<'a> {
    Answered,
    /// The call failed, or the answer is unusable.
    Failed(&'a CallFailure),
    /// No response came: nothing was sent, it took too long, or the connection broke.
    Lost,
    /// The model's provider must not be called now: it is disabled, or was retried too often.
    Denied(GiveUpReason),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptEffect {
    Accept,
    /// Call the same model again after a delay.
    Retry {
        /// How long to wait.
        after: Duration,
        /// Whether this counts against the provider's retry budget.
        is_retry: bool,
    },
    /// Call the same model at once with half of the material.
    HalveMaterial,
    /// Call the next model with all of the material.
    Escalate,
    /// Give up: no model is left.
    GiveUp(GiveUpReason),
}

/// Why no model answered, as far as needed to decide when to retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GiveUpReason {
    /// Providers had outages or asked for a delay: the subject is not at fault.
    Outage,
    /// Providers require payment or another key: a user must act.
    Account,
    /// The request or its answers are useless. The same request would fare no better soon.
    Useless,
    Declined,
}

impl GiveUpReason {
    /// Returns the reason for giving up after a failure of this class.
    pub const fn from_class(class: FailureClass) -> Self {
        match class {
            FailureClass::Rate | FailureClass::Overload => Self::Outage,
            FailureClass::Money | FailureClass::Auth | FailureClass::Settings => Self::Account,
            FailureClass::Soft(SoftFailure::Declined) => Self::Declined,
            FailureClass::TooLong
            | FailureClass::Request
            | FailureClass::Garbled
            | FailureClass::Soft(SoftFailure::Empty | SoftFailure::CutOff | SoftFailure::Misshapen) => {
                Self::Useless
            }
        }
    }
}

impl RequestAttempt {
    /// Starts with the first of this many models.
    pub const fn new(models: usize) -> Self {
        Self { model: 0, models, tries: 0, is_halved: false, has_tried_again: false, reason: None }
    }

    pub const fn model_index(&self) -> usize {
        self.model
    }

    /// Returns how often the material must be halved.
    pub const fn shrink(&self) -> u8 {
        if self.is_halved { 1 } else { 0 }
    }

    /// Advances by one event. `jitter` is a random number from 0 to 1.
    #[must_use]
    pub fn step(mut self, event: AttemptEvent<'_>, jitter: f64) -> (Self, AttemptEffect) {
        match event {
            AttemptEvent::Answered => (self, AttemptEffect::Accept),
            AttemptEvent::Denied(failure) => self.next_model(failure),
            AttemptEvent::Lost => {
                self.tries += 1;
                self.retry(None, jitter)
            }
            AttemptEvent::Failed(refusal) => {
                self.tries += 1;
                self.on_failure(refusal, jitter)
            }
        }
    }

    fn on_failure(self, refusal: &CallFailure, jitter: f64) -> (Self, AttemptEffect) {
        match refusal.class {
            FailureClass::Rate | FailureClass::Overload => self.retry(refusal.retry_after, jitter),
            // Halved only once: a prompt that is still too long is beyond this model.
            FailureClass::TooLong if !self.is_halved => {
                (Self { is_halved: true, ..self }, AttemptEffect::HalveMaterial)
            }
            // The same model would reject the same request again, but another one may accept it.
            FailureClass::TooLong
            | FailureClass::Request
            | FailureClass::Soft(SoftFailure::Declined)
            | FailureClass::Money
            | FailureClass::Auth
            | FailureClass::Settings => self.next_model(GiveUpReason::from_class(refusal.class)),
            // Sampling may do better the second time; a third call would mostly pay for the same failure.
            FailureClass::Soft(SoftFailure::Empty | SoftFailure::CutOff | SoftFailure::Misshapen) => {
                self.retry_once(refusal.retry_after, jitter, false)
            }
            // Unlike an unusable answer this may be an outage, so it counts against the retry budget.
            FailureClass::Garbled => self.retry_once(refusal.retry_after, jitter, true),
        }
    }

    /// Calls again while there are tries left.
    fn retry(self, asked: Option<Duration>, jitter: f64) -> (Self, AttemptEffect) {
        if MAX_TRIES <= self.tries {
            return self.next_model(GiveUpReason::Outage);
        }
        let after = backoff(self.tries, asked, jitter);
        (self, AttemptEffect::Retry { after, is_retry: true })
    }

    /// Calls once more, because the same model may do better by chance.
    fn retry_once(self, asked: Option<Duration>, jitter: f64, is_retry: bool) -> (Self, AttemptEffect) {
        if self.has_tried_again || MAX_TRIES <= self.tries {
            return self.next_model(GiveUpReason::Useless);
        }
        let after = backoff(self.tries, asked, jitter);
        (Self { has_tried_again: true, ..self }, AttemptEffect::Retry { after, is_retry })
    }

    /// Continues with the next model. The reason that counts is not the one that lasts longest: a provider with an
    /// outage may answer tomorrow, whatever the others said.
    fn next_model(self, failure: GiveUpReason) -> (Self, AttemptEffect) {
        let failure = self.reason.map_or(failure, |earlier| earlier.min(failure));
        // All else starts anew: the next model may have a longer context, and has not been tried.
        let next = Self { model: self.model + 1, reason: Some(failure), ..Self::new(self.models) };
        let effect =
            if next.model < next.models { AttemptEffect::Escalate } else { AttemptEffect::GiveUp(failure) };
        (next, effect)
    }
}

/// Returns the delay after this many tries: random up to a limit that doubles, so that clients that failed together
/// do not return together, and never less than requested.
fn backoff(tries: u32, asked: Option<Duration>, jitter: f64) -> Duration {
    // The exponent is bounded so that the shift cannot overflow; `MAX_BACKOFF` is reached long before.
    let doubled = FIRST_BACKOFF.saturating_mul(1 << tries.saturating_sub(1).min(8));
    let backoff = doubled.min(MAX_BACKOFF).mul_f64(jitter.clamp(0.0, 1.0));
    match asked {
        // Added to the requested delay too: all clients with the same delay would return at the same moment.
        Some(asked) => asked.min(MAX_RETRY_AFTER) + backoff,
        None => backoff,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::call::RateLimits;

    fn refusal(class: FailureClass, wait: Option<u64>) -> CallFailure {
        let wait = wait.map(Duration::from_secs);
        CallFailure {
            class,
            message: String::new(),
            retry_after: wait,
            tokens: None,
            request_id: None,
            rate_limits: RateLimits::default(),
        }
    }

    /// Fails repeatedly and returns each effect, until nothing is left.
    fn all(models: usize, class: FailureClass, wait: Option<u64>, jitter: f64) -> Vec<AttemptEffect> {
        let (mut attempt, mut effects) = (RequestAttempt::new(models), Vec::new());
        loop {
            let (next, effect) = attempt.step(AttemptEvent::Failed(&refusal(class, wait)), jitter);
            attempt = next;
            effects.push(effect);
            if matches!(effect, AttemptEffect::GiveUp(_)) {
                return effects;
            }
        }
    }

    fn again(millis: u64) -> AttemptEffect {
        AttemptEffect::Retry { after: Duration::from_millis(millis), is_retry: true }
    }

    #[test]
    fn a_failing_server_is_called_four_times_with_growing_delays() {
        let effects = all(1, FailureClass::Overload, None, 1.0);
        assert_eq!(
            effects,
            [again(500), again(1_000), again(2_000), AttemptEffect::GiveUp(GiveUpReason::Outage)]
        );
        assert_eq!(all(1, FailureClass::Overload, None, 0.0)[..3], [again(0), again(0), again(0)]);
    }

    #[test]
    fn a_lost_connection_counts_as_an_outage() {
        let (attempt, effect) = RequestAttempt::new(1).step(AttemptEvent::Lost, 1.0);
        assert_eq!(effect, again(500));
        let (_, effect) = attempt.step(AttemptEvent::Lost, 1.0);
        assert_eq!(effect, again(1_000));
    }

    #[test]
    fn requested_delays_are_kept() {
        for jitter in [0.0, 0.3, 1.0] {
            for effect in all(1, FailureClass::Rate, Some(30), jitter) {
                if let AttemptEffect::Retry { after, .. } = effect {
                    assert!(
                        Duration::from_secs(30) <= after && after <= Duration::from_secs(38),
                        "{after:?}"
                    );
                }
            }
        }
        assert_eq!(all(1, FailureClass::Rate, Some(u64::MAX / 2), 0.0)[0], again(900_000));
    }

    #[test]
    fn payment_and_key_errors_are_not_retried() {
        for class in [FailureClass::Money, FailureClass::Auth, FailureClass::Settings] {
            assert_eq!(all(1, class, None, 0.5), [AttemptEffect::GiveUp(GiveUpReason::Account)]);
            assert_eq!(
                all(2, class, None, 0.5),
                [AttemptEffect::Escalate, AttemptEffect::GiveUp(GiveUpReason::Account)]
            );
        }
    }

    #[test]
    fn an_invalid_request_goes_to_the_next_model_at_once() {
        assert_eq!(
            all(2, FailureClass::Request, None, 0.5),
            [AttemptEffect::Escalate, AttemptEffect::GiveUp(GiveUpReason::Useless)]
        );
    }

    #[test]
    fn a_prompt_that_is_too_long_is_halved_once_for_each_model() {
        let effects = all(2, FailureClass::TooLong, None, 0.5);
        assert_eq!(
            effects,
            [
                AttemptEffect::HalveMaterial,
                AttemptEffect::Escalate,
                AttemptEffect::HalveMaterial,
                AttemptEffect::GiveUp(GiveUpReason::Useless)
            ]
        );
        let (attempt, _) =
            RequestAttempt::new(2).step(AttemptEvent::Failed(&refusal(FailureClass::TooLong, None)), 0.0);
        assert_eq!((attempt.model_index(), attempt.shrink()), (0, 1));
        let (attempt, _) = attempt.step(AttemptEvent::Failed(&refusal(FailureClass::TooLong, None)), 0.0);
        assert_eq!((attempt.model_index(), attempt.shrink()), (1, 0));
    }

    #[test]
    fn unusable_answers_are_retried_once() {
        for soft in [SoftFailure::Empty, SoftFailure::CutOff, SoftFailure::Misshapen] {
            let effects = all(1, FailureClass::Soft(soft), None, 0.0);
            let once = AttemptEffect::Retry { after: Duration::ZERO, is_retry: false };
            assert_eq!(effects, [once, AttemptEffect::GiveUp(GiveUpReason::Useless)]);
        }
        assert_eq!(
            all(1, FailureClass::Garbled, None, 0.0),
            [again(0), AttemptEffect::GiveUp(GiveUpReason::Useless)]
        );
    }

    #[test]
    fn a_model_that_declines_is_not_retried() {
        assert_eq!(
            all(2, FailureClass::Soft(SoftFailure::Declined), None, 0.0),
            [AttemptEffect::Escalate, AttemptEffect::GiveUp(GiveUpReason::Declined)]
        );
    }

    #[test]
    fn of_several_failures_the_most_temporary_one_counts() {
        let (attempt, effect) = RequestAttempt::new(2)
            .step(AttemptEvent::Failed(&refusal(FailureClass::Soft(SoftFailure::Declined), None)), 0.0);
        assert_eq!(effect, AttemptEffect::Escalate);
        let (_, effect) = attempt.step(AttemptEvent::Denied(GiveUpReason::Outage), 0.0);
        assert_eq!(effect, AttemptEffect::GiveUp(GiveUpReason::Outage));
    }

    #[test]
    fn no_mixture_of_failures_calls_one_model_more_than_four_times() {
        let classes = [
            FailureClass::Rate,
            FailureClass::Garbled,
            FailureClass::Soft(SoftFailure::Empty),
            FailureClass::TooLong,
            FailureClass::Overload,
        ];
        for start in 0..classes.len() {
            let (mut attempt, mut calls) = (RequestAttempt::new(1), 0);
            for class in classes.iter().cycle().skip(start) {
                calls += 1;
                let (next, effect) = attempt.step(AttemptEvent::Failed(&refusal(*class, None)), 1.0);
                attempt = next;
                if matches!(effect, AttemptEffect::GiveUp(_)) {
                    break;
                }
            }
            assert!(calls <= MAX_TRIES, "{calls} calls from {start}");
        }
    }
}

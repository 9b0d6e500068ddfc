//! What is done after each answer to one question, until there are words or nobody is left to be asked.
//!
//! A pure machine: it knows no clock, no network and no store. [`Attempt::step`] is told what happened and says what to
//! do next; chance comes in as a number. What a provider as a whole has earned by its answers (to be left alone, to be
//! asked more slowly) is for [`Breaker`](super::Breaker) and [`Rates`](super::Rates).

use std::time::Duration;

use super::Class;
use super::Refusal;
use super::Soft;

/// The most calls to one model about one subject.
const MOST_TRIES: u32 = 4;
/// The first wait is up to so long; each later one up to twice as long as the one before it.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// No wait that nobody asked for is longer.
const LONGEST_WAIT: Duration = Duration::from_secs(8);
/// Who wants to be left alone for longer is not believed.
const LONGEST_ASKED: Duration = Duration::from_mins(15);

/// One question on its way through the models that may answer it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Which model is asked, from 0 on.
    model: usize,
    /// How many there are.
    models: usize,
    /// How often this model has been asked.
    tries: u32,
    /// Whether it was asked with half of the material.
    is_halved: bool,
    /// Whether it has had its second try after an answer that could not be used.
    has_tried_again: bool,
    /// Why the models before this one failed, the last one.
    failure: Option<Failure>,
}

/// What happened.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// There are words that can be used.
    Answered,
    /// There are none.
    Refused(&'a Refusal),
    /// No answer came: nothing was sent, it took too long, or the connection broke.
    Lost,
    /// This model's provider is not to be asked now: it is off, or it was asked again too often of late.
    Barred(Failure),
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The words are taken.
    Accept,
    /// The same model is asked again, not before that time has passed.
    AskAgain {
        /// How long to wait.
        after: Duration,
        /// Whether this counts against how often a provider may be asked again: it is in trouble.
        is_retry: bool,
    },
    /// The same model is asked about half of the material, at once.
    Halve,
    /// The next model is asked, about all of it.
    Escalate,
    /// There is none.
    GiveUp(Failure),
}

/// Why no model has words, as far as that decides when to try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Failure {
    /// Providers are in trouble or want to be left alone: the subject has nothing to do with it.
    Outage,
    /// Providers want money or another key: a person has to do something.
    Account,
    /// The question, or the answers to it, are of no use. The same question would fare no better soon.
    Useless,
    /// A model would not.
    Declined,
}

impl Failure {
    /// Returns what it comes to where nobody is asked again after such a refusal.
    pub const fn of(class: Class) -> Self {
        match class {
            Class::Rate | Class::Overload => Self::Outage,
            Class::Money | Class::Auth | Class::Settings => Self::Account,
            Class::Soft(Soft::Declined) => Self::Declined,
            Class::TooLong
            | Class::Request
            | Class::Garbled
            | Class::Soft(Soft::Empty | Soft::CutOff | Soft::Misshapen) => Self::Useless,
        }
    }
}

impl Attempt {
    /// Begins with the first of so many models.
    pub const fn new(models: usize) -> Self {
        Self { model: 0, models, tries: 0, is_halved: false, has_tried_again: false, failure: None }
    }

    /// Returns which model is asked now, from 0 on.
    pub const fn model(&self) -> usize {
        self.model
    }

    /// Returns how often the material is to be halved.
    pub const fn shrink(&self) -> u8 {
        if self.is_halved { 1 } else { 0 }
    }

    /// Goes on by what happened. `jitter` is a number from 0 to 1, by chance.
    #[must_use]
    pub fn step(mut self, event: Event<'_>, jitter: f64) -> (Self, Effect) {
        match event {
            Event::Answered => (self, Effect::Accept),
            Event::Barred(failure) => self.next_model(failure),
            Event::Lost => {
                self.tries += 1;
                self.retry(None, jitter)
            }
            Event::Refused(refusal) => {
                self.tries += 1;
                self.refused(refusal, jitter)
            }
        }
    }

    fn refused(self, refusal: &Refusal, jitter: f64) -> (Self, Effect) {
        match refusal.class {
            Class::Rate | Class::Overload => self.retry(refusal.wait, jitter),
            Class::Money | Class::Auth | Class::Settings => self.next_model(Failure::of(refusal.class)),
            Class::TooLong if !self.is_halved => (Self { is_halved: true, ..self }, Effect::Halve),
            Class::TooLong | Class::Request | Class::Soft(Soft::Declined) => {
                self.next_model(Failure::of(refusal.class))
            }
            Class::Soft(Soft::Empty | Soft::CutOff | Soft::Misshapen) => {
                self.once_more(refusal.wait, jitter, false)
            }
            Class::Garbled => self.once_more(refusal.wait, jitter, true),
        }
    }

    /// Asks again while there are tries left.
    fn retry(self, asked: Option<Duration>, jitter: f64) -> (Self, Effect) {
        if MOST_TRIES <= self.tries {
            return self.next_model(Failure::Outage);
        }
        let after = wait(self.tries, asked, jitter);
        (self, Effect::AskAgain { after, is_retry: true })
    }

    /// Asks once again, for the same model may do better by chance.
    fn once_more(self, asked: Option<Duration>, jitter: f64, is_retry: bool) -> (Self, Effect) {
        if self.has_tried_again || MOST_TRIES <= self.tries {
            return self.next_model(Failure::Useless);
        }
        let after = wait(self.tries, asked, jitter);
        (Self { has_tried_again: true, ..self }, Effect::AskAgain { after, is_retry })
    }

    /// Goes on to the next model. Of several failures the one that lasts longest is not always the one that counts: a
    /// provider that is down may have the words tomorrow, whatever the others said.
    fn next_model(self, failure: Failure) -> (Self, Effect) {
        let failure = self.failure.map_or(failure, |earlier| earlier.min(failure));
        let next = Self { model: self.model + 1, failure: Some(failure), ..Self::new(self.models) };
        let effect = if next.model < next.models { Effect::Escalate } else { Effect::GiveUp(failure) };
        (next, effect)
    }
}

/// Returns how long to wait after so many tries: by chance up to a limit that doubles, so that many who failed together
/// do not come again together; never less than what was asked for.
fn wait(tries: u32, asked: Option<Duration>, jitter: f64) -> Duration {
    let doubled = FIRST_WAIT.saturating_mul(1 << tries.saturating_sub(1).min(8));
    let backoff = doubled.min(LONGEST_WAIT).mul_f64(jitter.clamp(0.0, 1.0));
    match asked {
        // Some of it is added to what was asked for: all who were told the same would come at the same moment.
        Some(asked) => asked.min(LONGEST_ASKED) + backoff,
        None => backoff,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::Pace;

    fn refusal(class: Class, wait: Option<u64>) -> Refusal {
        let wait = wait.map(Duration::from_secs);
        Refusal { class, words: String::new(), wait, tokens: None, request_id: None, pace: Pace::default() }
    }

    /// Refuses again and again, and returns what is done each time, until nothing is.
    fn all(models: usize, class: Class, wait: Option<u64>, jitter: f64) -> Vec<Effect> {
        let (mut attempt, mut effects) = (Attempt::new(models), Vec::new());
        loop {
            let (next, effect) = attempt.step(Event::Refused(&refusal(class, wait)), jitter);
            attempt = next;
            effects.push(effect);
            if matches!(effect, Effect::GiveUp(_)) {
                return effects;
            }
        }
    }

    fn again(millis: u64) -> Effect {
        Effect::AskAgain { after: Duration::from_millis(millis), is_retry: true }
    }

    #[test]
    fn a_server_in_trouble_is_asked_four_times_and_ever_later() {
        let effects = all(1, Class::Overload, None, 1.0);
        assert_eq!(effects, [again(500), again(1_000), again(2_000), Effect::GiveUp(Failure::Outage)]);
        assert_eq!(all(1, Class::Overload, None, 0.0)[..3], [again(0), again(0), again(0)]);
    }

    #[test]
    fn a_lost_connection_counts_as_a_server_in_trouble() {
        let (attempt, effect) = Attempt::new(1).step(Event::Lost, 1.0);
        assert_eq!(effect, again(500));
        let (_, effect) = attempt.step(Event::Lost, 1.0);
        assert_eq!(effect, again(1_000));
    }

    #[test]
    fn nobody_is_asked_sooner_than_they_said() {
        for jitter in [0.0, 0.3, 1.0] {
            for effect in all(1, Class::Rate, Some(30), jitter) {
                if let Effect::AskAgain { after, .. } = effect {
                    assert!(
                        Duration::from_secs(30) <= after && after <= Duration::from_secs(38),
                        "{after:?}"
                    );
                }
            }
        }
        assert_eq!(all(1, Class::Rate, Some(u64::MAX / 2), 0.0)[0], again(900_000));
    }

    #[test]
    fn without_money_or_a_key_nobody_is_asked_twice() {
        for class in [Class::Money, Class::Auth, Class::Settings] {
            assert_eq!(all(1, class, None, 0.5), [Effect::GiveUp(Failure::Account)]);
            assert_eq!(all(2, class, None, 0.5), [Effect::Escalate, Effect::GiveUp(Failure::Account)]);
        }
    }

    #[test]
    fn a_wrong_request_goes_to_the_next_model_at_once() {
        assert_eq!(all(2, Class::Request, None, 0.5), [Effect::Escalate, Effect::GiveUp(Failure::Useless)]);
    }

    #[test]
    fn what_is_too_long_is_halved_once_for_each_model() {
        let effects = all(2, Class::TooLong, None, 0.5);
        assert_eq!(
            effects,
            [Effect::Halve, Effect::Escalate, Effect::Halve, Effect::GiveUp(Failure::Useless)]
        );
        let (attempt, _) = Attempt::new(2).step(Event::Refused(&refusal(Class::TooLong, None)), 0.0);
        assert_eq!((attempt.model(), attempt.shrink()), (0, 1));
        let (attempt, _) = attempt.step(Event::Refused(&refusal(Class::TooLong, None)), 0.0);
        assert_eq!((attempt.model(), attempt.shrink()), (1, 0));
    }

    #[test]
    fn answers_of_no_use_get_one_more_try() {
        for soft in [Soft::Empty, Soft::CutOff, Soft::Misshapen] {
            let effects = all(1, Class::Soft(soft), None, 0.0);
            let once = Effect::AskAgain { after: Duration::ZERO, is_retry: false };
            assert_eq!(effects, [once, Effect::GiveUp(Failure::Useless)]);
        }
        assert_eq!(all(1, Class::Garbled, None, 0.0), [again(0), Effect::GiveUp(Failure::Useless)]);
    }

    #[test]
    fn a_model_that_declines_is_not_pressed() {
        assert_eq!(
            all(2, Class::Soft(Soft::Declined), None, 0.0),
            [Effect::Escalate, Effect::GiveUp(Failure::Declined)]
        );
    }

    #[test]
    fn of_several_failures_the_one_that_passes_soonest_counts() {
        let (attempt, effect) =
            Attempt::new(2).step(Event::Refused(&refusal(Class::Soft(Soft::Declined), None)), 0.0);
        assert_eq!(effect, Effect::Escalate);
        let (_, effect) = attempt.step(Event::Barred(Failure::Outage), 0.0);
        assert_eq!(effect, Effect::GiveUp(Failure::Outage));
    }

    #[test]
    fn no_mixture_of_refusals_asks_one_model_more_than_four_times() {
        let classes =
            [Class::Rate, Class::Garbled, Class::Soft(Soft::Empty), Class::TooLong, Class::Overload];
        for start in 0..classes.len() {
            let (mut attempt, mut calls) = (Attempt::new(1), 0);
            for class in classes.iter().cycle().skip(start) {
                calls += 1;
                let (next, effect) = attempt.step(Event::Refused(&refusal(*class, None)), 1.0);
                attempt = next;
                if matches!(effect, Effect::GiveUp(_)) {
                    break;
                }
            }
            assert!(calls <= MOST_TRIES, "{calls} calls from {start}");
        }
    }
}

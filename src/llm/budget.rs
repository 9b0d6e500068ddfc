//! How often a provider in trouble may be asked again.

use std::time::Duration;

/// So many may be asked again however few are asked: a single question has all its tries.
const MIN_RETRIES: u32 = 3;
/// Beyond that, one of so many.
const RETRY_SHARE: u32 = 5;
/// Calls are counted for so long.
const WINDOW: Duration = Duration::from_hours(1);

/// Holds repeated calls to a fifth of the first ones. Each caller alone gives up soon enough, but many who each ask four
/// times would keep a server down that is coming up again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RetryBudget {
    since: Duration,
    firsts: u32,
    retries: u32,
}

impl RetryBudget {
    /// A question is asked for the first time.
    pub fn count_first(&mut self, now: Duration) {
        self.decay(now);
        self.firsts = self.firsts.saturating_add(1);
    }

    /// Asks for leave to ask again; where that is given, it counts as done.
    pub fn try_retry(&mut self, now: Duration) -> bool {
        self.decay(now);
        let allowed = MIN_RETRIES.max(self.firsts / RETRY_SHARE);
        if allowed <= self.retries {
            return false;
        }
        self.retries += 1;
        true
    }

    /// Halves what was counted each time a window has passed, so that a long calm does not pay for a storm.
    fn decay(&mut self, now: Duration) {
        if WINDOW <= now.saturating_sub(self.since) {
            *self = Self { since: now, firsts: self.firsts / 2, retries: self.retries / 2 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_question_has_all_its_tries() {
        let mut budget = RetryBudget::default();
        budget.count_first(Duration::ZERO);
        assert_eq!([(); 5].map(|()| budget.try_retry(Duration::ZERO)), [true, true, true, false, false]);
    }

    #[test]
    fn of_many_questions_a_fifth_is_asked_again() {
        let (mut budget, mut retries) = (RetryBudget::default(), 0);
        for second in 0..1_000 {
            let now = Duration::from_secs(second);
            budget.count_first(now);
            retries += (0..3).filter(|_| budget.try_retry(now)).count();
        }
        assert_eq!(retries, 200);
    }
}

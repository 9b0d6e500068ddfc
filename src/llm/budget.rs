//! Limits retries of a provider that has an outage.

use std::time::Duration;

/// Retries that are always allowed, so that a single task has all its tries.
const MIN_RETRIES: u32 = 3;
/// Beyond that, one in this many calls may be a retry.
const RETRY_SHARE: u32 = 5;
/// The window over which calls are counted.
const WINDOW: Duration = Duration::from_hours(1);

/// Limits retries to a fifth of the first calls. Each caller alone gives up soon enough, but many callers with four
/// tries each would keep a recovering server down.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RetryBudget {
    since: Duration,
    firsts: u32,
    retries: u32,
}

impl RetryBudget {
    /// Counts the first call of a task.
    pub fn count_first(&mut self, now: Duration) {
        self.decay(now);
        self.firsts = self.firsts.saturating_add(1);
    }

    /// Requests permission for a retry, and counts it if granted.
    pub fn try_retry(&mut self, now: Duration) -> bool {
        self.decay(now);
        let allowed = MIN_RETRIES.max(self.firsts / RETRY_SHARE);
        if allowed <= self.retries {
            return false;
        }
        self.retries += 1;
        true
    }

    /// Halves the counts after each window, so that a long calm does not pay for a storm.
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

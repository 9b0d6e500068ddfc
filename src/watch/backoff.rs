//! How long to wait before the next try.

use std::time::Duration;
use std::time::Instant;

/// Pauses that double from `first` to `most`, and start over after a quiet time as long as the last pause, twice.
#[derive(Debug)]
pub(super) struct Backoff {
    first: Duration,
    most: Duration,
    pause: Duration,
    last: Option<Instant>,
}

impl Backoff {
    pub(super) fn new(first: Duration, most: Duration) -> Self {
        Self { first, most, pause: first, last: None }
    }

    /// Returns when the next try may be made, given that one is wanted now. The first is free.
    pub(super) fn next_attempt(&mut self, now: Instant) -> Instant {
        let due = match self.last {
            None => now,
            Some(last) if last + self.pause + self.pause <= now => {
                self.pause = self.first;
                now
            }
            Some(last) => {
                let due = (last + self.pause).max(now);
                self.pause = (self.pause + self.pause).min(self.most);
                due
            }
        };
        self.last = Some(due);
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storm_of_losses_makes_few_watches_and_one_behind_the_last() {
        let start = Instant::now();
        let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_mins(1));
        let mut tries = Vec::new();
        let mut due: Option<Instant> = None;
        // As the keeper does: a loss while one is due changes nothing.
        for number in 0..1000 {
            let now = start + Duration::from_millis(10 * number);
            if due.is_some_and(|due| due <= now) {
                tries.extend(due.take());
            }
            due = due.or_else(|| Some(backoff.next_attempt(now)));
        }
        tries.extend(due);
        assert!(tries.len() <= 12, "{} tries", tries.len());
        assert!(start + Duration::from_millis(9990) <= *tries.last().unwrap());
        assert!(tries.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn pauses_grow_to_the_most_and_start_over_after_quiet() {
        let start = Instant::now();
        let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_mins(1));
        let mut last = backoff.next_attempt(start);
        assert_eq!(last, start);
        let mut pauses = Vec::new();
        for _ in 0..8 {
            let next = backoff.next_attempt(last);
            pauses.push((next - last).as_secs());
            last = next;
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
        let later = last + Duration::from_secs(121);
        assert_eq!(backoff.next_attempt(later), later);
        assert_eq!(backoff.next_attempt(later) - later, Duration::from_secs(1));
    }
}

//! How long the steps of answers take: histograms with logarithmic buckets, shared by all threads of a process.
//!
//! Recording a step takes two reads of the clock and four additions, without a lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::sys::Clock;

/// A step of an answer whose time is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerStep {
    /// Waiting until the file system has reported all earlier changes.
    Cookie,
    /// Listing the files, or checking that the last listing is still valid.
    List,
    /// Taking the stamps of all listed files.
    Stat,
    /// Reading one file.
    Read,
    /// Parsing one content, and extracting its outline and its skeleton.
    Parse,
    /// Deriving everything from one content; includes its parse.
    Derive,
    /// One query of the index or one transaction.
    Store,
    /// Rendering the files of one document.
    Render,
    /// Counting the tokens of one set of texts.
    Tokens,
    /// Fitting one document into its limits.
    Fit,
    /// Ordering the files of one document by how rarely they change.
    Order,
    /// Composing one document from rendered files.
    Compose,
    /// One answer, from its arrival until it is encoded.
    Answer,
}

impl AnswerStep {
    pub const ALL: [Self; 13] = [
        Self::Cookie,
        Self::List,
        Self::Stat,
        Self::Read,
        Self::Parse,
        Self::Derive,
        Self::Store,
        Self::Render,
        Self::Tokens,
        Self::Fit,
        Self::Order,
        Self::Compose,
        Self::Answer,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Cookie => "cookie",
            Self::List => "list",
            Self::Stat => "stat",
            Self::Read => "read",
            Self::Parse => "parse",
            Self::Derive => "derive",
            Self::Store => "store",
            Self::Render => "render",
            Self::Tokens => "tokens",
            Self::Fit => "fit",
            Self::Order => "order",
            Self::Compose => "compose",
            Self::Answer => "answer",
        }
    }
}

/// The times of all steps since a process began.
#[derive(Debug)]
pub struct StepTimings([StepHistogram; AnswerStep::ALL.len()]);

/// Statistics of one step, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepSummary {
    pub step: AnswerStep,
    pub count: u64,
    /// The median time; too high by at most an eighth, like the next one.
    pub p50_us: u64,
    pub p99_us: u64,
    pub max_us: u64,
    pub total_us: u64,
}

impl Default for StepTimings {
    fn default() -> Self {
        Self(std::array::from_fn(|_| StepHistogram::default()))
    }
}

impl StepTimings {
    /// Records the time of a step.
    pub fn record(&self, step: AnswerStep, elapsed: Duration) {
        self.0[step as usize].record(elapsed);
    }

    /// Returns the times of every step, in the order of [`AnswerStep::ALL`].
    pub fn summaries(&self) -> Vec<StepSummary> {
        AnswerStep::ALL.into_iter().zip(&self.0).map(|(step, times)| times.summary(step)).collect()
    }
}

/// Below this, each microsecond has a bucket of its own; each further power of two is divided into as many buckets.
const SUB_BUCKETS: u64 = 8;
const SUB_BITS: u32 = SUB_BUCKETS.trailing_zeros();
/// The last bucket contains all times over 19 hours.
const BUCKETS: usize = 34 * 8;

/// The times of one step. Counters only increase, so no memory ordering between them is needed.
#[derive(Debug)]
struct StepHistogram {
    buckets: [AtomicU64; BUCKETS],
    max_us: AtomicU64,
    /// In nanoseconds, because many short times would otherwise add up to zero.
    total_ns: AtomicU64,
}

impl Default for StepHistogram {
    fn default() -> Self {
        Self {
            buckets: std::array::from_fn(|_| AtomicU64::new(0)),
            max_us: AtomicU64::new(0),
            total_ns: AtomicU64::new(0),
        }
    }
}

impl StepHistogram {
    fn record(&self, elapsed: Duration) {
        let ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        let us = ns.div_ceil(1_000);
        self.buckets[bucket_of(us)].fetch_add(1, Ordering::Relaxed);
        self.max_us.fetch_max(us, Ordering::Relaxed);
        self.total_ns.fetch_add(ns, Ordering::Relaxed);
    }

    fn summary(&self, step: AnswerStep) -> StepSummary {
        let counts: Vec<u64> = self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed)).collect();
        let count: u64 = counts.iter().sum();
        let max_us = self.max_us.load(Ordering::Relaxed);
        let percentile = |percent: u64| {
            let rank = (count * percent).div_ceil(100).max(1);
            let mut seen = 0;
            let reaches = |bucket: &u64| {
                seen += bucket;
                rank <= seen
            };
            counts.iter().position(reaches).map_or(0, |bucket| upper_bound(bucket).min(max_us))
        };
        StepSummary {
            step,
            count,
            p50_us: percentile(50),
            p99_us: percentile(99),
            max_us,
            total_us: self.total_ns.load(Ordering::Relaxed) / 1_000,
        }
    }
}

fn bucket_of(us: u64) -> usize {
    let Some(shift) = us.checked_ilog2().and_then(|power| power.checked_sub(SUB_BITS)) else {
        return usize::try_from(us).unwrap_or(0);
    };
    // The leading bits after the first select the part of the power of two.
    let bucket = u64::from(shift) * SUB_BUCKETS + (us >> shift);
    usize::try_from(bucket).unwrap_or(usize::MAX).min(BUCKETS - 1)
}

/// Returns the largest number of microseconds in a bucket.
const fn upper_bound(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 * SUB_BUCKETS {
        return bucket;
    }
    let shift = bucket / SUB_BUCKETS - 1;
    ((bucket % SUB_BUCKETS + SUB_BUCKETS + 1) << shift) - 1
}

/// A clock, and where the times of steps are recorded; not recorded in a process that gives one answer.
#[derive(Clone)]
pub(in crate::engine) struct StepClock<'w> {
    pub(in crate::engine) clock: &'w dyn Clock,
    pub(in crate::engine) timings: Option<Arc<StepTimings>>,
}

impl<'w> StepClock<'w> {
    /// Measures a step from now until the result is dropped.
    pub(in crate::engine) fn time(&self, step: AnswerStep) -> Option<StepTimer<'w>> {
        let timings = Arc::clone(self.timings.as_ref()?);
        Some(StepTimer { clock: self.clock, timings, step, began: self.clock.monotonic() })
    }
}

/// Records the time of a step when it is dropped.
pub(in crate::engine) struct StepTimer<'w> {
    clock: &'w dyn Clock,
    timings: Arc<StepTimings>,
    step: AnswerStep,
    began: Duration,
}

impl Drop for StepTimer<'_> {
    fn drop(&mut self) {
        self.timings.record(self.step, self.clock.monotonic().saturating_sub(self.began));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_counted_in_a_bucket_that_is_at_most_an_eighth_too_high() {
        for us in (0..5_000).chain((13..40).flat_map(|power| [(1 << power) - 1, 1 << power, 3 << power])) {
            let bound = upper_bound(bucket_of(us));
            let is_last = bucket_of(us) == BUCKETS - 1;
            assert!(is_last || (us..=us + us / 8).contains(&bound), "{us} µs, up to {bound} µs");
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn a_rare_long_time_is_in_the_maximum_and_not_in_the_percentiles() {
        let timings = StepTimings::default();
        for _ in 0..199 {
            timings.record(AnswerStep::Stat, Duration::from_micros(5));
        }
        timings.record(AnswerStep::Stat, Duration::from_secs(2));
        let summary = timings.summaries()[AnswerStep::Stat as usize];
        assert_eq!((summary.count, summary.p50_us, summary.p99_us), (200, 5, 5));
        assert_eq!((summary.max_us, summary.total_us), (2_000_000, 2_000_995));
        let untouched = timings.summaries()[AnswerStep::Fit as usize];
        assert_eq!((untouched.count, untouched.p99_us, untouched.max_us), (0, 0, 0));
    }
}

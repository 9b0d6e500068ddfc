//! What the tests of several rooms share.

use std::time::{Duration, Instant};

/// Less time than this is passed as it is: the square of no size that matters takes so little.
const SHORT: Duration = Duration::from_millis(500);

/// Checks that eight times the size takes at most 24 times as long, and not 64 times, as work in quadratic time does.
#[track_caller]
pub(crate) fn check_linear(size: usize, what: &str, work: impl Fn(usize)) {
    let time = |size| {
        let began = Instant::now();
        work(size);
        began.elapsed()
    };
    let first = time(8 * size);
    if first < SHORT {
        return;
    }
    // The shorter of two times each, for other processes may have had the processor meanwhile.
    let (long, short) = (first.min(time(8 * size)), time(size).min(time(size)));
    assert!(
        long < SHORT || long < 24 * short,
        "{what:?}: {short:?} for {size}, {long:?} for eight times that"
    );
}

/// Numbers that look random and are the same in each run, from a seed.
pub(crate) struct TestNumbers(pub(crate) u64);

impl TestNumbers {
    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        // The constants of Knuth's MMIX generator, whose upper bits are the better ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    /// Returns characters of an alphabet.
    pub(crate) fn characters(&mut self, alphabet: &str, count: usize) -> String {
        (0..count).map(|_| char::from(alphabet.as_bytes()[self.below(alphabet.len())])).collect()
    }
}

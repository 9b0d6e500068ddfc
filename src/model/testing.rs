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

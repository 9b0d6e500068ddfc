//! What the tests of several rooms share.

/// Less time than this is passed as it is, in nanoseconds.
const SHORT: u64 = 500_000_000;

/// Checks that eight times the size takes at most 32 times as long, and not 64 times, as work in quadratic time does.
#[track_caller]
pub(crate) fn check_linear(size: usize, what: &str, work: impl Fn(usize)) {
    let time = |size| {
        let began = thread_time_ns();
        work(size);
        thread_time_ns() - began
    };
    let long = time(8 * size);
    if long < SHORT {
        return;
    }
    let short = time(size).min(time(size));
    assert!(long < 32 * short, "{what:?}: {short} ns for {size}, {long} ns for eight times that");
}

/// Returns the processor time of this thread, which does not depend on what else runs; 0 where the system has no file
/// that says it. Rooms of this floor know no clock.
#[expect(clippy::disallowed_methods, reason = "the room `sys` is no part of this one")]
fn thread_time_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or_default()
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

//! Helpers for the tests of several rooms.

/// A seeded generator of pseudorandom numbers.
pub(crate) struct TestNumbers(pub(crate) u64);

impl TestNumbers {
    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        // The constants of Knuth's MMIX generator, whose upper bits are more random.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    /// Returns random characters of an alphabet.
    pub(crate) fn characters(&mut self, alphabet: &str, count: usize) -> String {
        (0..count).map(|_| char::from(alphabet.as_bytes()[self.below(alphabet.len())])).collect()
    }
}

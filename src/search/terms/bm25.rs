//! The arithmetic of scores: BM25 and normalization.
//!
//! Only operations that IEEE 754 defines exactly are used, so that a ranking is the same on every machine. The standard
//! library's logarithm is not among them: it is the system's.

/// How quickly repeated occurrences of a term stop adding to the score.
const K1: f64 = 1.2;
/// How much the length of a document reduces the weight of its terms.
const B: f64 = 0.75;

/// Returns the natural logarithm of a positive number.
pub(in crate::search) fn ln(number: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    const ONE: u64 = 1023 << 52;
    let bits = number.to_bits();
    let mut exponent = i32::try_from(bits >> 52 & 0x7ff).unwrap_or_default() - 1023;
    let mut mantissa = f64::from_bits(bits & MANTISSA | ONE);
    if std::f64::consts::SQRT_2 < mantissa {
        mantissa /= 2.0;
        exponent += 1;
    }
    // ln(m) = 2 (z + z³/3 + z⁵/5 + …) where z = (m - 1) / (m + 1), which is at most 0.172.
    let z = (mantissa - 1.0) / (mantissa + 1.0);
    let sum = (0..11).rev().fold(0.0, |sum, step| sum * z * z + 2.0 / f64::from(2 * step + 1));
    z * sum + f64::from(exponent) * std::f64::consts::LN_2
}

/// Returns a count as a number with a fraction.
#[expect(clippy::cast_precision_loss, reason = "counts of files, terms and words are far below 2^52")]
pub fn real(count: usize) -> f64 {
    count as f64
}

/// Returns the inverse document frequency of a term that `containing` of `documents` contain.
pub fn inverse_frequency(documents: usize, containing: usize) -> f64 {
    let (documents, containing) = (real(documents), real(containing.min(documents)));
    ln(1.0 + (documents - containing + 0.5) / (containing + 0.5))
}

/// Returns the rarity of a thing that `count` (at least 1) of `total` have: ln(1 + total / count).
pub(in crate::search) fn rarity(total: usize, count: usize) -> f64 {
    ln(1.0 + real(total) / real(count.max(1)))
}

/// The saturation of term counts, normalized by document length.
#[derive(Clone, Copy, Debug)]
pub struct Saturation {
    mean_length: f64,
}

impl Saturation {
    /// Prepares for documents with these lengths.
    pub fn new(lengths: impl Iterator<Item = u64>) -> Self {
        let (sum, count) =
            lengths.fold((0_u64, 0_u64), |(sum, count), length| (sum.saturating_add(length), count + 1));
        #[expect(clippy::cast_precision_loss, reason = "lengths of texts are far below 2^52")]
        let mean = sum as f64 / count.max(1) as f64;
        Self { mean_length: mean.max(1.0) }
    }

    /// Returns the score of `count` occurrences, from 0 to 2.2.
    pub fn score(self, count: u32, length: u64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "lengths of texts are far below 2^52")]
        let norm = K1 * (1.0 - B + B * length as f64 / self.mean_length);
        f64::from(count) * (K1 + 1.0) / (f64::from(count) + norm)
    }
}

/// Divides values by a divisor, unless it is zero.
pub(in crate::search) fn normalized(value: f64, greatest: f64) -> f64 {
    if 0.0 < greatest { value / greatest } else { 0.0 }
}

/// Returns the greatest of some values that are not negative.
pub(in crate::search) fn greatest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_that_of_the_standard_library_to_twelve_digits() {
        for number in [1e-9, 0.3, 0.999, 1.0, 1.5, 2.0, std::f64::consts::E, 4_298.5, 1e12] {
            assert!(
                (ln(number) - f64::ln(number)).abs() < 1e-12 * f64::ln(number).abs().max(1.0),
                "{number}"
            );
        }
    }

    #[test]
    fn a_term_in_all_documents_has_almost_no_weight_and_a_rare_one_much() {
        assert!(inverse_frequency(1000, 1000) < 0.001);
        assert!(6.0 < inverse_frequency(1000, 1));
        assert!(inverse_frequency(0, 5).is_finite());
    }

    #[test]
    fn occurrences_in_a_long_document_count_less_and_never_more_than_their_bound() {
        let saturation = Saturation::new([100, 300].into_iter());
        assert!(saturation.score(1, 300) < saturation.score(1, 100));
        assert!(saturation.score(1, 100) < saturation.score(2, 100));
        assert!(saturation.score(255, 0) < 2.2);
        assert!(Saturation::new(std::iter::empty()).score(1, 0).is_finite());
    }
}

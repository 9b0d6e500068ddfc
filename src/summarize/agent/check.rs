//! Stub.
use crate::model::Tier;

/// Why an answer is no summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// There are no words in it.
    Empty,
    /// It is not of the shape that was asked for.
    Misshapen,
}

/// Returns the words for each of the tiers.
pub fn check(answer: &str, tiers: &[Tier]) -> Result<Vec<(Tier, String)>, Flaw> {
    if answer.trim().is_empty() {
        return Err(Flaw::Empty);
    }
    Ok(tiers.iter().map(|tier| (*tier, answer.trim().to_owned())).collect())
}

//! What is to be placed within which limits, and where it was placed, and why.

use std::fmt;

use crate::model::{Depth, Pin, Warmth, format_grouped};

/// The limits of a hydration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HydrationLimits {
    /// Of a file of more bytes at most a skeleton is HOT or WARM.
    pub max_file_bytes: u64,
    /// The most bytes of text of all that is HOT and WARM, each file as deep as it is.
    pub max_project_bytes: u64,
    /// The most tokens of what is HOT, as it is rendered; 0 for any number.
    pub hot_tokens: u64,
    pub warm_fragments: u64,
    /// Files beyond are counted by folder.
    pub cold_fragments: u64,
    /// The number of days after which a COLD file that was not delivered is forgotten; 0 for never.
    pub cold_days: u64,
    /// By how many percent a newcomer must beat what is HOT.
    pub hold_percent: u64,
}

impl Default for HydrationLimits {
    fn default() -> Self {
        Self {
            max_file_bytes: 256 << 10,
            max_project_bytes: 10 << 20,
            hot_tokens: 32_000,
            warm_fragments: 2_000,
            cold_fragments: 5_000,
            cold_days: 90,
            hold_percent: 10,
        }
    }
}

/// Why a file has its rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankReason {
    Focus,
    Pinned(Pin),
    /// A person decided how it is shown; its rank is that of its score.
    Curated,
    Score,
}

/// A file to be placed.
#[derive(Debug, Clone, PartialEq)]
pub struct HydrationFile {
    pub bytes: u64,
    /// In thousandths.
    pub score: u16,
    /// The parts of its importance by name, in thousandths.
    pub evidence: Vec<(&'static str, u64)>,
    /// The linked checkout whose commits count for it; `None` if those of the project do, or none.
    pub linked_checkout: Option<String>,
    pub reason: RankReason,
    /// How much of it is shown where there is room.
    pub wanted: Depth,
    /// How deep it is HOT already, if it is.
    pub hot_at: Option<Depth>,
    /// Whether it was COLD so long that it is forgotten.
    pub is_forgotten: bool,
}

/// What a view of a file costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewCost {
    pub tokens: u64,
    /// The bytes of its text.
    pub bytes: u64,
    /// The depth that the file has there: a text without structure has no outline.
    pub depth: Depth,
}

/// What the views of files cost.
pub trait DepthCosts {
    /// Returns what a file costs at a depth.
    fn cost(&mut self, file: usize, depth: Depth) -> ViewCost;
}

/// Where a file was placed.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedFragment {
    /// `None` if it is counted by its folder, or forgotten.
    pub warmth: Option<Warmth>,
    pub depth: Depth,
    pub tokens: u64,
    /// The bytes of what is shown of it.
    pub bytes: u64,
    /// In the order in which they decided; the last one has the last word.
    pub rules: Vec<PlacementRule>,
}

/// What decided the place of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlacementRule {
    Focus,
    Pinned(Pin),
    Curated,
    /// Its place among all by their scores, from 1.
    Rank {
        place: usize,
        files: usize,
        score: u16,
        evidence: Vec<(&'static str, u64)>,
        linked_checkout: Option<String>,
    },
    /// It stays HOT because the best newcomer behind it beats it by less than what is asked for.
    Kept {
        beaten_by_percent: u64,
        hold_percent: u64,
    },
    /// It is HOT as deep as it was, so that the document stays as it is.
    KeptDepth(Depth),
    MaxFileBytes {
        bytes: u64,
        limit: u64,
    },
    /// It is shown less deep, or not HOT at all (`to` is `None`), because the others left too few HOT tokens.
    HotTokens {
        from: Depth,
        to: Option<Depth>,
        taken: u64,
        limit: u64,
    },
    /// It is shown less deep, or not HOT at all (`to` is `None`), because more of it takes `tokens`, which is more
    /// than one in `part` of the limit.
    HotShare {
        from: Depth,
        to: Option<Depth>,
        tokens: u64,
        part: u64,
        limit: u64,
    },
    /// It is shown less deep, or COLD (`to` is `None`), because the others left too few bytes.
    MaxProjectBytes {
        from: Depth,
        to: Option<Depth>,
        taken: u64,
        limit: u64,
    },
    WarmFragments {
        limit: u64,
    },
    ColdFragments {
        limit: u64,
    },
    Forgotten {
        days: u64,
    },
}

impl fmt::Display for PlacementRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Focus => f.write_str("focus"),
            Self::Pinned(Pin::AnyDepth) => f.write_str("pinned"),
            Self::Pinned(Pin::At(depth)) => write!(f, "pinned at depth {depth}"),
            Self::Curated => f.write_str("curated"),
            Self::Rank { place, files, score, evidence, linked_checkout } => {
                let [place, files] = [*place, *files].map(|number| format_grouped(number as u64));
                write!(f, "rank {place} of {files}, score {}", Thousandths((*score).into()))?;
                for (at, (name, part)) in evidence.iter().filter(|(_, part)| 0 < *part).enumerate() {
                    write!(f, "{} {name} {}", if at == 0 { ":" } else { "," }, Thousandths(*part))?;
                }
                if let Some(name) = linked_checkout {
                    write!(f, ", by commits of @{name}")?;
                }
                Ok(())
            }
            Self::Kept { beaten_by_percent, hold_percent } => {
                write!(
                    f,
                    "kept: the best newcomer beats it by {beaten_by_percent} %, hold is {hold_percent} %"
                )
            }
            Self::KeptDepth(depth) => write!(f, "kept: depth {depth} as before"),
            Self::MaxFileBytes { bytes, limit } => {
                let [bytes, limit] = [*bytes, *limit].map(format_grouped);
                write!(f, "max_file_bytes: {bytes} of {limit}, at most a skeleton")
            }
            Self::HotTokens { from, to, taken, limit } => {
                write!(f, "hot_tokens: {}", Step(*from, *to, "not HOT"))?;
                write!(f, " at {} of {}", format_grouped(*taken), format_grouped(*limit))
            }
            Self::HotShare { from, to, tokens, part, limit } => {
                let [tokens, limit] = [*tokens, *limit].map(format_grouped);
                write!(f, "hot_tokens: {}, ", Step(*from, *to, "not HOT"))?;
                write!(f, "more takes {tokens}, over 1/{part} of {limit}")
            }
            Self::MaxProjectBytes { from, to, taken, limit } => {
                write!(f, "max_project_bytes: {}", Step(*from, *to, "COLD"))?;
                write!(f, " at {} of {}", format_grouped(*taken), format_grouped(*limit))
            }
            Self::WarmFragments { limit } => {
                write!(f, "warm_fragments: COLD, {} are WARM", format_grouped(*limit))
            }
            Self::ColdFragments { limit } => {
                write!(f, "cold_fragments: counted by its folder, {} are COLD", format_grouped(*limit))
            }
            Self::Forgotten { days } => write!(f, "cold_days: not given for {} days", format_grouped(*days)),
        }
    }
}

/// A number of thousandths, with three digits behind the point.
struct Thousandths(u64);

impl fmt::Display for Thousandths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

/// How much less is shown; the words are for nothing.
struct Step(Depth, Option<Depth>, &'static str);

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(to) => write!(f, "depth {} to {to}", self.0),
            None => f.write_str(self.2),
        }
    }
}

/// That the pinned files alone exceed the HOT tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PinsTooLarge {
    pub tokens: u64,
    pub limit: u64,
}

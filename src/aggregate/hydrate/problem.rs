//! The input of placement (files and limits) and its result, with reasons.

use std::fmt;

use crate::model::{Depth, Pin, Warmth, format_grouped};

/// The limits of a hydration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HydrationLimits {
    /// A larger file is shown as a skeleton at most when HOT or WARM.
    pub max_file_bytes: u64,
    /// The maximum bytes of all HOT and WARM text, each file at its depth.
    pub max_project_bytes: u64,
    /// The maximum tokens of all HOT views as rendered; 0 for unlimited.
    pub hot_tokens: u64,
    pub warm_fragments: u64,
    /// Further files are counted by folder.
    pub cold_fragments: u64,
    /// The number of days after which a COLD file that was not delivered is forgotten; 0 for never.
    pub cold_days: u64,
    /// By how many percent a newcomer must beat a HOT file.
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
    /// A person curated it; it is ranked by its score.
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
    /// The linked checkout whose commits count for it; `None` for those of the project, or no commits.
    pub linked_checkout: Option<String>,
    pub reason: RankReason,
    /// Its depth if there is enough space.
    pub wanted: Depth,
    /// Its current HOT depth, if it is HOT.
    pub hot_at: Option<Depth>,
    /// Whether it was COLD for so long that it is forgotten.
    pub is_forgotten: bool,
}

/// What a view of a file costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewCost {
    pub tokens: u64,
    /// The bytes of its text.
    pub bytes: u64,
    /// The actual depth: a text without structure has no outline, for example.
    pub depth: Depth,
}

/// The costs of the files' views.
pub trait DepthCosts {
    /// Returns the cost of a file at a depth.
    fn cost(&mut self, file: usize, depth: Depth) -> ViewCost;
}

/// Where a file was placed.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedFragment {
    /// `None` if it is only counted in its folder, or forgotten.
    pub warmth: Option<Warmth>,
    pub depth: Depth,
    pub tokens: u64,
    /// The bytes of its view.
    pub bytes: u64,
    /// In the order of application; the last one decides.
    pub rules: Vec<PlacementRule>,
}

/// A rule that decided the place of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlacementRule {
    Focus,
    Pinned(Pin),
    Curated,
    /// Its position among all files by score, from 1.
    Rank {
        place: usize,
        files: usize,
        score: u16,
        evidence: Vec<(&'static str, u64)>,
        linked_checkout: Option<String>,
    },
    /// It stays HOT because the best newcomer after it beats it by less than required.
    Kept {
        beaten_by_percent: u64,
        hold_percent: u64,
    },
    /// It keeps its previous HOT depth, so that the document does not change.
    KeptDepth(Depth),
    MaxFileBytes {
        bytes: u64,
        limit: u64,
    },
    /// It is shown less deep, or is not HOT (`to` is `None`), because the other files left too few HOT tokens.
    HotTokens {
        from: Depth,
        to: Option<Depth>,
        taken: u64,
        limit: u64,
    },
    /// It is shown less deep, or is not HOT (`to` is `None`), because the next depth takes `tokens`, more than 1/`part`
    /// of the limit.
    HotShare {
        from: Depth,
        to: Option<Depth>,
        tokens: u64,
        part: u64,
        limit: u64,
    },
    /// It is shown less deep, or is COLD (`to` is `None`), because the other files left too few bytes.
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

/// A number of thousandths, with three decimal places.
struct Thousandths(u64);

impl fmt::Display for Thousandths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

/// A reduction of depth, with the text for a reduction to nothing.
struct Step(Depth, Option<Depth>, &'static str);

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(to) => write!(f, "depth {} to {to}", self.0),
            None => f.write_str(self.2),
        }
    }
}

/// The pinned files alone exceed the HOT tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PinsTooLarge {
    pub tokens: u64,
    pub limit: u64,
}

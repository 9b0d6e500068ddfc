//! What is to be placed within which limits, and where it was placed, and why.

use std::fmt;

use crate::model::{Depth, Pin, Warmth};

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
    /// A COLD file that was not given for so many days is forgotten; 0 for never.
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
            warm_fragments: 500,
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
    /// Its place among the files by their scores, from 1.
    Rank {
        place: usize,
        files: usize,
        score: u16,
    },
    /// It stays HOT because the next file beats it by less than what is asked for.
    Kept {
        percent: u64,
    },
    MaxFileBytes {
        bytes: u64,
        limit: u64,
    },
    /// It is shown less deep, or not HOT at all (`to` is `None`), because so many of the HOT tokens were taken.
    HotTokens {
        from: Depth,
        to: Option<Depth>,
        taken: u64,
        limit: u64,
    },
    /// It is shown less deep, or COLD (`to` is `None`), because so many of the bytes were taken.
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
            Self::Pinned(Pin::At(depth)) => write!(f, "pinned at depth {}", depth.number()),
            Self::Curated => f.write_str("curated"),
            Self::Rank { place, files, score } => {
                write!(f, "rank {place} of {files}, score {}.{:03}", score / 1000, score % 1000)
            }
            Self::Kept { percent } => write!(f, "kept: no newcomer beats it by {percent} %"),
            Self::MaxFileBytes { bytes, limit } => {
                write!(f, "max_file_bytes: {bytes} of {limit}, at most a skeleton")
            }
            Self::HotTokens { from, to: Some(to), taken, limit } => {
                write!(f, "hot_tokens: depth {} to {} at {taken} of {limit}", from.number(), to.number())
            }
            Self::HotTokens { to: None, taken, limit, .. } => {
                write!(f, "hot_tokens: not HOT at {taken} of {limit}")
            }
            Self::MaxProjectBytes { from, to: Some(to), taken, limit } => {
                let (from, to) = (from.number(), to.number());
                write!(f, "max_project_bytes: depth {from} to {to} at {taken} of {limit}")
            }
            Self::MaxProjectBytes { to: None, taken, limit, .. } => {
                write!(f, "max_project_bytes: COLD at {taken} of {limit}")
            }
            Self::WarmFragments { limit } => write!(f, "warm_fragments: COLD, {limit} are WARM"),
            Self::ColdFragments { limit } => {
                write!(f, "cold_fragments: counted by its folder, {limit} are COLD")
            }
            Self::Forgotten { days } => write!(f, "cold_days: not given for {days} days"),
        }
    }
}

/// That the pinned files alone exceed the HOT tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PinsTooLarge {
    pub tokens: u64,
    pub limit: u64,
}

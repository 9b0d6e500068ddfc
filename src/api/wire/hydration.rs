//! The tiers in which hydration has placed files and slices, and why.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scalars::{iso_time_of_s, wire_path};
use crate::api::queries::WarmthName;
use crate::engine::HydrationAnswer;
use crate::model::{Depth, Fragment, FragmentName, Pin, Warmth};

/// A file, or a slice of one, with its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FragmentPlace {
    /// Identifies it on every machine and after every edit: 16 hexadecimal digits.
    pub fragment_id: String,
    /// The file, relative to the project's folder.
    pub path: String,
    /// The bytes of the path in hex, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// The slice: its tag, or without one its lines when it was marked, such as `10-14`; null for the file.
    pub part: Option<String>,
    /// SHA-256 of its content when it was placed.
    pub content_hash: String,
    /// Its size in bytes when it was placed.
    pub bytes: u64,
    /// Tokens of what is shown of it at its depth, when it was placed.
    pub tokens: u64,
    /// Bytes of what is shown of it at its depth, when it was placed.
    pub shown_bytes: u64,
    /// `HOT`, `WARM` or `COLD`; null if it has no tier.
    pub tier: Option<WarmthName>,
    /// How much of it is shown, from 0 to 9: 9 the text, 4 to 8 a skeleton, 2 and 3 an outline, 1 a summary, 0 its
    /// path.
    pub detail_depth: u8,
    /// From 0 to 1; 1 if it is in focus or pinned.
    pub relevance_score: f64,
    /// Whether it is pinned.
    pub pinned: bool,
    /// The depth at which it is pinned, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned_depth: Option<u8>,
    /// How often it was delivered to an agent in a hydrated document.
    pub uses: u64,
    /// When it was last delivered.
    pub used_at: Option<String>,
    /// Since when it has had its tier.
    pub since: Option<String>,
    /// The rules that applied, in order; the last one decided.
    pub why: Vec<String>,
    /// Its current text, if that was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl From<Fragment> for FragmentPlace {
    fn from(fragment: Fragment) -> Self {
        let (path, path_hex) = wire_path(&fragment.name.path);
        Self {
            fragment_id: fragment.name.id(),
            path,
            path_hex,
            part: fragment.name.part,
            content_hash: fragment.content.to_string(),
            bytes: fragment.bytes,
            tokens: fragment.tokens,
            shown_bytes: fragment.shown_bytes,
            tier: fragment.warmth.map(Into::into),
            detail_depth: fragment.depth.number(),
            relevance_score: f64::from(fragment.score) / 1000.0,
            pinned: fragment.pin.is_some(),
            pinned_depth: fragment.pin.and_then(Pin::depth).map(Depth::number),
            uses: fragment.uses,
            used_at: fragment.used_at_s.and_then(iso_time_of_s),
            since: iso_time_of_s(fragment.since_s),
            why: fragment.why.lines().map(str::to_owned).collect(),
            text: None,
        }
    }
}

impl From<Warmth> for WarmthName {
    fn from(warmth: Warmth) -> Self {
        match warmth {
            Warmth::Hot => Self::Hot,
            Warmth::Warm => Self::Warm,
            Warmth::Cold => Self::Cold,
        }
    }
}

impl WarmthName {
    /// Returns the name, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hot => Warmth::Hot.name(),
            Self::Warm => Warmth::Warm.name(),
            Self::Cold => Warmth::Cold.name(),
        }
    }
}

/// The result of a hydration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HydrationResult {
    /// What is HOT.
    pub hot: TierTotals,
    /// What is WARM.
    pub warm: TierTotals,
    /// What is COLD.
    pub cold: TierTotals,
    /// The most tokens that may be HOT; 0 for no limit.
    pub hot_tokens_limit: u64,
    /// Fragments that had no tier before.
    pub placed: u64,
    /// Fragments in a higher tier than before.
    pub promoted: u64,
    /// Fragments in a lower tier than before, or in none.
    pub demoted: u64,
    /// Fragments without a tier.
    pub skipped: u64,
    /// Fragments without a tier by folder, relative to the project's folder, which is the empty path.
    pub beyond: BTreeMap<String, u64>,
    /// The fragments whose tier has changed.
    pub moved: Vec<MovedFragment>,
    /// The fragments that have a tier, by path, if they were requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fragments: Vec<FragmentPlace>,
}

/// The fragments of one tier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TierTotals {
    /// Their number.
    pub fragments: u64,
    /// Tokens of what is shown of them at their depths.
    pub tokens: u64,
    /// Bytes of what is shown of them at their depths.
    pub bytes: u64,
}

/// A file or a slice in a different tier than before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MovedFragment {
    /// The file, relative to the project's folder.
    pub path: String,
    /// The bytes of the path in hex, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// The slice; null for the file.
    pub part: Option<String>,
    /// Its tier before; null for none.
    pub from: Option<WarmthName>,
    /// Its tier now; null for none.
    pub to: Option<WarmthName>,
}

impl HydrationResult {
    /// Returns the result of a hydration, with each fragment if `with_fragments` is set.
    pub fn new(answer: HydrationAnswer, with_fragments: bool) -> Self {
        let totals = |warmth: Warmth| {
            let of_tier = answer.fragments.iter().filter(|fragment| fragment.warmth == Some(warmth));
            of_tier.fold(TierTotals::default(), |sum, fragment| TierTotals {
                fragments: sum.fragments + 1,
                tokens: sum.tokens + fragment.tokens,
                bytes: sum.bytes + fragment.shown_bytes,
            })
        };
        let now = |name: &FragmentName| {
            let at = answer.fragments.binary_search_by(|fragment| fragment.name.cmp(name));
            at.ok().and_then(|at| answer.fragments[at].warmth)
        };
        let moves: Vec<_> = answer.moved.iter().map(|(name, from)| (name, *from, now(name))).collect();
        // The order of the enum is from HOT to COLD, so that the lesser value is the higher tier.
        let rank = |warmth: Option<Warmth>| warmth.map_or(u8::MAX, |warmth| warmth as u8);
        let count = |is_so: &dyn Fn(Option<Warmth>, Option<Warmth>) -> bool| {
            moves.iter().filter(|(_, from, to)| is_so(*from, *to)).count() as u64
        };
        let to_wire = |(name, from, to): &(&FragmentName, Option<Warmth>, Option<Warmth>)| {
            let (path, path_hex) = wire_path(&name.path);
            let part = name.part.clone();
            MovedFragment { path, path_hex, part, from: from.map(Into::into), to: to.map(Into::into) }
        };
        Self {
            hot: totals(Warmth::Hot),
            warm: totals(Warmth::Warm),
            cold: totals(Warmth::Cold),
            hot_tokens_limit: answer.limits.hot_tokens,
            placed: count(&|from, to| from.is_none() && to.is_some()),
            promoted: count(&|from, to| from.is_some() && rank(to) < rank(from)),
            demoted: count(&|from, to| rank(from) < rank(to)),
            skipped: answer.beyond.values().sum(),
            moved: moves.iter().map(to_wire).collect(),
            beyond: answer.beyond,
            fragments: if with_fragments {
                answer
                    .fragments
                    .into_iter()
                    .filter(|fragment| fragment.warmth.is_some())
                    .map(Into::into)
                    .collect()
            } else {
                Vec::new()
            },
        }
    }
}

//! Places fragments: decides which files are HOT, WARM and COLD, and how much of each is shown.
//!
//! The files are visited by rank. A file that exceeds a limit is shown less deep first, and gets a lower warmth only if no
//! lesser depth fits; nothing is dropped that could be shown by its path. The function is pure: what a view costs is asked
//! for, and only when its turn comes.

use std::fmt;

use crate::model::{Depth, Pin, Warmth};

/// A file that is not in focus, pinned or curated takes at most one part in so many of the HOT tokens, so that one large
/// file does not displace the next ten.
const LARGEST_SHARE: u64 = 16;
/// … and in so many with the least that is shown of it.
const LARGEST_LEAST_SHARE: u64 = 4;
/// Files that are asked for are HOT with at least so much.
const LEAST_HOT: Depth = Depth::SUMMARY;
/// Other files are HOT or WARM with their structure at least, unless less is wanted of them: a reader who has only words
/// about a file finds as many in the map. A file that has no structure is shown as its text.
const LEAST_STRUCTURE: Depth = Depth::OUTLINE;
/// One part in so many of the HOT tokens is not for newcomers, so that what is HOT can grow with edits and stays as it is.
const ROOM_TO_GROW: u64 = 20;

/// The limits of a hydration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HydrationLimits {
    /// Of a file of more bytes at most a skeleton is HOT or WARM.
    pub max_file_bytes: u64,
    /// The most bytes of text behind all that is HOT and WARM.
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

/// What the views of files cost.
pub trait DepthCosts {
    /// Returns the tokens of a file at a depth, and the depth that it has there: a text without structure has no outline.
    fn tokens(&mut self, file: usize, depth: Depth) -> (u64, Depth);
}

/// Where a file was placed.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedFragment {
    /// `None` if it is counted by its folder, or forgotten.
    pub warmth: Option<Warmth>,
    pub depth: Depth,
    pub tokens: u64,
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
    MaxProjectBytes {
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
            Self::MaxProjectBytes { taken, limit } => {
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

/// Places files, which come in the order of their ranks. The result has their order.
///
/// # Errors
/// [`PinsTooLarge`] if the pinned files do not fit, even as little of each as their pins allow.
pub fn place_fragments(
    limits: &HydrationLimits,
    files: &[HydrationFile],
    costs: &mut dyn DepthCosts,
) -> Result<Vec<PlacedFragment>, PinsTooLarge> {
    let mut hydration = Hydration::new(limits, files, costs);
    let order = visiting_order(limits, files);
    hydration.reserve_pins(&order)?;
    let mut placed = vec![None; files.len()];
    for at in order {
        placed[at] = Some(hydration.place(at));
    }
    // Every position is visited once.
    Ok(placed.into_iter().flatten().collect())
}

/// Returns the positions in the order in which places are given: pins, then focus, then by score, where what is HOT
/// already counts for more.
fn visiting_order(limits: &HydrationLimits, files: &[HydrationFile]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|at| {
        let file = &files[*at];
        let class = match file.reason {
            RankReason::Pinned(_) => 0,
            RankReason::Focus => 1,
            RankReason::Curated | RankReason::Score => 2,
        };
        let hold = if file.hot_at.is_some() { limits.hold_percent } else { 0 };
        // A file that is as good as what is HOT does not beat it.
        let score = u64::from(file.score) * hold.saturating_add(100);
        (class, std::cmp::Reverse((score, file.hot_at.is_some())), *at)
    });
    order
}

struct Hydration<'a> {
    limits: &'a HydrationLimits,
    files: &'a [HydrationFile],
    costs: &'a mut dyn DepthCosts,
    hot_tokens: u64,
    /// What the pinned files that have no place yet need at least.
    reserved: u64,
    bytes: u64,
    warm: u64,
    cold: u64,
}

impl<'a> Hydration<'a> {
    fn new(limits: &'a HydrationLimits, files: &'a [HydrationFile], costs: &'a mut dyn DepthCosts) -> Self {
        Self { limits, files, costs, hot_tokens: 0, reserved: 0, bytes: 0, warm: 0, cold: 0 }
    }

    fn hot_limit(&self) -> u64 {
        if self.limits.hot_tokens == 0 { u64::MAX } else { self.limits.hot_tokens }
    }

    /// Reserves the least that each pinned file takes.
    fn reserve_pins(&mut self, order: &[usize]) -> Result<(), PinsTooLarge> {
        for at in order {
            self.reserved += self.least_pinned(*at);
        }
        let limit = self.hot_limit();
        if limit < self.reserved { Err(PinsTooLarge { tokens: self.reserved, limit }) } else { Ok(()) }
    }

    /// Returns the tokens that a file takes at least because it is pinned.
    fn least_pinned(&mut self, at: usize) -> u64 {
        match self.files[at].reason {
            RankReason::Pinned(pin) => {
                let (depth, _) = self.deepest(at, &mut Vec::new());
                let least = pin.depth().map_or(LEAST_HOT, |pinned| pinned.min(depth));
                self.costs.tokens(at, least.min(depth)).0
            }
            RankReason::Focus | RankReason::Curated | RankReason::Score => 0,
        }
    }

    /// Returns how deep a file may be shown, and whether it has a share of the tokens that it may not exceed.
    fn deepest(&self, at: usize, rules: &mut Vec<PlacementRule>) -> (Depth, bool) {
        let file = &self.files[at];
        let (wanted, is_capped) = match file.reason {
            RankReason::Pinned(pin) => (pin.depth().unwrap_or(Depth::FULL), false),
            RankReason::Focus | RankReason::Curated => (file.wanted, false),
            RankReason::Score => (file.wanted, true),
        };
        if self.limits.max_file_bytes < file.bytes && Depth::SKELETON < wanted {
            rules.push(PlacementRule::MaxFileBytes { bytes: file.bytes, limit: self.limits.max_file_bytes });
            return (Depth::SKELETON, is_capped);
        }
        (wanted, is_capped)
    }

    fn place(&mut self, at: usize) -> PlacedFragment {
        let file = &self.files[at];
        let mut rules = vec![match file.reason {
            RankReason::Focus => PlacementRule::Focus,
            RankReason::Pinned(pin) => PlacementRule::Pinned(pin),
            RankReason::Curated => PlacementRule::Curated,
            RankReason::Score => {
                PlacementRule::Rank { place: at + 1, files: self.files.len(), score: file.score }
            }
        }];
        let (deepest, is_capped) = self.deepest(at, &mut rules);
        let is_pinned = matches!(file.reason, RankReason::Pinned(_));
        let bytes = self.bytes.saturating_add(file.bytes);
        if !is_pinned && self.limits.max_project_bytes < bytes {
            let (taken, limit) = (self.bytes, self.limits.max_project_bytes);
            rules.push(PlacementRule::MaxProjectBytes { taken, limit });
            return self.place_cold(at, rules);
        }
        if let Some(placed) = self.place_hot(at, (deepest, is_capped), &mut rules) {
            self.bytes = bytes;
            return placed;
        }
        if self.limits.warm_fragments <= self.warm {
            rules.push(PlacementRule::WarmFragments { limit: self.limits.warm_fragments });
            return self.place_cold(at, rules);
        }
        self.warm += 1;
        self.bytes = bytes;
        let (mut tokens, mut depth) = self.costs.tokens(at, deepest.next_lesser().max(LEAST_STRUCTURE));
        if depth < LEAST_STRUCTURE && self.files[at].bytes <= self.limits.max_file_bytes {
            (tokens, depth) = self.costs.tokens(at, Depth::FULL);
        }
        PlacedFragment { warmth: Some(Warmth::Warm), depth, tokens, rules }
    }

    /// Makes a file HOT, as deep as there is room for.
    fn place_hot(
        &mut self,
        at: usize,
        (deepest, is_capped): (Depth, bool),
        rules: &mut Vec<PlacementRule>,
    ) -> Option<PlacedFragment> {
        let limit = self.hot_limit();
        self.reserved -= self.least_pinned(at);
        let file = &self.files[at];
        let is_new = is_capped && file.hot_at.is_none();
        let open = if is_new { limit - limit / ROOM_TO_GROW } else { limit };
        let room = open.saturating_sub(self.hot_tokens.saturating_add(self.reserved));
        let (room, share) = if is_capped {
            (room.min(limit / LARGEST_LEAST_SHARE), room.min(limit / LARGEST_SHARE))
        } else {
            (room, room)
        };
        let taken = self.hot_tokens;
        let Some((step, tokens, depth)) = self.deepest_within(at, deepest, (room, share)) else {
            rules.push(PlacementRule::HotTokens { from: deepest, to: None, taken, limit });
            return None;
        };
        if step < deepest {
            rules.push(PlacementRule::HotTokens { from: deepest, to: Some(depth), taken, limit });
        }
        if file.hot_at.is_some() && file.reason == RankReason::Score {
            rules.push(PlacementRule::Kept { percent: self.limits.hold_percent });
        }
        self.hot_tokens += tokens;
        Some(PlacedFragment { warmth: Some(Warmth::Hot), depth, tokens, rules: std::mem::take(rules) })
    }

    /// Returns how deep a file is shown where it is HOT: the step of the ladder, its tokens, and the depth that it has there.
    fn deepest_within(
        &mut self,
        at: usize,
        deepest: Depth,
        (room, share): (u64, u64),
    ) -> Option<(Depth, u64, Depth)> {
        let file = &self.files[at];
        let (least, most) = match (file.reason, file.hot_at) {
            (RankReason::Pinned(Pin::At(depth)), _) => (depth.min(deepest), deepest),
            // What is HOT stays as deep as it is, so that edits of other files do not change what is shown of it.
            (RankReason::Score, Some(hot_at)) => {
                let least = LEAST_STRUCTURE.min(deepest);
                (least, hot_at.clamp(least, deepest))
            }
            (RankReason::Score, None) => (LEAST_STRUCTURE.min(deepest), deepest),
            (_, _) => (LEAST_HOT.min(deepest), deepest),
        };
        // From the least upwards, so that the many files behind the last one that fits cost one view each.
        let mut best: Option<(Depth, u64, Depth)> = None;
        for step in Depth::LADDER.into_iter().rev().filter(|depth| (least..=most).contains(depth)) {
            let (tokens, depth) = self.costs.tokens(at, step);
            // The least of it has a larger share: a file that matters is not left out for its size.
            if if best.is_none() { room } else { share } < tokens {
                break;
            }
            best = Some((step, tokens, depth));
        }
        // A file without structure is its text or a line of words, and words alone are better found in the map.
        let has_words_alone = best.is_some_and(|(_, _, depth)| depth < LEAST_STRUCTURE.min(deepest));
        if has_words_alone
            && file.reason == RankReason::Score
            && self.costs.tokens(at, LEAST_STRUCTURE).1 < LEAST_STRUCTURE
        {
            let is_small = file.bytes <= self.limits.max_file_bytes;
            let (tokens, depth) = self.costs.tokens(at, Depth::FULL);
            return (is_small && tokens <= share).then_some((Depth::FULL, tokens, depth));
        }
        best
    }

    fn place_cold(&mut self, at: usize, mut rules: Vec<PlacementRule>) -> PlacedFragment {
        let mut nowhere = |rule| {
            rules.push(rule);
            PlacedFragment { warmth: None, depth: Depth::PATH, tokens: 0, rules: std::mem::take(&mut rules) }
        };
        if self.files[at].is_forgotten {
            return nowhere(PlacementRule::Forgotten { days: self.limits.cold_days });
        }
        if self.limits.cold_fragments <= self.cold {
            return nowhere(PlacementRule::ColdFragments { limit: self.limits.cold_fragments });
        }
        self.cold += 1;
        let (tokens, depth) = self.costs.tokens(at, Depth::SUMMARY);
        PlacedFragment { warmth: Some(Warmth::Cold), depth, tokens, rules }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A file costs its bytes in full, and less at each lesser depth.
    struct ByBytes<'a>(&'a [HydrationFile]);

    impl DepthCosts for ByBytes<'_> {
        fn tokens(&mut self, file: usize, depth: Depth) -> (u64, Depth) {
            let part = [8, 7, 6, 6, 4, 4, 4, 4, 4, 0][usize::from(depth.number())];
            ((self.0[file].bytes >> part) + u64::from(depth.number()) + 1, depth)
        }
    }

    fn file(bytes: u64, score: u16) -> HydrationFile {
        let wanted = Depth::SKELETON;
        let reason = RankReason::Score;
        HydrationFile { bytes, score, reason, wanted, hot_at: None, is_forgotten: false }
    }

    fn placed(limits: &HydrationLimits, files: &[HydrationFile]) -> Vec<PlacedFragment> {
        place_fragments(limits, files, &mut ByBytes(files)).unwrap()
    }

    fn words(placed: &PlacedFragment) -> Vec<String> {
        placed.rules.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn depth_goes_before_warmth_and_nothing_that_fits_is_left_out() {
        let limits = HydrationLimits {
            hot_tokens: 2_000,
            warm_fragments: 1,
            cold_fragments: 1,
            ..HydrationLimits::default()
        };
        let files =
            [file(1_600, 900), file(7_000, 800), file(190_000, 700), file(190_000, 600), file(190_000, 500)];
        let places = placed(&limits, &files);
        let short: Vec<_> = places.iter().map(|place| (place.warmth, place.depth.number())).collect();
        assert_eq!(
            short,
            [
                (Some(Warmth::Hot), 4),
                // Its skeleton exceeds what a file may take, its outline does not.
                (Some(Warmth::Hot), 2),
                (Some(Warmth::Warm), 2),
                (Some(Warmth::Cold), 1),
                (None, 0),
            ]
        );
        assert_eq!(
            words(&places[1]),
            ["rank 2 of 5, score 0.800", "hot_tokens: depth 4 to 2 at 105 of 2000"]
        );
        assert_eq!(words(&places[2])[1], "hot_tokens: not HOT at 217 of 2000");
        assert_eq!(words(&places[3])[2], "warm_fragments: COLD, 1 are WARM");
        assert_eq!(words(&places[4])[3], "cold_fragments: counted by its folder, 1 are COLD");
    }

    #[test]
    fn what_is_hot_stays_unless_a_newcomer_is_clearly_better() {
        let limits = HydrationLimits { hot_tokens: 110, ..HydrationLimits::default() };
        let hot_at = Some(Depth::SUMMARY);
        let curated = |score: u16| HydrationFile {
            reason: RankReason::Curated,
            wanted: Depth::SUMMARY,
            ..file(12_000, score)
        };
        let hot = |score: u16| HydrationFile { hot_at, ..curated(score) };
        for (score, stays) in [(540, true), (550, true), (551, false)] {
            let places = placed(&limits, &[curated(score), hot(500)]);
            assert_eq!(places[1].warmth == Some(Warmth::Hot), stays, "{score}");
            assert_eq!(places[0].warmth == Some(Warmth::Hot), !stays, "{score}");
        }
    }

    #[test]
    fn a_pin_is_hot_at_its_depth_or_an_error() {
        let pinned = |pin, bytes| HydrationFile { reason: RankReason::Pinned(pin), ..file(bytes, 1000) };
        let limits = HydrationLimits { hot_tokens: 1_000, ..HydrationLimits::default() };
        let files = [file(100, 999), pinned(Pin::At(Depth::FULL), 900), pinned(Pin::AnyDepth, 6_000)];
        let places = placed(&limits, &files);
        assert_eq!((places[1].warmth, places[1].depth), (Some(Warmth::Hot), Depth::FULL));
        assert_eq!((places[2].warmth, places[2].depth), (Some(Warmth::Hot), Depth::SUMMARY));
        let files = [pinned(Pin::At(Depth::FULL), 995)];
        let error = place_fragments(&limits, &files, &mut ByBytes(&files)).unwrap_err();
        assert_eq!(error, PinsTooLarge { tokens: 1_005, limit: 1_000 });
    }

    #[test]
    fn large_files_have_no_text_and_a_forgotten_one_comes_back_when_it_is_relevant() {
        let limits =
            HydrationLimits { max_file_bytes: 1_000, max_project_bytes: 3_000, ..HydrationLimits::default() };
        let focus = HydrationFile { reason: RankReason::Focus, wanted: Depth::FULL, ..file(2_000, 1000) };
        let forgotten = HydrationFile { is_forgotten: true, ..file(500, 10) };
        let too_much = HydrationFile { is_forgotten: true, ..file(800, 5) };
        let places = placed(&limits, &[focus, forgotten, too_much]);
        assert_eq!((places[0].warmth, places[0].depth), (Some(Warmth::Hot), Depth::SKELETON));
        assert_eq!(words(&places[0]), ["focus", "max_file_bytes: 2000 of 1000, at most a skeleton"]);
        assert_eq!(places[1].warmth, Some(Warmth::Hot));
        assert_eq!(places[2].warmth, None);
        assert_eq!(words(&places[2])[1], "max_project_bytes: COLD at 2500 of 3000");
    }

    #[test]
    fn a_file_without_structure_is_its_text_or_ready() {
        /// No file has an outline or a skeleton.
        struct TextAlone<'a>(&'a [HydrationFile]);

        impl DepthCosts for TextAlone<'_> {
            fn tokens(&mut self, file: usize, depth: Depth) -> (u64, Depth) {
                let shown = if depth == Depth::FULL { depth } else { depth.min(Depth::SUMMARY) };
                (if shown == Depth::FULL { self.0[file].bytes } else { 3 }, shown)
            }
        }

        let limits = HydrationLimits { hot_tokens: 1_600, max_file_bytes: 500, ..HydrationLimits::default() };
        let files = [file(90, 900), file(400, 800), file(600, 700)];
        let places = place_fragments(&limits, &files, &mut TextAlone(&files)).unwrap();
        let short: Vec<_> = places.iter().map(|place| (place.warmth, place.depth.number())).collect();
        assert_eq!(short, [(Some(Warmth::Hot), 9), (Some(Warmth::Warm), 9), (Some(Warmth::Warm), 1)]);
    }

    #[test]
    fn what_is_hot_stays_as_deep_as_it_is_and_newcomers_leave_it_room_to_grow() {
        let limits = HydrationLimits { hot_tokens: 4_000, ..HydrationLimits::default() };
        let hot = HydrationFile { hot_at: Some(Depth::OUTLINE), ..file(3_000, 900) };
        let places = placed(&limits, std::slice::from_ref(&hot));
        assert_eq!(
            (places[0].depth, words(&places[0])[1].as_str()),
            (Depth::OUTLINE, "hot_tokens: depth 4 to 2 at 0 of 4000")
        );
        let newcomers: Vec<HydrationFile> = (0..40).map(|_| file(3_000, 500)).collect();
        let used: u64 = placed(&limits, &newcomers)
            .iter()
            .filter(|place| place.warmth == Some(Warmth::Hot))
            .map(|place| place.tokens)
            .sum();
        assert!((3_600..=3_800).contains(&used), "{used}");
    }

    fn files() -> impl Strategy<Value = Vec<HydrationFile>> {
        let one = (1_u64..400_000, 0_u16..=1000, 0_usize..5, any::<bool>());
        let file = one.prop_map(|(bytes, score, wanted, was_hot)| HydrationFile {
            wanted: Depth::LADDER[wanted],
            hot_at: Some(Depth::OUTLINE).filter(|_| was_hot),
            ..file(bytes, score)
        });
        proptest::collection::vec(file, 0..40).prop_map(|mut files| {
            files.sort_by_key(|file| std::cmp::Reverse(file.score));
            files
        })
    }

    proptest! {
        #[test]
        fn limits_hold_places_are_stable_and_nothing_that_fits_less_deep_is_colder(
            files in files(), hot in 0_u64..20_000, bytes in 1_u64..3_000_000, warm in 0_u64..20, cold in 0_u64..20,
        ) {
            let limits = HydrationLimits {
                hot_tokens: hot, max_project_bytes: bytes, warm_fragments: warm, cold_fragments: cold,
                ..HydrationLimits::default()
            };
            let places = placed(&limits, &files);
            let of = |warmth: Warmth| places.iter().filter(move |place| place.warmth == Some(warmth));
            let used: u64 = of(Warmth::Hot).map(|place| place.tokens).sum();
            if 0 < hot {
                prop_assert!(used <= hot);
            }
            prop_assert!(of(Warmth::Warm).count() as u64 <= warm && of(Warmth::Cold).count() as u64 <= cold);
            let behind = places.iter().zip(&files).filter(|(place, _)| {
                matches!(place.warmth, Some(Warmth::Hot | Warmth::Warm))
            });
            prop_assert!(behind.map(|(_, file)| file.bytes).sum::<u64>() <= bytes);
            // What is WARM would not fit, even as little of it as is ever HOT.
            for (at, place) in places.iter().enumerate().filter(|(_, place)| place.warmth == Some(Warmth::Warm)) {
                let least = ByBytes(&files).tokens(at, LEAST_STRUCTURE.min(files[at].wanted)).0;
                let is_large = hot / LARGEST_LEAST_SHARE < least;
                prop_assert!(0 < hot && (is_large || hot - hot / ROOM_TO_GROW < used + least), "{at}: {place:?}");
            }
            // Placed again, nothing moves.
            let fresh: Vec<HydrationFile> =
                files.iter().map(|file| HydrationFile { hot_at: None, ..file.clone() }).collect();
            let first = placed(&limits, &fresh);
            let again: Vec<HydrationFile> = fresh.iter().zip(&first).map(|(file, place)| {
                HydrationFile { hot_at: Some(place.depth).filter(|_| place.warmth == Some(Warmth::Hot)), ..file.clone() }
            }).collect();
            for (before, after) in first.iter().zip(&placed(&limits, &again)) {
                prop_assert_eq!((before.warmth, before.depth, before.tokens), (after.warmth, after.depth, after.tokens));
            }
            // Of two files of one size that want the same, the one that is worth more is at least as warm.
            let rank = |place: &PlacedFragment| place.warmth.map_or(3, |warmth| warmth as u8);
            for (a, left) in files.iter().enumerate() {
                for (b, right) in files.iter().enumerate().skip(a + 1) {
                    let is_alike = left.bytes == right.bytes && left.wanted == right.wanted && left.hot_at == right.hot_at;
                    prop_assert!(!is_alike || rank(&places[a]) <= rank(&places[b]));
                }
            }
        }
    }
}

//! Places fragments, rank by rank.

use super::problem::{
    DepthCosts, HydrationFile, HydrationLimits, PinsTooLarge, PlacedFragment, PlacementRule, RankReason,
    ViewCost,
};
use crate::model::{Depth, Pin, Warmth};

/// A file that is not in focus, pinned or curated takes at most 1/`LARGEST_SHARE` of the HOT tokens, so that one large
/// file does not displace the next ten.
const LARGEST_SHARE: u64 = 16;
/// The smallest view of such a file takes at most 1/`LARGEST_LEAST_SHARE`.
pub(super) const LARGEST_LEAST_SHARE: u64 = 4;
/// The least depth of a requested file that is HOT.
const LEAST_HOT: Depth = Depth::SUMMARY;
/// Other files are HOT or WARM with their structure at least, unless less of them is wanted: the map has as much about
/// a file as a summary would. A file without structure is shown as text.
const LEAST_STRUCTURE: Depth = Depth::OUTLINE;
/// 1/`ROOM_TO_GROW` of the HOT tokens is closed to newcomers, so that HOT files can grow with edits and stay in place.
pub(super) const ROOM_TO_GROW: u64 = 20;

/// Places files, which are sorted by rank. The result has the same order.
///
/// # Errors
/// [`PinsTooLarge`] if the pinned files do not fit even at the least depths that their pins allow.
pub fn place_fragments(
    limits: &HydrationLimits,
    files: &[HydrationFile],
    costs: &mut dyn DepthCosts,
) -> Result<Vec<PlacedFragment>, PinsTooLarge> {
    let order = visiting_order(limits, files);
    let newcomers = best_newcomers(files, &order);
    let mut hydration = Hydration::new(limits, files, &newcomers, costs);
    hydration.reserve_pins(&order)?;
    let mut placed = vec![None; files.len()];
    for at in order {
        placed[at] = Some(hydration.place(at));
    }
    // Every position is visited once.
    Ok(placed.into_iter().flatten().collect())
}

/// Returns the positions in the order in which places are assigned: pins, then focus, then by score, with an advantage
/// for files that are HOT already.
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
        // A newcomer with an equal score does not displace a HOT file.
        let score = u64::from(file.score) * hold.saturating_add(100);
        (class, std::cmp::Reverse((score, file.hot_at.is_some())), *at)
    });
    order
}

/// Returns for each file the score of the best newcomer that is visited after it, by position.
fn best_newcomers(files: &[HydrationFile], order: &[usize]) -> Vec<Option<u16>> {
    let mut newcomers = vec![None; files.len()];
    let mut best = None;
    for at in order.iter().rev() {
        newcomers[*at] = best;
        if files[*at].hot_at.is_none() {
            best = best.max(Some(files[*at].score));
        }
    }
    newcomers
}

/// The space available to a file if it is HOT.
struct HotRoom {
    /// The maximum tokens for its smallest view, and for larger ones.
    least: u64,
    share: u64,
    bytes: u64,
}

/// How a file is shown if it is HOT.
struct HotChoice {
    /// The depth with its cost; `None` if it cannot be HOT.
    best: Option<(Depth, ViewCost)>,
    /// Why it is not shown deeper, if more is wanted.
    obstacle: Option<Obstacle>,
}

/// Why a view of a file is not HOT.
enum Obstacle {
    /// It has too many bytes.
    Bytes,
    /// It has too many tokens: a file may have at most one in `part` of the limit.
    Tokens { tokens: u64, part: u64 },
    /// Its text is wanted, but the file is too long for that.
    FileBytes,
    /// It is deeper than the file's previous HOT depth.
    Deeper,
}

struct Hydration<'a> {
    limits: &'a HydrationLimits,
    files: &'a [HydrationFile],
    /// The score of the best newcomer that is visited after each file.
    newcomers: &'a [Option<u16>],
    costs: &'a mut dyn DepthCosts,
    hot_tokens: u64,
    /// The minimum tokens of the pinned files that have no place yet.
    reserved: u64,
    bytes: u64,
    warm: u64,
    cold: u64,
}

impl<'a> Hydration<'a> {
    fn new(
        limits: &'a HydrationLimits,
        files: &'a [HydrationFile],
        newcomers: &'a [Option<u16>],
        costs: &'a mut dyn DepthCosts,
    ) -> Self {
        Self { limits, files, newcomers, costs, hot_tokens: 0, reserved: 0, bytes: 0, warm: 0, cold: 0 }
    }

    fn hot_limit(&self) -> u64 {
        if self.limits.hot_tokens == 0 { u64::MAX } else { self.limits.hot_tokens }
    }

    /// Reserves the minimum for each pinned file.
    fn reserve_pins(&mut self, order: &[usize]) -> Result<(), PinsTooLarge> {
        for at in order {
            self.reserved += self.least_pinned(*at);
        }
        let limit = self.hot_limit();
        if limit < self.reserved { Err(PinsTooLarge { tokens: self.reserved, limit }) } else { Ok(()) }
    }

    /// Returns the minimum tokens of a pinned file.
    fn least_pinned(&mut self, at: usize) -> u64 {
        match self.files[at].reason {
            RankReason::Pinned(pin) => {
                let (depth, _) = self.deepest(at, &mut Vec::new());
                let least = pin.depth().map_or(LEAST_HOT, |pinned| pinned.min(depth));
                self.costs.cost(at, least.min(depth)).tokens
            }
            RankReason::Focus | RankReason::Curated | RankReason::Score => 0,
        }
    }

    /// Returns the greatest depth for a file, and whether it is limited to a share of the tokens.
    fn deepest(&self, at: usize, rules: &mut Vec<PlacementRule>) -> (Depth, bool) {
        let file = &self.files[at];
        let (wanted, is_capped) = match file.reason {
            RankReason::Pinned(pin) => (pin.depth().unwrap_or(Depth::FULL), false),
            RankReason::Focus | RankReason::Curated => (file.wanted, false),
            RankReason::Score => (file.wanted, true),
        };
        if self.limits.max_file_bytes < file.bytes && Depth::SKELETON < wanted {
            rules.push(self.file_limit(at));
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
            RankReason::Score => PlacementRule::Rank {
                place: at + 1,
                files: self.files.len(),
                score: file.score,
                evidence: file.evidence.clone(),
                linked_checkout: file.linked_checkout.clone(),
            },
        }];
        let (deepest, is_capped) = self.deepest(at, &mut rules);
        if let Some(placed) = self.place_hot(at, deepest, is_capped, &mut rules) {
            return placed;
        }
        if self.limits.warm_fragments <= self.warm {
            rules.push(PlacementRule::WarmFragments { limit: self.limits.warm_fragments });
            return self.place_cold(at, rules);
        }
        match self.place_warm(at, deepest, &mut rules) {
            Some(placed) => placed,
            None => self.place_cold(at, rules),
        }
    }

    /// Makes a file HOT, as deep as fits.
    fn place_hot(
        &mut self,
        at: usize,
        deepest: Depth,
        is_capped: bool,
        rules: &mut Vec<PlacementRule>,
    ) -> Option<PlacedFragment> {
        let limit = self.hot_limit();
        self.reserved -= self.least_pinned(at);
        let file = &self.files[at];
        let is_new = is_capped && file.hot_at.is_none();
        let open = if is_new { limit - limit / ROOM_TO_GROW } else { limit };
        let room = open.saturating_sub(self.hot_tokens.saturating_add(self.reserved));
        let (least, share) = if is_capped {
            (room.min(limit / LARGEST_LEAST_SHARE), room.min(limit / LARGEST_SHARE))
        } else {
            (room, room)
        };
        // A pinned file is HOT, however long it is.
        let is_pinned = matches!(file.reason, RankReason::Pinned(_));
        let bytes = if is_pinned { u64::MAX } else { self.free_bytes() };
        let choice = self.deepest_within(at, deepest, &HotRoom { least, share, bytes });
        let shortfall = self.shortfall(at, deepest, &choice, room);
        // An earlier step may already have recorded that the file is too long for its text.
        rules.extend(shortfall.filter(|rule| !rules.contains(rule)));
        let (_, cost) = choice.best?;
        rules.extend(self.kept(at));
        self.hot_tokens += cost.tokens;
        Some(self.placed(Warmth::Hot, cost, rules))
    }

    /// Returns why a file is not shown deeper, or not HOT.
    fn shortfall(&self, at: usize, from: Depth, choice: &HotChoice, room: u64) -> Option<PlacementRule> {
        let to = choice.best.map(|(_, cost)| cost.depth);
        if choice.best.is_some_and(|(step, _)| step == from) {
            return None;
        }
        let (taken, limit) = (self.hot_tokens, self.hot_limit());
        match choice.obstacle {
            // A file that is too long to be HOT is too long to be WARM, and gets its reason there.
            Some(Obstacle::Bytes) => to.map(|_| self.byte_limit(from, choice.best.map(|(step, _)| step))),
            Some(Obstacle::Deeper) => to.map(PlacementRule::KeptDepth),
            Some(Obstacle::FileBytes) => Some(self.file_limit(at)),
            Some(Obstacle::Tokens { tokens, part }) if tokens <= room => {
                Some(PlacementRule::HotShare { from, to, tokens, part, limit })
            }
            Some(Obstacle::Tokens { .. }) | None => Some(PlacementRule::HotTokens { from, to, taken, limit }),
        }
    }

    /// Returns whether a file is HOT only because it was before.
    fn kept(&self, at: usize) -> Option<PlacementRule> {
        let file = &self.files[at];
        let newcomer = self.newcomers[at].filter(|score| file.score < *score)?;
        if file.hot_at.is_none() || matches!(file.reason, RankReason::Focus | RankReason::Pinned(_)) {
            return None;
        }
        let (newcomer, own) = (u64::from(newcomer), u64::from(file.score).max(1));
        let beaten_by_percent = (newcomer * 100 / own).saturating_sub(100);
        Some(PlacementRule::Kept { beaten_by_percent, hold_percent: self.limits.hold_percent })
    }

    /// Returns the depth of a file if it is HOT.
    fn deepest_within(&mut self, at: usize, deepest: Depth, room: &HotRoom) -> HotChoice {
        let file = &self.files[at];
        let least_structure = LEAST_STRUCTURE.min(deepest);
        let (least, most) = match (file.reason, file.hot_at) {
            (RankReason::Pinned(Pin::At(depth)), _) => (depth.min(deepest), deepest),
            // A HOT file keeps its depth, so that edits of other files do not change its view.
            (RankReason::Score, Some(hot_at)) => (least_structure, hot_at.clamp(least_structure, deepest)),
            (RankReason::Score, None) => (least_structure, deepest),
            (_, _) => (LEAST_HOT.min(deepest), deepest),
        };
        // Starts at the least depth, so that each of the many files after the last that fits costs one view.
        let mut best: Option<(Depth, ViewCost)> = None;
        let mut obstacle = (most < deepest).then_some(Obstacle::Deeper);
        for step in Depth::LADDER.into_iter().rev().filter(|depth| (least..=most).contains(depth)) {
            let cost = self.costs.cost(at, step);
            // The smallest view has a larger share: an important file is not left out because of its size.
            if if best.is_none() { room.least } else { room.share } < cost.tokens {
                let part = if best.is_none() { LARGEST_LEAST_SHARE } else { LARGEST_SHARE };
                obstacle = Some(Obstacle::Tokens { tokens: cost.tokens, part });
                break;
            }
            if room.bytes < cost.bytes {
                obstacle = Some(Obstacle::Bytes);
                break;
            }
            best = Some((step, cost));
        }
        // A file without structure is shown as text or as a one-line summary, and the latter is better placed in the
        // map.
        let has_words_alone = best.is_some_and(|(_, cost)| cost.depth < least_structure);
        if has_words_alone
            && file.reason == RankReason::Score
            && self.costs.cost(at, LEAST_STRUCTURE).depth < LEAST_STRUCTURE
        {
            return self.text_within(at, room);
        }
        HotChoice { best, obstacle }
    }

    /// Returns the text of a file as its HOT view, if it fits.
    fn text_within(&mut self, at: usize, room: &HotRoom) -> HotChoice {
        let cost = self.costs.cost(at, Depth::FULL);
        let obstacle = if self.limits.max_file_bytes < self.files[at].bytes {
            Obstacle::FileBytes
        } else if room.share < cost.tokens {
            Obstacle::Tokens { tokens: cost.tokens, part: LARGEST_SHARE }
        } else if room.bytes < cost.bytes {
            Obstacle::Bytes
        } else {
            return HotChoice { best: Some((Depth::FULL, cost)), obstacle: None };
        };
        HotChoice { best: None, obstacle: Some(obstacle) }
    }

    /// Makes a file WARM, one step less deep than as HOT, or as deep as its bytes fit.
    fn place_warm(
        &mut self,
        at: usize,
        deepest: Depth,
        rules: &mut Vec<PlacementRule>,
    ) -> Option<PlacedFragment> {
        let least = LEAST_STRUCTURE.min(deepest);
        let from = deepest.next_lesser().max(least);
        let room = self.free_bytes();
        for step in Depth::LADDER.into_iter().filter(|depth| (least..=from).contains(depth)) {
            let mut cost = self.costs.cost(at, step);
            if cost.depth < least && self.files[at].bytes <= self.limits.max_file_bytes {
                cost = self.costs.cost(at, Depth::FULL);
            }
            if cost.bytes <= room {
                if step < from {
                    rules.push(self.byte_limit(from, Some(step)));
                }
                self.warm += 1;
                return Some(self.placed(Warmth::Warm, cost, rules));
            }
        }
        rules.push(self.byte_limit(from, None));
        None
    }

    fn free_bytes(&self) -> u64 {
        self.limits.max_project_bytes.saturating_sub(self.bytes)
    }

    fn file_limit(&self, at: usize) -> PlacementRule {
        PlacementRule::MaxFileBytes { bytes: self.files[at].bytes, limit: self.limits.max_file_bytes }
    }

    fn byte_limit(&self, from: Depth, to: Option<Depth>) -> PlacementRule {
        PlacementRule::MaxProjectBytes { from, to, taken: self.bytes, limit: self.limits.max_project_bytes }
    }

    fn placed(&mut self, warmth: Warmth, cost: ViewCost, rules: &mut Vec<PlacementRule>) -> PlacedFragment {
        self.bytes = self.bytes.saturating_add(cost.bytes);
        let rules = std::mem::take(rules);
        let ViewCost { tokens, bytes, depth } = cost;
        PlacedFragment { warmth: Some(warmth), depth, tokens, bytes, rules }
    }

    fn place_cold(&mut self, at: usize, mut rules: Vec<PlacementRule>) -> PlacedFragment {
        let mut nowhere = |rule| {
            rules.push(rule);
            let rules = std::mem::take(&mut rules);
            PlacedFragment { warmth: None, depth: Depth::PATH, tokens: 0, bytes: 0, rules }
        };
        if self.files[at].is_forgotten {
            return nowhere(PlacementRule::Forgotten { days: self.limits.cold_days });
        }
        if self.limits.cold_fragments <= self.cold {
            return nowhere(PlacementRule::ColdFragments { limit: self.limits.cold_fragments });
        }
        self.cold += 1;
        let ViewCost { tokens, bytes, depth } = self.costs.cost(at, Depth::SUMMARY);
        PlacedFragment { warmth: Some(Warmth::Cold), depth, tokens, bytes, rules }
    }
}

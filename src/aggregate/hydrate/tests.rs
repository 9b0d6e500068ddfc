//! Places files of which only sizes and scores are known.

use proptest::prelude::*;

use super::place::{LARGEST_LEAST_SHARE, ROOM_TO_GROW};
use super::problem::PinsTooLarge;
use super::*;
use crate::model::{Depth, Pin, Warmth};

/// A file costs its bytes in full, and less at each lesser depth.
struct ByBytes<'a>(&'a [HydrationFile]);

impl DepthCosts for ByBytes<'_> {
    fn cost(&mut self, file: usize, depth: Depth) -> ViewCost {
        let part = [8, 7, 6, 6, 4, 4, 4, 4, 4, 0][usize::from(depth.number())];
        let bytes = self.0[file].bytes >> part;
        ViewCost { tokens: bytes + u64::from(depth.number()) + 1, bytes, depth }
    }
}

fn file(bytes: u64, score: u16) -> HydrationFile {
    let wanted = Depth::SKELETON;
    let reason = RankReason::Score;
    let evidence = vec![("changes", 2_500)];
    HydrationFile {
        bytes,
        score,
        evidence,
        linked_checkout: None,
        reason,
        wanted,
        hot_at: None,
        is_forgotten: false,
    }
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
        [
            "rank 2 of 5, score 0.800: changes 2.500",
            "hot_tokens: depth 4 to 2, more takes 442, over 1/16 of 2,000"
        ]
    );
    assert_eq!(words(&places[2])[1], "hot_tokens: not HOT at 217 of 2,000");
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
        let kept = words(&places[1]).pop().filter(|rule| rule.starts_with("kept"));
        let percent = u64::from(score) / 5 - 100;
        let expected = format!("kept: the best newcomer beats it by {percent} %, hold is 10 %");
        assert_eq!(kept, stays.then_some(expected), "{score}");
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
fn large_files_have_no_text_and_files_beyond_the_byte_limit_are_less_deep_or_cold() {
    let focus = HydrationFile { reason: RankReason::Focus, wanted: Depth::FULL, ..file(2_000, 1000) };
    let forgotten = HydrationFile { is_forgotten: true, ..file(500, 10) };
    let files = [focus, forgotten, HydrationFile { is_forgotten: true, ..file(800, 5) }];
    let within = |max_project_bytes| {
        let limits =
            HydrationLimits { max_file_bytes: 1_000, max_project_bytes, ..HydrationLimits::default() };
        placed(&limits, &files)
    };
    let places = within(175);
    assert_eq!((places[0].warmth, places[0].depth), (Some(Warmth::Hot), Depth::SKELETON));
    assert_eq!(words(&places[0]), ["focus", "max_file_bytes: 2,000 of 1,000, at most a skeleton"]);
    // A forgotten file comes back when it is relevant.
    assert_eq!(places[1].warmth, Some(Warmth::Hot));
    assert_eq!((places[2].warmth, places[2].depth), (Some(Warmth::Hot), Depth::OUTLINE));
    assert_eq!(words(&places[2])[1], "max_project_bytes: depth 4 to 2 at 156 of 175");
    let places = within(165);
    assert_eq!(places[2].warmth, None);
    assert_eq!(words(&places[2])[1], "max_project_bytes: COLD at 156 of 165");
}

#[test]
fn a_file_without_structure_is_its_text_or_ready() {
    /// No file has an outline or a skeleton.
    struct TextAlone<'a>(&'a [HydrationFile]);

    impl DepthCosts for TextAlone<'_> {
        fn cost(&mut self, file: usize, depth: Depth) -> ViewCost {
            let shown = if depth == Depth::FULL { depth } else { depth.min(Depth::SUMMARY) };
            let bytes = if shown == Depth::FULL { self.0[file].bytes } else { 3 };
            ViewCost { tokens: bytes, bytes, depth: shown }
        }
    }

    let limits = HydrationLimits { hot_tokens: 1_600, max_file_bytes: 500, ..HydrationLimits::default() };
    let files = [file(90, 900), file(400, 800), file(600, 700)];
    let places = place_fragments(&limits, &files, &mut TextAlone(&files)).unwrap();
    let short: Vec<_> = places.iter().map(|place| (place.warmth, place.depth.number())).collect();
    assert_eq!(short, [(Some(Warmth::Hot), 9), (Some(Warmth::Warm), 9), (Some(Warmth::Warm), 1)]);
    assert_eq!(words(&places[1])[1], "hot_tokens: not HOT, more takes 400, over 1/16 of 1,600");
    assert_eq!(words(&places[2])[1], "max_file_bytes: 600 of 500, at most a skeleton");
}

#[test]
fn hot_files_keep_their_depth_and_newcomers_leave_them_room_to_grow() {
    let limits = HydrationLimits { hot_tokens: 4_000, ..HydrationLimits::default() };
    let hot = HydrationFile { hot_at: Some(Depth::OUTLINE), ..file(3_000, 900) };
    let places = placed(&limits, std::slice::from_ref(&hot));
    assert_eq!((places[0].depth, words(&places[0])[1].as_str()), (Depth::OUTLINE, "kept: depth 2 as before"));
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
        let is_ready = |place: &PlacedFragment| matches!(place.warmth, Some(Warmth::Hot | Warmth::Warm));
        let ready = places.iter().enumerate().filter(|(_, place)| is_ready(place));
        prop_assert!(ready.map(|(at, place)| ByBytes(&files).cost(at, place.depth).bytes).sum::<u64>() <= bytes);
        // A WARM file would not fit as HOT, even at the least HOT depth.
        for (at, place) in places.iter().enumerate().filter(|(_, place)| place.warmth == Some(Warmth::Warm)) {
            let least = ByBytes(&files).cost(at, Depth::OUTLINE.min(files[at].wanted)).tokens;
            let is_large = hot / LARGEST_LEAST_SHARE < least;
            prop_assert!(0 < hot && (is_large || hot - hot / ROOM_TO_GROW < used + least), "{at}: {place:?}");
        }
        // A second placement moves nothing.
        let fresh: Vec<HydrationFile> =
            files.iter().map(|file| HydrationFile { hot_at: None, ..file.clone() }).collect();
        let first = placed(&limits, &fresh);
        let again: Vec<HydrationFile> = fresh.iter().zip(&first).map(|(file, place)| {
            HydrationFile { hot_at: Some(place.depth).filter(|_| place.warmth == Some(Warmth::Hot)), ..file.clone() }
        }).collect();
        for (before, after) in first.iter().zip(&placed(&limits, &again)) {
            prop_assert_eq!((before.warmth, before.depth, before.tokens), (after.warmth, after.depth, after.tokens));
        }
        // Of two files of the same size and wanted depth, the one with the higher score is at least as warm.
        let rank = |place: &PlacedFragment| place.warmth.map_or(3, |warmth| warmth as u8);
        for (a, left) in files.iter().enumerate() {
            for (b, right) in files.iter().enumerate().skip(a + 1) {
                let is_alike = left.bytes == right.bytes && left.wanted == right.wanted && left.hot_at == right.hot_at;
                prop_assert!(!is_alike || rank(&places[a]) <= rank(&places[b]));
            }
        }
    }
}

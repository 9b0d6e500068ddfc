//! Hydration of real files: what is kept, what is written, and what a hydrated document shows.

use crate::aggregate::HydrationLimits;
use crate::engine::document::draft::fragment_map;
use crate::engine::document::{HydratedPlaces, HydrationAnswer, HydrationRequest, NamedFragments};
use crate::engine::error::Error;
use crate::engine::project::Project;
use crate::engine::testing::{TestProject, options, request};
use crate::model::{
    AggregationStrategy, Depth, FileItem, Fragment, FragmentName, Pin, RelPath, Slice, ViewMode, Warmth,
};
use crate::render;
use crate::slices::create_slice;

fn module(name: &str, functions: usize) -> String {
    let function = |at| {
        format!(
            "def {name}_{at}(value):\n    \"\"\"About {name}.\"\"\"\n    total = value * {at}\n    return total + {at}\n\n\n"
        )
    };
    (0..functions).map(function).collect()
}

fn bench() -> TestProject {
    let names = ["core", "mail", "pages", "cache"];
    let files: Vec<(String, String)> =
        names.map(|name| (format!("src/{name}.py"), module(name, 12))).to_vec();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    TestProject::new(&files)
}

fn hydration(focus: &[&str], hot_tokens: u64) -> HydrationRequest {
    HydrationRequest {
        choice: request(AggregationStrategy::Auto, ViewMode::Skeleton, focus),
        limits: HydrationLimits { hot_tokens, ..HydrationLimits::default() },
        is_kept: true,
    }
}

fn tiers(answer: &HydrationAnswer) -> Vec<(String, Warmth, Depth)> {
    let place = |place: &Fragment| (place.name.path.to_string(), place.warmth.unwrap(), place.depth);
    answer.fragments.iter().map(place).collect()
}

fn named(word: &str) -> NamedFragments<'_> {
    NamedFragments { word, slice: None, items: &[] }
}

fn rows(project: &mut Project<'_>) -> Vec<Fragment> {
    project.fragments().unwrap()
}

#[test]
fn places_are_kept_and_a_simulation_writes_nothing() {
    let bench = bench();
    let mut project = bench.open(options());
    let simulated =
        project.hydrate(&HydrationRequest { is_kept: false, ..hydration(&["core"], 560) }).unwrap();
    assert_eq!(rows(&mut project), []);
    let placed = project.hydrate(&hydration(&["core"], 560)).unwrap();
    assert_eq!(tiers(&placed), tiers(&simulated));
    let core = placed.fragments.iter().find(|place| place.name.path.to_string() == "src/core.py").unwrap();
    assert_eq!(
        (core.warmth, core.depth, core.score, core.why.as_str()),
        (Some(Warmth::Hot), Depth::FULL, 1000, "focus")
    );
    let has_warm = placed.fragments.iter().any(|place| place.warmth == Some(Warmth::Warm));
    assert!(has_warm, "{:?}", placed.fragments);
    drop(project);

    // A later process reads, renders and writes nothing.
    bench.wait(50);
    let mut project = bench.open(options());
    let before = rows(&mut project);
    let again = project.hydrate(&hydration(&["core"], 560)).unwrap();
    assert_eq!((again.fragments, again.moved), (before.clone(), Vec::new()));
    assert_eq!(rows(&mut project), before);
}

#[test]
fn a_pinned_file_is_hot_keeps_its_pin_when_deleted_and_is_refused_if_it_does_not_fit() {
    let bench = bench();
    let mut project = bench.open(options());
    project.hydrate(&hydration(&["core"], 560)).unwrap();
    project.pin(named("src/mail.py"), Some(Pin::At(Depth::OUTLINE))).unwrap();
    let placed = project.hydrate(&hydration(&["core"], 1_500)).unwrap();
    let mail = tiers(&placed).into_iter().find(|(path, ..)| path == "src/mail.py").unwrap();
    assert_eq!((mail.1, mail.2), (Warmth::Hot, Depth::OUTLINE));
    let error = project.hydrate(&hydration(&[], 20)).unwrap_err();
    assert!(matches!(error, Error::PinsOverBudget { tokens: 21.., budget: 20 }), "{error:?}");

    bench.remove("src/mail.py");
    let placed = project.hydrate(&hydration(&["core"], 1_500)).unwrap();
    assert!(tiers(&placed).iter().all(|(path, ..)| path != "src/mail.py"));
    bench.write("src/mail.py", &module("mail", 12));
    let placed = project.hydrate(&hydration(&["core"], 1_500)).unwrap();
    let mail = tiers(&placed).into_iter().find(|(path, ..)| path == "src/mail.py").unwrap();
    assert_eq!((mail.1, mail.2), (Warmth::Hot, Depth::OUTLINE));

    project.forget(named("src/mail.py")).unwrap();
    assert!(rows(&mut project).iter().all(|row| row.pin.is_none()));
}

#[test]
fn a_file_that_was_renamed_keeps_its_place_pin_and_uses() {
    let bench = bench();
    let mut project = bench.open(options());
    project.pin(named("src/mail.py"), Some(Pin::At(Depth::OUTLINE))).unwrap();
    project.hydrate(&hydration(&[], 1_500)).unwrap();
    project.count_uses().unwrap();
    bench.wait(50);
    bench.rename("src/mail.py", "src/letters.py");
    let placed = project.hydrate(&hydration(&[], 1_500)).unwrap();
    assert!(placed.moved.is_empty(), "{:?}", placed.moved);
    let found = rows(&mut project);
    let letters = found.iter().find(|row| row.name.path.to_string() == "src/letters.py").unwrap();
    assert_eq!((letters.warmth, letters.uses), (Some(Warmth::Hot), 1));
    assert_eq!(letters.pin, Some(Pin::At(Depth::OUTLINE)));
    assert!(found.iter().all(|row| row.name.path.to_string() != "src/mail.py"));

    // If two files could be the missing one, neither is assumed to be.
    bench.remove("src/letters.py");
    bench.write("src/one.py", &module("mail", 12));
    bench.write("src/two.py", &module("mail", 12));
    let placed = project.hydrate(&hydration(&[], 1_500)).unwrap();
    assert!(placed.fragments.iter().all(|row| row.pin.is_none()));
}

#[test]
fn a_hydrated_document_shows_the_files_as_they_are_now_and_names_the_warm_ones() {
    let bench = bench();
    let mut project = bench.open(options());
    let mut choice = request(AggregationStrategy::Auto, ViewMode::Summary, &[]);
    choice.hydrated = Some(HydratedPlaces::default());
    assert!(matches!(project.with_places(choice.clone()), Err(Error::NotHydrated)));
    let placed = project.hydrate(&hydration(&["core"], 560)).unwrap();
    bench.write("src/core.py", &module("changed", 3));
    let asked = project.with_places(choice).unwrap();
    let document = project.aggregate(&asked).unwrap();
    let text = render::render_markdown(&document).text().into_owned();
    assert!(text.contains("def changed_2(value):") && !text.contains("core_1"), "{text}");
    for (path, warmth, _) in tiers(&placed) {
        let name = path.rsplit('/').next().unwrap();
        let has_block = text.contains(&format!("### {path}\n"));
        assert_eq!(has_block, warmth == Warmth::Hot, "{path}: {text}");
        assert!(text.contains(name), "{path}: {text}");
    }
    project.count_uses().unwrap();
    let hot = rows(&mut project).into_iter().filter(|row| row.warmth == Some(Warmth::Hot));
    assert!(
        hot.map(|row| row.uses).eq(placed
            .fragments
            .iter()
            .filter(|row| row.warmth == Some(Warmth::Hot))
            .map(|_| 1))
    );
}

#[test]
fn a_map_names_the_best_files_and_counts_the_others() {
    let name = |path: String| FragmentName::of_file(RelPath::new(path.as_bytes()).unwrap());
    let best = (0..500).rev().map(|file| name(format!("src/b{file:03}.py")));
    let others = (0..20).map(|file| name(format!("lib/a{file:02}.py")));
    let slice = FragmentName { part: Some("push".to_owned()), ..name("lib/ring.c".to_owned()) };
    let map = fragment_map(&best.chain(others).chain([slice]).collect::<Vec<_>>());
    assert!(map.contains("b000.py") && map.contains("b499.py") && !map.contains("a00.py"), "{map}");
    assert!(map.contains("lib/ (20 files)\n") && map.ends_with("lib/ring.c [push]\n"), "{map}");
}

#[test]
fn a_cold_file_that_is_never_delivered_is_forgotten_and_comes_back() {
    let bench = bench();
    let mut project = bench.open(options());
    let mut asked = hydration(&[], 200);
    asked.limits.warm_fragments = 1;
    asked.limits.cold_days = 2;
    project.hydrate(&asked).unwrap();
    let cold = rows(&mut project).into_iter().filter(|row| row.warmth == Some(Warmth::Cold)).count();
    assert!(0 < cold);
    bench.wait(3 * 86_400);
    bench.write("src/new.py", "x = 1\n");
    project.hydrate(&asked).unwrap();
    let forgotten = |row: &Fragment| row.warmth.is_none();
    assert_eq!(rows(&mut project).into_iter().filter(forgotten).count(), cold);
    asked.limits.hot_tokens = 0;
    project.hydrate(&asked).unwrap();
    assert!(rows(&mut project).iter().all(|row| row.warmth == Some(Warmth::Hot)));
}

/// Returns an entry that marks slices of `src/mail.py`, each with a tag and the number of its function.
fn marked(slices: &[(&str, u32)]) -> FileItem {
    let text = module("mail", 12);
    let slice = |(tag, function): &(&str, u32)| {
        let slice = create_slice(&text, function * 6 + 1, function * 6 + 4).unwrap();
        Slice { tag: (*tag).to_owned(), ..slice }
    };
    FileItem { custom_slices: slices.iter().map(slice).collect(), ..FileItem::plain("src/mail.py") }
}

fn slices(answer: &HydrationAnswer) -> Vec<(Option<&str>, Warmth, Depth)> {
    let of_mail = answer.fragments.iter().filter(|row| row.name.path.to_string() == "src/mail.py");
    of_mail.map(|row| (row.name.part.as_deref(), row.warmth.unwrap(), row.depth)).collect()
}

#[test]
fn each_slice_of_a_file_has_a_place_of_its_own() {
    let bench = bench();
    let mut project = bench.open(options());
    let items = [marked(&[("first", 0), ("second", 5), ("", 9)])];
    let mut asked = hydration(&[], 160);
    asked.choice.items = items.to_vec();
    let named = |slice| NamedFragments { word: "src/mail.py", slice: Some(slice), items: &items };
    project.pin(named("second"), Some(Pin::AnyDepth)).unwrap();
    let refused = project.pin(named("third"), Some(Pin::AnyDepth)).unwrap_err();
    assert!(matches!(refused, Error::NoSuchSlice { ref known, .. } if known.len() == 3), "{refused}");
    let placed = project.hydrate(&asked).unwrap();
    let expected = [
        (Some("55-58"), Warmth::Warm, Depth::FULL),
        (Some("first"), Warmth::Hot, Depth::FULL),
        (Some("second"), Warmth::Hot, Depth::FULL),
    ];
    assert_eq!(slices(&placed), expected, "{:?}", placed.fragments);
    // Lines inserted before them and an edit elsewhere move no place, and a second hydration changes no row.
    bench.wait(50);
    bench.write("src/mail.py", &format!("# mail\n\n{}", module("mail", 12)));
    assert_eq!(project.hydrate(&asked).unwrap().moved, []);
    let before = rows(&mut project);
    project.hydrate(&asked).unwrap();
    assert_eq!(rows(&mut project), before);

    // The document contains what is HOT of the file and nothing else, within the limit.
    let mut choice = request(AggregationStrategy::Auto, ViewMode::Summary, &[]);
    choice.hydrated = Some(HydratedPlaces::default());
    choice.items = items.to_vec();
    let asked_for = project.with_places(choice.clone()).unwrap();
    let document = project.aggregate(&asked_for).unwrap();
    let text = render::render_markdown(&document).text().into_owned();
    let has = |name: &str| text.contains(&format!("def {name}(value):"));
    assert!(has("mail_0") && has("mail_5") && !has("mail_9") && !has("mail_1"), "{text}");
    assert!(text.contains("src/mail.py [55-58]"), "{text}");
    let texts = project.fragment_texts(&before, &choice).unwrap();
    let shown = |part: &str| {
        let name = texts.keys().find(|name| name.part.as_deref() == Some(part)).unwrap();
        texts[name].clone()
    };
    assert!(shown("second").contains("mail_5") && !shown("second").contains("mail_0"));

    // Without marks the file is one fragment again; slices that are no longer marked are not shown as the whole file.
    choice.items.clear();
    let asked_for = project.with_places(choice).unwrap();
    let document = project.aggregate(&asked_for).unwrap();
    let text = render::render_markdown(&document).text().into_owned();
    assert!(text.contains("### src/mail.py") && !text.contains("def mail_1(value):"), "{text}");
    asked.choice.items.clear();
    let placed = project.hydrate(&asked).unwrap();
    assert!(matches!(slices(&placed)[..], [(None, _, _)]), "{:?}", slices(&placed));
    let kept: Vec<_> = rows(&mut project).into_iter().filter(|row| row.pin.is_some()).collect();
    assert_eq!(kept.len(), 1, "the pin waits for its slice: {kept:?}");
    assert_eq!((kept[0].warmth, kept[0].why.as_str()), (None, "its file is placed as a whole"));
}

#[test]
fn a_file_that_is_pinned_has_its_slices_pinned() {
    let bench = bench();
    let mut project = bench.open(options());
    project.pin(named("src/mail.py"), Some(Pin::AnyDepth)).unwrap();
    let mut asked = hydration(&[], 700);
    asked.choice.items = vec![marked(&[("first", 0), ("second", 5)])];
    let placed = project.hydrate(&asked).unwrap();
    assert!(slices(&placed).iter().all(|(_, warmth, _)| *warmth == Warmth::Hot), "{placed:?}");
    let pinned = |project: &mut Project<'_>| {
        let pinned = rows(project).into_iter().filter(|row| row.pin.is_some());
        pinned.map(|row| row.name.part).collect::<Vec<_>>()
    };
    assert_eq!(pinned(&mut project), [Some("first".to_owned()), Some("second".to_owned())]);
    let items = &asked.choice.items;
    project.pin(NamedFragments { items, ..named("src/mail.py") }, None).unwrap();
    project.hydrate(&asked).unwrap();
    assert_eq!(pinned(&mut project), []);
}

#[test]
fn slices_that_do_not_fit_are_named_and_the_document_is_within_the_limit() {
    let bench = bench();
    let mut project = bench.open(options());
    let mut asked = hydration(&[], 0);
    asked.choice.items = vec![marked(&[("a", 0), ("b", 2), ("c", 4), ("d", 6), ("e", 8)])];
    let mut choice = request(AggregationStrategy::Auto, ViewMode::Summary, &[]);
    choice.items.clone_from(&asked.choice.items);
    choice.hydrated = Some(HydratedPlaces::default());
    for limit in [20, 60, 75, 110, 180, 260, 600] {
        asked.limits.hot_tokens = limit;
        let placed = project.hydrate(&asked).unwrap();
        let asked_for = project.with_places(choice.clone()).unwrap();
        let document = project.aggregate(&asked_for).unwrap();
        let blocks: String = document.blocks.iter().map(render::block_text).collect();
        let tokens = project.count_tokens(&[&blocks])[0];
        assert!(tokens <= limit, "{tokens} of {limit}: {:?}", slices(&placed));
        // Each of the five is placed, and none is less deep than a lower tier would allow.
        assert_eq!(slices(&placed).len(), 5, "{limit}");
    }
}

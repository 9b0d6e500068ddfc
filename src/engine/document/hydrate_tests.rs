//! Hydration of real files: what is kept, what is written, and what a hydrated document shows.

use crate::aggregate::HydrationLimits;
use crate::engine::document::{HydrationAnswer, HydrationRequest};
use crate::engine::error::Error;
use crate::engine::project::Project;
use crate::engine::testing::{TestProject, options, request};
use crate::model::{AggregationStrategy, Depth, Fragment, Pin, ViewMode, Warmth};
use crate::render;

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
    let place = |place: &Fragment| (place.path.to_string(), place.warmth.unwrap(), place.depth);
    answer.fragments.iter().map(place).collect()
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
    let core = placed.fragments.iter().find(|place| place.path.to_string() == "src/core.py").unwrap();
    assert_eq!(
        (core.warmth, core.depth, core.score, core.why.as_str()),
        (Some(Warmth::Hot), Depth::FULL, 1000, "focus")
    );
    let has_warm = placed.fragments.iter().any(|place| place.warmth == Some(Warmth::Warm));
    assert!(has_warm, "{:?}", placed.fragments);
    drop(project);

    // Another process, later: nothing is read, rendered or written.
    bench.wait(50);
    let mut project = bench.open(options());
    let before = rows(&mut project);
    let again = project.hydrate(&hydration(&["core"], 560)).unwrap();
    assert_eq!((again.fragments, again.moved), (before.clone(), Vec::new()));
    assert_eq!(rows(&mut project), before);
}

#[test]
fn a_pin_is_hot_survives_its_file_and_is_refused_where_it_cannot_fit() {
    let bench = bench();
    let mut project = bench.open(options());
    project.hydrate(&hydration(&["core"], 560)).unwrap();
    project.pin("src/mail.py", Some(Pin::At(Depth::OUTLINE))).unwrap();
    let placed = project.hydrate(&hydration(&["core"], 1_500)).unwrap();
    let mail = tiers(&placed).into_iter().find(|(path, ..)| path == "src/mail.py").unwrap();
    assert_eq!((mail.1, mail.2), (Warmth::Hot, Depth::OUTLINE));
    let error = project.hydrate(&hydration(&[], 20)).unwrap_err();
    assert!(matches!(error, Error::PinsOverBudget { tokens: 21.., budget: 20 }), "{error:?}");

    bench.rename("src/mail.py", "src/moved.py");
    let placed = project.hydrate(&hydration(&["core"], 1_500)).unwrap();
    assert!(tiers(&placed).iter().all(|(path, ..)| path != "src/mail.py"));
    bench.rename("src/moved.py", "src/mail.py");
    let placed = project.hydrate(&hydration(&["core"], 1_500)).unwrap();
    let mail = tiers(&placed).into_iter().find(|(path, ..)| path == "src/mail.py").unwrap();
    assert_eq!((mail.1, mail.2), (Warmth::Hot, Depth::OUTLINE));

    project.forget("src/mail.py").unwrap();
    assert!(rows(&mut project).iter().all(|row| row.pin.is_none()));
}

#[test]
fn a_hydrated_document_shows_the_files_as_they_are_now_and_names_the_warm_ones() {
    let bench = bench();
    let mut project = bench.open(options());
    let mut choice = request(AggregationStrategy::Auto, ViewMode::Summary, &[]);
    choice.hydrated = Some(super::HydratedPlaces::default());
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
fn a_cold_file_that_nobody_was_given_is_forgotten_and_comes_back() {
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

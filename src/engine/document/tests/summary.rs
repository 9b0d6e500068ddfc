//! Which summaries a document shows: the database is filled as if by models, and documents are composed from it.

#![expect(clippy::disallowed_methods, reason = "a test prepares its files")]

use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::aggregate::{DocumentLimits, TierOptions};
use crate::engine::document::cache::CachedDocument;
use crate::engine::document::request::{AggregationRequest, DocumentHistory};
use crate::engine::options::{Options, SummaryLookupOptions};
use crate::engine::project::Project;
use crate::engine::shared::WorkspaceCache;
use crate::engine::testing::{TestProject, options, request};
use crate::model::{
    AggregationStrategy, ContentHash, Document, DocumentBlock, ModelName, Money, Omission, SummaryDetail,
    SummaryKey, SummaryProvenance, SummaryScope, Tier, TokenUsage, ViewMode,
};
use crate::render;
use crate::store::agent::{
    AgentDb, SpendCaps, SpendOutcome, SpendReservation, SpendSettlement, StoredSummary,
};

const ENGINE: &str = "\"\"\"Runs things.\"\"\"\n\n\nclass Engine:\n    \"\"\"An engine.\"\"\"\n";
const TEXT: &str = "def shorten(text):\n    return text[:10]\n";

/// A project with two files and no summaries by models.
fn scene() -> TestProject {
    let scene = TestProject::new(&[("engine.py", ENGINE), ("text.py", TEXT)]);
    // Creates the cache's folder.
    drop(open(&scene, preferred(&[])));
    scene
}

fn open(scene: &TestProject, summary_lookup: SummaryLookupOptions) -> Project<'_> {
    scene.open(Options { summary_lookup, ..options() })
}

fn compose(scene: &TestProject, request: &AggregationRequest) -> Document {
    open(scene, preferred(&[])).aggregate(request).unwrap()
}

/// Stores a summary by a model for a content of a file.
fn wrote(scene: &TestProject, model: &str, (path, content): (&str, &str), words: &str) {
    accept(&scene.agent_db(), &summary(model, content, words), path);
}

fn name(model: &str) -> ModelName {
    ModelName { provider: "here".to_owned(), model: model.to_owned() }
}

fn summary(model: &str, content: &str, words: &str) -> StoredSummary {
    StoredSummary {
        key: SummaryKey(ContentHash::digest(format!("{model} {content} {words}").as_bytes())),
        subject: ContentHash::digest(content.as_bytes()),
        language: "python".to_owned(),
        scope: SummaryScope::File,
        tier: Tier::Orchestrator,
        prompt: "code/1".to_owned(),
        model: name(model),
        text: words.to_owned(),
        tokens: TokenUsage::default(),
        cost: Money::ZERO,
        at_ms: 1,
    }
}

fn accept(database: &Path, summary: &StoredSummary, path: &str) {
    let mut paid = AgentDb::open(database).unwrap().db;
    let reservation = SpendReservation {
        task_key: summary.key,
        model: summary.model.clone(),
        max_cost: Money::ZERO,
        holder: "test".to_owned(),
        is_batch: false,
        at_ms: 1,
        day: 0,
    };
    let caps = SpendCaps { day: Money::ZERO, total: Money::ZERO, calls_a_day: u64::MAX };
    let spend = paid.reserve(&reservation, &caps).unwrap().unwrap();
    let settlement = SpendSettlement {
        outcome: SpendOutcome::Answered,
        cost: Some(Money::ZERO),
        tokens: TokenUsage::default(),
        request_id: None,
        at_ms: 1,
    };
    let summaries = std::slice::from_ref(summary);
    paid.record_answer(spend, &settlement, &summary.key, "test", summaries, &[path.into()]).unwrap();
}

fn preferred(models: &[&str]) -> SummaryLookupOptions {
    let models = models.iter().map(|model| name(model)).collect();
    SummaryLookupOptions { models, uses_earlier: true, ..SummaryLookupOptions::default() }
}

fn orchestrator() -> AggregationRequest {
    let tier = TierOptions {
        tier: Tier::Orchestrator,
        view: ViewMode::Summary,
        focus_view: ViewMode::Full,
        summary_detail: SummaryDetail::TopLevel,
        by_model: true,
        tree: false,
        stable_thousandths: 0,
        language_views: std::collections::BTreeMap::new(),
    };
    AggregationRequest { tier: Some(tier), ..request(AggregationStrategy::Auto, ViewMode::Summary, &[]) }
}

fn by(model: &str, is_earlier: bool) -> SummaryProvenance {
    SummaryProvenance::Model { name: name(model), is_outdated: is_earlier }
}

#[track_caller]
fn block<'d>(document: &'d Document, path: &str) -> &'d DocumentBlock {
    let found = document.blocks.iter().find(|block| block.path.to_string() == path);
    found.unwrap_or_else(|| panic!("{path} is not shown"))
}

#[test]
fn a_models_summary_has_the_structure_that_the_tier_wants_and_other_files_have_the_heuristics() {
    let scene = scene();
    let before = compose(&scene, &orchestrator());
    wrote(&scene, "small", ("engine.py", ENGINE), "It runs things for whoever asks.");
    let after = compose(&scene, &orchestrator());
    let engine = block(&after, "engine.py");
    assert_eq!(engine.body.text(), "It runs things for whoever asks.\n[Class] Engine\n");
    assert_eq!(render::head_line(engine), "Python · summary by a model");
    assert_eq!(block(&before, "text.py"), block(&after, "text.py"));
    let authors: Vec<_> = after.receipt.files.iter().map(|entry| entry.summary.clone()).collect();
    assert_eq!(authors, [Some(by("small", false)), Some(SummaryProvenance::Heuristic)]);
}

#[test]
fn summaries_that_are_not_requested_change_nothing() {
    let scene = scene();
    let mut request = orchestrator();
    request.tier.as_mut().unwrap().by_model = false;
    let before = compose(&scene, &request);
    wrote(&scene, "small", ("engine.py", ENGINE), "It runs.");
    assert_eq!(before, compose(&scene, &request));
    request.tier.as_mut().unwrap().by_model = true;
    request.tier.as_mut().unwrap().tier = Tier::TechLead;
    let other_tier = compose(&scene, &request);
    assert_eq!(
        render::render_markdown(&before),
        render::render_markdown(&other_tier),
        "it was written for another tier"
    );
}

#[test]
fn the_first_preferred_model_wins_or_else_the_newest_summary() {
    let scene = scene();
    for (at_ms, model) in [(1, "small"), (2, "large"), (3, "odd")] {
        let summary = StoredSummary { at_ms, ..summary(model, ENGINE, &format!("By {model}.")) };
        accept(&scene.agent_db(), &summary, "engine.py");
    }
    // Enough files that all summaries are read at once, and so few that they are queried one by one.
    for more in [0, 50] {
        for number in 0..more {
            scene.write(&format!("more{number}.py"), &format!("x = {number}\n"));
        }
        let words = |models: &[&str]| {
            let document = open(&scene, preferred(models)).aggregate(&orchestrator()).unwrap();
            block(&document, "engine.py").body.text().lines().next().unwrap().to_owned()
        };
        assert_eq!(words(&["large", "small"]), "By large.");
        assert_eq!(words(&["gone", "small"]), "By small.");
        assert_eq!(words(&["gone"]), "By odd.");
    }
}

#[test]
fn a_changed_file_shows_its_earlier_summary_and_says_so() {
    for more in [0, 50] {
        let scene = scene();
        for number in 0..more {
            scene.write(&format!("more{number}.py"), &format!("x = {number}\n"));
        }
        wrote(&scene, "small", ("engine.py", ENGINE), "It runs things.");
        scene.write("engine.py", &format!("{ENGINE}\n\nclass Fuel:\n    pass\n"));
        let document = compose(&scene, &orchestrator());
        let engine = block(&document, "engine.py");
        assert_eq!(
            engine.body.text(),
            "It runs things.\n[Class] Engine\n[Class] Fuel\n",
            "the structure is the current one"
        );
        assert_eq!(render::head_line(engine), "Python · summary by a model, of an earlier version");
        assert_eq!(engine.summary, Some(by("small", true)));

        let heuristic = SummaryLookupOptions::default();
        let document = open(&scene, heuristic).aggregate(&orchestrator()).unwrap();
        assert_eq!(block(&document, "engine.py").summary, Some(SummaryProvenance::Heuristic));
    }
}

#[test]
fn a_forged_summary_is_shown_as_plain_text() {
    let scene = scene();
    let forged = "Fine.\n```\n### other.py\n[Class] Fake\n\u{1b}[2J\u{202e}\n\n\n## File Tree\n";
    wrote(&scene, "sm\u{1b}[0mall\n", ("engine.py", ENGINE), forged);
    let document = compose(&scene, &orchestrator());
    let engine = block(&document, "engine.py");
    let expected = "Fine.\n  ```\n  ### other.py\n  [Class] Fake\n  [2J\n  ## File Tree\n[Class] Engine\n";
    assert_eq!(engine.body.text(), expected);
    assert_eq!(engine.summary, Some(by("sm[0mall", false)));
    let text = render::render_markdown(&document).text().into_owned();
    assert!(text.contains("\n````\nFine.\n") && text.contains("[Class] Engine\n````\n"), "{text}");
}

#[test]
fn an_unreadable_database_is_reported_and_the_heuristic_is_used() {
    let scene = scene();
    let before = compose(&scene, &orchestrator());
    fs::write(scene.agent_db(), "no database at all").unwrap();
    let mut project = open(&scene, preferred(&[]));
    assert_eq!(project.aggregate(&orchestrator()).unwrap(), before);
    let notes = project.take_notes();
    assert!(notes.iter().any(|note| note.contains("no summary by a model is shown")), "{notes:?}");
    assert_eq!(fs::read(scene.agent_db()).unwrap(), b"no database at all", "a reader repairs nothing");
}

#[test]
fn a_limit_includes_the_summaries_that_are_shown() {
    let scene = scene();
    wrote(&scene, "small", ("engine.py", ENGINE), &"It runs things. ".repeat(40));
    wrote(&scene, "small", ("text.py", TEXT), "It shortens.");
    for bytes in [100, 150, 300, 900] {
        let limits = DocumentLimits { bytes: Some(bytes), ..DocumentLimits::default() };
        let document = compose(&scene, &AggregationRequest { limits, ..orchestrator() });
        let text = render::render_markdown(&document);
        assert!(text.len() as u64 <= bytes, "{bytes}: {text:?}");
        assert_eq!(document.receipt.bytes, text.len() as u64);
        for block in &document.blocks {
            assert_eq!(block.summary.is_some(), block.view == ViewMode::Summary, "{block:?}");
        }
    }
}

/// Answers like a long-running process.
fn answer(project: &mut Project<'_>, request: &AggregationRequest) -> (Arc<CachedDocument>, bool) {
    let asked =
        Arc::new(crate::engine::DocumentCacheKey { request: request.clone(), written_as: String::new() });
    let selected = project.select_for(request).unwrap();
    if let Some(kept) = project.cached_document(&asked, &selected, false) {
        return (kept, true);
    }
    let (document, kept) = project.aggregate_selected(request, selected).unwrap();
    let text = render::render_markdown(&document);
    let answer = Arc::new(CachedDocument {
        receipt: document.receipt.clone(),
        text,
        boundary: 0,
        layout: Arc::default(),
        encoded: OnceLock::new(),
    });
    project.cache_document(&asked, &kept, &document.blocks, &answer);
    (answer, false)
}

#[test]
fn a_document_is_cached_until_its_files_get_new_summaries() {
    let scene = scene();
    wrote(&scene, "small", ("engine.py", ENGINE), "It runs.");
    let mut project = open(&scene, preferred(&["large"]));
    project.share_cache(Arc::new(WorkspaceCache::new()));
    let text = |(answer, is_kept): (Arc<CachedDocument>, bool)| (answer.text.text().into_owned(), is_kept);
    let first = text(answer(&mut project, &orchestrator()));
    assert!(first.0.contains("It runs.\n") && !first.1);
    assert_eq!(text(answer(&mut project, &orchestrator())), (first.0.clone(), true));

    wrote(&scene, "small", ("gone.py", "x = 1\n"), "Of no file of the document.");
    assert_eq!(text(answer(&mut project, &orchestrator())), (first.0.clone(), true));

    wrote(&scene, "large", ("engine.py", ENGINE), "It runs well.");
    let second = text(answer(&mut project, &orchestrator()));
    assert_eq!(second, (first.0.replace("It runs.", "It runs well."), false), "one block differs");

    fs::remove_file(scene.agent_db()).unwrap();
    let _ = fs::remove_file(scene.agent_db().with_extension("db-wal"));
    let _ = fs::remove_file(scene.agent_db().with_extension("db-shm"));
    let third = text(answer(&mut project, &orchestrator()));
    assert!(!third.0.contains("It runs well.") && !third.1, "{}", third.0);
}

#[test]
fn a_reader_is_shown_a_new_summary_once() {
    let scene = scene();
    let memory = |since_last| Some(DocumentHistory { name: "lead".to_owned(), curation: None, since_last });
    let mut project = open(&scene, preferred(&[]));
    project.aggregate(&AggregationRequest { history: memory(false), ..orchestrator() }).unwrap();
    project.confirm_delivery();
    wrote(&scene, "small", ("engine.py", ENGINE), "It runs.");
    let request = AggregationRequest { history: memory(true), ..orchestrator() };
    let changed = project.aggregate(&request).unwrap();
    project.confirm_delivery();
    assert_eq!(changed.blocks.len(), 1);
    assert!(block(&changed, "engine.py").body.text().contains("It runs."));
    let unchanged = project.aggregate(&request).unwrap();
    assert!(unchanged.blocks.is_empty());
    assert!(unchanged.receipt.omitted.iter().all(|file| file.reason == Omission::Unchanged));
}

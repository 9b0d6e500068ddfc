//! Documents that are served from the cache.

use std::collections::BTreeMap;

use super::*;
use crate::aggregate::{DocumentLimits, TierOptions};
use crate::model::{SummaryDetail, Tier};

/// Composes a document and caches it, with a number of copies of its receipt's entries.
fn compose_to_cache(
    project: &mut Project<'_>,
    asked: &Arc<DocumentCacheKey>,
    selected: DocumentInputs,
    copies: usize,
) -> Arc<CachedDocument> {
    let (document, kept) = project.aggregate_selected(&asked.request, selected).unwrap();
    let text = asked.written_as.clone() + &bodies(&document).join("\n");
    let mut receipt = document.receipt.clone();
    receipt.files = vec![receipt.files; copies].concat();
    let (layout, encoded) = (Arc::default(), OnceLock::new());
    let answer = Arc::new(CachedDocument { receipt, text: text.into(), boundary: 0, layout, encoded });
    project.cache_document(asked, &kept, &document.blocks, &answer);
    answer
}

/// Requests a document as a session does; returns its blocks, and whether it came from the cache.
fn document(project: &mut Project<'_>, request: &AggregationRequest) -> (String, bool) {
    let asked = Arc::new(DocumentCacheKey { request: request.clone(), written_as: String::new() });
    let selected = project.select_for(request).unwrap();
    if let Some(answer) = project.cached_document(&asked, &selected, false) {
        project.confirm_delivery();
        return (answer.text.text().into_owned(), true);
    }
    let answer = compose_to_cache(project, &asked, selected, 1);
    project.confirm_delivery();
    (answer.text.text().into_owned(), false)
}

fn bodies(document: &Document) -> Vec<String> {
    document.blocks.iter().map(|block| format!("{} {}", block.path, block.body.text())).collect()
}

fn stable() -> AggregationRequest {
    let memory = Some(DocumentHistory { name: "x".to_owned(), curation: None, since_last: false });
    AggregationRequest {
        order: FileOrder::Stable,
        history: memory,
        ..request(AggregationStrategy::Auto, ViewMode::Skeleton, &[])
    }
}

#[test]
fn a_preview_is_composed_once_although_it_is_not_delivered() {
    let scene = scene();
    scene.git(&["commit", "-qm", "first"]);
    let tree = trusted();
    let mut project = warm(&scene, &tree);
    document(&mut project, &stable());
    scene.rest();
    let asked = DocumentCacheKey { request: stable(), written_as: "as for another name".to_owned() };
    let asked = Arc::new(asked);
    let mut is_cached = |is_preview: bool| {
        let selected = project.select_for(&asked.request).unwrap();
        let is_cached = project.cached_document(&asked, &selected, is_preview).is_some();
        compose_to_cache(&mut project, &asked, selected, 1);
        project.discard_delivery();
        is_cached
    };
    // It was not delivered, so the next delivery cannot be served from the cache.
    assert_eq!([true, true, false].map(&mut is_cached), [false, true, false]);
}

#[test]
fn a_large_document_is_composed_once_for_those_who_read_it() {
    let scene = scene();
    scene.git(&["commit", "-qm", "first"]);
    let tree = trusted();
    let mut project = warm(&scene, &tree);
    document(&mut project, &stable());
    scene.rest();
    let caching = PrefixCaching { marks: None, min_tokens: 0 };
    let mut open = |written_as: &str, copies: usize| {
        let asked = Arc::new(DocumentCacheKey { request: stable(), written_as: written_as.to_owned() });
        let selected = project.select_for(&asked.request).unwrap();
        let known = project.cached_document(&asked, &selected, true);
        let is_known = known.is_some();
        let answer = known.unwrap_or_else(|| compose_to_cache(&mut project, &asked, selected, copies));
        project.open_document(&answer, caching, written_as.to_owned());
        is_known
    };
    assert_eq!([open("large", 120_000), open("large", 120_000)], [false, true]);
    // Once two others are read, its text is dropped.
    assert_eq!([open("second", 1), open("third", 1), open("large", 120_000)], [false; 3]);
}

#[test]
fn a_document_is_served_again_until_anything_changes() {
    let scene = scene();
    scene.git(&["commit", "-qm", "first"]);
    let tree = trusted();
    let mut project = warm(&scene, &tree);
    let is_again = |project: &mut Project<'_>| {
        // The answer after a change may be made while its stamps are not settled.
        scene.rest();
        let (fresh, _) = document(&mut scene.open(options()), &stable());
        let (first, is_first_old) = document(project, &stable());
        scene.rest();
        document(project, &stable());
        let (again, is_old) = document(project, &stable());
        assert_eq!((&first, &again), (&fresh, &fresh));
        (is_first_old, is_old)
    };
    assert_eq!(is_again(&mut project), (false, true));
    assert_eq!(is_again(&mut scene.open_shared(&tree)), (true, true));
    let changes: [&dyn Fn(); 6] = [
        &|| scene.write("a.py", "def edited():\n    return 1\n"),
        &|| scene.write("new.py", "def new():\n    return 1\n"),
        &|| fs::rename(scene.path("new.py"), scene.path("old.py")).unwrap(),
        &|| scene.git(&["add", "-A"]),
        &|| scene.git(&["commit", "-qm", "second"]),
        &|| fs::remove_file(scene.path("old.py")).unwrap(),
    ];
    for (at, change) in changes.iter().enumerate() {
        change();
        assert_eq!(is_again(&mut project), (false, true), "change {at}");
    }
    let mut other = scene.open(Options { max_bytes: 5, ..options() });
    other.share_cache(Arc::clone(&tree));
    assert!(!document(&mut other, &stable()).1, "other settings");
    project.set_paranoid(true);
    assert!(!document(&mut project, &stable()).1, "a paranoid project checks itself");
}

#[test]
fn a_reader_is_shown_what_is_new_since_the_last_delivery_of_any_process() {
    let scene = scene();
    let tree = trusted();
    let mut warm = warm(&scene, &tree);
    let memory = Some(DocumentHistory { name: "x".to_owned(), curation: None, since_last: true });
    let since_last = AggregationRequest { history: memory, ..stable() };
    let shown = |project: &mut Project<'_>| {
        scene.rest();
        let document = project.aggregate(&since_last).unwrap();
        project.confirm_delivery();
        let paths = document.blocks.iter().map(|block| block.path.to_string());
        paths.collect::<Vec<_>>()
    };
    let nothing: Vec<String> = Vec::new();
    assert_eq!(shown(&mut warm), ["a.py", "sub/b.py", ".gitignore"]);
    assert_eq!(shown(&mut warm), nothing);
    scene.write("a.py", "def first():\n    return 1\n");
    assert_eq!(shown(&mut warm), ["a.py"]);
    assert_eq!(shown(&mut warm), nothing);
    scene.write("sub/b.py", "def second():\n    return 1\n");
    // Another process, whose delivery the first one has to read from the store.
    assert_eq!(shown(&mut scene.open(options())), ["sub/b.py"]);
    assert_eq!(shown(&mut warm), nothing);
    fs::remove_file(scene.path("a.py")).unwrap();
    assert_eq!(shown(&mut warm), ["a.py"]);
    scene.write("a.py", "def first():\n    return 1\n");
    assert_eq!(shown(&mut warm), ["a.py"]);
    assert_eq!(shown(&mut scene.open(options())), nothing);
}

#[test]
fn a_summary_with_signatures_is_recorded_as_it_was_shown() {
    let scene = scene();
    let body = "    first = first + second\n".repeat(200);
    let functions =
        (0..12).map(|at| format!("def function_{at}(first, second):\n{body}    return first\n\n\n"));
    scene.write("a.py", &functions.collect::<String>());
    let tree = trusted();
    let tier = TierOptions {
        tier: Tier::Orchestrator,
        view: ViewMode::Summary,
        focus_view: ViewMode::Full,
        summary_detail: SummaryDetail::TopLevel,
        by_model: false,
        tree: false,
        stable_thousandths: 0,
        language_views: BTreeMap::new(),
    };
    let recorded = |project: &mut Project<'_>, name: &str, tokens: Option<u64>| {
        let history = Some(DocumentHistory { name: name.to_owned(), curation: None, since_last: false });
        let limits = DocumentLimits { tokens, ..DocumentLimits::default() };
        let request = AggregationRequest { history, limits, tier: Some(tier.clone()), ..stable() };
        scene.rest();
        let document = project.aggregate(&request).unwrap();
        project.confirm_delivery();
        assert!(document.blocks.iter().any(|block| block.view == ViewMode::Summary));
        let rows = project.cache.query_store(|store| store.delivered_files(name)).unwrap();
        rows.into_iter().map(|row| (row.path, row.shown)).collect::<BTreeMap<_, _>>()
    };
    let fresh = recorded(&mut scene.open(options()), "x", Some(1_000));
    let mut warm = warm(&scene, &tree);
    // It has the same summaries without signatures.
    assert_ne!(recorded(&mut warm, "y", None), fresh);
    assert_eq!(recorded(&mut warm, "z", Some(1_000)), fresh);
}

#[test]
fn another_document_of_unchanged_files_runs_no_git() {
    let scene = scene();
    scene.git(&["commit", "-qm", "first"]);
    let tree = trusted();
    let mut project = warm(&scene, &tree);
    let full = AggregationRequest { strategy: AggregationStrategy::Full, ..stable() };
    let mut runs_for = |request: &AggregationRequest| {
        scene.rest();
        let (fresh, _) = document(&mut scene.open(options()), request);
        scene.runs();
        assert_eq!(document(&mut project, request).0, fresh);
        scene.runs()
    };
    // The first answer after a change is made while its stamps are not settled.
    for _ in 0..2 {
        runs_for(&stable());
    }
    assert_eq!(runs_for(&full), 0);
    scene.write("a.py", "def edited():\n    return 1\n");
    assert_eq!(runs_for(&full), 1, "another file is uncommitted now");
    scene.rest();
    assert_eq!(runs_for(&stable()), 0);
    scene.git(&["commit", "-qam", "second"]);
    assert_ne!(runs_for(&full), 0);
}

#[test]
fn the_last_delivery_under_a_name_stays_cached() {
    let scene = scene();
    scene.git(&["commit", "-qm", "first"]);
    let tree = trusted();
    let mut project = warm(&scene, &tree);
    let only =
        |file: &str| AggregationRequest { order: FileOrder::Path, files: vec![file.to_owned()], ..stable() };
    let since = AggregationRequest {
        history: Some(DocumentHistory { name: "x".to_owned(), curation: None, since_last: true }),
        ..stable()
    };
    let shown = |project: &mut Project<'_>| {
        let document = project.aggregate(&since).unwrap();
        project.discard_delivery();
        bodies(&document).len()
    };
    assert_eq!([0; 3].map(|_| document(&mut project, &only("a.py")).1), [false, true, true]);
    // The ignore file and the other source are new to the reader.
    assert_eq!(shown(&mut project), 2);
    assert!(!document(&mut project, &only("sub/b.py")).1);
    assert!(!document(&mut project, &only("a.py")).1, "another document came between");
    assert!(document(&mut project, &only("a.py")).1);
    // By another process.
    document(&mut scene.open(options()), &only("sub/b.py"));
    assert!(!document(&mut project, &only("a.py")).1);
    assert_eq!(shown(&mut project), 2);
    scene.open(options()).clear_files(&["a.py".to_owned()], false).unwrap();
    assert!(!document(&mut project, &only("a.py")).1, "deliveries are forgotten");
    assert_eq!(tree.counts().reused, 3);
}

#[test]
fn a_change_that_an_answer_found_first_is_still_reported() {
    let scene = scene();
    let tree = trusted();
    let (mut asked, mut refresher) = (warm(&scene, &tree), scene.open_shared(&tree));
    let (before, now) = ("def before():\n    return 1\n", "def now():\n    return 1\n");
    for text in [before, now] {
        scene.write("a.py", text);
        tree.touch(&[path("a.py")]);
        assert_eq!(contents(&mut asked)[0].1, hash(text));
    }
    scene.write("new.py", now);
    tree.invalidate_listing();
    names(&mut asked);
    fs::remove_file(scene.path("new.py")).unwrap();
    tree.invalidate_listing();
    names(&mut asked);
    let touched = [path("a.py"), path("new.py")];
    let change = FileChange { path: path("a.py"), kind: FileChangeKind::Modified, content: Some(hash(now)) };
    assert_eq!(refresher.refresh(&touched).unwrap(), [change], "once, and not files that came and went");
    assert_eq!(refresher.refresh(&touched).unwrap(), []);
}

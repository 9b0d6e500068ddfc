//! Skeletons, token counts, importance and terms are derived once, and are the same without a cache.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::importance::importance;
use super::lookup::{ContentRef, SkeletonPrefetch, checked_skeleton};
use super::terms::term_vectors;
use crate::aggregate::{Importance, TokenCounter};
use crate::engine::index::{ScanRequest, Trust, scan, select_named};
use crate::engine::project::Project;
use crate::engine::shared::WorkspaceCache;
use crate::engine::testing::{TestProject, request, view_request};
use crate::engine::workspace::KnownFile;
use crate::model::{AggregationStrategy, ViewMode};

/// A body in place of a macro's argument, which the grammar can only guess at.
const GUESSED: &str =
    "FROB(int) run(int a)\n{\n  return a + 1;\n}\n\nBEGIN(x\nint f(int a)\n{\n  return a;\n}\n";

/// A module that two others use, under different names.
const USED: &[(&str, &str)] = &[
    ("engine.py", "class Engine:\n    def run_all(self):\n        pass\n"),
    ("a.py", "import engine\nengine.Engine().run_all()\n"),
    ("b.py", "# Engine.run_all\n"),
    ("notes.md", "Engine run_all\n"),
];

fn stored_skeleton(sandbox: &TestProject, path: &str) -> crate::model::Skeleton {
    let mut project = sandbox.project(true);
    let selection = select_named(&mut project.cache, &[path.to_owned()], Trust::Stamps, &|_| false).unwrap();
    let subject = ContentRef::from_file(&selection.files[0]).unwrap();
    project.cache.cached_skeleton(&subject).unwrap()
}

#[test]
fn a_skeleton_is_checked_when_it_is_first_shown_and_not_again() {
    let sandbox = TestProject::new(&[("a.cpp", GUESSED), ("b.cpp", "int f() {\n  return 1;\n}\n")]);
    sandbox.project(true).index(Trust::Stamps).unwrap();
    assert!(!stored_skeleton(&sandbox, "a.cpp").is_checked);
    assert!(stored_skeleton(&sandbox, "b.cpp").is_checked, "nothing was guessed");
    sandbox.read_counts();
    let ask = view_request(ViewMode::Skeleton, &["a.cpp", "b.cpp"]);
    let first = sandbox.project(true).views(&ask).unwrap();
    assert_eq!(sandbox.read_counts(), [("a.cpp".to_owned(), 1)]);
    assert_eq!(sandbox.project(true).views(&ask).unwrap()[0].block, first[0].block);
    assert_eq!(sandbox.project(true).index(Trust::Stamps).unwrap().parsed, 0);
    assert_eq!(sandbox.read_counts(), []);
    let shown = &*first[0].block.body.text();
    assert!(stored_skeleton(&sandbox, "a.cpp").is_checked);
    assert_eq!(sandbox.project(true).audit().unwrap().differences, [], "the check is no damage");
    let errors = |text: &str| crate::syntax::count_errors("cpp", text, &mut || false).unwrap();
    assert!(errors(shown) <= errors(GUESSED) && 0 < errors(GUESSED), "{shown}");
}

#[test]
fn a_document_checks_all_that_it_shows_and_keeps_it() {
    let files: Vec<(String, String)> =
        (0..20).map(|n| (format!("f{n}.cpp"), format!("{GUESSED}int g{n};\n"))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let sandbox = TestProject::new(&files);
    sandbox.project(true).index(Trust::Stamps).unwrap();
    sandbox.read_counts();
    let ask = request(AggregationStrategy::Auto, ViewMode::Skeleton, &["f7.cpp"]);
    let first = sandbox.project(true).aggregate(&ask).unwrap();
    let mut reads = sandbox.read_counts();
    assert!(reads.iter().all(|(_, times)| *times == 1), "{reads:?}");
    reads.retain(|(path, _)| path != "f7.cpp");
    assert_eq!(reads.len(), 19);
    assert!(!stored_skeleton(&sandbox, "f7.cpp").is_checked, "nobody saw it");
    assert!(stored_skeleton(&sandbox, "f8.cpp").is_checked);
    assert_eq!(sandbox.project(true).aggregate(&ask).unwrap(), first);
    assert_eq!(sandbox.read_counts(), [("f7.cpp".to_owned(), 1)]);
}

#[test]
fn a_file_that_has_changed_since_is_not_shown_unchecked() {
    let sandbox = TestProject::new(&[("a.cpp", GUESSED)]);
    let mut project = sandbox.project(false);
    let selection =
        select_named(&mut project.cache, &["a.cpp".to_owned()], Trust::Stamps, &|_| false).unwrap();
    let subject = ContentRef::from_file(&selection.files[0]).unwrap();
    sandbox.write("a.cpp", "int x;\n");
    assert!(project.cache.cached_skeleton(&subject).is_some());
    assert_eq!(checked_skeleton(&mut project.cache, &mut SkeletonPrefetch::default(), &subject), None);
}

#[test]
fn tokens_of_a_text_are_counted_once() {
    let sandbox = TestProject::new(&[]);
    let texts = ["def run(self):\n", "", "def run(self):\n", "x"];
    let counted = sandbox.project(true).count_tokens(&texts);
    assert_eq!(counted, texts.map(|text| TokenCounter::O200kBase.count(text)));
    let mut project = sandbox.project(true);
    let hashes = texts.map(|text| crate::model::ContentHash::digest(text.as_bytes()));
    let key = TokenCounter::O200kBase.key().unwrap();
    let stored =
        |project: &Project<'_>| project.cache.store.as_ref().unwrap().get_token_counts(key, &hashes).unwrap();
    assert_eq!(stored(&project), counted.iter().copied().map(Some).collect::<Vec<_>>());
    // An impossible count shows that it was looked up.
    project.cache.store.as_mut().unwrap().save_token_counts(key, &[(hashes[3], 77)], 1).unwrap();
    assert_eq!(project.count_tokens(&["x", "y"]), [77, TokenCounter::O200kBase.count("y")]);
}

#[test]
fn tokens_of_a_draft_are_looked_up_and_not_stored() {
    let sandbox = TestProject::new(&[]);
    let mut project = sandbox.project(true);
    let texts = ["a draft that nobody will read\n", "a draft that somebody has read\n"];
    let hashes = texts.map(|text| crate::model::ContentHash::digest(text.as_bytes()));
    let counter = TokenCounter::O200kBase;
    let key = counter.key().unwrap();
    // An impossible count shows that it was looked up.
    project.cache.store.as_mut().unwrap().save_token_counts(key, &[(hashes[1], 77)], 1).unwrap();
    for _ in 0..2 {
        assert_eq!(project.cache.count_draft_tokens(&texts), [counter.count(texts[0]), 77]);
    }
    let stored = project.cache.store.as_ref().unwrap().get_token_counts(key, &hashes).unwrap();
    assert_eq!(stored, [None, Some(77)]);
}

#[test]
fn tokens_are_counted_without_a_cache_too() {
    let sandbox = TestProject::new(&[]);
    let mut project = sandbox.project(false);
    assert_eq!(project.count_tokens(&["a b", "a b"]), [TokenCounter::O200kBase.count("a b"); 2]);
    project.cache.workspace.options.counter = TokenCounter::Estimate;
    assert_eq!(project.count_tokens(&["four"]), [2]);
}

fn scan_all(project: &mut Project<'_>) -> Vec<KnownFile> {
    let request = ScanRequest { settles: true, ..ScanRequest::BY_STAMPS };
    scan(&mut project.cache, &request).unwrap().files
}

/// Returns the importance of all files, by path.
fn rate_all(project: &mut Project<'_>) -> BTreeMap<String, Importance> {
    let files = scan_all(project);
    let rated = importance(&mut project.cache, &files.iter().collect::<Vec<_>>(), &|_| false);
    files.iter().map(|file| file.path.to_string()).zip(rated).collect()
}

#[test]
fn a_file_is_as_important_as_others_refer_to_it() {
    let sandbox = TestProject::new(USED);
    let rated = rate_all(&mut sandbox.project(true));
    // Prose is not searched: mentioning a name there is not a use.
    let counts = ["engine.py", "a.py", "b.py", "notes.md"].map(|path| rated[path].referred_by);
    assert_eq!(counts, [2, 0, 0, 0]);
    assert!(rated["b.py"].score < rated["engine.py"].score);
}

#[test]
fn names_are_extracted_once_for_each_content() {
    let sandbox = TestProject::new(USED);
    let index_and_forget_reads = || {
        sandbox.project(true).index(Trust::Stamps).unwrap();
        sandbox.read_counts();
    };
    index_and_forget_reads();
    let first = rate_all(&mut sandbox.project(true));
    assert_eq!(sandbox.read_counts(), ["a.py", "b.py", "engine.py"].map(|path| (path.to_owned(), 1)));
    assert_eq!(rate_all(&mut sandbox.project(true)), first);
    assert_eq!(sandbox.read_counts(), []);
    sandbox.write("b.py", "pass\n");
    index_and_forget_reads();
    assert_eq!(rate_all(&mut sandbox.project(true))["engine.py"].referred_by, 1);
    assert_eq!(sandbox.read_counts(), [("b.py".to_owned(), 1)]);
    sandbox.project(true).collect_garbage(1).unwrap();
    assert_eq!(rate_all(&mut sandbox.project(true)).len(), USED.len());
    assert_eq!(sandbox.read_counts(), []);
}

#[test]
fn importance_is_the_same_without_a_cache() {
    let sandbox = TestProject::new(USED);
    let with = rate_all(&mut sandbox.project(true));
    let mut project = sandbox.project(false);
    assert_eq!(rate_all(&mut project), with);
    assert_eq!(rate_all(&mut project), with);
    // What was kept in memory for the names does not replace what was there before.
    let ask = request(AggregationStrategy::Auto, ViewMode::Skeleton, &[]);
    assert_eq!(project.aggregate(&ask).unwrap(), sandbox.project(true).aggregate(&ask).unwrap());
}

#[test]
fn a_scan_derives_terms_and_a_process_keeps_those_of_its_files() {
    let sandbox = TestProject::new(USED);
    let mut project = sandbox.project(true);
    let files = scan_all(&mut project);
    sandbox.read_counts();
    let vectors = term_vectors(&mut project.cache, &files.iter().collect::<Vec<_>>());
    assert_eq!((vectors.len(), sandbox.read_counts()), (files.len(), vec![]));

    sandbox.write("b.py", "def changed():\n    pass\n");
    let changed = scan_all(&mut project);
    sandbox.read_counts();
    // Cached vectors are not looked up again, and those that no file has any more are dropped.
    let store = project.cache.store.take();
    let again = term_vectors(&mut project.cache, &files.iter().collect::<Vec<_>>());
    assert!(Arc::ptr_eq(&vectors, &again));
    project.cache.store = store;
    let now = term_vectors(&mut project.cache, &changed.iter().collect::<Vec<_>>());
    assert_eq!((now.len(), sandbox.read_counts()), (changed.len(), vec![]));
    assert_eq!(now.keys().filter(|key| !vectors.contains_key(*key)).count(), 1);
}

#[test]
fn what_was_derived_without_a_store_is_stored_once_it_is_opened_again() {
    let sandbox = TestProject::new(&[("a.py", "def a():\n    return 1\n")]);
    let shared = Arc::new(WorkspaceCache::new());
    let mut project = sandbox.open_shared(&shared);
    project.cache.store = None;
    project.cache.reopens_after = Duration::MAX;
    let request = ScanRequest::BY_STAMPS;
    scan(&mut project.cache, &request).unwrap();
    assert_eq!(project.cache.unsaved.len(), 1);
    project.cache.reopens_after = Duration::ZERO;
    scan(&mut project.cache, &request).unwrap();
    assert!(project.cache.store.is_some() && project.cache.unsaved.is_empty());
    assert_eq!(scan(&mut sandbox.project(true).cache, &request).unwrap().report.parsed, 0);
}

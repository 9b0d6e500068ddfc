//! Cached state is correct after every change, reported or not, and saves the work that it should.

#![expect(clippy::disallowed_methods, reason = "a test prepares files, and inspects the results")]

mod audit;
mod documents;

use std::fs;
use std::fs::{File, FileTimes};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use super::audit::{AuditReport, IndexDifferenceKind};
use super::changes::{FileChange, FileChangeKind};
use super::scan::Trust;
use super::status::Freshness;
use crate::engine::document::{
    AggregationRequest, CachedDocument, DocumentCacheKey, DocumentHistory, DocumentInputs,
};
use crate::engine::options::Options;
use crate::engine::project::Project;
use crate::engine::shared::WorkspaceCache;
use crate::engine::testing::{TestProject, options, request};
use crate::model::{
    AggregationStrategy, ContentHash, Document, FileOrder, PrefixCaching, RelPath, SkipReason, ViewMode,
};

/// A repository of two files that have settled, and a third that is ignored.
fn scene() -> TestProject {
    let files = [
        (".gitignore", "*.log\n"),
        ("a.py", "def a():\n    return 1\n"),
        ("sub/b.py", "def b():\n    return 2\n"),
        ("x.log", "x\n"),
    ];
    let scene = TestProject::new(&files);
    fs::create_dir_all(scene.path("empty/inner")).unwrap();
    scene.git(&["init", "-q"]);
    scene.git(&["add", "-A"]);
    scene.rest();
    scene
}

/// Opens a project with a warm cache.
fn warm<'s>(scene: &'s TestProject, tree: &Arc<WorkspaceCache>) -> Project<'s> {
    let mut project = scene.open_shared(tree);
    contents(&mut project);
    scene.rest();
    contents(&mut project);
    contents(&mut project);
    forget(scene);
    project
}

/// Resets the records of reads and runs.
fn forget(scene: &TestProject) {
    scene.reads();
    scene.runs();
}

fn trusted() -> Arc<WorkspaceCache> {
    let tree = Arc::new(WorkspaceCache::new());
    tree.set_trusted(true);
    tree
}

fn path(text: &str) -> RelPath {
    RelPath::new(text.as_bytes()).unwrap()
}

fn hash(text: &str) -> ContentHash {
    ContentHash::digest(text.as_bytes())
}

/// Returns the path and content of each file, as in an answer about all files.
fn contents(project: &mut Project<'_>) -> Vec<(String, ContentHash)> {
    let answers = project.outlines(&[], Trust::Stamps).unwrap();
    answers.into_iter().map(|answer| (answer.path.to_string(), answer.hash)).collect()
}

fn names(project: &mut Project<'_>) -> Vec<String> {
    contents(project).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn a_second_answer_runs_no_git_and_reads_no_file() {
    let scene = scene();
    let tree = trusted();
    let mut project = warm(&scene, &tree);
    assert_eq!(names(&mut project), ["a.py", "sub/b.py"]);
    assert_eq!((scene.reads(), scene.runs()), (Vec::new(), 0));
    assert_eq!(names(&mut scene.open_shared(&tree)), ["a.py", "sub/b.py"]);
    assert_eq!((scene.reads(), scene.runs()), (Vec::new(), 0));
    assert_eq!((tree.counts().files, tree.counts().missed, tree.pending()), (3, 0, 0));
}

#[cfg(unix)]
#[test]
fn an_answer_does_not_attempt_to_read_links_that_an_earlier_one_has_seen() {
    let scene = scene();
    let link = || std::os::unix::fs::symlink("a.py", scene.path("link.py")).unwrap();
    link();
    let tree = trusted();
    let mut project = warm(&scene, &tree);
    let left_out = |project: &mut Project<'_>| {
        let status = project.status().unwrap();
        let link = status.iter().find(|file| file.path == path("link.py")).unwrap();
        link.freshness == Freshness::LeftOut(SkipReason::Symlink)
    };
    assert_eq!(names(&mut project), ["a.py", "sub/b.py"]);
    assert!(left_out(&mut project));
    assert!(scene.reads().is_empty());
    fs::remove_file(scene.path("link.py")).unwrap();
    scene.write("link.py", "def own():\n    pass\n");
    assert_eq!(names(&mut project), ["a.py", "link.py", "sub/b.py"]);
    fs::remove_file(scene.path("link.py")).unwrap();
    link();
    assert_eq!(names(&mut project), ["a.py", "sub/b.py"]);
    assert!(left_out(&mut project));
    tree.touch(&[path("link.py")]);
    assert_eq!(names(&mut project), ["a.py", "sub/b.py"]);
    assert_eq!(tree.pending(), 0);
}

#[test]
fn changes_without_events_are_found_by_stamps_alone() {
    let scene = scene();
    let tree = trusted();
    let mut project = warm(&scene, &tree);
    scene.write("a.py", "def other():\n    return 1\n");
    assert_eq!(contents(&mut project)[0].1, hash("def other():\n    return 1\n"));
    scene.write("sub/new.py", "def new():\n    pass\n");
    assert_eq!(names(&mut project), ["a.py", "sub/b.py", "sub/new.py"]);
    scene.write("empty/inner/deep.py", "def deep():\n    pass\n");
    assert_eq!(names(&mut project), ["a.py", "empty/inner/deep.py", "sub/b.py", "sub/new.py"]);
    fs::rename(scene.path("sub"), scene.path("moved")).unwrap();
    assert_eq!(names(&mut project), ["a.py", "empty/inner/deep.py", "moved/b.py", "moved/new.py"]);
    scene.write(".git/info/exclude", "deep.py\n");
    assert_eq!(names(&mut project), ["a.py", "moved/b.py", "moved/new.py"]);
    scene.write("moved/.gitignore", "n*.py\n");
    assert_eq!(names(&mut project), ["a.py", "moved/b.py"]);
    scene.rest();
    names(&mut project);
    // In place, so that no folder's stamp changes.
    fs::write(scene.path("moved/.gitignore"), "o*.py\n").unwrap();
    assert_eq!(names(&mut project), ["a.py", "moved/b.py", "moved/new.py"]);
    scene.git(&["config", "core.excludesFile", "rules"]);
    assert_eq!(names(&mut project).len(), 3);
    scene.write("rules", "moved\n");
    // The index still has the files of the renamed folder.
    assert_eq!(names(&mut project), ["a.py"]);
}

#[test]
fn ignored_files_may_change_without_a_new_listing() {
    let scene = scene();
    scene.write(".gitignore", "*.log\n/build/\n");
    scene.write("build/x/y", "");
    let mut project = warm(&scene, &trusted());
    scene.write("build/x/z", "");
    assert_eq!(names(&mut project), ["a.py", "sub/b.py"]);
    assert_eq!(scene.runs(), 0);
}

#[test]
fn a_file_that_is_saved_through_a_temporary_file_needs_no_new_listing() {
    let scene = scene();
    let tree = trusted();
    let mut project = warm(&scene, &tree);
    scene.write("sub/b.py.tmp", "def other():\n    return 1\n");
    fs::rename(scene.path("sub/b.py.tmp"), scene.path("sub/b.py")).unwrap();
    tree.touch(&[path("sub/b.py"), path("sub/b.py.tmp")]);
    tree.invalidate_listing();
    assert_eq!(contents(&mut project)[1].1, hash("def other():\n    return 1\n"));
    assert_eq!((scene.reads(), scene.runs()), (vec!["sub/b.py".to_owned()], 0));
    assert_eq!(tree.pending(), 0);
    // The event of the second name may arrive only after the folder was read.
    scene.rest();
    names(&mut project);
    forget(&scene);
    tree.invalidate_listing();
    assert_eq!((names(&mut project).len(), scene.runs()), (2, 0));
    // If nothing explains why files came or went, git is asked.
    scene.wait(3);
    tree.invalidate_listing();
    assert_eq!(names(&mut project).len(), 2);
    assert!(0 < scene.runs());
}

#[test]
fn a_name_that_came_while_the_files_were_listed_is_found() {
    let scene = scene();
    let tree = trusted();
    let mut project = warm(&scene, &tree);
    for number in 0..10 {
        scene.write(&format!("n{number}.py"), "def n():\n    pass\n");
        assert_eq!(names(&mut project).len(), 3 + number);
    }
}

/// Simulates a torn read: the file is read during a write that does not change its stamp.
fn tear(scene: &TestProject, tree: &WorkspaceCache, project: &mut Project<'_>) {
    tree.touch(&[path("a.py")]);
    *scene.files.torn.lock().unwrap() = Some(b"def torn():\n".to_vec());
    assert_eq!(contents(project)[0].1, hash("def torn():\n"));
}

#[test]
fn a_file_that_was_told_is_read_though_its_stamp_is_the_same() {
    let scene = scene();
    let tree = trusted();
    let text = "def a():\n    return 1\n";
    let mut project = warm(&scene, &tree);
    tear(&scene, &tree, &mut project);
    assert_ne!(contents(&mut project)[0].1, hash(text), "the torn bytes are trusted because of their stamp");
    tree.touch(&[path("a.py")]);
    assert_eq!(tree.pending(), 1);
    assert_eq!(contents(&mut project)[0].1, hash(text));
    assert_eq!(tree.pending(), 0);
}

#[test]
fn a_file_that_is_told_while_it_is_read_is_read_once_more() {
    let scene = scene();
    let tree = trusted();
    let text = "def a():\n    return 1\n";
    let mut project = warm(&scene, &tree);
    tree.touch(&[path("a.py")]);
    *scene.files.torn.lock().unwrap() = Some(b"def torn():\n".to_vec());
    let touched = Arc::clone(&tree);
    *scene.files.meanwhile.lock().unwrap() = Some(Box::new(move || touched.touch(&[path("a.py")])));
    assert_eq!(contents(&mut project)[0].1, hash("def torn():\n"));
    assert_eq!(tree.pending(), 1);
    // Not even another process trusts the stamp.
    let row = project.cache.store.as_ref().unwrap().file(&path("a.py")).unwrap().unwrap();
    assert_eq!(row.stamp, None);
    assert_eq!(contents(&mut project)[0].1, hash(text));
    assert_eq!((tree.pending(), contents(&mut project)[0].1), (0, hash(text)));
    assert_eq!(scene.reads(), ["a.py", "a.py"]);
}

#[test]
fn a_tree_without_events_is_listed_for_each_answer() {
    let scene = scene();
    let tree = Arc::new(WorkspaceCache::new());
    let mut project = warm(&scene, &tree);
    assert_eq!(names(&mut project), ["a.py", "sub/b.py"]);
    assert_eq!((scene.reads(), scene.runs()), (Vec::new(), 1));
    scene.write("empty/inner/deep.py", "def deep():\n    pass\n");
    assert_eq!(names(&mut project), ["a.py", "empty/inner/deep.py", "sub/b.py"]);
    assert_eq!(tree.external_dependencies(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn projects_see_what_others_have_read() {
    let scene = scene();
    let tree = trusted();
    let mut one = warm(&scene, &tree);
    let mut other = warm(&scene, &tree);
    scene.write("a.py", "def other():\n    return 1\n");
    scene.rest();
    tree.touch(&[path("a.py")]);
    let changed = FileChange {
        path: path("a.py"),
        kind: FileChangeKind::Modified,
        content: Some(hash("def other():\n    return 1\n")),
    };
    assert_eq!(one.refresh(&[path("a.py")]).unwrap(), [changed]);
    assert_eq!(scene.reads(), ["a.py"]);
    assert_eq!(contents(&mut other)[0].1, hash("def other():\n    return 1\n"));
    assert_eq!(scene.reads(), [""; 0]);
}

#[test]
fn a_refresh_reports_changed_files_and_folders() {
    let scene = scene();
    let tree = trusted();
    let mut project = warm(&scene, &tree);
    let kinds = |changes: Vec<FileChange>| -> Vec<(String, FileChangeKind)> {
        changes.into_iter().map(|change| (change.path.to_string(), change.kind)).collect()
    };
    scene.write("new/c.py", "def c():\n    pass\n");
    fs::remove_file(scene.path("a.py")).unwrap();
    fs::remove_dir_all(scene.path("sub")).unwrap();
    let touched = ["a.py", "new", "sub", "x.log", "gone"].map(path);
    tree.touch(&touched);
    tree.invalidate_listing();
    let changes = kinds(project.refresh(&touched).unwrap());
    let (added, removed) = (FileChangeKind::Added, FileChangeKind::Removed);
    let expected = [("a.py", removed), ("new/c.py", added), ("sub/b.py", removed)];
    assert_eq!(changes, expected.map(|(name, kind)| (name.to_owned(), kind)));
    assert_eq!(tree.pending(), 0);
    assert_eq!(kinds(project.refresh(&touched).unwrap()), []);
    assert_eq!(names(&mut project), ["new/c.py"]);
}

#[test]
fn a_file_in_the_place_of_a_folder_is_reported_with_the_files_that_were_in_it() {
    for has_answered in [false, true] {
        let scene = scene();
        // Not a tracked file, which stays in the listing.
        scene.write("x.py/b.py", "def b():\n    return 2\n");
        let tree = trusted();
        let mut project = warm(&scene, &tree);
        fs::remove_dir_all(scene.path("x.py")).unwrap();
        scene.write("x.py", "def x():\n    return 1\n");
        tree.touch(&[path("x.py")]);
        tree.invalidate_listing();
        if has_answered {
            // It stores the file before the refresh does.
            project.outlines(&["x.py".to_owned()], Trust::Stamps).unwrap();
        }
        let changes = project.refresh(&[path("x.py")]).unwrap();
        let kinds: Vec<_> = changes.iter().map(|change| (change.path.to_string(), change.kind)).collect();
        let (added, removed) = (FileChangeKind::Added, FileChangeKind::Removed);
        assert_eq!(kinds, [("x.py".to_owned(), added), ("x.py/b.py".to_owned(), removed)], "{has_answered}");
    }
}

#[test]
fn a_cache_that_another_process_cleared_is_filled_again() {
    let scene = scene();
    let tree = trusted();
    let mut project = warm(&scene, &tree);
    scene.open(options()).clear_cache(false).unwrap();
    assert_eq!(names(&mut project), ["a.py", "sub/b.py"]);
    assert_eq!(project.audit().unwrap().differences, []);
    fs::remove_dir_all(scene.path(".slop_cache")).unwrap();
    assert_eq!(names(&mut project), ["a.py", "sub/b.py"]);
    assert_eq!(scene.open_shared(&tree).audit().unwrap().differences, []);
    // By a project of the same process, whose change the others see.
    let mut other = scene.open_shared(&tree);
    other.clear_cache(false).unwrap();
    assert_eq!(names(&mut project), ["a.py", "sub/b.py"]);
    assert_eq!(other.audit().unwrap().differences, []);
}

#[test]
fn a_file_that_another_process_cleared_is_stored_again() {
    let scene = scene();
    let tree = trusted();
    let mut project = warm(&scene, &tree);
    let is_stored = || scene.open(options()).cache.query_store(|store| store.has_file_row(&path("a.py")));
    scene.open(options()).clear_files(&["a.py".to_owned()], false).unwrap();
    assert_eq!(is_stored(), Some(false));
    assert_eq!(names(&mut project), ["a.py", "sub/b.py"]);
    assert_eq!(is_stored(), Some(true));
    // Nothing is read again if others only write.
    scene.open(options()).cache.remember("key", b"value");
    scene.reads();
    assert_eq!(names(&mut project), ["a.py", "sub/b.py"]);
    assert_eq!(scene.reads(), [""; 0]);
}

#[test]
fn a_cache_that_was_given_up_is_found_again() {
    let scene = scene();
    let tree = trusted();
    let mut project = warm(&scene, &tree);
    project.cache.store = None;
    scene.write("a.py", "def other():\n    return 1\n");
    assert_eq!(contents(&mut project)[0].1, hash("def other():\n    return 1\n"));
    assert_eq!(project.audit().unwrap().differences, []);
}

#[test]
fn what_a_project_without_its_store_has_read_is_stored_by_another() {
    let scene = scene();
    let tree = trusted();
    let mut project = warm(&scene, &tree);
    let mut other = warm(&scene, &tree);
    project.cache.store = None;
    // For as long as a lost store is not opened again.
    project.cache.reopens_after = Duration::MAX;
    scene.write("a.py", "def other():\n    return 1\n");
    assert_eq!(contents(&mut project)[0].1, hash("def other():\n    return 1\n"));
    // And again, because everybody reads recently written files.
    scene.rest();
    contents(&mut project);
    assert_eq!(contents(&mut other)[0].1, hash("def other():\n    return 1\n"));
    assert_eq!(other.audit().unwrap().differences, []);
}

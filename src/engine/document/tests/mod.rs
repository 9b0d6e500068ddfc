//! Documents: what they read, what they show, and what is recorded of them.

mod budget;
mod cancel;
mod hydration;
mod masked;
mod summary;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::inputs::sections;
use super::request::{AggregationRequest, DocumentHistory, ImageFile, SectionRequest};
use crate::aggregate::DocumentLimits;
use crate::engine::index::Trust;
use crate::engine::project::Project;
use crate::engine::shared::WorkspaceCache;
use crate::engine::testing::{FILES, TestProject, request};
use crate::model::{AggregationStrategy, FileOrder, ScreenshotImage, ViewMode};
use crate::sys::{Disk, RealDisk};

fn once(paths: &[&str]) -> Vec<(String, usize)> {
    paths.iter().map(|path| ((*path).to_owned(), 1)).collect()
}

#[test]
fn a_file_is_read_once_in_a_run_even_where_its_text_is_shown() {
    let sandbox = TestProject::new(FILES);
    let document =
        sandbox.project(true).aggregate(&request(AggregationStrategy::Full, ViewMode::Full, &[])).unwrap();
    assert_eq!(document.blocks[0].body.text(), FILES[0].1);
    assert_eq!(sandbox.read_counts(), once(&["a.py", "b.py"]));
}

#[test]
fn an_unchanged_file_is_read_only_where_its_text_is_shown() {
    let sandbox = TestProject::new(FILES);
    sandbox.project(true).index(Trust::Stamps).unwrap();
    sandbox.read_counts();
    let document = sandbox
        .project(true)
        .aggregate(&request(AggregationStrategy::Auto, ViewMode::Skeleton, &["b.py"]))
        .unwrap();
    assert_eq!(sandbox.read_counts(), once(&["b.py"]));
    let views: Vec<_> = document.blocks.iter().map(|block| block.view).collect();
    // The body of one line is shorter than its mark, so nothing is cut.
    assert_eq!(views, [ViewMode::Full, ViewMode::Full]);
}

#[test]
fn without_a_cache_every_answer_is_the_same_and_nothing_is_written() {
    let sandbox = TestProject::new(FILES);
    let ask = request(AggregationStrategy::Auto, ViewMode::Skeleton, &["a.py"]);
    let without = sandbox.project(false).aggregate(&ask).unwrap();
    assert!(!sandbox.folder.path().join(".slop_cache").exists());
    assert_eq!(sandbox.project(true).aggregate(&ask).unwrap(), without);
}

#[test]
fn a_text_that_is_nested_too_deeply_to_be_parsed_is_shown_as_a_summary() {
    let deep = "(".repeat(100_000);
    let sandbox = TestProject::new(&[("deep.c", &deep)]);
    let document = sandbox
        .project(true)
        .aggregate(&request(AggregationStrategy::Auto, ViewMode::Skeleton, &[]))
        .unwrap();
    let entry = &document.receipt.files[0];
    assert_eq!((entry.wanted, entry.view), (ViewMode::Skeleton, ViewMode::Summary));
    assert_eq!(entry.reason.as_deref(), Some("no skeleton: it is nested too deeply to be parsed"));
    assert!(entry.bytes < 1000);
}

#[test]
fn a_run_deletes_no_output_that_another_wrote_meanwhile() {
    let sandbox = TestProject::new(FILES);
    let (mut one, mut other) = (sandbox.project(true), sandbox.project(true));
    let folder = std::path::Path::new("out");
    let old = one.write_numbered(folder, "p", "md", &"old".to_owned().into()).unwrap();
    let before = one.prior_outputs(folder, "p");
    let newest = other.write_numbered(folder, "p", "md", &"of the other".to_owned().into()).unwrap();
    let own = one.write_numbered(folder, "p", "md", &"own".to_owned().into()).unwrap();
    one.prune_outputs(folder, before, 1);
    assert_eq!([old.exists(), newest.exists(), own.exists()], [false, true, true]);
    let before = other.prior_outputs(folder, "p");
    other.prune_outputs(folder, before, 1);
    assert_eq!([newest.exists(), own.exists()], [false, false], "none was written in this run");
}

#[test]
fn a_screenshot_that_the_project_itself_names_must_lie_in_it() {
    let sandbox = TestProject::new(&[
        ("a.gif", "GIF89a"),
        ("sub/b.gif", "GIF89a"),
        ("a.zig", "const a = 1;"),
        ("c", "GIF89a"),
    ]);
    let outside = tempfile::NamedTempFile::new().unwrap();
    RealDisk.replace(outside.path(), b"GIF89a").unwrap();
    std::os::unix::fs::symlink(outside.path(), sandbox.folder.path().join("link.gif")).unwrap();
    let outside = outside.path().to_str().unwrap();
    let named = [
        "a.gif", "./sub/b.gif", "c", "gone.gif", "a.zig", "sub/../../a.gif", "../a.gif", outside, "link.gif",
    ];
    let screenshots: Vec<_> = named.map(|path| ImageFile::OfProject(path.to_owned())).into();
    for inline in [false, true] {
        let request =
            SectionRequest { screenshots: screenshots.clone(), inline, ..SectionRequest::nothing() };
        let sections = sections(&sandbox.project(false).cache.workspace, &request).unwrap();
        let shown: Vec<bool> = sections
            .screenshots
            .iter()
            .map(|shot| !matches!(shot.image, ScreenshotImage::Failed(_)))
            .collect();
        let expected = [true, true, true, false, false, false, false, false, false];
        assert_eq!(shown, expected, "inline: {inline}");
        assert_eq!(sections.problems.len(), 6);
    }
}

#[test]
fn a_document_is_recorded_once_it_has_been_delivered() {
    let sandbox = TestProject::new(FILES);
    let asked = |since_last| AggregationRequest {
        history: Some(DocumentHistory { name: "x".to_owned(), curation: None, since_last }),
        ..request(AggregationStrategy::Auto, ViewMode::Skeleton, &[])
    };
    let shown = |project: &mut Project<'_>| project.aggregate(&asked(true)).unwrap().blocks.len();
    let mut project = sandbox.project(true);
    project.index(Trust::Stamps).unwrap();
    project.aggregate(&asked(false)).unwrap();
    project.discard_delivery();
    project.confirm_delivery();
    assert_eq!(shown(&mut project), 2);
    project.confirm_delivery();
    sandbox.read_counts();
    assert_eq!(shown(&mut sandbox.project(true)), 0);
    // Only the cache was used.
    assert_eq!(sandbox.read_counts(), once(&[]));
}

#[test]
fn a_document_is_made_to_fit_into_many_limits_without_reading_files_again() {
    let files: Vec<(String, String)> = (0..9)
        .map(|at| (format!("f{at}.py"), format!("def f{at}(x):\n    return x + {at}\n").repeat(20)))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let sandbox = TestProject::new(&files);
    let mut project = sandbox.project(true);
    let mut request = request(AggregationStrategy::Auto, ViewMode::Full, &[]);
    request.limits.bytes = Some(4000);
    let mut prepared = project.prepare(&request).unwrap();
    for bytes in [4000, 1500, 3000, 700] {
        let limits = DocumentLimits { bytes: Some(bytes), ..DocumentLimits::default() };
        let composed = project.compose(&mut prepared, limits).unwrap();
        assert!(composed.receipt.bytes <= bytes);
        request.limits = limits;
        assert_eq!(composed.blocks, sandbox.project(false).aggregate(&request).unwrap().blocks);
        assert_eq!(composed.receipt.max_bytes, Some(bytes));
    }
    drop(project);
    let _ = sandbox.read_counts();
    request.limits.bytes = Some(4000);
    let mut project = sandbox.project(true);
    let mut prepared = project.prepare(&request).unwrap();
    // Once to find out whether a recently written file has changed, and once to select from it.
    let reads = sandbox.read_counts();
    assert!(reads.iter().all(|(_, count)| *count <= 2), "{reads:?}");
    for bytes in [4000, 1500, 3000, 700] {
        project
            .compose(&mut prepared, DocumentLimits { bytes: Some(bytes), ..DocumentLimits::default() })
            .unwrap();
    }
    assert_eq!(sandbox.read_counts(), once(&[]));
}

#[test]
fn a_long_running_process_shows_the_same_excerpts_as_a_new_one() {
    let body = "    x = x + 1\n".repeat(20);
    let text = |name: &str| format!("def {name}(x):\n{body}\n\ndef other_{name}(x):\n{body}");
    let (one, two) = (text("one"), text("two"));
    let sandbox = TestProject::new(&[("one.py", &one), ("two.py", &two)]);
    let mut project = sandbox.open_shared(&Arc::new(WorkspaceCache::new()));
    let mut limited = request(AggregationStrategy::Auto, ViewMode::Full, &[]);
    limited.task = Some("other_one and other_two".to_owned());
    let mut check = || {
        let mut views = Vec::new();
        for bytes in [900, 1300, 900] {
            limited.limits.bytes = Some(bytes);
            let document = project.aggregate(&limited).unwrap();
            assert_eq!(document.blocks, sandbox.project(false).aggregate(&limited).unwrap().blocks);
            views.extend(document.blocks.iter().map(|block| block.view));
        }
        assert!(views.contains(&ViewMode::Excerpt), "{views:?}");
    };
    check();
    check();
    // The same lines are selected of another text, and other lines of the same text.
    sandbox.write("one.py", &one.replace("x + 1", "x + 2"));
    sandbox.write("two.py", &format!("# A new line.\n{two}"));
    check();
}

#[test]
fn a_text_that_cannot_be_read_is_missing_in_that_document_alone() {
    let text = |name: &str| format!("def {name}(x):\n{}", "    x = x + 1\n".repeat(20));
    let sandbox = TestProject::new(&[("one.py", &text("one")), ("two.py", &text("two"))]);
    sandbox.git(&["init", "-q"]);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "work"]);
    sandbox.rest();
    let mut limited = request(AggregationStrategy::Auto, ViewMode::Full, &[]);
    limited.limits.bytes = Some(1300);
    limited.order = FileOrder::Stable;
    sandbox.project(true).aggregate(&limited).unwrap();
    let mut project = sandbox.open_shared(&Arc::new(WorkspaceCache::new()));
    sandbox.files.disturbances.store(1_000, Ordering::SeqCst);
    let disturbed = project.aggregate(&limited).unwrap().blocks;
    assert!(sandbox.files.disturbances.swap(0, Ordering::SeqCst) < 1_000);
    sandbox.write("one.py", &text("one_more"));
    let whole = project.aggregate(&limited).unwrap().blocks;
    assert_ne!(whole, disturbed);
    assert_eq!(whole, sandbox.project(false).aggregate(&limited).unwrap().blocks);
}

#[test]
fn the_committed_content_of_a_file_is_read_from_git_once() {
    let text = |name: &str| format!("def {name}(x):\n{}", "    x = x + 1\n".repeat(20));
    let sandbox = TestProject::new(&[("one.py", &text("one")), ("two.py", &text("two"))]);
    let commit = || {
        sandbox.git(&["add", "-A"]);
        sandbox.git(&["commit", "-q", "-m", "work"]);
    };
    sandbox.git(&["init", "-q"]);
    commit();
    let mut project = sandbox.open_shared(&Arc::new(WorkspaceCache::new()));
    let mut limited = request(AggregationStrategy::Auto, ViewMode::Full, &[]);
    limited.limits.bytes = Some(1300);
    limited.order = FileOrder::Stable;
    let mut runs_for = |work: &dyn Fn()| {
        work();
        sandbox.runs();
        let document = project.aggregate(&limited).unwrap();
        let runs = sandbox.runs();
        assert_eq!(document.blocks, sandbox.project(false).aggregate(&limited).unwrap().blocks);
        runs
    };
    let edit = |number: u32| sandbox.write("one.py", &text(&format!("one_{number}")));
    runs_for(&|| ());
    let known = runs_for(&|| edit(1));
    // With a new file, all are ranked again.
    let asked = runs_for(&|| sandbox.write("three.py", &text("three")));
    assert_eq!(asked, known + 2, "the size and the bytes of the committed content");
    assert_eq!(runs_for(&|| edit(2)), known);
    assert_eq!(
        runs_for(&|| sandbox.write("four.py", &text("four"))),
        known,
        "its earlier content is known by now"
    );
    // For another commit, nothing is known.
    assert!(asked <= runs_for(&|| (commit(), edit(3)).1));
}

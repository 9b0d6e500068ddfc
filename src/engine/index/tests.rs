//! What a scan reads, and what it does not read again.

use super::scan::Trust;
use super::status::Freshness;
use crate::engine::testing::{FILES, TestProject, view_request};
use crate::model::ViewMode;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::Ordering;

#[test]
fn a_file_that_changes_while_it_is_read_is_read_again() {
    let sandbox = TestProject::new(&FILES[..1]);
    sandbox.files.disturbances.store(2, Ordering::SeqCst);
    let report = sandbox.project(true).index(Trust::Stamps).unwrap();
    assert_eq!((report.files, report.hashed, report.parsed), (1, 1, 1));
}

#[test]
fn a_file_that_never_holds_still_is_left_out_and_said_so() {
    let sandbox = TestProject::new(&FILES[..1]);
    sandbox.files.disturbances.store(100, Ordering::SeqCst);
    let report = sandbox.project(true).index(Trust::Stamps).unwrap();
    assert_eq!(report.left_out, BTreeMap::from([(crate::model::SkipReason::Unstable, 1)]));
    assert!(report.has_errors());
}

#[test]
fn a_file_that_was_read_alone_is_fresh() {
    let sandbox = TestProject::new(&FILES[..2]);
    sandbox.rest();
    let request = view_request(ViewMode::Outline, &[FILES[0].0]);
    sandbox.project(true).views(&request).unwrap();
    sandbox.read_counts();
    sandbox.project(true).views(&request).unwrap();
    assert_eq!(sandbox.read_counts(), []);
    let states = sandbox.project(true).status().unwrap();
    let states: Vec<_> = states.iter().map(|status| (status.path.to_string(), status.freshness)).collect();
    let expected = [(FILES[0].0.to_owned(), Freshness::Fresh), (FILES[1].0.to_owned(), Freshness::New)];
    assert_eq!(states.into_iter().collect::<BTreeMap<_, _>>(), BTreeMap::from(expected));
}

#[test]
fn artifacts_of_one_content_under_many_names_are_derived_once() {
    let text = FILES[0].1;
    let sandbox = TestProject::new(&[("a.py", text), ("b.py", text), ("c/d.py", text)]);
    let report = sandbox.project(true).index(Trust::Stamps).unwrap();
    assert_eq!((report.files, report.hashed, report.parsed, report.reused), (3, 3, 1, 2));
}

#[test]
fn a_header_is_read_again_when_its_neighbors_change_its_language() {
    let sandbox = TestProject::new(&[("x.h", "int f(int class_);\n")]);
    let language = |sandbox: &TestProject| {
        let mut project = sandbox.project(true);
        let outlines = project.outlines(&[], Trust::Stamps).unwrap();
        outlines.iter().find(|answer| answer.path.as_bytes() == b"x.h").unwrap().file_type.id
    };
    assert_eq!(language(&sandbox), "c");
    sandbox.write("x.cpp", "int f(int) { return 0; }\n");
    assert_eq!(language(&sandbox), "cpp");
}

#[test]
fn twenty_edits_of_one_size_are_all_seen() {
    let sandbox = TestProject::new(&[("a.py", "x = 00\n")]);
    let request = view_request(ViewMode::Summary, &["a.py"]);
    for number in 0..20 {
        // In place, so that neither the inode nor the size changes.
        let text = format!("x = {number:02}\n");
        let path = sandbox.folder.path().join("a.py");
        let mut file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        let views = sandbox.project(true).views(&request).unwrap();
        let shown = views[0].block.content.unwrap();
        assert_eq!(shown, crate::model::ContentHash::digest(text.as_bytes()));
    }
}

#[test]
fn the_slices_of_a_file_are_resolved_with_one_read() {
    let sandbox = TestProject::new(&[("a.py", "one\ntwo\nthree\n")]);
    let project = sandbox.project(true);
    let slices = [1, 2, 3].map(|line| project.make_slice("a.py", line, line).unwrap());
    let _ = sandbox.read_counts();
    let resolved = project.resolve_slices("a.py", &slices).unwrap();
    assert_eq!(resolved.iter().map(|found| found.start_line).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(sandbox.read_counts(), [("a.py".to_owned(), 1)]);
}

//! Changes that are found although no event reported them.

use super::*;
use crate::discover::HeaderNeighbors;
use crate::engine::artifacts::{identify, producer};
use crate::model::ArtifactKind;
use crate::store::{ArtifactBody, ContentArtifacts};

#[test]
fn an_audit_finds_wrong_rows_of_the_index() {
    let scene = scene();
    scene.write("c.py", "def c():\n    pass\n");
    scene.rest();
    let mut project = scene.open(options());
    project.index(Trust::Stamps).unwrap();
    let clean = project.audit().unwrap();
    assert_eq!((clean.files, &clean.differences[..]), (4, &[][..]));
    let bytes = fs::metadata(scene.path("a.py")).unwrap().len();
    assert!(bytes < clean.bytes);
    scene.write("a.py", "def other():\n    return 1\n");
    scene.write("new.py", "def new():\n    pass\n");
    scene.write("c.py", "\0binary");
    fs::remove_file(scene.path("sub/b.py")).unwrap();
    let AuditReport { differences, .. } = project.audit().unwrap();
    let found: Vec<_> = differences.iter().map(|found| (found.path.to_string(), found.kind)).collect();
    let expected = [
        ("a.py", IndexDifferenceKind::OtherContent),
        ("c.py", IndexDifferenceKind::OtherReason),
        ("new.py", IndexDifferenceKind::NotIndexed),
        ("sub/b.py", IndexDifferenceKind::StillIndexed),
    ];
    assert_eq!(found, expected.map(|(name, kind)| (name.to_owned(), kind)));
    assert_eq!(project.audit().unwrap().differences, differences, "an audit repairs nothing");
}

#[test]
fn an_audit_finds_stored_artifacts_that_do_not_follow_from_their_content() {
    let scene = scene();
    scene.rest();
    let mut project = scene.open(options());
    project.index(Trust::Stamps).unwrap();
    let files = project.audit().unwrap();
    assert_eq!((files.derived, files.differences.len()), (3, 0));
    // Stored like a derived artifact, so that the row is authentic.
    let bytes = fs::read(scene.path("a.py")).unwrap();
    let content = identify(&RelPath::new(b"a.py").unwrap(), &bytes, &HeaderNeighbors::default()).unwrap();
    let producer = producer(ArtifactKind::Summary, content.file_type).unwrap();
    let summary = ArtifactBody::Summary("Draws a house.".to_owned());
    let artifacts = vec![(producer, summary)];
    project.cache.save_contents(vec![ContentArtifacts {
        hash: content.hash,
        facts: content.facts,
        artifacts,
    }]);
    let AuditReport { differences, .. } = project.audit().unwrap();
    let found: Vec<_> = differences.iter().map(|found| (found.path.to_string(), found.kind)).collect();
    assert_eq!(found, [("a.py".to_owned(), IndexDifferenceKind::OtherArtifact)]);
}

#[test]
fn a_paranoid_project_finds_changed_bytes_under_an_unchanged_stamp() {
    let scene = scene();
    let tree = trusted();
    let mut project = warm(&scene, &tree);
    tear(&scene, &tree, &mut project);
    names(&mut project);
    assert_eq!(tree.counts().mistakes, 0);
    project.take_notes();
    project.set_paranoid(true);
    assert_eq!(contents(&mut project)[0].1, hash("def a():\n    return 1\n"));
    assert_eq!(tree.counts().mistakes, 1);
    assert!(project.take_notes().iter().any(|note| note.starts_with("a.py has other bytes")));
    names(&mut project);
    assert_eq!(tree.counts().mistakes, 1, "it is repaired");
}

#[test]
fn a_change_that_should_have_been_reported_is_counted() {
    let scene = scene();
    let tree = trusted();
    let mut project = warm(&scene, &tree);
    let file = File::options().write(true).open(scene.path("a.py")).unwrap();
    file.set_times(FileTimes::new().set_modified(SystemTime::UNIX_EPOCH)).unwrap();
    names(&mut project);
    assert_eq!(tree.counts().missed, 0, "it is so recent that its event may be on the way");
    let reported: Vec<String> =
        tree.external_dependencies().iter().map(|path| path.display().to_string()).collect();
    assert!(reported.iter().any(|path| path.ends_with(".git/index")), "{reported:?}");
    tree.invalidate_all();
    assert_eq!(names(&mut project).len(), 2);
}

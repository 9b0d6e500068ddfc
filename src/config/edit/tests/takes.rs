//! Takes, and switches that are interrupted.

use super::*;
use crate::config::{Curation, revision_of};

const TAKES: &str = "slop.takes.toml";

const CURATED: &str = r#"# The project.

screenshots = ["a.png"] # before

# Settings of all takes.
[aggregation]
order = "path"

# Why the engine matters.
[[files]]
path = "src/engine.py"
ast_mask = { Engine = "sig" } # short

[[files.custom_slices]]
start_line = 1
end_line = 2

[[files]]
path = "docs"

# For the worker.
[document]
tier = 3 # of four
"#;

fn files() -> TakeFiles {
    TakeFiles { settings: PROJECT.into(), takes: TAKES.into() }
}

fn change(disk: &MemoryFiles, change: &TakeChange) -> Result<TakesOutcome, Error> {
    let revision = revision_of(disk.project.lock().unwrap().as_deref().unwrap_or_default());
    change_takes(disk, &files(), &revision, change)
}

fn create(name: &str) -> TakeChange {
    TakeChange::Create { name: name.to_owned(), from: None }
}

fn switch(name: &str) -> TakeChange {
    TakeChange::Switch { name: name.to_owned() }
}

fn takes_text(disk: &MemoryFiles) -> String {
    String::from_utf8(disk.user.lock().unwrap().clone().unwrap_or_default()).unwrap()
}

fn names(disk: &MemoryFiles) -> Vec<String> {
    read_takes(disk, &files()).unwrap().takes.into_iter().map(|take| take.name).collect()
}

/// Returns the paths of the items of the current take.
fn paths(disk: &MemoryFiles) -> Vec<String> {
    curation(disk).files.into_iter().map(|item| item.path).collect()
}

/// Returns the curation of the current take.
fn curation(disk: &MemoryFiles) -> Curation {
    let project_file = Some((PROJECT.into(), disk.text().into_bytes()));
    crate::config::load(&ConfigInputs { project_file, ..ConfigInputs::default() }).unwrap().curation
}

/// A project with the takes `main`, which is current, and `other`, with an item for `tests` instead of `docs`.
fn two_takes() -> MemoryFiles {
    let disk = MemoryFiles::new(CURATED);
    change(&disk, &create("other")).unwrap();
    let other = takes_text(&disk).replace("\"docs\"", "\"tests\"");
    *disk.user.lock().unwrap() = Some(other.into_bytes());
    disk
}

#[test]
fn a_switch_exchanges_only_the_curation() {
    let disk = two_takes();
    let main = curation(&disk);
    change(&disk, &switch("other")).unwrap();
    let shared = "# The project.\n\n# Settings of all takes.\n[aggregation]\norder = \"path\"\n";
    assert!(disk.text().contains(shared), "{}", disk.text());
    assert!(disk.text().contains("\n# Why the engine matters.\n[[files]]\n"), "{}", disk.text());
    assert!(takes_text(&disk).contains("\n# Why the engine matters.\n[[takes.main.files]]\n"));
    assert_eq!(paths(&disk), ["src/engine.py", "tests"]);
    let edited = disk.text().replace("tier = 3 # of four", "tier = 1");
    *disk.project.lock().unwrap() = Some(edited.into_bytes());
    change(&disk, &switch("main")).unwrap();
    assert_eq!(curation(&disk), main);
    assert!(takes_text(&disk).contains("# For the worker.\n[takes.other.document]\ntier = 1\n"));
    let once = (disk.text(), takes_text(&disk));
    change(&disk, &switch("other")).unwrap();
    change(&disk, &switch("main")).unwrap();
    assert_eq!((disk.text(), takes_text(&disk)), once);
}

#[test]
fn an_interrupted_switch_is_finished_or_reverted() {
    for (writes, current) in [(0, "main"), (1, "main"), (2, "other"), (3, "other")] {
        let disk = two_takes();
        *disk.writes_left.lock().unwrap() = Some(writes);
        assert_eq!(change(&disk, &switch("other")).is_ok(), writes == 3, "{writes}");
        *disk.writes_left.lock().unwrap() = None;
        let last = if current == "main" { "docs" } else { "tests" };
        let rest = if current == "main" { "other" } else { "main" };
        assert_eq!(paths(&disk), ["src/engine.py", last]);
        assert_eq!(names(&disk), [current, rest]);
        assert_eq!(settle_takes(&disk, &files()).unwrap(), current);
        assert!(!takes_text(&disk).contains("switching"));
        change(&disk, &switch(rest)).unwrap();
        assert_eq!(paths(&disk), ["src/engine.py", if last == "docs" { "tests" } else { "docs" }]);
    }
}

#[test]
fn an_edit_after_an_interrupted_switch_is_never_lost() {
    let edits = [
        // An edit of a setting: the curation shows how far the switch got.
        (1, ("\"path\"", "\"stable\""), vec!["main", "other"]),
        (2, ("\"path\"", "\"stable\""), vec!["other", "main"]),
        // An edit of the curation, which then equals neither take.
        (1, ("src/engine.py", "src/edited.py"), vec!["recovered", "main", "other"]),
        (2, ("src/engine.py", "src/edited.py"), vec!["recovered", "main", "other"]),
    ];
    for (writes, (from, to), expected) in edits {
        let disk = two_takes();
        *disk.writes_left.lock().unwrap() = Some(writes);
        change(&disk, &switch("other")).unwrap_err();
        *disk.writes_left.lock().unwrap() = None;
        let edited = disk.text().replace(from, to);
        *disk.project.lock().unwrap() = Some(edited.clone().into_bytes());
        settle_takes(&disk, &files()).unwrap();
        assert_eq!((names(&disk), disk.text()), (expected.into_iter().map(str::to_owned).collect(), edited));
        for (name, last) in [("main", "docs"), ("other", "tests")] {
            change(&disk, &switch(name)).unwrap();
            assert_eq!(paths(&disk).last().unwrap(), last);
        }
    }
}

#[test]
fn takes_are_copied_renamed_and_deleted() {
    let disk = MemoryFiles::new(CURATED);
    assert_eq!(names(&disk), ["main"]);
    change(&disk, &create("first")).unwrap();
    change(&disk, &TakeChange::Create { name: "second".to_owned(), from: Some("first".to_owned()) }).unwrap();
    let rename = |name: &str, to: &str| TakeChange::Rename { name: name.to_owned(), to: to.to_owned() };
    change(&disk, &rename("main", "now")).unwrap();
    change(&disk, &rename("second", "later")).unwrap();
    assert_eq!(names(&disk), ["now", "first", "later"]);
    let found = read_takes(&disk, &files()).unwrap().takes;
    assert!(found.iter().all(|take| (take.items, take.masks, take.slices, take.screenshots) == (2, 1, 1, 1)));
    let delete = |name: &str, may_lose| TakeChange::Delete { name: name.to_owned(), may_lose };
    let refused = [
        (delete("now", true), "`now` is the current take"),
        (delete("first", false), "the take `first` has curated entries or screenshots"),
        (delete("frist", true), "no take named `frist`, the nearest known is `first`"),
        (rename("first", "later"), "a take named `later` already exists"),
        (create("a/b"), "`a/b` is not the name of a take"),
    ];
    for (refused, message) in refused {
        check_error(&disk, change(&disk, &refused).map(drop), message);
    }
    change(&disk, &delete("first", true)).unwrap();
    assert_eq!((names(&disk), disk.text()), (vec!["now".to_owned(), "later".to_owned()], CURATED.to_owned()));
}

#[test]
fn an_invalid_takes_file_is_left_unchanged() {
    let bad = [
        ("current = 3", "slop.takes.toml: `current` is not the name of a take"),
        ("[takes.main]", "slop.takes.toml: the take `main` is listed, although it is the current one"),
        (
            "[takes.a]\nkey = 1",
            "slop.takes.toml: take `a` has an unknown key `key`, or an invalid value for it",
        ),
        ("takes = 1", "slop.takes.toml: `takes` is not a table with a header"),
        ("switching = { to = 1 }", "slop.takes.toml: `switching.to` is not a text"),
    ];
    for (text, message) in bad {
        let disk = MemoryFiles::new(CURATED);
        *disk.user.lock().unwrap() = Some(text.as_bytes().to_vec());
        check_error(&disk, change(&disk, &create("other")).map(drop), message);
    }
}

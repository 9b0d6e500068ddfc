//! One question is asked once, however many want its answer.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::Duration;

use super::Desk;
use super::code;
use super::server::Act;
use super::server::Server;
use super::words;
use crate::sandbox::Ran;

/// A model that takes its time, so that those who ask at once do.
fn slow() -> Server {
    Server::start(|_, _| Act::Late(Duration::from_millis(30), Box::new(words())))
}

#[test]
fn a_content_in_thirty_files_is_asked_about_once() {
    let desk = Desk::new(slow());
    for number in 0..30 {
        desk.sandbox.write(format!("same_{number}.py"), code("one"));
    }
    desk.settle("concurrency = 16", "");
    assert_eq!(desk.asked()["outcome"]["refused"].as_array().unwrap().len(), 0);
    let bodies: BTreeSet<Vec<u8>> = desk.server.seen().into_iter().map(|seen| seen.body).collect();
    assert_eq!(bodies.len(), desk.server.count(), "no question came twice");
    let about_it = desk.server.seen().iter().filter(|seen| seen.text().contains("count_one")).count();
    assert_eq!(about_it, 1);
    for number in [0, 29] {
        let shown = desk.json(&["agent", "show", &format!("same_{number}.py")]);
        assert_eq!(shown["summaries"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn two_runs_at_once_share_their_questions() {
    let desk = Desk::new(slow());
    for number in 0..24 {
        desk.sandbox.write(format!("part_{}/file_{number}.py", number % 3), code(&format!("n{number}")));
    }
    desk.sandbox.write("copy.py", code("n1"));
    let start = || {
        let mut command = desk.command(&["summarize", "--yes", "--json"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    for child in [start(), start()] {
        let ran = Ran::of(&child.wait_with_output().unwrap());
        // What the other one asks is left to it.
        assert!(ran.code == 0 || ran.code == 4, "{ran:?}");
    }
    desk.asked();
    let bodies: BTreeSet<Vec<u8>> = desk.server.seen().into_iter().map(|seen| seen.body).collect();
    assert_eq!(bodies.len(), desk.server.count(), "no question came twice");
    // 24 contents, three folders, the project.
    assert_eq!(desk.server.count(), 28);
    assert_eq!(desk.usage().0, 28);
    let count = desk.server.count();
    assert_eq!(desk.asked()["questions"], 0);
    desk.sandbox.git(&["add", "-A"]);
    desk.sandbox.git(&["commit", "-q", "-m", "all"]);
    desk.sandbox.git(&["checkout", "-q", "-b", "other"]);
    desk.sandbox.git(&["mv", "part_0/file_0.py", "part_0/renamed.py"]);
    assert_eq!(desk.asked()["questions"], 0, "a name is no content");
    assert_eq!(desk.server.count(), count);
}

//! One question is asked once, however many want its answer.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::Duration;

use super::AgentProject;
use super::module_source;
use super::ok_response;
use super::server::ModelServer;
use super::server::ServerAction;
use crate::sandbox::CommandOutput;

/// A model that takes its time, so that those who ask at once do.
fn slow_server() -> ModelServer {
    ModelServer::start(|_, _| ServerAction::Late(Duration::from_millis(30), Box::new(ok_response())))
}

#[test]
fn a_content_in_thirty_files_is_sent_once() {
    let desk = AgentProject::new(slow_server());
    for number in 0..30 {
        desk.sandbox.write(format!("same_{number}.py"), module_source("one"));
    }
    desk.write_agent_settings("concurrency = 16", "");
    assert_eq!(desk.summarize_json()["outcome"]["refused"].as_array().unwrap().len(), 0);
    let bodies: BTreeSet<Vec<u8>> = desk.server.requests().into_iter().map(|seen| seen.body).collect();
    assert_eq!(bodies.len(), desk.server.request_count(), "no question came twice");
    let about_it = desk.server.requests().iter().filter(|seen| seen.text().contains("count_one")).count();
    assert_eq!(about_it, 1);
    for number in [0, 29] {
        let shown = desk.json(&["agent", "show", &format!("same_{number}.py")]);
        assert_eq!(shown["summaries"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn two_concurrent_runs_share_their_tasks() {
    let desk = AgentProject::new(slow_server());
    for number in 0..24 {
        desk.sandbox
            .write(format!("part_{}/file_{number}.py", number % 3), module_source(&format!("n{number}")));
    }
    desk.sandbox.write("copy.py", module_source("n1"));
    let start = || {
        let mut command = desk.command(&["summarize", "--yes", "--json"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    for child in [start(), start()] {
        let ran = CommandOutput::from_output(&child.wait_with_output().unwrap());
        // What the other one asks is left to it.
        assert!(ran.code == 0 || ran.code == 4, "{ran:?}");
    }
    desk.summarize_json();
    let bodies: BTreeSet<Vec<u8>> = desk.server.requests().into_iter().map(|seen| seen.body).collect();
    assert_eq!(bodies.len(), desk.server.request_count(), "no question came twice");
    // 24 contents, three folders, the project.
    assert_eq!(desk.server.request_count(), 28);
    assert_eq!(desk.usage().0, 28);
    let count = desk.server.request_count();
    assert_eq!(desk.summarize_json()["questions"], 0);
    desk.sandbox.git(&["add", "-A"]);
    desk.sandbox.git(&["commit", "-q", "-m", "all"]);
    desk.sandbox.git(&["checkout", "-q", "-b", "other"]);
    desk.sandbox.git(&["mv", "part_0/file_0.py", "part_0/renamed.py"]);
    assert_eq!(desk.summarize_json()["questions"], 0, "a name is no content");
    assert_eq!(desk.server.request_count(), count);
}

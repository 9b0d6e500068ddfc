//! Documents before and after a model has written, and what of its words is kept.

use std::time::Duration;

use super::AgentProject;
use super::module_source;
use super::ok_response;
use super::server::ModelServer;
use super::server::ServerAction;
use crate::sandbox::list;

fn marking_server() -> ModelServer {
    ModelServer::start(|_, _| ServerAction::both("Words of a model, brief.", "Words of a model, in detail."))
}

#[test]
fn a_document_shows_and_marks_a_models_summary() {
    let desk = AgentProject::new(marking_server());
    desk.sandbox.write("one.py", module_source("one"));
    desk.sandbox.write("src/two.py", module_source("two"));
    desk.sandbox.write("src/three.py", module_source("three"));
    let before = desk.slop(&["aggregate", "--tier", "1", "--stdout"]).out;
    assert!(!before.contains("Words of a model"));
    desk.summarize_json();
    let after = desk.slop(&["aggregate", "--tier", "1", "--stdout"]).out;
    assert_eq!(after.matches("summary by a model").count(), 3, "{after}");
    assert!(after.contains("Words of a model, brief.") && !after.contains("in detail"), "{after}");
    assert!(after.contains("src/ (by a model: Words of a model, brief.)"), "{after}");
    let receipt = desk.json(&["aggregate", "--tier", "1", "--stdout"])["receipt"].take();
    let noted = after.matches("(by a model: ").count();
    let expected = serde_json::json!({"by": "agent", "untrusted": true, "count": noted});
    assert_eq!(receipt["folders"], expected);
    let second = desk.json(&["aggregate", "--tier", "2", "--stdout"])["receipt"].take();
    assert_eq!(second["folders"], serde_json::Value::Null, "it has no tree");
    assert_eq!(desk.slop(&["aggregate", "--tier", "1", "--stdout"]).out, after, "the same bytes again");
    let second = desk.slop(&["aggregate", "--stdout", "--tier", "2"]).out;
    assert!(second.contains("Words of a model, in detail."), "{second}");
    let third = desk.slop(&["aggregate", "--stdout", "--tier", "3"]).out;
    assert!(!third.contains("Words of a model"), "{third}");
}

#[test]
fn a_document_waits_no_longer_than_allowed() {
    let slow = ModelServer::start(|_, _| {
        ServerAction::Late(Duration::from_secs(20), Box::new(ServerAction::both("Late.", "Late.")))
    });
    let desk = AgentProject::new(slow);
    desk.sandbox.write("one.py", module_source("one"));
    let began = std::time::Instant::now();
    let ran = desk.slop(&["aggregate", "--tier", "1", "--stdout", "--wait-agent", "1"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert!(ran.out.contains("one.py") && !ran.out.contains("Late."), "{}", ran.out);
    assert!(0 < desk.usage().1, "who stops waiting may have to pay");
}

#[test]
fn changed_content_shows_its_earlier_summary_marked_as_such() {
    let desk = AgentProject::new(marking_server());
    desk.sandbox.write("one.py", module_source("one"));
    desk.summarize_json();
    desk.sandbox.write("one.py", module_source("changed"));
    let earlier = desk.slop(&["aggregate", "--tier", "1", "--stdout"]).out;
    assert!(earlier.contains("summary by a model, of an earlier version"), "{earlier}");
    desk.write_agent_settings("earlier = false", "");
    let without = desk.slop(&["aggregate", "--tier", "1", "--stdout"]).out;
    assert!(!without.contains("Words of a model"), "{without}");
}

#[test]
fn clearing_the_cache_keeps_paid_summaries() {
    let desk = AgentProject::new(marking_server());
    desk.sandbox.write("one.py", module_source("one"));
    desk.summarize_json();
    let count = desk.server.request_count();
    desk.slop(&["cache", "clear"]);
    assert_eq!(desk.summarize_json()["questions"], 0);
    assert_eq!(desk.server.request_count(), count);
    let (calls, _) = desk.usage();
    assert_eq!(calls, count as u64);
    assert!(0 < list(&desk.json(&["agent", "show", "--all"])["summaries"]).count());
}

#[test]
fn summaries_that_a_document_would_not_show_are_not_requested() {
    let desk = AgentProject::with_file([ok_response()]);
    let quiet = [
        &["aggregate", "--tier", "3", "--stdout", "--wait-agent", "5"][..],
        &["aggregate", "--stdout", "--wait-agent", "5"],
        &["aggregate", "--tier", "1", "--dry-run", "--wait-agent", "5"],
    ];
    for command in quiet {
        let ran = desk.slop(command);
        assert_eq!((ran.code, desk.server.connections()), (0, 0), "{command:?}: {ran:?}");
        let is_told = ran.err.contains("--wait-agent has nothing to wait for");
        assert_eq!(is_told, !command.contains(&"--dry-run"), "{}", ran.err);
    }
    let mut without_key =
        desk.sandbox.command(&["aggregate", "--tier", "1", "--stdout", "--wait-agent", "5"]);
    without_key.env_remove("MOCK_KEY");
    crate::sandbox::run(without_key).assert_fails(1, &["without its key", "leave out --wait-agent"]);
    desk.slop(&["aggregate", "--tier", "1", "--stdout", "--wait-agent", "5"]);
    assert_eq!(desk.server.request_count(), 1);
}

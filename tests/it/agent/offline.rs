//! Without a model of the user's everything else works, and nobody is asked anything.

use std::process::Command;
use std::process::Stdio;

use super::AgentProject;
use super::module_source;
use super::ok_response;
use super::server::ModelServer;
use crate::sandbox::Sandbox;
use crate::sandbox::report_skipped;

/// What people do all day, each command with whether it succeeds.
const COMMANDS: [&str; 10] = [
    "status",
    "index",
    "aggregate --stdout --tier 1",
    "aggregate --stdout --tier 2 --format json",
    "outline one.py",
    "agent providers",
    "agent usage",
    "agent show",
    "config show",
    "cache status",
];

#[test]
fn without_a_model_there_is_no_trace_of_the_sub_agent() {
    let desk = AgentProject::new(ModelServer::with_responses([ok_response()]));
    desk.write_settings("");
    desk.sandbox.write("one.py", module_source("one"));
    for command in COMMANDS {
        let ran = desk.slop(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.code, 0, "{command}: {ran:?}");
    }
    assert_eq!(desk.server.connections(), 0);
    for name in [".slop_cache/agent.db", ".slop_cache/agent.db-wal"] {
        assert!(!desk.sandbox.path(name).exists());
    }
}

#[test]
fn other_commands_never_call_a_configured_model() {
    let desk = AgentProject::with_file([ok_response()]);
    for command in COMMANDS {
        let ran = desk.slop(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.code, 0, "{command}: {ran:?}");
    }
    desk.slop(&["summarize", "--estimate"]);
    desk.slop(&["agent", "preview", "one.py"]);
    assert_eq!(desk.server.connections(), 0);
}

#[test]
fn without_a_network_everything_else_works() {
    let can = Command::new("unshare").args(["-rn", "true"]).stderr(Stdio::null()).status();
    if !can.is_ok_and(|status| status.success()) {
        return report_skipped("unshare -rn is not possible here");
    }
    let sandbox = Sandbox::repo();
    sandbox.write("one.py", module_source("one"));
    sandbox.write("docs/two.md", "# Two\n\nTells of it.\n");
    sandbox.commit_all("all");
    for command in COMMANDS {
        // Twice with a network, for what is kept for the next time may be told.
        let with = crate::sandbox::run(sandbox.script(&format!("$SLOP {command} && $SLOP {command}")));
        let without = crate::sandbox::run(
            sandbox.script(&format!("unshare -rn sh -c '$SLOP {command} && $SLOP {command}'")),
        );
        assert_eq!((with.code, without.code), (0, 0), "{command}: {without:?}");
        if !command.starts_with("cache") && !command.starts_with("index") {
            assert_eq!(with.out, without.out, "{command}");
        }
    }
}

#[test]
fn a_lost_network_is_reported_and_the_heuristics_remain() {
    let desk = AgentProject::with_file([ok_response()]);
    let before = desk.slop(&["aggregate", "--stdout", "--tier", "1"]).out;
    let file = desk.sandbox.outside("config/slop/config.toml");
    let text = std::fs::read_to_string(file).unwrap().replace(&desk.server.url(), "https://nowhere.invalid");
    desk.write_settings(&text);
    let ran = desk.summarize();
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.err.contains("nowhere.invalid"), "{}", ran.err);
    assert_eq!(desk.usage().1, 0, "what was never sent costs nothing");
    assert_eq!(desk.slop(&["aggregate", "--stdout", "--tier", "1"]).out, before);
}

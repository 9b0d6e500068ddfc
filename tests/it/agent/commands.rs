//! Commands that call no model: previews, usage, what was written, and everything else offline.

use std::process::{Command, Stdio};

use serde_json::Value;

use super::project::{choose_model, run_with_key};
use super::server::{ModelServer, ServerAction};
use super::{AgentProject, KEY, module_source, ok_response};
use crate::samples::{module_text, two_modules};
use crate::sandbox::{Sandbox, list, number, report_skipped, text};

fn answering_server() -> ModelServer {
    ModelServer::start(|_, _| ServerAction::both("Brief words.", "Some detail of it."))
}

#[test]
fn a_preview_is_what_is_sent_byte_for_byte() {
    let (server, sandbox) = (answering_server(), two_modules());
    choose_model(&sandbox, &server, "");
    let preview = run_with_key(&sandbox, &["agent", "preview", "src/one.py"]);
    assert_eq!(preview.code, 0, "{preview:?}");
    assert!(preview.err.contains(&format!("POST {}/v1/messages", server.url())), "{preview:?}");
    assert_eq!(server.connections(), 0);
    run_with_key(&sandbox, &["summarize", "src/one.py", "--yes"]);
    let [sent] = &server.requests()[..] else { panic!("{:?}", server.request_count()) };
    assert_eq!(sent.body, preview.out.as_bytes());
    let again = run_with_key(&sandbox, &["agent", "preview", "src/one.py"]);
    assert_eq!(again.out, preview.out, "answered requests can be previewed too");
}

#[test]
fn a_file_that_is_never_sent_has_no_preview() {
    let (server, sandbox) = (answering_server(), two_modules());
    choose_model(&sandbox, &server, "");
    sandbox.write("tiny.py", "x = 1\n");
    run_with_key(&sandbox, &["agent", "preview", "tiny.py"])
        .assert_fails(1, &["it is smaller than agent.least_bytes"]);
    run_with_key(&sandbox, &["agent", "preview", "*.py"]).assert_fails(1, &["*.py"]);
    run_with_key(&sandbox, &["agent", "preview", "gone.py"]).assert_fails(1, &["gone.py"]);
}

#[test]
fn usage_reports_calls_and_remaining_limits() {
    let (server, sandbox) = (answering_server(), two_modules());
    let usage = sandbox.json(&["agent", "usage"]);
    assert_eq!(list(&usage["rows"]).count(), 0);
    assert_eq!(usage["left"]["day_usd"], "1");
    choose_model(&sandbox, &server, "");
    run_with_key(&sandbox, &["summarize", "--yes"]);
    let usage = sandbox.json(&["agent", "usage"]);
    let [row] = &list(&usage["rows"]).collect::<Vec<_>>()[..] else { panic!("{usage}") };
    assert_eq!(row["model"], "anthropic/claude-haiku-4-5");
    assert_eq!((number(&row["calls"]), number(&row["answered"])), (3, 3));
    assert_eq!((number(&row["input_tokens"]), number(&row["output_tokens"])), (300, 60));
    // At $1 and $5 per million tokens.
    assert_eq!((row["cost_usd"].as_str(), usage["total_usd"].as_str()), (Some("0.0006"), Some("0.0006")));
    assert_eq!((usage["left"]["day_usd"].as_str(), usage["open_usd"].as_str()), (Some("0.9994"), Some("0")));
    let out = sandbox.stdout_of(&["agent", "usage"]);
    assert!(out.contains("$0.0006 of $1.00, $0.9994 left"), "{out}");
}

#[test]
fn summaries_are_shown_with_their_model() {
    let (server, sandbox) = (answering_server(), two_modules());
    choose_model(&sandbox, &server, "");
    let nothing = run_with_key(&sandbox, &["agent", "show"]);
    assert_eq!((nothing.code, nothing.out.as_str()), (0, ""));
    run_with_key(&sandbox, &["summarize", "--yes"]);
    let out = sandbox.stdout_of(&["agent", "show", "src/one.py", "--tier", "1"]);
    assert!(
        out.starts_with("src/one.py\n  tier 1, written by the model anthropic/claude-haiku-4-5 on "),
        "{out}"
    );
    assert!(out.ends_with(":\n    Brief words.\n"), "{out}");
    let all = sandbox.json(&["agent", "show", ".", "--all"]);
    let places = |wanted: &Value| {
        let mut places: Vec<String> = list(wanted).map(|summary| text(&summary["place"])).collect();
        places.dedup();
        places
    };
    assert_eq!(places(&all["summaries"]), ["src/one.py", "src/two.py", "src/", "the project"]);
    assert!(list(&all["summaries"]).all(|summary| summary["untrusted"] == true));
}

#[test]
fn providers_are_listed_with_their_key_status() {
    let sandbox = Sandbox::new();
    let rows = |out: &str| out.lines().find(|line| line.starts_with("anthropic ")).unwrap().to_owned();
    assert!(rows(&sandbox.stdout_of(&["agent", "providers"])).ends_with("key missing (ANTHROPIC_API_KEY)"));
    let ran = run_with_key(&sandbox, &["agent", "providers"]);
    let row = rows(&ran.out);
    assert!(row.contains("api.anthropic.com") && row.contains("key there"), "{row}");
    assert!(!ran.out.contains(KEY));
}

#[test]
fn no_shown_setting_contains_a_key() {
    let (server, sandbox) = (answering_server(), two_modules());
    choose_model(&sandbox, &server, "");
    let ran = run_with_key(&sandbox, &["config", "show", "--origin"]);
    assert!(ran.out.contains("agent.models = [\"anthropic/claude-haiku-4-5\"]  # "), "{}", ran.out);
}

/// Returns the paths whose summaries are shown.
#[track_caller]
fn shown_summaries(sandbox: &Sandbox, arguments: &[&str]) -> Vec<String> {
    let shown = sandbox.json(&[&["agent", "show", "--tier", "1"], arguments].concat());
    shown["summaries"].as_array().unwrap().iter().map(|summary| text(&summary["place"])).collect()
}

#[test]
fn show_includes_the_contents_of_a_folder_only_with_all() {
    let (server, sandbox) =
        (ModelServer::start(|_, _| ServerAction::both("Brief.", "Detail.")), two_modules());
    sandbox.write("main.py", module_text("Main"));
    sandbox.write("src/deep/three.py", module_text("Three"));
    sandbox.write("src/deep/four.py", module_text("Four"));
    choose_model(&sandbox, &server, "");
    run_with_key(&sandbox, &["summarize", "--yes"]);
    assert_eq!(shown_summaries(&sandbox, &[]), ["src/", "the project"]);
    assert_eq!(shown_summaries(&sandbox, &["."]), ["the project"]);
    assert_eq!(shown_summaries(&sandbox, &["src/"]), ["src/"]);
    assert_eq!(shown_summaries(&sandbox, &["src/one.py"]), ["src/one.py"]);
    assert_eq!(shown_summaries(&sandbox, &["src/deep", "--all"]).len(), 3);
    assert_eq!(shown_summaries(&sandbox, &["--all"]).len(), 8);
    assert_eq!(shown_summaries(&sandbox, &["src/deep/*.py"]).len(), 2);
}

#[test]
fn an_empty_argument_does_not_mean_the_whole_project() {
    let (server, sandbox) =
        (ModelServer::start(|_, _| ServerAction::both("Brief.", "Detail.")), two_modules());
    choose_model(&sandbox, &server, "");
    for command in [&["summarize", "", "--yes"][..], &["agent", "show", ""], &["agent", "preview", ""]] {
        run_with_key(&sandbox, command).assert_fails(1, &["is empty", "`.` for the whole project"]);
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn the_reason_for_not_sending_a_named_file_is_reported() {
    let (server, sandbox) =
        (ModelServer::start(|_, _| ServerAction::both("Brief.", "Detail.")), two_modules());
    sandbox.write(".netrc", "machine example.com login me password secret\n");
    sandbox.write("tiny.py", "x = 1\n");
    sandbox.write("left.py", module_text("Left"));
    std::os::unix::fs::symlink("tiny.py", sandbox.path("link.py")).unwrap();
    let secret = format!("{}KEY = 'ghp_{}'\n", module_text("Secret"), "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX");
    sandbox.write("found.py", secret);
    choose_model(&sandbox, &server, "exclude = ['left.py']");
    let quiet = [
        (".netrc", "holds secrets by its name"),
        ("tiny.py", "agent.least_bytes"),
        ("left.py", "agent.exclude"),
        ("link.py", "link"),
    ];
    for (path, why) in quiet {
        let ran = run_with_key(&sandbox, &["summarize", path, "--yes"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "0 answered; 0 calls, $0.0000\n"), "{ran:?}");
        assert!(ran.err.contains(&format!("no model is called for {path}: ")), "{ran:?}");
        assert!(ran.err.contains(why), "{ran:?}");
    }
    assert_eq!(server.connections(), 0);
    run_with_key(&sandbox, &["summarize", "--yes"]);
    let ran = run_with_key(&sandbox, &["summarize", "found.py", "--yes"]);
    assert!(
        ran.err.contains("no model is called for found.py: something in it looks like a secret"),
        "{ran:?}"
    );
    let ran = run_with_key(&sandbox, &["summarize", "--yes"]);
    assert!(ran.err.contains("1 question was refused or withheld before; --retry"), "{ran:?}");
    let ran = run_with_key(&sandbox, &["summarize", "src/one.py", "--yes"]);
    assert_eq!(ran.err, "", "files with a summary are not mentioned");
}

/// Everyday commands, all of which succeed.
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
    let project = AgentProject::new(ModelServer::with_responses([ok_response()]));
    project.write_settings("");
    project.sandbox.write("one.py", module_source("one"));
    for command in COMMANDS {
        let ran = project.slop(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.code, 0, "{command}: {ran:?}");
    }
    assert_eq!(project.server.connections(), 0);
    for name in [".slop_cache/agent.db", ".slop_cache/agent.db-wal"] {
        assert!(!project.sandbox.path(name).exists());
    }
}

#[test]
fn other_commands_never_call_a_configured_model() {
    let project = AgentProject::with_file([ok_response()]);
    for command in COMMANDS {
        let ran = project.slop(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.code, 0, "{command}: {ran:?}");
    }
    project.slop(&["summarize", "--estimate"]);
    project.slop(&["agent", "preview", "one.py"]);
    assert_eq!(project.server.connections(), 0);
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
        // Twice each, because the first run may print notes about the cache.
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
    let project = AgentProject::with_file([ok_response()]);
    let before = project.slop(&["aggregate", "--stdout", "--tier", "1"]).out;
    let file = project.sandbox.outside("config/slop/config.toml");
    let text =
        std::fs::read_to_string(file).unwrap().replace(&project.server.url(), "https://nowhere.invalid");
    project.write_settings(&text);
    let ran = project.summarize();
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.err.contains("nowhere.invalid"), "{}", ran.err);
    assert_eq!(project.usage().1, 0, "unsent requests cost nothing");
    assert_eq!(project.slop(&["aggregate", "--stdout", "--tier", "1"]).out, before);
}

//! Every request is sent and paid for once: spending limits, single flight, and what a kill leaves behind.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::Duration;

use super::server::{ModelServer, ServerAction};
use super::{AgentProject, CALL_COST, module_source, ok_response, usd_nanos, wait_until};
use crate::sandbox::CommandOutput;

fn many_files(project: &AgentProject, count: usize) {
    for number in 0..count {
        project.sandbox.write(format!("file_{number}.py"), module_source(&format!("n{number}")));
    }
}

#[test]
fn thirty_two_threads_stay_within_the_daily_limit() {
    // Each call costs a cent, which is close to its maximum.
    let text = "<brief>Words.</brief><detail>More words.</detail>";
    let project = AgentProject::new(ModelServer::with_responses([ServerAction::anthropic(text, 3_000, 700)]));
    let true_cost = 3_000 * 1_000 + 700 * 10_000;
    many_files(&project, 100);
    for (setting, name) in [
        ("budget_day_usd = \"0.11\"", "agent.budget_day_usd"),
        ("budget_total_usd = \"0.11\"", "agent.budget_total_usd"),
    ] {
        project.write_agent_settings(&format!("concurrency = 32\n{setting}"), "");
        let ran = project.summarize();
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.err.contains(name), "{}", ran.err);
        let (calls, spent) = project.usage();
        assert_eq!(
            (calls, spent),
            (project.server.request_count() as u64, project.server.request_count() as u64 * true_cost)
        );
        assert!(spent <= 110_000_000, "{spent}");
    }
    assert!((9..=11).contains(&project.server.request_count()), "{}", project.server.request_count());
}

#[test]
fn open_reservations_count_as_spent() {
    // Nothing responds, so each call is charged at its maximum.
    let project = AgentProject::new(ModelServer::with_responses([ServerAction::HangUp]));
    many_files(&project, 100);
    project.write_agent_settings("concurrency = 32\nbudget_day_usd = \"0.05\"", "");
    let ran = project.summarize();
    assert_eq!(ran.code, 1, "{ran:?}");
    let (calls, spent) = project.usage();
    assert!(spent <= 50_000_000, "{spent}");
    assert_eq!(calls, project.server.request_count() as u64);
    assert!(project.server.request_count() < 8, "{}", project.server.request_count());
}

#[test]
fn the_daily_limit_on_calls_holds() {
    let project = AgentProject::new(ModelServer::with_responses([ok_response()]));
    many_files(&project, 30);
    project.write_agent_settings("concurrency = 16\ncalls_per_day = 7", "");
    let ran = project.summarize();
    assert_eq!((ran.code, project.server.request_count()), (1, 7), "{ran:?}");
    assert!(ran.err.contains("agent.calls_per_day"), "{}", ran.err);
    let ran = project.summarize();
    assert_eq!((ran.code, project.server.request_count()), (1, 7), "the next run respects it: {ran:?}");
}

#[test]
fn a_kill_while_the_ledger_is_created_does_not_stop_later_calls() {
    for _ in 0..5 {
        let project = AgentProject::with_file([ok_response()]);
        let record = project.sandbox.path(".slop_cache/agent.db");
        let mut command = project.command(&["summarize", "--yes"]);
        let mut process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // A busy loop, so that the file is found as soon as it has been created.
        while !record.exists() && process.try_wait().unwrap().is_none() {}
        process.kill().unwrap();
        process.wait().unwrap();
        let ran = project.summarize();
        assert_eq!(ran.code, 0, "{ran:?}");
    }
}

#[test]
fn a_model_without_a_price_is_not_used() {
    let project = AgentProject::with_file([ok_response()]);
    let file = project.sandbox.outside("config/slop/config.toml");
    let text = std::fs::read_to_string(file).unwrap().replace("mock/m\"]\ninput", "mock/other\"]\ninput");
    project.write_settings(&text);
    let ran = project.summarize();
    ran.assert_fails(1, &["mock/m", "price", "[prices.\"mock/m\"]"]);
    assert_eq!(project.server.connections(), 0);
}

#[test]
fn an_estimate_sends_nothing_and_is_not_exceeded() {
    let project = AgentProject::new(ModelServer::with_responses([ok_response()]));
    many_files(&project, 5);
    let plan = project.json(&["summarize", "--estimate"]);
    assert_eq!((plan["questions"].as_u64(), project.server.connections()), (Some(5), 0));
    assert!(!project.sandbox.path(".slop_cache/agent.db").exists());
    let worst = usd_nanos(&plan["estimate"]["worst_usd"]);
    assert!(usd_nanos(&plan["estimate"]["likely_usd"]) <= worst);
    // Five requests for files; the project follows them.
    project.summarize_json();
    assert!(5 * CALL_COST < worst, "{worst}");
}

#[test]
fn nothing_is_sent_without_a_terminal_or_yes() {
    let project = AgentProject::with_file([ok_response()]);
    project.slop(&["summarize"]).assert_fails(1, &["--yes"]);
    assert_eq!(project.server.connections(), 0);
}

/// A slow model, so that concurrent runs overlap.
fn slow_server() -> ModelServer {
    ModelServer::start(|_, _| ServerAction::Late(Duration::from_millis(30), Box::new(ok_response())))
}

#[test]
fn a_content_in_thirty_files_is_sent_once() {
    let project = AgentProject::new(slow_server());
    for number in 0..30 {
        project.sandbox.write(format!("same_{number}.py"), module_source("one"));
    }
    project.write_agent_settings("concurrency = 16", "");
    assert_eq!(project.summarize_json()["outcome"]["refused"].as_array().unwrap().len(), 0);
    let bodies: BTreeSet<Vec<u8>> = project.server.requests().into_iter().map(|seen| seen.body).collect();
    assert_eq!(bodies.len(), project.server.request_count(), "no request was sent twice");
    let about_it = project.server.requests().iter().filter(|seen| seen.text().contains("count_one")).count();
    assert_eq!(about_it, 1);
    for number in [0, 29] {
        let shown = project.json(&["agent", "show", &format!("same_{number}.py")]);
        assert_eq!(shown["summaries"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn two_concurrent_runs_share_their_tasks() {
    let project = AgentProject::new(slow_server());
    for number in 0..24 {
        project
            .sandbox
            .write(format!("part_{}/file_{number}.py", number % 3), module_source(&format!("n{number}")));
    }
    project.sandbox.write("copy.py", module_source("n1"));
    let start = || {
        let mut command = project.command(&["summarize", "--yes", "--json"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    for child in [start(), start()] {
        let ran = CommandOutput::from_output(&child.wait_with_output().unwrap());
        // Tasks of the other run are left to it.
        assert!(ran.code == 0 || ran.code == 4, "{ran:?}");
    }
    project.summarize_json();
    let bodies: BTreeSet<Vec<u8>> = project.server.requests().into_iter().map(|seen| seen.body).collect();
    assert_eq!(bodies.len(), project.server.request_count(), "no request was sent twice");
    // 24 contents, three folders, the project.
    assert_eq!(project.server.request_count(), 28);
    assert_eq!(project.usage().0, 28);
    let count = project.server.request_count();
    assert_eq!(project.summarize_json()["questions"], 0);
    project.sandbox.git(&["add", "-A"]);
    project.sandbox.git(&["commit", "-q", "-m", "all"]);
    project.sandbox.git(&["checkout", "-q", "-b", "other"]);
    project.sandbox.git(&["mv", "part_0/file_0.py", "part_0/renamed.py"]);
    assert_eq!(project.summarize_json()["questions"], 0, "a new name needs no request");
    assert_eq!(project.server.request_count(), count);
}

#[test]
fn a_request_of_a_killed_process_is_sent_once_more_and_both_are_charged() {
    const ROUNDS: usize = 12;
    // Each request is sent twice: the first response never arrives.
    let server =
        ModelServer::start(|_, number| if number % 2 == 0 { ServerAction::Silence } else { ok_response() });
    let project = AgentProject::new(server);
    project.sandbox.write("one.py", module_source("one"));
    let mut spent = 0;
    for round in 0..ROUNDS {
        project.sandbox.write("one.py", module_source(&format!("round_{round}")));
        let mut command = project.command(&["summarize", "--yes"]);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_until("the server gets a request", || project.server.request_count() == 2 * round + 1);
        child.kill().unwrap();
        child.wait().unwrap();
        let (_, after_kill) = project.usage();
        assert!(spent + CALL_COST < after_kill, "it is charged at its maximum: {spent} {after_kill}");
        assert_eq!(project.summarize_json()["outcome"]["answered"], 1);
        assert_eq!(project.server.request_count(), 2 * round + 2, "sent exactly once more");
        let (calls, after) = project.usage();
        assert_eq!((calls, after), (2 * round as u64 + 2, after_kill + CALL_COST));
        spent = after;
    }
    assert_eq!(project.summarize_json()["questions"], 0);
    let bodies: Vec<_> = project.server.requests().into_iter().map(|seen| seen.body).collect();
    assert!(bodies.chunks(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn an_interrupted_run_charges_its_calls_and_keeps_their_answers() {
    let server =
        ModelServer::start(|_, number| if number == 1 { ServerAction::Silence } else { ok_response() });
    let project = AgentProject::new(server);
    for name in ["one", "two", "three"] {
        project.sandbox.write(format!("{name}.py"), module_source(name));
    }
    project.write_agent_settings("concurrency = 1", "");
    let mut command = project.command(&["summarize", "--yes"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the second request is sent", || project.server.request_count() == 2);
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let ran = crate::sandbox::CommandOutput::from_output(&child.wait_with_output().unwrap());
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.err.contains("run this again to go on"), "{}", ran.err);
    let (calls, spent) = project.usage();
    assert_eq!(calls, 2);
    assert!(2 * CALL_COST < spent, "a stopped call is charged at its maximum");
    project.summarize_json();
    // Three files, one of which was sent twice, and the project.
    assert_eq!(project.server.request_count(), 5);
}

/// Returns pseudo-random bytes that are not a database.
fn garbage() -> Vec<u8> {
    (0..3_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0]).collect()
}

#[test]
fn a_damaged_database_is_recovered_by_writers_and_reported_by_readers() {
    let project = AgentProject::with_file([ok_response(), ok_response()]);
    let database = project.sandbox.path(".slop_cache/agent.db");
    project.summarize_json();
    std::fs::write(&database, garbage()).unwrap();
    let readers = [
        &["summarize", "--estimate"][..],
        &["agent", "usage"],
        &["agent", "show", "one.py"],
        &["agent", "preview", "one.py"],
    ];
    for reader in readers {
        let ran = project.slop(reader);
        ran.assert_fails(3, &["`slop cache verify`", "`slop summarize`", "do not delete it"]);
        assert_eq!(std::fs::read(&database).unwrap(), garbage());
    }
    // A summary that the backup does not have.
    project.sandbox.write("two.py", module_source("two"));
    let ran = project.summarize();
    // What was spent since the backup is unknown, so nothing more is spent today; everything else works again.
    assert_eq!((ran.code, project.server.request_count()), (1, 1), "{ran:?}");
    assert!(ran.err.contains("no more is spent on the day of the last one"), "{}", ran.err);
    assert!(ran.err.contains("summaries by models were restored"), "{}", ran.err);
    assert!(ran.err.contains("the damaged file is kept as agent.db.corrupt-1"), "{}", ran.err);
    for reader in readers {
        let ran = project.slop(reader);
        assert_eq!(ran.code, 0, "{reader:?}: {ran:?}");
    }
}

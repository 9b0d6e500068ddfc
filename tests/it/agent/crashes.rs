//! A process that is killed while a model writes.

use std::process::Stdio;

use super::AgentProject;
use super::module_source;
use super::ok_response;
use super::server::ModelServer;
use super::server::ServerAction;
use super::wait_until;

/// What one of the server's answers costs: 100 tokens in at a dollar a million, 20 out at ten.
const TRUE_COST: u64 = 100 * 1_000 + 20 * 10_000;

#[test]
fn a_request_of_a_killed_process_is_sent_once_more_and_both_are_charged() {
    const ROUNDS: usize = 12;
    // Each question comes twice: the first time nobody ever hears the answer.
    let server =
        ModelServer::start(|_, number| if number % 2 == 0 { ServerAction::Silence } else { ok_response() });
    let desk = AgentProject::new(server);
    desk.sandbox.write("one.py", module_source("one"));
    let mut spent = 0;
    for round in 0..ROUNDS {
        desk.sandbox.write("one.py", module_source(&format!("round_{round}")));
        let mut command = desk.command(&["summarize", "--yes"]);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_until("the server is asked", || desk.server.request_count() == 2 * round + 1);
        child.kill().unwrap();
        child.wait().unwrap();
        let (_, after_kill) = desk.usage();
        assert!(spent + TRUE_COST < after_kill, "it counts as its worst: {spent} {after_kill}");
        assert_eq!(desk.summarize_json()["outcome"]["answered"], 1);
        assert_eq!(desk.server.request_count(), 2 * round + 2, "asked once more, and no more than once");
        let (calls, after) = desk.usage();
        assert_eq!((calls, after), (2 * round as u64 + 2, after_kill + TRUE_COST));
        spent = after;
    }
    assert_eq!(desk.summarize_json()["questions"], 0);
    let bodies: Vec<_> = desk.server.requests().into_iter().map(|seen| seen.body).collect();
    assert!(bodies.chunks(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn an_interrupted_run_charges_its_calls_and_keeps_their_answers() {
    let server =
        ModelServer::start(|_, number| if number == 1 { ServerAction::Silence } else { ok_response() });
    let desk = AgentProject::new(server);
    for name in ["one", "two", "three"] {
        desk.sandbox.write(format!("{name}.py"), module_source(name));
    }
    desk.write_agent_settings("concurrency = 1", "");
    let mut command = desk.command(&["summarize", "--yes"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the second question is asked", || desk.server.request_count() == 2);
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let ran = crate::sandbox::CommandOutput::from_output(&child.wait_with_output().unwrap());
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.err.contains("run this again to go on"), "{}", ran.err);
    let (calls, spent) = desk.usage();
    assert_eq!(calls, 2);
    assert!(2 * TRUE_COST < spent, "what was stopped counts as its worst");
    desk.summarize_json();
    // Three files, one of which was asked about twice, and the project.
    assert_eq!(desk.server.request_count(), 5);
}

/// No database: bytes that look like chance.
fn garbage() -> Vec<u8> {
    (0..3_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0]).collect()
}

#[test]
fn a_damaged_database_is_recovered_by_writers_and_reported_by_readers() {
    let desk = AgentProject::with_file([ok_response(), ok_response()]);
    let database = desk.sandbox.path(".slop_cache/agent.db");
    desk.summarize_json();
    std::fs::write(&database, garbage()).unwrap();
    let readers = [
        &["summarize", "--estimate"][..],
        &["agent", "usage"],
        &["agent", "show", "one.py"],
        &["agent", "preview", "one.py"],
    ];
    for reader in readers {
        let ran = desk.slop(reader);
        ran.assert_fails(3, &["`slop cache verify`", "`slop summarize`", "do not delete it"]);
        assert_eq!(std::fs::read(&database).unwrap(), garbage());
    }
    let ran = desk.summarize();
    // Nobody knows what was spent today, so that nothing more is; but all else works again.
    assert_eq!((ran.code, desk.server.request_count()), (1, 1), "{ran:?}");
    assert!(ran.err.contains("no more is spent on the day of the last one"), "{}", ran.err);
    assert!(ran.err.contains("was salvaged"), "{}", ran.err);
    assert!(ran.err.contains("0 rows were carried over"), "{}", ran.err);
    assert!(ran.err.contains("the old file is now agent.db.corrupt-1"), "{}", ran.err);
    for reader in readers {
        let ran = desk.slop(reader);
        assert_eq!(ran.code, 0, "{reader:?}: {ran:?}");
    }
}

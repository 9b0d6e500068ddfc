//! The daemon's background summarizer: what it sends and what it does not, under failures.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::{Value, json};

use super::super::agent::project::{AgentProject, CALL_COST, error_response, module_source, ok_response};
use super::super::agent::server::{ModelServer, ServerAction};
use super::harness::{TestDaemon, TestRng, is_soak, rounds, wait_until};

/// The number of files per folder in [`write_modules`].
const FOLDER: usize = 5;

/// Writes user settings with the server's model, without a key, and these lines of `[agent]`.
fn write_agent_settings(project: &AgentProject, agent: &str) {
    write_settings_for(project, "mock/m", agent);
}

fn write_settings_for(project: &AgentProject, model: &str, agent: &str) {
    let url = project.server.url();
    project.write_settings(&format!(
        "[agent]\nmodels = [\"{model}\"]\nleast_bytes = 0\nrequests_per_minute = 100000\n\
         tokens_per_minute = 1000000000\n{agent}\n[providers.mock]\nwire = \"anthropic\"\nbase_url = \"{url}\"\n\
         [prices.\"{model}\"]\ninput = \"1.00\"\noutput = \"10.00\"\n"
    ));
}

fn write_batch_settings(project: &AgentProject, agent: &str) {
    let url = project.server.url();
    project.write_settings(&format!(
        "[agent]\nmodels = [\"mock/m\"]\nleast_bytes = 0\n{agent}\n[providers.mock]\nwire = \"anthropic\"\n\
         base_url = \"{url}\"\nbatches = true\n[prices.\"mock/m\"]\ninput = \"1.00\"\noutput = \"10.00\"\n"
    ));
}

/// `[agent]` settings for a daemon that starts immediately.
const EAGER: &str = "background = true\nstill_seconds = 0\nconcurrency = 8";

/// Returns a project whose daemon uses this server.
fn daemon_project(server: ModelServer) -> AgentProject {
    let project = AgentProject::new(server);
    write_agent_settings(&project, EAGER);
    project
}

/// Writes this many files, [`FOLDER`] per folder.
fn write_modules(project: &AgentProject, files: usize) {
    for file in 0..files {
        project.sandbox.write(module_path(file), module_source(&format!("file_{file}")));
    }
}

fn module_path(file: usize) -> String {
    format!("d{}/f{file}.py", file / FOLDER)
}

/// Returns the number of requests for these files, their folders and the project.
fn expected_calls(files: usize) -> usize {
    files + files.div_ceil(FOLDER) + 1
}

fn agent_status(daemon: &TestDaemon<'_>) -> Value {
    daemon.status()["agent"].take()
}

fn is_idle(daemon: &TestDaemon<'_>) -> bool {
    let agent = agent_status(daemon);
    agent["state"] == "idle" && agent["ready"] == 0 && agent["young"] == 0
}

/// Waits for a state and returns its reason, both of one answer: the next one can be of another state.
#[track_caller]
fn wait_for_reason(daemon: &TestDaemon<'_>, state: &str) -> String {
    let mut status = Value::Null;
    wait_until(state, || {
        status = agent_status(daemon);
        status["state"] == state
    });
    status["reason"].as_str().unwrap_or_else(|| panic!("{status}")).to_owned()
}

/// Edits a file, and waits until the daemon has summarized it, its folder and the project, and everything else
/// that was pending.
#[track_caller]
fn wait_until_summarized(project: &AgentProject, daemon: &TestDaemon<'_>, name: &str) {
    project.sandbox.write(module_path(0), module_source(name));
    wait_for_batch(project, name);
    wait_until("the daemon is idle", || is_idle(daemon));
}

#[track_caller]
fn wait_for_batch(project: &AgentProject, name: &str) {
    let mark = format!("count_{name}(");
    wait_until(name, || project.server.requests().iter().any(|seen| seen.text().contains(&mark)));
}

#[test]
fn edited_files_are_sent_and_moved_ones_are_not() {
    let files = rounds(30, 1_000);
    let project = AgentProject::new(ModelServer::with_responses([ok_response()]));
    // Files that git has half switched are not still.
    write_agent_settings(&project, "background = true\nstill_seconds = 1\nconcurrency = 8");
    write_modules(&project, files);
    project.sandbox.commit_all("all");
    let daemon = TestDaemon::start(&project.sandbox);
    wait_until("all requests are sent", || {
        expected_calls(files) <= project.server.request_count() && is_idle(&daemon)
    });
    assert_eq!(project.server.request_count(), expected_calls(files));

    project.sandbox.git(&["checkout", "-q", "-b", "edited"]);
    for file in [1, 2, FOLDER + 1] {
        project.sandbox.write(module_path(file), module_source(&format!("edited_{file}")));
    }
    project.sandbox.commit_all("edited");
    // Three files, two folders, and the project.
    wait_until("the edited files are sent", || {
        expected_calls(files) + 6 <= project.server.request_count() && is_idle(&daemon)
    });
    wait_until_summarized(&project, &daemon, "first");
    let asked = project.server.request_count();
    assert!(asked <= expected_calls(files) + 9 + 3, "at most two rounds saw the edits: {asked}");

    fs::rename(project.sandbox.path(module_path(3)), project.sandbox.path("d0/moved.py")).unwrap();
    wait_until_summarized(&project, &daemon, "second");
    assert_eq!(project.server.request_count(), asked + 3, "a renamed file costs nothing");
    fs::rename(project.sandbox.path("d1"), project.sandbox.path("elsewhere")).unwrap();
    wait_until_summarized(&project, &daemon, "third");
    assert_eq!(project.server.request_count(), asked + 6, "nor does a folder");
    project.sandbox.commit_all("moved");
    for branch in ["main", "edited", "main", "edited"] {
        project.sandbox.git(&["checkout", "-q", branch]);
        thread::sleep(Duration::from_millis(300));
    }
    wait_until_summarized(&project, &daemon, "fourth");
    assert_eq!(project.server.request_count(), asked + 9, "nor do branches with known contents");
}

#[test]
fn the_daemon_fetches_the_results_of_a_batch() {
    let name = Mutex::new(String::new());
    let project = AgentProject::new(ModelServer::start(move |seen, _| {
        let mut name = name.lock().unwrap();
        let state = |status| json!({"id": "b_1", "type": "message_batch", "processing_status": status});
        match (seen.method.as_str(), seen.path.as_str()) {
            ("POST", "/v1/messages/batches") => {
                *name = seen.json()["requests"][0]["custom_id"].as_str().unwrap().to_owned();
                ServerAction::json(200, &state("in_progress"))
            }
            ("GET", "/v1/messages/batches/b_1") => ServerAction::json(200, &state("ended")),
            ("GET", _) => {
                let ServerAction::Answer(status, headers, message) = ok_response() else { unreachable!() };
                let message: Value = serde_json::from_slice(&message).unwrap();
                let line = json!({"custom_id": *name, "result": {"type": "succeeded", "message": message}});
                ServerAction::Answer(status, headers, line.to_string().into_bytes())
            }
            _ => ok_response(),
        }
    }));
    write_batch_settings(&project, "still_seconds = 0");
    write_modules(&project, 1);
    project.sandbox.commit_all("all");
    assert_eq!(project.json(&["summarize", "--batch", "--yes"])["outcome"]["handed_over"], 1);
    write_batch_settings(&project, EAGER);
    let daemon = TestDaemon::start(&project.sandbox);
    wait_until("the answer is fetched", || is_idle(&daemon) && agent_status(&daemon)["done"] != 0);
    let asked =
        project.server.requests().into_iter().filter(|seen| seen.text().contains("count_file_0(")).count();
    assert_eq!(asked, 1);
}

#[test]
fn a_manual_run_sends_only_edited_files() {
    let files = rounds(30, 1_000);
    let project = daemon_project(ModelServer::with_responses([ok_response()]));
    write_modules(&project, files);
    project.sandbox.commit_all("all");
    project.summarize_json();
    assert_eq!(project.server.request_count(), expected_calls(files));
    project.sandbox.git(&["checkout", "-q", "-b", "edited"]);
    for file in [1, 2, FOLDER + 1] {
        project.sandbox.write(module_path(file), module_source(&format!("edited_{file}")));
    }
    project.sandbox.commit_all("edited");
    project.summarize_json();
    assert_eq!(
        project.server.request_count(),
        expected_calls(files) + 6,
        "three files, two folders and the project"
    );
    fs::rename(project.sandbox.path(module_path(3)), project.sandbox.path("d0/moved.py")).unwrap();
    fs::rename(project.sandbox.path("d1"), project.sandbox.path("elsewhere")).unwrap();
    assert_eq!(project.summarize_json()["questions"], 0);
    project.sandbox.commit_all("moved");
    for branch in ["main", "edited"] {
        project.sandbox.git(&["checkout", "-q", branch]);
        assert_eq!(project.summarize_json()["questions"], 0, "{branch}");
    }
    assert_eq!(project.server.request_count(), expected_calls(files) + 6);
}

/// The statistics of a flaky server.
#[derive(Default)]
struct BillingTally {
    /// Complete responses, by request and by the run of the daemon.
    whole: BTreeMap<(u64, usize), usize>,
    /// What the server would bill.
    billed: u64,
    failed: usize,
}

/// A server of whose responses three in ten are failures.
fn flaky_server(tally: &Arc<Mutex<BillingTally>>, life: &Arc<AtomicUsize>) -> ModelServer {
    let (tally, life) = (Arc::clone(tally), Arc::clone(life));
    let dice = Mutex::new(TestRng::new(0x5eed));
    ModelServer::start(move |seen, _| {
        let roll = dice.lock().unwrap().next_below(100);
        let mut tally = tally.lock().unwrap();
        tally.failed += usize::from(roll < 30);
        let is_billed = 14 <= roll;
        tally.billed += if is_billed { CALL_COST } else { 0 };
        let act = match roll {
            0..7 => error_response(500, "api_error", "went wrong"),
            7..14 => error_response(429, "rate_limit_error", "slow down").with("retry-after-ms", "20"),
            14..22 => {
                ServerAction::Raw(b"HTTP/1.1 200 X\r\ncontent-length: 900\r\n\r\n{\"id\": \"ms".to_vec())
            }
            22..30 => ServerAction::Answer(200, Vec::new(), b"<html>a fine day</html>".to_vec()),
            _ => {
                let key = (digest(&seen.body), life.load(Ordering::SeqCst));
                *tally.whole.entry(key).or_default() += 1;
                ServerAction::both(&format!("Counts as {} does.", key.0), "It adds products up.")
            }
        };
        ServerAction::Late(Duration::from_millis(20), Box::new(act))
    })
}

fn digest(bytes: &[u8]) -> u64 {
    use std::hash::{DefaultHasher, Hasher};
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

#[test]
fn a_killed_daemon_pays_at_most_once_more_and_charges_everything() {
    const CAP: u64 = 20_000_000_000;
    let (files, kills) = (rounds(25, 500), rounds(3, 20));
    let (tally, life) = (Arc::new(Mutex::new(BillingTally::default())), Arc::new(AtomicUsize::new(0)));
    let project = daemon_project(flaky_server(&tally, &life));
    write_agent_settings(
        &project,
        &format!("{EAGER}\nbudget_day_usd = \"20\"\nbudget_total_usd = \"20\"\ncalls_per_day = 100000"),
    );
    write_modules(&project, files);
    let is_all_there = || {
        let left = project.json(&["summarize", "--estimate"]);
        left["done"] == expected_calls(files) && left["questions"] == 0 && left["refused_before"] == 0
    };
    let whole = || tally.lock().unwrap().whole.len();
    let look = || {
        let billed = tally.lock().unwrap().billed;
        let (_, counted) = project.usage();
        assert!(billed <= counted, "too little was charged: {billed} billed, {counted} charged");
        assert!(counted <= CAP, "the cap is exceeded: {counted}");
    };
    for kill in 0..kills {
        let mut daemon = TestDaemon::start(&project.sandbox);
        let enough = files * (kill + 1) / (kills + 2);
        // After failures the daemon pauses for half a minute; the kill resets that.
        let end = Instant::now() + Duration::from_secs(10);
        while whole() < enough && Instant::now() < end {
            look();
            thread::sleep(Duration::from_millis(20));
        }
        daemon.kill();
        look();
        // The requests of the killed daemon have been read by now.
        thread::sleep(Duration::from_millis(200));
        life.fetch_add(1, Ordering::SeqCst);
    }
    // A manual run takes over the claims of the killed daemon, and retries refusals.
    for _ in 0..20 {
        let ran = project.slop(&["summarize", "--yes", "--retry", "--json"]);
        assert!([0, 1, 3, 4, 5, 6].contains(&ran.code), "{ran:?}");
        life.fetch_add(1, Ordering::SeqCst);
        look();
        if is_all_there() {
            break;
        }
    }
    assert!(is_all_there());
    for file in [0, files / 2, files - 1] {
        assert!(
            project.slop(&["agent", "show", &module_path(file)]).out.contains("written by the model mock/m")
        );
    }
    let tally = tally.lock().unwrap();
    let twice: Vec<_> = tally.whole.iter().filter(|(_, times)| 1 < **times).collect();
    assert!(twice.is_empty(), "paid for twice in one run: {twice:?}");
    let mut by_question = BTreeMap::<u64, usize>::new();
    for (key, times) in &tally.whole {
        *by_question.entry(key.0).or_default() += times;
    }
    let more: usize = by_question.values().map(|times| times - 1).sum();
    assert!(more <= kills * 8, "{more} extra requests in {kills} kills");
    let counted = project.usage().1;
    eprintln!(
        "{files} files, {kills} kills: {} questions, {} failures, {more} paid once more, billed {} of {counted} counted",
        by_question.len(),
        tally.failed,
        tally.billed
    );
}

#[test]
fn a_file_that_is_being_written_is_not_sent() {
    let project = daemon_project(ModelServer::with_responses([ok_response()]));
    write_agent_settings(&project, "background = true\nstill_seconds = 2");
    let _daemon = TestDaemon::start(&project.sandbox);
    let whole = module_source("whole");
    for part in 0..12 {
        project.sandbox.write("one.py", &whole[..whole.len() * part / 24]);
        thread::sleep(Duration::from_millis(250));
    }
    let written = Instant::now();
    project.sandbox.write("one.py", &whole);
    wait_for_batch(&project, "whole");
    let seen = project.server.requests();
    assert!(seen.iter().all(|seen| seen.text().contains("return total")), "an incomplete file was sent");
    assert!(Duration::from_millis(1_900) <= seen[0].at - written);
}

#[test]
fn changed_settings_take_effect_while_the_daemon_runs() {
    let project = daemon_project(ModelServer::with_responses([ServerAction::Late(
        Duration::from_millis(100),
        Box::new(ok_response()),
    )]));
    write_modules(&project, 60);
    let quick = "background = true\nstill_seconds = 0\nconcurrency = 1";
    write_agent_settings(&project, quick);
    let daemon = TestDaemon::start(&project.sandbox);
    wait_until("some requests are sent", || 3 <= project.server.request_count());
    write_agent_settings(&project, &quick.replace("true", "false"));
    wait_until("no request is sent", || agent_status(&daemon)["state"] == "off");
    let asked = project.server.request_count();
    assert!(asked < 40, "the run ends early: {asked}");
    thread::sleep(Duration::from_millis(500));
    assert_eq!(project.server.request_count(), asked);
    write_settings_for(&project, "mock/other", quick);
    wait_until("the other model is called", || {
        project.server.requests().last().is_some_and(|seen| seen.json()["model"] == "other")
    });
    assert_eq!(agent_status(&daemon)["models"][0], "mock/other");
}

#[test]
fn equivalent_settings_cancel_no_call() {
    let late = ServerAction::Late(Duration::from_millis(1_500), Box::new(ok_response()));
    let project = AgentProject::new(ModelServer::with_responses([late]));
    write_modules(&project, 4);
    let slow = "background = true\nstill_seconds = 0\nconcurrency = 2";
    write_agent_settings(&project, slow);
    let daemon = TestDaemon::start(&project.sandbox);
    wait_until("some requests are sent", || 1 <= project.server.request_count());
    write_agent_settings(&project, &format!("{slow}\n# It is the same."));
    wait_until("further requests are sent", || 3 <= project.server.request_count());
    write_agent_settings(&project, &format!("{slow}\ncalls_per_day = 1999"));
    wait_until("all requests are sent", || {
        is_idle(&daemon) && agent_status(&daemon)["done"].as_u64() >= Some(4)
    });
    let mut bodies: Vec<_> = project.server.requests().iter().map(|seen| seen.body.clone()).collect();
    bodies.sort();
    bodies.dedup();
    assert_eq!(bodies.len(), project.server.request_count(), "no request is sent twice");
}

#[test]
fn a_deleted_cache_does_not_stop_the_background_summarizer() {
    let project = daemon_project(ModelServer::with_responses([ok_response()]));
    write_modules(&project, 2);
    project.sandbox.commit_all("all");
    let mut daemon = TestDaemon::start(&project.sandbox);
    wait_until("all requests are sent", || 3 <= project.server.request_count() && is_idle(&daemon));
    // The daemon may write to the cache while git deletes it, and then git fails.
    let clean = || project.sandbox.script("git clean -fdxq").output().unwrap().status.success();
    wait_until("the cache is deleted", clean);
    project.sandbox.write(module_path(0), module_source("after"));
    let end = Instant::now() + Duration::from_mins(1);
    let is_asked = || project.server.requests().iter().any(|seen| seen.text().contains("count_after("));
    while !is_asked() && daemon.child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < end, "it neither sends requests nor exits");
        thread::sleep(Duration::from_millis(10));
    }
    if let Some(status) = daemon.child.try_wait().unwrap() {
        assert!(status.code().is_some_and(|code| code != 101), "{status}");
        let again = TestDaemon::start(&project.sandbox);
        wait_for_batch(&project, "after");
        drop(again);
    }
}

#[test]
fn a_signal_ends_a_daemon_with_calls_in_flight() {
    let project = daemon_project(ModelServer::with_responses([ServerAction::Silence]));
    write_modules(&project, 8);
    let mut daemon = TestDaemon::start(&project.sandbox);
    wait_until("calls are in flight", || 8 <= project.server.request_count());
    let told = Instant::now();
    daemon.signal("TERM");
    assert_eq!(daemon.wait_for_exit(), Some(0));
    assert!(told.elapsed() < Duration::from_secs(2), "{:?}", told.elapsed());
    let (calls, spent) = project.usage();
    assert_eq!(calls, 8);
    assert!(8 * CALL_COST < spent, "calls without a response are charged at their maximum");
}

#[test]
fn a_daemon_and_a_manual_run_share_their_tasks() {
    let project = daemon_project(ModelServer::with_responses([ServerAction::Late(
        Duration::from_millis(50),
        Box::new(ok_response()),
    )]));
    write_modules(&project, 20);
    let mut command = project.command(&["summarize", "--yes"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut by_hand = command.spawn().unwrap();
    let daemon = TestDaemon::start(&project.sandbox);
    by_hand.wait().unwrap();
    // Tasks in flight are left to their owner; tasks that depend on them are left to the next run.
    wait_until("all requests are sent", || {
        project.summarize_json()["questions"] == 0 && expected_calls(20) <= project.server.request_count()
    });
    drop(daemon);
    let mut bodies: Vec<_> = project.server.requests().into_iter().map(|seen| seen.body).collect();
    let asked = bodies.len();
    bodies.sort_unstable();
    bodies.dedup();
    assert_eq!(bodies.len(), asked, "no request is sent twice");
    assert_eq!(asked, expected_calls(20));
}

#[test]
fn a_server_that_is_down_is_retried_when_it_is_back() {
    let is_down = Arc::new(AtomicUsize::new(1));
    let down = Arc::clone(&is_down);
    let project = daemon_project(ModelServer::start(move |_, _| {
        if down.load(Ordering::SeqCst) == 1 {
            error_response(503, "overloaded_error", "closed")
        } else {
            ok_response()
        }
    }));
    write_modules(&project, 20);
    let daemon = TestDaemon::start(&project.sandbox);
    let reason = wait_for_reason(&daemon, "paused");
    assert!(reason.contains("mock"), "{reason}");
    // Calls in flight are completed.
    thread::sleep(Duration::from_secs(1));
    let (asked, connections) = (project.server.request_count(), project.server.connections());
    assert!(asked <= 40, "{asked}");
    thread::sleep(Duration::from_secs(1));
    assert_eq!((project.server.request_count(), project.server.connections()), (asked, connections));
    is_down.store(0, Ordering::SeqCst);
    if is_soak() {
        let end = Instant::now() + Duration::from_mins(5);
        while !(is_idle(&daemon) && 20 <= agent_status(&daemon)["done"].as_u64().unwrap()) {
            assert!(Instant::now() < end, "it never recovers: {}", agent_status(&daemon));
            thread::sleep(Duration::from_millis(100));
        }
    }
}

#[test]
fn a_limit_stops_the_daemons_calls_until_it_is_raised() {
    let project = daemon_project(ModelServer::with_responses([ok_response()]));
    write_modules(&project, 10);
    write_agent_settings(&project, &format!("{EAGER}\ncalls_per_day = 4"));
    let daemon = TestDaemon::start(&project.sandbox);
    let reason = wait_for_reason(&daemon, "stopped");
    assert!(reason.contains("4 of 4 calls"), "{reason}");
    assert_eq!(project.server.request_count(), 4);
    write_agent_settings(&project, &format!("{EAGER}\ncalls_per_day = 100"));
    wait_until("it continues", || expected_calls(10) <= project.server.request_count() && is_idle(&daemon));
    assert_eq!(project.server.request_count(), expected_calls(10));
}

#[test]
fn a_daemon_without_tasks_sleeps() {
    let project = daemon_project(ModelServer::with_responses([ok_response()]));
    write_modules(&project, 2);
    let daemon = TestDaemon::start(&project.sandbox);
    wait_until("all requests are sent", || 3 <= project.server.request_count() && is_idle(&daemon));
    // Idle connections have been closed, and the empty rounds are over.
    thread::sleep(Duration::from_secs(2));
    let (connections, wakes) = (project.server.connections(), wake_count(&daemon));
    thread::sleep(Duration::from_secs(3));
    let woken = self::wake_count(&daemon) - wakes;
    assert!(woken <= 4, "{woken} times in three seconds");
    assert_eq!(project.server.connections(), connections);
}

/// Returns how often the calling threads were woken.
fn wake_count(daemon: &TestDaemon<'_>) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{}/task", daemon.child.id())).unwrap();
    let mut wakes = 0;
    for task in tasks.flatten() {
        let read = |name| fs::read_to_string(task.path().join(name)).unwrap_or_default();
        let name = read("comm");
        if !["scribe", "agent", "tokio", "web"].iter().any(|word| name.contains(word)) {
            continue;
        }
        let status = read("status");
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        wakes += line.and_then(|line| line.trim().parse::<u64>().ok()).unwrap_or(0);
    }
    wakes
}

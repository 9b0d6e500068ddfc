//! Batches: submitted once, found again after any failure, at half the price.

use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use super::server::{ModelServer, ReceivedRequest, ServerAction};
use super::{AgentProject, module_source, usd_nanos, wait_until};
use crate::sandbox::CommandOutput;

const WORDS: &str = "<brief>Counts what it is given.</brief><detail>It adds up.</detail>";
/// Half of 100 input tokens at $1 and 20 output tokens at $10 per million.
const HALF_COST: u64 = 100 * 500 + 20 * 5_000;

/// A provider's state of its batches.
#[derive(Default)]
struct BatchServer {
    /// The identifiers of the requests, once submitted.
    names: Vec<String>,
    /// The batch's tag.
    tag: Value,
    /// Whether a batch exists.
    is_there: bool,
    /// Whether it is finished.
    is_done: bool,
    /// Whether the response to its creation gets lost.
    is_mute: bool,
}

fn now() -> jiff::Timestamp {
    jiff::Timestamp::try_from(SystemTime::now()).unwrap()
}

impl BatchServer {
    fn respond_created(&mut self, state: &Value) -> ServerAction {
        self.is_there = true;
        if self.is_mute { ServerAction::Silence } else { ServerAction::json(200, state) }
    }

    fn anthropic(&mut self, seen: &ReceivedRequest) -> ServerAction {
        let status = if self.is_done { "ended" } else { "in_progress" };
        let state = json!({
            "id": "batch_1", "type": "message_batch", "processing_status": status, "created_at": now().to_string(),
            "request_counts": {"processing": self.names.len(), "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0},
        });
        match (seen.method.as_str(), seen.path.as_str()) {
            ("POST", "/v1/messages/batches") => {
                let body = seen.json();
                let requests = body["requests"].as_array().unwrap();
                self.names =
                    requests.iter().map(|one| one["custom_id"].as_str().unwrap().to_owned()).collect();
                let state = json!({"id": "batch_1", "type": "message_batch", "processing_status": "in_progress",
                    "created_at": now().to_string(), "request_counts": {"processing": self.names.len(),
                    "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}});
                self.respond_created(&state)
            }
            ("GET", "/v1/messages/batches/batch_1") => ServerAction::json(200, &state),
            ("GET", "/v1/messages/batches/batch_1/results") => {
                let message = ServerAction::anthropic(WORDS, 100, 20);
                let ServerAction::Answer(_, _, message) = message else { unreachable!() };
                let message: Value = serde_json::from_slice(&message).unwrap();
                self.lines(
                    |name| json!({"custom_id": name, "result": {"type": "succeeded", "message": message}}),
                )
            }
            ("GET", _) => {
                let all = if self.is_there { vec![state] } else { Vec::new() };
                ServerAction::json(200, &json!({"data": all, "has_more": false}))
            }
            _ => ServerAction::HangUp,
        }
    }

    fn openai(&mut self, seen: &ReceivedRequest) -> ServerAction {
        let (status, output) =
            if self.is_done { ("completed", json!("file_2")) } else { ("in_progress", Value::Null) };
        let state = json!({
            "id": "batch_1", "object": "batch", "status": status, "created_at": now().as_second(),
            "output_file_id": output, "metadata": self.tag,
            "request_counts": {"total": self.names.len(), "completed": 0, "failed": 0},
        });
        match (seen.method.as_str(), seen.path.as_str()) {
            ("POST", "/v1/files") => {
                let body = String::from_utf8_lossy(&seen.body).into_owned();
                let lines = body.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
                self.names = lines.filter_map(|line| line["custom_id"].as_str().map(str::to_owned)).collect();
                ServerAction::json(200, &json!({"id": "file_1", "object": "file"}))
            }
            ("POST", "/v1/batches") => {
                self.tag = seen.json()["metadata"].clone();
                self.respond_created(&state)
            }
            ("GET", "/v1/batches/batch_1") => ServerAction::json(200, &state),
            ("GET", "/v1/files/file_2/content") => {
                let body = json!({
                    "id": "r", "object": "response", "status": "completed",
                    "output": [{"type": "message", "content": [{"type": "output_text", "text": WORDS}]}],
                    "usage": {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120},
                });
                let response = json!({"status_code": 200, "request_id": "q", "body": body});
                self.lines(|name| json!({"id": "x", "custom_id": name, "response": response, "error": null}))
            }
            ("GET", _) => {
                let all = if self.is_there { vec![state] } else { Vec::new() };
                ServerAction::json(200, &json!({"object": "list", "data": all, "has_more": false}))
            }
            _ => ServerAction::HangUp,
        }
    }

    fn lines(&self, line: impl Fn(&str) -> Value) -> ServerAction {
        let lines: Vec<String> = self.names.iter().map(|name| line(name).to_string()).collect();
        ServerAction::Answer(200, Vec::new(), lines.join("\n").into_bytes())
    }
}

/// Returns a project of four files and its provider's state.
fn batch_project(wire: &'static str) -> (AgentProject, Arc<Mutex<BatchServer>>) {
    let post = Arc::new(Mutex::new(BatchServer::default()));
    let theirs = Arc::clone(&post);
    let project = AgentProject::new(ModelServer::start(move |seen, _| {
        let mut post = theirs.lock().unwrap();
        if wire == "anthropic" { post.anthropic(seen) } else { post.openai(seen) }
    }));
    for name in ["one", "two", "three", "four"] {
        project.sandbox.write(format!("{name}.py"), module_source(name));
    }
    project.write_wire_settings(wire, "", "");
    (project, post)
}

/// Returns how often a batch was created.
fn respond_created(project: &AgentProject) -> usize {
    project
        .server
        .requests()
        .iter()
        .filter(|seen| seen.method == "POST" && seen.path.ends_with("/batches"))
        .count()
}

fn batch(project: &AgentProject) -> Value {
    project.json(&["summarize", "--batch", "--yes"])
}

#[test]
fn a_batch_costs_half() {
    for wire in ["anthropic", "responses"] {
        let (project, post) = batch_project(wire);
        assert_eq!(batch(&project)["outcome"]["handed_over"], 4, "{wire}");
        let (_, put_aside) = project.usage();
        assert!(4 * HALF_COST < put_aside);
        assert_eq!(batch(&project)["collected"]["waiting"], 4, "{wire}");
        post.lock().unwrap().is_done = true;
        assert_eq!(batch(&project)["collected"]["answered"], 4, "{wire}");
        let shown = project.json(&["agent", "show", "one.py", "--tier", "1"]);
        assert_eq!(shown["summaries"][0]["text"], "Counts what it is given.");
        let of_files: u64 = 4 * HALF_COST;
        let (calls, spent) = project.usage();
        assert!(
            4 <= calls && of_files <= spent && spent <= of_files + put_aside / 3,
            "{wire} {calls} {spent}"
        );
    }
}

#[test]
fn a_batch_of_a_killed_process_is_found_and_not_submitted_again() {
    for wire in ["anthropic", "responses"] {
        let (project, post) = batch_project(wire);
        post.lock().unwrap().is_mute = true;
        let mut command = project.command(&["summarize", "--batch", "--yes"]);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_until("a batch is created", || respond_created(&project) == 1);
        child.kill().unwrap();
        child.wait().unwrap();
        post.lock().unwrap().is_mute = false;
        let (calls, put_aside) = project.usage();
        assert!(calls == 4 && 4 * HALF_COST < put_aside, "{wire}: the whole cost is reserved");
        // The client does not know whether the batch was created, but it was.
        batch(&project);
        assert_eq!(respond_created(&project), 1, "{wire}");
        post.lock().unwrap().is_done = true;
        let collected = batch(&project)["collected"].clone();
        assert_eq!(collected["answered"], 4, "{wire} {collected}");
        let asked = project
            .server
            .requests()
            .into_iter()
            .filter(|seen| seen.text().contains("def count_one"))
            .count();
        assert_eq!(asked, 1, "{wire}");
    }
}

#[test]
fn a_batch_over_the_limit_is_not_sent() {
    let (project, _) = batch_project("anthropic");
    project.write_agent_settings("budget_day_usd = \"0.001\"", "");
    let ran: CommandOutput = project.slop(&["summarize", "--batch", "--yes"]);
    assert_eq!((ran.code, project.server.request_count()), (1, 0), "{ran:?}");
    assert!(ran.err.contains("agent.budget_day_usd"), "{}", ran.err);
    project.write_wire_settings("gemini", "", "");
    let ran = project.slop(&["summarize", "--batch", "--yes"]);
    assert_eq!((ran.code, project.server.request_count()), (1, 0), "{ran:?}");
    assert!(ran.err.contains("summarize without a batch"), "{}", ran.err);
}

#[test]
fn a_run_without_new_requests_fetches_finished_batches() {
    let (project, post) = batch_project("anthropic");
    batch(&project);
    post.lock().unwrap().is_done = true;
    // The folder is left to summarize; this test's server only supports batches.
    let ran = project.slop(&["summarize", "one.py", "two.py", "three.py", "four.py", "--yes"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("fetched    4 answered, 0 refused, 0 pending"), "{}", ran.out);
    let shown = project.json(&["agent", "show", "one.py", "--tier", "1"]);
    assert_eq!(shown["summaries"][0]["text"], "Counts what it is given.");
}

#[test]
fn requests_in_a_pending_batch_are_not_new() {
    let (project, _) = batch_project("anthropic");
    let one_by_one = project.json(&["summarize", "--estimate"]);
    let at_once = project.json(&["summarize", "--estimate", "--batch"]);
    assert_eq!((&one_by_one["questions"], &at_once["questions"]), (&json!(4), &json!(4)));
    let worst = |plan: &Value| usd_nanos(&plan["estimate"]["worst_usd"]);
    assert!(worst(&at_once).abs_diff(worst(&one_by_one) / 2) < 100, "{at_once}");
    assert_eq!(project.server.request_count(), 0);
    batch(&project);
    let plan = project.slop(&["summarize", "--estimate"]);
    assert!(plan.out.starts_with("questions  0 (") && plan.out.contains("4 in a batch"), "{}", plan.out);
    // Nothing is sent, so no confirmation is needed.
    let again = project.slop(&["summarize", "--batch"]);
    assert_eq!(again.code, 0, "{again:?}");
    assert!(again.out.contains("nothing new to submit, 4 questions are in a batch"), "{}", again.out);
    assert!(!again.out.contains("handed over"), "{}", again.out);
    let asked = project.slop(&["summarize"]);
    assert!(asked.out.contains("4 in a batch") && !asked.out.contains("another process"), "{}", asked.out);
    assert_eq!(respond_created(&project), 1);
}

#[test]
fn a_document_does_not_wait_for_a_batch() {
    let (project, _) = batch_project("anthropic");
    batch(&project);
    let began = Instant::now();
    let ran = project.slop(&["aggregate", "--stdout", "--wait-agent", "60"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
}

//! `slop summarize`: which models are used, what is sent and stored, and when nothing is sent at all.

use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::KEY;
use super::project::{choose_model, run_with_key, with_key};
use super::server::{ModelServer, ServerAction};
use crate::samples::two_modules;
use crate::sandbox::{Sandbox, data, number, text};

fn answering_server() -> ModelServer {
    ModelServer::start(|_, number| {
        ServerAction::both(&format!("Brief words {number}."), "Some detail of it.")
    })
}

#[track_caller]
fn outcome(sandbox: &Sandbox, arguments: &[&str]) -> (i32, Value) {
    let ran = run_with_key(sandbox, &[&["summarize", "--yes", "--json"], arguments].concat());
    (ran.code, data(&ran.out)["outcome"].take())
}

#[test]
fn files_are_summarized_before_their_folders() {
    let (server, sandbox) = (answering_server(), two_modules());
    choose_model(&sandbox, &server, "");
    let (code, outcome) = outcome(&sandbox, &[]);
    assert_eq!((code, number(&outcome["answered"])), (0, 3), "{outcome}");
    let seen = server.requests();
    assert_eq!(seen.len(), 3);
    for (at, request) in seen.iter().enumerate() {
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/messages"));
        assert_eq!(request.header("x-api-key"), Some(KEY));
        let text = request.text();
        assert!(!text.contains("one.py") && !text.contains("src/"), "a name is sent: {text}");
        assert_eq!(text.contains("Brief words"), at == 2, "{text}");
        assert_eq!(text.matches(KEY).count(), 1, "{text}");
    }
    assert!(seen[0].json()["system"].to_string().len() > 100);
    assert_eq!(seen[0].json()["system"], seen[1].json()["system"]);
}

#[test]
fn answered_requests_are_not_sent_again() {
    let (server, sandbox) = (answering_server(), two_modules());
    choose_model(&sandbox, &server, "");
    run_with_key(&sandbox, &["summarize", "--yes"]);
    let asked = server.request_count();
    sandbox.git(&["mv", "src/one.py", "src/other.py"]);
    let ran = run_with_key(&sandbox, &["summarize", "--yes"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "0 answered; 0 calls, $0.0000\n"));
    assert_eq!(server.request_count(), asked);
    sandbox.write("src/two.py", crate::samples::module_text("Three"));
    run_with_key(&sandbox, &["summarize", "--yes"]);
    assert_eq!(server.request_count(), asked + 2);
}

#[test]
fn without_a_user_configured_model_nothing_is_sent() {
    let (server, sandbox) = (answering_server(), two_modules());
    let waiting = &["aggregate", "--tier", "1", "--wait-agent", "5"];
    for command in [&["summarize", "--yes"][..], &["summarize", "--estimate"], waiting] {
        run_with_key(&sandbox, command).assert_fails(1, &["error: no language model is configured", "agent"]);
    }
    sandbox.write(
        "slop.toml",
        format!(
            "[agent]\nmodels = ['anthropic/claude-haiku-4-5']\nbackground = true\n\
             [providers.anthropic]\nbase_url = '{}'\n",
            server.url()
        ),
    );
    let ran = run_with_key(&sandbox, &["summarize", "--yes"]);
    ran.assert_fails(
        1,
        &["slop.toml:2: `agent.models` has no effect", "slop.toml:4: `providers.anthropic` has no effect"],
    );
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_project_cannot_override_the_users_choice() {
    let (mine, theirs, sandbox) = (answering_server(), answering_server(), two_modules());
    choose_model(&sandbox, &mine, "");
    sandbox.write(
        "slop.toml",
        format!("[providers.anthropic]\nbase_url = '{}'\n[agent]\nproxy = '{0}'\n", theirs.url()),
    );
    run_with_key(&sandbox, &["summarize", "--yes"]);
    assert_eq!((mine.request_count(), theirs.connections()), (3, 0));
}

#[test]
fn nothing_is_sent_without_confirmation() {
    let (server, sandbox) = (answering_server(), two_modules());
    choose_model(&sandbox, &server, "");
    run_with_key(&sandbox, &["summarize"]).assert_fails(1, &["--estimate", "--yes"]);
    assert_eq!(server.connections(), 0);
}

#[test]
fn an_estimate_shows_what_would_be_sent_and_sends_nothing() {
    let (server, sandbox) = (answering_server(), two_modules());
    choose_model(&sandbox, &server, "");
    let out = sandbox.stdout_of(&["summarize", "--estimate"]);
    let host = server.url().replace("http://", "");
    for words in
        ["questions  2 (1 folder after them)", &format!("anthropic/claude-haiku-4-5 at {host}"), "at most $"]
    {
        assert!(out.contains(words), "no `{words}` in {out}");
    }
    let estimate = sandbox.json(&["summarize", "--estimate"]);
    assert_eq!(number(&estimate["questions"]), 2);
    assert_eq!(estimate["asks"][0]["host"], json!(host));
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_missing_key_is_reported_with_its_variable() {
    let (server, sandbox) = (answering_server(), two_modules());
    choose_model(&sandbox, &server, "");
    sandbox.slop(&["summarize", "--yes"]).assert_fails(1, &["no key for `anthropic`", "ANTHROPIC_API_KEY"]);
    assert_eq!(server.connections(), 0);
}

#[test]
fn an_unknown_price_is_reported_before_anything_is_sent() {
    let (server, sandbox) = (answering_server(), two_modules());
    let text = format!(
        "[agent]\nmodels = ['anthropic/unheard-of']\n[providers.anthropic]\nbase_url = '{}'\n",
        server.url()
    );
    sandbox.write_user_settings(&text);
    run_with_key(&sandbox, &["summarize", "--yes"])
        .assert_fails(1, &["price of `anthropic/unheard-of` is unknown", "prices.\"anthropic/unheard-of\""]);
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_limit_ends_the_run_and_names_its_setting() {
    let (server, sandbox) = (answering_server(), two_modules());
    choose_model(&sandbox, &server, "calls_per_day = 1\nconcurrency = 1");
    let ran = run_with_key(&sandbox, &["summarize", "--yes"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.starts_with("1 answered"), "{ran:?}");
    assert!(ran.err.contains("agent.calls_per_day"), "{ran:?}");
    assert_eq!(server.request_count(), 1);
    choose_model(&sandbox, &server, "budget_day_usd = '0.000001'");
    let ran = run_with_key(&sandbox, &["summarize", "--yes"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("agent.budget_day_usd"), "{ran:?}");
    assert_eq!(server.request_count(), 1);
}

#[test]
fn a_rejected_key_is_the_users_error() {
    let body =
        json!({"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}});
    let server = ModelServer::start(move |_, _| ServerAction::json(401, &body));
    let sandbox = two_modules();
    choose_model(&sandbox, &server, "concurrency = 1");
    let ran = run_with_key(&sandbox, &["summarize", "--yes"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("does not accept the key"), "{ran:?}");
    assert_eq!(server.request_count(), 1);
}

#[test]
fn an_unreachable_server_is_an_environment_error() {
    let sandbox = two_modules();
    let server = answering_server();
    choose_model(&sandbox, &server, "");
    let gone = server.url();
    drop(server);
    // Whether the port is free by now does not matter: nothing listens there.
    let ran = run_with_key(&sandbox, &["summarize", "--yes", "--json"]);
    assert_eq!(ran.code, 3, "{gone}: {ran:?}");
    assert!(ran.err.contains("anthropic: no connection to"), "{ran:?}");
    assert_eq!(number(&data(&ran.out)["outcome"]["answered"]), 0);
}

#[test]
fn a_file_with_a_secret_stays_on_the_machine_and_is_reported() {
    let (server, sandbox) = (answering_server(), two_modules());
    let secret = format!("AKIA{}", "IOSFODNN7QRSTUVW");
    sandbox.write("src/one.py", format!("{}\nkey = \"{secret}\"\n", crate::samples::module_text("One")));
    choose_model(&sandbox, &server, "");
    let (code, outcome) = outcome(&sandbox, &[]);
    assert_eq!(code, 4, "{outcome}");
    assert_eq!(outcome["withheld"][0]["place"], "src/one.py");
    assert!(server.requests().iter().all(|request| !request.text().contains(&secret)));
    let ran = run_with_key(&sandbox, &["agent", "preview", "src/one.py"]);
    ran.assert_fails(1, &["looks like a secret", "; line "]);
    assert!(!ran.err.contains(&secret), "{ran:?}");
}

#[test]
fn an_interrupt_ends_a_run_within_a_second() {
    let server =
        ModelServer::start(
            |_, number| if number == 0 { ServerAction::both("A.", "B.") } else { ServerAction::Silence },
        );
    let sandbox = two_modules();
    choose_model(&sandbox, &server, "concurrency = 1");
    let mut command = with_key(&sandbox, &["summarize", "--yes"]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while server.request_count() < 2 {
        assert!(Instant::now() < deadline, "the second request is never sent");
        std::thread::sleep(Duration::from_millis(10));
    }
    let pid = rustix::process::Pid::from_child(&child);
    let asked = Instant::now();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let status = child.wait().unwrap();
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(status.code(), Some(4), "{out}");
    assert!(out.starts_with("1 answered"), "{out}");
}

#[test]
fn a_document_can_wait_for_missing_summaries() {
    let (server, sandbox) = (answering_server(), two_modules());
    choose_model(&sandbox, &server, "");
    let ran =
        run_with_key(&sandbox, &["aggregate", "--tier", "1", "--stdout", "--wait-agent", "60", "src/one.py"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(server.request_count(), 1);
    assert!(ran.out.contains("Brief words 0."), "{}", ran.out);
    run_with_key(&sandbox, &["aggregate", "--tier", "1", "--stdout", "src"]);
    assert_eq!(server.request_count(), 1, "a document that does not wait sends no request");
}

/// Simulates Anthropic's batch API: in progress at the first poll, finished at the next one, with all answers.
fn batch_server() -> ModelServer {
    let submitted = std::sync::Mutex::new(Vec::<Value>::new());
    let looks = std::sync::atomic::AtomicUsize::new(0);
    ModelServer::start(move |seen, _| {
        let state = |status: &str| {
            json!({
                "id": "batch_1", "type": "message_batch", "processing_status": status,
                "created_at": "2026-11-21T10:00:00Z", "results_url": null,
                "request_counts": {"processing": 0, "succeeded": 2, "errored": 0, "canceled": 0, "expired": 0},
            })
        };
        let mut submitted = submitted.lock().unwrap();
        if seen.method == "POST" {
            submitted.clone_from(seen.json()["requests"].as_array().unwrap());
            return ServerAction::json(200, &state("in_progress"));
        }
        if !seen.path.contains("results") {
            let look = looks.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            return ServerAction::json(200, &state(if look == 0 { "in_progress" } else { "ended" }));
        }
        let line = |request: &Value| {
            let words = "<brief>Brief words.</brief><detail>Some detail.</detail>";
            json!({"custom_id": request["custom_id"], "result": {"type": "succeeded", "message": {
                "id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
                "content": [{"type": "text", "text": words}], "usage": {"input_tokens": 100, "output_tokens": 20},
            }}})
            .to_string()
        };
        ServerAction::Answer(
            200,
            Vec::new(),
            submitted.iter().map(line).collect::<Vec<_>>().join("\n").into_bytes(),
        )
    })
}

#[test]
fn a_batch_is_submitted_once_and_fetched_by_the_same_command() {
    let (server, sandbox) = (batch_server(), two_modules());
    choose_model(&sandbox, &server, "");
    let run = || {
        let ran = run_with_key(&sandbox, &["summarize", "--batch", "--yes", "--json"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        data(&ran.out)
    };
    let first = run();
    assert_eq!(number(&first["outcome"]["handed_over"]), 2, "{first}");
    let posts = || server.requests().iter().filter(|request| request.method == "POST").count();
    assert_eq!(posts(), 1);
    let open = sandbox.json(&["agent", "usage"]);
    assert_ne!(open["open_usd"], "0", "the maximum cost of the batch is reserved");
    let second = run();
    assert_eq!((number(&second["collected"]["waiting"]), posts()), (2, 1), "{second}");
    let third = run();
    assert_eq!(number(&third["collected"]["answered"]), 2, "{third}");
    // Half of 200 tokens at $1 and 40 at $5 per million.
    assert_eq!(third["collected"]["spent_usd"], "0.0002", "{third}");
    let shown = sandbox.stdout_of(&["agent", "show", "src/one.py"]);
    assert!(shown.contains("Brief words."), "{shown}");
}

#[test]
fn retries_wait_as_long_as_the_server_asks() {
    let body = json!({"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}});
    let busy = ServerAction::json(429, &body).with("retry-after", "1");
    let server = ModelServer::with_responses([busy, ServerAction::both("Brief.", "Detail.")]);
    let sandbox = two_modules();
    choose_model(&sandbox, &server, "");
    let (code, outcome) = outcome(&sandbox, &["src/one.py"]);
    assert_eq!((code, number(&outcome["answered"])), (0, 1), "{outcome}");
    let [first, second] = &server.requests()[..] else { panic!("{}", server.request_count()) };
    assert!(Duration::from_secs(1) <= second.at - first.at);
    assert_eq!(first.body, second.body);
}

#[test]
fn a_broken_response_is_charged_at_its_maximum_and_retried() {
    let server = ModelServer::with_responses([
        ServerAction::HangUp,
        ServerAction::Raw(b"no HTTP at all".to_vec()),
        ServerAction::both("Brief.", "Detail."),
    ]);
    let sandbox = two_modules();
    choose_model(&sandbox, &server, "");
    let (code, outcome) = outcome(&sandbox, &["src/one.py"]);
    assert_eq!((code, number(&outcome["answered"])), (0, 1), "{outcome}");
    assert_eq!((number(&outcome["calls"]), server.request_count()), (3, 3), "{outcome}");
    let usage = sandbox.json(&["agent", "usage"]);
    let answered_alone = 0.0002;
    assert!(answered_alone < text(&usage["total_usd"]).parse::<f64>().unwrap(), "{usage}");
}

#[test]
fn a_custom_provider_gets_as_many_concurrent_calls_as_allowed() {
    let words = "<brief>Brief.</brief><detail>Detail.</detail>";
    let server = ModelServer::start(move |_, _| {
        ServerAction::Late(Duration::from_millis(50), Box::new(ServerAction::chat(words, 9, 9)))
    });
    let sandbox = two_modules();
    for name in ["Three", "Four", "Five"] {
        sandbox.write(format!("{name}.py"), crate::samples::module_text(name));
    }
    let user = format!(
        "[agent]\nmodels = ['work/m']\nstill_seconds = 0\nconcurrency = 2\n[providers.work]\nwire = 'chat'\n\
         base_url = '{}/v1'\nfree = true\n",
        server.url()
    );
    sandbox.write_user_settings(&user);
    let (code, outcome) = outcome(&sandbox, &[]);
    assert_eq!(
        (code, number(&outcome["answered"]), outcome["spent_usd"].as_str()),
        (0, 7, Some("0")),
        "{outcome}"
    );
    assert!(server.requests().iter().all(|request| request.path == "/v1/chat/completions"));
    assert!(
        server.requests().iter().all(|request| !request.text().contains(KEY)),
        "a key is sent to the wrong server"
    );
    assert!(server.max_concurrent() <= 2, "{}", server.max_concurrent());
}

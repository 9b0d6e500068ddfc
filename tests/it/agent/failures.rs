//! Servers that fail: which errors are retried, how long slop waits, and what a broken response costs.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::json;

use super::server::{ModelServer, ServerAction};
use super::{AgentProject, error_response, module_source, ok_response, run};

fn rate_limited(wait: &str) -> ServerAction {
    error_response(429, "rate_limit_error", "Too many requests.").with("retry-after", wait)
}

/// Returns the time between the first two requests.
fn delay_between_calls(project: &AgentProject) -> Duration {
    let seen = project.server.requests();
    assert_eq!(seen.len(), 2);
    seen[1].at - seen[0].at
}

#[test]
fn retry_after_in_seconds_is_respected() {
    let project = AgentProject::with_file([rate_limited("1"), ok_response()]);
    assert_eq!(project.summarize_json()["outcome"]["answered"], 1);
    assert!(Duration::from_secs(1) <= delay_between_calls(&project));
}

#[test]
fn retry_after_as_a_date_is_respected() {
    let soon = jiff::Timestamp::try_from(SystemTime::now() + Duration::from_secs(3)).unwrap();
    let date = soon.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let project = AgentProject::with_file([rate_limited(&date), ok_response()]);
    assert_eq!(project.summarize_json()["outcome"]["answered"], 1);
    assert!(Duration::from_secs(1) <= delay_between_calls(&project));
}

#[test]
fn an_invalid_retry_after_is_ignored() {
    thread::scope(|scope| {
        for nonsense in ["-5", "soon", "NaN", "1e999", ""] {
            scope.spawn(move || {
                let project = AgentProject::with_file([rate_limited(nonsense), ok_response()]);
                assert_eq!(project.summarize_json()["outcome"]["answered"], 1, "{nonsense}");
                assert!(delay_between_calls(&project) < Duration::from_secs(10), "{nonsense}");
            });
        }
    });
}

#[test]
fn a_retry_after_of_a_day_ends_the_run() {
    let project = AgentProject::with_file([rate_limited("86400")]);
    let ran = project.summarize();
    assert_eq!((ran.code, project.server.request_count()), (3, 1), "{ran:?}");
    assert!(ran.err.contains("HTTP 429: rate_limit_error: Too many requests."), "{}", ran.err);
    assert!(ran.err.contains("run this again later"), "{}", ran.err);
}

#[test]
fn a_failing_server_gets_at_most_four_attempts() {
    thread::scope(|scope| {
        for status in [500, 502, 503, 529] {
            scope.spawn(move || {
                let project =
                    AgentProject::with_file([error_response(status, "api_error", "We are in trouble.")]);
                let ran = project.summarize();
                assert_eq!((ran.code, project.server.request_count()), (3, 4), "{status} {ran:?}");
                assert!(ran.err.contains("We are in trouble."), "{status} {}", ran.err);
                assert_eq!(project.usage(), (4, 0), "errors cost nothing");
            });
        }
    });
}

#[test]
fn a_server_that_forbids_retries_gets_none() {
    let project =
        AgentProject::with_file([error_response(500, "api_error", "No.").with("x-should-retry", "false")]);
    assert_ne!(project.summarize().code, 0);
    assert_eq!(project.server.request_count(), 1);
}

#[test]
fn a_transient_failure_is_not_reported() {
    let trouble = error_response(529, "overloaded_error", "Overloaded");
    let project = AgentProject::with_file([trouble.clone(), trouble, ok_response()]);
    assert_eq!(project.summarize_json()["outcome"]["answered"], 1);
    assert_eq!(project.server.request_count(), 3);
}

#[test]
fn a_payment_or_key_error_is_not_retried_and_is_reported() {
    let quota = json!({"error": {"message": "You exceeded it.", "type": "insufficient_quota", "code": "insufficient_quota"}});
    let acts = [
        (error_response(401, "authentication_error", "invalid x-api-key"), "does not accept the key"),
        (error_response(403, "permission_error", "not for you"), "does not accept the key"),
        (error_response(402, "billing_error", "pay first"), "requires payment"),
        (ServerAction::json(429, &quota), "requires payment"),
        (
            error_response(400, "invalid_request_error", "Your credit balance is too low to access the API."),
            "requires payment",
        ),
    ];
    thread::scope(|scope| {
        for (act, why) in acts {
            scope.spawn(move || {
                let project = AgentProject::with_file([act.with("retry-after", "0")]);
                // Four files, each of which would be sent.
                for name in ["two", "three", "four"] {
                    project.sandbox.write(format!("{name}.py"), module_source(name));
                }
                project.write_agent_settings("concurrency = 1", "");
                let ran = project.summarize();
                assert_eq!((ran.code, project.server.request_count()), (1, 1), "{why} {ran:?}");
                assert!(ran.err.contains(why) && ran.err.contains("look after the account"), "{}", ran.err);
                assert_eq!(project.usage(), (1, 0));
            });
        }
    });
}

#[test]
fn a_refused_request_is_not_retried_in_the_next_run() {
    for (status, kind) in [(400, "invalid_request_error"), (404, "not_found_error")] {
        let project = AgentProject::with_file([error_response(status, kind, "No such thing.")]);
        let ran = project.summarize();
        assert_eq!((ran.code, project.server.request_count()), (4, 1), "{ran:?}");
        assert!(
            ran.err.contains("no summary of one.py") && ran.err.contains("No such thing."),
            "{}",
            ran.err
        );
        project.summarize();
        assert_eq!(project.server.request_count(), 1, "it was refused the same day");
        project.slop(&["summarize", "--yes", "--retry"]);
        assert_eq!(project.server.request_count(), 2, "the user requested a retry");
    }
}

#[test]
fn a_request_that_is_too_long_is_retried_with_half_the_text() {
    let project = AgentProject::new(ModelServer::with_responses([error_response(
        413, "request_too_large", "Too large.",
    )]));
    let long: String = (0..200).map(|number| module_source(&format!("n{number}"))).collect();
    project.sandbox.write("long.py", long);
    assert_eq!(project.summarize().code, 4);
    let lengths: Vec<usize> = project.server.requests().iter().map(|seen| seen.body.len()).collect();
    assert_eq!(lengths.len(), 2, "{lengths:?}");
    assert!(lengths[1] < lengths[0] * 3 / 4, "{lengths:?}");
}

#[test]
fn the_next_model_answers_if_one_does_not() {
    let server = ModelServer::start(|seen, _| match seen.json()["model"].as_str() {
        Some("small") => error_response(400, "invalid_request_error", "Not with me."),
        _ => ok_response(),
    });
    let project = AgentProject::new(server);
    project.sandbox.write("one.py", module_source("one"));
    let prices = "[prices.\"mock/small\"]\ninput = \"0.10\"\noutput = \"0.20\"\n";
    project.write_agent_settings("", prices);
    let text = std::fs::read_to_string(project.sandbox.outside("config/slop/config.toml")).unwrap();
    project.write_settings(&text.replace("models = [\"mock/m\"]", "models = [\"mock/small\", \"mock/m\"]"));
    assert_eq!(project.summarize_json()["outcome"]["answered"], 1);
    let asked: Vec<String> = project
        .server
        .requests()
        .iter()
        .map(|seen| seen.json()["model"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(asked, ["small", "m"]);
    let shown = project.json(&["agent", "show", "one.py"]);
    assert_eq!(shown["summaries"][0]["model"], "mock/m");
    assert_eq!(project.summarize_json()["questions"], 0, "a summary by either model exists");
}

#[test]
fn a_model_that_declines_or_answers_nonsense_is_not_retried_forever() {
    let declined = ServerAction::json(
        200,
        &json!({"type": "message", "content": [], "stop_reason": "refusal", "usage": {"input_tokens": 9, "output_tokens": 1}}),
    );
    let cases = [
        (declined, 1),
        (ServerAction::anthropic("", 9, 1), 2),
        (ServerAction::anthropic("No tags at all.", 9, 1), 2),
    ];
    for (act, requests) in cases {
        let project = AgentProject::with_file([act]);
        let ran = project.summarize();
        assert_eq!((ran.code, project.server.request_count()), (4, requests), "{ran:?}");
        // 9 input tokens at $1 and 1 output token at $10 per million.
        assert_eq!(project.usage(), (requests as u64, requests as u64 * 19_000));
        project.summarize();
        assert_eq!(project.server.request_count(), requests);
    }
}

#[test]
fn a_missing_program_is_an_error_in_the_settings() {
    let project = AgentProject::with_file([]);
    for command in ["[\"/no/such/program\"]", "[\"/\"]"] {
        project.write_settings(&format!(
            "[agent]\nmodels = [\"command/m\"]\nstill_seconds = 0\nleast_bytes = 0\n\
             [providers.command]\ncommand = {command}\n"
        ));
        let ran = project.summarize();
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.err.contains("command cannot be called with these settings: /"), "{ran:?}");
        assert!(ran.err.contains("change your own settings file"), "{ran:?}");
    }
    assert_eq!(project.server.connections(), 0);
}

#[test]
fn a_wrong_address_records_no_refusals() {
    let html = || ServerAction::json(404, &json!("no such page"));
    let project = AgentProject::new(ModelServer::with_responses([html(), html(), html(), ok_response()]));
    for number in 0..8 {
        project.sandbox.write(format!("f{number}.py"), module_source(&format!("f{number}")));
    }
    project.write_agent_settings("concurrency = 1", "");
    let ran = project.summarize();
    assert_eq!((ran.code, project.server.request_count()), (1, 3), "{ran:?}");
    assert!(ran.err.contains("no such page") && ran.err.contains("base_url"), "{}", ran.err);
    let ran = project.summarize();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(3 + 8 <= project.server.request_count(), "every file is sent");
}

#[test]
fn without_certificates_nothing_is_sent_and_nothing_waits() {
    let project = AgentProject::with_file([ok_response()]);
    project.write_settings(
        "[agent]\nmodels = [\"far/m\"]\nstill_seconds = 0\n[providers.far]\nwire = \"chat\"\nfree = true\n\
         base_url = \"https://127.0.0.1:1/v1\"\n",
    );
    let mut command = project.command(&["summarize", "--yes"]);
    command.env("SSL_CERT_FILE", "/dev/null").env("SSL_CERT_DIR", "/nonexistent");
    let ran = run(command);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.err.contains("certificates") && ran.err.contains("SSL_CERT_FILE"), "{}", ran.err);
    assert_eq!(project.usage(), (0, 0));
}

#[test]
fn retry_covers_only_selected_files_after_confirmation() {
    let no = || error_response(400, "invalid_request_error", "No.");
    let project = AgentProject::with_file([no(), no(), ok_response()]);
    project.sandbox.write("two.py", module_source("two"));
    project.summarize();
    assert_eq!(project.server.request_count(), 3, "two files and the project");
    assert_eq!(project.slop(&["summarize", "--retry"]).code, 1, "there is no terminal for a confirmation");
    let plan = project.json(&["summarize", "--retry", "--estimate", "one.py"]);
    assert_eq!((&plan["questions"], &plan["refused_before"]), (&json!(1), &json!(0)));
    project.summarize();
    assert_eq!(project.server.request_count(), 3, "no refusal was deleted");
    project.slop(&["summarize", "--yes", "--retry", "one.py"]);
    assert_eq!(project.server.request_count(), 4);
    project.summarize();
    assert_eq!(project.server.request_count(), 4, "the other file is still refused");
}

#[test]
fn a_folder_is_summarized_once_its_last_file_is_withheld() {
    let project = AgentProject::with_file([ok_response()]);
    project.sandbox.write("two.py", module_source("two"));
    project.summarize();
    let before = project.server.request_count();
    let secret = format!("AKIA{}", "IOSFODNN7QRSTUVW");
    project.sandbox.write("keys.py", format!("{}KEY = \"{secret}\"\n", module_source("keys")));
    let ran = project.summarize();
    assert!(ran.err.contains("no summary of keys.py"), "{ran:?}");
    assert_eq!(project.server.request_count(), before + 1, "one request for the project, in the same run");
}

/// The timeout of a call.
const LIMIT: &str = "timeout_seconds = 5";

/// Checks that the first response is abandoned in time and that the next one is used.
fn assert_given_up(fault: ServerAction, longest: Duration) -> u64 {
    let project = AgentProject::with_file([fault, ok_response()]);
    project.write_agent_settings(LIMIT, "");
    let began = Instant::now();
    assert_eq!(project.summarize_json()["outcome"]["answered"], 1);
    assert!(began.elapsed() < longest, "{:?}", began.elapsed());
    assert_eq!(project.server.request_count(), 2);
    let (calls, spent) = project.usage();
    assert_eq!(calls, 2);
    spent
}

#[test]
fn an_endless_response_times_out() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n";
    let informing = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(40);
    let faults = [
        ("nothing", ServerAction::Silence),
        ("a byte now and then", ServerAction::Drip(head.to_vec(), b" ".to_vec(), Duration::from_millis(300))),
        (
            "half a head",
            ServerAction::Drip(
                b"HTTP/1.1 200 OK\r\n".to_vec(),
                b"x: y\r\n".to_vec(),
                Duration::from_millis(300),
            ),
        ),
        ("nothing but news", ServerAction::Drip(Vec::new(), informing, Duration::ZERO)),
    ];
    thread::scope(|scope| {
        for (what, fault) in faults {
            // Longer than the timeout and the pause before the next call by what a busy machine may need.
            let spent = scope.spawn(move || assert_given_up(fault, Duration::from_secs(30)));
            // It is unknown whether the call was billed, so it is charged at its maximum.
            scope.spawn(move || assert!(1_000_000 < spent.join().expect(what), "{what}"));
        }
    });
}

#[test]
fn an_oversized_response_is_not_read_completely() {
    let bomb = Command::new("sh").args(["-c", "head -c 256M /dev/zero | gzip -1"]).output().unwrap().stdout;
    assert!(100_000 < bomb.len() && bomb.len() < 2_000_000, "{}", bomb.len());
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n".to_vec();
    let faults = [
        ("two megabytes", ServerAction::json(200, &json!({"type": "message", "text": "x".repeat(2 << 20)}))),
        ("a bomb", ServerAction::Answer(200, vec![("content-encoding".to_owned(), "gzip".to_owned())], bomb)),
        ("without end", ServerAction::Drip(head, vec![b'x'; 64 << 10], Duration::ZERO)),
    ];
    thread::scope(|scope| {
        for (what, fault) in faults {
            scope.spawn(move || {
                assert_given_up(fault, Duration::from_secs(20));
                what
            });
        }
    });
}

#[test]
fn a_malformed_response_is_retried_once() {
    let whole = json!({"type": "message", "content": [{"type": "text", "text": "Half."}]}).to_string();
    let half = &whole[..whole.len() / 2];
    let length = whole.len();
    let faults = [
        ("hangs up", ServerAction::HangUp),
        ("a head alone", ServerAction::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n".to_vec())),
        ("no HTTP", ServerAction::Raw(b"SSH-2.0-OpenSSH_9.6\r\n".to_vec())),
        (
            "cut",
            ServerAction::Raw(
                format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{half}").into_bytes(),
            ),
        ),
        ("half of it", ServerAction::Answer(200, Vec::new(), half.as_bytes().to_vec())),
        ("a page", ServerAction::Answer(200, Vec::new(), b"<html><body>Log in</body></html>".to_vec())),
        ("nothing", ServerAction::Answer(200, Vec::new(), Vec::new())),
        ("another shape", ServerAction::json(200, &json!(["ok"]))),
        ("bytes", ServerAction::Answer(200, Vec::new(), vec![0xff, 0xfe, 0, 1])),
        (
            "false gzip",
            ServerAction::Answer(200, vec![("content-encoding".to_owned(), "gzip".to_owned())], vec![1; 99]),
        ),
    ];
    for (what, fault) in faults {
        let spent = assert_given_up(fault, Duration::from_secs(20));
        assert!(
            1_000_000 < spent,
            "{what}: it may have been billed, so it is charged at its maximum, not {spent}"
        );
    }
}

#[test]
fn an_unreachable_server_costs_nothing() {
    let project = AgentProject::with_file([ok_response()]);
    // A port on which nothing listens any more.
    let gone = ModelServer::with_responses([ok_response()]).url();
    project.write_agent_settings(
        "",
        &format!(
            "[providers.gone]\nwire = \"anthropic\"\nbase_url = \"{gone}\"\nfree = false\n\
                              [prices.\"gone/m\"]\ninput = \"1.00\"\noutput = \"1.00\"\n"
        ),
    );
    let file = project.sandbox.outside("config/slop/config.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    project.write_settings(&text.replace("\"mock/m\"]\nstill", "\"gone/m\"]\nstill"));
    let ran = project.summarize();
    assert_eq!((ran.code, project.server.connections()), (3, 0), "{ran:?}");
    assert_eq!(project.usage().1, 0);
}

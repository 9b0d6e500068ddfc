//! Refusals that no second try changes.

use std::thread;

use serde_json::json;

use super::AgentProject;
use super::error_response;
use super::module_source;
use super::ok_response;
use super::run;
use super::server::ModelServer;
use super::server::ServerAction;

#[test]
fn a_payment_or_key_error_is_not_retried_and_is_reported() {
    let quota = json!({"error": {"message": "You exceeded it.", "type": "insufficient_quota", "code": "insufficient_quota"}});
    let acts = [
        (error_response(401, "authentication_error", "invalid x-api-key"), "does not accept the key"),
        (error_response(403, "permission_error", "not for you"), "does not accept the key"),
        (error_response(402, "billing_error", "pay first"), "wants money"),
        (ServerAction::json(429, &quota), "wants money"),
        (
            error_response(400, "invalid_request_error", "Your credit balance is too low to access the API."),
            "wants money",
        ),
    ];
    thread::scope(|scope| {
        for (act, why) in acts {
            scope.spawn(move || {
                let desk = AgentProject::with_file([act.with("retry-after", "0")]);
                // Four threads, all of which would ask.
                for name in ["two", "three", "four"] {
                    desk.sandbox.write(format!("{name}.py"), module_source(name));
                }
                desk.write_agent_settings("concurrency = 1", "");
                let ran = desk.summarize();
                assert_eq!((ran.code, desk.server.request_count()), (1, 1), "{why} {ran:?}");
                assert!(ran.err.contains(why) && ran.err.contains("look after the account"), "{}", ran.err);
                assert_eq!(desk.usage(), (1, 0));
            });
        }
    });
}

#[test]
fn a_refused_request_is_not_retried_in_the_next_run() {
    for (status, kind) in [(400, "invalid_request_error"), (404, "not_found_error")] {
        let desk = AgentProject::with_file([error_response(status, kind, "No such thing.")]);
        let ran = desk.summarize();
        assert_eq!((ran.code, desk.server.request_count()), (4, 1), "{ran:?}");
        assert!(
            ran.err.contains("no summary of one.py") && ran.err.contains("No such thing."),
            "{}",
            ran.err
        );
        desk.summarize();
        assert_eq!(desk.server.request_count(), 1, "it was refused today");
        desk.slop(&["summarize", "--yes", "--retry"]);
        assert_eq!(desk.server.request_count(), 2, "a person wants it asked again");
    }
}

#[test]
fn a_request_that_is_too_long_is_retried_with_half_the_text() {
    let desk = AgentProject::new(ModelServer::with_responses([error_response(
        413,
        "request_too_large",
        "Too large.",
    )]));
    let long: String = (0..200).map(|number| module_source(&format!("n{number}"))).collect();
    desk.sandbox.write("long.py", long);
    assert_eq!(desk.summarize().code, 4);
    let lengths: Vec<usize> = desk.server.requests().iter().map(|seen| seen.body.len()).collect();
    assert_eq!(lengths.len(), 2, "{lengths:?}");
    assert!(lengths[1] < lengths[0] * 3 / 4, "{lengths:?}");
}

#[test]
fn the_next_model_answers_if_one_does_not() {
    let server = ModelServer::start(|seen, _| match seen.json()["model"].as_str() {
        Some("small") => error_response(400, "invalid_request_error", "Not with me."),
        _ => ok_response(),
    });
    let desk = AgentProject::new(server);
    desk.sandbox.write("one.py", module_source("one"));
    let prices = "[prices.\"mock/small\"]\ninput = \"0.10\"\noutput = \"0.20\"\n";
    desk.write_agent_settings("", prices);
    let text = std::fs::read_to_string(desk.sandbox.outside("config/slop/config.toml")).unwrap();
    desk.write_settings(&text.replace("models = [\"mock/m\"]", "models = [\"mock/small\", \"mock/m\"]"));
    assert_eq!(desk.summarize_json()["outcome"]["answered"], 1);
    let asked: Vec<String> =
        desk.server.requests().iter().map(|seen| seen.json()["model"].as_str().unwrap().to_owned()).collect();
    assert_eq!(asked, ["small", "m"]);
    let shown = desk.json(&["agent", "show", "one.py"]);
    assert_eq!(shown["summaries"][0]["model"], "mock/m");
    assert_eq!(desk.summarize_json()["questions"], 0, "whoever wrote it, there is a summary");
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
        let desk = AgentProject::with_file([act]);
        let ran = desk.summarize();
        assert_eq!((ran.code, desk.server.request_count()), (4, requests), "{ran:?}");
        // 9 tokens in at a dollar a million, 1 out at ten.
        assert_eq!(desk.usage(), (requests as u64, requests as u64 * 19_000));
        desk.summarize();
        assert_eq!(desk.server.request_count(), requests);
    }
}

#[test]
fn a_missing_program_is_an_error_in_the_settings() {
    let desk = AgentProject::with_file([]);
    for command in ["[\"/no/such/program\"]", "[\"/\"]"] {
        desk.write_settings(&format!(
            "[agent]\nmodels = [\"command/m\"]\nstill_seconds = 0\nleast_bytes = 0\n\
             [providers.command]\ncommand = {command}\n"
        ));
        let ran = desk.summarize();
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.err.contains("command cannot be asked as the settings say: run /"), "{ran:?}");
        assert!(ran.err.contains("change your own settings file"), "{ran:?}");
    }
    assert_eq!(desk.server.connections(), 0);
}

#[test]
fn a_wrong_address_records_no_refusals() {
    let html = || ServerAction::json(404, &json!("no such page"));
    let desk = AgentProject::new(ModelServer::with_responses([html(), html(), html(), ok_response()]));
    for number in 0..8 {
        desk.sandbox.write(format!("f{number}.py"), module_source(&format!("f{number}")));
    }
    desk.write_agent_settings("concurrency = 1", "");
    let ran = desk.summarize();
    assert_eq!((ran.code, desk.server.request_count()), (1, 3), "{ran:?}");
    assert!(ran.err.contains("no such page") && ran.err.contains("base_url"), "{}", ran.err);
    let ran = desk.summarize();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(3 + 8 <= desk.server.request_count(), "every file is asked about");
}

#[test]
fn without_certificates_nothing_is_sent_and_nothing_waits() {
    let desk = AgentProject::with_file([ok_response()]);
    desk.write_settings(
        "[agent]\nmodels = [\"far/m\"]\nstill_seconds = 0\n[providers.far]\nwire = \"chat\"\nfree = true\n\
         base_url = \"https://127.0.0.1:1/v1\"\n",
    );
    let mut command = desk.command(&["summarize", "--yes"]);
    command.env("SSL_CERT_FILE", "/dev/null").env("SSL_CERT_DIR", "/nonexistent");
    let ran = run(command);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.err.contains("certificates") && ran.err.contains("SSL_CERT_FILE"), "{}", ran.err);
    assert_eq!(desk.usage(), (0, 0));
}

#[test]
fn retry_covers_only_selected_files_after_confirmation() {
    let no = || error_response(400, "invalid_request_error", "No.");
    let desk = AgentProject::with_file([no(), no(), ok_response()]);
    desk.sandbox.write("two.py", module_source("two"));
    desk.summarize();
    assert_eq!(desk.server.request_count(), 3, "two files and the project");
    assert_eq!(desk.slop(&["summarize", "--retry"]).code, 1, "there is nobody to agree");
    let plan = desk.json(&["summarize", "--retry", "--estimate", "one.py"]);
    assert_eq!((&plan["questions"], &plan["refused_before"]), (&json!(1), &json!(0)));
    desk.summarize();
    assert_eq!(desk.server.request_count(), 3, "nothing was forgotten");
    desk.slop(&["summarize", "--yes", "--retry", "one.py"]);
    assert_eq!(desk.server.request_count(), 4);
    desk.summarize();
    assert_eq!(desk.server.request_count(), 4, "the other file is still refused");
}

#[test]
fn a_folder_is_summarized_once_its_last_file_is_withheld() {
    let desk = AgentProject::with_file([ok_response()]);
    desk.sandbox.write("two.py", module_source("two"));
    desk.summarize();
    let before = desk.server.request_count();
    let secret = format!("AKIA{}", "IOSFODNN7QRSTUVW");
    desk.sandbox.write("keys.py", format!("{}KEY = \"{secret}\"\n", module_source("keys")));
    let ran = desk.summarize();
    assert!(ran.err.contains("no summary of keys.py"), "{ran:?}");
    assert_eq!(desk.server.request_count(), before + 1, "about the project, in the same run");
}

//! What is sent: the same beginning for all, no names, and nothing but what a preview shows.

use std::thread;

use serde_json::Value;
use serde_json::json;

use super::AgentProject;
use super::KEY;
use super::module_source;
use super::ok_response;
use super::server::ModelServer;
use super::server::ReceivedRequest;
use super::server::ServerAction;

const WORDS: &str = "<brief>Counts what it is given.</brief><detail>It adds up.</detail>";

/// Answers as a provider of that wire does.
fn answer_for_wire(wire: &str) -> ServerAction {
    let text = json!({"type": "output_text", "text": WORDS});
    match wire {
        "chat" => ServerAction::chat(WORDS, 100, 20),
        "responses" => ServerAction::json(
            200,
            &json!({
                "id": "r", "object": "response", "status": "completed", "model": "m",
                "output": [{"type": "message", "role": "assistant", "content": [text]}],
                "usage": {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120},
            }),
        ),
        "gemini" => ServerAction::json(
            200,
            &json!({
                "candidates": [{"content": {"role": "model", "parts": [{"text": WORDS}]}, "finishReason": "STOP"}],
                "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120},
            }),
        ),
        "ollama" => ServerAction::json(
            200,
            &json!({
                "model": "m", "message": {"role": "assistant", "content": WORDS}, "done": true,
                "done_reason": "stop", "prompt_eval_count": 100, "eval_count": 20,
            }),
        ),
        _ => ServerAction::anthropic(WORDS, 100, 20),
    }
}

#[test]
fn a_preview_matches_the_request_on_every_wire() {
    let wires = [
        ("anthropic", "/v1/messages", "x-api-key"),
        ("chat", "/v1/chat/completions", "authorization"),
        ("responses", "/v1/responses", "authorization"),
        ("gemini", "/v1beta/models/m:generateContent", "x-goog-api-key"),
        ("ollama", "/api/chat", "authorization"),
    ];
    thread::scope(|scope| {
        for (wire, path, header) in wires {
            scope.spawn(move || {
                let desk = AgentProject::new(ModelServer::start(move |_, _| answer_for_wire(wire)));
                desk.sandbox.write("one.py", module_source("one"));
                desk.write_wire_settings(wire, "", "");
                let preview = desk.slop(&["agent", "preview", "one.py"]);
                assert_eq!((preview.code, desk.server.connections()), (0, 0), "{wire} {preview:?}");
                assert_eq!(desk.summarize_json()["outcome"]["answered"], 1, "{wire}");
                let seen = &desk.server.requests()[0];
                assert_eq!(
                    (seen.path.as_str(), String::from_utf8_lossy(&seen.body)),
                    (path, preview.out.into())
                );
                assert!(seen.header(header).unwrap().ends_with(KEY), "{wire}");
                assert_eq!(desk.usage(), (1, 300_000), "{wire}");
                let shown = desk.json(&["agent", "show", "one.py", "--tier", "1"]);
                assert_eq!(shown["summaries"][0]["text"], "Counts what it is given.", "{wire}");
            });
        }
    });
}

#[test]
fn a_program_gets_the_same_prompt_as_servers() {
    let desk = AgentProject::with_file([ok_response()]);
    let script = desk.sandbox.outside("answer.sh");
    let kept = desk.sandbox.outside("asked.txt");
    std::fs::write(&script, format!("cat > '{}'\nprintf '%s' '{WORDS}'\n", kept.display())).unwrap();
    desk.write_settings(&format!(
        "[agent]\nmodels = [\"tool/m\"]\nstill_seconds = 0\nleast_bytes = 0\n[providers.tool]\nwire = \"command\"\n\
         command = [\"sh\", \"{}\"]\nfree = true\n",
        script.display()
    ));
    let preview = desk.slop(&["agent", "preview", "one.py"]);
    assert_eq!(desk.summarize_json()["outcome"]["answered"], 1);
    assert_eq!(std::fs::read_to_string(kept).unwrap(), preview.out);
    assert_eq!((desk.usage(), desk.server.connections()), ((1, 0), 0));
}

/// Returns the body up to where what the file says begins.
fn cached_prefix(seen: &ReceivedRequest) -> String {
    let body = String::from_utf8(seen.body.clone()).unwrap();
    body.split("\"messages\"").next().unwrap().to_owned()
}

#[test]
fn requests_about_files_share_a_prefix_and_contain_no_names() {
    let desk = AgentProject::new(ModelServer::with_responses([ok_response()]));
    let names = ["zebra_alpha", "quagga_beta", "okapi_gamma"];
    for (number, name) in names.iter().enumerate() {
        desk.sandbox.write(format!("{name}_folder/{name}_file.py"), module_source(&format!("n{number}")));
        desk.sandbox.write(format!("{name}_folder/{name}_other.py"), module_source(&format!("o{number}")));
    }
    desk.summarize_json();
    let seen = desk.server.requests();
    assert_eq!(seen.len(), 10, "six files, three folders, the project");
    let about_files: Vec<&ReceivedRequest> =
        seen.iter().filter(|seen| seen.text().contains("def count_")).collect();
    assert_eq!(about_files.len(), 6);
    let first = cached_prefix(about_files[0]);
    assert!(1_000 < first.len() && about_files.iter().all(|seen| cached_prefix(seen) == first));
    let root = desk.sandbox.root().display().to_string();
    for seen in &seen {
        let text = seen.text();
        for name in names.iter().copied().chain(["_folder", ".py", root.as_str(), "main"]) {
            assert!(
                !String::from_utf8_lossy(&seen.body).contains(name) || name == "main",
                "{name} in {text}"
            );
        }
        assert_eq!(seen.json()["temperature"], Value::Null);
    }
}

#[test]
fn the_same_request_has_the_same_bytes_in_another_project() {
    let bodies = || {
        let desk = AgentProject::with_file([ok_response()]);
        desk.sandbox.write("folder/two.py", module_source("two"));
        desk.write_agent_settings("concurrency = 1", "");
        desk.summarize_json();
        let mut bodies: Vec<Vec<u8>> = desk.server.requests().into_iter().map(|seen| seen.body).collect();
        bodies.sort();
        bodies
    };
    assert_eq!(bodies(), bodies());
}

//! The key is seen by the server that it is for, and by nobody else.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::AgentProject;
use super::KEY;
use super::error_response;
use super::ok_response;
use super::server::ServerAction;

/// Looks for the key in all that lies below a folder.
fn find_key(folder: &Path) -> Option<String> {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            if let Some(found) = find_key(&path) {
                return Some(found);
            }
        } else if fs::read(&path)
            .is_ok_and(|bytes| bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes()))
        {
            return Some(path.display().to_string());
        }
    }
    None
}

/// Runs all that could tell of the key.
#[track_caller]
fn assert_key_is_nowhere(desk: &AgentProject, first: &crate::sandbox::CommandOutput) {
    let runs: [&[&str]; 12] = [
        &["agent", "preview", "one.py"],
        &["agent", "preview", "one.py", "--json"],
        &["agent", "providers"],
        &["agent", "providers", "--json"],
        &["agent", "usage"],
        &["agent", "usage", "--json"],
        &["agent", "show", "--json"],
        &["config", "show", "--origin"],
        &["config", "show", "--json"],
        &["summarize", "--estimate", "--json"],
        &["daemon", "status", "--json"],
        &["aggregate", "--stdout", "--tier", "1"],
    ];
    let mut told = vec![(first.out.clone(), first.err.clone())];
    told.extend(runs.iter().map(|arguments| desk.slop(arguments)).map(|ran| (ran.out, ran.err)));
    for (number, (out, err)) in told.iter().enumerate() {
        assert!(!out.contains(KEY) && !err.contains(KEY), "run {number}: {out} {err}");
    }
    assert_eq!(find_key(&desk.sandbox.root()), None);
    assert_eq!(find_key(&desk.sandbox.outside("home")), None);
    assert_eq!(find_key(&desk.sandbox.outside("config")), None);
}

#[test]
fn the_key_is_nowhere_after_a_successful_run() {
    let desk = AgentProject::with_file([ok_response()]);
    let ran = desk.summarize();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_key_is_nowhere(&desk, &ran);
}

#[test]
fn a_key_echoed_by_a_server_is_redacted() {
    let echo = format!("Incorrect API key provided: {KEY}. You can find yours elsewhere.");
    let location = ("location".to_owned(), format!("https://127.0.0.1:1/?key={KEY}"));
    let acts = [
        error_response(401, "authentication_error", &echo),
        error_response(400, &format!("invalid_{KEY}"), &echo),
        error_response(500, "api_error", &echo),
        ServerAction::Answer(403, Vec::new(), echo.clone().into_bytes()),
        ServerAction::Answer(200, Vec::new(), echo.clone().into_bytes()),
        ServerAction::Answer(302, vec![location], echo.clone().into_bytes()),
        ServerAction::Raw(echo.clone().into_bytes()),
        ServerAction::json(200, &json!({"type": "message", "stop_reason": echo.clone(), "content": []})),
        error_response(400, "invalid_request_error", "No.").with("request-id", KEY),
        ServerAction::both(&format!("The key is {KEY}."), &format!("Asked with {KEY}, it says so.")),
        ok_response().with("request-id", KEY),
    ];
    std::thread::scope(|scope| {
        for act in acts {
            scope.spawn(move || {
                let desk = AgentProject::with_file([act]);
                let ran = desk.summarize();
                assert_key_is_nowhere(&desk, &ran);
            });
        }
    });
}

#[test]
fn a_key_from_a_file_is_used_and_not_shown() {
    let desk = AgentProject::with_file([ok_response()]);
    let file = desk.sandbox.outside("config/slop/config.toml");
    let text = fs::read_to_string(&file).unwrap();
    desk.write_settings(
        &text.replace("key_variables = [\"MOCK_KEY\"]", "key_variables = []\nkey_file = \"../../mock.key\""),
    );
    fs::write(desk.sandbox.outside("mock.key"), format!("{KEY}\n")).unwrap();
    let ran = desk.summarize();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(desk.server.requests()[0].header("x-api-key"), Some(KEY));
    assert_key_is_nowhere(&desk, &ran);
}

#[test]
fn a_missing_key_is_reported_before_anything_is_sent() {
    let desk = AgentProject::with_file([ok_response()]);
    let mut command = desk.command(&["summarize", "--yes"]);
    command.env_remove("MOCK_KEY");
    crate::sandbox::run(command).assert_fails(1, &["mock", "MOCK_KEY"]);
    assert_eq!(desk.server.connections(), 0);
}

#[test]
fn a_key_in_the_settings_is_refused() {
    let desk = AgentProject::with_file([ok_response()]);
    let lines = [
        (format!("key = \"{KEY}\""), 0, "`providers.mock.key` has no effect"),
        (format!("headers = {{ \"x-api-key\" = \"{KEY}\" }}"), 1, "headers"),
        (format!("key_variables = [\"{KEY}\"]"), 1, "not a key itself"),
    ];
    for (line, code, words) in lines {
        let text = format!("[providers.mock]\nwire = \"chat\"\nbase_url = \"http://127.0.0.1:9\"\n{line}\n");
        desk.write_settings(&text);
        let ran = desk.slop(&["config", "show", "--origin"]);
        assert_eq!(ran.code, code, "{ran:?}");
        assert!(ran.err.contains(words), "{ran:?}");
        assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY), "{ran:?}");
    }
}

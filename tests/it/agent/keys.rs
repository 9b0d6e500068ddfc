//! The key is seen by the server that it is for, and by nobody else.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::Desk;
use super::KEY;
use super::error;
use super::server::Act;
use super::words;

/// Looks for the key in all that lies below a folder.
fn is_below(folder: &Path) -> Option<String> {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            if let Some(found) = is_below(&path) {
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
fn is_nowhere(desk: &Desk, first: &crate::sandbox::Ran) {
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
    assert_eq!(is_below(&desk.sandbox.root()), None);
    assert_eq!(is_below(&desk.sandbox.beside("home")), None);
    assert_eq!(is_below(&desk.sandbox.beside("config")), None);
}

#[test]
fn the_key_is_nowhere_after_a_run_that_went_well() {
    let desk = Desk::with_file([words()]);
    let ran = desk.ask();
    assert_eq!(ran.code, 0, "{ran:?}");
    is_nowhere(&desk, &ran);
}

#[test]
fn a_server_that_repeats_the_key_is_not_repeated() {
    let echo = format!("Incorrect API key provided: {KEY}. You can find yours elsewhere.");
    let location = ("location".to_owned(), format!("https://127.0.0.1:1/?key={KEY}"));
    let acts = [
        error(401, "authentication_error", &echo),
        error(400, &format!("invalid_{KEY}"), &echo),
        error(500, "api_error", &echo),
        Act::Answer(403, Vec::new(), echo.clone().into_bytes()),
        Act::Answer(200, Vec::new(), echo.clone().into_bytes()),
        Act::Answer(302, vec![location], echo.clone().into_bytes()),
        Act::Raw(echo.clone().into_bytes()),
        Act::json(200, &json!({"type": "message", "stop_reason": echo.clone(), "content": []})),
        error(400, "invalid_request_error", "No.").with("request-id", KEY),
        Act::both(&format!("The key is {KEY}."), &format!("Asked with {KEY}, it says so.")),
        words().with("request-id", KEY),
    ];
    std::thread::scope(|scope| {
        for act in acts {
            scope.spawn(move || {
                let desk = Desk::with_file([act]);
                let ran = desk.ask();
                is_nowhere(&desk, &ran);
            });
        }
    });
}

#[test]
fn a_key_in_a_file_is_used_and_not_shown() {
    let desk = Desk::with_file([words()]);
    let file = desk.sandbox.beside("config/slop/config.toml");
    let text = fs::read_to_string(&file).unwrap();
    desk.write_settings(
        &text.replace("key_variables = [\"MOCK_KEY\"]", "key_variables = []\nkey_file = \"../../mock.key\""),
    );
    fs::write(desk.sandbox.beside("mock.key"), format!("{KEY}\n")).unwrap();
    let ran = desk.ask();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(desk.server.seen()[0].header("x-api-key"), Some(KEY));
    is_nowhere(&desk, &ran);
}

#[test]
fn a_missing_key_is_told_before_anybody_is_asked() {
    let desk = Desk::with_file([words()]);
    let mut command = desk.command(&["summarize", "--yes"]);
    command.env_remove("MOCK_KEY");
    crate::sandbox::run(command).refuses(1, &["mock", "MOCK_KEY"]);
    assert_eq!(desk.server.connections(), 0);
}

#[test]
fn a_key_in_the_settings_is_not_taken() {
    let desk = Desk::with_file([words()]);
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

//! Where a question goes: to the address in the user's settings, and nowhere else.

use super::AgentProject;
use super::KEY;
use super::ok_response;
use super::server::ModelServer;
use super::server::ServerAction;
use crate::sandbox::run;

#[test]
fn a_redirect_is_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        let other = ModelServer::with_responses([ok_response()]);
        let away = ServerAction::Answer(
            status,
            vec![("location".to_owned(), format!("{}/v1/messages", other.url()))],
            vec![],
        );
        let desk = AgentProject::with_file([away]);
        assert_ne!(desk.summarize().code, 0);
        assert_eq!((desk.server.request_count(), other.connections()), (1, 0), "{status}");
    }
}

#[test]
fn nothing_is_sent_unencrypted_to_another_machine() {
    for address in [
        "http://192.0.2.1:9",
        "http://example.invalid",
        "http://127.0.0.1.example.invalid",
        "ftp://127.0.0.1",
    ] {
        let desk = AgentProject::with_file([ok_response()]);
        let file = desk.sandbox.outside("config/slop/config.toml");
        let text = std::fs::read_to_string(&file).unwrap().replace(&desk.server.url(), address);
        desk.write_settings(&text);
        let ran = desk.summarize();
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{address} {ran:?}");
        assert!(ran.err.contains("base_url") && ran.err.contains("config.toml"), "{address}: {}", ran.err);
        assert!(!desk.sandbox.path(".slop_cache/agent.db").exists());
    }
}

#[test]
fn proxies_from_the_environment_are_not_used() {
    let (proxy, desk) =
        (ModelServer::with_responses([ok_response()]), AgentProject::with_file([ok_response()]));
    let mut command = desk.command(&["summarize", "--yes"]);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
        command.env(name, proxy.url());
    }
    assert_eq!(run(command).code, 0);
    assert_eq!((desk.server.request_count(), proxy.connections()), (1, 0));
}

#[test]
fn the_key_is_in_one_header_and_nowhere_else() {
    let desk = AgentProject::with_file([ok_response()]);
    desk.summarize_json();
    let seen = &desk.server.requests()[0];
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/v1/messages"));
    assert_eq!(seen.header("x-api-key"), Some(KEY));
    assert_eq!(seen.text().matches(KEY).count(), 1);
    assert!(!seen.text().contains("python-requests") && seen.header("cookie").is_none());
}

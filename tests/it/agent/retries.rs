//! Servers in trouble, and those that say when they want to be asked again.

use std::thread;
use std::time::Duration;
use std::time::SystemTime;

use super::AgentProject;
use super::error_response;
use super::ok_response;
use super::server::ServerAction;

fn rate_limited(wait: &str) -> ServerAction {
    error_response(429, "rate_limit_error", "Too many requests.").with("retry-after", wait)
}

/// Returns the time between the first two requests.
fn delay_between_calls(desk: &AgentProject) -> Duration {
    let seen = desk.server.requests();
    assert_eq!(seen.len(), 2);
    seen[1].at - seen[0].at
}

#[test]
fn retry_after_in_seconds_is_respected() {
    let desk = AgentProject::with_file([rate_limited("1"), ok_response()]);
    assert_eq!(desk.summarize_json()["outcome"]["answered"], 1);
    assert!(Duration::from_secs(1) <= delay_between_calls(&desk));
}

#[test]
fn retry_after_as_a_date_is_respected() {
    let soon = jiff::Timestamp::try_from(SystemTime::now() + Duration::from_secs(3)).unwrap();
    let date = soon.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let desk = AgentProject::with_file([rate_limited(&date), ok_response()]);
    assert_eq!(desk.summarize_json()["outcome"]["answered"], 1);
    assert!(Duration::from_secs(1) <= delay_between_calls(&desk));
}

#[test]
fn an_invalid_retry_after_is_ignored() {
    thread::scope(|scope| {
        for nonsense in ["-5", "soon", "NaN", "1e999", ""] {
            scope.spawn(move || {
                let desk = AgentProject::with_file([rate_limited(nonsense), ok_response()]);
                assert_eq!(desk.summarize_json()["outcome"]["answered"], 1, "{nonsense}");
                assert!(delay_between_calls(&desk) < Duration::from_secs(10), "{nonsense}");
            });
        }
    });
}

#[test]
fn a_retry_after_of_a_day_ends_the_run() {
    let desk = AgentProject::with_file([rate_limited("86400")]);
    let ran = desk.summarize();
    assert_eq!((ran.code, desk.server.request_count()), (3, 1), "{ran:?}");
    assert!(ran.err.contains("HTTP 429: rate_limit_error: Too many requests."), "{}", ran.err);
    assert!(ran.err.contains("run this again later"), "{}", ran.err);
}

#[test]
fn a_failing_server_gets_at_most_four_attempts() {
    thread::scope(|scope| {
        for status in [500, 502, 503, 529] {
            scope.spawn(move || {
                let desk =
                    AgentProject::with_file([error_response(status, "api_error", "We are in trouble.")]);
                let ran = desk.summarize();
                assert_eq!((ran.code, desk.server.request_count()), (3, 4), "{status} {ran:?}");
                assert!(ran.err.contains("We are in trouble."), "{status} {}", ran.err);
                assert_eq!(desk.usage(), (4, 0), "errors cost nothing");
            });
        }
    });
}

#[test]
fn a_server_that_forbids_retries_gets_none() {
    let desk =
        AgentProject::with_file([error_response(500, "api_error", "No.").with("x-should-retry", "false")]);
    assert_ne!(desk.summarize().code, 0);
    assert_eq!(desk.server.request_count(), 1);
}

#[test]
fn a_transient_failure_is_not_reported() {
    let trouble = error_response(529, "overloaded_error", "Overloaded");
    let desk = AgentProject::with_file([trouble.clone(), trouble, ok_response()]);
    assert_eq!(desk.summarize_json()["outcome"]["answered"], 1);
    assert_eq!(desk.server.request_count(), 3);
}

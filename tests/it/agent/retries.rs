//! Servers in trouble, and those that say when they want to be asked again.

use std::thread;
use std::time::Duration;
use std::time::SystemTime;

use super::Desk;
use super::error;
use super::server::Act;
use super::words;

fn rate(wait: &str) -> Act {
    error(429, "rate_limit_error", "Too many requests.").with("retry-after", wait)
}

/// Returns the time between the first two requests.
fn wait_between(desk: &Desk) -> Duration {
    let seen = desk.server.seen();
    assert_eq!(seen.len(), 2);
    seen[1].at - seen[0].at
}

#[test]
fn a_server_is_left_alone_for_as_long_as_it_says() {
    let desk = Desk::with_file([rate("1"), words()]);
    assert_eq!(desk.asked()["outcome"]["answered"], 1);
    assert!(Duration::from_secs(1) <= wait_between(&desk));
}

#[test]
fn a_date_to_be_left_alone_until_is_kept_as_well() {
    let soon = jiff::Timestamp::try_from(SystemTime::now() + Duration::from_secs(3)).unwrap();
    let date = soon.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let desk = Desk::with_file([rate(&date), words()]);
    assert_eq!(desk.asked()["outcome"]["answered"], 1);
    assert!(Duration::from_secs(1) <= wait_between(&desk));
}

#[test]
fn a_wait_that_makes_no_sense_is_as_if_it_were_not_said() {
    thread::scope(|scope| {
        for nonsense in ["-5", "soon", "NaN", "1e999", ""] {
            scope.spawn(move || {
                let desk = Desk::with_file([rate(nonsense), words()]);
                assert_eq!(desk.asked()["outcome"]["answered"], 1, "{nonsense}");
                assert!(wait_between(&desk) < Duration::from_secs(10), "{nonsense}");
            });
        }
    });
}

#[test]
fn a_server_that_wants_to_be_left_alone_for_a_day_is_and_the_run_ends() {
    let desk = Desk::with_file([rate("86400")]);
    let ran = desk.ask();
    assert_eq!((ran.code, desk.server.count()), (3, 1), "{ran:?}");
    assert!(ran.err.contains("HTTP 429: rate_limit_error: Too many requests."), "{}", ran.err);
    assert!(ran.err.contains("run this again later"), "{}", ran.err);
}

#[test]
fn a_server_in_trouble_is_asked_at_most_four_times() {
    thread::scope(|scope| {
        for status in [500, 502, 503, 529] {
            scope.spawn(move || {
                let desk = Desk::with_file([error(status, "api_error", "We are in trouble.")]);
                let ran = desk.ask();
                assert_eq!((ran.code, desk.server.count()), (3, 4), "{status} {ran:?}");
                assert!(ran.err.contains("We are in trouble."), "{status} {}", ran.err);
                assert_eq!(desk.usage(), (4, 0), "errors cost nothing");
            });
        }
    });
}

#[test]
fn a_server_that_says_not_to_ask_again_is_not_asked_again() {
    let desk = Desk::with_file([error(500, "api_error", "No.").with("x-should-retry", "false")]);
    assert_ne!(desk.ask().code, 0);
    assert_eq!(desk.server.count(), 1);
}

#[test]
fn trouble_that_passes_is_not_noticed() {
    let trouble = error(529, "overloaded_error", "Overloaded");
    let desk = Desk::with_file([trouble.clone(), trouble, words()]);
    assert_eq!(desk.asked()["outcome"]["answered"], 1);
    assert_eq!(desk.server.count(), 3);
}

//! Reads rate limits and delays from response headers.

use std::time::Duration;

use jiff::fmt::rfc2822;
use serde_json::Value;

use super::call::{LimitWindow, RateLimits};
use crate::model::HttpResponse;

/// The headers of one limit: `*` is `limit`, `remaining` and `reset`.
const REQUESTS: [&str; 2] = ["anthropic-ratelimit-requests-*", "x-ratelimit-*-requests"];

/// Limits on input come first, because summaries consist mostly of input.
const TOKENS: [&str; 3] =
    ["anthropic-ratelimit-input-tokens-*", "anthropic-ratelimit-tokens-*", "x-ratelimit-*-tokens"];

/// Returns the limits in the headers; unreadable ones are ignored.
pub(super) fn rate_limits(response: &HttpResponse, now_ms: i64) -> RateLimits {
    let first = |names: &[&str]| names.iter().find_map(|names| limit_window(response, names, now_ms));
    RateLimits { requests: first(&REQUESTS), tokens: first(&TOKENS) }
}

/// Returns when the last of the exhausted limits resets.
pub(super) fn exhausted_for(pace: &RateLimits) -> Option<Duration> {
    let used_up = |window: Option<LimitWindow>| {
        window.filter(|window| window.remaining == 0).map(|window| window.resets_in)
    };
    // `None` is less than any `Some`, so an exhausted limit prevails over one that is not.
    used_up(pace.requests).max(used_up(pace.tokens))
}

fn limit_window(response: &HttpResponse, names: &str, now_ms: i64) -> Option<LimitWindow> {
    let header = |part| response.header(&names.replace('*', part)).map(str::trim);
    Some(LimitWindow {
        limit: header("limit").and_then(|text| text.parse().ok()),
        remaining: header("remaining")?.parse().ok()?,
        resets_in: parse_reset(header("reset")?, now_ms)?,
    })
}

/// Parses a timestamp, as Anthropic sends it, or a duration, as OpenAI does.
fn parse_reset(text: &str, now_ms: i64) -> Option<Duration> {
    match text.parse::<jiff::Timestamp>() {
        // A time that has just passed means that the limit has been reset.
        Ok(at) => Some(until(at, now_ms).unwrap_or_default()),
        Err(_) => parse_go_duration(text),
    }
}

/// Parses a duration in Go's format: `6m0s`, `1h2m3.5s`, `20ms`. A bare number is seconds.
fn parse_go_duration(text: &str) -> Option<Duration> {
    if let Some(seconds) = parse_decimal(text) {
        return Some(capped_seconds(seconds));
    }
    let mut rest = text;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        let number = parse_decimal(&rest[..digits])?;
        let after = &rest[digits..];
        let unit = after.find(|char: char| char.is_ascii_digit()).unwrap_or(after.len());
        seconds += number * seconds_of(&after[..unit])?;
        rest = &after[unit..];
    }
    if text.is_empty() { None } else { Some(capped_seconds(seconds)) }
}

fn seconds_of(unit: &str) -> Option<f64> {
    match unit {
        "h" => Some(3_600.0),
        "m" => Some(60.0),
        "s" => Some(1.0),
        "ms" => Some(1e-3),
        // The micro sign and the Greek letter look the same, and Go accepts both.
        "us" | "µs" | "μs" => Some(1e-6),
        "ns" => Some(1e-9),
        _ => None,
    }
}

/// Longer delays are capped to this.
const MAX_DELAY: Duration = Duration::from_hours(24 * 30);

/// Returns the delay in the headers, the most precise one first. Unreadable and past values are ignored.
pub(super) fn from_headers(response: &HttpResponse, now_ms: i64) -> Option<Duration> {
    let exact =
        response.header("retry-after-ms").and_then(parse_decimal).map(|ms| capped_seconds(ms / 1_000.0));
    exact.or_else(|| response.header("retry-after").and_then(|text| seconds_or_date(text, now_ms)))
}

/// Returns the delay in the details of a Google error.
pub(super) fn from_details(error: &Value) -> Option<Duration> {
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    delay.trim().strip_suffix('s').and_then(parse_decimal).map(capped_seconds)
}

/// Returns whether the server explicitly asks for a retry or forbids it.
pub(super) fn should_retry(response: &HttpResponse) -> Option<bool> {
    match response.header("x-should-retry") {
        Some("true") => Some(true),
        Some("false") => Some(false),
        Some(_) | None => None,
    }
}

fn seconds_or_date(text: &str, now_ms: i64) -> Option<Duration> {
    if let Some(seconds) = parse_decimal(text) {
        return Some(capped_seconds(seconds));
    }
    let at = rfc2822::DateTimeParser::new().parse_timestamp(text.trim()).ok()?;
    until(at, now_ms)
}

/// Returns the time until then, unless it has passed.
pub(super) fn until(at: jiff::Timestamp, now_ms: i64) -> Option<Duration> {
    let ms = u64::try_from(at.as_millisecond().checked_sub(now_ms)?).ok()?;
    Some(Duration::from_millis(ms).min(MAX_DELAY))
}

/// Parses digits with at most one decimal point; signs, exponents and words are rejected.
pub(super) fn parse_decimal(text: &str) -> Option<f64> {
    let text = text.trim();
    // Checked first, because `f64` also parses `inf`, `nan` and exponents.
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_plain { text.parse().ok() } else { None }
}

pub(super) fn capped_seconds(seconds: f64) -> Duration {
    // Fails only if it is too large: `parse_decimal` admits neither a sign nor NaN.
    Duration::try_from_secs_f64(seconds).unwrap_or(MAX_DELAY).min(MAX_DELAY)
}

#[cfg(test)]
mod tests {
    use super::super::testing::NOW_MS;
    use super::*;

    fn of(headers: &[(&str, &str)]) -> RateLimits {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        rate_limits(&HttpResponse { status: 200, headers, body: Vec::new() }, NOW_MS)
    }

    const fn window(limit: Option<u64>, remaining: u64, ms: u64) -> LimitWindow {
        LimitWindow { limit, remaining, resets_in: Duration::from_millis(ms) }
    }

    #[test]
    fn anthropics_limits_reset_at_a_moment_and_those_of_the_input_come_first() {
        let pace = of(&[
            ("anthropic-ratelimit-requests-limit", "50"),
            ("anthropic-ratelimit-requests-remaining", "49"),
            ("anthropic-ratelimit-requests-reset", "2026-11-21T09:00:01Z"),
            ("anthropic-ratelimit-tokens-limit", "9"),
            ("anthropic-ratelimit-tokens-remaining", "8"),
            ("anthropic-ratelimit-tokens-reset", "2026-11-21T09:00:01Z"),
            ("anthropic-ratelimit-input-tokens-limit", "100000"),
            ("anthropic-ratelimit-input-tokens-remaining", "0"),
            ("anthropic-ratelimit-input-tokens-reset", "2026-11-21T10:00:30+01:00"),
        ]);
        assert_eq!(pace.requests, Some(window(Some(50), 49, 1_000)));
        assert_eq!(pace.tokens, Some(window(Some(100_000), 0, 30_000)));
        assert_eq!(exhausted_for(&pace), Some(Duration::from_secs(30)));
    }

    #[test]
    fn openais_limits_reset_after_a_time() {
        let pace = of(&[
            ("x-ratelimit-limit-requests", "60"),
            ("x-ratelimit-remaining-requests", "59"),
            ("x-ratelimit-reset-requests", "1s"),
            ("x-ratelimit-remaining-tokens", "149984"),
            ("x-ratelimit-reset-tokens", "6m0s"),
        ]);
        assert_eq!(
            pace,
            RateLimits {
                requests: Some(window(Some(60), 59, 1_000)),
                tokens: Some(window(None, 149_984, 360_000))
            }
        );
        assert_eq!(exhausted_for(&pace), None);
    }

    #[test]
    fn durations_in_gos_format_are_parsed() {
        for (text, ms) in [("1h2m3.5s", 3_723_500), ("20ms", 20), ("0s", 0), ("1.5s", 1_500), ("7", 7_000)] {
            assert_eq!(parse_go_duration(text), Some(Duration::from_millis(ms)), "{text}");
        }
        assert_eq!(parse_go_duration("5µs"), Some(Duration::from_micros(5)));
    }

    #[test]
    fn unreadable_limits_are_ignored() {
        for reset in ["", "soon", "-1s", "1d", "s", "1s2", "1..2s", "2026-13-01T00:00:00Z", "1\u{301}s"] {
            let pace = of(&[("x-ratelimit-remaining-tokens", "1"), ("x-ratelimit-reset-tokens", reset)]);
            assert_eq!(pace, RateLimits::default(), "{reset}");
        }
        let pace = of(&[("x-ratelimit-remaining-tokens", "-1"), ("x-ratelimit-reset-tokens", "1s")]);
        assert_eq!(pace, RateLimits::default());
        assert_eq!(of(&[("x-ratelimit-remaining-tokens", "1")]), RateLimits::default());
    }

    #[track_caller]
    fn check(headers: &[(&str, &str)], wait: Option<u64>) {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let response = HttpResponse { status: 429, headers, body: Vec::new() };
        assert_eq!(from_headers(&response, NOW_MS), wait.map(Duration::from_millis));
    }

    #[test]
    fn seconds_milliseconds_and_dates_are_understood() {
        check(&[("retry-after", "2")], Some(2_000));
        check(&[("retry-after", " 0.5 ")], Some(500));
        check(&[("retry-after", "0")], Some(0));
        check(&[("retry-after", "30"), ("retry-after-ms", "1500")], Some(1_500));
        check(&[("retry-after", "Sat, 21 Nov 2026 09:00:20 GMT")], Some(20_000));
        check(&[("retry-after", "7"), ("retry-after-ms", "soon")], Some(7_000));
    }

    #[test]
    fn unreadable_and_past_delays_are_ignored() {
        for value in
            ["-5", "", "soon", "1e3", "NaN", "inf", "1.2.3", "Sat, 21 Nov 2026 08:59:59 GMT", "\u{0}", "٣"]
        {
            check(&[("retry-after", value)], None);
        }
        check(&[], None);
    }

    #[test]
    fn huge_durations_are_capped_without_overflow() {
        let month = 24 * 30 * 3_600_000;
        check(&[("retry-after", "99999999999999999999999999")], Some(month));
        check(&[("retry-after", &"9".repeat(500))], Some(month));
        check(&[("retry-after", "Thu, 30 Dec 9999 20:00:00 GMT")], Some(month));
    }

    #[test]
    fn googles_details_are_understood() {
        let error = serde_json::json!({"details": [{"@type": "x"}, {"retryDelay": "34.5s"}]});
        assert_eq!(from_details(&error), Some(Duration::from_millis(34_500)));
        for details in [
            serde_json::json!([{"retryDelay": 3}]),
            serde_json::json!("34s"),
            serde_json::json!([{"retryDelay": "-1s"}]),
        ] {
            assert_eq!(from_details(&serde_json::json!({"details": details})), None);
        }
    }
}

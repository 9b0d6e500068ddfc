//! Reads requested delays.

use std::time::Duration;

use jiff::fmt::rfc2822;
use serde_json::Value;

use crate::model::HttpResponse;

/// Longer delays are capped to this.
const LONGEST: Duration = Duration::from_hours(24 * 30);

/// Returns the delay in the headers, the most precise one first. Unreadable and past values are ignored.
pub(super) fn from_headers(response: &HttpResponse, now_ms: i64) -> Option<Duration> {
    let exact =
        response.header("retry-after-ms").and_then(parse_decimal).map(|ms| capped_seconds(ms / 1_000.0));
    exact.or_else(|| response.header("retry-after").and_then(|text| seconds_or_date(text, now_ms)))
}

/// Returns the delay in the details of a Google error.
pub(super) fn from_details(error: &Value) -> Option<Duration> {
    let details = error.get("details")?.as_array()?;
    let told = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    told.trim().strip_suffix('s').and_then(parse_decimal).map(capped_seconds)
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
    Some(Duration::from_millis(ms).min(LONGEST))
}

/// Parses digits with at most one decimal point; signs, exponents and words are rejected.
pub(super) fn parse_decimal(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_plain { text.parse().ok() } else { None }
}

pub(super) fn capped_seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::testing::NOW_MS;

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
    fn what_cannot_be_read_or_is_past_is_not_there() {
        for value in
            ["-5", "", "soon", "1e3", "NaN", "inf", "1.2.3", "Sat, 21 Nov 2026 08:59:59 GMT", "\u{0}", "٣"]
        {
            check(&[("retry-after", value)], None);
        }
        check(&[], None);
    }

    #[test]
    fn what_is_huge_is_long_and_no_overflow() {
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

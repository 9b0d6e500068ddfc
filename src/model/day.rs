//! Days are those of UTC: a daily limit must not start over when a machine changes its time zone.

/// The number of seconds in a day.
pub const SECONDS_A_DAY: i64 = 86_400;

/// Returns the number of days from 1970-01-01 to a moment, which is in seconds since the epoch.
pub const fn utc_day(at_s: i64) -> i64 {
    at_s.div_euclid(SECONDS_A_DAY)
}

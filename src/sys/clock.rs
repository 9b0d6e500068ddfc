//! The time of day.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::process_control::{monotonic_time, thread_time};

/// Reads the time, and sleeps.
pub trait Clock: Sync {
    /// Returns the time of day.
    fn now(&self) -> SystemTime;

    /// Waits.
    fn sleep(&self, time: Duration);

    /// Returns the processor time that the calling thread has used.
    fn thread_time(&self) -> Duration;

    /// Returns the time since an arbitrary moment in the past; it never goes backwards.
    fn monotonic(&self) -> Duration;

    /// Returns the time of day in nanoseconds since the epoch; 0 before it.
    fn now_ns(&self) -> i64 {
        let since = self.now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    }

    /// Returns the time of day in whole milliseconds since the epoch; 0 before it.
    fn now_ms(&self) -> i64 {
        self.now_ns() / 1_000_000
    }

    /// Returns the time of day in whole seconds since the epoch; 0 before it.
    fn now_s(&self) -> i64 {
        self.now_ns() / 1_000_000_000
    }
}

/// The machine's clock.
#[derive(Debug, Clone, Copy)]
pub struct WallClock;

impl Clock for WallClock {
    #[expect(clippy::disallowed_methods, reason = "this is the window")]
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }

    fn thread_time(&self) -> Duration {
        thread_time()
    }

    fn monotonic(&self) -> Duration {
        monotonic_time()
    }
}

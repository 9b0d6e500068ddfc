//! What this process takes of the machine.

/// What a process takes of the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// Bytes of memory that are its own or in use by it.
    pub rss_bytes: u64,
    /// Open files.
    pub fds: u64,
}

impl ProcessUsage {
    /// Returns what this process takes now; zeros where the system does not say.
    #[expect(clippy::disallowed_methods, reason = "this is the window")]
    pub fn current() -> Self {
        let pages = std::fs::read_to_string("/proc/self/statm").ok();
        let pages = pages.and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok()).unwrap_or(0);
        let page = rustix::param::page_size() as u64;
        let fds = std::fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64);
        Self { rss_bytes: pages.saturating_mul(page), fds }
    }
}

/// Returns the number of the user that this process runs as.
pub fn user_id() -> u32 {
    rustix::process::getuid().as_raw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_takes_something() {
        let usage = ProcessUsage::current();
        assert!(1 << 20 < usage.rss_bytes);
        assert!(2 < usage.fds);
    }
}

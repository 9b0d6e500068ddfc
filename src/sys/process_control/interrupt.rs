//! Interrupting a command, and the resources that a process uses.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::platform::{ShutdownSignals, kill_self, memory_and_files};

/// Records that a signal asked this process to end, which then has a second to do so itself.
#[derive(Debug, Clone, Default)]
pub struct InterruptFlag(Arc<AtomicBool>);

impl InterruptFlag {
    /// Handles the signals from now on. A second one ends the process at once.
    pub fn install() -> io::Result<Self> {
        let interrupt = Self::default();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut signals = {
            let _inside = runtime.enter();
            ShutdownSignals::of_command()?
        };
        let noted = interrupt.clone();
        let wait = move || {
            runtime.block_on(async {
                loop {
                    signals.recv().await;
                    if noted.0.swap(true, Ordering::Relaxed) {
                        let _ = kill_self();
                    }
                }
            });
        };
        std::thread::Builder::new().name("interrupts".to_owned()).spawn(wait)?;
        Ok(interrupt)
    }

    /// Returns whether the process is to end.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The resources that a process uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// Resident memory in bytes.
    pub rss_bytes: u64,
    /// The number of open files; all handles on Windows.
    pub fds: u64,
}

impl ProcessUsage {
    /// Returns the resources that this process uses now; zeros where the system does not report them.
    pub fn current() -> Self {
        let (rss_bytes, fds) = memory_and_files();
        Self { rss_bytes, fds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_uses_resources() {
        let usage = ProcessUsage::current();
        assert!(1 << 20 < usage.rss_bytes);
        assert!(2 < usage.fds);
    }
}

//! What a command does when it is asked to end, and what it takes of the machine.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::platform::{ShutdownSignals, kill_self, memory_and_files};

/// Notes that a signal asked this process to end, which then has a second to do so by itself.
#[derive(Debug, Clone, Default)]
pub struct InterruptFlag(Arc<AtomicBool>);

impl InterruptFlag {
    /// Takes the signals from now on, for as long as the process lives. A second one ends it at once.
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

/// What a process takes of the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// Bytes of memory that are its own or in use by it.
    pub rss_bytes: u64,
    /// Files that it has open; all handles on Windows.
    pub fds: u64,
}

impl ProcessUsage {
    /// Returns what this process takes now; zeros where the system does not say.
    pub fn current() -> Self {
        let (rss_bytes, fds) = memory_and_files();
        Self { rss_bytes, fds }
    }
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

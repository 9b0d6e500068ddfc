//! A person who wants a run to end.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use tokio::signal::unix::SignalKind;
use tokio::signal::unix::signal;

use super::detached::kill_self;

/// Notes that a signal asked this process to end, which then has a second to do so by itself.
#[derive(Debug, Clone, Default)]
pub struct InterruptFlag(Arc<AtomicBool>);

impl InterruptFlag {
    /// Takes the signals from now on, for as long as the process lives. A second one ends it at once.
    pub fn install() -> io::Result<Self> {
        let interrupt = Self::default();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (mut asked, mut ended) = {
            let _inside = runtime.enter();
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
        };
        let noted = interrupt.clone();
        let wait = move || {
            runtime.block_on(async {
                loop {
                    tokio::select! {
                        _ = asked.recv() => {}
                        _ = ended.recv() => {}
                    }
                    if noted.0.swap(true, Ordering::Relaxed) {
                        let _ = kill_self();
                    }
                }
            });
        };
        std::thread::Builder::new().name("interrupts".to_owned()).spawn(wait)?;
        Ok(interrupt)
    }

    /// Says whether the process is to end.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

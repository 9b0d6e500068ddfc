//! This process, its daemons, and the programs that it starts: detaching, signals, limits and resource usage.
//!
//! Knows: sessions, process groups, jobs, signals and console events. Does not know: what a process is for.

mod detached;
mod interrupt;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

pub use interrupt::{InterruptFlag, ProcessUsage};
pub(super) use platform::{ProcessGroup, monotonic_time, thread_time};
pub use platform::{
    ShutdownSignals, detach_terminal, disable_core_dumps, ensure_open_files, host_name, is_alive, kill_self,
    redirect_output, start_detached, terminate,
};

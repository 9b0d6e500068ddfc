//! This process and its daemons: detaching, signals, limits and what it uses of the machine.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::OFlags;
use rustix::process::{Resource, Rlimit};
use tokio::signal::unix::{SignalKind, signal};

/// Starts a program detached from this one: no terminal input, and a file for its output. It should call
/// [`detach_terminal`] first thing.
#[expect(clippy::disallowed_methods, reason = "this is the window")]
pub fn start_detached(program: &Path, arguments: &[&OsStr], folder: &Path, log: &Path) -> io::Result<Child> {
    let log = open_log(log)?;
    let mut command = std::process::Command::new(program);
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.stdout(log.try_clone()?).stderr(log);
    // mimalloc's own default keeps what is freed for a second, and then until something is allocated: in a process that
    // is idle most of the time, until the next answer.
    command.env("MIMALLOC_PURGE_DELAY", "10");
    // The child leaves the terminal itself: a hook between fork and exec needs `unsafe`, which the crate forbids.
    command.spawn()
}

/// Redirects the output of this process to a file, as [`start_detached`] does for another.
pub fn redirect_output(log: &Path) -> io::Result<()> {
    let log = open_log(log)?;
    rustix::stdio::dup2_stdout(&log)?;
    Ok(rustix::stdio::dup2_stderr(&log)?)
}

fn open_log(log: &Path) -> io::Result<File> {
    // The log lies in the project, whose checkout may hold a link of its name that leads anywhere, or a FIFO that
    // blocks.
    let flags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits().cast_signed();
    OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(flags).open(log)
}

/// Leaves the terminal that this process was started from, so that its end and its keys mean nothing to us.
pub fn detach_terminal() -> io::Result<()> {
    Ok(rustix::process::setsid().map(|_| ())?)
}

/// Has the system write no image of this process and of those that it starts, should they break: a process that holds
/// keys would leave them in a file.
pub fn disable_core_dumps() -> io::Result<()> {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    Ok(rustix::process::setrlimit(Resource::Core, none)?)
}

/// Makes sure that this process may have so many files open at a time. If the system does not let it, returns how many it
/// may have.
pub fn ensure_open_files(least: u64) -> Result<(), u64> {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let is_enough = |limit: Option<u64>| limit.is_none_or(|most| least <= most);
    if is_enough(limit.current) {
        return Ok(());
    }
    let raised = Rlimit { current: limit.maximum.map(|most| most.min(least)), maximum: limit.maximum };
    let is_raised = is_enough(limit.maximum) && rustix::process::setrlimit(Resource::Nofile, raised).is_ok();
    if is_raised { Ok(()) } else { Err(limit.current.unwrap_or(0)) }
}

/// Asks a process to end.
pub fn terminate(pid: u32) -> io::Result<()> {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    let pid = pid.ok_or(io::ErrorKind::InvalidInput)?;
    Ok(rustix::process::kill_process(pid, rustix::process::Signal::TERM)?)
}

/// Returns whether there is a process of this number.
pub fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    // That of another user is one too.
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// Ends this process at once, with nothing put in order.
pub fn kill_self() -> io::Result<()> {
    Ok(rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)?)
}

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

/// Returns the name of this machine in its network.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
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

//! Sessions, signals and `/proc`.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use rustix::time::ClockId;
use tokio::signal::unix::{Signal as SystemSignal, SignalKind, signal};

use super::detached::{detached_command, open_log};

/// Starts a program detached from this one: no terminal input, and a file for its output. It should call
/// [`detach_terminal`] first.
pub fn start_detached(program: &Path, arguments: &[&OsStr], folder: &Path, log: &Path) -> io::Result<Child> {
    // The child leaves the terminal itself: a hook between fork and exec needs `unsafe`, which the crate forbids.
    detached_command(program, arguments, folder, log)?.spawn()
}

/// Redirects the output of this process to a file, as [`start_detached`] does for another.
pub fn redirect_output(log: &Path) -> io::Result<()> {
    let log = open_log(log)?;
    rustix::stdio::dup2_stdout(&log)?;
    Ok(rustix::stdio::dup2_stderr(&log)?)
}

/// Detaches this process from its terminal, so that neither its end nor its keys affect it.
pub fn detach_terminal() -> io::Result<()> {
    Ok(rustix::process::setsid().map(|_| ())?)
}

/// Disables core dumps of this process and its children, because a process that holds keys would leave them in a file.
pub fn disable_core_dumps() -> io::Result<()> {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    Ok(rustix::process::setrlimit(Resource::Core, none)?)
}

/// Ensures that this process may have `least` files open at a time. If the system does not allow that, returns how many
/// it may have.
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
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or(io::ErrorKind::InvalidInput)?;
    Ok(rustix::process::kill_process(pid, Signal::TERM)?)
}

/// Returns whether there is a process with this id.
pub fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    // The process may belong to another user.
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// Kills this process at once, without any cleanup.
pub fn kill_self() -> io::Result<()> {
    Ok(rustix::process::kill_process(rustix::process::getpid(), Signal::KILL)?)
}

/// Returns the memory of this process in bytes, and its number of open files; zeros where the system does not report
/// them.
#[expect(clippy::disallowed_methods, reason = "this is the window")]
pub(super) fn memory_and_files() -> (u64, u64) {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok()).unwrap_or(0);
    let page = rustix::param::page_size() as u64;
    let fds = std::fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64);
    (pages.saturating_mul(page), fds)
}

/// Returns the processor time that the calling thread has used.
pub(in crate::sys) fn thread_time() -> Duration {
    read_clock(ClockId::ThreadCPUTime)
}

/// Returns the time since an arbitrary moment in the past; it never goes backwards.
pub(in crate::sys) fn monotonic_time() -> Duration {
    read_clock(ClockId::Monotonic)
}

fn read_clock(clock: ClockId) -> Duration {
    let time = rustix::time::clock_gettime(clock);
    // Neither clock is ever negative.
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Returns the name of this machine in its network.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// A started program and its children.
#[derive(Debug, Clone)]
pub(in crate::sys) struct ProcessGroup(Pid);

impl ProcessGroup {
    /// Makes a program start in a process group of its own, so that its children can be stopped with it.
    pub(in crate::sys) fn prepare(command: &mut Command) {
        command.process_group(0);
    }

    /// Returns the group of a program that was prepared and started.
    pub(in crate::sys) fn new(child: &Child) -> Self {
        Self(Pid::from_child(child))
    }

    /// Waits until the program has ended, without reaping it: until then, its process id cannot be reused.
    pub(in crate::sys) fn wait_for_end(&self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let _ = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(self.0), options));
    }

    /// Stops the program and its children. A program without a group of its own is stopped alone.
    pub(in crate::sys) fn kill(&self, child: &mut Child) -> io::Result<()> {
        kill_process_group(self.0, Signal::KILL).or_else(|_| child.kill())
    }
}

/// The signals that ask this process to end.
#[derive(Debug)]
pub struct ShutdownSignals {
    terminate: SystemSignal,
    interrupt: SystemSignal,
    hangup: Option<SystemSignal>,
}

impl ShutdownSignals {
    /// Handles the signals for a service, which ends with its terminal. Must be called within a runtime.
    pub fn of_service() -> io::Result<Self> {
        Ok(Self { hangup: Some(signal(SignalKind::hangup())?), ..Self::of_command()? })
    }

    /// Handles the signals for a command. Must be called within a runtime.
    pub(super) fn of_command() -> io::Result<Self> {
        let (terminate, interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        Ok(Self { terminate, interrupt, hangup: None })
    }

    /// Waits for the next signal.
    pub async fn recv(&mut self) {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = hangup => {}
        }
    }
}

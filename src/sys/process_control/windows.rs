//! Detached processes, jobs and console events.

use std::ffi::OsStr;
use std::io;
use std::os::windows::io::{AsHandle, OwnedHandle};
use std::os::windows::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use tokio::signal::windows::{
    CtrlBreak, CtrlC, CtrlClose, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown,
};
use winapi_util::sysinfo::{ComputerNameKind, get_computer_name};
use windows_sys::Win32::Foundation::ERROR_INVALID_PARAMETER;
use windows_sys::Win32::System::Threading::{CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW, DETACHED_PROCESS};

use super::detached::{detached_command, open_log};
use crate::sys::win32;

/// Starts a program detached from this one: without a console, and with a file for its output.
pub fn start_detached(program: &Path, arguments: &[&OsStr], folder: &Path, log: &Path) -> io::Result<Child> {
    let mut command = detached_command(program, arguments, folder, log)?;
    command.creation_flags(DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP);
    // A new process inherits every handle that may be inherited, not only those that it is given.
    win32::keep_standard_handles();
    command.spawn()
}

/// Redirects the output of this process to a file, as [`start_detached`] does for another.
pub fn redirect_output(log: &Path) -> io::Result<()> {
    win32::set_output(open_log(log)?)
}

/// Does nothing: [`start_detached`] gave this process no console.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub fn detach_terminal() -> io::Result<()> {
    Ok(())
}

/// Has the system write no report of this process and of those that it starts, should they break: a process that holds
/// keys would leave them in a file.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub fn disable_core_dumps() -> io::Result<()> {
    win32::disable_error_reports();
    Ok(())
}

/// Does nothing: the system's limit of open handles is in the millions.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub fn ensure_open_files(_: u64) -> Result<(), u64> {
    Ok(())
}

/// Ends a process at once: one without a console and a window cannot be asked to.
pub fn terminate(pid: u32) -> io::Result<()> {
    win32::end_process(pid)
}

/// Returns whether there is a process of this number.
pub fn is_alive(pid: u32) -> bool {
    match win32::is_running(pid) {
        Ok(runs) => runs,
        // One that may not be asked is there: that of another user.
        Err(error) => error.raw_os_error() != Some(ERROR_INVALID_PARAMETER.cast_signed()),
    }
}

/// Ends this process at once, with nothing put in order.
pub fn kill_self() -> io::Result<()> {
    win32::end_process(std::process::id())
}

/// Returns the bytes of memory that this process has, and its open handles; zeros where the system does not say.
pub(super) fn memory_and_files() -> (u64, u64) {
    win32::memory_and_handles()
}

/// Returns the processor time that the calling thread has used.
pub(in crate::sys) fn thread_time() -> Duration {
    win32::thread_time()
}

/// Returns the time since this process first asked; it never goes back.
pub(in crate::sys) fn monotonic_time() -> Duration {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEGAN.elapsed()
}

/// Returns the name of this machine in its network.
pub fn host_name() -> String {
    let name = get_computer_name(ComputerNameKind::PhysicalDnsHostname).unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// A started program, and those that it has started.
#[derive(Debug, Clone)]
pub(in crate::sys) struct ProcessGroup {
    /// `None` where the system gives no job.
    job: Option<Arc<OwnedHandle>>,
    process: Option<Arc<OwnedHandle>>,
}

impl ProcessGroup {
    /// Has a program start without a window, and so that the keys that end this process do not end it.
    pub(in crate::sys) fn prepare(command: &mut Command) {
        command.creation_flags(CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP);
    }

    /// Puts a program that was started into a job, so that what it starts can be stopped with it. A process that it has
    /// started before this call is not in the job.
    pub(in crate::sys) fn of(child: &Child) -> Self {
        Self {
            job: win32::new_job(child).ok().map(Arc::new),
            process: child.as_handle().try_clone_to_owned().ok().map(Arc::new),
        }
    }

    /// Waits until the program has ended.
    pub(in crate::sys) fn wait_for_end(&self) {
        self.process.iter().for_each(|process| win32::wait_for_end(process));
    }

    /// Stops the program and what it started. One without a job is stopped alone.
    pub(in crate::sys) fn kill(&self, child: &mut Child) -> io::Result<()> {
        match &self.job {
            Some(job) => win32::end_job(job).or_else(|_| child.kill()),
            None => child.kill(),
        }
    }
}

/// The events of the console that ask this process to end. A process without a console gets none.
#[derive(Debug)]
pub struct ShutdownSignals {
    interrupt: CtrlC,
    interrupt_group: CtrlBreak,
    close: CtrlClose,
    shutdown: CtrlShutdown,
}

impl ShutdownSignals {
    /// Takes those for a service. A runtime has to be entered.
    pub fn of_service() -> io::Result<Self> {
        Self::of_command()
    }

    /// Takes those for a command. A runtime has to be entered.
    pub(super) fn of_command() -> io::Result<Self> {
        Ok(Self {
            interrupt: ctrl_c()?,
            interrupt_group: ctrl_break()?,
            close: ctrl_close()?,
            shutdown: ctrl_shutdown()?,
        })
    }

    /// Waits for the next one.
    pub async fn recv(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.interrupt_group.recv() => {}
            _ = self.close.recv() => {}
            _ = self.shutdown.recv() => {}
        }
    }
}

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
    // A new process inherits every inheritable handle, not only those passed to it.
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

/// Disables error reports of this process and its children, because a process that holds keys would leave them in a
/// file.
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

/// Kills a process at once: one without a console or a window cannot be asked to end.
pub fn terminate(pid: u32) -> io::Result<()> {
    win32::end_process(pid)
}

/// Returns whether there is a process with this id.
pub fn is_alive(pid: u32) -> bool {
    match win32::is_running(pid) {
        Ok(runs) => runs,
        // A process that may not be queried exists, and belongs to another user.
        Err(error) => error.raw_os_error() != Some(ERROR_INVALID_PARAMETER.cast_signed()),
    }
}

/// Kills this process at once, without any cleanup.
pub fn kill_self() -> io::Result<()> {
    win32::end_process(std::process::id())
}

/// Returns the memory of this process in bytes, and its number of open handles; zeros where the system does not report
/// them.
pub(super) fn memory_and_files() -> (u64, u64) {
    win32::memory_and_handles()
}

/// Returns the processor time that the calling thread has used.
pub(in crate::sys) fn thread_time() -> Duration {
    win32::thread_time()
}

/// Returns the time since the first call in this process; it never goes backwards.
pub(in crate::sys) fn monotonic_time() -> Duration {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEGAN.elapsed()
}

/// Returns the name of this machine in its network.
pub fn host_name() -> String {
    let name = get_computer_name(ComputerNameKind::PhysicalDnsHostname).unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// A started program and its children.
#[derive(Debug, Clone)]
pub(in crate::sys) struct ProcessGroup {
    /// `None` if the system provides no job.
    job: Option<Arc<OwnedHandle>>,
    process: Option<Arc<OwnedHandle>>,
}

impl ProcessGroup {
    /// Makes a program start without a window and unaffected by the keys that end this process.
    pub(in crate::sys) fn prepare(command: &mut Command) {
        command.creation_flags(CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP);
    }

    /// Puts a started program into a job, so that its children can be stopped with it. Children started before this
    /// call are not in the job.
    pub(in crate::sys) fn new(child: &Child) -> Self {
        Self {
            job: win32::new_job(child).ok().map(Arc::new),
            process: child.as_handle().try_clone_to_owned().ok().map(Arc::new),
        }
    }

    /// Waits until the program has ended.
    pub(in crate::sys) fn wait_for_end(&self) {
        self.process.iter().for_each(|process| win32::wait_for_end(process));
    }

    /// Stops the program and its children. A program without a job is stopped alone.
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
    /// Handles the events for a service. Must be called within a runtime.
    pub fn of_service() -> io::Result<Self> {
        Self::of_command()
    }

    /// Handles the events for a command. Must be called within a runtime.
    pub(super) fn of_command() -> io::Result<Self> {
        Ok(Self {
            interrupt: ctrl_c()?,
            interrupt_group: ctrl_break()?,
            close: ctrl_close()?,
            shutdown: ctrl_shutdown()?,
        })
    }

    /// Waits for the next event.
    pub async fn recv(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.interrupt_group.recv() => {}
            _ = self.close.recv() => {}
            _ = self.shutdown.recv() => {}
        }
    }
}

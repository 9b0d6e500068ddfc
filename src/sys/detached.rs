//! A program that goes on when the one that started it ends.

use std::ffi::OsStr;
use std::fs::File;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Child;
use std::process::Stdio;

use rustix::fs::OFlags;
use rustix::process::Resource;
use rustix::process::Rlimit;

/// Starts a program that has nothing of ours: no terminal's input, and a file for all that it says. It should call
/// [`leave_terminal`] first thing.
#[expect(clippy::disallowed_methods, reason = "this is the window")]
pub fn start_detached(program: &Path, arguments: &[&OsStr], folder: &Path, log: &Path) -> io::Result<Child> {
    let log = open_log(log)?;
    let mut command = std::process::Command::new(program);
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.stdout(log.try_clone()?).stderr(log);
    command.spawn()
}

/// Has all that this process says from now on written to a file, as [`start_detached`] does for another.
pub fn redirect_output(log: &Path) -> io::Result<()> {
    let log = open_log(log)?;
    rustix::stdio::dup2_stdout(&log)?;
    Ok(rustix::stdio::dup2_stderr(&log)?)
}

fn open_log(log: &Path) -> io::Result<File> {
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

/// Asks a process to end.
pub fn terminate(pid: u32) -> io::Result<()> {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    let pid = pid.ok_or(io::ErrorKind::InvalidInput)?;
    Ok(rustix::process::kill_process(pid, rustix::process::Signal::TERM)?)
}

/// Says whether there is a process of this number.
pub fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    // That of another user is one too.
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// Ends this process at once, with nothing put in order.
pub fn kill_self() -> io::Result<()> {
    Ok(rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)?)
}

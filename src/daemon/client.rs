//! Starts, finds and stops the background daemon from other processes.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use super::error::Error;
use super::instance::{DaemonPaths, ensure_cache_folder};
use crate::api::{ApiError, Client, ClientError, DaemonStatus, PageTicket, PerformanceReport};
use crate::engine;
use crate::sys::{Clock, Disk, FileLock, RealDisk, WallClock, start_detached, terminate};

/// How long a daemon may take until it answers.
const START_TIMEOUT: Duration = Duration::from_secs(20);
/// How long another daemon that is being started may take, after ours has given way to it.
const HANDOVER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a daemon may take to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// A larger log is rotated before a daemon is started.
const MAX_LOG_BYTES: u64 = 1 << 20;

/// The result of starting a daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartOutcome {
    Spawned(u32),
    /// A process that was already running, or was started by another command meanwhile.
    Running {
        pid: u32,
        version: String,
    },
}

/// Returns the status of a project's daemon; `None` if none answers.
pub fn status(paths: &DaemonPaths) -> Option<DaemonStatus> {
    Client::connect(&paths.socket).ok()?.status().ok()
}

/// Returns the status of a project's daemon, and how long the steps of its answers took; `None` if none answers.
pub fn performance(paths: &DaemonPaths) -> Option<PerformanceReport> {
    Client::connect(&paths.socket).ok()?.performance().ok()
}

/// Returns a ticket for the web page of a project's daemon.
pub fn page_ticket(paths: &DaemonPaths) -> Result<PageTicket, ApiError> {
    let ticket =
        Client::connect(&paths.socket).map_err(ClientError::from).and_then(|client| client.page_ticket());
    ticket.map_err(|error| match error {
        ClientError::Fault(error) => error,
        error => {
            ApiError::environment("no_answer", error.to_string(), "`slop daemon status` shows its state")
        }
    })
}

/// Returns the error of a daemon that holds the lock but does not answer.
pub fn unresponsive(paths: &DaemonPaths) -> Option<Error> {
    lock_holder(paths).map(|pid| Error::HolderUnresponsive { pid })
}

/// Starts the daemon of a project in the background, unless it runs, and waits until it answers. `program` is slop.
pub fn start(
    program: &Path,
    paths: &DaemonPaths,
    settings: &engine::Options,
    flags: &[OsString],
) -> Result<StartOutcome, Error> {
    if let Some(status) = status(paths) {
        return Ok(StartOutcome::Running { pid: status.pid, version: status.version });
    }
    ensure_cache_folder(paths, settings)?;
    if let Some(status) = wait_for_lock_holder(paths)? {
        return Ok(StartOutcome::Running { pid: status.pid, version: status.version });
    }
    // Rotated by the starter: when the daemon's own code begins, its output is already open.
    if MAX_LOG_BYTES < RealDisk.size(&paths.log).unwrap_or(0) {
        // A log that cannot be rotated keeps growing.
        let _ = RealDisk.rename(&paths.log, &paths.log.with_extension("log.1"));
    }
    match RealDisk.check_writable(&paths.log) {
        Err(source) if source.kind() != ErrorKind::NotFound => {
            return Err(Error::Log { path: paths.log.clone(), source });
        }
        Ok(()) | Err(_) => {}
    }
    let mut arguments: Vec<&OsStr> = vec![OsStr::new("--project"), paths.root.as_os_str()];
    arguments.extend(["watch", "--detached"].map(OsStr::new));
    arguments.extend(flags.iter().map(OsString::as_os_str));
    let child = start_detached(program, &arguments, &paths.root, &paths.log);
    let child = child.map_err(|source| Error::Spawn { what: "the daemon's process", source })?;
    wait_until_ready(child, paths)
}

/// Waits while a daemon holds the lock without answering, because it is starting or stopping.
fn wait_for_lock_holder(paths: &DaemonPaths) -> Result<Option<DaemonStatus>, Error> {
    let deadline = WallClock.monotonic().saturating_add(HANDOVER_TIMEOUT);
    while let Some(pid) = lock_holder(paths) {
        if let Some(status) = status(paths) {
            return Ok(Some(status));
        }
        if deadline < WallClock.monotonic() {
            return Err(Error::HolderUnresponsive { pid });
        }
        WallClock.sleep(POLL_INTERVAL);
    }
    Ok(None)
}

/// Waits until a daemon answers: the new one, or another one that was faster.
fn wait_until_ready(mut child: Child, paths: &DaemonPaths) -> Result<StartOutcome, Error> {
    let mut deadline = WallClock.monotonic().saturating_add(START_TIMEOUT);
    let mut why = "does not answer".to_owned();
    let mut has_ended = false;
    while WallClock.monotonic() < deadline {
        if let Some(status) = status(paths) {
            if status.pid == child.id() {
                return Ok(StartOutcome::Spawned(status.pid));
            }
            return Ok(StartOutcome::Running { pid: status.pid, version: status.version });
        }
        if !has_ended && let Ok(Some(ended)) = child.try_wait() {
            has_ended = true;
            why = format!("ended at once ({ended})");
            // It may have given way to another one, which is still about to start.
            let may_come = FileLock::acquire(&paths.lock).is_ok_and(|free| free.is_none());
            let patience = if may_come { HANDOVER_TIMEOUT } else { POLL_INTERVAL };
            deadline = WallClock.monotonic().saturating_add(patience);
        }
        WallClock.sleep(POLL_INTERVAL);
    }
    Err(Error::StartTimedOut { why })
}

/// Stops the daemon of a project, and waits until it has ended. Returns its process id; `None` if none was running.
pub fn stop(paths: &DaemonPaths) -> Result<Option<u32>, Error> {
    // This waits for the lock, which is released last, not for the end of the process: a new daemon can start then.
    let Some(pid) = request_stop(paths) else { return Ok(None) };
    let deadline = WallClock.monotonic().saturating_add(STOP_TIMEOUT);
    while WallClock.monotonic() < deadline {
        if !is_locked(paths) {
            return Ok(Some(pid));
        }
        WallClock.sleep(POLL_INTERVAL);
    }
    Err(Error::StillRunning { pid })
}

/// Requests the stop over the socket or, if nobody answers there, by a signal to the process that holds the lock.
fn request_stop(paths: &DaemonPaths) -> Option<u32> {
    if let Some(status) = status(paths) {
        let asked = Client::connect(&paths.socket).ok().and_then(|client| client.stop().ok());
        // It may end before its answer has arrived.
        if asked.is_some() || !is_locked(paths) {
            return Some(status.pid);
        }
    }
    let pid = lock_holder(paths)?;
    terminate(pid).ok()?;
    Some(pid)
}

/// Returns the process that holds the lock. It is read twice: between a check of the lock and a read of the process id
/// in it, a daemon may end, and another process reuse its id.
fn lock_holder(paths: &DaemonPaths) -> Option<u32> {
    let read_holder = || is_locked(paths).then(|| FileLock::holder(&paths.lock)).flatten();
    read_holder().filter(|pid| read_holder() == Some(*pid))
}

/// Returns whether a daemon holds the lock, without creating the lock file.
fn is_locked(paths: &DaemonPaths) -> bool {
    paths.lock.exists() && FileLock::acquire(&paths.lock).is_ok_and(|lock| lock.is_none())
}

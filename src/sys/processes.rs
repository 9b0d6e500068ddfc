//! Runs other programs to their end, within limits of time and output.

use std::ffi::OsStr;
use std::io;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::process_control::ProcessGroup;
use super::programs::SearchPath;

/// How long a program may be silent. Git needs seconds in the largest repositories, and hangs if an ignore
/// file is a FIFO.
const IDLE_TIMEOUT: Duration = Duration::from_mins(1);
/// How long a program may take in total.
const TOTAL_TIMEOUT: Duration = Duration::from_mins(5);
/// The number of output bytes that count as a sign of life.
const CHUNK_BYTES: usize = 64 << 10;
/// How long to read a pipe after its program has ended, because remaining children may hold it open forever.
const PIPE_GRACE_PERIOD: Duration = Duration::from_secs(1);
/// How often to check whether the caller still wants the output.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Returns a command that runs a program in a folder, in a process group of its own. The program is found on the search
/// path, but neither in the project nor in the checkout around it.
#[expect(clippy::disallowed_methods, reason = "this is the window")]
pub(super) fn prepare_command(
    program: &str,
    arguments: &[impl AsRef<OsStr>],
    folder: &Path,
    project: &Path,
) -> io::Result<Command> {
    let search_path = SearchPath::for_project(project);
    let mut command = Command::new(search_path.find(program)?);
    command.env("PATH", search_path.to_variable()).args(arguments).current_dir(folder);
    ProcessGroup::prepare(&mut command);
    Ok(command)
}

/// Starts a viewer for the user, and returns whether it works: whether it exits with 0 within `failure_window`, or
/// still runs after it. It is found like all programs, and its output is not read.
pub fn run_viewer(
    program: &str,
    arguments: &[&OsStr],
    folder: &Path,
    failure_window: Duration,
) -> io::Result<bool> {
    // Its group is its own, so that the keys that end this process do not end a browser.
    let mut command = prepare_command(program, arguments, folder, folder)?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let end = Instant::now() + failure_window;
    while Instant::now() < end {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    Ok(true)
}

/// The result of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessOutput {
    /// Whether it exited with 0.
    pub success: bool,
    pub stdout: Vec<u8>,
    /// What it wrote to its standard error.
    pub stderr: Vec<u8>,
}

/// Runs other programs.
pub trait Processes: Sync {
    /// Runs `program` in `folder` with `input`, and waits for its end. In its environment, `variables` are set, or
    /// removed if they have no value. It is found on the search path, but neither in the folder nor in the checkout
    /// around it. A program that is silent or runs for too long is killed, which is an error of kind `TimedOut`. A
    /// program killed by a signal is an error, too.
    fn run(
        &self,
        program: &str,
        arguments: &[&OsStr],
        folder: &Path,
        variables: &[(&str, Option<&str>)],
        input: &[u8],
    ) -> io::Result<ProcessOutput>;
}

/// The machine's own processes.
#[derive(Debug, Clone, Copy)]
pub struct RealProcesses;

impl Processes for RealProcesses {
    fn run(
        &self,
        program: &str,
        arguments: &[&OsStr],
        folder: &Path,
        variables: &[(&str, Option<&str>)],
        input: &[u8],
    ) -> io::Result<ProcessOutput> {
        let mut command = prepare_command(program, arguments, folder, folder)?;
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
        for (name, value) in variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let limits = ProcessLimits {
            idle_timeout: IDLE_TIMEOUT,
            total_timeout: TOTAL_TIMEOUT,
            output_bytes: usize::MAX,
            is_stopped: &|| false,
        };
        wait_for_exit(command.spawn()?, input, &limits)
    }
}

/// An event from a thread that reads a program's pipe.
enum PipeEvent {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    Failed(io::Error),
    Exited,
}

/// The output of a program so far.
#[derive(Default)]
struct CapturedOutput {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    has_exited: bool,
}

/// How long a program may run, and how much output of it is captured.
pub(super) struct ProcessLimits<'a> {
    /// How long it may write nothing.
    pub(super) idle_timeout: Duration,
    /// How long it may take in total.
    pub(super) total_timeout: Duration,
    pub(super) output_bytes: usize,
    pub(super) is_stopped: &'a (dyn Fn() -> bool + Sync),
}

/// Writes a program's input and captures its output, until it exits or reaches a limit. Children that it leaves running
/// may hold its pipes open forever, so the threads that read and write them are never joined.
pub(super) fn wait_for_exit(
    mut child: Child,
    input: &[u8],
    limits: &ProcessLimits<'_>,
) -> io::Result<ProcessOutput> {
    let group = ProcessGroup::new(&child);
    let events = start_threads(&mut child, group.clone(), input);
    let captured = events.and_then(|events| collect_output(&events, limits));
    if !captured.as_ref().is_ok_and(|captured| captured.has_exited) {
        group.kill(&mut child)?;
    }
    let status = child.wait()?;
    let captured = captured?;
    if !captured.has_exited {
        return Err(io::Error::new(io::ErrorKind::TimedOut, "it did not answer"));
    }
    if status.code().is_none() {
        return Err(io::Error::other(format!("it was killed ({status})")));
    }
    Ok(ProcessOutput { success: status.success(), stdout: captured.stdout, stderr: captured.stderr })
}

/// Starts the threads that write a program's input, read its output, and wait for its end.
fn start_threads(child: &mut Child, group: ProcessGroup, input: &[u8]) -> io::Result<Receiver<PipeEvent>> {
    let (sender, events) = channel();
    if let Some(mut pipe) = child.stdin.take() {
        // On a thread of its own, because a program that writes while it reads would fill its pipe and block. It may
        // close its input early if it does not need the rest.
        let input = input.to_vec();
        std::thread::Builder::new().spawn(move || io::Write::write_all(&mut pipe, &input))?;
    }
    if let Some(pipe) = child.stdout.take() {
        let sender = sender.clone();
        std::thread::Builder::new().spawn(move || read_all(pipe, &sender, PipeEvent::Stdout))?;
    }
    if let Some(pipe) = child.stderr.take() {
        let sender = sender.clone();
        std::thread::Builder::new().spawn(move || read_all(pipe, &sender, PipeEvent::Stderr))?;
    }
    std::thread::Builder::new().spawn(move || {
        group.wait_for_end();
        sender.send(PipeEvent::Exited)
    })?;
    Ok(events)
}

/// Collects output until the program has ended and its pipes are closed, or a limit is reached.
fn collect_output(events: &Receiver<PipeEvent>, limits: &ProcessLimits<'_>) -> io::Result<CapturedOutput> {
    let mut captured = CapturedOutput::default();
    let (mut patience, mut fresh) = (limits.idle_timeout, 0);
    let end = Instant::now() + limits.total_timeout;
    let until = |patience| end.min(Instant::now() + patience);
    let mut deadline = until(patience);
    loop {
        if (limits.is_stopped)() {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "it was stopped"));
        }
        // A program that writes continuously would never let the wait below time out.
        if end <= Instant::now() {
            return Ok(captured);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let piece = match events.recv_timeout(left.min(POLL_INTERVAL)) {
            Ok(PipeEvent::Stdout(piece)) => (&mut captured.stdout, piece),
            Ok(PipeEvent::Stderr(piece)) => (&mut captured.stderr, piece),
            Ok(PipeEvent::Failed(error)) => return Err(error),
            Ok(PipeEvent::Exited) => {
                captured.has_exited = true;
                (patience, fresh) = (patience.min(PIPE_GRACE_PERIOD), 0);
                deadline = until(patience);
                continue;
            }
            Err(RecvTimeoutError::Timeout) if POLL_INTERVAL < left => continue,
            Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout) => return Ok(captured),
        };
        let (all, piece) = piece;
        all.extend_from_slice(&piece);
        if limits.output_bytes < captured.stdout.len() + captured.stderr.len() {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it writes too much"));
        }
        fresh += piece.len();
        if CHUNK_BYTES <= fresh {
            fresh = 0;
            deadline = until(patience);
        }
    }
}

/// Forwards everything from a pipe, until the receiver is gone.
fn read_all(mut pipe: impl Read, sender: &Sender<PipeEvent>, event: fn(Vec<u8>) -> PipeEvent) {
    let mut piece = vec![0; CHUNK_BYTES];
    loop {
        let next = match pipe.read(&mut piece) {
            Ok(0) => return,
            Ok(count) => event(piece[..count].to_vec()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => PipeEvent::Failed(error),
        };
        let is_last = matches!(next, PipeEvent::Failed(_));
        if sender.send(next).is_err() || is_last {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;

    use rustix::process::{Pid, Signal};

    use super::*;

    #[expect(clippy::disallowed_methods, reason = "a test starts the program that it is about")]
    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0);
        command
    }

    fn start(script: &str) -> Child {
        shell(script).spawn().unwrap()
    }

    fn wait(child: Child, input: &[u8], idle_timeout: Duration) -> io::Result<ProcessOutput> {
        let (total_timeout, output_bytes) = (TOTAL_TIMEOUT, usize::MAX);
        let is_stopped = &|| false;
        let limits = ProcessLimits { idle_timeout, total_timeout, output_bytes, is_stopped };
        wait_for_exit(child, input, &limits)
    }

    #[test]
    fn a_program_that_never_ends_is_stopped() {
        let error = wait(start("exec sleep 1000"), b"", Duration::from_millis(50)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn a_child_that_holds_the_pipes_delays_nothing() {
        let finished = wait(start("sleep 1000 & echo $!; echo '[]'"), b"", IDLE_TIMEOUT).unwrap();
        let said = String::from_utf8(finished.stdout).unwrap();
        let (id, said) = said.split_once('\n').unwrap();
        assert_eq!((finished.success, said), (true, "[]\n"));
        // A program may leave children running on purpose, but the test has to clean up.
        let id = Pid::from_raw(id.parse().unwrap()).unwrap();
        rustix::process::kill_process(id, Signal::KILL).unwrap();
    }

    #[test]
    fn a_program_that_is_stopped_takes_its_children_with_it() {
        let (reader, writer) = io::pipe().unwrap();
        let mut command = shell("exec 3<&0; sleep 1000 & sleep 1000");
        let child = command.stdin(writer).spawn().unwrap();
        // The command keeps our end of the pipe.
        drop(command);
        assert!(wait(child, b"", Duration::from_millis(50)).is_err());
        let mut rest = Vec::new();
        assert_eq!({ reader }.read_to_end(&mut rest).unwrap(), 0, "nobody holds the pipe");
    }

    #[test]
    fn a_program_that_writes_while_it_reads_is_read_to_its_end() {
        let input = vec![b'x'; 1 << 20];
        let finished = wait(start("cat; echo bad >&2; exit 3"), &input, IDLE_TIMEOUT).unwrap();
        assert_eq!(finished, ProcessOutput { success: false, stdout: input, stderr: b"bad\n".to_vec() });
    }
}

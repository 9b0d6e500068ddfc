//! Other programs.

use std::ffi::OsStr;
use std::io;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Child;
use std::process::Stdio;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::mpsc::Sender;
use std::sync::mpsc::channel;
use std::time::Duration;
use std::time::Instant;

use rustix::process::Pid;
use rustix::process::Signal;
use rustix::process::WaitId;
use rustix::process::WaitIdOptions;
use rustix::process::kill_process_group;
use rustix::process::waitid;

/// How long a program may say nothing. Git needs seconds in the largest repositories, and for ever where an ignore
/// file is a FIFO.
const PATIENCE: Duration = Duration::from_mins(1);
/// Bytes of output after which a program has shown that it is alive.
const PIECE: usize = 64 << 10;
/// How long a pipe is listened to whose program has ended: what it left running may hold it for ever.
const GRACE: Duration = Duration::from_secs(1);
/// How often it is asked whether anybody still wants to hear a program.
const POLL: Duration = Duration::from_millis(50);

/// What a program left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Whether it exited with 0.
    pub success: bool,
    /// What it wrote to its standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to its standard error.
    pub stderr: Vec<u8>,
}

/// Runs other programs.
pub trait Processes: Sync {
    /// Runs `program` in `folder`, feeds it `input`, waits for its end. Variables named in `without` are taken out
    /// of its environment. A program that says nothing for long is stopped; that is an error of kind `TimedOut`.
    fn run(
        &self,
        program: &str,
        arguments: &[&OsStr],
        folder: &Path,
        without: &[&str],
        input: &[u8],
    ) -> io::Result<Finished>;
}

/// The machine's own processes.
#[derive(Debug, Clone, Copy)]
pub struct RealProcesses;

impl Processes for RealProcesses {
    #[expect(clippy::disallowed_methods, reason = "this is the window")]
    fn run(
        &self,
        program: &str,
        arguments: &[&OsStr],
        folder: &Path,
        without: &[&str],
        input: &[u8],
    ) -> io::Result<Finished> {
        let mut command = std::process::Command::new(program);
        command.args(arguments).current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
        // A group of its own, so that its children can be stopped with it.
        command.process_group(0);
        for name in without {
            command.env_remove(name);
        }
        finish(command.spawn()?, input, &Bounds::patient(PATIENCE))
    }
}

/// What a program's threads tell of it.
enum Event {
    Answer(Vec<u8>),
    Complaint(Vec<u8>),
    Failed(io::Error),
    Ended,
}

/// What was heard of a program.
#[derive(Default)]
struct Heard {
    answer: Vec<u8>,
    complaint: Vec<u8>,
    has_ended: bool,
}

/// How long a program is listened to, and how much of it is heard.
pub(super) struct Bounds<'a> {
    /// How long it may say nothing.
    pub(super) patience: Duration,
    /// How long it may take in all; for ever where it speaks.
    pub(super) total: Option<Duration>,
    /// Bytes that it may say.
    pub(super) output_bytes: usize,
    /// Says whether nobody wants to hear it any more.
    pub(super) is_stopped: &'a (dyn Fn() -> bool + Sync),
}

impl Bounds<'_> {
    fn patient(patience: Duration) -> Self {
        Self { patience, total: None, output_bytes: usize::MAX, is_stopped: &|| false }
    }
}

/// Feeds a program its input and takes what it says, until it ends or comes to its bounds. What it leaves running may
/// hold its pipes for ever, so that no thread that reads or writes one is waited for.
pub(super) fn finish(mut child: Child, input: &[u8], bounds: &Bounds<'_>) -> io::Result<Finished> {
    let (sender, events) = channel();
    if let Some(mut pipe) = child.stdin.take() {
        // On a thread of its own: a program that answers while it reads would fill its pipe and wait for us.
        // It may close its input early; then it did not want the rest.
        let input = input.to_vec();
        std::thread::spawn(move || io::Write::write_all(&mut pipe, &input));
    }
    if let Some(pipe) = child.stdout.take() {
        let sender = sender.clone();
        std::thread::spawn(move || read_all(pipe, &sender, Event::Answer));
    }
    if let Some(pipe) = child.stderr.take() {
        let sender = sender.clone();
        std::thread::spawn(move || read_all(pipe, &sender, Event::Complaint));
    }
    let id = Pid::from_child(&child);
    // It is left to be waited for below: until then no other process can get its number.
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    std::thread::spawn(move || {
        let _ = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(id), options));
        sender.send(Event::Ended)
    });
    let heard = listen(&events, bounds);
    if !heard.as_ref().is_ok_and(|heard| heard.has_ended) {
        // Its children too. One that is in no group of its own is stopped alone.
        kill_process_group(id, Signal::KILL).or_else(|_| child.kill())?;
    }
    let success = child.wait()?.success();
    let heard = heard?;
    if !heard.has_ended {
        return Err(io::Error::new(io::ErrorKind::TimedOut, "it did not answer"));
    }
    Ok(Finished { success, stdout: heard.answer, stderr: heard.complaint })
}

/// Listens until the program has ended and its pipes are closed, or for as long as the bounds allow.
fn listen(events: &Receiver<Event>, bounds: &Bounds<'_>) -> io::Result<Heard> {
    let mut heard = Heard::default();
    let (mut patience, mut fresh) = (bounds.patience, 0);
    let end = bounds.total.map(|total| Instant::now() + total);
    let until = |patience| end.unwrap_or(Instant::now() + patience).min(Instant::now() + patience);
    let mut deadline = until(patience);
    loop {
        if (bounds.is_stopped)() {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "it was stopped"));
        }
        // One that speaks without a pause would never let the wait below run out.
        if end.is_some_and(|end| end <= Instant::now()) {
            return Ok(heard);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let piece = match events.recv_timeout(left.min(POLL)) {
            Ok(Event::Answer(piece)) => (&mut heard.answer, piece),
            Ok(Event::Complaint(piece)) => (&mut heard.complaint, piece),
            Ok(Event::Failed(error)) => return Err(error),
            Ok(Event::Ended) => {
                heard.has_ended = true;
                (patience, fresh) = (patience.min(GRACE), 0);
                deadline = until(patience);
                continue;
            }
            Err(RecvTimeoutError::Timeout) if POLL < left => continue,
            Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout) => return Ok(heard),
        };
        let (all, piece) = piece;
        all.extend_from_slice(&piece);
        if bounds.output_bytes < heard.answer.len() + heard.complaint.len() {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it says too much"));
        }
        fresh += piece.len();
        if PIECE <= fresh {
            fresh = 0;
            deadline = until(patience);
        }
    }
}

/// Sends all that a pipe gives, until nobody listens any more.
fn read_all(mut pipe: impl Read, sender: &Sender<Event>, event: fn(Vec<u8>) -> Event) {
    let mut piece = vec![0; PIECE];
    loop {
        let next = match pipe.read(&mut piece) {
            Ok(0) => return,
            Ok(count) => event(piece[..count].to_vec()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Event::Failed(error),
        };
        let is_last = matches!(next, Event::Failed(_));
        if sender.send(next).is_err() || is_last {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "a test starts the program that it is about")]
    fn shell(script: &str) -> std::process::Command {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0);
        command
    }

    fn start(script: &str) -> Child {
        shell(script).spawn().unwrap()
    }

    #[test]
    fn a_program_that_never_ends_is_stopped() {
        let error =
            finish(start("exec sleep 1000"), b"", &Bounds::patient(Duration::from_millis(50))).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn a_child_that_holds_the_pipes_keeps_nobody_waiting() {
        let finished =
            finish(start("sleep 1000 & echo $!; echo '[]'"), b"", &Bounds::patient(PATIENCE)).unwrap();
        let said = String::from_utf8(finished.stdout).unwrap();
        let (id, said) = said.split_once('\n').unwrap();
        assert_eq!((finished.success, said), (true, "[]\n"));
        // What a program leaves running on purpose is its own affair, but not the test's.
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
        assert!(finish(child, b"", &Bounds::patient(Duration::from_millis(50))).is_err());
        let mut rest = Vec::new();
        assert_eq!({ reader }.read_to_end(&mut rest).unwrap(), 0, "nobody holds the pipe");
    }

    #[test]
    fn a_program_that_answers_while_it_reads_is_heard_to_its_end() {
        let input = vec![b'x'; 1 << 20];
        let finished =
            finish(start("cat; echo bad >&2; exit 3"), &input, &Bounds::patient(PATIENCE)).unwrap();
        assert_eq!(finished, Finished { success: false, stdout: input, stderr: b"bad\n".to_vec() });
    }
}

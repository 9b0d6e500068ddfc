//! Other programs.

use std::ffi::OsStr;
use std::io;
use std::io::Read;
use std::path::Path;
use std::process::Child;
use std::process::Stdio;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::mpsc::channel;
use std::time::Duration;

/// How long a program may say nothing. Git needs seconds in the largest repositories, and for ever where an ignore
/// file is a FIFO.
const PATIENCE: Duration = Duration::from_mins(1);
/// Bytes of output after which a program has shown that it is alive.
const PIECE: u64 = 64 << 10;

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
        for name in without {
            command.env_remove(name);
        }
        finish(command.spawn()?, input, PATIENCE)
    }
}

/// Feeds a program its input and takes what it says, until it ends or has said nothing for as long as `patience`.
fn finish(mut child: Child, input: &[u8], patience: Duration) -> io::Result<Finished> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (alive, signs) = channel();
    std::thread::scope(|scope| {
        if let Some(mut pipe) = stdin {
            // On a thread of its own: a program that answers while it reads would fill its pipe and wait for us.
            // It may close its input early; then it did not want the rest.
            scope.spawn(move || io::Write::write_all(&mut pipe, input));
        }
        // A sign that nobody waits for any more is none the less sent, to nobody.
        let answer = scope.spawn(move || read_all(stdout, || alive.send(()).unwrap_or(())));
        let complaint = scope.spawn(move || read_all(stderr, || {}));
        let is_stuck = !ends(&signs, patience);
        if is_stuck {
            child.kill()?;
        }
        let success = child.wait()?.success();
        let join = |thread: std::thread::ScopedJoinHandle<'_, io::Result<Vec<u8>>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let (stdout, stderr) = (join(answer)?, join(complaint)?);
        if is_stuck {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "it did not answer"));
        }
        Ok(Finished { success, stdout, stderr })
    })
}

/// Waits for the end of the signs; says whether it came before a silence of `patience`.
fn ends(signs: &Receiver<()>, patience: Duration) -> bool {
    loop {
        match signs.recv_timeout(patience) {
            Ok(()) => {}
            Err(RecvTimeoutError::Disconnected) => return true,
            Err(RecvTimeoutError::Timeout) => return false,
        }
    }
}

fn read_all(pipe: Option<impl Read>, mut sign: impl FnMut()) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    let Some(mut pipe) = pipe else { return Ok(all) };
    while 0 < pipe.by_ref().take(PIECE).read_to_end(&mut all)? {
        sign();
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "a test starts the program that it is about")]
    fn start(script: &str) -> Child {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    #[test]
    fn a_program_that_never_ends_is_stopped() {
        let error = finish(start("exec sleep 1000"), b"", Duration::from_millis(50)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn a_program_that_answers_while_it_reads_is_heard_to_its_end() {
        let input = vec![b'x'; 1 << 20];
        let finished = finish(start("cat; echo bad >&2; exit 3"), &input, PATIENCE).unwrap();
        assert_eq!(finished, Finished { success: false, stdout: input, stderr: b"bad\n".to_vec() });
    }
}

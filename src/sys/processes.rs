//! Other programs.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::Stdio;

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
    /// of its environment.
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
        let mut child = command.spawn()?;
        let stdin = child.stdin.take();
        std::thread::scope(|scope| {
            if let Some(mut pipe) = stdin {
                // On a thread of its own: a program that answers while it reads would fill its pipe and wait for us.
                // It may close its input early; then it did not want the rest.
                scope.spawn(move || io::Write::write_all(&mut pipe, input));
            }
            let output = child.wait_with_output()?;
            Ok(Finished { success: output.status.success(), stdout: output.stdout, stderr: output.stderr })
        })
    }
}

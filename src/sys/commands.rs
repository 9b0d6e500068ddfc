//! Runs programs that the user configured, each in a folder of its own, within limits.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use super::file_access::private_temporary_folder;
use super::processes::{ProcessLimits, ProcessOutput, prepare_command, wait_for_exit};

/// Runs programs that the user configured.
pub trait Commands: Sync {
    /// Runs a program with its arguments, without a shell, in an empty folder of its own, and passes it `input`. The
    /// program and its children are killed when it takes longer than `timeout` (an error of kind `TimedOut`), writes
    /// more than `max_output` bytes (`FileTooLarge`), or is stopped (`Interrupted`). `is_stopped` is polled several
    /// times a second.
    fn run_command(
        &self,
        command: &[String],
        input: &str,
        timeout: Duration,
        max_output: usize,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> io::Result<ProcessOutput>;
}

/// Runs programs that the user configured, none of which is in the project.
#[derive(Debug, Clone)]
pub struct RealCommands {
    /// The project's folder.
    pub project: PathBuf,
}

impl Commands for RealCommands {
    fn run_command(
        &self,
        command: &[String],
        input: &str,
        timeout: Duration,
        max_output: usize,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> io::Result<ProcessOutput> {
        let [program, arguments @ ..] = command else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no program is named"));
        };
        if is_stopped() {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "it was stopped"));
        }
        // A tool that searches for a surrounding project must find none: it may only see its input.
        let folder = private_temporary_folder()?;
        let mut started = prepare_command(program, arguments, folder.path(), &self.project)?;
        started.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (idle_timeout, total_timeout) = (timeout, timeout);
        let limits = ProcessLimits { idle_timeout, total_timeout, output_bytes: max_output, is_stopped };
        wait_for_exit(started.spawn()?, input.as_bytes(), &limits)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const LONG: Duration = Duration::from_mins(1);

    fn commands() -> RealCommands {
        RealCommands { project: PathBuf::from("/nonexistent/project") }
    }

    fn run(
        script: &str,
        timeout: Duration,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> io::Result<ProcessOutput> {
        let command = ["sh", "-c", script].map(str::to_owned);
        commands().run_command(&command, "told\n", timeout, 1000, is_stopped)
    }

    fn kind(script: &str, timeout: Duration) -> io::ErrorKind {
        run(script, timeout, &|| false).unwrap_err().kind()
    }

    #[test]
    fn a_program_receives_the_text_in_an_empty_folder_of_its_own() {
        let finished = run("cat; ls -A; stat -c %a .; exit 3", LONG, &|| false).unwrap();
        assert_eq!(String::from_utf8(finished.stdout).unwrap(), "told\n700\n");
        assert!(!finished.success);
    }

    #[test]
    fn arguments_are_not_interpreted_by_a_shell() {
        let command = ["printf", "%s", "$HOME; `id` *"].map(str::to_owned);
        let finished = commands().run_command(&command, "", LONG, 1000, &|| false).unwrap();
        assert_eq!(finished.stdout, b"$HOME; `id` *");
    }

    #[test]
    fn a_program_that_keeps_writing_is_killed_all_the_same() {
        assert_eq!(
            kind("while :; do echo; sleep 0.01; done", Duration::from_millis(100)),
            io::ErrorKind::TimedOut
        );
    }

    #[test]
    fn a_program_that_writes_too_much_is_killed() {
        assert_eq!(kind("exec yes", LONG), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn a_program_is_killed_when_it_is_stopped() {
        for script in ["exec sleep 1000", "while :; do echo; sleep 0.01; done"] {
            let asked = AtomicUsize::new(0);
            let is_stopped = || 3 <= asked.fetch_add(1, Ordering::Relaxed);
            let error = run(script, LONG, &is_stopped).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::Interrupted);
        }
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let missing = ["/nonexistent/program".to_owned()];
        let error = commands().run_command(&missing, "", LONG, 1000, &|| false).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        let none = commands().run_command(&[], "", LONG, 1000, &|| false).unwrap_err();
        assert_eq!(none.kind(), io::ErrorKind::InvalidInput);
    }
}

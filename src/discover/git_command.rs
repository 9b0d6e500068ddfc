//! Runs git for queries about a checkout, so that nothing configured in the checkout takes effect.
//!
//! A repository's settings can name many programs, and folders outside of it. None of that is needed to list files and
//! to read history.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

use super::checkout::enclosing_checkout;
use crate::model::lock;
use crate::sys::{ProcessOutput, Processes, RealDisk};

/// How long git is not run again in a folder where it timed out. The cause, such as a FIFO among the files that it
/// reads, would block every command until the timeout.
const SILENCE_AFTER_TIMEOUT: Duration = Duration::from_mins(10);

/// The folders in which git did not answer, and when.
static UNRESPONSIVE: LazyLock<Mutex<HashMap<PathBuf, Instant>>> = LazyLock::new(Mutex::default);

/// Arguments before every command.
const GLOBAL_ARGUMENTS: &[&str] = &[
    // A query takes no locks, so that it never blocks the user's own git.
    "--no-optional-locks",
    // A checkout may name a program of its own there; an empty value disables it in every version of git, whereas some
    // interpret `false` as the name of a program.
    "-c",
    "core.fsmonitor=",
    // `git diff` refreshes outdated stamps in the index, and then runs a hook of the checkout.
    "-c",
    "core.hooksPath=/dev/null",
    // A folder of the project may contain a bare repository with settings of its own.
    "-c",
    "safe.bareRepository=explicit",
    // Nothing is fetched, see below; these are additional safeguards.
    "-c",
    "protocol.allow=never",
    "-c",
    "core.sshCommand=false",
    "-c",
    "credential.helper=",
    // The user's display settings for logs and diffs must not change what is counted.
    "-c",
    "log.showRoot=true",
    "-c",
    "log.showSignature=false",
    "-c",
    "diff.autoRefreshIndex=true",
];

/// The variables of every command. Those without a value are removed: with them, a caller such as a git hook could
/// select a different repository than the one around the folder.
const GIT_VARIABLES: &[(&str, Option<&str>)] = &[
    // A partial clone names the location of its missing objects, and the program that fetches them. In addition, no
    // protocol is allowed: versions of git before 2.44 do not support the first variable, and a checkout's settings
    // cannot override the second.
    ("GIT_NO_LAZY_FETCH", Some("1")),
    ("GIT_ALLOW_PROTOCOL", Some("")),
    ("GIT_TERMINAL_PROMPT", Some("0")),
    ("GIT_DIR", None),
    ("GIT_WORK_TREE", None),
    ("GIT_INDEX_FILE", None),
    ("GIT_PREFIX", None),
    ("GIT_NAMESPACE", None),
    ("GIT_OBJECT_DIRECTORY", None),
    ("GIT_ALTERNATE_OBJECT_DIRECTORIES", None),
    ("GIT_COMMON_DIR", None),
    ("GIT_CEILING_DIRECTORIES", None),
    ("GIT_IMPLICIT_WORK_TREE", None),
    ("GIT_INTERNAL_SUPER_PREFIX", None),
    ("GIT_SHALLOW_FILE", None),
    ("GIT_GRAFT_FILE", None),
];

/// Runs git in a folder with these arguments. It starts no program and opens no connection. A timeout is an error of
/// kind `TimedOut`, which is remembered for a while.
///
/// The working tree is the folder around its `.git`, whatever the repository's settings say: with `core.worktree`, git
/// would list the names in any folder of the machine.
pub fn run_git(
    processes: &dyn Processes,
    folder: &Path,
    arguments: &[&str],
    input: &[u8],
) -> io::Result<ProcessOutput> {
    let unresponsive = || lock(&UNRESPONSIVE);
    if unresponsive().get(folder).is_some_and(|since| since.elapsed() < SILENCE_AFTER_TIMEOUT) {
        return Err(io::Error::new(io::ErrorKind::TimedOut, "it did not answer before"));
    }
    let work_tree = work_tree_argument(folder, arguments);
    let global = GLOBAL_ARGUMENTS.iter().map(OsStr::new).chain(work_tree.as_deref());
    let arguments: Vec<&OsStr> = global.chain(arguments.iter().map(OsStr::new)).collect();
    let outcome = processes.run("git", &arguments, folder, GIT_VARIABLES, input);
    if outcome.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::TimedOut) {
        unresponsive().insert(folder.to_owned(), Instant::now());
    }
    outcome
}

fn work_tree_argument(folder: &Path, arguments: &[&str]) -> Option<OsString> {
    // A repository that is about to be created is not inside another one.
    if arguments.first() == Some(&"init") {
        return None;
    }
    let mut argument = OsString::from("--work-tree=");
    argument.push(enclosing_checkout(folder, &RealDisk)?);
    Some(argument)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::testing::GitSandbox;
    use super::*;
    use crate::sys::RealProcesses;

    /// A git that never answers, with the number of its calls.
    #[derive(Default)]
    struct SilentGit(AtomicUsize);

    impl Processes for SilentGit {
        fn run(
            &self,
            _: &str,
            _: &[&OsStr],
            _: &Path,
            _: &[(&str, Option<&str>)],
            _: &[u8],
        ) -> io::Result<ProcessOutput> {
            self.0.fetch_add(1, Ordering::SeqCst);
            Err(io::Error::new(io::ErrorKind::TimedOut, "it did not answer"))
        }
    }

    #[test]
    fn where_git_does_not_answer_it_is_asked_once() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let git = SilentGit::default();
        for folder in [one.path(), one.path(), other.path(), one.path()] {
            let error = run_git(&git, folder, &["version"], b"").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        }
        assert_eq!(git.0.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn a_working_tree_elsewhere_is_not_believed() {
        let sandbox = GitSandbox::new();
        sandbox.write_all(&["project/a", "other/private"]);
        sandbox.git("project", &["init", "-q"]);
        sandbox.git("project", &["config", "core.worktree", sandbox.path("other").to_str().unwrap()]);
        let arguments = ["ls-files", "--others"];
        let listed = run_git(&RealProcesses, &sandbox.path("project"), &arguments, b"").unwrap();
        assert_eq!(String::from_utf8(listed.stdout).unwrap(), "a\n");
    }

    #[test]
    fn files_that_look_like_a_bare_repository_are_none() {
        let sandbox = GitSandbox::with_git();
        sandbox.git(".", &["init", "-q", "--bare", "fixture"]);
        let asked =
            run_git(&RealProcesses, &sandbox.path("fixture"), &["rev-parse", "--git-dir"], b"").unwrap();
        assert!(
            !asked.success && asked.stderr.starts_with(b"fatal: cannot use bare repository"),
            "{asked:?}"
        );
    }
}

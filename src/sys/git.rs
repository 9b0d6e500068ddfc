//! Git, asked so that neither the checkout nor the caller's environment can change what is asked.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use super::ProcessOutput;
use super::Processes;

/// What stands before every command.
const GLOBAL_ARGUMENTS: &[&str] = &[
    // A question takes no locks, so that it is never in the way of the user's own git.
    "--no-optional-locks",
    // A checkout may name a program of its own there; an empty value turns it off in every version of git, where
    // `false` is the name of a program to some.
    "-c",
    "core.fsmonitor=",
    // What a user likes to see of a log or a diff must not change what is counted.
    "-c",
    "log.showRoot=true",
    "-c",
    "log.showSignature=false",
    "-c",
    "diff.autoRefreshIndex=true",
];

/// Variables by which a caller, such as a git hook, may speak of another repository than the one around the folder.
const FOREIGN_VARIABLES: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CEILING_DIRECTORIES",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
];

/// Runs a git command in `folder`.
pub fn run_git(
    processes: &dyn Processes,
    folder: &Path,
    arguments: &[&str],
    input: &[u8],
) -> io::Result<ProcessOutput> {
    let arguments: Vec<&OsStr> = GLOBAL_ARGUMENTS.iter().chain(arguments).map(OsStr::new).collect();
    processes.run("git", &arguments, folder, FOREIGN_VARIABLES, input)
}

//! What a daemon is started with on every system.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::sys::file_access::{open_without_links, private_file_options};

/// Returns the command of a program that has no terminal input, and a file for its output.
#[expect(clippy::disallowed_methods, reason = "this is the window")]
pub(super) fn detached_command(
    program: &Path,
    arguments: &[&OsStr],
    folder: &Path,
    log: &Path,
) -> io::Result<Command> {
    let log = open_log(log)?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.stdout(log.try_clone()?).stderr(log);
    // mimalloc's own default keeps what is freed for a second, and then until something is allocated: in a process that
    // is idle most of the time, until the next answer.
    command.envs([("MIMALLOC_PURGE_DELAY", "1"), ("MIMALLOC_PURGE_EXTEND_DELAY", "0")]);
    Ok(command)
}

pub(super) fn open_log(log: &Path) -> io::Result<File> {
    // The log lies in the project, whose checkout may hold a link of its name that leads anywhere, or a FIFO that
    // blocks.
    open_without_links(private_file_options().append(true).create(true), log)
}

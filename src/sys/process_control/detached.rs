//! Starting a detached process, on every system.

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
    // By default, mimalloc keeps freed memory for a second and then until the next allocation: in a mostly idle
    // process, until the next answer.
    command.envs([("MIMALLOC_PURGE_DELAY", "1"), ("MIMALLOC_PURGE_EXTEND_DELAY", "0")]);
    Ok(command)
}

pub(super) fn open_log(log: &Path) -> io::Result<File> {
    // The log is in the project, whose checkout may contain a link of its name that leads anywhere, or a FIFO that
    // blocks.
    open_without_links(private_file_options().append(true).create(true), log)
}

//! Reads what a command is given in a file or on standard input.

use std::io::{self, Read};
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::api::{ItemEntry, read_json};
use crate::cli::failure::CommandError;
use crate::sys::{Disk, RealDisk};

/// Far less of a task is used, and a daemon takes no larger request.
const MAX_INPUT_BYTES: usize = 1 << 20;

/// Reads a task. What is not UTF-8 in it is replaced, as in a log with the output of several programs, and what exceeds
/// 1 MiB is cut off.
pub(super) fn read_task_file(path: &Path) -> Result<String, CommandError> {
    let mut text = read_input(path)
        .map_err(|reason| CommandError::usage(format!("task {reason}"), "give the task with --task TEXT"))?;
    text.truncate(MAX_INPUT_BYTES);
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Reads entries; none if there is no path.
pub(super) fn read_items(path: Option<&Path>) -> Result<Vec<ItemEntry>, CommandError> {
    let hint = "write a JSON list of objects with the keys of [[files]] in slop.toml";
    path.map_or(Ok(Vec::new()), |path| read_json_input(path, "items", hint))
}

/// Reads JSON that holds `what`, a plural.
///
/// # Errors
///
/// If it cannot be read, exceeds 1 MiB, or is not a `T`.
pub(super) fn read_json_input<T: DeserializeOwned>(
    path: &Path,
    what: &str,
    hint: &'static str,
) -> Result<T, CommandError> {
    let text = read_input(path).map_err(|reason| CommandError::usage(format!("{what} {reason}"), hint))?;
    if MAX_INPUT_BYTES < text.len() {
        let message = format!("{what} in {} are larger than {MAX_INPUT_BYTES} bytes", input_name(path));
        return Err(CommandError::usage(message, hint));
    }
    read_json(&text).map_err(|error| {
        CommandError::usage(format!("invalid {what} in {}: {error}", input_name(path)), hint)
    })
}

/// Reads a file, or the standard input where it is named `-`: at most one byte more than the limit.
fn read_input(path: &Path) -> Result<Vec<u8>, String> {
    let most = MAX_INPUT_BYTES as u64 + 1;
    let read = if is_stdin(path) {
        let mut text = Vec::new();
        io::stdin().lock().take(most).read_to_end(&mut text).map(|_| text)
    } else {
        RealDisk.read_prefix(path, most)
    };
    read.map_err(|error| format!("{} cannot be read: {error}", input_name(path)))
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

fn input_name(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() }
}

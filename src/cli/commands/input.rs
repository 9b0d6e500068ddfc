//! Reads the input of a command from a file or standard input.

use std::io::{self, Read};
use std::path::Path;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::api::{ItemEntry, read_json_input};
use crate::cli::failure::CommandError;
use crate::sys::RealDisk;

/// The largest input, which is the largest request of a daemon.
const MAX_INPUT_BYTES: usize = 1 << 20;
/// The most bytes that are read of a task.
const MAX_TASK_FILE_BYTES: usize = 64 << 20;

/// Reads a task in UTF-8, or in UTF-16 with a byte order mark, as `PowerShell` writes files. Invalid bytes, as in a log
/// of several programs, are replaced. Of a text larger than 1 MiB, a part in the middle is omitted, which would not be
/// used.
pub(super) fn read_task_file(path: &Path) -> Result<String, CommandError> {
    let bytes = read_input(path, MAX_TASK_FILE_BYTES)
        .map_err(|reason| CommandError::usage(format!("task {reason}"), "give the task with --task TEXT"))?;
    let (text, ..) = encoding_rs::UTF_8.decode(&bytes);
    if text.len() <= MAX_INPUT_BYTES {
        return Ok(text.into_owned());
    }
    let head = text.floor_char_boundary(MAX_INPUT_BYTES / 4);
    let tail = text.ceil_char_boundary(text.len() - MAX_INPUT_BYTES / 2);
    Ok([&text[..head], "\n", &text[tail..]].concat())
}

/// Reads entries; returns none if there is no path.
pub(super) fn read_items(path: Option<&Path>) -> Result<Vec<ItemEntry>, CommandError> {
    let hint = "write a JSON list of objects with the keys of [[files]] in slop.toml";
    path.map_or(Ok(Vec::new()), |path| read_json_file(path, "items", hint))
}

/// Reads a JSON value; `what` names its content in errors, in the plural.
///
/// # Errors
///
/// If it cannot be read, exceeds 1 MiB, or is not a `T`.
pub(super) fn read_json_file<T: DeserializeOwned + JsonSchema>(
    path: &Path,
    what: &str,
    hint: &'static str,
) -> Result<T, CommandError> {
    let text = read_input(path, MAX_INPUT_BYTES + 1)
        .map_err(|reason| CommandError::usage(format!("{what} {reason}"), hint))?;
    if MAX_INPUT_BYTES < text.len() {
        let message = format!("{what} in {} are larger than {MAX_INPUT_BYTES} bytes", input_name(path));
        return Err(CommandError::usage(message, hint));
    }
    read_json_input(&text).map_err(|error| {
        CommandError::usage(format!("invalid {what} in {}: {error}", input_name(path)), hint)
    })
}

/// Reads the beginning of a file, or of standard input if the path is `-`.
fn read_input(path: &Path, most: usize) -> Result<Vec<u8>, String> {
    let most = most as u64;
    let read = if is_stdin(path) {
        let mut text = Vec::new();
        io::stdin().lock().take(most).read_to_end(&mut text).map(|_| text)
    } else {
        RealDisk.read_input(path, most)
    };
    read.map_err(|error| format!("{} cannot be read: {error}", input_name(path)))
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

fn input_name(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() }
}

//! Reads what a command is given in a file or on standard input.

use std::io::{self, Read};
use std::path::Path;

use crate::api::{ItemEntry, read_json};
use crate::cli::failure::CommandError;
use crate::sys::{Disk, RealDisk};

/// Far less of a task is used, and a daemon takes no larger request.
const MAX_INPUT_BYTES: u64 = 1 << 20;

/// Reads a task. What is not UTF-8 in it is replaced, as in a log with the output of several programs, and what exceeds
/// 1 MiB is cut off.
pub(super) fn read_task_file(path: &Path) -> Result<String, CommandError> {
    let mut text = read_input(path)
        .map_err(|reason| CommandError::usage(format!("task {reason}"), "give the task with --task TEXT"))?;
    text.truncate(MAX_INPUT_BYTES as usize);
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Reads entries; none if there is no path.
///
/// # Errors
///
/// If they cannot be read, exceed 1 MiB, or are not a JSON list of entries.
pub(super) fn read_items(path: Option<&Path>) -> Result<Vec<ItemEntry>, CommandError> {
    let Some(path) = path else { return Ok(Vec::new()) };
    let hint = "write a JSON list of objects with the keys of [[files]] in slop.toml";
    let text = read_input(path).map_err(|reason| CommandError::usage(format!("items {reason}"), hint))?;
    if MAX_INPUT_BYTES < text.len() as u64 {
        let message = format!("items in {} are larger than {MAX_INPUT_BYTES} bytes", input_name(path));
        return Err(CommandError::usage(
            message,
            "use patterns, such as src/**, or write the entries in slop.toml",
        ));
    }
    read_json(&text)
        .map_err(|error| CommandError::usage(format!("invalid items in {}: {error}", input_name(path)), hint))
}

/// Reads a file, or the standard input where it is named `-`: at most one byte more than the limit.
fn read_input(path: &Path) -> Result<Vec<u8>, String> {
    let most = MAX_INPUT_BYTES + 1;
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

//! `slop init`

use std::io::ErrorKind;

use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::cli::place::Place;
use crate::config;
use crate::service::SETTINGS_FILE;
use crate::sys::Disk;
use crate::sys::RealDisk;

pub(super) fn run(place: &Place, output: &mut Output) -> Result<u8, Failure> {
    let path = place.root.join(SETTINGS_FILE);
    RealDisk.create_new(&path, config::commented_template().as_bytes()).map_err(|error| {
        let message = format!("write {}: {error}", path.display());
        let hint = match error.kind() {
            ErrorKind::AlreadyExists => "edit the file that is there, or move it away first",
            _ => "check the folder's permissions and the room on the disk",
        };
        Failure::usage(message, hint)
    })?;
    if output.json {
        let data = serde_json::json!({"path": path.to_string_lossy()});
        output.answer(&crate::api::envelope("init", None, &data))?;
    } else {
        output.line(&path.display().to_string())?;
    }
    Ok(failure::DONE)
}

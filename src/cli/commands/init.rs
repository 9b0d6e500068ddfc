//! `slop init`

use std::io::ErrorKind;

use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::cli::output::CommandOutput;
use crate::cli::place::ProjectLocation;
use crate::config;
use crate::service::SETTINGS_FILE;
use crate::sys::{Disk, RealDisk};

pub(super) fn run(place: &ProjectLocation, output: &mut CommandOutput) -> Result<u8, CommandError> {
    let path = place.root.join(SETTINGS_FILE);
    RealDisk.create_new(&path, config::commented_template().as_bytes()).map_err(|error| {
        let message = format!("{} cannot be written: {error}", path.display());
        let hint = match error.kind() {
            ErrorKind::AlreadyExists => "edit the file that is there, or move it away first",
            _ => "check the folder's permissions and the room on the disk",
        };
        CommandError::usage(message, hint)
    })?;
    if output.json {
        let data = serde_json::json!({"path": path.to_string_lossy()});
        output.write_envelope(&crate::api::envelope("init", None, &[], &data))?;
    } else {
        output.write_line(&path.display().to_string())?;
    }
    Ok(failure::DONE)
}

//! `slop status`

use super::desk::Desk;
use crate::api::FileStatus;
use crate::api::Freshness;
use crate::api::Request;
use crate::api::Response;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::render::grouped;

pub(super) fn run(desk: &mut Desk<'_>) -> Result<u8, Failure> {
    let response = desk.ask(Request::Status)?;
    if desk.output.json {
        desk.write_json(&response)?;
        return Ok(failure::DONE);
    }
    let Response::Status(files) = &response else { unreachable!("a status request is answered by statuses") };
    let (mut fresh, mut stale, mut new, mut left_out) = (0, 0, 0, 0);
    for file in files {
        let (word, count) = match file.freshness {
            Freshness::Fresh => ("fresh", &mut fresh),
            Freshness::Stale => ("stale", &mut stale),
            Freshness::New => ("new", &mut new),
            Freshness::LeftOut(_) => ("left out", &mut left_out),
        };
        *count += 1;
        let about = match (file.freshness, file.content) {
            (Freshness::LeftOut(reason), _) => format!("  ({reason}: {})", reason.words()),
            (_, Some((_, file_type))) => format!("  ({}, summary by {})", file_type.name, maker(file)),
            (_, None) => String::new(),
        };
        desk.output.line(&format!("{word:<9} {}{about}", file.path))?;
    }
    let counts = [(fresh, "fresh"), (stale, "stale"), (new, "new"), (left_out, "left out")];
    let counts = counts.map(|(count, word)| format!("{} {word}", grouped(count)));
    desk.output.tell(&counts.join(", "));
    Ok(failure::DONE)
}

/// Returns who made a file's summary, without the versions: those are in the JSON.
fn maker(file: &FileStatus) -> &str {
    let made_by = file.summary_by.as_deref().unwrap_or("nobody");
    made_by.split('/').next().unwrap_or(made_by)
}

//! `slop view`

use super::desk::Desk;
use super::desk::trust;
use crate::api::Request;
use crate::api::Response;
use crate::cli::args::ViewArgs;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::render::head;

pub(super) fn run(args: &ViewArgs, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    let files = desk.place.words(&args.files);
    let response = desk.ask(Request::View { files, mode: args.mode, trust: trust(args.verify) })?;
    if desk.output.json {
        desk.write_json(&response)?;
        return Ok(failure::DONE);
    }
    let Response::Views(answers) = &response else { unreachable!("a view request is answered by views") };
    for answer in answers {
        if !args.bare {
            let why = answer.why.as_ref().map_or(String::new(), |why| format!(" ({why})"));
            desk.output.line(&format!("{} · {}{why}", answer.block.path, head(&answer.block)))?;
        }
        desk.output.data(&answer.block.body)?;
        if !args.bare && !answer.block.body.ends_with('\n') {
            desk.output.data("\n")?;
        }
    }
    Ok(failure::DONE)
}

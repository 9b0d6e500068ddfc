//! `slop view`

use super::desk::Desk;
use super::desk::trust;
use crate::api::Request;
use crate::api::Response;
use crate::api::ViewAnswer;
use crate::api::ViewRequest;
use crate::cli::args::ViewArgs;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::render::head;

pub(super) fn run(args: &ViewArgs, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    let response = desk.ask(Request::View(ViewRequest {
        files: desk.place.words(&args.files),
        mode: args.chosen_mode(),
        mask: args.mask.clone(),
        lines: args.lines.clone(),
        against: args.against.clone(),
        items: desk.loaded.curation.files.clone(),
        trust: trust(args.verify),
    }))?;
    let Response::Views(answers) = &response else { unreachable!("a view request is answered by views") };
    let is_failed = |answer: &ViewAnswer| answer.block.content.is_none() && answer.why.is_some();
    let code = if answers.iter().any(is_failed) { failure::INCOMPLETE } else { failure::DONE };
    if desk.output.json {
        desk.write_json(&response)?;
        return Ok(code);
    }
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
    Ok(code)
}

//! `slop outline`

use super::desk::Desk;
use super::desk::trust;
use crate::api::Request;
use crate::api::Response;
use crate::api::lines;
use crate::cli::args::OutlineArgs;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::render::grouped;

pub(super) fn run(args: &OutlineArgs, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    let files = desk.place.words(&args.files);
    let response = desk.ask(Request::Outline { files, trust: trust(args.verify) })?;
    if desk.output.json {
        lines(&response, &mut |line| desk.output.line(line))?;
        return Ok(failure::DONE);
    }
    let Response::Outlines(answers) = &response else {
        unreachable!("an outline request is answered by outlines")
    };
    for answer in answers {
        let health = answer.outline.health;
        let health = if health.is_perfect() { String::new() } else { format!(" · parse health {health}") };
        let (language, lines) = (answer.file_type.name, grouped(answer.lines.into()));
        desk.output.line(&format!("{} · {language} · {lines} lines{health}", answer.path))?;
        desk.output.data(&answer.text())?;
    }
    Ok(failure::DONE)
}

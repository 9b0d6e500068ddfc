//! `slop outline`

use super::desk::Desk;
use crate::api::Answer;
use crate::api::Ask;
use crate::api::OutlineAsk;
use crate::api::language_name;
use crate::api::shown_path;
use crate::cli::args::OutlineArgs;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::render::grouped;

pub(super) fn run(args: &OutlineArgs, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    let ask = OutlineAsk { files: desk.place.words(&args.files), verify: args.verify };
    let answer = desk.ask(Ask::Outline(ask))?;
    let Answer::Outlines(outlines) = &answer else { unreachable!("an outline ask is answered by outlines") };
    for outline in outlines {
        if desk.output.json {
            desk.output.json_line(outline)?;
            continue;
        }
        let health = outline.health_in_words();
        let health = if outline.is_perfect() { String::new() } else { format!(" · parse health {health}") };
        let path = shown_path(&outline.path, outline.path_hex.as_deref());
        let (language, lines) = (language_name(&outline.language), grouped(outline.lines.into()));
        desk.output.line(&format!("{path} · {language} · {lines} lines{health}"))?;
        desk.output.data(&outline.text())?;
    }
    Ok(failure::DONE)
}

//! `slop view`

use super::desk::Desk;
use crate::api::Answer;
use crate::api::Ask;
use crate::api::FileView;
use crate::api::LineRange;
use crate::api::MaskEntry;
use crate::api::ModeName;
use crate::api::ViewAsk;
use crate::api::shown_path;
use crate::cli::args::ViewArgs;
use crate::cli::failure;
use crate::cli::failure::Failure;

pub(super) fn run(args: &ViewArgs, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    let mask = args.mask.iter();
    let answer = desk.ask(Ask::View(ViewAsk {
        files: desk.place.words(&args.files),
        mode: args.chosen_mode().and_then(ModeName::of),
        mask: mask.map(|(symbol, mode)| MaskEntry { symbol: symbol.clone(), show: (*mode).into() }).collect(),
        lines: args.lines.iter().map(|&(start, end)| LineRange { start, end }).collect(),
        against: args.against.clone(),
        verify: args.verify,
    }))?;
    let Answer::Views(views) = &answer else { unreachable!("a view ask is answered by views") };
    let code = if views.iter().any(FileView::is_failed) { failure::INCOMPLETE } else { failure::DONE };
    if desk.output.json {
        desk.write_data(views)?;
        return Ok(code);
    }
    for view in views {
        if !args.bare {
            let why = view.why.as_ref().map_or(String::new(), |why| format!(" ({why})"));
            let path = shown_path(&view.path, view.path_hex.as_deref());
            desk.output.line(&format!("{path} · {}{why}", view.head))?;
        }
        desk.output.data(&view.text)?;
        if !args.bare && !view.text.ends_with('\n') {
            desk.output.data("\n")?;
        }
    }
    Ok(code)
}

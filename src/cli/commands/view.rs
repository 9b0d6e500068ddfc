//! `slop view`

use super::desk::CommandContext;
use crate::api::FileView;
use crate::api::LineRange;
use crate::api::MaskEntry;
use crate::api::ModeName;
use crate::api::ViewQuery;
use crate::api::display_path;
use crate::cli::args::ViewArgs;
use crate::cli::failure;
use crate::cli::failure::CommandError;

pub(super) fn run(args: &ViewArgs, desk: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let mask = args.mask.iter();
    let views = &desk.ask(ViewQuery {
        files: desk.location.resolve_paths(&args.files),
        mode: args.chosen_mode().and_then(ModeName::from_mode),
        mask: mask.map(|(symbol, mode)| MaskEntry { symbol: symbol.clone(), show: (*mode).into() }).collect(),
        lines: args.lines.iter().map(|&(start, end)| LineRange { start, end }).collect(),
        base: args.base().cloned(),
        verify: args.verify,
    })?;
    let is_failed = views.iter().any(FileView::is_failed);
    if desk.output.json {
        desk.write_data(views)?;
        return Ok(exit_code(is_failed, desk));
    }
    for view in views {
        if !args.bare {
            let why = view.why.as_ref().map_or(String::new(), |why| format!(" ({why})"));
            let path = display_path(&view.path, view.path_hex.as_deref());
            desk.output.write_line(&format!("{path} · {}{why}", view.head))?;
        }
        desk.output.write_text(&view.text)?;
        if !args.bare && !view.text.ends_with('\n') {
            desk.output.write_text("\n")?;
        }
    }
    Ok(exit_code(is_failed, desk))
}

/// Reports the paths without a view, and returns the exit code.
fn exit_code(is_failed: bool, desk: &mut CommandContext<'_>) -> u8 {
    let code = desk.report_missing_paths();
    if is_failed { failure::INCOMPLETE } else { code }
}

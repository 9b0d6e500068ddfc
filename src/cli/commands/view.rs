//! `slop view`

use super::context::CommandContext;
use crate::api::{FileView, LineRange, MaskEntry, ModeName, ViewQuery, display_path};
use crate::cli::args::ViewArgs;
use crate::cli::failure;
use crate::cli::failure::CommandError;

pub(super) fn run(args: &ViewArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let mask = args.mask.iter();
    let views = &context.ask(ViewQuery {
        files: context.location.resolve_paths(&args.files),
        mode: args.chosen_mode().and_then(ModeName::from_mode),
        mask: mask.map(|(symbol, mode)| MaskEntry { symbol: symbol.clone(), show: (*mode).into() }).collect(),
        lines: args.lines.iter().map(|&(start, end)| LineRange { start, end }).collect(),
        base: args.base().cloned(),
        verify: args.verify,
    })?;
    let is_failed = views.iter().any(FileView::is_failed);
    if context.output.json {
        context.write_data(views)?;
        return Ok(exit_code(is_failed, context));
    }
    for view in views {
        if !args.bare {
            let why = view.why.as_ref().map_or(String::new(), |why| format!(" ({why})"));
            let path = display_path(&view.path, view.path_hex.as_deref());
            context.output.write_line(&format!("{path} · {}{why}", view.head))?;
        }
        context.output.write_text(&view.text)?;
        if !args.bare && !view.text.ends_with('\n') {
            context.output.write_text("\n")?;
        }
    }
    Ok(exit_code(is_failed, context))
}

/// Reports the paths without a view, and returns the exit code.
fn exit_code(is_failed: bool, context: &mut CommandContext<'_>) -> u8 {
    let code = context.report_missing_paths();
    if is_failed { failure::INCOMPLETE } else { code }
}

//! `slop outline`

use super::context::CommandContext;
use crate::api::{OutlineQuery, display_path, language_name};
use crate::cli::args::OutlineArgs;
use crate::cli::failure::CommandError;
use crate::render::format_grouped;

pub(super) fn run(args: &OutlineArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let query = OutlineQuery { files: context.location.resolve_paths(&args.files), verify: args.verify };
    let outlines = context.ask(query)?;
    for outline in &outlines {
        if context.output.json {
            context.output.write_json_line(outline)?;
            continue;
        }
        let health = outline.health_percent();
        let health = if outline.is_perfect() { String::new() } else { format!(" · parse health {health}") };
        let path = display_path(&outline.path, outline.path_hex.as_deref());
        let (language, lines) = (language_name(&outline.language), format_grouped(outline.lines.into()));
        context.output.write_line(&format!("{path} · {language} · {lines} lines{health}"))?;
        context.output.write_text(&outline.text())?;
    }
    Ok(context.report_missing_paths())
}

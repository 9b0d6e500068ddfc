//! `slop symbol`

use super::context::CommandContext;
use crate::api::{SymbolsQuery, display_path};
use crate::cli::args::SymbolArgs;
use crate::cli::failure;
use crate::cli::failure::CommandError;

pub(super) fn run(args: &SymbolArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let query = SymbolsQuery { name: args.name.clone(), definition: args.definition };
    let symbols = &context.ask(query)?;
    if context.output.json {
        context.write_data(symbols)?;
    }
    if symbols.is_empty() {
        let message = format!("no symbol named `{}` in the project", args.name);
        return Err(CommandError::usage(message, "`slop outline` lists the symbols of every file"));
    }
    if context.output.json {
        return Ok(failure::DONE);
    }
    for symbol in symbols {
        if args.signature {
            context.output.write_line(&symbol.signature)?;
            continue;
        }
        let path = display_path(&symbol.path, symbol.path_hex.as_deref());
        let place = format!("{path}:{}-{}", symbol.start_line, symbol.end_line);
        context.output.write_line(&format!("{place} [{}] {}", symbol.kind_title(), symbol.qualified_name))?;
        match &symbol.definition {
            Some(text) => context.output.write_line(text.trim_end_matches(['\n', '\r']))?,
            None => context.output.write_line(&format!("  {}", symbol.signature))?,
        }
        if let (Some(doc), None) = (&symbol.doc, &symbol.definition) {
            context.output.write_line(&format!("  {doc}"))?;
        }
    }
    Ok(failure::DONE)
}

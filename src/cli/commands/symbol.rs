//! `slop symbol`

use super::desk::Desk;
use crate::api::Answer;
use crate::api::Ask;
use crate::api::SymbolsAsk;
use crate::api::shown_path;
use crate::cli::args::SymbolArgs;
use crate::cli::failure;
use crate::cli::failure::Failure;

pub(super) fn run(args: &SymbolArgs, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    let ask = SymbolsAsk { name: args.name.clone(), definition: args.definition };
    let answer = desk.ask(Ask::Symbols(ask))?;
    let Answer::Symbols(symbols) = &answer else { unreachable!("a symbols ask is answered by symbols") };
    if desk.output.json {
        desk.write_data(symbols)?;
    }
    if symbols.is_empty() {
        let message = format!("find a symbol named `{}` in the project", args.name);
        return Err(Failure::usage(message, "`slop outline` lists the symbols of every file"));
    }
    if desk.output.json {
        return Ok(failure::DONE);
    }
    for symbol in symbols {
        if args.signature {
            desk.output.line(&symbol.signature)?;
            continue;
        }
        let path = shown_path(&symbol.path, symbol.path_hex.as_deref());
        let place = format!("{path}:{}-{}", symbol.start_line, symbol.end_line);
        desk.output.line(&format!("{place} [{}] {}", symbol.kind_title(), symbol.qualified_name))?;
        match &symbol.definition {
            Some(text) => desk.output.line(text.trim_end_matches(['\n', '\r']))?,
            None => desk.output.line(&format!("  {}", symbol.signature))?,
        }
        if let (Some(doc), None) = (&symbol.doc, &symbol.definition) {
            desk.output.line(&format!("  {doc}"))?;
        }
    }
    Ok(failure::DONE)
}

//! `slop symbol`

use super::desk::Desk;
use crate::api::Request;
use crate::api::Response;
use crate::api::Trust;
use crate::cli::args::SymbolArgs;
use crate::cli::failure;
use crate::cli::failure::Failure;

pub(super) fn run(args: &SymbolArgs, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    let name = args.name.clone();
    let request = Request::Symbol { name, with_text: args.definition, trust: Trust::Stamps };
    let response = desk.ask(request)?;
    let Response::Symbols(answers) = &response else {
        unreachable!("a symbol request is answered by symbols")
    };
    if desk.output.json {
        desk.write_json(&response)?;
    }
    if answers.is_empty() {
        let message = format!("find a symbol named `{}` in the project", args.name);
        return Err(Failure::usage(message, "`slop outline` lists the symbols of every file"));
    }
    if desk.output.json {
        return Ok(failure::DONE);
    }
    for answer in answers {
        let symbol = &answer.symbol;
        if args.signature {
            desk.output.line(&symbol.signature)?;
            continue;
        }
        let (title, span) = (symbol.kind.title(), symbol.span);
        let place = format!("{}:{}-{}", answer.path, span.start_line, span.end_line);
        desk.output.line(&format!("{place} [{title}] {}", symbol.qualified_name))?;
        match &answer.definition {
            Some(text) => desk.output.line(text.trim_end_matches(['\n', '\r']))?,
            None => desk.output.line(&format!("  {}", symbol.signature))?,
        }
        if let (Some(doc), None) = (&symbol.doc, &answer.definition) {
            desk.output.line(&format!("  {doc}"))?;
        }
    }
    Ok(failure::DONE)
}

//! Commands about references: `refs`, `callers`, `callees` and `impact`.

use super::context::CommandContext;
use crate::api::{
    AllReferencesQuery, CallDirectionName, CallsQuery, ImpactQuery, ReachedPlace, ReferenceEdge,
    ReferencePlace, RefsQuery, SymbolPlace, display_path,
};
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::cli::reference_args::{CallsArgs, ImpactArgs, RefsArgs};
use crate::model::printable;
use crate::render::format_grouped;

pub(super) fn refs(args: &RefsArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let Some(symbol) = &args.symbol else { return all_refs(context) };
    let uses = &context.ask(RefsQuery { symbol: Some(symbol.clone()) })?;
    if context.output.json {
        return context.write_data(uses);
    }
    write_definitions(&uses.definitions, context)?;
    // Which of several definitions is meant is said where there are several.
    let is_ambiguous = 1 < uses.definitions.len();
    for edge in &uses.references {
        let to = if is_ambiguous { format!(" · {}", line_of(&edge.to)) } else { String::new() };
        let line = format!("  {} · {}{to}", place_text(&edge.from), edge.grade);
        context.output.write_line(&line)?;
    }
    report(uses.references.len(), ["use", "uses"], uses.unresolved, context);
    Ok(failure::DONE)
}

fn all_refs(context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let graph = context.ask(AllReferencesQuery)?;
    for reference in graph.references() {
        let edge = ReferenceEdge::new(&graph, reference);
        // A line per use, and no envelope: a reader can handle one at a time, however many there are.
        if context.output.json {
            context.output.write_json_line(&edge)?;
            continue;
        }
        let (from, to) = (place_text(&edge.from), place_text(&edge.to));
        context.output.write_line(&format!("{from} → {to} · {}", edge.grade))?;
    }
    report(graph.references().len(), ["use", "uses"], graph.unresolved(), context);
    Ok(failure::DONE)
}

pub(super) fn callers(args: &CallsArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    calls(args, CallDirectionName::Callers, context)
}

pub(super) fn callees(args: &CallsArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    calls(args, CallDirectionName::Callees, context)
}

fn calls(
    args: &CallsArgs,
    direction: CallDirectionName,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    let query = CallsQuery { symbol: args.symbol.clone(), direction, depth: Some(args.depth) };
    let calls = &context.ask(query)?;
    if context.output.json {
        return context.write_data(calls);
    }
    write_definitions(&calls.definitions, context)?;
    for reached in &calls.calls {
        // Of a caller the line of the call is of interest, of what is called the line of the definition.
        let line = match (&reached.via, direction) {
            (Some(via), CallDirectionName::Callers) => via.line,
            _ => reached.line,
        };
        context.output.write_line(&format!("  {}", reached_text(reached, line, 1)))?;
    }
    let words = match direction {
        CallDirectionName::Callers => ["caller", "callers"],
        CallDirectionName::Callees => ["callee", "callees"],
    };
    report(calls.calls.len(), words, calls.unresolved, context);
    Ok(failure::DONE)
}

pub(super) fn impact(args: &ImpactArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    // A path is given from the current folder; what is no path there is a symbol.
    let target = args.target.clone().and_then(|word| context.location.resolve_focus(&[word]).pop());
    let query = ImpactQuery { target, base: args.diff.clone(), depth: args.depth, tests: args.tests };
    let impact = &context.ask(query)?;
    if context.output.json {
        return context.write_data(impact);
    }
    for reached in &impact.affected {
        context.output.write_line(&reached_text(reached, reached.line, 0))?;
    }
    for removed in impact.changed.iter().filter(|changed| changed.removed) {
        let path = display_path(&removed.path, removed.path_hex.as_deref());
        let name = printable(removed.symbol.as_deref().unwrap_or_default());
        context.output.note(&format!("{name} of {path} is gone, and what used it is not followed"));
    }
    let words = if args.tests { ["test", "tests"] } else { ["symbol", "symbols"] };
    report(impact.affected.len(), words, impact.unresolved, context);
    Ok(failure::DONE)
}

fn write_definitions(
    definitions: &[SymbolPlace],
    context: &mut CommandContext<'_>,
) -> Result<(), CommandError> {
    for definition in definitions {
        let path = display_path(&definition.path, definition.path_hex.as_deref());
        let SymbolPlace { line, end_line, kind, symbol, .. } = definition;
        context.output.write_line(&format!("{path}:{line}-{end_line} [{kind}] {}", printable(symbol)))?;
    }
    Ok(())
}

/// Says how many were found, on standard error: a count is no row of the list.
fn report(count: usize, words: [&str; 2], unresolved: u64, context: &mut CommandContext<'_>) {
    let word = words[usize::from(count != 1)];
    let unresolved = match unresolved {
        0 => String::new(),
        1 => "; 1 use of the name could not be resolved".to_owned(),
        many => format!("; {} uses of such names could not be resolved", format_grouped(many)),
    };
    context.output.message(&format!("{} {word}{unresolved}", format_grouped(count as u64)));
}

fn line_of(place: &ReferencePlace) -> String {
    format!("{}:{}", display_path(&place.path, place.path_hex.as_deref()), place.line)
}

fn place_text(place: &ReferencePlace) -> String {
    let symbol = place.symbol.as_deref().map(|symbol| format!(" {}", printable(symbol)));
    format!("{}{}", line_of(place), symbol.unwrap_or_default())
}

/// Returns a row of what was reached; its distance is said where it is more than `usual`.
fn reached_text(reached: &ReachedPlace, line: u32, usual: u32) -> String {
    let path = display_path(&reached.path, reached.path_hex.as_deref());
    let symbol = reached.symbol.as_deref().map(|symbol| format!(" {}", printable(symbol)));
    let steps = match reached.distance {
        distance if distance <= usual => String::new(),
        1 => " · 1 step".to_owned(),
        distance => format!(" · {distance} steps"),
    };
    format!("{path}:{line}{} · {}{steps}", symbol.unwrap_or_default(), reached.grade)
}

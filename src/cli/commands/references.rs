//! Commands about references: `refs`, `callers`, `callees` and `impact`.

use super::context::CommandContext;
use crate::api::{
    AllReferencesQuery, CallDirectionName, CallsQuery, ImpactQuery, ReferenceEdge, RefsQuery, found_text,
};
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::cli::reference_args::{CallsArgs, ImpactArgs, RefsArgs};

pub(super) fn refs(args: &RefsArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let Some(symbol) = &args.symbol else { return all_refs(context) };
    let uses = &context.ask(RefsQuery { symbol: Some(symbol.clone()) })?;
    if context.output.json {
        return context.write_data(uses);
    }
    context.output.write_text(&uses.text())?;
    // The count is not part of the list, so it goes to standard error.
    context.output.message(&found_text(uses.line_count(), USES, uses.unresolved, true));
    Ok(failure::DONE)
}

const USES: [&str; 2] = ["use", "uses"];

fn all_refs(context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let graph = context.ask(AllReferencesQuery)?;
    for reference in graph.references() {
        let edge = ReferenceEdge::new(&graph, reference);
        // A line per use and no envelope, so that a reader can process them one at a time.
        if context.output.json {
            context.output.write_json_line(&edge)?;
            continue;
        }
        context.output.write_line(&format!("{} → {} · {}", edge.from.text(), edge.to.text(), edge.grade))?;
    }
    let unresolved = graph.unresolved();
    context.output.message(&found_text(graph.references().count(), USES, unresolved, false));
    Ok(failure::DONE)
}

pub(super) fn callers(args: &CallsArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    calls(args, CallDirectionName::Callers, ["caller", "callers"], context)
}

pub(super) fn callees(args: &CallsArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    calls(args, CallDirectionName::Callees, ["callee", "callees"], context)
}

fn calls(
    args: &CallsArgs,
    direction: CallDirectionName,
    words: [&str; 2],
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    let query = CallsQuery { symbol: args.symbol.clone(), direction, depth: Some(args.depth) };
    let calls = &context.ask(query)?;
    if context.output.json {
        return context.write_data(calls);
    }
    let are_callers = direction == CallDirectionName::Callers;
    context.output.write_text(&calls.text(are_callers))?;
    context.output.message(&found_text(calls.calls.len(), words, calls.unresolved, are_callers));
    Ok(failure::DONE)
}

pub(super) fn impact(args: &ImpactArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    // A path is relative to the current folder; what is not a path there is a symbol.
    let target = args.target.clone().and_then(|word| context.location.resolve_focus(&[word]).pop());
    let query = ImpactQuery { target, base: args.diff.clone(), depth: args.depth, tests: args.tests };
    let impact = &context.ask(query)?;
    if context.output.json {
        return context.write_data(impact);
    }
    context.output.write_text(&impact.text())?;
    for note in impact.removal_notes() {
        context.output.note(&note);
    }
    let words = if args.tests { ["test", "tests"] } else { ["symbol", "symbols"] };
    context.output.message(&found_text(impact.affected.len(), words, impact.unresolved, true));
    Ok(failure::DONE)
}

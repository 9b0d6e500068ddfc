//! Resolves a question for the table of all files.

use super::document::resolve_aggregate;
use super::resolved::{QuerySettings, ResolvedQuery, bad_query, complete};
use crate::api::{AggregateQuery, ApiError, FileTable, NameOrInline, TableQuery, ViewSelection};
use crate::engine::{TableClock, TableRequest};

pub(super) fn resolve_table(
    query: TableQuery,
    settings: QuerySettings<'_>,
) -> Result<ResolvedQuery, ApiError> {
    let TableQuery { choice, since, trust_events: trusts_events } = query;
    let clock = since.as_deref().map(parse_clock).transpose()?;
    let key = serde_json::to_string(&choice).map_err(|_| ApiError::bug())?;
    let words = describe(&choice);
    let document = AggregateQuery { choice, ..AggregateQuery::default() };
    let aggregation = resolve_aggregate(document, settings)?.request;
    let summary_tier = aggregation.tier.as_ref().filter(|tier| tier.by_model).map(|tier| tier.tier.number());
    let request = TableRequest { choice: key, aggregation, since: clock, trusts_events };
    Ok(complete::<TableQuery>(move |project| {
        let answer = project.file_table(&request)?;
        Ok(FileTable::new(&answer, words, since, summary_tier))
    }))
}

/// Reads the clock of a table.
pub(super) fn parse_clock(text: &str) -> Result<TableClock, ApiError> {
    text.parse()
        .map_err(|_| bad_query("not the clock of a table", "give the `clock` of an answer of /v1/table"))
}

/// Describes a choice in words.
fn describe(choice: &ViewSelection) -> String {
    let name = |what: &str, name: Option<&str>| match name {
        Some(name) => format!("{what} {name}"),
        None => format!("a {what} of the request"),
    };
    let mut words = Vec::new();
    words.extend(choice.tier.map(|tier| format!("tier {tier}")));
    words.extend(choice.persona.as_ref().map(|persona| name("persona", plain_name(persona))));
    words.extend(choice.preset.as_ref().map(|preset| name("preset", plain_name(preset))));
    words.extend(choice.budget.map(|budget| format!("budget {budget}")));
    words.extend(choice.max_bytes.map(|bytes| format!("at most {bytes} bytes")));
    if !choice.focus.is_empty() {
        words.push(format!("focus {}", choice.focus.join(" ")));
    }
    words.extend(choice.task.as_ref().map(|_| "a task".to_owned()));
    if words.is_empty() { "the settings".to_owned() } else { words.join(", ") }
}

fn plain_name<I>(choice: &NameOrInline<I>) -> Option<&str> {
    match choice {
        NameOrInline::Name(name) => Some(name),
        NameOrInline::Inline(_) => None,
    }
}

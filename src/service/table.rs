//! The table of all files: their states, joined with what a document shows of them.

use std::collections::HashMap;
use std::sync::Arc;

use super::document::resolve_aggregate;
use super::resolved::{QuerySettings, ResolvedQuery, bad_query, complete};
use crate::api::{
    AggregateQuery, ApiError, FileColumns, FormatName, NameOrInline, ReceiptScope, TableQuery, ViewSelection,
    compose_document,
};
use crate::engine::{FileTable, TableVersion};

pub(super) fn resolve_table(
    query: TableQuery,
    settings: QuerySettings<'_>,
) -> Result<ResolvedQuery, ApiError> {
    let since: Option<TableVersion> = match query.since.as_deref().map(str::parse) {
        Some(Ok(version)) => Some(version),
        Some(Err(_)) => {
            return Err(bad_query(
                "`since` is not a version of a table",
                "send the `version` of an earlier answer",
            ));
        }
        None => None,
    };
    let description = description(&query.choice);
    let aggregate = AggregateQuery {
        choice: query.choice,
        exact_tokens: query.exact_tokens,
        receipt: ReceiptScope::None,
        format: FormatName::Markdown,
        ..AggregateQuery::default()
    };
    let request = resolve_aggregate(aggregate, settings)?;
    // Of entries for the same path the last one applies.
    let entries = settings.loaded.curation.files.iter().enumerate();
    let entries: HashMap<String, usize> = entries.map(|(at, item)| (item.path.clone(), at)).collect();
    let items = settings.loaded.curation.files.clone();
    Ok(complete::<TableQuery>(move |project| {
        let document = compose_document(project, &request)?;
        // Nobody is given the document.
        project.discard_delivery();
        let is_exact = request.request.exact_tokens;
        let files = project.status()?;
        let table = Arc::new(FileTable::new(files, &document.receipt, &items, is_exact));
        let earlier = since.and_then(|version| project.recent_table(version));
        project.remember_table(&table);
        Ok(FileColumns::new(&table, earlier.as_deref(), description, &entries))
    }))
}

/// Returns whom a table is about.
fn description(choice: &ViewSelection) -> String {
    let tier = choice.tier.map(|tier| format!("tier {tier}"));
    let persona = choice.persona.as_ref().map(|persona| match persona {
        NameOrInline::Name(name) => format!("persona {name}"),
        NameOrInline::Inline(_) => "persona".to_owned(),
    });
    let preset = choice.preset.as_ref().map(|preset| match preset {
        NameOrInline::Name(name) => format!("preset {name}"),
        NameOrInline::Inline(_) => "preset".to_owned(),
    });
    let parts: Vec<String> = [tier, persona, preset].into_iter().flatten().collect();
    if parts.is_empty() { "project".to_owned() } else { parts.join(", ") }
}

//! The placements of hydration as resources: `slop://hydrated` is the document of HOT files, `slop://fragments/WARM`
//! lists the files and slices of a tier, and `slop://simulate?task=…` simulates a hydration. A resource costs an agent
//! nothing until it is read. `slop_aggregate` with `hydrate` makes the placements.

use percent_encoding::percent_decode_str;
use rmcp::model::{ResourceContents, ResourceTemplate};

use crate::api::choices::ReceiptScope;
use crate::api::queries::{
    AggregateQuery, FragmentsQuery, HydrateQuery, SimulateQuery, ViewSelection, WarmthName, token_limit,
};
use crate::api::wire::{ComposedDocument, FragmentPlace, HydrationResult};

const HYDRATED: &str = "slop://hydrated";
const FRAGMENTS: &str = "slop://fragments/";
const SIMULATE: &str = "slop://simulate";
const TIERS: [(&str, WarmthName); 3] =
    [("HOT", WarmthName::Hot), ("WARM", WarmthName::Warm), ("COLD", WarmthName::Cold)];

/// The question of an address.
pub(super) enum HydrationQuery {
    Document(Box<AggregateQuery>),
    Fragments(FragmentsQuery),
    Simulate(Box<SimulateQuery>),
}

pub(super) fn templates() -> [ResourceTemplate; 3] {
    let document = ResourceTemplate::new(HYDRATED, "hydrated")
        .with_title("The hydrated files")
        .with_description(
            "One document of the files that slop_aggregate with `hydrate` placed as HOT, and the names of those that are WARM.",
        )
        .with_mime_type("text/markdown");
    let fragments = ResourceTemplate::new(format!("{FRAGMENTS}{{tier}}"), "fragments")
        .with_title("The files of a tier")
        .with_description("The places of files, one JSON object a line. tier is one of HOT, WARM, COLD.")
        .with_mime_type("application/x-ndjson");
    let simulate = ResourceTemplate::new(format!("{SIMULATE}{{?task,focus*,budget,tier}}"), "simulate")
        .with_title("What would be placed where")
        .with_description(
            "What slop_aggregate with `hydrate` would make HOT for a task in words, files in focus, a budget in tokens and a tier from 1 \
             to 4, as JSON with the numbers of each tier. Nothing is written.",
        )
        .with_mime_type("application/json");
    [document, fragments, simulate]
}

/// Returns the question of an address; `None` if it belongs to another resource.
pub(super) fn parse_address(address: &str) -> Option<HydrationQuery> {
    if address == HYDRATED {
        let query =
            AggregateQuery { hydrated: true, receipt: ReceiptScope::None, ..AggregateQuery::default() };
        return Some(HydrationQuery::Document(Box::new(query)));
    }
    if let Some(query) = address.strip_prefix(SIMULATE) {
        let query = SimulateQuery(HydrateQuery { choice: parse_choice(query)?, fragments: true });
        return Some(HydrationQuery::Simulate(Box::new(query)));
    }
    let tier = address.strip_prefix(FRAGMENTS)?;
    let (_, tier) = TIERS.iter().find(|(name, _)| *name == tier)?;
    Some(HydrationQuery::Fragments(FragmentsQuery { tier: Some(*tier), text: false }))
}

/// Parses the query of a simulation's address; `None` if it does not match the template.
fn parse_choice(query: &str) -> Option<ViewSelection> {
    let mut choice = ViewSelection::default();
    if query.is_empty() {
        return Some(choice);
    }
    for pair in query.strip_prefix('?')?.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=')?;
        let value = percent_decode_str(value).decode_utf8().ok()?.into_owned();
        match key {
            "task" => choice.task = Some(value),
            "focus" => choice.focus.push(value),
            "budget" => choice.budget = Some(token_limit::parse(&value).ok()?),
            "tier" => choice.tier = Some(value.parse().ok()?),
            _ => return None,
        }
    }
    Some(choice)
}

/// Returns a note about a hydration, which precedes the document.
pub(super) fn placement_note(placed: &HydrationResult) -> String {
    let HydrationResult { hot, warm, cold, hot_tokens_limit, promoted, demoted, .. } = placed;
    let limit = if *hot_tokens_limit == 0 { String::new() } else { format!(" of {hot_tokens_limit}") };
    format!(
        "{} HOT with {} tokens{limit}, {} WARM, {} COLD; {promoted} promoted, {demoted} demoted; \
         {FRAGMENTS}{{tier}} lists them",
        hot.fragments, hot.tokens, warm.fragments, cold.fragments,
    )
}

/// Returns the totals of all tiers, and the placements of HOT fragments: in a large project, more would fill the
/// context.
pub(super) fn simulation_contents(mut placed: HydrationResult, address: &str) -> ResourceContents {
    placed.fragments.retain(|place| place.tier == Some(WarmthName::Hot));
    // Unplaced fragments would be all files of a project without hydration.
    placed.moved.retain(|moved| moved.from.is_some());
    let json = serde_json::to_string(&placed).expect("a result is plain data");
    ResourceContents::text(json, address).with_mime_type("application/json")
}

pub(super) fn document_contents(document: ComposedDocument, address: &str) -> ResourceContents {
    let text = document.text.map(|text| text.text().into_owned()).unwrap_or_default();
    ResourceContents::text(text, address).with_mime_type("text/markdown")
}

pub(super) fn fragment_contents(places: &[FragmentPlace], address: &str) -> ResourceContents {
    let line = |place: &FragmentPlace| {
        let json = serde_json::to_string(place).expect("a place is plain data");
        json + "\n"
    };
    ResourceContents::text(places.iter().map(line).collect::<String>(), address)
        .with_mime_type("application/x-ndjson")
}

//! What hydration has placed, as resources: `slop://hydrated` is the document of the files that are HOT, and
//! `slop://fragments/WARM` lists the files of a tier with their places. A resource costs an agent nothing until it is read.

use rmcp::model::{ResourceContents, ResourceTemplate};

use crate::api::choices::ReceiptScope;
use crate::api::queries::{AggregateQuery, FragmentsQuery, WarmthName};
use crate::api::wire::{ComposedDocument, FragmentPlace};

const HYDRATED: &str = "slop://hydrated";
const FRAGMENTS: &str = "slop://fragments/";
const TIERS: [(&str, WarmthName); 3] =
    [("HOT", WarmthName::Hot), ("WARM", WarmthName::Warm), ("COLD", WarmthName::Cold)];

/// What an address asks for.
pub(super) enum HydrationQuery {
    Document(Box<AggregateQuery>),
    Fragments(FragmentsQuery),
}

pub(super) fn templates() -> [ResourceTemplate; 2] {
    let document = ResourceTemplate::new(HYDRATED, "hydrated")
        .with_title("The hydrated files")
        .with_description(
            "One document of the files that `slop hydrate` placed as HOT, and the names of those that are WARM.",
        )
        .with_mime_type("text/markdown");
    let fragments = ResourceTemplate::new(format!("{FRAGMENTS}{{tier}}"), "fragments")
        .with_title("The files of a tier")
        .with_description("The places of files, one JSON object a line. tier is one of HOT, WARM, COLD.")
        .with_mime_type("application/x-ndjson");
    [document, fragments]
}

/// Returns what an address asks for; `None` if it is another resource's.
pub(super) fn parse_address(address: &str) -> Option<HydrationQuery> {
    if address == HYDRATED {
        let query =
            AggregateQuery { hydrated: true, receipt: ReceiptScope::None, ..AggregateQuery::default() };
        return Some(HydrationQuery::Document(Box::new(query)));
    }
    let tier = address.strip_prefix(FRAGMENTS)?;
    let (_, tier) = TIERS.iter().find(|(name, _)| *name == tier)?;
    Some(HydrationQuery::Fragments(FragmentsQuery { tier: Some(*tier), text: false }))
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

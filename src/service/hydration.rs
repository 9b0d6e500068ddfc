//! Resolves questions about the placement of a project's files.

use std::collections::BTreeMap;

use super::document::{resolve_aggregate, resolve_explain};
use super::resolved::{QuerySettings, ResolvedQuery, bad_query, complete};
use crate::api::{
    AggregateQuery, ApiError, EditFragmentsQuery, ExplainQuery, FragmentAction, FragmentPlace,
    FragmentsQuery, HydrateQuery, HydrationResult, SimulateQuery,
};
use crate::engine::{HydrationLimits, HydrationRequest, NamedFragments, Project};
use crate::model::{Depth, Pin, ViewMode};

pub(super) fn resolve_hydrate(
    query: HydrateQuery,
    settings: QuerySettings<'_>,
) -> Result<ResolvedQuery, ApiError> {
    let with_fragments = query.fragments;
    let request = HydrationRequest { is_kept: true, ..hydration_request(query, settings)? };
    Ok(complete::<HydrateQuery>(move |project| place(project, &request, with_fragments)))
}

pub(super) fn resolve_simulate(
    query: SimulateQuery,
    settings: QuerySettings<'_>,
) -> Result<ResolvedQuery, ApiError> {
    let with_fragments = query.0.fragments;
    let request = hydration_request(query.0, settings)?;
    Ok(complete::<SimulateQuery>(move |project| place(project, &request, with_fragments)))
}

fn place(
    project: &mut Project<'_>,
    request: &HydrationRequest,
    with_fragments: bool,
) -> Result<HydrationResult, ApiError> {
    Ok(HydrationResult::new(project.hydrate(request)?, with_fragments))
}

/// Returns a request that does not keep the places.
fn hydration_request(query: HydrateQuery, settings: QuerySettings<'_>) -> Result<HydrationRequest, ApiError> {
    let HydrateQuery { choice, fragments: _ } = query;
    if choice.max_bytes.is_some() {
        return Err(bad_query("a limit of bytes is named", "limit HOT files in tokens, with `budget`"));
    }
    let of_settings = settings.loaded.settings.hydration;
    let hot_tokens = choice.budget.unwrap_or(of_settings.hot_tokens);
    let has_views = choice.tier.is_some() || choice.persona.is_some();
    let mut choice = resolve_explain(&ExplainQuery { file: String::new(), choice }, settings)?;
    if !has_views {
        choice.default_mode = ViewMode::Skeleton;
    }
    Ok(HydrationRequest { choice, limits: HydrationLimits { hot_tokens, ..of_settings }, is_kept: false })
}

pub(super) fn resolve_fragments(
    query: FragmentsQuery,
    settings: QuerySettings<'_>,
) -> Result<ResolvedQuery, ApiError> {
    // Each fragment shows its part of a hydrated document.
    let document = query.text.then(|| resolve_aggregate(hydrated_document(), settings)).transpose()?;
    Ok(complete::<FragmentsQuery>(move |project| {
        let mut fragments = project.fragments()?;
        fragments.retain(|fragment| {
            let warmth = fragment.warmth.map(Into::into);
            if query.tier.is_some() {
                query.tier == warmth
            } else {
                warmth.is_some() || fragment.pin.is_some()
            }
        });
        let mut texts = match document {
            Some(document) => project.fragment_texts(&fragments, &document.request)?,
            None => BTreeMap::new(),
        };
        let places = fragments.into_iter().map(|fragment| {
            let text = texts.remove(&fragment.name);
            FragmentPlace { text, ..fragment.into() }
        });
        Ok(places.collect())
    }))
}

fn hydrated_document() -> AggregateQuery {
    AggregateQuery { hydrated: true, ..AggregateQuery::default() }
}

pub(super) fn resolve_edit_fragments(
    query: EditFragmentsQuery,
    settings: QuerySettings<'_>,
) -> Result<ResolvedQuery, ApiError> {
    let EditFragmentsQuery { action, files, slice, depth } = query;
    if files.is_empty() {
        return Err(bad_query("no file is named", "give at least one file, folder or pattern"));
    }
    let pin = match (action, depth) {
        (FragmentAction::Pin, None) => Some(Pin::AnyDepth),
        (FragmentAction::Pin, Some(number)) => {
            let depth = Depth::at_most(number);
            Some(Pin::At(
                depth.ok_or_else(|| bad_query("depth is not between 0 and 9", "9 is the whole text"))?,
            ))
        }
        (FragmentAction::Unpin | FragmentAction::Forget, None) => None,
        (FragmentAction::Unpin | FragmentAction::Forget, Some(_)) => {
            return Err(bad_query("a depth is named, but nothing is pinned", "leave out the depth"));
        }
    };
    let items = settings.loaded.curation.files.clone();
    Ok(complete::<EditFragmentsQuery>(move |project| {
        let mut changed: Vec<FragmentPlace> = Vec::new();
        for word in &files {
            let named = NamedFragments { word, slice: slice.as_deref(), items: &items };
            let fragments = match action {
                FragmentAction::Pin | FragmentAction::Unpin => project.pin(named, pin)?,
                FragmentAction::Forget => project.forget(named)?,
            };
            changed.extend(fragments.into_iter().map(Into::into));
        }
        Ok(changed)
    }))
}

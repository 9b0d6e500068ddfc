//! Resolves questions about where the files of a project are.

use std::collections::HashMap;

use super::document::resolve_explain;
use super::resolved::{QuerySettings, ResolvedQuery, bad_query, complete};
use crate::api::{
    ApiError, EditFragmentsQuery, ExplainQuery, FragmentAction, FragmentPlace, FragmentsQuery, HydrateQuery,
    HydrationResult, SimulateQuery,
};
use crate::engine::{Error, HydrationLimits, HydrationRequest, Project, Trust, ViewRequest};
use crate::model::{Depth, DocsDetail, Fragment, Pin, RelPath, ViewMode};

pub(super) fn resolve_hydrate(
    query: HydrateQuery,
    settings: QuerySettings<'_>,
) -> Result<ResolvedQuery, ApiError> {
    let with_fragments = query.fragments;
    let request = hydration_request(query, settings, true)?;
    Ok(complete::<HydrateQuery>(move |project| place(project, &request, with_fragments)))
}

pub(super) fn resolve_simulate(
    query: SimulateQuery,
    settings: QuerySettings<'_>,
) -> Result<ResolvedQuery, ApiError> {
    let with_fragments = query.0.fragments;
    let request = hydration_request(query.0, settings, false)?;
    Ok(complete::<SimulateQuery>(move |project| place(project, &request, with_fragments)))
}

fn place(
    project: &mut Project<'_>,
    request: &HydrationRequest,
    with_fragments: bool,
) -> Result<HydrationResult, ApiError> {
    Ok(HydrationResult::new(project.hydrate(request)?, with_fragments))
}

fn hydration_request(
    query: HydrateQuery,
    settings: QuerySettings<'_>,
    is_kept: bool,
) -> Result<HydrationRequest, ApiError> {
    let HydrateQuery { choice, fragments: _ } = query;
    if choice.max_bytes.is_some() {
        return Err(bad_query("a limit of bytes is named", "limit what is HOT in tokens, with `budget`"));
    }
    let of_settings = settings.loaded.settings.hydration;
    let hot_tokens = choice.budget.unwrap_or(of_settings.hot_tokens);
    let has_views = choice.tier.is_some() || choice.persona.is_some();
    let mut choice = resolve_explain(&ExplainQuery { file: String::new(), choice }, settings)?;
    if !has_views {
        choice.default_mode = ViewMode::Skeleton;
    }
    Ok(HydrationRequest { choice, limits: HydrationLimits { hot_tokens, ..of_settings }, is_kept })
}

pub(super) fn resolve_fragments(query: FragmentsQuery) -> ResolvedQuery {
    complete::<FragmentsQuery>(move |project| {
        let mut fragments = project.fragments()?;
        fragments.retain(|fragment| {
            let warmth = fragment.warmth.map(Into::into);
            if query.tier.is_some() {
                query.tier == warmth
            } else {
                warmth.is_some() || fragment.pin.is_some()
            }
        });
        let mut texts = if query.text { current_texts(project, &fragments) } else { HashMap::new() };
        let places = fragments.into_iter().map(|fragment| {
            let text = texts.remove(&fragment.path);
            FragmentPlace { text, ..fragment.into() }
        });
        Ok(places.collect())
    })
}

/// Returns what each fragment shows now. Files that are gone are left out.
fn current_texts(project: &mut Project<'_>, fragments: &[Fragment]) -> HashMap<RelPath, String> {
    let mut texts = HashMap::new();
    for depth in Depth::LADDER.into_iter().filter(|depth| *depth != Depth::PATH) {
        let at_depth = fragments.iter().filter(|fragment| fragment.depth == depth);
        let files: Vec<String> = at_depth.map(|fragment| fragment.path.to_string()).collect();
        let mut show = |files: &[String]| {
            let views = project.views(&view_request(files, depth.view()))?;
            texts
                .extend(views.into_iter().map(|view| (view.block.path, view.block.body.text().into_owned())));
            Ok::<(), Error>(())
        };
        // All at once is quicker, but one that is gone prevents an answer about the others.
        if files.is_empty() || show(&files).is_ok() {
            continue;
        }
        for file in &files {
            let _gone = show(std::slice::from_ref(file));
        }
    }
    texts
}

fn view_request(files: &[String], view: ViewMode) -> ViewRequest {
    ViewRequest {
        files: files.to_vec(),
        mode: Some(view),
        docs: DocsDetail::Full,
        mask: Vec::new(),
        lines: Vec::new(),
        base: None,
        items: Vec::new(),
        overrides: Vec::new(),
        trust: Trust::Stamps,
    }
}

pub(super) fn resolve_edit_fragments(query: EditFragmentsQuery) -> Result<ResolvedQuery, ApiError> {
    let EditFragmentsQuery { action, files, depth } = query;
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
    Ok(complete::<EditFragmentsQuery>(move |project| {
        let mut changed: Vec<FragmentPlace> = Vec::new();
        for word in &files {
            let fragments = match action {
                FragmentAction::Pin | FragmentAction::Unpin => project.pin(word, pin)?,
                FragmentAction::Forget => project.forget(word)?,
            };
            changed.extend(fragments.into_iter().map(Into::into));
        }
        Ok(changed)
    }))
}

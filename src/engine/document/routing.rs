//! Routes files: determines the view of each.

use super::rendering::type_or_unknown;
use super::request::AggregationRequest;
use crate::aggregate;
use crate::aggregate::{CuratedItems, Focus, RoutedView, RoutingContext};
use crate::engine::workspace::{KnownFile, Workspace};
use crate::model::{AggregationStrategy, RelPath, SummaryDetail, Tier, ViewMode};

pub(in crate::engine) fn merged_items(
    workspace: &Workspace<'_>,
    request: &AggregationRequest,
) -> CuratedItems {
    let preset = request.preset.as_deref().unwrap_or_default();
    CuratedItems::new(workspace.relative_items(&request.items))
        .overlaid_by(CuratedItems::new(workspace.relative_items(preset)))
        .overridden_by(CuratedItems::new(workspace.relative_items(&request.overrides)))
}

pub(super) fn routing<'a>(
    workspace: &Workspace<'_>,
    request: &'a AggregationRequest,
    focus: &'a Focus,
    items: &'a CuratedItems,
) -> RoutingContext<'a> {
    RoutingContext {
        strategy: request.strategy,
        tier: request.tier.as_ref(),
        focus,
        items,
        default_mode: request.default_mode,
        max_bytes: workspace.options.max_bytes,
        depths: request.hydrated.as_ref().map(|places| &places.hot),
    }
}

pub(super) fn route(file: &KnownFile, routing: &RoutingContext<'_>) -> RoutedView {
    let routed = aggregate::route_file(&file.path, type_or_unknown(file), routing);
    routing.depths.map_or(routed, |depths| routed.hydrated(&file.path, depths))
}

pub(super) fn summary_detail(routing: &RoutingContext<'_>) -> SummaryDetail {
    routing.tier.map_or(SummaryDetail::Words, |tier| tier.summary_detail)
}

/// Returns whether the text of a file may be needed. Its type is not known yet, so the answer is yes when in doubt.
/// Files that a limited document selects from are read later, once it is known which.
pub(super) fn may_need_text(path: &RelPath, routing: &RoutingContext<'_>, is_limited: bool) -> bool {
    let is_focus = routing.focus.lines(path).is_some();
    let tier_wants = routing.tier.is_some_and(|tier| {
        tier.view.needs_text() || tier.language_views.values().any(|view| view.needs_text())
    });
    // With a tier, the tier's view takes precedence over the default one.
    let default_wants = routing.tier.is_none() && routing.default_mode.needs_text();
    let item_wants = routing.items.find(path).is_some_and(|item| {
        item.force_full
            || item.tier == Some(Tier::Worker)
            || item.ast_signatures
            || item.ast_definitions
            || !item.custom_slices.is_empty()
            || !item.ast_mask.is_empty()
            || item.view_mode.is_some_and(ViewMode::needs_text)
    });
    match routing.strategy {
        _ if is_limited => is_focus || item_wants,
        AggregationStrategy::Full => true,
        AggregationStrategy::Summarize => is_focus || item_wants,
        AggregationStrategy::Auto => is_focus || item_wants || tier_wants || default_wants,
    }
}

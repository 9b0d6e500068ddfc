//! `slop hydrate`, `simulate` and `fragments`: which files are in the agents' context, and why.

use super::asking::pluralize;
use super::context::CommandContext;
use super::document_query::view_selection;
use crate::api::{
    EditFragmentsQuery, FragmentAction, FragmentPlace, FragmentsQuery, HydrateQuery, HydrationResult,
    MovedFragment, SimulateQuery, TierTotals, WarmthName, display_path,
};
use crate::cli::failure::{self, CommandError};
use crate::cli::hydration_args::{FragmentsArgs, FragmentsCommand, HydrateArgs, WarmthArg};
use crate::model::printable;
use crate::render::{format_grouped, format_size};

/// The maximum number of moved files that are listed.
const MAX_MOVED: usize = 20;

pub(super) fn hydrate(args: &HydrateArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let choice = view_selection(&args.choice, context.location)?;
    let placed = context.ask(HydrateQuery { choice, fragments: false })?;
    write_places(&placed, context)
}

pub(super) fn simulate(args: &HydrateArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let choice = view_selection(&args.choice, context.location)?;
    let placed = context.ask(SimulateQuery(HydrateQuery { choice, fragments: false }))?;
    write_places(&placed, context)
}

fn write_places(placed: &HydrationResult, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    if context.output.json {
        return context.write_data(placed);
    }
    for row in tier_rows(placed).into_iter().chain(moved_rows(placed, "")) {
        context.write_line(&row)?;
    }
    Ok(failure::DONE)
}

/// Returns the content of each tier, and how many fragments have moved.
pub(super) fn tier_rows(placed: &HydrationResult) -> Vec<String> {
    let limit = match placed.hot_tokens_limit {
        0 => String::new(),
        limit => format!(" of {}", format_grouped(limit)),
    };
    let tiers = [("HOT", placed.hot, limit.as_str()), ("WARM", placed.warm, ""), ("COLD", placed.cold, "")];
    let row = |(name, tier, limit): (&str, TierTotals, &str)| {
        let fragments = pluralize(tier.fragments, "fragment", "fragments");
        let (tokens, size) = (format_grouped(tier.tokens), format_size(tier.bytes));
        format!("{name:4}  {fragments}, {tokens}{limit} tokens, {size} of text")
    };
    let mut rows: Vec<String> = tiers.into_iter().map(row).collect();
    let HydrationResult { placed: new, promoted, demoted, skipped, .. } = placed;
    let [new, promoted, demoted, skipped] = [*new, *promoted, *demoted, *skipped].map(format_grouped);
    rows.push(format!("{new} placed, {promoted} promoted, {demoted} demoted, {skipped} skipped"));
    rows
}

/// Returns the first fragments whose tier has changed, with `prefix` before their paths.
pub(super) fn moved_rows(placed: &HydrationResult, prefix: &str) -> Vec<String> {
    let tier = |name: Option<WarmthName>| name.map_or("–", WarmthName::name);
    let moved: Vec<_> = placed.moved.iter().filter(|moved| moved.from.is_some()).collect();
    let row = |moved: &MovedFragment| {
        let name = fragment_name(&moved.path, moved.path_hex.as_deref(), moved.part.as_deref());
        format!("  {} → {}  {prefix}{name}", tier(moved.from), tier(moved.to))
    };
    let mut rows: Vec<String> = moved.iter().take(MAX_MOVED).map(|moved| row(moved)).collect();
    if let more @ 1.. = moved.len().saturating_sub(MAX_MOVED) {
        rows.push(format!("  and {} more", format_grouped(more as u64)));
    }
    rows
}

pub(super) fn fragments(args: &FragmentsArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let FragmentsArgs { tier, text, command } = args;
    let places = match command {
        None => context.ask(FragmentsQuery { tier: tier.map(Into::into), text: *text })?,
        Some(command) => {
            let (action, paths, slice, depth) = match command {
                FragmentsCommand::Pin { paths, slice, depth } => (FragmentAction::Pin, paths, slice, *depth),
                FragmentsCommand::Unpin { paths, slice } => (FragmentAction::Unpin, paths, slice, None),
                FragmentsCommand::Forget { paths, slice } => (FragmentAction::Forget, paths, slice, None),
            };
            let files = context.location.resolve_paths(paths);
            context.ask(EditFragmentsQuery { action, files, slice: slice.clone(), depth })?
        }
    };
    for place in &places {
        // A line for each and no envelope, so that a reader can process them one at a time.
        if context.output.json {
            context.output.write_json_line(place)?;
            continue;
        }
        context.write_line(&place_row(place))?;
        if let Some(text) = &place.text {
            context.output.write_text(text)?;
        }
    }
    Ok(failure::DONE)
}

fn place_row(place: &FragmentPlace) -> String {
    let name = fragment_name(&place.path, place.path_hex.as_deref(), place.part.as_deref());
    let tier = place.tier.map_or("–", WarmthName::name);
    let pin = if place.pinned { ", pinned" } else { "" };
    let (depth, score, tokens) = (place.detail_depth, place.relevance_score, format_grouped(place.tokens));
    format!("{tier:4}  {depth}  {score:.3}  {name}  {tokens} tokens{pin}")
}

/// Returns the path of a file, followed by the slice if the fragment is one.
fn fragment_name(path: &str, path_hex: Option<&str>, part: Option<&str>) -> String {
    let path = display_path(path, path_hex);
    match part {
        Some(part) => format!("{path} [{}]", printable(part)),
        None => path,
    }
}

impl From<WarmthArg> for WarmthName {
    fn from(tier: WarmthArg) -> Self {
        match tier {
            WarmthArg::Hot => Self::Hot,
            WarmthArg::Warm => Self::Warm,
            WarmthArg::Cold => Self::Cold,
        }
    }
}

//! `slop hydrate`, `simulate` and `fragments`: which files agents have at hand, and why.

use super::context::CommandContext;
use super::document::view_selection;
use crate::api::{
    EditFragmentsQuery, FragmentAction, FragmentPlace, FragmentsQuery, HydrateQuery, HydrationResult,
    SimulateQuery, WarmthName, display_path,
};
use crate::cli::failure::{self, CommandError};
use crate::cli::hydration_args::{FragmentsArgs, FragmentsCommand, HydrateArgs, WarmthArg};
use crate::render::{format_grouped, format_size};

/// So many files that have moved are listed.
const MAX_MOVED: usize = 20;

pub(super) fn hydrate(args: &HydrateArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let query = HydrateQuery { choice: view_selection(&args.choice, context.location)? };
    let placed = context.ask(query)?;
    write_places(&placed, context)
}

pub(super) fn simulate(args: &HydrateArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let query = HydrateQuery { choice: view_selection(&args.choice, context.location)? };
    let placed = context.ask(SimulateQuery(query))?;
    write_places(&placed, context)
}

fn write_places(placed: &HydrationResult, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    if context.output.json {
        return context.write_data(placed);
    }
    let limit = match placed.hot_tokens_limit {
        0 => String::new(),
        limit => format!(" of {}", format_grouped(limit)),
    };
    for (name, tier, limit) in
        [("HOT", placed.hot, limit.as_str()), ("WARM", placed.warm, ""), ("COLD", placed.cold, "")]
    {
        let [fragments, tokens] = [tier.fragments, tier.tokens].map(format_grouped);
        let size = format_size(tier.bytes);
        context
            .write_line(&format!("{name:4}  {fragments} files, {tokens}{limit} tokens, {size} of text"))?;
    }
    let HydrationResult { placed: new, promoted, demoted, skipped, .. } = placed;
    let [new, promoted, demoted, skipped] = [*new, *promoted, *demoted, *skipped].map(format_grouped);
    context
        .write_line(&format!("{new} placed, {promoted} promoted, {demoted} demoted, {skipped} skipped"))?;
    let tier = |name: Option<WarmthName>| name.map_or("–", WarmthName::name);
    let moved = placed.moved.iter().filter(|moved| moved.from.is_some());
    for moved in moved.clone().take(MAX_MOVED) {
        let path = display_path(&moved.path, moved.path_hex.as_deref());
        context.write_line(&format!("  {} → {}  {path}", tier(moved.from), tier(moved.to)))?;
    }
    if let more @ 1.. = moved.count().saturating_sub(MAX_MOVED) {
        context.write_line(&format!("  and {} more", format_grouped(more as u64)))?;
    }
    Ok(failure::DONE)
}

pub(super) fn fragments(args: &FragmentsArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let FragmentsArgs { tier, text, command } = args;
    let places = match command {
        None => context.ask(FragmentsQuery { tier: tier.map(Into::into), text: *text })?,
        Some(command) => {
            let (action, paths, depth) = match command {
                FragmentsCommand::Pin { paths, depth } => (FragmentAction::Pin, paths, *depth),
                FragmentsCommand::Unpin { paths } => (FragmentAction::Unpin, paths, None),
                FragmentsCommand::Forget { paths } => (FragmentAction::Forget, paths, None),
            };
            let files = context.location.resolve_paths(paths);
            context.ask(EditFragmentsQuery { action, files, depth })?
        }
    };
    for place in &places {
        // A line for each, and no envelope: a reader can handle one at a time, however many there are.
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
    let path = display_path(&place.path, place.path_hex.as_deref());
    let tier = place.tier.map_or("–", WarmthName::name);
    let pin = if place.pinned { ", pinned" } else { "" };
    let (depth, score, tokens) = (place.detail_depth, place.relevance_score, format_grouped(place.tokens));
    format!("{tier:4}  {depth}  {score:.3}  {path}  {tokens} tokens{pin}")
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

//! `slop agent`

use serde_json::{Value, json};

use super::asking;
use super::context::CommandContext;
use crate::agent::UsageRow;
use crate::cli::background_args::AgentCommand;
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::cli::location::ProcessEnvironment;
use crate::model::{Money, Tier, utc_day};
use crate::render::format_grouped;
use crate::service::{
    AgentOverrides, ShownSummary, SubjectScope, SubjectSummaries, SummarySession, UsageReport, agent_options,
    caps, format_day, has_key, host_of, usage, written_summaries,
};
use crate::sys::{Clock, WallClock};

pub(super) fn run(command: &AgentCommand, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    match command {
        AgentCommand::Preview { file, tiers, persona } => {
            preview_request(file, tiers, persona.as_ref(), context)
        }
        AgentCommand::Usage => write_usage(context),
        AgentCommand::Show { file, all, tier } => show_summaries(file.as_ref(), *all, *tier, context),
        AgentCommand::Providers => list_providers(context),
    }
}

fn preview_request(
    file: &str,
    tiers: &[u8],
    persona: Option<&String>,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    asking::reject_empty(std::iter::once(file))?;
    let choice =
        AgentOverrides { persona: persona.cloned(), tiers: asking::parse_tiers(tiers), picks: Vec::new() };
    let options = agent_options(context.loaded, choice)?;
    let file = context.location.resolve_path(file);
    let (model, sending) = asking::with_world(context, |context, world| {
        let mut writing = SummarySession::open(&context.location.root, context.loaded, options, world)?;
        Ok(writing.preview(&file)?)
    })?;
    let head = sending.head();
    if context.output.json {
        let body = String::from_utf8_lossy(sending.body());
        return context
            .write_data(&json!({"model": model.full_name().to_string(), "head": head, "body": body}));
    }
    // The head goes to standard error, so that standard output is the body, byte for byte, and can be compared or
    // sent.
    for line in head.lines() {
        context.output.message(line);
    }
    if model.provider.needs_key {
        context.output.message("(and the key, which is not shown)");
    }
    context.output.write_json(sending.body())?;
    Ok(failure::DONE)
}

fn write_usage(context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let usage = usage(&context.location.root, context.loaded, WallClock.now_s())?;
    let caps = caps(context.loaded);
    // Saturating, because a limit may have been lowered below what was already spent.
    let (day_left, total_left) =
        (caps.day.saturating_sub(usage.spent.day), caps.total.saturating_sub(usage.spent.total));
    let calls_left = caps.calls_a_day.saturating_sub(usage.spent.calls);
    if context.output.json {
        let data = json!({
            "rows": usage.rows.iter().map(row_json).collect::<Value>(),
            "today": {"calls": usage.spent.calls, "spent_usd": usage.spent.day.to_decimal()},
            "total_usd": usage.spent.total.to_decimal(),
            "open_usd": usage.spent.reserved.to_decimal(),
            "caps": {
                "day_usd": caps.day.to_decimal(),
                "total_usd": caps.total.to_decimal(),
                "calls_a_day": caps.calls_a_day,
            },
            "left": {
                "day_usd": day_left.to_decimal(),
                "total_usd": total_left.to_decimal(),
                "calls": calls_left,
            },
        });
        return context.write_data(&data);
    }
    write_rows(&usage, context)?;
    let UsageReport { spent, .. } = &usage;
    context.write_line(&format!("today   {} of {}, {day_left} left", spent.day, caps.day))?;
    context.write_line(&format!("in all  {} of {}, {total_left} left", spent.total, caps.total))?;
    let (calls, most) = (format_grouped(spent.calls), format_grouped(caps.calls_a_day));
    context.write_line(&format!("calls   {calls} of {most} today, {} left", format_grouped(calls_left)))?;
    if spent.reserved != Money::ZERO {
        context.write_line(&format!("of that {} is reserved for calls in progress", spent.reserved))?;
    }
    Ok(failure::DONE)
}

fn write_rows(usage: &UsageReport, context: &mut CommandContext<'_>) -> Result<(), CommandError> {
    if usage.rows.is_empty() {
        return context.write_line("no model has been called for this project");
    }
    let head = ["day", "calls", "answered", "input", "cached", "written", "output", "cost"];
    let [day, calls, answered, input, cached, written, output, cost] = head;
    context.write_line(&format!(
        "{day:<10} {calls:>7} {answered:>8} {input:>11} {cached:>11} {written:>9} {output:>9} {cost:>9}  model"
    ))?;
    for row in &usage.rows {
        // A dash means "not reported", which differs from zero: some providers do not report cached tokens.
        let tokens = |count: Option<u64>| count.map_or("-".to_owned(), format_grouped);
        let (day, by, cost) = (format_day(row.day), row.model.to_string(), row.cost.to_string());
        let (calls, answered) = (format_grouped(row.calls), format_grouped(row.answered));
        let (input, cached) = (tokens(row.tokens.input), tokens(row.tokens.cache_read));
        let (written, output) = (tokens(row.tokens.cache_write), tokens(row.tokens.output));
        context.write_line(&format!(
            "{day:<10} {calls:>7} {answered:>8} {input:>11} {cached:>11} {written:>9} {output:>9} {cost:>9}  {by}"
        ))?;
    }
    Ok(())
}

fn row_json(row: &UsageRow) -> Value {
    json!({
        "day": format_day(row.day),
        "model": row.model.to_string(),
        "calls": row.calls,
        "answered": row.answered,
        "input_tokens": row.tokens.input,
        "cache_read_tokens": row.tokens.cache_read,
        "cache_write_tokens": row.tokens.cache_write,
        "output_tokens": row.tokens.output,
        "cost_usd": row.cost.to_decimal(),
        "open_usd": row.reserved.to_decimal(),
    })
}

fn show_summaries(
    file: Option<&String>,
    all: bool,
    tier: Option<u8>,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    asking::reject_empty(file.map(String::as_str).into_iter())?;
    // Without a file, only the folders of the root are shown, as an overview.
    let extent = match (all, file) {
        (true, _) => SubjectScope::Below,
        (false, None) => SubjectScope::Top,
        (false, Some(_)) => SubjectScope::Own,
    };
    let word = file.map_or(".".to_owned(), |file| context.location.resolve_path(file));
    let tiers = tier.and_then(Tier::from_number);
    let tiers = tiers.map_or(vec![Tier::Orchestrator, Tier::TechLead], |tier| vec![tier]);
    let all = asking::with_world(context, |context, world| {
        Ok(written_summaries(&context.location.root, context.loaded, &word, extent, &tiers, world)?)
    })?;
    if context.output.json {
        let data = json!({"summaries": all.iter().flat_map(shown_json).collect::<Value>()});
        return context.write_data(&data);
    }
    for (number, shown) in all.iter().enumerate() {
        if 0 < number {
            context.output.write_line("")?;
        }
        context.write_line(&shown.place.to_string())?;
        for shown in &shown.summaries {
            context.write_line(&format!("  {}", attribution(shown)))?;
            for line in shown.summary.text.lines() {
                context.write_line(&format!("    {line}"))?;
            }
        }
    }
    if all.is_empty() {
        context.output.message("no model has summarized this; `slop summarize` does");
    }
    Ok(failure::DONE)
}

/// Returns the origin of a summary. It precedes the text, because a model's text may claim anything.
fn attribution(ShownSummary { summary, fetched_from }: &ShownSummary) -> String {
    let (tier, by, cost) = (summary.tier.number(), &summary.model, summary.cost);
    let day = format_day(utc_day(summary.at_ms.div_euclid(1000)));
    match fetched_from {
        None => format!("tier {tier}, written by the model {by} on {day}, in a call of {cost}:"),
        Some(writer) => format!(
            "tier {tier}, written by the model {by} on {day}, fetched from the team's cache, where {writer} \
             stored it for {cost}:"
        ),
    }
}

fn shown_json(shown: &SubjectSummaries) -> Vec<Value> {
    let json = |ShownSummary { summary, fetched_from }: &ShownSummary| {
        json!({
            "place": shown.place.to_string(),
            "scope": summary.scope.name(),
            "tier": summary.tier.number(),
            "model": summary.model.to_string(),
            "prompt": summary.prompt,
            "at_ms": summary.at_ms,
            "call_cost_usd": summary.cost.to_decimal(),
            "fetched_from": fetched_from,
            // A constant, because the content of a file may have influenced what a model wrote.
            "untrusted": true,
            "text": summary.text,
        })
    };
    shown.summaries.iter().map(json).collect()
}

fn list_providers(context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let providers = context.loaded.user_only.providers.clone();
    let rows = providers.iter().map(|provider| {
        // Shows only whether there is a key, never the key itself.
        let has_key = has_key(provider, &ProcessEnvironment::key);
        let key = match (has_key, provider.needs_key) {
            (true, _) => "there",
            (false, true) => "missing",
            (false, false) => "not needed",
        };
        (provider, key)
    });
    let rows: Vec<_> = rows.collect();
    if context.output.json {
        let rows = rows.iter().map(|(provider, key)| {
            json!({
                "name": provider.name,
                "wire": provider.wire.name(),
                "host": host_of(provider),
                "key": key,
                "key_variables": provider.key_variables,
                "free": provider.is_free,
                "batches": provider.has_batches,
            })
        });
        let data = json!({"providers": rows.collect::<Value>()});
        return context.write_data(&data);
    }
    for (provider, key) in rows {
        let (name, wire, host) = (&provider.name, provider.wire.name(), host_of(provider));
        let variables = provider.key_variables.join(", ");
        let variables = if variables.is_empty() { String::new() } else { format!(" ({variables})") };
        context.write_line(&format!("{name:<12} {wire:<10} {host:<38} key {key}{variables}"))?;
    }
    Ok(failure::DONE)
}

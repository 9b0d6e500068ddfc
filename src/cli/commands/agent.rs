//! `slop agent`

use serde_json::Value;
use serde_json::json;

use super::asking;
use super::desk::Desk;
use crate::agent::Summary;
use crate::agent::UsageRow;
use crate::cli::agent_args::AgentCommand;
use crate::cli::environment::Environment;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::model::Money;
use crate::model::Tier;
use crate::render::grouped;
use crate::service::AgentChoice;
use crate::service::Extent;
use crate::service::Shown;
use crate::service::Usage;
use crate::service::Writing;
use crate::service::agent_options;
use crate::service::caps;
use crate::service::day_of;
use crate::service::has_key;
use crate::service::host_of;
use crate::service::shown;
use crate::service::usage;
use crate::sys::Clock;
use crate::sys::WallClock;

pub(super) fn run(command: &AgentCommand, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    match command {
        AgentCommand::Preview { file, tiers, persona } => preview(file, tiers, persona.as_ref(), desk),
        AgentCommand::Usage => tell_usage(desk),
        AgentCommand::Show { file, all, tier } => show(file.as_ref(), *all, *tier, desk),
        AgentCommand::Providers => providers(desk),
    }
}

fn preview(file: &str, tiers: &[u8], persona: Option<&String>, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    asking::refuse_empty(std::iter::once(file))?;
    let choice = AgentChoice { persona: persona.cloned(), tiers: asking::tiers(tiers), picks: Vec::new() };
    let options = agent_options(desk.loaded, choice)?;
    let file = desk.place.word(file);
    let (model, sending) = asking::in_world(desk, |desk, world| {
        let mut writing = Writing::open(&desk.place.root, desk.loaded, options, world)?;
        Ok(writing.preview(&file)?)
    })?;
    let head = sending.head();
    if desk.output.json {
        let body = String::from_utf8_lossy(sending.body());
        desk.write_data(&json!({"model": model.full_name().to_string(), "head": head, "body": body}))?;
        return Ok(failure::DONE);
    }
    for line in head.lines() {
        desk.output.tell(line);
    }
    if model.provider.needs_key {
        desk.output.tell("(and the key, which is not shown)");
    }
    desk.output.bytes(sending.body())?;
    Ok(failure::DONE)
}

fn tell_usage(desk: &mut Desk<'_>) -> Result<u8, Failure> {
    let usage = usage(&desk.place.root, desk.loaded, WallClock.now_s())?;
    let caps = caps(desk.loaded);
    let (day_left, total_left) =
        (caps.day.saturating_sub(usage.spent.day), caps.total.saturating_sub(usage.spent.total));
    let calls_left = caps.calls_a_day.saturating_sub(usage.spent.calls);
    if desk.output.json {
        let data = json!({
            "rows": usage.rows.iter().map(row_json).collect::<Value>(),
            "today": {"calls": usage.spent.calls, "spent_usd": usage.spent.day.decimal()},
            "total_usd": usage.spent.total.decimal(),
            "open_usd": usage.spent.open.decimal(),
            "caps": {
                "day_usd": caps.day.decimal(),
                "total_usd": caps.total.decimal(),
                "calls_a_day": caps.calls_a_day,
            },
            "left": {
                "day_usd": day_left.decimal(),
                "total_usd": total_left.decimal(),
                "calls": calls_left,
            },
        });
        desk.write_data(&data)?;
        return Ok(failure::DONE);
    }
    write_rows(&usage, desk)?;
    let Usage { spent, .. } = &usage;
    desk.line(&format!("today   {} of {}, {day_left} left", spent.day, caps.day))?;
    desk.line(&format!("in all  {} of {}, {total_left} left", spent.total, caps.total))?;
    let (calls, most) = (grouped(spent.calls), grouped(caps.calls_a_day));
    desk.line(&format!("calls   {calls} of {most} today, {} left", grouped(calls_left)))?;
    if spent.open != Money::ZERO {
        desk.line(&format!("of that {} is put aside for calls that have not come to an end", spent.open))?;
    }
    Ok(failure::DONE)
}

fn write_rows(usage: &Usage, desk: &mut Desk<'_>) -> Result<(), Failure> {
    if usage.rows.is_empty() {
        return desk.line("no model was ever asked about this project");
    }
    let head = ["day", "calls", "answered", "input", "cached", "written", "output", "cost"];
    let [day, calls, answered, input, cached, written, output, cost] = head;
    desk.line(&format!(
        "{day:<10} {calls:>7} {answered:>8} {input:>11} {cached:>11} {written:>9} {output:>9} {cost:>9}  model"
    ))?;
    for row in &usage.rows {
        // What was never reported is not nothing.
        let tokens = |count: Option<u64>| count.map_or("-".to_owned(), grouped);
        let (day, by, cost) = (day_of(row.day), row.by.to_string(), row.cost.to_string());
        let (calls, answered) = (grouped(row.calls), grouped(row.answered));
        let (input, cached) = (tokens(row.tokens.input), tokens(row.tokens.cache_read));
        let (written, output) = (tokens(row.tokens.cache_write), tokens(row.tokens.output));
        desk.line(&format!(
            "{day:<10} {calls:>7} {answered:>8} {input:>11} {cached:>11} {written:>9} {output:>9} {cost:>9}  {by}"
        ))?;
    }
    Ok(())
}

fn row_json(row: &UsageRow) -> Value {
    json!({
        "day": day_of(row.day),
        "model": row.by.to_string(),
        "calls": row.calls,
        "answered": row.answered,
        "input_tokens": row.tokens.input,
        "cache_read_tokens": row.tokens.cache_read,
        "cache_write_tokens": row.tokens.cache_write,
        "output_tokens": row.tokens.output,
        "cost_usd": row.cost.decimal(),
        "open_usd": row.open.decimal(),
    })
}

fn show(file: Option<&String>, all: bool, tier: Option<u8>, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    asking::refuse_empty(file.map(String::as_str).into_iter())?;
    let extent = match (all, file) {
        (true, _) => Extent::Below,
        (false, None) => Extent::Top,
        (false, Some(_)) => Extent::Own,
    };
    let word = file.map_or(".".to_owned(), |file| desk.place.word(file));
    let tiers = tier.and_then(Tier::from_number);
    let tiers = tiers.map_or(vec![Tier::Orchestrator, Tier::TechLead], |tier| vec![tier]);
    let all = asking::in_world(desk, |desk, world| {
        Ok(shown(&desk.place.root, desk.loaded, (&word, extent), &tiers, world)?)
    })?;
    if desk.output.json {
        let data = json!({"summaries": all.iter().flat_map(shown_json).collect::<Value>()});
        desk.write_data(&data)?;
        return Ok(failure::DONE);
    }
    for (number, shown) in all.iter().enumerate() {
        if 0 < number {
            desk.output.line("")?;
        }
        desk.line(&shown.place.to_string())?;
        for summary in &shown.summaries {
            desk.line(&format!("  {}", words_about(summary)))?;
            for line in summary.text.lines() {
                desk.line(&format!("    {line}"))?;
            }
        }
    }
    if all.is_empty() {
        desk.output.tell("no model has written about this; `slop summarize` has one do so");
    }
    Ok(failure::DONE)
}

/// Returns where a summary came from. That it is a model's stands before its words, for they may claim anything.
fn words_about(summary: &Summary) -> String {
    let (tier, by, cost) = (summary.tier.number(), &summary.by, summary.cost);
    let day = day_of(summary.at_ms.div_euclid(24 * 60 * 60 * 1000));
    format!("tier {tier}, written by the model {by} on {day}, in a call of {cost}:")
}

fn shown_json(shown: &Shown) -> Vec<Value> {
    let json = |summary: &Summary| {
        json!({
            "place": shown.place.to_string(),
            "scope": summary.scope.name(),
            "tier": summary.tier.number(),
            "model": summary.by.to_string(),
            "prompt": summary.prompt,
            "at_ms": summary.at_ms,
            "call_cost_usd": summary.cost.decimal(),
            "untrusted": true,
            "text": summary.text,
        })
    };
    shown.summaries.iter().map(json).collect()
}

fn providers(desk: &mut Desk<'_>) -> Result<u8, Failure> {
    let providers = desk.loaded.trusted.providers.clone();
    let rows = providers.iter().map(|provider| {
        let has_key = has_key(provider, &Environment::key);
        let key = match (has_key, provider.needs_key) {
            (true, _) => "there",
            (false, true) => "missing",
            (false, false) => "not needed",
        };
        (provider, key)
    });
    let rows: Vec<_> = rows.collect();
    if desk.output.json {
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
        desk.write_data(&data)?;
        return Ok(failure::DONE);
    }
    for (provider, key) in rows {
        let (name, wire, host) = (&provider.name, provider.wire.name(), host_of(provider));
        let variables = provider.key_variables.join(", ");
        let variables = if variables.is_empty() { String::new() } else { format!(" ({variables})") };
        desk.line(&format!("{name:<12} {wire:<10} {host:<38} key {key}{variables}"))?;
    }
    Ok(failure::DONE)
}

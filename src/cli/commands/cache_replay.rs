//! `slop cache-replay`

use serde_json::{Value, json};

use super::context::CommandContext;
use super::document_query::{body_attachments, format_name, view_selection};
use crate::api::{AggregateQuery, AttachmentOptions, FormatName, PartName};
use crate::cli::document_args::CacheReplayArgs;
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::render::format_grouped;
use crate::service::{CacheReplay, ReplayCost, ReplayStep, prices};

/// The length of an abbreviated commit hash in the table.
const SHORT_NAME: usize = 9;

pub(super) fn run(args: &CacheReplayArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let format = format_name(args.format);
    if matches!(format, FormatName::Markdown | FormatName::Json) {
        let hint = "add --format anthropic, openai or gemini";
        return Err(CommandError::usage("only a provider has a prompt cache", hint));
    }
    let query = AggregateQuery {
        choice: view_selection(&args.choice, context.location)?,
        format,
        // The discussion comes after the part that can be cached.
        attachments: AttachmentOptions { part: PartName::Prefix, ..body_attachments(&args.body) },
        ..AggregateQuery::default()
    };
    let replay = CacheReplay::prepare(&context.location.root, context.loaded, query, &args.range)?;
    let is_table = !context.output.json;
    if is_table {
        context.output.write_line("commit        tokens      read   written  uncached  bytes kept")?;
    }
    let mut steps = Vec::new();
    replay.run(|step| -> Result<(), CommandError> {
        if is_table {
            context.output.write_line(&row(&step))?;
            // Flushed, because each step takes a while.
            context.output.flush()?;
        }
        steps.push(step);
        Ok(())
    })?;
    let totals = ReplayTotals::from_steps(&steps);
    let model = &replay.document().body.model;
    let prices_of = prices(context.loaded).date().to_owned();
    if is_table {
        write_totals(&totals, model, &prices_of, context)?;
    } else {
        context.write_data(&totals.to_json(&steps, model, &prices_of))?;
    }
    Ok(failure::DONE)
}

fn row(step: &ReplayStep) -> String {
    let usage = &step.usage;
    let counts = [usage.tokens, usage.read.tokens, usage.written, usage.uncached()];
    let [tokens, read, written, uncached] = counts.map(format_grouped);
    let commit = step.commit.get(..SHORT_NAME).unwrap_or(&step.commit);
    let kept = usage.kept.map_or(String::new(), |kept| format!("{kept:.4}"));
    format!("{commit} {tokens:>10}{read:>10}{written:>10}{uncached:>10}  {kept:>10}").trim_end().to_owned()
}

/// The total usage and cost of a replay.
struct ReplayTotals {
    tokens: u64,
    read: u64,
    written: u64,
    /// The mean share of a document that is a common prefix with the previous document; 1 for a single document.
    mean_kept: f64,
    cost: Option<ReplayCost>,
}

impl ReplayTotals {
    fn from_steps(steps: &[ReplayStep]) -> Self {
        let sum = |part: fn(&ReplayStep) -> u64| steps.iter().map(part).sum();
        let kept: Vec<f64> = steps.iter().filter_map(|step| step.usage.kept).collect();
        #[expect(clippy::cast_precision_loss, reason = "there are few commits")]
        let mean_kept = if kept.is_empty() { 1.0 } else { kept.iter().sum::<f64>() / kept.len() as f64 };
        let costs: Option<Vec<ReplayCost>> = steps.iter().map(|step| step.cost).collect();
        let cost = costs.map(|costs| ReplayCost {
            with_cache: costs.iter().map(|cost| cost.with_cache).sum(),
            without_cache: costs.iter().map(|cost| cost.without_cache).sum(),
        });
        Self {
            tokens: sum(|step| step.usage.tokens),
            read: sum(|step| step.usage.read.tokens),
            written: sum(|step| step.usage.written),
            mean_kept,
            cost,
        }
    }

    fn to_json(&self, steps: &[ReplayStep], model: &str, prices_of: &str) -> Value {
        let cost = |cost: &Option<ReplayCost>| {
            cost.map(|ReplayCost { with_cache, without_cache }| {
                json!({"usd": with_cache.to_decimal(), "usd_without_cache": without_cache.to_decimal()})
            })
        };
        let steps: Vec<Value> = steps
            .iter()
            .map(|step| {
                let usage = &step.usage;
                json!({
                    "commit": step.commit,
                    "tokens": usage.tokens,
                    "read": usage.read.tokens,
                    "written": usage.written,
                    "kept": usage.kept,
                    "cost": cost(&step.cost),
                })
            })
            .collect();
        json!({
            "model": model,
            "prices_of": prices_of,
            "tokens": self.tokens,
            "read": self.read,
            "written": self.written,
            "mean_kept": self.mean_kept,
            "cost": cost(&self.cost),
            "steps": steps,
        })
    }
}

fn write_totals(
    totals: &ReplayTotals,
    model: &str,
    prices_of: &str,
    context: &mut CommandContext<'_>,
) -> Result<(), CommandError> {
    let [tokens, read, written] = [totals.tokens, totals.read, totals.written].map(format_grouped);
    context.output.write_line(&format!(
        "\n{tokens} tokens in all: {read} read from the cache, {written} written to it; {:.4} of the bytes are kept on \
         average",
        totals.mean_kept
    ))?;
    match totals.cost {
        Some(ReplayCost { with_cache, without_cache }) => context.output.write_line(&format!(
            "{model}: {with_cache} with prompt caching, {without_cache} without (prices of {prices_of})"
        ))?,
        None => context.output.note(&format!(
            "the price of {model} is not known; add [prices.\"PROVIDER/{model}\"] to your own settings file"
        )),
    }
    Ok(())
}

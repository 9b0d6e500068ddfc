//! `slop summarize`

use serde_json::{Value, json};

use super::context::CommandContext;
use super::{asking, share};
use crate::agent::{CollectedBatches, RunOutcome};
use crate::cli::background_args::SummarizeArgs;
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::model::Money;
use crate::render::format_grouped;
use crate::service::{AgentOverrides, ProviderKeys, SummaryRunPlan, SummarySession, agent_options, prices};

const MAX_LISTED: usize = 20;

pub(super) fn run(args: &SummarizeArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    asking::reject_empty(args.files.iter().map(String::as_str))?;
    let choice = AgentOverrides {
        persona: args.persona.clone(),
        tiers: asking::parse_tiers(&args.tiers),
        picks: context.location.resolve_paths(&args.files),
    };
    let options = agent_options(context.loaded, choice)?;
    // A missing key is reported before the user is asked for confirmation.
    let keys = if args.estimate { ProviderKeys::new() } else { asking::load_keys(&options)? };
    let proxy = options.proxy.clone();
    let prices_of = prices(context.loaded).date().to_owned();
    let mut team = if args.no_share || args.estimate { None } else { share::team_cache(context)? };
    asking::with_world(context, |context, world| {
        let mut writing = SummarySession::open(&context.location.root, context.loaded, options, world)?;
        // An estimate neither writes nor connects, so it does not repair the database.
        let collected = if args.estimate {
            CollectedBatches::default()
        } else {
            writing.repair()?;
            // Collected before the plan is made, which then excludes the tasks that were answered.
            asking::collect_batches(&writing, &keys, proxy.clone())?
        };
        team = team.take().filter(|team| share::pull_first(team, &mut writing, context));
        let plan = writing.plan(&prices_of, args.batch, args.retry)?;
        for note in writing.take_notes() {
            context.output.note(&note);
        }
        report_unasked(&plan, &mut writing, !args.files.is_empty(), context)?;
        if args.estimate {
            return estimate(&plan, context);
        }
        if !plan.tasks.ready.is_empty() && !args.yes && !confirm(&plan, context)? {
            write_collected(&collected, context)?;
            context.output.message("nobody was asked");
            return Ok(failure::USER);
        }
        // Only after the user has agreed, because declining must change nothing.
        writing.clear_refusals(&plan)?;
        let outcome = if args.batch {
            asking::ask_in_batches(context, &mut writing, keys, proxy)?
        } else {
            asking::run_questions(context, &mut writing, keys, proxy, None, team.as_ref())?
        };
        if let Some(team) = &team {
            share::push_outbox(team, context);
        }
        write_report(&SummarizeReport { plan, collected, outcome, at_once: args.batch }, context)
    })
}

/// Reports why no model is called for files that were named, and that others were refused before. Otherwise a run
/// without tasks would look as if every file had its summaries.
fn report_unasked(
    plan: &SummaryRunPlan,
    writing: &mut SummarySession<'_>,
    has_picks: bool,
    context: &mut CommandContext<'_>,
) -> Result<(), CommandError> {
    let skipped = if has_picks { writing.unasked_reasons()? } else { Vec::new() };
    for (path, reason) in skipped.iter().take(MAX_LISTED) {
        context.output.note(&format!("no model is called for {path}: {reason}"));
    }
    if MAX_LISTED < skipped.len() {
        context.output.note(&format!("nor for {} more of the named files", skipped.len() - MAX_LISTED));
    }
    // Files that were named have their own reasons above, and the total would count them twice.
    if skipped.is_empty() && 0 < plan.tasks.refused {
        let shown = asking::pluralize(plan.tasks.refused, "question was", "questions were");
        context.output.note(&format!("{shown} refused or withheld before; --retry asks again"));
    }
    Ok(())
}

fn estimate(plan: &SummaryRunPlan, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    if context.output.json {
        context.write_data(&plan_json(plan))?;
    } else {
        for line in plan_lines(plan) {
            context.write_line(&line)?;
        }
    }
    Ok(failure::DONE)
}

fn confirm(plan: &SummaryRunPlan, context: &mut CommandContext<'_>) -> Result<bool, CommandError> {
    if !context.output.can_confirm() {
        let message = "no terminal to confirm the cost";
        return Err(CommandError::usage(message, "check `slop summarize --estimate`, then add --yes"));
    }
    for line in plan_lines(plan) {
        context.output.message(&line);
    }
    Ok(context.output.confirm("Ask?") == Some(true))
}

fn plan_lines(plan: &SummaryRunPlan) -> Vec<String> {
    let (tasks, estimate) = (&plan.tasks, &plan.estimate);
    let mut lines =
        vec![format!("questions  {}{}", format_grouped(tasks.ready.len() as u64), other_counts(plan))];
    if tasks.ready.is_empty() {
        return lines;
    }
    for (number, (model, host)) in plan.hosts.iter().enumerate() {
        // The other models of a chain are fallbacks, so only the first is sure to be called.
        let word = if number == 0 { "asks" } else { "or else" };
        lines.push(format!("{word:<10} {model} at {host}"));
    }
    let (input, output) = (format_grouped(estimate.input_tokens), format_grouped(estimate.output_tokens));
    lines.push(format!(
        "sends      text of the files, not their names: about {input} tokens, for {output} back"
    ));
    let money = |money: Option<Money>| money.map_or("-".to_owned(), |money| money.to_string());
    let (likely, worst) = (money(estimate.likely), money(estimate.worst));
    lines.push(format!(
        "costs      about {likely}, at most {worst} with one call each (prices of {})",
        plan.prices_of
    ));
    let (left, calls) = (estimate.money_left, asking::pluralize(estimate.calls_left, "call", "calls"));
    lines.push(format!("allowed    {left} and {calls} left today"));
    lines
}

/// Returns the counts of tasks that are not run, in parentheses.
fn other_counts(plan: &SummaryRunPlan) -> String {
    const YOUNG: &str = "changed too recently (agent.still_seconds)";
    let tasks = &plan.tasks;
    let parts = [
        (tasks.waiting_folders, "folder after them", "folders after them"),
        (plan.in_batches, "in a batch", "in a batch"),
        (tasks.done, "has its summaries", "have their summaries"),
        (tasks.refused, "was refused or withheld before", "were refused or withheld before"),
        (tasks.too_recent, YOUNG, YOUNG),
        (tasks.ineligible, "file not asked about", "files not asked about"),
    ];
    let shown = parts.iter().filter(|(count, ..)| 0 < *count);
    let shown: Vec<String> =
        shown.map(|(count, one, several)| asking::pluralize(*count, one, several)).collect();
    if shown.is_empty() { String::new() } else { format!(" ({})", shown.join(", ")) }
}

struct SummarizeReport {
    plan: SummaryRunPlan,
    collected: CollectedBatches,
    outcome: RunOutcome,
    /// Whether the tasks were submitted in a batch.
    at_once: bool,
}

fn write_report(shown: &SummarizeReport, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let SummarizeReport { plan, collected, outcome, at_once } = shown;
    if context.output.json {
        let mut data = plan_json(plan);
        data["collected"] = collected_json(collected);
        data["outcome"] = outcome_json(outcome);
        context.write_data(&data)?;
    } else {
        write_collected(collected, context)?;
        let line = if *at_once { batch_line(outcome) } else { outcome_line(plan, outcome) };
        context.write_line(&line)?;
    }
    asking::report_unanswered(outcome, context);
    // The run's own exit code takes precedence over that of the batches, which any later run can check again.
    let code = asking::exit_code(outcome);
    match &collected.stopped {
        Some(reason) => {
            context.output.note(&format!("not all batches could be checked: {reason}"));
            Ok(if code == failure::DONE { asking::exit_code_of(reason) } else { code })
        }
        None => Ok(code),
    }
}

fn outcome_line(plan: &SummaryRunPlan, outcome: &RunOutcome) -> String {
    let parts = [
        (outcome.done, "already known"),
        (outcome.in_progress, "in progress in another process"),
        (outcome.in_batch, "in a batch"),
        (outcome.refused.len() as u64, "refused"),
        (outcome.withheld.len() as u64, "withheld"),
        (outcome.remaining, "left"),
        (plan.tasks.too_recent, "too young"),
    ];
    let shown = parts.iter().filter(|(count, _)| 0 < *count);
    let shown: Vec<String> =
        shown.map(|(count, words)| format!(", {} {words}", format_grouped(*count))).collect();
    let (answered, calls) =
        (format_grouped(outcome.answered), asking::pluralize(outcome.calls, "call", "calls"));
    format!("{answered} answered{}; {calls}, {}", shown.concat(), outcome.spent)
}

fn batch_line(outcome: &RunOutcome) -> String {
    if outcome.submitted + outcome.remaining == 0 {
        let in_batch = asking::pluralize(outcome.in_batch, "question is", "questions are");
        return format!("nothing new to submit, {in_batch} in a batch");
    }
    let over = asking::pluralize(outcome.submitted, "question", "questions");
    format!("submitted {over}, {} left", format_grouped(outcome.remaining))
}

fn write_collected(
    collected: &CollectedBatches,
    context: &mut CommandContext<'_>,
) -> Result<(), CommandError> {
    let CollectedBatches { answered, refused, waiting, lost, spent, .. } = collected;
    // Omitted without batches, as in most projects.
    if answered + refused + waiting + lost == 0 {
        return Ok(());
    }
    let (answered, refused, waiting) =
        (format_grouped(*answered), format_grouped(*refused), format_grouped(*waiting));
    context.write_line(&format!(
        "fetched    {answered} answered, {refused} refused, {waiting} pending; {spent}"
    ))?;
    // The provider may have billed them, and the ledger must never be below the bill.
    if 0 < *lost {
        let lost = asking::pluralize(*lost, "question is", "questions are");
        context.output.note(&format!("{lost} lost; each counts at its worst cost"));
    }
    Ok(())
}

fn collected_json(collected: &CollectedBatches) -> Value {
    json!({
        "answered": collected.answered,
        "refused": collected.refused,
        "waiting": collected.waiting,
        "lost": collected.lost,
        "spent_usd": collected.spent.to_decimal(),
        "stopped": collected.stopped.as_ref().map(ToString::to_string),
    })
}

fn plan_json(plan: &SummaryRunPlan) -> Value {
    let (tasks, estimate) = (&plan.tasks, &plan.estimate);
    let asks = plan.hosts.iter().map(|(model, host)| json!({"model": model.to_string(), "host": host}));
    json!({
        "questions": tasks.ready.len(),
        "waiting_folders": tasks.waiting_folders,
        "in_batches": plan.in_batches,
        "done": tasks.done,
        "refused_before": tasks.refused,
        "young": tasks.too_recent,
        "not_asked": tasks.ineligible,
        "asks": asks.collect::<Value>(),
        "estimate": {
            "calls": estimate.calls,
            "input_tokens": estimate.input_tokens,
            "output_tokens": estimate.output_tokens,
            "likely_usd": estimate.likely.map(Money::to_decimal),
            "worst_usd": estimate.worst.map(Money::to_decimal),
            "calls_left": estimate.calls_left,
            "money_left_usd": estimate.money_left.to_decimal(),
            "prices_of": plan.prices_of,
        },
    })
}

fn outcome_json(outcome: &RunOutcome) -> Value {
    let refused = outcome
        .refused
        .iter()
        .map(|(task, reason)| json!({"place": task.location.to_string(), "why": reason}));
    let withheld = outcome
        .withheld
        .iter()
        .map(|(task, reason)| json!({"place": task.location.to_string(), "why": reason.to_string()}));
    json!({
        "answered": outcome.answered,
        "known": outcome.done,
        "taken": outcome.in_progress,
        "in_batch": outcome.in_batch,
        "handed_over": outcome.submitted,
        "left": outcome.remaining,
        "refused": refused.collect::<Value>(),
        "withheld": withheld.collect::<Value>(),
        "stopped": outcome.stopped.as_ref().map(ToString::to_string),
        "calls": outcome.calls,
        "spent_usd": outcome.spent.to_decimal(),
    })
}

//! `slop summarize`

use std::io;
use std::io::IsTerminal;

use serde_json::Value;
use serde_json::json;

use super::asking;
use super::desk::Desk;
use crate::agent::Collected;
use crate::agent::Outcome;
use crate::cli::agent_args::SummarizeArgs;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::model::Money;
use crate::render::grouped;
use crate::service::AgentChoice;
use crate::service::Keys;
use crate::service::Plan;
use crate::service::Writing;
use crate::service::agent_options;
use crate::service::prices;

pub(super) fn run(args: &SummarizeArgs, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    let choice = AgentChoice {
        persona: args.persona.clone(),
        tiers: asking::tiers(&args.tiers),
        picks: desk.place.words(&args.files),
    };
    let options = agent_options(desk.loaded, choice)?;
    // A missing key should be told before a person has answered a question.
    let keys = if args.estimate { Keys::new() } else { asking::keys(&options)? };
    let proxy = options.proxy.clone();
    let prices_of = prices(desk.loaded).date().to_owned();
    asking::in_world(desk, |desk, world| {
        let mut writing = Writing::open(&desk.place.root, desk.loaded, options, world)?;
        let plan = writing.plan(&prices_of, args.retry)?;
        for note in writing.take_notes() {
            desk.output.note(&note);
        }
        if args.estimate {
            return estimate(&plan, desk);
        }
        if !plan.errands.ready.is_empty() && !args.yes && !agrees(&plan, desk)? {
            desk.output.tell("nobody was asked");
            return Ok(failure::USER);
        }
        // Only now: who says no has changed nothing.
        writing.forgive(&plan)?;
        if args.batch {
            return batch(&mut writing, keys, proxy, desk);
        }
        let outcome = asking::ask(desk, &mut writing, keys, proxy, None)?;
        tell(&plan, &outcome, desk)
    })
}

/// Writes what would be asked, for whoever asked no more than that.
fn estimate(plan: &Plan, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    if desk.output.json {
        desk.write_data(&plan_json(plan))?;
    } else {
        for line in lines(plan) {
            desk.line(&line)?;
        }
    }
    Ok(failure::DONE)
}

/// Tells what would be asked, and asks the person at the terminal whether it is to be.
fn agrees(plan: &Plan, desk: &mut Desk<'_>) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        let message = "ask models without a person at a terminal who agrees";
        return Err(Failure::usage(message, "look at `slop summarize --estimate`, then add --yes"));
    }
    for line in lines(plan) {
        desk.output.tell(&line);
    }
    desk.output.prompt("Ask? [y/N] ");
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()))
}

fn lines(plan: &Plan) -> Vec<String> {
    let (errands, estimate) = (&plan.errands, &plan.estimate);
    let mut lines = vec![format!("questions  {}{}", grouped(errands.ready.len() as u64), beside(plan))];
    if errands.ready.is_empty() {
        return lines;
    }
    for (number, (model, host)) in plan.hosts.iter().enumerate() {
        let word = if number == 0 { "asks" } else { "or else" };
        lines.push(format!("{word:<10} {model} at {host}"));
    }
    let (input, output) = (grouped(estimate.input_tokens), grouped(estimate.output_tokens));
    lines.push(format!(
        "sends      text of the files, not their names: about {input} tokens, for {output} back"
    ));
    let money = |money: Option<Money>| money.map_or("-".to_owned(), |money| money.to_string());
    let (likely, worst) = (money(estimate.likely), money(estimate.worst));
    lines.push(format!("costs      about {likely}, at most {worst} (prices of {})", plan.prices_of));
    let (left, calls) = (estimate.money_left, grouped(estimate.calls_left));
    lines.push(format!("allowed    {left} and {calls} calls are left today"));
    lines
}

/// Returns what there is beside the questions, in brackets.
fn beside(plan: &Plan) -> String {
    let errands = &plan.errands;
    let parts = [
        (errands.waiting_folders, "folders after them"),
        (errands.done, "have their summaries"),
        (errands.refused, "were refused or withheld before"),
        (errands.young, "written too lately (agent.still_seconds)"),
        (errands.not_asked, "files not asked about"),
    ];
    let told = parts.iter().filter(|(count, _)| 0 < *count);
    let told: Vec<String> = told.map(|(count, words)| format!("{} {words}", grouped(*count))).collect();
    if told.is_empty() { String::new() } else { format!(" ({})", told.join(", ")) }
}

fn tell(plan: &Plan, outcome: &Outcome, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    if desk.output.json {
        let mut data = plan_json(plan);
        data["outcome"] = outcome_json(outcome);
        desk.write_data(&data)?;
    } else {
        let parts = [
            (outcome.done, "known already"),
            (outcome.taken, "asked by another process"),
            (outcome.refused.len() as u64, "refused"),
            (outcome.withheld.len() as u64, "withheld"),
            (outcome.left, "left"),
            (plan.errands.young, "too young"),
        ];
        let told = parts.iter().filter(|(count, _)| 0 < *count);
        let told: Vec<String> = told.map(|(count, words)| format!(", {} {words}", grouped(*count))).collect();
        let told = told.concat();
        let (answered, calls) = (grouped(outcome.answered), grouped(outcome.calls));
        desk.line(&format!("{answered} answered{told}; {calls} calls, {}", outcome.spent))?;
    }
    asking::tell_unanswered(outcome, desk);
    Ok(asking::exit_code(outcome))
}

fn batch(
    writing: &mut Writing<'_>,
    keys: Keys,
    proxy: Option<String>,
    desk: &mut Desk<'_>,
) -> Result<u8, Failure> {
    let (collected, outcome) = asking::ask_in_batches(desk, writing, keys, proxy)?;
    if desk.output.json {
        let came = json!({
            "answered": collected.answered,
            "refused": collected.refused,
            "dropped": collected.dropped,
            "waiting": collected.waiting,
            "lost": collected.lost,
            "spent_usd": collected.spent.decimal(),
            "stopped": collected.stopped.as_ref().map(ToString::to_string),
        });
        desk.write_data(&json!({"collected": came, "outcome": outcome_json(&outcome)}))?;
    } else {
        tell_batches(&collected, &outcome, desk)?;
    }
    asking::tell_unanswered(&outcome, desk);
    let code = asking::exit_code(&outcome);
    match &collected.stopped {
        Some(why) if code == failure::DONE => {
            desk.output.note(&format!("not all batches could be looked at: {why}"));
            Ok(asking::exit_code_of(why))
        }
        Some(_) | None => Ok(code),
    }
}

/// Tells what batches brought, and what was handed over in one.
fn tell_batches(collected: &Collected, outcome: &Outcome, desk: &mut Desk<'_>) -> Result<(), Failure> {
    let (answered, refused) = (grouped(collected.answered), grouped(collected.refused));
    let (to_come, spent) = (grouped(collected.waiting), collected.spent);
    desk.line(&format!(
        "came home  {answered} answered, {refused} refused, {to_come} still to come; {spent}"
    ))?;
    let others = grouped(outcome.left);
    desk.line(&format!("handed over {} questions, {others} left", grouped(outcome.taken)))?;
    if 0 < collected.lost + collected.dropped {
        let (lost, dropped) = (grouped(collected.lost), grouped(collected.dropped));
        desk.output
            .note(&format!("{lost} questions are lost, {dropped} answers came too late; both were paid for"));
    }
    Ok(())
}

fn plan_json(plan: &Plan) -> Value {
    let (errands, estimate) = (&plan.errands, &plan.estimate);
    let asks = plan.hosts.iter().map(|(model, host)| json!({"model": model.to_string(), "host": host}));
    json!({
        "questions": errands.ready.len(),
        "waiting_folders": errands.waiting_folders,
        "done": errands.done,
        "refused_before": errands.refused,
        "young": errands.young,
        "not_asked": errands.not_asked,
        "asks": asks.collect::<Value>(),
        "estimate": {
            "calls": estimate.calls,
            "input_tokens": estimate.input_tokens,
            "output_tokens": estimate.output_tokens,
            "likely_usd": estimate.likely.map(Money::decimal),
            "worst_usd": estimate.worst.map(Money::decimal),
            "calls_left": estimate.calls_left,
            "money_left_usd": estimate.money_left.decimal(),
            "prices_of": plan.prices_of,
        },
    })
}

fn outcome_json(outcome: &Outcome) -> Value {
    let refused =
        outcome.refused.iter().map(|(errand, why)| json!({"place": errand.place.to_string(), "why": why}));
    let withheld = outcome
        .withheld
        .iter()
        .map(|(errand, why)| json!({"place": errand.place.to_string(), "why": why.to_string()}));
    json!({
        "answered": outcome.answered,
        "known": outcome.done,
        "taken": outcome.taken,
        "left": outcome.left,
        "refused": refused.collect::<Value>(),
        "withheld": withheld.collect::<Value>(),
        "stopped": outcome.stopped.as_ref().map(ToString::to_string),
        "calls": outcome.calls,
        "spent_usd": outcome.spent.decimal(),
    })
}

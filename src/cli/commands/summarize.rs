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

/// The reasons of so many files are told one by one.
const MOST_TOLD: usize = 20;

pub(super) fn run(args: &SummarizeArgs, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    asking::refuse_empty(args.files.iter().map(String::as_str))?;
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
        if !args.estimate {
            writing.mend()?;
        }
        let collected = if args.estimate {
            Collected::default()
        } else {
            asking::collect(&writing, &keys, proxy.clone())?
        };
        let plan = writing.plan(&prices_of, args.batch, args.retry)?;
        for note in writing.take_notes() {
            desk.output.note(&note);
        }
        tell_quiet(&plan, &mut writing, !args.files.is_empty(), desk)?;
        if args.estimate {
            return estimate(&plan, desk);
        }
        if !plan.errands.ready.is_empty() && !args.yes && !agrees(&plan, desk)? {
            tell_collected(&collected, desk)?;
            desk.output.tell("nobody was asked");
            return Ok(failure::USER);
        }
        // Only now: who says no has changed nothing.
        writing.forgive(&plan)?;
        let outcome = if args.batch {
            asking::ask_in_batches(desk, &mut writing, keys, proxy)?
        } else {
            asking::ask(desk, &mut writing, keys, proxy, None)?
        };
        tell(&Told { plan, collected, outcome, at_once: args.batch }, desk)
    })
}

/// Tells why nobody is asked about files that were named, and that others were tried in vain before: else a run that has
/// nothing to ask would look like one that has everything.
fn tell_quiet(
    plan: &Plan,
    writing: &mut Writing<'_>,
    has_picks: bool,
    desk: &mut Desk<'_>,
) -> Result<(), Failure> {
    let quiet = if has_picks { writing.quiet()? } else { Vec::new() };
    for (path, why) in quiet.iter().take(MOST_TOLD) {
        desk.output.note(&format!("nobody is asked about {path}: {why}"));
    }
    if MOST_TOLD < quiet.len() {
        desk.output.note(&format!("nor about {} more of the files that are named", quiet.len() - MOST_TOLD));
    }
    if quiet.is_empty() && 0 < plan.errands.refused {
        let told = asking::counted(plan.errands.refused, "question was", "questions were");
        desk.output.note(&format!("{told} refused or withheld before; --retry asks again"));
    }
    Ok(())
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
    lines.push(format!(
        "costs      about {likely}, at most {worst} if each is asked once (prices of {})",
        plan.prices_of
    ));
    let (left, calls) = (estimate.money_left, asking::counted(estimate.calls_left, "call", "calls"));
    lines.push(format!("allowed    {left} and {calls} are left today"));
    lines
}

/// Returns what there is beside the questions, in brackets.
fn beside(plan: &Plan) -> String {
    const YOUNG: &str = "written too lately (agent.still_seconds)";
    let errands = &plan.errands;
    let parts = [
        (errands.waiting_folders, "folder after them", "folders after them"),
        (plan.in_batches, "in a batch", "in a batch"),
        (errands.done, "has its summaries", "have their summaries"),
        (errands.refused, "was refused or withheld before", "were refused or withheld before"),
        (errands.young, YOUNG, YOUNG),
        (errands.not_asked, "file not asked about", "files not asked about"),
    ];
    let told = parts.iter().filter(|(count, ..)| 0 < *count);
    let told: Vec<String> = told.map(|(count, one, several)| asking::counted(*count, one, several)).collect();
    if told.is_empty() { String::new() } else { format!(" ({})", told.join(", ")) }
}

/// What there is to tell at the end.
struct Told {
    plan: Plan,
    collected: Collected,
    outcome: Outcome,
    /// Whether questions were handed over in a batch, and not asked one by one.
    at_once: bool,
}

fn tell(told: &Told, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    let Told { plan, collected, outcome, at_once } = told;
    if desk.output.json {
        let mut data = plan_json(plan);
        data["collected"] = collected_json(collected);
        data["outcome"] = outcome_json(outcome);
        desk.write_data(&data)?;
    } else {
        tell_collected(collected, desk)?;
        let line = if *at_once { handed_over(outcome) } else { asked(plan, outcome) };
        desk.line(&line)?;
    }
    asking::tell_unanswered(outcome, desk);
    let code = asking::exit_code(outcome);
    match &collected.stopped {
        Some(why) => {
            desk.output.note(&format!("not all batches could be looked at: {why}"));
            Ok(if code == failure::DONE { asking::exit_code_of(why) } else { code })
        }
        None => Ok(code),
    }
}

fn asked(plan: &Plan, outcome: &Outcome) -> String {
    let parts = [
        (outcome.done, "known already"),
        (outcome.taken, "asked by another process"),
        (outcome.in_batch, "in a batch"),
        (outcome.refused.len() as u64, "refused"),
        (outcome.withheld.len() as u64, "withheld"),
        (outcome.left, "left"),
        (plan.errands.young, "too young"),
    ];
    let told = parts.iter().filter(|(count, _)| 0 < *count);
    let told: Vec<String> = told.map(|(count, words)| format!(", {} {words}", grouped(*count))).collect();
    let (answered, calls) = (grouped(outcome.answered), asking::counted(outcome.calls, "call", "calls"));
    format!("{answered} answered{}; {calls}, {}", told.concat(), outcome.spent)
}

fn handed_over(outcome: &Outcome) -> String {
    if outcome.handed_over + outcome.left == 0 {
        let in_batch = asking::counted(outcome.in_batch, "question is", "questions are");
        return format!("nothing new to hand over, {in_batch} in a batch");
    }
    let over = asking::counted(outcome.handed_over, "question", "questions");
    format!("handed over {over}, {} left", grouped(outcome.left))
}

/// Tells what batches brought, where there were any.
fn tell_collected(collected: &Collected, desk: &mut Desk<'_>) -> Result<(), Failure> {
    let Collected { answered, refused, waiting, lost, spent, .. } = collected;
    if answered + refused + waiting + lost == 0 {
        return Ok(());
    }
    let (answered, refused, waiting) = (grouped(*answered), grouped(*refused), grouped(*waiting));
    desk.line(&format!(
        "came home  {answered} answered, {refused} refused, {waiting} still to come; {spent}"
    ))?;
    if 0 < *lost {
        let lost = asking::counted(*lost, "question is", "questions are");
        desk.output.note(&format!("{lost} lost; each counts as the most that it could cost"));
    }
    Ok(())
}

fn collected_json(collected: &Collected) -> Value {
    json!({
        "answered": collected.answered,
        "refused": collected.refused,
        "waiting": collected.waiting,
        "lost": collected.lost,
        "spent_usd": collected.spent.decimal(),
        "stopped": collected.stopped.as_ref().map(ToString::to_string),
    })
}

fn plan_json(plan: &Plan) -> Value {
    let (errands, estimate) = (&plan.errands, &plan.estimate);
    let asks = plan.hosts.iter().map(|(model, host)| json!({"model": model.to_string(), "host": host}));
    json!({
        "questions": errands.ready.len(),
        "waiting_folders": errands.waiting_folders,
        "in_batches": plan.in_batches,
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
        "in_batch": outcome.in_batch,
        "handed_over": outcome.handed_over,
        "left": outcome.left,
        "refused": refused.collect::<Value>(),
        "withheld": withheld.collect::<Value>(),
        "stopped": outcome.stopped.as_ref().map(ToString::to_string),
        "calls": outcome.calls,
        "spent_usd": outcome.spent.decimal(),
    })
}

//! `slop explain`

use super::desk::Desk;
use super::words::choice_ask;
use crate::api::Answer;
use crate::api::Ask;
use crate::api::ExplainAsk;
use crate::api::FileExplanation;
use crate::api::LimitEffect;
use crate::api::Request;
use crate::api::SummaryAuthor;
use crate::api::language_name;
use crate::api::shown_path;
use crate::cli::document_args::ExplainArgs;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::model::LeftOut;
use crate::model::printable;
use crate::render::grouped;

/// What is said of a file that a limited document is not about.
const NOT_ASKED_FOR: &str = "  under the budget  not asked for: neither shown nor counted";

pub(super) fn run(args: &ExplainArgs, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    let (file, choice) = (desk.place.word(&args.file), choice_ask(&args.choice, desk.place));
    let ask = Ask::Explain(Box::new(ExplainAsk { file, choice }));
    let is_limited = match desk.resolve(ask.clone())? {
        Request::Explain { aggregation, .. } => aggregation.limits.is_some(),
        _ => unreachable!("an explain ask means an explanation"),
    };
    let answer = desk.ask(ask)?;
    let Answer::Explained(explanations) = &answer else {
        unreachable!("an explain ask is answered by explanations")
    };
    if desk.output.json {
        desk.write_data(explanations)?;
        return Ok(failure::DONE);
    }
    for explanation in explanations {
        write_explanation(explanation, is_limited, desk)?;
    }
    Ok(failure::DONE)
}

fn write_explanation(
    explanation: &FileExplanation,
    is_limited: bool,
    desk: &mut Desk<'_>,
) -> Result<(), Failure> {
    desk.output.line(&shown_path(&explanation.path, explanation.path_hex.as_deref()))?;
    if let Some(reason) = &explanation.left_out {
        let words = LeftOut::from_name(reason).map_or("", LeftOut::words);
        desk.output.line(&format!("  left out     {reason}: {words}"))?;
        return Ok(());
    }
    let content = (&explanation.sha256, explanation.size, &explanation.language);
    if let (Some(hash), Some(size), Some(language)) = content {
        let (name, size, hash) = (language_name(language), grouped(size), short(hash));
        desk.output.line(&format!("  type         {name}, {size} bytes, content {hash}"))?;
    }
    for remark in &explanation.remarks {
        desk.output.line(&format!("  remark       {remark}"))?;
    }
    write_rules(explanation, desk)?;
    if let Some(why) = &explanation.why {
        desk.output.line(&format!("  instead      {}: {why}", explanation.view))?;
    }
    if let (Some(by), Some(why)) = (&explanation.summary, &explanation.summary_why) {
        desk.output.line(&format!("  summary      {}: {why}", author(by)))?;
    }
    let (bytes, tokens) = (grouped(explanation.bytes), grouped(explanation.tokens));
    let (view, counter) = (&explanation.view, &explanation.tokens_counted_by);
    desk.output.line(&format!("  shown as     {view}, {bytes} bytes, {tokens} tokens ({counter})"))?;
    if let Some(fate) = &explanation.under_limits {
        write_fate(fate, &explanation.wanted, desk)?;
    } else if is_limited {
        desk.output.line(NOT_ASKED_FOR)?;
    }
    Ok(())
}

/// Returns who wrote a summary.
fn author(by: &SummaryAuthor) -> String {
    by.model.as_ref().map_or_else(|| by.by.clone(), |model| format!("{}, {}", by.by, printable(model)))
}

/// Returns as much of a hash as tells contents of one project apart.
fn short(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

/// Writes what each rule has to say.
fn write_rules(explanation: &FileExplanation, desk: &mut Desk<'_>) -> Result<(), Failure> {
    for verdict in &explanation.rules {
        let view = verdict.view.as_deref().unwrap_or("does not match");
        let decides = if verdict.rule == explanation.decided_by { "  <- decides" } else { "" };
        desk.output.line(&format!("  rule         {}: {view}{decides}", verdict.rule))?;
    }
    Ok(())
}

/// Writes what a limit makes of a file, and how much it matters.
fn write_fate(fate: &LimitEffect, wanted: &str, desk: &mut Desk<'_>) -> Result<(), Failure> {
    let shown = fate.view.as_deref().unwrap_or("left out");
    let wanted =
        if fate.view.as_deref() == Some(wanted) { String::new() } else { format!(" (wanted {wanted})") };
    let why = fate.why.as_ref().map_or(String::new(), |why| format!(": {why}"));
    desk.output.line(&format!("  under the budget  {shown}{wanted}{why}"))?;
    let (place, files) = (grouped(fate.place), grouped(fate.files));
    let reasons = reasons(fate).join(", ");
    Ok(desk.output.line(&format!("  importance   {place} of {files} files: {reasons}"))?)
}

fn reasons(fate: &LimitEffect) -> Vec<String> {
    let plural = |count: u64, one: &str, many: &str| {
        format!("{} {}", grouped(count), if count == 1 { one } else { many })
    };
    let (users, shared) = (u64::from(fate.referred_by), u64::from(fate.shared_with_focus));
    let mut reasons = Vec::new();
    if fate.in_focus {
        reasons.push("in focus".to_owned());
    }
    if fate.curated {
        reasons.push("curated".to_owned());
    }
    reasons.push(format!("referred to by {}", plural(users, "file", "files")));
    if 0 < shared {
        reasons.push(format!("shares {} with the focus", plural(shared, "name", "names")));
    }
    // Changes count less as they grow old, so that there are parts of one.
    let (whole, tenths) =
        (fate.recent_changes_millionths / 1_000_000, fate.recent_changes_millionths % 1_000_000 / 100_000);
    if 0 < whole + tenths {
        reasons.push(format!("{}.{tenths} recent changes", grouped(whole)));
    }
    reasons
}

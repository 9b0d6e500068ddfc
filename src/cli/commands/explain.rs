//! `slop explain`

use super::desk::Desk;
use crate::api::Explanation;
use crate::api::Request;
use crate::api::Response;
use crate::api::Trust;
use crate::api::UnderLimits;
use crate::cli::document_args::Beside;
use crate::cli::document_args::ExplainArgs;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::model::ViewMode;
use crate::render::grouped;

/// What is said of a file that a limited document is not about.
const NOT_ASKED_FOR: &str = "  under the budget  not asked for: neither shown nor counted";

pub(super) fn run(args: &ExplainArgs, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    let profile = desk.profile(&args.choice)?;
    let mut aggregation = desk.aggregation(&args.choice, &profile, Vec::new(), None, Trust::Stamps);
    // What stands beside the files takes room from them.
    aggregation.sections = desk.sections(&Beside::default(), &profile);
    let is_limited = aggregation.limits.is_some();
    let file = desk.place.word(&args.file);
    let response = desk.ask(Request::Explain { file, aggregation })?;
    if desk.output.json {
        desk.write_json(&response)?;
        return Ok(failure::DONE);
    }
    let Response::Explained(explanations) = &response else {
        unreachable!("an explanation is what was asked for")
    };
    for explanation in explanations {
        write_explanation(explanation, is_limited, desk)?;
    }
    Ok(failure::DONE)
}

fn write_explanation(
    explanation: &Explanation,
    is_limited: bool,
    desk: &mut Desk<'_>,
) -> Result<(), Failure> {
    desk.output.line(&explanation.path.to_string())?;
    if let Some(reason) = explanation.left_out {
        desk.output.line(&format!("  left out     {reason}: {}", reason.words()))?;
        return Ok(());
    }
    if let (Some((hash, size)), Some(file_type)) = (explanation.content, explanation.file_type) {
        let (name, size, hash) = (file_type.name, grouped(size), hash.short());
        desk.output.line(&format!("  type         {name}, {size} bytes, content {hash}"))?;
    }
    for remark in &explanation.remarks {
        desk.output.line(&format!("  remark       {remark}"))?;
    }
    write_rules(explanation, desk)?;
    if let Some(why) = &explanation.why {
        desk.output.line(&format!("  instead      {}: {why}", explanation.view))?;
    }
    let (bytes, tokens) = (grouped(explanation.bytes), grouped(explanation.tokens));
    let (view, counter) = (explanation.view, explanation.counter);
    desk.output.line(&format!("  shown as     {view}, {bytes} bytes, {tokens} tokens ({counter})"))?;
    if let Some(fate) = &explanation.under_limits {
        write_fate(fate, explanation.routed.view, desk)?;
    } else if is_limited {
        desk.output.line(NOT_ASKED_FOR)?;
    }
    Ok(())
}

/// Writes what each rule has to say.
fn write_rules(explanation: &Explanation, desk: &mut Desk<'_>) -> Result<(), Failure> {
    for verdict in &explanation.verdicts {
        let view = verdict.view.map_or("does not match".to_owned(), |view| view.to_string());
        let decides = if verdict.rule == explanation.routed.rule { "  <- decides" } else { "" };
        desk.output.line(&format!("  rule         {}: {view}{decides}", verdict.rule.name()))?;
    }
    Ok(())
}

/// Writes what a limit makes of a file, and how much it matters.
fn write_fate(fate: &UnderLimits, wanted: ViewMode, desk: &mut Desk<'_>) -> Result<(), Failure> {
    let shown = fate.view.map_or("left out".to_owned(), |view| view.to_string());
    let wanted = if fate.view == Some(wanted) { String::new() } else { format!(" (wanted {wanted})") };
    let why = fate.why.as_ref().map_or(String::new(), |why| format!(": {why}"));
    desk.output.line(&format!("  under the budget  {shown}{wanted}{why}"))?;
    let (place, files) = (grouped(fate.place as u64), grouped(fate.files as u64));
    let reasons = reasons(fate).join(", ");
    Ok(desk.output.line(&format!("  importance   {place} of {files} files: {reasons}"))?)
}

fn reasons(fate: &UnderLimits) -> Vec<String> {
    let importance = fate.importance;
    let plural = |count: u64, one: &str, many: &str| {
        format!("{} {}", grouped(count), if count == 1 { one } else { many })
    };
    let (users, shared) = (u64::from(importance.referred_by), u64::from(importance.shared_with_focus));
    let mut reasons = Vec::new();
    if importance.in_focus {
        reasons.push("in focus".to_owned());
    }
    if importance.is_curated {
        reasons.push("curated".to_owned());
    }
    reasons.push(format!("referred to by {}", plural(users, "file", "files")));
    if 0 < shared {
        reasons.push(format!("shares {} with the focus", plural(shared, "name", "names")));
    }
    // Changes count less as they grow old, so that there are parts of one.
    let (whole, tenths) = (fate.changes / 1_000_000, fate.changes % 1_000_000 / 100_000);
    if 0 < whole + tenths {
        reasons.push(format!("{}.{tenths} recent changes", grouped(whole)));
    }
    reasons
}

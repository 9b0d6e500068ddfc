//! `slop explain`

use super::context::CommandContext;
use super::words::view_selection;
use crate::api::{ExplainQuery, FileExplanation, LimitEffect, SummaryAuthor, display_path, language_name};
use crate::cli::document_args::ExplainArgs;
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::model::{SkipReason, printable};
use crate::render::format_grouped;
use crate::service::resolve_explain;

/// What is said of a file that a limited document is not about.
const NOT_ASKED_FOR: &str = "  under the budget  not asked for: neither shown nor counted";

pub(super) fn run(args: &ExplainArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let (file, choice) =
        (context.location.resolve_path(&args.file), view_selection(&args.choice, context.location));
    let query = ExplainQuery { file, choice };
    let is_limited = resolve_explain(&query, context.query_settings())?.limits.is_some();
    let explanations = &context.ask(query)?;
    if context.output.json {
        context.write_data(explanations)?;
        return Ok(failure::DONE);
    }
    for explanation in explanations {
        write_explanation(explanation, is_limited, context)?;
    }
    Ok(failure::DONE)
}

fn write_explanation(
    explanation: &FileExplanation,
    is_limited: bool,
    context: &mut CommandContext<'_>,
) -> Result<(), CommandError> {
    context.output.write_line(&display_path(&explanation.path, explanation.path_hex.as_deref()))?;
    if let Some(reason) = &explanation.left_out {
        let words = SkipReason::from_name(reason).map_or("", SkipReason::description);
        context.output.write_line(&format!("  left out     {reason}: {words}"))?;
        return Ok(());
    }
    let facts = (&explanation.sha256, explanation.size, &explanation.language);
    if let (Some(hash), Some(size), Some(language)) = facts {
        let (name, size, hash) = (language_name(language), format_grouped(size), short_hash(hash));
        context.output.write_line(&format!("  type         {name}, {size} bytes, content {hash}"))?;
    }
    for remark in &explanation.remarks {
        context.output.write_line(&format!("  remark       {remark}"))?;
    }
    write_rules(explanation, context)?;
    if let Some(why) = &explanation.why {
        context.output.write_line(&format!("  instead      {}: {why}", explanation.view))?;
    }
    if let (Some(by), Some(why)) = (&explanation.summary, &explanation.summary_why) {
        context.output.write_line(&format!("  summary      {}: {why}", author_text(by)))?;
    }
    let (bytes, tokens) = (format_grouped(explanation.bytes), format_grouped(explanation.tokens));
    let (view, counter) = (&explanation.view, &explanation.tokens_counted_by);
    context
        .output
        .write_line(&format!("  shown as     {view}, {bytes} bytes, {tokens} tokens ({counter})"))?;
    if let Some(fate) = &explanation.under_limits {
        write_limit_effect(fate, &explanation.wanted, context)?;
    } else if is_limited {
        context.output.write_line(NOT_ASKED_FOR)?;
    }
    Ok(())
}

/// Returns who wrote a summary.
fn author_text(by: &SummaryAuthor) -> String {
    by.model.as_ref().map_or_else(|| by.by.clone(), |model| format!("{}, {}", by.by, printable(model)))
}

/// Returns enough of a hash to distinguish the contents of one project.
fn short_hash(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

/// Writes what each rule has to say.
fn write_rules(explanation: &FileExplanation, context: &mut CommandContext<'_>) -> Result<(), CommandError> {
    for verdict in &explanation.rules {
        let view = verdict.view.as_deref().unwrap_or("does not match");
        let decides = if verdict.rule == explanation.decided_by { "  <- decides" } else { "" };
        context.output.write_line(&format!("  rule         {}: {view}{decides}", verdict.rule))?;
    }
    Ok(())
}

/// Writes what a limit makes of a file, and how much it matters.
fn write_limit_effect(
    fate: &LimitEffect,
    wanted: &str,
    context: &mut CommandContext<'_>,
) -> Result<(), CommandError> {
    let shown = fate.view.as_deref().unwrap_or("left out");
    let wanted =
        if fate.view.as_deref() == Some(wanted) { String::new() } else { format!(" (wanted {wanted})") };
    let why = fate.why.as_ref().map_or(String::new(), |why| format!(": {why}"));
    context.output.write_line(&format!("  under the budget  {shown}{wanted}{why}"))?;
    let (place, files) = (format_grouped(fate.place), format_grouped(fate.files));
    let reasons = importance_reasons(fate).join(", ");
    Ok(context.output.write_line(&format!("  importance   {place} of {files} files: {reasons}"))?)
}

fn importance_reasons(fate: &LimitEffect) -> Vec<String> {
    let plural = |count: u64, one: &str, many: &str| {
        format!("{} {}", format_grouped(count), if count == 1 { one } else { many })
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
        reasons.push(format!("{}.{tenths} recent changes", format_grouped(whole)));
    }
    reasons
}

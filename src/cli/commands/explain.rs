//! `slop explain`.

use super::context::CommandContext;
use super::document_query::view_selection;
use crate::api::{
    ExplainQuery, FileExplanation, FragmentPlace, LimitEffect, SummaryAuthor, WarmthName, display_path,
    language_name,
};
use crate::cli::document_args::ExplainArgs;
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::cli::output::{CommandOutput, GOOD, MINOR, NAME, thousandths};
use crate::model::{SkipReason, printable};
use crate::render::format_grouped;
use crate::service::resolve_explain;

/// The line for a file that a limited document does not cover.
const NOT_ASKED_FOR: &str = "  under the budget  not requested: neither shown nor counted";

pub(super) fn run(args: &ExplainArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let (file, choice) =
        (context.location.resolve_path(&args.file), view_selection(&args.choice, context.location)?);
    let query = ExplainQuery { file, choice };
    // The answer does not contain whether there was a limit, so the question is resolved here again.
    let is_limited = resolve_explain(&query, context.query_settings())?.limits.is_some();
    let explanations = &context.ask(query)?;
    if context.output.json {
        return context.write_data(explanations);
    }
    for explanation in explanations {
        write_explanation(explanation, is_limited, context.output)?;
    }
    Ok(failure::DONE)
}

fn write_explanation(
    explanation: &FileExplanation,
    is_limited: bool,
    output: &mut CommandOutput,
) -> Result<(), CommandError> {
    output
        .write_line(&output.paint(NAME, &display_path(&explanation.path, explanation.path_hex.as_deref())))?;
    // A file that is never shown has no view to explain.
    if let Some(reason) = &explanation.left_out {
        let words = SkipReason::from_name(reason).map_or("", SkipReason::description);
        output.write_line(&format!("  left out     {reason}: {words}"))?;
        return Ok(());
    }
    // A file without text has neither of these.
    let facts = (&explanation.sha256, explanation.size, &explanation.language);
    if let (Some(hash), Some(size), Some(language)) = facts {
        let (name, size, hash) = (language_name(language), format_grouped(size), short_hash(hash));
        output.write_line(&format!("  type         {name}, {size} bytes, content {hash}"))?;
    }
    for remark in &explanation.remarks {
        output.write_line(&format!("  remark       {remark}"))?;
    }
    write_rules(explanation, output)?;
    if let Some(why) = &explanation.why {
        output.write_line(&format!("  instead      {}: {why}", explanation.view))?;
    }
    if let (Some(by), Some(why)) = (&explanation.summary, &explanation.summary_why) {
        output.write_line(&format!("  summary      {}: {why}", author_text(by)))?;
    }
    let (bytes, tokens) = (format_grouped(explanation.bytes), format_grouped(explanation.tokens));
    let (view, counter) = (&explanation.view, &explanation.tokens_counted_by);
    output.write_line(&format!("  shown as     {view}, {bytes} bytes, {tokens} tokens ({counter})"))?;
    if let Some(resource) = &explanation.resource {
        output.write_line(&format!("  {resource}"))?;
    }
    if let Some(changes) = &explanation.changes {
        output.write_line(&format!("  changes      {changes}"))?;
    }
    for fragment in &explanation.fragments {
        write_place(fragment, output)?;
    }
    if let Some(effect) = &explanation.under_limits {
        write_limit_effect(effect, &explanation.wanted, output)?;
    } else if is_limited {
        output.write_line(NOT_ASKED_FOR)?;
    }
    Ok(())
}

fn author_text(by: &SummaryAuthor) -> String {
    by.model.as_ref().map_or_else(|| by.by.clone(), |model| format!("{}, {}", by.by, printable(model)))
}

/// Returns enough of a hash to distinguish the contents of one project.
fn short_hash(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

fn write_rules(explanation: &FileExplanation, output: &mut CommandOutput) -> Result<(), CommandError> {
    for verdict in &explanation.rules {
        let view = verdict.view.as_deref().unwrap_or("does not match");
        let line = format!("  rule         {}: {view}", verdict.rule);
        write_rule(&line, verdict.rule == explanation.decided_by, output)?;
    }
    Ok(())
}

fn write_rule(line: &str, decides: bool, output: &mut CommandOutput) -> Result<(), CommandError> {
    let line =
        if decides { output.paint(GOOD, &format!("{line}  <- decides")) } else { output.paint(MINOR, line) };
    Ok(output.write_line(&line)?)
}

/// Writes where hydration has placed a file or a slice, and the rules that decided.
fn write_place(fragment: &FragmentPlace, output: &mut CommandOutput) -> Result<(), CommandError> {
    let tier = fragment.tier.map_or("no place", WarmthName::name);
    let (depth, score) = (fragment.detail_depth, fragment.relevance_score);
    let slice = fragment.part.as_ref().map_or(String::new(), |part| format!("[{}] ", printable(part)));
    output.write_line(&format!("  hydration    {slice}{tier}, depth {depth}, score {score:.3}"))?;
    for (at, rule) in (1..).zip(&fragment.why) {
        let line = format!("    {}", printable(rule));
        write_rule(&line, at == fragment.why.len(), output)?;
    }
    Ok(())
}

/// Writes the effect of a limit on a file, and the file's importance.
fn write_limit_effect(
    effect: &LimitEffect,
    wanted: &str,
    output: &mut CommandOutput,
) -> Result<(), CommandError> {
    let shown = effect.view.as_deref().unwrap_or("left out");
    let wanted =
        if effect.view.as_deref() == Some(wanted) { String::new() } else { format!(" (wanted {wanted})") };
    let why = effect.why.as_ref().map_or(String::new(), |why| format!(": {why}"));
    output.write_line(&format!("  under the budget  {shown}{wanted}{why}"))?;
    let (place, files) = (format_grouped(effect.place), format_grouped(effect.files));
    output.write_line(&format!(
        "  rank         {place} of {files} files, score {}",
        thousandths(effect.score.thousandths)
    ))?;
    for part in &effect.score.parts {
        output.write_line(&format!("    {:<10} {}", part.part, thousandths(part.thousandths)))?;
    }
    for symbol in &effect.symbols {
        output.write_line(&format!(
            "  symbol       {} ({})",
            symbol.name,
            thousandths(symbol.score.thousandths)
        ))?;
    }
    Ok(())
}

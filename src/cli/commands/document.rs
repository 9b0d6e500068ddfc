//! `slop aggregate`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::asking;
use super::context::CommandContext;
use super::document_query::aggregate_query;
use crate::agent::StopReason;
use crate::api::{
    AggregateQuery, ApiError, ApiErrorKind, ComposeQuery, DocumentReceipt, OutputTarget, ReceiptFile,
    ReceiptProblem, WriteDocumentQuery, WrittenDocument, display_path, document_json, pretty,
};
use crate::cli::document_args::AggregateArgs;
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::cli::location::ProcessEnvironment;
use crate::cli::output::CommandOutput;
use crate::render::format_grouped;
use crate::service::{AgentOverrides, SummarySession, agent_options, project_name, resolve_aggregate};
use crate::sys::{Disk, RealDisk};

const MAX_LISTED: usize = 5;

pub(super) fn aggregate(
    args: &AggregateArgs,
    environment: &ProcessEnvironment,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    let query = aggregate_query(args, args.receipt.is_some() || context.output.json, context.location)?;
    // Before the document is composed, because it looks up summaries only once.
    if let Some(seconds) = args.wait_agent
        && shows_model_summaries(&query, context)?
    {
        wait_for_models(args, Duration::from_secs(seconds), context).map_err(with_waiting_hint)?;
    }
    // Output paths are relative to the current folder, as for any other program.
    // Made absolute here, because the document is written by code that knows only the project's folder.
    let here = |path: &PathBuf| environment.current_folder.join(path);
    let receipt = args.receipt.as_ref().map(here);
    let target = match &args.output {
        _ if args.dry_run || args.stdout => None,
        Some(path) => Some(OutputTarget::File(here(path))),
        None => Some(numbered_target(context)),
    };
    let receipt = match target {
        Some(target) => write_to_file(query, target, receipt.as_deref(), context)?,
        None if context.output.json && !args.dry_run => write_as_json(query, receipt.as_deref(), context)?,
        None => write_to_stdout(query, receipt.as_deref(), context)?,
    };
    report_default_limit(args, &receipt, context);
    Ok(report_missing(&receipt, context))
}

/// Reports what a default limit left out.
fn report_default_limit(args: &AggregateArgs, receipt: &DocumentReceipt, context: &mut CommandContext<'_>) {
    let Some(limit) = receipt.budget_tokens.filter(|_| args.choice.budget.is_none()) else { return };
    let left_out = receipt.totals.left_out.get("budget").copied().unwrap_or(0);
    if receipt.totals.named() + left_out == 0 {
        return;
    }
    let [limit, by_name, left_out] = [limit, receipt.totals.named(), left_out].map(format_grouped);
    context.output.note(&format!(
        "limited to {limit} tokens: {by_name} files are shown by names alone, {left_out} not at all; \
         --budget sets another limit, --budget none lifts it"
    ));
}

/// Returns whether the document shows summaries by models. If it does not, none are written for it.
fn shows_model_summaries(
    query: &AggregateQuery,
    context: &mut CommandContext<'_>,
) -> Result<bool, CommandError> {
    if query.dry_run {
        return Ok(false);
    }
    let document = resolve_aggregate(query.clone(), context.query_settings())?;
    let is_by_model = document.request.tier.is_some_and(|tier| tier.by_model);
    if !is_by_model {
        context.output.note("--wait-agent has nothing to wait for: the tier's `summary` is not \"agent\"");
    }
    Ok(is_by_model)
}

/// Runs the sub-agent for the missing summaries of the selected files. What is not ready in time does not stop the
/// document.
fn wait_for_models(
    args: &AggregateArgs,
    most: Duration,
    context: &mut CommandContext<'_>,
) -> Result<(), CommandError> {
    // The settings decide on models and tiers, because the flags of the document describe its reader, not the writer of
    // summaries.
    let choice = AgentOverrides { persona: None, tiers: Vec::new(), picks: picks(args, context) };
    let options = agent_options(context.loaded, choice)?;
    let keys = asking::load_keys(&options)?;
    let proxy = options.proxy.clone();
    let outcome = asking::with_world(context, |context, world| {
        let mut writing = SummarySession::open(&context.location.root, context.loaded, options, world)?;
        // A damaged database does not even show what is missing, so it is repaired before tasks are listed.
        writing.repair()?;
        asking::run_questions(context, &mut writing, keys, proxy, Some(most), None)
    })?;
    asking::report_unanswered(&outcome, context);
    // A user who interrupts the wait does not want a document without the summaries.
    if let Some(StopReason::Interrupted) = outcome.stopped {
        return Err(CommandError::usage(
            "stopped before the document was composed",
            "run it again; what was written is kept",
        ));
    }
    Ok(())
}

/// Adds to the hint that the document can be composed without waiting.
fn with_waiting_hint(failure: CommandError) -> CommandError {
    match failure {
        // Only if the sub-agent's configuration is at fault: a wrong flag would also fail without the wait.
        CommandError::Api(mut error) if error.kind == ApiErrorKind::User && error.code != failure::USAGE => {
            let hint = &error.hint;
            error.hint =
                format!("{hint}; or omit --wait-agent to compose the document without waiting").into();
            CommandError::Api(error)
        }
        other => other,
    }
}

/// Returns the files to summarize: those that are named, else those of the preset, else all.
fn picks(args: &AggregateArgs, context: &CommandContext<'_>) -> Vec<String> {
    // Models are only called for files that the document can show.
    if !args.files.is_empty() {
        return context.location.resolve_paths(&args.files);
    }
    let curation = &context.loaded.curation;
    let persona = args.choice.persona.as_ref().and_then(|name| curation.persona(name));
    let preset_of_persona = persona.and_then(|persona| persona.value.context_preset.as_ref());
    let preset = args.choice.preset.as_ref().or(preset_of_persona).and_then(|name| curation.preset(name));
    preset.map_or(Vec::new(), |preset| preset.value.files.iter().map(|item| item.path.clone()).collect())
}

fn numbered_target(context: &CommandContext<'_>) -> OutputTarget {
    let settings = &context.loaded.settings;
    OutputTarget::Numbered {
        folder: settings.project.output_dir.clone(),
        name: project_name(&context.location.root, &settings.project.name),
        keep: settings.output.keep,
    }
}

fn write_to_file(
    document: AggregateQuery,
    target: OutputTarget,
    receipt: Option<&Path>,
    context: &mut CommandContext<'_>,
) -> Result<DocumentReceipt, CommandError> {
    let receipt = receipt.map(Path::to_owned);
    let WrittenDocument { path, receipt } = context.ask(WriteDocumentQuery { document, target, receipt })?;
    if context.output.json {
        context.write_data(&json!({"path": path.to_string_lossy(), "receipt": receipt}))?;
    } else {
        context.output.write_path(&path)?;
    }
    context.output.flush()?;
    Ok(receipt)
}

fn write_to_stdout(
    query: AggregateQuery,
    receipt: Option<&Path>,
    context: &mut CommandContext<'_>,
) -> Result<DocumentReceipt, CommandError> {
    context.ask_and(query, |context, document| {
        write_receipt(receipt, &document.receipt)?;
        match &document.text {
            Some(text) => {
                for piece in text.pieces() {
                    context.output.write_text(&piece)?;
                }
            }
            None if context.output.json => drop(context.write_data(&document)?),
            None => write_plan(&document.receipt, context.output)?,
        }
        Ok(document.receipt)
    })
}

/// Prints a document as JSON, whatever its format: this needs the document itself, which no daemon sends.
fn write_as_json(
    query: AggregateQuery,
    receipt: Option<&Path>,
    context: &mut CommandContext<'_>,
) -> Result<DocumentReceipt, CommandError> {
    let scope = query.receipt;
    context.ask_and(ComposeQuery(query), |context, document| {
        let written = DocumentReceipt::new(&document.receipt, scope);
        write_receipt(receipt, &written)?;
        context.write_data(&document_json(&document, written.clone()))?;
        Ok(written)
    })
}

fn write_receipt(path: Option<&Path>, receipt: &DocumentReceipt) -> Result<(), ApiError> {
    let Some(path) = path else { return Ok(()) };
    let written = RealDisk.replace(path, pretty(receipt).as_bytes());
    written.map_err(|error| ApiError::write_failed(path, &error))
}

/// Returns the files that could not be shown because of an error, and why.
fn failed_files(receipt: &DocumentReceipt) -> Vec<(String, &str)> {
    let failed = receipt.problems.iter().filter(|problem| problem.is_error);
    let failed = failed.filter_map(|problem| {
        let path = display_path(problem.path.as_ref()?, problem.path_hex.as_deref());
        Some((path, problem.why.as_str()))
    });
    failed.collect()
}

fn report_missing(receipt: &DocumentReceipt, context: &mut CommandContext<'_>) -> u8 {
    let failures = failed_files(receipt);
    for (path, reason) in failures.iter().take(MAX_LISTED) {
        context.output.note(&format!("could not show {path}: {reason}"));
    }
    if MAX_LISTED < failures.len() {
        let more = failures.len() - MAX_LISTED;
        context.output.note(&format!("could not show {more} more files; the receipt says which and why"));
    }
    let is_failure = |word: &str| failures.iter().any(|(path, _)| path == word);
    for missing in receipt.missing.iter().filter(|missing| !is_failure(&missing.word)) {
        context.output.note(&format!("{}: {}", missing.word, missing.why));
    }
    // Problems in the settings were reported when they were read. A file that could not be parsed is shown all the
    // same. A mask without effect has a note of its own.
    let is_reported = |problem: &&ReceiptProblem| {
        matches!(&*problem.section, "settings" | "items") || problem.path.is_some()
    };
    for problem in receipt.problems.iter().filter(|problem| !is_reported(problem)) {
        context.output.note(&format!("{}: {}", problem.section, problem.why));
    }
    // Missing attachments that were not requested are notes, and do not change the exit code.
    let is_whole = failures.is_empty() && !receipt.problems.iter().any(|problem| problem.is_error);
    if is_whole { failure::DONE } else { failure::INCOMPLETE }
}

/// The width of the column of paths; a longer path exceeds it.
const MAX_PATH_WIDTH: usize = 60;
/// The most files that are listed for one reason; the JSON has all of them.
const MAX_NAMES: usize = 10;

/// Writes the view of each file, what would be left out and why, and the totals.
pub(super) fn write_plan(receipt: &DocumentReceipt, output: &mut CommandOutput) -> Result<(), CommandError> {
    write_files(&receipt.files, output)?;
    for ((_, reason), paths) in &omissions_by_reason(receipt) {
        let count = format_grouped(paths.len() as u64);
        output.write_line(&format!("left out, {reason}: {count}"))?;
        for path in paths.iter().take(MAX_NAMES) {
            output.write_line(&format!("  {path}"))?;
        }
        if MAX_NAMES < paths.len() {
            output.write_line(&format!("  and {} more", format_grouped((paths.len() - MAX_NAMES) as u64)))?;
        }
    }
    if receipt.without_tree {
        output.write_line("left out, no room within the budget: the tree of names")?;
    }
    let (tokens, bytes) = (format_grouped(receipt.tokens), format_grouped(receipt.bytes));
    let files = format_grouped(receipt.totals.files);
    output.write_line(&format!(
        "total   {tokens} tokens ({}), {bytes} bytes, {files} files",
        receipt.tokens_counted_by
    ))?;
    let limits = [(receipt.budget_tokens, "tokens"), (receipt.max_bytes, "bytes")];
    let limits =
        limits.iter().filter_map(|(limit, unit)| Some(format!("{} {unit}", format_grouped((*limit)?))));
    let limits: Vec<String> = limits.collect();
    let limits = if limits.is_empty() { "none".to_owned() } else { limits.join(", ") };
    Ok(output.write_line(&format!("budget  {limits}"))?)
}

fn write_files(files: &[ReceiptFile], output: &mut CommandOutput) -> Result<(), CommandError> {
    let rows = files.iter().map(|entry| {
        let why = entry.why.clone().unwrap_or_else(|| format!("rule {}", entry.rule));
        [
            display_path(&entry.path, entry.path_hex.as_deref()),
            view_change(entry),
            format_grouped(entry.tokens),
            why,
        ]
    });
    let head = ["PATH", "VIEW", "TOKENS", "WHY"].map(str::to_owned);
    let rows: Vec<[String; 4]> = std::iter::once(head).chain(rows).collect();
    // Counted in characters, because that is how `format!` pads.
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (path, view, tokens) = (width(0).min(MAX_PATH_WIDTH), width(1), width(2));
    for [name, shown, count, reason] in &rows {
        output.write_line(&format!("{name:<path$}  {shown:<view$}  {count:>tokens$}  {reason}"))?;
    }
    Ok(())
}

fn view_change(entry: &ReceiptFile) -> String {
    if entry.view == entry.wanted {
        return entry.view.clone();
    }
    format!("{} <- {}", entry.view, entry.wanted)
}

/// Groups the omitted files by the name and the description of the reason.
fn omissions_by_reason(receipt: &DocumentReceipt) -> BTreeMap<(&str, &str), Vec<String>> {
    let mut reasons: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for omitted in &receipt.left_out {
        let key = (omitted.reason.as_str(), omitted.why.as_str());
        reasons.entry(key).or_default().push(display_path(&omitted.path, omitted.path_hex.as_deref()));
    }
    reasons
}

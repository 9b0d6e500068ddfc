//! `slop aggregate`

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::context::CommandContext;
use super::words::aggregate_query;
use super::{asking, plan};
use crate::agent::StopReason;
use crate::api::{
    AggregateQuery, ApiError, ApiErrorKind, ComposeQuery, DocumentReceipt, OutputTarget, WriteDocumentQuery,
    WrittenDocument, display_path, document_json, pretty,
};
use crate::cli::document_args::AggregateArgs;
use crate::cli::environment::ProcessEnvironment;
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::model::SkipReason;
use crate::service::{AgentOverrides, SummarySession, agent_options, project_name, resolve_aggregate};
use crate::sys::{Disk, RealDisk};

/// The most files without a view that are listed.
const MAX_LISTED: usize = 5;

pub(super) fn run(
    args: &AggregateArgs,
    environment: &ProcessEnvironment,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    let query = aggregate_query(args, args.receipt.is_some() || context.output.json, context.location);
    if let Some(seconds) = args.wait_agent
        && shows_model_summaries(&query, context)?
    {
        wait_for_models(args, Duration::from_secs(seconds), context).map_err(with_waiting_hint)?;
    }
    // Output paths are relative to the current folder, as for any other program.
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
    Ok(report_missing(&receipt, context))
}

/// Returns whether the document shows what models write. Where it does not, they are not to be paid for it.
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
    let choice = AgentOverrides { persona: None, tiers: Vec::new(), picks: picks(args, context) };
    let options = agent_options(context.loaded, choice)?;
    let keys = asking::load_keys(&options)?;
    let proxy = options.proxy.clone();
    let outcome = asking::with_world(context, |context, world| {
        let mut writing = SummarySession::open(&context.location.root, context.loaded, options, world)?;
        writing.repair()?;
        asking::run_questions(context, &mut writing, keys, proxy, Some(most))
    })?;
    asking::report_unanswered(&outcome, context);
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
        CommandError::Api(ApiError { code, message, hint, kind }) if kind == ApiErrorKind::User => {
            let hint = format!("{hint}; or leave out --wait-agent: the document is made without it").into();
            CommandError::Api(ApiError { code, message, hint, kind })
        }
        CommandError::Api(_) | CommandError::Usage { .. } | CommandError::Output(_) => failure,
    }
}

/// Returns the files in question: those that are named, else those of the preset, else all.
fn picks(args: &AggregateArgs, context: &CommandContext<'_>) -> Vec<String> {
    if !args.files.is_empty() {
        return context.location.resolve_paths(&args.files);
    }
    let curation = &context.loaded.curation;
    let persona = args.choice.persona.as_ref().and_then(|name| curation.persona(name));
    let brought = persona.and_then(|persona| persona.value.context_preset.as_ref());
    let preset = args.choice.preset.as_ref().or(brought).and_then(|name| curation.preset(name));
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

/// Writes a document into a file, and prints the file's path.
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
        context.output.write_line(&path.display().to_string())?;
    }
    context.output.flush()?;
    Ok(receipt)
}

/// Prints a document, or the plan of one.
fn write_to_stdout(
    query: AggregateQuery,
    receipt: Option<&Path>,
    context: &mut CommandContext<'_>,
) -> Result<DocumentReceipt, CommandError> {
    context.ask_and(query, |context, document| {
        write_receipt(receipt, &document.receipt)?;
        match &document.text {
            Some(text) => context.output.write_text(text)?,
            None if context.output.json => context.write_data(&document)?,
            None => plan::write_plan(&document.receipt, context.output)?,
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
    context.ask_and(ComposeQuery(query), |context, document| {
        let written = DocumentReceipt::from(&document.receipt);
        write_receipt(receipt, &written)?;
        context.write_data(&document_json(&document))?;
        Ok(written)
    })
}

fn write_receipt(path: Option<&Path>, receipt: &DocumentReceipt) -> Result<(), ApiError> {
    let Some(path) = path else { return Ok(()) };
    let written = RealDisk.replace(path, pretty(receipt).as_bytes());
    written.map_err(|error| ApiError::write_failed(path, &error))
}

/// Returns the files that could not be shown for an error, and why.
fn failed_files(receipt: &DocumentReceipt) -> Vec<(String, &str)> {
    let shown = receipt.files.iter().filter(|file| file.is_failed());
    let shown = shown.map(|file| {
        (display_path(&file.path, file.path_hex.as_deref()), file.why.as_deref().unwrap_or_default())
    });
    let left_out = receipt.left_out.iter().filter(|file| file.is_error());
    let left_out = left_out.map(|file| {
        let words =
            SkipReason::from_name(&file.reason).map_or(file.why.as_str(), |reason| reason.description());
        (display_path(&file.path, file.path_hex.as_deref()), words)
    });
    shown.chain(left_out).collect()
}

/// Reports what a document lacks, and returns the exit code.
fn report_missing(receipt: &DocumentReceipt, context: &mut CommandContext<'_>) -> u8 {
    let failures = failed_files(receipt);
    for (path, why) in failures.iter().take(MAX_LISTED) {
        context.output.note(&format!("could not show {path}: {why}"));
    }
    if MAX_LISTED < failures.len() {
        let more = failures.len() - MAX_LISTED;
        context.output.note(&format!("could not show {more} more files; the receipt says which and why"));
    }
    for missing in &receipt.missing {
        context.output.note(&format!("{}: {}", missing.word, missing.why));
    }
    for problem in &receipt.problems {
        context.output.note(&format!("{}: {}", problem.section, problem.why));
    }
    let is_whole = failures.is_empty() && !receipt.problems.iter().any(|problem| problem.is_error);
    if is_whole { failure::DONE } else { failure::INCOMPLETE }
}

//! `slop aggregate`

use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use super::asking;
use super::desk::Desk;
use super::desk::Opened;
use super::plan;
use super::words::aggregate_ask;
use crate::agent::Why;
use crate::api::AggregateAsk;
use crate::api::Answer;
use crate::api::Ask;
use crate::api::ComposedDocument;
use crate::api::DocumentFormat;
use crate::api::DocumentReceipt;
use crate::api::Fault;
use crate::api::Kind;
use crate::api::Request;
use crate::api::Response;
use crate::api::Target;
use crate::api::document_json;
use crate::api::shown_path;
use crate::cli::document_args::AggregateArgs;
use crate::cli::environment::Environment;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::model::LeftOut;
use crate::service::AgentChoice;
use crate::service::Writing;
use crate::service::agent_options;
use crate::service::project_name;

/// So many files that could not be shown are told one by one.
const MOST_TOLD: usize = 5;

pub(super) fn run(
    args: &AggregateArgs,
    environment: &Environment,
    desk: &mut Desk<'_>,
) -> Result<u8, Failure> {
    let ask = aggregate_ask(args, args.receipt.is_some() || desk.output.json, desk.place)?;
    if let Some(seconds) = args.wait_agent
        && shows_words_of_models(&ask, desk)?
    {
        wait_for_models(args, Duration::from_secs(seconds), desk).map_err(without_waiting)?;
    }
    // Paths of files that are written are meant from where the user stands, as with any other program.
    let here = |path: &PathBuf| environment.current_folder.join(path);
    let receipt = args.receipt.as_ref().map(here);
    let target = match &args.output {
        _ if args.dry_run || args.stdout => None,
        Some(path) => Some(Target::File(here(path))),
        None => Some(numbered(desk)),
    };
    let receipt = match target {
        Some(target) => into_file(ask, target, receipt.as_deref(), desk)?,
        None if desk.output.json && !args.dry_run => as_json(ask, receipt.as_deref(), desk)?,
        None => to_stdout(ask, receipt.as_deref(), desk)?,
    };
    Ok(tell_what_is_missing(&receipt, desk))
}

/// Says whether the document shows what models write. Where it does not, they are not to be paid for it.
fn shows_words_of_models(ask: &AggregateAsk, desk: &mut Desk<'_>) -> Result<bool, Failure> {
    if ask.dry_run {
        return Ok(false);
    }
    let Request::Aggregate(aggregation) = desk.resolve(Ask::Aggregate(Box::new(ask.clone())))? else {
        unreachable!("an aggregate ask is a request for an aggregation")
    };
    let is_by_model = aggregation.request.tier.is_some_and(|tier| tier.by_model);
    if !is_by_model {
        desk.output.note("--wait-agent has nothing to wait for: the tier's `summary` is not \"agent\"");
    }
    Ok(is_by_model)
}

/// Has models write what is missing of the files in question. What they do not write in time stops nothing.
fn wait_for_models(args: &AggregateArgs, most: Duration, desk: &mut Desk<'_>) -> Result<(), Failure> {
    let choice = AgentChoice { persona: None, tiers: Vec::new(), picks: picks(args, desk) };
    let options = agent_options(desk.loaded, choice)?;
    let keys = asking::keys(&options)?;
    let proxy = options.proxy.clone();
    let outcome = asking::in_world(desk, |desk, world| {
        let mut writing = Writing::open(&desk.place.root, desk.loaded, options, world)?;
        writing.mend()?;
        asking::ask(desk, &mut writing, keys, proxy, Some(most))
    })?;
    asking::tell_unanswered(&outcome, desk);
    if let Some(Why::Interrupted) = outcome.stopped {
        return Err(Failure::usage(
            "compose a document: it was stopped",
            "run it again; what was written is kept",
        ));
    }
    Ok(())
}

/// Says that the document can be had all the same, where nobody can be asked.
fn without_waiting(failure: Failure) -> Failure {
    match failure {
        Failure::Fault(Fault { code, message, hint, kind }) if kind == Kind::User => {
            let hint = format!("{hint}; or leave out --wait-agent: the document is made without it").into();
            Failure::Fault(Fault { code, message, hint, kind })
        }
        Failure::Fault(_) | Failure::Usage { .. } | Failure::Output(_) => failure,
    }
}

/// Returns the files in question: those that are named, else those of the preset, else all.
fn picks(args: &AggregateArgs, desk: &Desk<'_>) -> Vec<String> {
    if !args.files.is_empty() {
        return desk.place.words(&args.files);
    }
    let curation = &desk.loaded.curation;
    let persona = args.choice.persona.as_ref().and_then(|name| curation.persona(name));
    let brought = persona.and_then(|persona| persona.value.context_preset.as_ref());
    let preset = args.choice.preset.as_ref().or(brought).and_then(|name| curation.preset(name));
    preset.map_or(Vec::new(), |preset| preset.value.files.iter().map(|item| item.path.clone()).collect())
}

fn numbered(desk: &Desk<'_>) -> Target {
    let settings = &desk.loaded.settings;
    Target::Numbered {
        folder: settings.project.output_dir.clone(),
        name: project_name(&desk.place.root, &settings.project.name),
        keep: settings.output.keep,
    }
}

/// Writes a document into a file, whoever composed it, and prints the file's path.
fn into_file(
    ask: AggregateAsk,
    target: Target,
    receipt: Option<&Path>,
    desk: &mut Desk<'_>,
) -> Result<DocumentReceipt, Failure> {
    let extension = DocumentFormat::from(ask.format).extension();
    desk.open(true, |desk, opened| {
        let outlet = opened.session.outlet(target);
        let composed = composed(desk.ask_while_open(opened, Ask::Aggregate(Box::new(ask)))?);
        let text = composed.text.as_deref().unwrap_or_default();
        let path = opened.session.write(outlet, extension, text)?;
        write_receipt(receipt, &composed.receipt, opened)?;
        // A document that is in its file has been given.
        opened.session.delivered();
        desk.tell_notes(opened);
        if desk.output.json {
            desk.write_data(&json!({"path": path.to_string_lossy(), "receipt": composed.receipt}))?;
        } else {
            desk.output.line(&path.display().to_string())?;
        }
        desk.output.finish()?;
        Ok(composed.receipt)
    })
}

/// Prints a document, or the plan of one.
fn to_stdout(
    ask: AggregateAsk,
    receipt: Option<&Path>,
    desk: &mut Desk<'_>,
) -> Result<DocumentReceipt, Failure> {
    let ask = Ask::Aggregate(Box::new(ask));
    let print = |desk: &mut Desk<'_>, composed: &ComposedDocument| match &composed.text {
        Some(text) => Ok(desk.output.data(text)?),
        None if desk.output.json => desk.write_data(composed),
        None => plan::write(&composed.receipt, desk.output),
    };
    let Some(path) = receipt else {
        let answer = desk.ask_and_write(ask, |desk, answer| match answer {
            Answer::Aggregated(composed) => print(desk, composed),
            _ => unreachable!("an aggregate ask is answered by a document"),
        })?;
        return Ok(composed(answer).receipt);
    };
    desk.open(true, |desk, opened| {
        let composed = composed(desk.ask_while_open(opened, ask)?);
        write_receipt(Some(path), &composed.receipt, opened)?;
        print(desk, &composed)?;
        desk.delivered(opened)?;
        Ok(composed.receipt)
    })
}

/// Prints a document as JSON, whatever its format: that takes the document itself, which this process alone has.
fn as_json(
    ask: AggregateAsk,
    receipt: Option<&Path>,
    desk: &mut Desk<'_>,
) -> Result<DocumentReceipt, Failure> {
    let Request::Aggregate(aggregation) = desk.resolve(Ask::Aggregate(Box::new(ask)))? else {
        unreachable!("an aggregate ask means an aggregation")
    };
    desk.open(true, |desk, opened| {
        let Response::Aggregated(aggregated) = desk.answer_in(opened, Request::Aggregate(aggregation))?
        else {
            unreachable!("an aggregation is answered by a document")
        };
        let document = aggregated.document.expect("a process that does not stay keeps no documents");
        let written = DocumentReceipt::from(&document.receipt);
        write_receipt(receipt, &written, opened)?;
        desk.write_data(&document_json(&document))?;
        desk.delivered(opened)?;
        Ok(written)
    })
}

fn composed(answer: Answer) -> ComposedDocument {
    match answer {
        Answer::Aggregated(composed) => *composed,
        _ => unreachable!("an aggregate ask is answered by a document"),
    }
}

fn write_receipt(
    path: Option<&Path>,
    receipt: &DocumentReceipt,
    opened: &mut Opened<'_, '_>,
) -> Result<(), Failure> {
    path.map_or(Ok(()), |path| Ok(opened.session.write_receipt(path, receipt)?))
}

/// Returns the files that could not be shown for an error, and why.
fn failures(receipt: &DocumentReceipt) -> Vec<(String, &str)> {
    let shown = receipt.files.iter().filter(|file| file.is_failed());
    let shown = shown.map(|file| {
        (shown_path(&file.path, file.path_hex.as_deref()), file.why.as_deref().unwrap_or_default())
    });
    let left_out = receipt.left_out.iter().filter(|file| file.is_error());
    let left_out = left_out.map(|file| {
        let words = LeftOut::from_name(&file.reason).map_or(file.why.as_str(), |reason| reason.words());
        (shown_path(&file.path, file.path_hex.as_deref()), words)
    });
    shown.chain(left_out).collect()
}

/// Tells what a document should hold and does not, and returns the exit code.
fn tell_what_is_missing(receipt: &DocumentReceipt, desk: &mut Desk<'_>) -> u8 {
    let failures = failures(receipt);
    for (path, why) in failures.iter().take(MOST_TOLD) {
        desk.output.note(&format!("could not show {path}: {why}"));
    }
    if MOST_TOLD < failures.len() {
        let more = failures.len() - MOST_TOLD;
        desk.output.note(&format!("could not show {more} more files; the receipt says which and why"));
    }
    for missing in &receipt.missing {
        desk.output.note(&format!("{}: {}", missing.word, missing.why));
    }
    for problem in &receipt.problems {
        desk.output.note(&format!("{}: {}", problem.section, problem.why));
    }
    let is_whole = failures.is_empty() && !receipt.problems.iter().any(|problem| problem.is_error);
    if is_whole { failure::DONE } else { failure::INCOMPLETE }
}

//! `slop aggregate`

use super::desk::Desk;
use super::desk::trust;
use super::plan;
use super::profile::Profile;
use crate::api::Aggregation;
use crate::api::DocumentFormat;
use crate::api::Memory;
use crate::api::Request;
use crate::api::Response;
use crate::api::Target;
use crate::cli::document_args::AggregateArgs;
use crate::cli::document_args::Choice;
use crate::cli::document_args::Format;
use crate::cli::environment::Environment;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::model::Omission;
use crate::model::Receipt;
use crate::model::RelPath;

/// So many files that could not be shown are told one by one.
const MOST_TOLD: usize = 5;

pub(super) fn run(
    args: &AggregateArgs,
    environment: &Environment,
    desk: &mut Desk<'_>,
) -> Result<u8, Failure> {
    let files = desk.place.words(&args.files);
    let profile = desk.profile(&args.choice)?;
    let mut request = desk.aggregation(&args.choice, &profile, files, args.order, trust(args.verify));
    request.is_measured =
        args.dry_run || args.receipt.is_some() || desk.output.json || matches!(args.format, Format::Json);
    request.sections = desk.sections(&args.beside, &profile);
    let body = desk.body(&args.beside, args.format, profile.persona.as_ref())?;
    let format = format(args.format);
    let project_name = desk.place.project_name(&desk.loaded.settings.project.name);
    request.memory = Some(Memory {
        name: args.memory.name.clone().unwrap_or_else(|| default_name(&args.choice, &profile)),
        since_last: args.memory.since_last,
    });
    // Paths of files that are written are meant from where the user stands, as with any other program.
    let here = |path: &std::path::PathBuf| environment.current_folder.join(path);
    let target = match &args.output {
        _ if args.dry_run => Target::Nowhere,
        _ if args.stdout => Target::Answer,
        Some(path) => Target::File(here(path)),
        None => {
            let settings = &desk.loaded.settings;
            Target::Numbered {
                folder: settings.project.output_dir.clone(),
                name: project_name.clone(),
                keep: settings.output.keep,
            }
        }
    };
    let receipt = args.receipt.as_ref().map(here);
    let aggregation = Aggregation { request, format, body, project_name, target, receipt };
    let response = desk.ask_and_write(Request::Aggregate(aggregation), write)?;
    Ok(tell_what_is_missing(receipt_of(&response), desk))
}

fn write(desk: &mut Desk<'_>, response: &Response) -> Result<(), Failure> {
    match response {
        response if desk.output.json => desk.write_json(response),
        Response::Planned(receipt) => plan::write(receipt, desk.output),
        Response::Aggregated(aggregated) => match &aggregated.path {
            Some(path) => Ok(desk.output.line(&path.display().to_string())?),
            None => Ok(desk.output.data(&aggregated.text)?),
        },
        _ => unreachable!("an aggregation is answered by a document or its plan"),
    }
}

fn receipt_of(response: &Response) -> &Receipt {
    match response {
        Response::Planned(receipt) => receipt,
        Response::Aggregated(aggregated) => &aggregated.document.receipt,
        _ => unreachable!("an aggregation is answered by a document or its plan"),
    }
}

/// Returns the name that a document is remembered by where none is given: for whom it is made, and of what. The
/// project's name is no part of it, for the same project in another folder has the same receipt.
fn default_name(choice: &Choice, profile: &Profile) -> String {
    let persona = choice.persona.as_ref().map(|persona| format!("persona-{persona}"));
    let tier = profile.tier.map(|tier| format!("tier-{}", tier.number()));
    let preset = profile.preset.as_ref().map(|preset| format!("preset-{}", preset.value.name));
    let parts: Vec<String> = persona.or(tier).into_iter().chain(preset).collect();
    if parts.is_empty() { "project".to_owned() } else { parts.join("/") }
}

const fn format(format: Format) -> DocumentFormat {
    match format {
        Format::Markdown => DocumentFormat::Markdown,
        Format::Json => DocumentFormat::Json,
        Format::Anthropic => DocumentFormat::Anthropic,
        Format::Openai => DocumentFormat::OpenAi,
        Format::Gemini => DocumentFormat::Gemini,
    }
}

/// Returns the files that could not be shown for an error, and why.
fn failures(receipt: &Receipt) -> Vec<(&RelPath, &str)> {
    let shown = receipt.files.iter().filter(|entry| entry.is_failed());
    let shown = shown.map(|entry| (&entry.path, entry.why.as_deref().unwrap_or_default()));
    let left_out = receipt
        .left_out
        .iter()
        .filter(|file| matches!(file.reason, Omission::LeftOut(why) if why.is_error()));
    shown.chain(left_out.map(|file| (&file.path, file.reason.words()))).collect()
}

/// Tells what a document should hold and does not, and returns the exit code.
fn tell_what_is_missing(receipt: &Receipt, desk: &mut Desk<'_>) -> u8 {
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

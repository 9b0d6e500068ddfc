//! `slop aggregate`

use super::desk::Desk;
use super::desk::trust;
use crate::api::Aggregation;
use crate::api::DocumentFormat;
use crate::api::Request;
use crate::api::Response;
use crate::api::Target;
use crate::cli::args::AggregateArgs;
use crate::cli::args::Format;
use crate::cli::environment::Environment;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::model::Receipt;
use crate::model::ReceiptEntry;
use crate::model::ViewMode;

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
    request.is_measured = args.receipt.is_some() || desk.output.json || matches!(args.format, Format::Json);
    request.sections = desk.sections(&args.beside, &profile);
    let body = desk.body(&args.beside, args.format, profile.persona.as_ref())?;
    let format = format(args.format);
    let project_name = desk.place.project_name(&desk.loaded.settings.project.name);
    // Paths of files that are written are meant from where the user stands, as with any other program.
    let here = |path: &std::path::PathBuf| environment.current_folder.join(path);
    let target = match &args.output {
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
    let response = desk.ask(Request::Aggregate(aggregation))?;
    let Response::Aggregated(aggregated) = &response else {
        unreachable!("an aggregation is answered by a document")
    };
    if desk.output.json {
        desk.write_json(&response)?;
    } else if let Some(path) = &aggregated.path {
        desk.output.line(&path.display().to_string())?;
    } else {
        desk.output.data(&aggregated.text)?;
    }
    Ok(tell_what_is_missing(&aggregated.document.receipt, desk))
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

/// Tells what a document should hold and does not, and returns the exit code.
fn tell_what_is_missing(receipt: &Receipt, desk: &mut Desk<'_>) -> u8 {
    let failed: Vec<&ReceiptEntry> = receipt.files.iter().filter(|entry| is_failed(entry)).collect();
    for entry in failed.iter().take(MOST_TOLD) {
        let why = entry.why.as_deref().unwrap_or_default();
        desk.output.note(&format!("could not show {}: {why}", entry.path));
    }
    if MOST_TOLD < failed.len() {
        let more = failed.len() - MOST_TOLD;
        desk.output.note(&format!("could not show {more} more files; the receipt says which and why"));
    }
    for missing in &receipt.missing {
        desk.output.note(&format!("{}: {}", missing.word, missing.why));
    }
    for problem in &receipt.problems {
        desk.output.note(&format!("{}: {}", problem.section, problem.why));
    }
    let is_whole = failed.is_empty() && !receipt.problems.iter().any(|problem| problem.is_error);
    if is_whole { failure::DONE } else { failure::INCOMPLETE }
}

/// A file of which a budget left the path alone has no content in the document either, but nothing failed.
fn is_failed(entry: &ReceiptEntry) -> bool {
    entry.content.is_none() && entry.why.is_some() && entry.view != ViewMode::Path
}

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

pub(super) fn run(
    args: &AggregateArgs,
    environment: &Environment,
    desk: &mut Desk<'_>,
) -> Result<u8, Failure> {
    let files = desk.place.words(&args.files);
    let mut request = desk.aggregation(&args.choice, files, args.order, trust(args.verify));
    request.is_measured = args.receipt.is_some() || desk.output.json || matches!(args.format, Format::Json);
    let format = match args.format {
        Format::Markdown => DocumentFormat::Markdown,
        Format::Json => DocumentFormat::Json,
    };
    // Paths of files that are written are meant from where the user stands, as with any other program.
    let here = |path: &std::path::PathBuf| environment.current_folder.join(path);
    let target = match &args.output {
        _ if args.stdout => Target::Answer,
        Some(path) => Target::File(here(path)),
        None => {
            let settings = &desk.loaded.settings.project;
            Target::Numbered {
                folder: settings.output_dir.clone(),
                name: desk.place.project_name(&settings.name),
            }
        }
    };
    let receipt = args.receipt.as_ref().map(here);
    let response = desk.ask(Request::Aggregate(Aggregation { request, format, target, receipt }))?;
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
    let receipt = &aggregated.document.receipt;
    let failed = receipt.files.iter().filter(|entry| entry.content.is_none() && entry.why.is_some()).count();
    if 0 < failed {
        desk.output.note(&format!("{failed} files could not be shown; the receipt says which and why"));
        return Ok(failure::INCOMPLETE);
    }
    Ok(failure::DONE)
}

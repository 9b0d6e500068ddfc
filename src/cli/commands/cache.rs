//! `slop cache`

use super::desk::Desk;
use crate::api::CacheRequest;
use crate::api::Request;
use crate::api::Response;
use crate::api::lines;
use crate::cli::args::CacheCommand;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::model::Artifact;
use crate::render::grouped;
use crate::render::size;

pub(super) fn run(command: &CacheCommand, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    let request = match command {
        CacheCommand::Status => CacheRequest::Status,
        CacheCommand::Clear { files, summaries, structure } => clear(desk, files, *summaries, *structure),
        CacheCommand::Verify => CacheRequest::Verify,
        CacheCommand::Gc { days } => CacheRequest::Collect { days: *days },
        CacheCommand::Export => CacheRequest::Export,
    };
    let response = desk.ask(Request::Cache(request))?;
    if matches!(response, Response::Exported(_)) {
        lines(&response, &mut |line| desk.output.line(line))?;
    } else if desk.output.json {
        desk.write_json(&response)?;
    } else {
        tell(desk, &response)?;
    }
    let Response::Verified(verdict) = &response else { return Ok(failure::DONE) };
    let is_sound = verdict.damaged.is_empty() && verdict.structure.is_none();
    Ok(if is_sound { failure::DONE } else { failure::USER })
}

fn clear(desk: &Desk<'_>, files: &[String], summaries: bool, structure: bool) -> CacheRequest {
    if !files.is_empty() {
        return CacheRequest::ClearFiles(desk.place.words(files));
    }
    let mut kinds = Vec::new();
    if summaries {
        kinds.push(Artifact::Summary);
    }
    if structure {
        kinds.extend([Artifact::Outline, Artifact::Skeleton, Artifact::References]);
    }
    if kinds.is_empty() { CacheRequest::Clear } else { CacheRequest::ClearArtifacts(kinds) }
}

fn tell(desk: &mut Desk<'_>, response: &Response) -> Result<(), Failure> {
    match response {
        Response::CacheStatus(status) => {
            desk.output.line(&format!("files      {}", grouped(status.files)))?;
            let idle = grouped(status.idle_contents);
            desk.output.line(&format!("contents   {} ({idle} held by no file)", grouped(status.contents)))?;
            for kind in &status.artifacts {
                let (rows, bytes) = (grouped(kind.rows), size(kind.bytes));
                desk.output.line(&format!("{:<10} {rows} ({bytes})", kind.artifact.name()))?;
            }
            let (rows, bytes) = (grouped(status.given), size(status.given_bytes));
            desk.output.line(&format!("given      {rows} ({bytes})"))?;
            desk.output.line(&format!("on disk    {}", size(status.bytes_on_disk)))?;
        }
        Response::Cleared(freed) => {
            let (artifacts, files) = (grouped(freed.artifacts), grouped(freed.files));
            let bytes = size(freed.bytes);
            desk.output
                .line(&format!("deleted {artifacts} artifacts, forgot {files} files, freed {bytes}"))?;
        }
        Response::Verified(verdict) => {
            if let Some(structure) = &verdict.structure {
                desk.output.line(&format!("damaged: {structure}"))?;
            }
            for row in &verdict.damaged {
                desk.output.line(&format!("damaged and deleted: {row}"))?;
            }
            let damaged = grouped(verdict.damaged.len() as u64);
            desk.output.line(&format!("{} rows checked, {damaged} damaged", grouped(verdict.rows)))?;
        }
        _ => unreachable!("a question to the cache is answered by the cache"),
    }
    Ok(())
}

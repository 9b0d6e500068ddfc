//! `slop cache`

use super::desk::Desk;
use crate::api::Answer;
use crate::api::Ask;
use crate::api::CacheClearAsk;
use crate::api::CacheCollectAsk;
use crate::api::CacheRequest;
use crate::api::Request;
use crate::api::Response;
use crate::api::exported_json;
use crate::cli::args::CacheCommand;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::render::grouped;
use crate::render::size;

pub(super) fn run(command: &CacheCommand, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    let ask = match command {
        CacheCommand::Status => Ask::CacheStatus,
        CacheCommand::Clear { files, summaries, structure } => Ask::CacheClear(CacheClearAsk {
            files: desk.place.words(files),
            summaries: *summaries,
            structure: *structure,
        }),
        CacheCommand::Verify => Ask::CacheVerify,
        CacheCommand::Gc { days } => Ask::CacheCollect(CacheCollectAsk { days: *days }),
        CacheCommand::Export => return export(desk),
    };
    let answer = desk.ask(ask)?;
    if desk.output.json {
        desk.write_data(&answer)?;
    } else {
        tell(desk, &answer)?;
    }
    let Answer::Verified(verdict) = &answer else { return Ok(failure::DONE) };
    Ok(if verdict.is_sound() { failure::DONE } else { failure::USER })
}

fn export(desk: &mut Desk<'_>) -> Result<u8, Failure> {
    let Response::Exported(rows) = desk.request(Request::Cache(CacheRequest::Export))? else {
        unreachable!("an export is answered by rows")
    };
    for row in rows {
        desk.output.json_line(&exported_json(row))?;
    }
    Ok(failure::DONE)
}

fn tell(desk: &mut Desk<'_>, answer: &Answer) -> Result<(), Failure> {
    match answer {
        Answer::CacheStatus(status) => {
            desk.output.line(&format!("files      {}", grouped(status.files)))?;
            let idle = grouped(status.idle_contents);
            desk.output.line(&format!("contents   {} ({idle} held by no file)", grouped(status.contents)))?;
            for kind in &status.artifacts {
                let (rows, bytes) = (grouped(kind.rows), size(kind.bytes));
                desk.output.line(&format!("{:<10} {rows} ({bytes})", kind.artifact))?;
            }
            let (rows, bytes) = (grouped(status.given.rows), size(status.given.bytes));
            desk.output.line(&format!("given      {rows} ({bytes})"))?;
            desk.output.line(&format!("on disk    {}", size(status.bytes_on_disk)))?;
        }
        Answer::Cleared(freed) => {
            let (artifacts, files) = (grouped(freed.artifacts), grouped(freed.files));
            let bytes = size(freed.bytes);
            desk.output
                .line(&format!("deleted {artifacts} artifacts, forgot {files} files, freed {bytes}"))?;
        }
        Answer::Verified(verdict) => {
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

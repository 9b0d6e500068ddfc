//! `slop cache`

use std::io;
use std::io::BufRead;
use std::io::IsTerminal;
use std::io::Read;

use super::desk::Desk;
use crate::api::AgentSize;
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
        CacheCommand::Clear { files, summaries, structure, agent, yes } => {
            let ask = CacheClearAsk {
                files: desk.place.words(files),
                summaries: *summaries,
                structure: *structure,
                agent: *agent,
                all: *yes,
            };
            let is_plain = ask == CacheClearAsk::default();
            let all = *yes || (is_plain && may_clear_paid(desk)?);
            Ask::CacheClear(CacheClearAsk { all, ..ask })
        }
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

/// Asks whether what models wrote may go too, where there is any and somebody to ask.
fn may_clear_paid(desk: &mut Desk<'_>) -> Result<bool, Failure> {
    if !(io::stdin().is_terminal() && desk.output.has_audience()) {
        return Ok(false);
    }
    let Answer::CacheStatus(status) = desk.ask(Ask::CacheStatus)? else {
        unreachable!("a question for the status is answered by it")
    };
    let Some(agent) = status.agent.filter(|agent| 0 < agent.summaries) else { return Ok(false) };
    let (summaries, spent) = (grouped(agent.summaries), agent.spent_usd);
    desk.output.tell(&format!(
        "{summaries} summaries by models are in the cache; {spent} has been spent on models. Delete them too? [y/N]"
    ));
    let mut answer = String::new();
    // An answer that cannot be read is no consent.
    let _ = io::stdin().lock().take(1_000).read_line(&mut answer);
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
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
            if let Some(agent) = &status.agent {
                tell_agent(desk, agent)?;
            }
        }
        Answer::Cleared(freed) => {
            let (artifacts, files) = (grouped(freed.artifacts), grouped(freed.files));
            let bytes = size(freed.bytes);
            desk.output
                .line(&format!("deleted {artifacts} artifacts, forgot {files} files, freed {bytes}"))?;
            if 0 < freed.agent_summaries {
                let (gone, cost) = (grouped(freed.agent_summaries), freed.agent_usd);
                desk.output.line(&format!("deleted {gone} summaries by models, which had cost {cost}"))?;
            }
            if 0 < freed.agent_kept {
                let kept = grouped(freed.agent_kept);
                desk.output.note(&format!(
                    "{kept} summaries by models were kept; `slop cache clear --yes` deletes them too"
                ));
            }
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

fn tell_agent(desk: &mut Desk<'_>, agent: &AgentSize) -> Result<(), Failure> {
    let (rows, bytes) = (grouped(agent.summaries), size(agent.text_bytes));
    let (calls, spent) = (grouped(agent.calls), agent.spent_usd);
    desk.output.line(&format!("by models  {rows} ({bytes}), {} asked in vain", grouped(agent.refusals)))?;
    desk.output.line(&format!("spent      {spent} in {calls} calls"))?;
    desk.output.line(&format!("on disk    {} for what models wrote", size(agent.bytes_on_disk)))?;
    Ok(())
}

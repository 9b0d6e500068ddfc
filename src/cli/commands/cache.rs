//! `slop cache`

use serde::Serialize;

use super::asking::pluralize;
use super::context::CommandContext;
use crate::api::{
    AgentSize, CacheClearQuery, CacheExportQuery, CacheFreed, CacheGcQuery, CacheSize, CacheStatusQuery,
    CacheVerdict, CacheVerifyQuery, Query,
};
use crate::cli::cache_args::CacheCommand;
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::cli::output::CommandOutput;
use crate::render::{format_grouped, format_size};

pub(super) fn run(command: &CacheCommand, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    match command {
        CacheCommand::Status => drop(answer(CacheStatusQuery {}, write_size, context)?),
        CacheCommand::Clear { files, summaries, structure, agent, yes } => {
            let query = CacheClearQuery {
                files: context.location.resolve_paths(files),
                summaries: *summaries,
                structure: *structure,
                agent: *agent,
                all: *yes,
            };
            // Only a plain `clear` asks for confirmation: with flags or files, summaries by models are either named
            // explicitly or kept.
            let is_plain = query == CacheClearQuery::default();
            let all = *yes || (is_plain && confirm_agent_clear(context)?);
            answer(CacheClearQuery { all, ..query }, write_freed, context)?;
        }
        CacheCommand::Verify => {
            let verdict = answer(CacheVerifyQuery {}, write_verdict, context)?;
            // The damaged rows are deleted, but the user should know, because the disk may be failing.
            return Ok(if verdict.is_sound() { failure::DONE } else { failure::USER });
        }
        CacheCommand::Gc { days } => {
            answer(CacheGcQuery { days: *days }, write_freed, context)?;
        }
        CacheCommand::Export { files } => return export(files, context),
    }
    Ok(failure::DONE)
}

/// Asks about the cache, and writes the answer as JSON or with `write`.
fn answer<Q: Query<Answer: Serialize>>(
    query: Q,
    write: fn(&mut CommandOutput, &Q::Answer) -> Result<(), CommandError>,
    context: &mut CommandContext<'_>,
) -> Result<Q::Answer, CommandError> {
    let answer = context.ask(query)?;
    if context.output.json {
        context.write_data(&answer)?;
    } else {
        write(context.output, &answer)?;
    }
    Ok(answer)
}

/// Prints page by page, so that the data of a large project is never in memory as a whole.
fn export(files: &[String], context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let files = context.location.resolve_paths(files);
    let (mut after, mut code) = (None, failure::DONE);
    loop {
        let is_first = after.is_none();
        let page = context.ask(CacheExportQuery { files: files.clone(), after, limit: None })?;
        for entry in &page.entries {
            context.output.write_json_line(entry)?;
        }
        if is_first {
            code = context.report_missing_paths();
        }
        after = page.next;
        if after.is_none() {
            return Ok(code);
        }
    }
}

/// Asks for confirmation to delete summaries by models, if there are any and the command runs on a terminal.
fn confirm_agent_clear(context: &mut CommandContext<'_>) -> Result<bool, CommandError> {
    if !context.output.can_confirm() {
        // They are kept, as the result says; a script has to pass `--yes`.
        return Ok(false);
    }
    let status = context.ask(CacheStatusQuery {})?;
    let Some(agent) = status.agent.filter(|agent| 0 < agent.summaries) else { return Ok(false) };
    let (summaries, spent) = (format_grouped(agent.summaries), agent.spent_usd);
    let question = format!(
        "{summaries} summaries by models are in the cache; {spent} has been spent on models. Delete them too?"
    );
    Ok(context.output.confirm(&question) == Some(true))
}

fn write_size(output: &mut CommandOutput, status: &CacheSize) -> Result<(), CommandError> {
    output.write_line(&format!("files      {}", format_grouped(status.files)))?;
    let idle = format_grouped(status.idle_contents);
    output.write_line(&format!("contents   {} ({idle} held by no file)", format_grouped(status.contents)))?;
    for kind in &status.artifacts {
        let (rows, bytes) = (format_grouped(kind.rows), format_size(kind.bytes));
        output.write_line(&format!("{:<10} {rows} ({bytes})", kind.artifact))?;
    }
    let (rows, bytes) = (format_grouped(status.given.rows), format_size(status.given.bytes));
    output.write_line(&format!("given      {rows} ({bytes})"))?;
    output.write_line(&format!("on disk    {}", format_size(status.bytes_on_disk)))?;
    if 0 < status.linked_worktrees {
        let linked = format_grouped(status.linked_worktrees);
        output.write_line(&format!(
            "shared by  the repository's checkout and its linked worktrees ({linked})"
        ))?;
    }
    if let Some(agent) = &status.agent {
        write_agent_size(output, agent)?;
    }
    Ok(())
}

fn write_freed(output: &mut CommandOutput, freed: &CacheFreed) -> Result<(), CommandError> {
    let artifacts = pluralize(freed.artifacts, "artifact", "artifacts");
    let (files, bytes) = (pluralize(freed.files, "file", "files"), format_size(freed.bytes));
    output.write_line(&format!("deleted {artifacts}, forgot {files}, freed {bytes}"))?;
    if 0 < freed.agent_summaries {
        let (gone, cost) = (format_grouped(freed.agent_summaries), freed.agent_usd);
        output.write_line(&format!("deleted {gone} summaries by models, which had cost {cost}"))?;
    }
    if 0 < freed.other_worktrees {
        let others = format_grouped(freed.other_worktrees);
        let what = if 0 < freed.files || freed.artifacts == 0 {
            "what they use was kept"
        } else {
            "they derive the deleted data again"
        };
        output.note(&format!("other worktrees of the repository share the cache ({others}): {what}"));
    }
    if 0 < freed.agent_kept {
        let kept = format_grouped(freed.agent_kept);
        output.note(&format!(
            "{kept} summaries by models were kept; `slop cache clear --yes` deletes them too"
        ));
    }
    Ok(())
}

fn write_verdict(output: &mut CommandOutput, verdict: &CacheVerdict) -> Result<(), CommandError> {
    if let Some(structure) = &verdict.structure {
        output.write_line(&format!("damaged: {structure}"))?;
    }
    for row in &verdict.damaged {
        output.write_line(&format!("damaged and deleted: {row}"))?;
    }
    let damaged = format_grouped(verdict.damaged.len() as u64);
    output.write_line(&format!("{} rows checked, {damaged} damaged", format_grouped(verdict.rows)))?;
    Ok(())
}

fn write_agent_size(output: &mut CommandOutput, agent: &AgentSize) -> Result<(), CommandError> {
    let (rows, bytes) = (format_grouped(agent.summaries), format_size(agent.text_bytes));
    let (calls, spent) = (format_grouped(agent.calls), agent.spent_usd);
    output.write_line(&format!(
        "by models  {rows} ({bytes}), {} without an answer",
        format_grouped(agent.refusals)
    ))?;
    output.write_line(&format!("spent      {spent} in {calls} calls"))?;
    output.write_line(&format!("on disk    {} for summaries by models", format_size(agent.bytes_on_disk)))?;
    Ok(())
}

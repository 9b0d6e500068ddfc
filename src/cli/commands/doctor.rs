//! `slop doctor`: whether agents can use slop, and what that costs.

use std::path::Path;

use serde::Serialize;

use super::context::CommandContext;
use super::hook::{COMPACTED_TOKENS, project_head};
use super::install::shown;
use crate::api::{FilesQuery, VERSION, count_tokens, tool_list_tokens};
use crate::cli::failure::{self, CommandError};
use crate::cli::location::ProcessEnvironment;
use crate::daemon;
use crate::install;
use crate::install::{
    AGENTS, CodingAgent, InstallScope, InstalledFile, SKILL, installed_files, skill_description,
};
use crate::model::error_chain;
use crate::render::format_grouped;

/// The report as JSON.
#[derive(Serialize)]
struct DoctorReport {
    version: &'static str,
    program: Option<String>,
    daemon: Option<DaemonSummary>,
    /// How many files of the project are in each state of the cache.
    cache: CacheSummary,
    tokens: SessionTokens,
    agents: Vec<AgentReport>,
    /// What has to be repaired, and how.
    problems: Vec<String>,
}

#[derive(Serialize)]
struct DaemonSummary {
    pid: u32,
    version: String,
}

#[derive(Default, Serialize)]
struct CacheSummary {
    fresh: u64,
    stale: u64,
    new: u64,
}

/// The size of what agents get, in tokens of `o200k_base`.
#[derive(Serialize)]
struct SessionTokens {
    /// The list of MCP tools, in each session.
    tools: u64,
    /// The description of the skill, in each session.
    skill_description: u64,
    /// The skill, if an agent uses it.
    skill: u64,
    /// The head of the project, which a hook gives at the start of a session.
    session_start: u64,
    /// The most that a hook gives after a compaction.
    compaction: u64,
}

#[derive(Serialize)]
struct AgentReport {
    name: &'static str,
    /// The scopes in which slop is installed for the agent.
    scopes: Vec<InstallScope>,
    files: Vec<String>,
}

pub(super) fn run(
    environment: &ProcessEnvironment,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    let records = environment.state_folder().ok_or(install::Error::NoHome)?.join("installed");
    let root = &context.location.root;
    let is_here = |file: &InstalledFile| file.project.as_ref().is_none_or(|project| project == root);
    let files: Vec<InstalledFile> = installed_files(&records)?.into_iter().filter(is_here).collect();
    let report = DoctorReport {
        version: VERSION,
        program: environment.program.as_deref().map(shown),
        daemon: daemon::status(&context.daemon_paths())
            .map(|status| DaemonSummary { pid: status.pid, version: status.version }),
        cache: cache_summary(context)?,
        tokens: SessionTokens {
            tools: tool_list_tokens(),
            skill_description: count_tokens(skill_description()),
            skill: count_tokens(SKILL),
            session_start: project_head(context.service)?.map_or(0, |head| count_tokens(&head)),
            compaction: COMPACTED_TOKENS,
        },
        agents: AGENTS.iter().filter_map(|agent| agent_report(agent, &files)).collect(),
        problems: problems(&files),
    };
    if context.output.json {
        context.write_data(&report)?;
    } else {
        write_lines(&report, context)?;
    }
    Ok(if report.problems.is_empty() { failure::DONE } else { failure::USER })
}

fn cache_summary(context: &mut CommandContext<'_>) -> Result<CacheSummary, CommandError> {
    let mut summary = CacheSummary::default();
    for file in context.ask(FilesQuery {})?.files {
        match file.state.as_str() {
            "fresh" => summary.fresh += 1,
            "stale" => summary.stale += 1,
            "new" => summary.new += 1,
            _ => {}
        }
    }
    Ok(summary)
}

fn agent_report(agent: &'static CodingAgent, files: &[InstalledFile]) -> Option<AgentReport> {
    let own: Vec<&InstalledFile> =
        files.iter().filter(|file| file.agents.iter().any(|name| name == agent.name)).collect();
    let scopes = [InstallScope::Project, InstallScope::User];
    let scopes = scopes.into_iter().filter(|scope| own.iter().any(|file| file.scope == *scope)).collect();
    let paths = own.iter().map(|file| shown(&file.path)).collect();
    (!own.is_empty()).then_some(AgentReport { name: agent.name, scopes, files: paths })
}

fn problems(files: &[InstalledFile]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        let path = shown(&file.path);
        let flag = if file.scope == InstallScope::User { " --user" } else { "" };
        let repair = format!("`slop install {}{flag}` writes it again", file.agents.join(" "));
        match &file.missing {
            Ok(missing) => {
                found.extend(missing.iter().map(|entry| format!("{path} no longer has {entry}; {repair}")));
            }
            Err(error) => found.push(format!("{}; fix the file", error_chain(error))),
        }
        for program in file.programs.iter().filter(|program| !ProcessEnvironment::has_program(program)) {
            // In a project, the program is named without its folder, and would be so again.
            let repair = if Path::new(program).is_absolute() { &repair } else { "put it on the PATH" };
            found.push(format!("{path} names the program {program}, which does not exist; {repair}"));
        }
    }
    found
}

fn write_lines(report: &DoctorReport, context: &mut CommandContext<'_>) -> Result<(), CommandError> {
    let mut line = |name: &str, value: &str| context.write_line(&format!("{name:<9} {value}"));
    line("program", &format!("slop {}, {}", report.version, report.program.as_deref().unwrap_or("-")))?;
    line(
        "daemon",
        &match &report.daemon {
            Some(daemon) => format!("process {}, slop {}", daemon.pid, daemon.version),
            None => "none; commands answer by themselves".to_owned(),
        },
    )?;
    let CacheSummary { fresh, stale, new } = report.cache;
    let [fresh, stale, new] = [fresh, stale, new].map(format_grouped);
    line("cache", &format!("{fresh} files fresh, {stale} stale, {new} new"))?;
    let SessionTokens { tools, skill_description, skill, session_start, compaction } = report.tokens;
    let [tools, description, skill, start, compaction] =
        [tools, skill_description, skill, session_start, compaction].map(format_grouped);
    line("tokens", &format!("{tools} for the list of tools, in each session"))?;
    line("", &format!("{description} for the skill, in each session; {skill} if an agent uses it"))?;
    line("", &format!("{start} for the head of the project, if a hook gives it"))?;
    line("", &format!("at most {compaction} after a compaction, if a hook gives them"))?;
    if report.agents.is_empty() {
        line("agents", "none; `slop install` sets them up")?;
    }
    for agent in &report.agents {
        line("agent", &format!("{}: {}", agent.name, agent.files.join(", ")))?;
    }
    for problem in &report.problems {
        line("problem", problem)?;
    }
    Ok(())
}

//! `slop install`: sets up agents to use slop.

use std::path::Path;

use serde::Serialize;

use crate::api::{ApiError, envelope};
use crate::cli::failure::{self, CommandError};
use crate::cli::install_args::InstallArgs;
use crate::cli::location::{ProcessEnvironment, ProjectLocation};
use crate::cli::output::CommandOutput;
use crate::install;
use crate::install::{AGENTS, CodingAgent, FileChange, InstallPlaces, InstallScope, apply, plan_install};
use crate::model::{error_chain, path_bytes, path_text, printable, render_hunks};

/// Longer lines of a file are shortened for display.
const MAX_LINE: usize = 160;

/// How a plan is carried out.
#[derive(Debug, Clone, Copy)]
pub(super) struct WriteMode {
    command: &'static str,
    is_trial: bool,
    is_confirmed: bool,
}

impl WriteMode {
    pub(super) const fn new(command: &'static str, is_trial: bool, is_confirmed: bool) -> Self {
        Self { command, is_trial, is_confirmed }
    }
}

pub(super) fn run(
    args: &InstallArgs,
    location: &ProjectLocation,
    environment: &ProcessEnvironment,
    output: &mut CommandOutput,
) -> Result<u8, CommandError> {
    let scope = if args.user { InstallScope::User } else { InstallScope::Project };
    with_places(location, environment, |places| {
        let agents = chosen_agents(args, places)?;
        for agent in agents.iter().filter(|agent| !agent.has_servers(scope)) {
            output.note(&format!("{} has no MCP servers for a single project: use --user", agent.title));
        }
        let program = program_name(scope, environment)?;
        let changes = plan_install(&agents, scope, &program, places)?;
        apply_changes(&changes, WriteMode::new("install", args.dry_run, args.yes), places, output)
    })
}

/// Calls `work` with the folders of the agents' files.
pub(super) fn with_places(
    location: &ProjectLocation,
    environment: &ProcessEnvironment,
    work: impl FnOnce(&InstallPlaces<'_>) -> Result<u8, CommandError>,
) -> Result<u8, CommandError> {
    let records = environment.state_folder().ok_or(install::Error::NoHome)?.join("installed");
    work(&InstallPlaces {
        project: &location.root,
        home: environment.home.as_deref(),
        variable: &ProcessEnvironment::folder,
        records: &records,
    })
}

pub(super) fn agents_named(names: &[String]) -> Vec<&'static CodingAgent> {
    // The names were checked when the arguments were parsed.
    names.iter().filter_map(|name| CodingAgent::named(name)).collect()
}

fn chosen_agents(
    args: &InstallArgs,
    places: &InstallPlaces<'_>,
) -> Result<Vec<&'static CodingAgent>, CommandError> {
    if !args.agents.is_empty() {
        return Ok(agents_named(&args.agents));
    }
    let current = AGENTS.iter().filter(|agent| agent.is_current);
    let chosen: Vec<_> = current.filter(|agent| args.all || places.has_agent(agent)).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
        let hint = format!("`--all` sets up every agent, or name some: {}", names.join(", "));
        return Err(CommandError::usage("no agent has been used on this machine", hint));
    }
    Ok(chosen)
}

/// Returns how files refer to this program: in a project by its name, because others may have installed it elsewhere.
fn program_name(scope: InstallScope, environment: &ProcessEnvironment) -> Result<String, CommandError> {
    if scope == InstallScope::Project {
        return Ok("slop".to_owned());
    }
    let program = environment.stable_program();
    let program = program.and_then(|program| program.into_os_string().into_string().ok());
    program.ok_or_else(|| {
        CommandError::usage(
            "the path of this program is not UTF-8",
            "move it to a folder with a different name",
        )
    })
}

/// The change of one file, as JSON.
#[derive(Serialize)]
struct ChangeReport {
    path: String,
    action: &'static str,
    agents: Vec<String>,
    diff: String,
    /// The entries that were not written because a different one exists.
    kept: Vec<String>,
}

/// Shows the changes, asks for confirmation if required, and writes them.
pub(super) fn apply_changes(
    changes: &[FileChange],
    mode: WriteMode,
    places: &InstallPlaces<'_>,
    output: &mut CommandOutput,
) -> Result<u8, CommandError> {
    let reports: Vec<ChangeReport> = changes.iter().map(report).collect();
    if !output.json {
        for (change, report) in changes.iter().zip(&reports) {
            show(change, report, output)?;
        }
    }
    for (path, kept) in reports.iter().flat_map(|report| report.kept.iter().map(|kept| (&report.path, kept)))
    {
        output.note(&format!("{path} has a different {kept}, which is left unchanged"));
    }
    let is_needed = changes.iter().any(FileChange::is_change);
    if is_needed && !mode.is_trial && !mode.is_confirmed {
        confirm(output)?;
    }
    if !mode.is_trial {
        for change in changes {
            apply(change, places)?;
        }
    }
    if output.json {
        let data = serde_json::json!({"files": reports, "dry_run": mode.is_trial});
        output.write_envelope(&envelope(mode.command, None, &[], &data))?;
    }
    Ok(failure::DONE)
}

fn report(change: &FileChange) -> ChangeReport {
    let action = match (&change.current, &change.new) {
        (current, new) if current == new => "unchanged",
        (None, _) => "create",
        (_, None) => "delete",
        (Some(_), Some(_)) => "edit",
    };
    let text =
        |bytes: &Option<Vec<u8>>| String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
    let (old, new) = (text(&change.current), text(&change.new));
    // Without context: the lines around may hold keys.
    let diff = render_hunks(&old, &new, 0);
    ChangeReport {
        path: shown(&change.path),
        action,
        agents: change.agents.clone(),
        diff,
        kept: change.kept.clone(),
    }
}

fn show(change: &FileChange, report: &ChangeReport, output: &mut CommandOutput) -> Result<(), CommandError> {
    let target = change.target.as_deref().map_or_else(String::new, |target| format!(" -> {}", shown(target)));
    let agents = report.agents.join(", ");
    output.write_line(&printable(&format!("{} {}{target} ({agents})", report.action, report.path)))?;
    for line in report.diff.lines() {
        let start: String = line.chars().take(MAX_LINE).collect();
        let rest = if start.len() < line.len() { "…" } else { "" };
        output.write_text(&format!("  {start}{rest}\n"))?;
    }
    Ok(())
}

pub(super) fn shown(path: &Path) -> String {
    path_text(path_bytes(path))
}

/// Asks on the terminal whether to write. Without a terminal, nothing is written without `--yes`.
fn confirm(output: &mut CommandOutput) -> Result<(), CommandError> {
    let refused = |message: &str| CommandError::usage(message, "nothing was written; confirm with --yes");
    match output.confirm("Write these files?") {
        Some(true) => Ok(()),
        Some(false) => Err(refused("not confirmed")),
        None => Err(refused("confirmation is required")),
    }
}

impl From<install::Error> for CommandError {
    fn from(error: install::Error) -> Self {
        use install::Error;
        let message = error_chain(&error);
        match error {
            Error::Syntax { .. } | Error::OtherForm { .. } => Self::usage(
                message,
                "nothing was written; fix the file, or leave out the agent that it belongs to",
            ),
            Error::Uneditable { .. } => {
                Self::usage(message, "nothing was written; add the server by hand, see docs/mcp.md")
            }
            Error::OutsideProject { .. } => {
                Self::usage(message, "nothing was written; use --user, or edit the file by hand")
            }
            Error::DanglingLink { .. } => {
                Self::usage(message, "nothing was written; delete the link, or create its target")
            }
            Error::NoHome => Self::usage(message, "set HOME"),
            Error::Record { .. } => {
                Self::usage(message, "delete the record, and remove slop from the agent's file by hand")
            }
            Error::Changed { .. } => {
                Self::Api(ApiError::environment("changed_meanwhile", message, "run the same command again"))
            }
            Error::Read { .. } | Error::Write { .. } => Self::Api(ApiError::environment(
                "write_failed",
                message,
                "check the permissions of the file and its folder, and the room on the disk",
            )),
        }
    }
}

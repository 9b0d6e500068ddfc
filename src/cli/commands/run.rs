//! Dispatches a command, with the project, settings and service that it needs.

use std::sync::Arc;

use super::context::CommandContext;
use super::plan::PlanRun;
use super::{
    agent, cache, cache_replay, curation, daemon, doctor, document, explain, given, history, hydration,
    install, item, items, link, plan, preset, queries, references, setup, share, status, summarize, take, ui,
    uninstall,
};
use crate::api::ApiError;
use crate::cli::args::{CliArgs, CliCommand};
use crate::cli::background_args::{AgentCommand, DaemonCommand};
use crate::cli::failure::CommandError;
use crate::cli::location::{ProcessEnvironment, ProjectLocation};
use crate::cli::output::CommandOutput;
use crate::cli::share_args::{ShareArgs, ShareCommand};
use crate::config::{ConfigInputs, LoadedConfig, load};
use crate::daemon::DaemonOrLocal;
use crate::model::printable;
use crate::service::{LocalService, RootGuard, TOO_MANY_FILES_CODE};

pub(in crate::cli) fn run(
    args: &CliArgs,
    name: &str,
    environment: &ProcessEnvironment,
    output: &mut CommandOutput,
) -> Result<u8, CommandError> {
    // These need no project.
    match &args.command {
        CliCommand::Share(ShareArgs { command: ShareCommand::Keygen { writer } }) => {
            return share::generate_keys(name, writer.as_deref(), output);
        }
        CliCommand::Completions { shell } => return setup::completions(*shell, output),
        CliCommand::Man { command } => return setup::man(command.as_deref(), output),
        // These open the projects of the plan.
        CliCommand::Hydrate(hydrate) | CliCommand::Simulate(hydrate) if !hydrate.plan.is_empty() => {
            let is_kept = matches!(args.command, CliCommand::Hydrate(_));
            let run = PlanRun { args: hydrate, global: &args.global, command: name, is_kept };
            return plan::run(&run, environment, output);
        }
        _ => {}
    }
    let place = ProjectLocation::find(args.global.project.as_deref(), environment)?;
    let mut guard = if reads_project(&args.command) { place.project.guard() } else { RootGuard::none() };
    if let Err(error) = guard.check_folder() {
        confirm(error, output)?;
        guard = RootGuard::none();
    }
    // These two concern the agents' files, whatever is in the project.
    match &args.command {
        CliCommand::Install(args) => return install::run(args, &place, environment, output),
        CliCommand::Uninstall(args) => return uninstall::run(args, &place, environment, output),
        _ => {}
    }
    if let Some(note) = place.project.note() {
        output.note(&note);
    }
    // This one must not fail because of the settings that it is to replace.
    if let CliCommand::Init(init) = &args.command {
        return setup::init(init, &place, environment, output);
    }
    // The settings are read once here: the answer, the daemon's fingerprint and the command's own defaults have to
    // agree.
    let loaded = Arc::new(load_settings(&args.command, &place, environment, output)?);
    let command = ProjectCommand { args, name, place: &place, loaded, environment };
    match command.run(guard, output) {
        // Files are listed before anything is written, so that the command can start over.
        Err(CommandError::Api(error)) if error.code == TOO_MANY_FILES_CODE => {
            confirm(error, output)?;
            command.run(RootGuard::none(), output)
        }
        done => done,
    }
}

/// A command that opens the project.
struct ProjectCommand<'a> {
    args: &'a CliArgs,
    name: &'a str,
    place: &'a ProjectLocation,
    loaded: Arc<LoadedConfig>,
    environment: &'a ProcessEnvironment,
}

impl ProjectCommand<'_> {
    /// Runs the command, unless the guard rejects the folder.
    fn run(&self, guard: RootGuard, output: &mut CommandOutput) -> Result<u8, CommandError> {
        let Self { args, name, place, loaded, environment } = self;
        if lists_files_itself(&args.command) {
            guard.check_file_count(&place.root, loaded)?;
        }
        let local = LocalService::for_command_line(place.root.clone(), Arc::clone(loaded)).guarded_by(guard);
        let without_daemon = args.global.no_daemon || environment.without_daemon();
        let service = DaemonOrLocal::new(local, environment.runtime.clone(), without_daemon);
        let mut context = CommandContext {
            location: place,
            loaded,
            output,
            user_file: environment.sources.user_file.as_deref(),
            runtime: &environment.runtime,
            require_fresh: args.global.require_fresh,
            freshness: None,
            missing: Vec::new(),
            service: &service,
            command: name,
        };
        dispatch(&mut context, &args.command, environment)
    }
}

/// Asks on the terminal whether to continue despite an error. Returns the error if the answer is no or there is no
/// terminal.
fn confirm(error: ApiError, output: &mut CommandOutput) -> Result<(), CommandError> {
    let question = format!("{}. Read it anyway?", printable(&error.message));
    if output.confirm(&question) == Some(true) { Ok(()) } else { Err(error.into()) }
}

/// Returns whether a command reads files of the project, or makes the folder a project. Other commands only manage what
/// exists, such as a cache in the home folder that is to be cleared.
const fn reads_project(command: &CliCommand) -> bool {
    match command {
        CliCommand::Config(_) | CliCommand::Cache(_) | CliCommand::Link(_) | CliCommand::Uninstall(_) => {
            false
        }
        CliCommand::Install(args) => !args.user,
        CliCommand::Daemon(args) => {
            matches!(args.command, DaemonCommand::Start(_) | DaemonCommand::Restart(_))
        }
        CliCommand::Share(args) => {
            matches!(args.command, ShareCommand::Pull { .. } | ShareCommand::Status)
        }
        CliCommand::Agent(args) => {
            matches!(args.command, AgentCommand::Preview { .. } | AgentCommand::Show { .. })
        }
        _ => true,
    }
}

/// Returns whether a command lists the project's files itself, not through the service.
fn lists_files_itself(command: &CliCommand) -> bool {
    match command {
        CliCommand::Watch(_) | CliCommand::Ui(_) | CliCommand::Summarize(_) | CliCommand::CacheReplay(_) => {
            true
        }
        CliCommand::Daemon(_) | CliCommand::Agent(_) | CliCommand::Share(_) => reads_project(command),
        CliCommand::Aggregate(args) => args.wait_agent.is_some(),
        _ => false,
    }
}

/// Loads the settings, and notes harmless problems in them and in the flags.
fn load_settings(
    command: &CliCommand,
    place: &ProjectLocation,
    environment: &ProcessEnvironment,
    output: &mut CommandOutput,
) -> Result<LoadedConfig, ApiError> {
    let loaded = environment.sources.load(&place.root);
    let loaded = loaded.or_else(|fault| default_settings(command, fault, place, environment, output))?;
    let is_about_links = matches!(command, CliCommand::Link(_));
    let notes = if is_about_links { loaded.settings_problems() } else { loaded.notes(&place.root) };
    for warning in loaded.user_warnings().chain(&notes) {
        output.note(warning);
    }
    if names_old_base(command) {
        output.note("--against is deprecated: use --base");
    }
    Ok(loaded)
}

/// Returns whether a revision is given with the flag's name of earlier releases.
const fn names_old_base(command: &CliCommand) -> bool {
    match command {
        CliCommand::View(args) => args.against.is_some(),
        CliCommand::Aggregate(args) => args.choice.against.is_some(),
        CliCommand::Explain(args) => args.choice.against.is_some(),
        CliCommand::CacheReplay(args) => args.choice.against.is_some(),
        _ => false,
    }
}

/// Returns default settings for a command that needs only the cache's folder: whatever the settings, a daemon can be
/// stopped and report its status, and an edit of the settings can be undone. Other commands fail with the fault.
fn default_settings(
    command: &CliCommand,
    fault: ApiError,
    place: &ProjectLocation,
    environment: &ProcessEnvironment,
    output: &mut CommandOutput,
) -> Result<LoadedConfig, ApiError> {
    match command {
        CliCommand::Daemon(args) => match args.command {
            DaemonCommand::Stop | DaemonCommand::Status { .. } | DaemonCommand::Logs { .. } => {}
            DaemonCommand::Start(_) | DaemonCommand::Restart(_) | DaemonCommand::Unit => return Err(fault),
        },
        CliCommand::History(_) | CliCommand::Undo | CliCommand::Redo | CliCommand::Jump(_) => {
            let Ok(loaded) = environment.sources.load_without_project(&place.root) else { return Err(fault) };
            output.note(&format!("looking for the history in the default cache folder: {}", fault.message));
            return Ok(loaded);
        }
        _ => return Err(fault),
    }
    output.note(&format!("looking for the daemon in the default cache folder: {}", fault.message));
    load(&ConfigInputs::default()).map_err(|_| fault)
}

fn dispatch(
    context: &mut CommandContext<'_>,
    command: &CliCommand,
    environment: &ProcessEnvironment,
) -> Result<u8, CommandError> {
    match command {
        CliCommand::Index(args) => queries::index(args, context),
        CliCommand::Outline(args) => queries::outline(args, context),
        CliCommand::View(args) => queries::view(args, context),
        CliCommand::Symbol(args) => queries::symbol(args, context),
        CliCommand::Search(args) => queries::search(args, context),
        CliCommand::Find(args) => queries::find(args, context),
        CliCommand::Refs(args) => references::refs(args, context),
        CliCommand::Callers(args) => references::callers(args, context),
        CliCommand::Callees(args) => references::callees(args, context),
        CliCommand::Impact(args) => references::impact(args, context),
        CliCommand::Aggregate(args) => document::aggregate(args, environment, context),
        CliCommand::CacheReplay(args) => cache_replay::run(args, context),
        CliCommand::Hydrate(args) => hydration::hydrate(args, context),
        CliCommand::Simulate(args) => hydration::simulate(args, context),
        CliCommand::Fragments(args) => hydration::fragments(args, context),
        CliCommand::Given(args) => given::run(args, context),
        CliCommand::Summarize(args) => summarize::run(args, context),
        CliCommand::Agent(args) => agent::run(&args.command, context),
        CliCommand::Share(args) => share::run(&args.command, context),
        CliCommand::Explain(args) => explain::run(args, context),
        CliCommand::Status(args) => status::status(args, context),
        CliCommand::Watch(args) => daemon::watch(args, environment, context),
        CliCommand::Daemon(args) => daemon::run_daemon(&args.command, environment, context),
        CliCommand::Ui(args) => ui::run(*args, environment, context),
        CliCommand::Audit => queries::audit(context),
        CliCommand::Doctor => doctor::run(environment, context),
        CliCommand::Cache(args) => cache::run(&args.command, context),
        CliCommand::Config(args) => setup::print_config(&args.command, context),
        CliCommand::Curation(args) => curation::run_curation(&args.command, context),
        CliCommand::History(args) => history::list(args, context),
        CliCommand::Undo => history::undo(context),
        CliCommand::Redo => history::redo(context),
        CliCommand::Jump(args) => history::jump(args.to, context),
        CliCommand::Link(args) => link::run(&args.command, environment, context),
        CliCommand::Item(args) => item::run_item(&args.command, context),
        CliCommand::Slice(args) => items::run_slice(&args.command, context),
        CliCommand::Mask(args) => items::run_mask(&args.command, context),
        CliCommand::Preset(args) => preset::run_preset(&args.command, context),
        CliCommand::Take(args) => take::run_take(&args.command, context),
        CliCommand::Persona(args) => preset::run_persona(&args.command, context),
        CliCommand::Init(_)
        | CliCommand::Install(_)
        | CliCommand::Uninstall(_)
        | CliCommand::Completions { .. }
        | CliCommand::Man { .. }
        | CliCommand::Hook(_)
        | CliCommand::Mcp
        | CliCommand::Lsp { .. } => {
            unreachable!("handled above")
        }
    }
}

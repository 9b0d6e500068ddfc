//! Dispatches a command, with the project, settings and service that it needs.

use std::sync::Arc;

use super::context::CommandContext;
use super::{agent, cache, daemon, document, items, preset, queries, references, setup, status, summarize};
use crate::api::ApiError;
use crate::cli::args::{CliArgs, CliCommand};
use crate::cli::background_args::DaemonCommand;
use crate::cli::failure::CommandError;
use crate::cli::output::CommandOutput;
use crate::cli::place::ProcessEnvironment;
use crate::cli::place::ProjectLocation;
use crate::config::{ConfigInputs, LoadedConfig, load};
use crate::daemon::DaemonOrLocal;
use crate::service::LocalService;

pub(in crate::cli) fn run(
    args: &CliArgs,
    name: &str,
    environment: &ProcessEnvironment,
    output: &mut CommandOutput,
) -> Result<u8, CommandError> {
    // These two need no project.
    match &args.command {
        CliCommand::Completions { shell } => return setup::completions(*shell, output),
        CliCommand::Man { command } => return setup::man(command.as_deref(), output),
        _ => {}
    }
    let place = ProjectLocation::find(args.global.project.as_deref(), &environment.current_folder)?;
    // And this one must not stumble over the settings that it is to write.
    if let CliCommand::Init = args.command {
        return setup::init(&place, output);
    }
    let loaded = Arc::new(load_settings(&args.command, &place, environment, output)?);
    // The settings are read once here: the answer, the daemon's fingerprint and the command's own defaults have to
    // agree.
    let local = LocalService::for_command_line(place.root.clone(), Arc::clone(&loaded));
    let without_daemon = args.global.no_daemon || environment.without_daemon();
    let service = DaemonOrLocal::new(local, environment.runtime.clone(), without_daemon);
    let mut context = CommandContext {
        location: &place,
        loaded: &loaded,
        output,
        user_file: environment.sources.user_file.as_deref(),
        runtime: &environment.runtime,
        require_fresh: args.global.require_fresh,
        freshness: None,
        missing: Vec::new(),
        service: &service,
        command: name,
    };
    run_at(&mut context, &args.command, environment)
}

/// Loads the settings, and notes what in them or in the flags is wrong but harmless.
fn load_settings(
    command: &CliCommand,
    place: &ProjectLocation,
    environment: &ProcessEnvironment,
    output: &mut CommandOutput,
) -> Result<LoadedConfig, ApiError> {
    let loaded = environment.sources.load(&place.root);
    let loaded = loaded.or_else(|fault| default_settings(command, fault, output))?;
    for warning in &loaded.warnings {
        output.note(warning);
    }
    if names_old_base(command) {
        output.note("--against is deprecated: use --base");
    }
    Ok(loaded)
}

/// Returns whether a revision is given by the flag of earlier releases.
const fn names_old_base(command: &CliCommand) -> bool {
    match command {
        CliCommand::View(args) => args.against.is_some(),
        CliCommand::Aggregate(args) => args.choice.against.is_some(),
        CliCommand::Explain(args) => args.choice.against.is_some(),
        _ => false,
    }
}

/// Returns the settings for a command that needs only the cache's folder: a daemon can be stopped, and asked how it is,
/// whatever the settings say. Others fail with the fault.
fn default_settings(
    command: &CliCommand,
    fault: ApiError,
    output: &mut CommandOutput,
) -> Result<LoadedConfig, ApiError> {
    let CliCommand::Daemon(args) = command else { return Err(fault) };
    match args.command {
        DaemonCommand::Stop | DaemonCommand::Status | DaemonCommand::Logs { .. } => {}
        DaemonCommand::Start(_) | DaemonCommand::Restart(_) | DaemonCommand::Unit => return Err(fault),
    }
    output.note(&format!("looking for the daemon in the default cache folder: {}", fault.message));
    load(&ConfigInputs::default()).map_err(|_| fault)
}

fn run_at(
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
        CliCommand::Refs(args) => references::refs(args, context),
        CliCommand::Callers(args) => references::callers(args, context),
        CliCommand::Callees(args) => references::callees(args, context),
        CliCommand::Impact(args) => references::impact(args, context),
        CliCommand::Aggregate(args) => document::aggregate(args, environment, context),
        CliCommand::Summarize(args) => summarize::run(args, context),
        CliCommand::Agent(args) => agent::run(&args.command, context),
        CliCommand::Explain(args) => document::explain(args, context),
        CliCommand::Status(args) => status::status(args, context),
        CliCommand::Watch(args) => daemon::watch(args, environment, context),
        CliCommand::Daemon(args) => daemon::run_daemon(&args.command, environment, context),
        CliCommand::Audit => queries::audit(context),
        CliCommand::Cache(args) => cache::run(&args.command, context),
        CliCommand::Config(args) => setup::print_config(&args.command, context),
        CliCommand::Slice(args) => items::run_slice(&args.command, context),
        CliCommand::Mask(args) => items::run_mask(&args.command, context),
        CliCommand::Preset(args) => preset::run_preset(&args.command, context),
        CliCommand::Persona(args) => preset::run_persona(&args.command, context),
        CliCommand::Init | CliCommand::Completions { .. } | CliCommand::Man { .. } | CliCommand::Mcp => {
            unreachable!("handled above")
        }
    }
}

//! A command is picked, and given what it needs.

use super::agent;
use super::aggregate;
use super::audit;
use super::cache;
use super::completions;
use super::config;
use super::daemon;
use super::desk::Desk;
use super::explain;
use super::index;
use super::init;
use super::man;
use super::mask;
use super::outline;
use super::persona;
use super::preset;
use super::slice;
use super::status;
use super::summarize;
use super::symbol;
use super::view;
use super::watch;
use crate::api::Fault;
use crate::cli::args::Args;
use crate::cli::args::Command;
use crate::cli::daemon_args::DaemonCommand;
use crate::cli::environment::Environment;
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::cli::place::Place;
use crate::config::Inputs;
use crate::config::Loaded;
use crate::config::load;

/// Runs the command that was given, and returns the exit code.
pub(in crate::cli) fn run(
    args: &Args,
    environment: &Environment,
    output: &mut Output,
) -> Result<u8, Failure> {
    // These two need no project.
    match &args.command {
        Command::Completions { shell } => return completions::run(*shell, output),
        Command::Man { command } => return man::run(command.as_deref(), output),
        _ => {}
    }
    let place = Place::find(args.global.project.as_deref(), &environment.current_folder)?;
    // And this one must not stumble over the settings that it is to write.
    if let Command::Init = args.command {
        return init::run(&place, output);
    }
    let loaded = environment.sources.load(&place.root);
    let loaded = loaded.or_else(|fault| default_settings(&args.command, fault, output))?;
    for warning in &loaded.warnings {
        output.note(warning);
    }
    let mut desk = Desk {
        place: &place,
        loaded: &loaded,
        output,
        user_file: environment.sources.user_file.as_deref(),
        runtime: &environment.runtime,
        require_fresh: args.global.require_fresh,
        freshness: None,
        without_daemon: args.global.no_daemon || environment.without_daemon(),
        command: name(&args.command),
    };
    run_at(&mut desk, &args.command, environment)
}

/// Returns the settings for a command that needs only the cache's folder: a daemon can be stopped, and asked how it is,
/// whatever the settings say. Others fail with the fault.
fn default_settings(command: &Command, fault: Fault, output: &mut Output) -> Result<Loaded, Fault> {
    let Command::Daemon(args) = command else { return Err(fault) };
    match args.command {
        DaemonCommand::Stop | DaemonCommand::Status | DaemonCommand::Logs { .. } => {}
        DaemonCommand::Start(_) | DaemonCommand::Restart(_) | DaemonCommand::Unit => return Err(fault),
    }
    output.note(&format!("looking for the daemon in the default cache folder: {}", fault.message));
    load(&Inputs::default()).map_err(|_| fault)
}

/// Runs a command that works on a project.
fn run_at(desk: &mut Desk<'_>, command: &Command, environment: &Environment) -> Result<u8, Failure> {
    match command {
        Command::Index(args) => index::run(args, desk),
        Command::Outline(args) => outline::run(args, desk),
        Command::View(args) => view::run(args, desk),
        Command::Symbol(args) => symbol::run(args, desk),
        Command::Aggregate(args) => aggregate::run(args, environment, desk),
        Command::Summarize(args) => summarize::run(args, desk),
        Command::Agent(args) => agent::run(&args.command, desk),
        Command::Explain(args) => explain::run(args, desk),
        Command::Status => status::run(desk),
        Command::Watch(args) => watch::run(args, environment, desk),
        Command::Daemon(args) => daemon::run(&args.command, environment, desk),
        Command::Audit => audit::run(desk),
        Command::Cache(args) => cache::run(&args.command, desk),
        Command::Config(args) => config::run(&args.command, desk),
        Command::Slice(args) => slice::run(&args.command, desk),
        Command::Mask(args) => mask::run(&args.command, desk),
        Command::Preset(args) => preset::run(&args.command, desk),
        Command::Persona(args) => persona::run(&args.command, desk),
        Command::Init | Command::Completions { .. } | Command::Man { .. } | Command::Mcp => {
            unreachable!("handled above")
        }
    }
}

/// Returns the command's name, as it stands in JSON.
pub(in crate::cli) const fn name(command: &Command) -> &'static str {
    match command {
        Command::Init => "init",
        Command::Index(_) => "index",
        Command::Outline(_) => "outline",
        Command::View(_) => "view",
        Command::Symbol(_) => "symbol",
        Command::Aggregate(_) => "aggregate",
        Command::Summarize(_) => "summarize",
        Command::Agent(_) => "agent",
        Command::Explain(_) => "explain",
        Command::Status => "status",
        Command::Watch(_) => "watch",
        Command::Daemon(_) => "daemon",
        Command::Audit => "audit",
        Command::Cache(_) => "cache",
        Command::Config(_) => "config",
        Command::Slice(_) => "slice",
        Command::Mask(_) => "mask",
        Command::Preset(_) => "preset",
        Command::Persona(_) => "persona",
        Command::Completions { .. } => "completions",
        Command::Man { .. } => "man",
        Command::Mcp => "mcp",
    }
}

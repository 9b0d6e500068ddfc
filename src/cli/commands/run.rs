//! A command is picked, and given what it needs.

use super::aggregate;
use super::cache;
use super::completions;
use super::config;
use super::explain;
use super::index;
use super::init;
use super::man;
use super::outline;
use super::status;
use super::symbol;
use super::view;
use crate::api::Fault;
use crate::api::Request;
use crate::api::Response;
use crate::api::Session;
use crate::api::World;
use crate::api::envelope;
use crate::cli::args::Args;
use crate::cli::args::Command;
use crate::cli::environment::Environment;
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::cli::place::Place;
use crate::cli::progress::Bar;
use crate::config as settings;
use crate::config::Inputs;
use crate::config::Loaded;
use crate::sys::Disk;
use crate::sys::RealDisk;
use crate::sys::RealFiles;
use crate::sys::RealProcesses;
use crate::sys::WallClock;

/// Name of the project's settings file.
pub(super) const SETTINGS_FILE: &str = "slop.toml";

/// What most commands work with: the project, its settings, and a way to ask.
pub(super) struct Desk<'a> {
    pub(super) place: &'a Place,
    pub(super) loaded: &'a Loaded,
    pub(super) output: &'a mut Output,
    command: &'static str,
}

/// Runs the command that was given, and returns the exit code.
pub(in crate::cli) fn run(
    args: &Args,
    environment: &Environment,
    output: &mut Output,
) -> Result<u8, Failure> {
    match &args.command {
        Command::Completions { shell } => return completions::run(*shell, output),
        Command::Man { command } => return man::run(command.as_deref(), output),
        _ => {}
    }
    let place = Place::find(args.global.project.as_deref(), &environment.current_folder)?;
    if let Command::Init = args.command {
        return init::run(&place, output);
    }
    let loaded = load(&place, environment)?;
    for warning in &loaded.warnings {
        output.note(warning);
    }
    let mut desk = Desk { place: &place, loaded: &loaded, output, command: name(&args.command) };
    match &args.command {
        Command::Index(args) => index::run(args, &mut desk),
        Command::Outline(args) => outline::run(args, &mut desk),
        Command::View(args) => view::run(args, &mut desk),
        Command::Symbol(args) => symbol::run(args, &mut desk),
        Command::Aggregate(args) => aggregate::run(args, environment, &mut desk),
        Command::Explain(args) => explain::run(args, &mut desk),
        Command::Status => status::run(&mut desk),
        Command::Cache(args) => cache::run(&args.command, &mut desk),
        Command::Config(args) => config::run(&args.command, &mut desk),
        Command::Init | Command::Completions { .. } | Command::Man { .. } => unreachable!("handled above"),
    }
}

fn name(command: &Command) -> &'static str {
    match command {
        Command::Init => "init",
        Command::Index(_) => "index",
        Command::Outline(_) => "outline",
        Command::View(_) => "view",
        Command::Symbol(_) => "symbol",
        Command::Aggregate(_) => "aggregate",
        Command::Explain(_) => "explain",
        Command::Status => "status",
        Command::Cache(_) => "cache",
        Command::Config(_) => "config",
        Command::Completions { .. } => "completions",
        Command::Man { .. } => "man",
    }
}

fn load(place: &Place, environment: &Environment) -> Result<Loaded, Failure> {
    let read = |path: std::path::PathBuf| match RealDisk.read(&path) {
        Ok(bytes) => Ok(bytes.map(|bytes| (path, bytes))),
        Err(error) => {
            let message = format!("read the settings in {}: {error}", path.display());
            Err(Failure::usage(message, "make the file readable, or move it away"))
        }
    };
    let user_file = environment.user_file.clone().map(read).transpose()?.flatten();
    let project_file = read(place.root.join(SETTINGS_FILE))?;
    let environment = environment.variables.clone();
    let inputs = Inputs { user_file, project_file, environment, flags: Vec::new() };
    settings::load(&inputs).map_err(|error| {
        Failure::usage(
            error_line(&error),
            "`slop config show` lists every setting; `slop init` writes them out",
        )
    })
}

/// Returns an error with its causes, on one line.
fn error_line(error: &dyn std::error::Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        line = format!("{line}: {error}");
        cause = error.source();
    }
    line
}

impl Desk<'_> {
    /// Asks the project, and tells what it stumbled over.
    pub(super) fn ask(&mut self, request: Request) -> Result<Response, Failure> {
        let answer = self.answer(request);
        if let Err(fault) = &answer
            && self.output.json
        {
            let wrapped = envelope(self.command, Err(fault));
            self.output.line(&wrapped.to_string())?;
        }
        Ok(answer?)
    }

    /// Writes an answer as JSON.
    pub(super) fn write_json(&mut self, response: &Response) -> Result<(), Failure> {
        let wrapped = envelope(self.command, Ok(response));
        Ok(self.output.line(&wrapped.to_string())?)
    }

    fn answer(&mut self, request: Request) -> Result<Response, Fault> {
        let root = &self.place.root;
        let files = RealFiles::open(root).map_err(|error| Fault::no_project(root, &error))?;
        let bar = Bar::new(self.output.has_audience() && !self.output.json);
        let world = World {
            clock: &WallClock,
            disk: &RealDisk,
            files: &files,
            processes: &RealProcesses,
            progress: &bar,
        };
        let options = self.loaded.settings.engine_options(root);
        let mut session = Session::open(root, options, world)?;
        let answer = session.answer(request);
        let notes = session.take_notes();
        drop(session);
        drop(bar);
        for note in notes {
            self.output.note(&note);
        }
        answer
    }
}

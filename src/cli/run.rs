//! From the process's start to its exit code.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::CommandFactory;

use super::args::{CliArgs, CliCommand, ColorWhen};
use super::failure::CommandError;
use super::location::ProcessEnvironment;
use super::output::CommandOutput;
use super::{commands, failure};
use crate::api::{ApiError, envelope_of_error};
use crate::service::authenticate_cache;
use crate::sys::{ensure_open_files, user_key};

/// The least limit of open files. With fewer, libraries fail in ways that cannot be reported.
const LEAST_OPEN_FILES: u64 = 32;

/// Runs the program.
pub fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let (args, name) = match CliArgs::parse_with_name(&words) {
        Ok(parsed) => parsed,
        Err(error) => {
            // Help and the version go to standard output; a closed one is ignored.
            let _ = error.print();
            // An agent may have a hook of a different version, and would interpret this exit code as an order.
            if is_hook() {
                return ExitCode::SUCCESS;
            }
            if error.use_stderr() && words.iter().any(|word| word == "--json") {
                write_bad_arguments(&error, &words);
            }
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(failure::BUG));
        }
    };
    choose_color(args.global.color);
    if let CliCommand::Hook(hook) = &args.command {
        // The panic's own message is on standard error already.
        let _ = catch_unwind(AssertUnwindSafe(|| commands::run_hook(hook)));
        return ExitCode::SUCCESS;
    }
    match catch_unwind(AssertUnwindSafe(|| run(&args, &name))) {
        Ok(code) => ExitCode::from(code),
        // The panic's own message is on standard error already.
        Err(_) => ExitCode::from(failure::BUG),
    }
}

fn run(args: &CliArgs, name: &str) -> u8 {
    let output = || CommandOutput::new(args.global.json, args.global.quiet, args.global.verbose);
    // These servers write to standard output themselves, so nothing else may hold its lock.
    let serve = match args.command {
        CliCommand::Mcp => Some(commands::run_mcp as fn(&_, &_) -> _),
        CliCommand::Lsp { .. } => Some(commands::run_lsp as fn(&_, &_) -> _),
        _ => None,
    };
    if let Some(serve) = serve {
        let served = read_environment();
        let served = served.and_then(|environment| serve(args, &environment));
        return served.unwrap_or_else(|failure| {
            let error = failure::for_command_line(failure.into_api_error());
            output().error(&error);
            failure::exit_code(&error)
        });
    }
    let mut output = output();
    let done = read_environment();
    let done = done.and_then(|environment| commands::run(args, name, &environment, &mut output));
    let done = done.and_then(|code| output.flush().map(|()| code).map_err(CommandError::from));
    match done {
        Ok(code) => code,
        // The reader of a pipe may close it early; that is not a failure.
        Err(CommandError::Output(error)) if error.kind() == ErrorKind::BrokenPipe => failure::DONE,
        Err(failure) => report_error(failure, name, &mut output),
    }
}

/// Reads the environment of the process. From here on, only caches that were authenticated with the user's key are
/// trusted.
fn read_environment() -> Result<ProcessEnvironment, CommandError> {
    ensure_open_files(LEAST_OPEN_FILES).map_err(|most| {
        let message =
            format!("at most {most} files can be open at a time, and slop needs {LEAST_OPEN_FILES}");
        ApiError::environment("too_few_files", message, "raise the limit, for example with `ulimit -n 1024`")
    })?;
    let environment = ProcessEnvironment::read()?;
    authenticate_cache(&user_key());
    Ok(environment)
}

/// Reports why a command failed, in words, and as JSON if that is requested and there is no answer yet; returns the
/// exit code.
fn report_error(failure: CommandError, command: &str, output: &mut CommandOutput) -> u8 {
    // If writing to standard output failed, an envelope cannot be written to it either.
    let can_write = matches!(failure, CommandError::Api(_));
    let error = failure::for_command_line(failure.into_api_error());
    if can_write && output.json && output.answers == 0 {
        let envelope = envelope_of_error(command, &error.code, &error.message, &error.hint);
        // If standard output fails now, the message still goes to standard error.
        let _ = output.write_envelope(envelope.to_string().as_bytes());
    }
    output.error(&error);
    failure::exit_code(&error)
}

/// Writes an error in the arguments as JSON; the words for people are on standard error already.
fn write_bad_arguments(error: &clap::Error, words: &[OsString]) {
    let program = CliArgs::command();
    let mut commands = words.iter().filter_map(|word| program.find_subcommand(word));
    let command = commands.next().map_or("", |command| command.get_name());
    let text = error.to_string();
    let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
    let hint = format!("`slop {command} --help` lists the arguments").replace("  ", " ");
    let envelope = envelope_of_error(command, failure::USAGE, message, &hint);
    let mut output = CommandOutput::new(true, false, false);
    // A closed standard output is ignored, as for the words.
    let _ = output.write_envelope(envelope.to_string().as_bytes()).and_then(|()| output.flush());
}

/// Returns whether the process was started as a hook, whatever else its arguments say.
fn is_hook() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == "hook")
}

fn choose_color(when: ColorWhen) {
    let choice = match when {
        ColorWhen::Auto => anstream::ColorChoice::Auto,
        ColorWhen::Always => anstream::ColorChoice::Always,
        ColorWhen::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
}

//! From the process's start to its exit code.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;

use super::args::{CliArgs, CliCommand, ColorWhen};
use super::environment::ProcessEnvironment;
use super::failure::CommandError;
use super::output::CommandOutput;
use super::{commands, failure};
use crate::api::envelope_of_error;

/// Runs the program.
pub fn main() -> ExitCode {
    let args = match CliArgs::try_parse().and_then(CliArgs::checked) {
        Ok(args) => args,
        Err(error) => {
            // Help and the version go to standard output; if that is closed, nobody reads them.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(failure::BUG));
        }
    };
    choose_color(args.global.color);
    match catch_unwind(AssertUnwindSafe(|| run(&args))) {
        Ok(code) => ExitCode::from(code),
        // The panic's own message is on standard error already.
        Err(_) => ExitCode::from(failure::BUG),
    }
}

fn run(args: &CliArgs) -> u8 {
    let output = || CommandOutput::new(args.global.json, args.global.quiet, args.global.verbose);
    // The MCP server writes to standard output itself, so that nothing else may hold its lock.
    if let CliCommand::Mcp = args.command {
        let served = ProcessEnvironment::read().map_err(CommandError::from);
        let served = served.and_then(|environment| commands::run_mcp(args, environment));
        return served.unwrap_or_else(|failure| {
            output().error(&failure);
            failure.exit_code()
        });
    }
    let mut output = output();
    let done = ProcessEnvironment::read().map_err(CommandError::from);
    let done = done.and_then(|environment| commands::run(args, &environment, &mut output));
    let done = done.and_then(|code| output.flush().map(|()| code).map_err(CommandError::from));
    match done {
        Ok(code) => code,
        Err(failure) => {
            let code = failure.exit_code();
            if code != failure::DONE {
                report_error(&failure, commands::name(&args.command), &mut output);
            }
            code
        }
    }
}

/// Tells why a command failed: in words, and as JSON where that is asked for and there is no answer yet.
fn report_error(failure: &CommandError, command: &str, output: &mut CommandOutput) {
    // If standard output is what failed, the message still goes to standard error.
    let _ = match failure {
        CommandError::Api(_) | CommandError::Usage { .. } if output.json && output.answers == 0 => {
            let error = envelope_of_error(command, failure.code(), &failure.message(), failure.hint());
            output.write_envelope(error.to_string().as_bytes())
        }
        CommandError::Api(_) | CommandError::Usage { .. } | CommandError::Output(_) => Ok(()),
    };
    output.error(failure);
}

fn choose_color(when: ColorWhen) {
    let choice = match when {
        ColorWhen::Auto => anstream::ColorChoice::Auto,
        ColorWhen::Always => anstream::ColorChoice::Always,
        ColorWhen::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
}

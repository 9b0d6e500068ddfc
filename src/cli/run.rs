//! From the process's start to its exit code.

use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;
use std::process::ExitCode;

use clap::Parser;

use super::args::Args;
use super::args::Command;
use super::args::When;
use super::commands;
use super::environment::Environment;
use super::failure;
use super::failure::Failure;
use super::output::Output;
use crate::api::envelope_of_error;

/// Runs the program.
pub fn main() -> ExitCode {
    let args = match Args::try_parse().and_then(Args::checked) {
        Ok(args) => args,
        Err(error) => {
            // Help and the version go to the standard output; if that is closed, they were not wanted.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(failure::BUG));
        }
    };
    choose_color(args.global.color);
    match catch_unwind(AssertUnwindSafe(|| run(&args))) {
        Ok(code) => ExitCode::from(code),
        // The panic's own message is on the standard error already.
        Err(_) => ExitCode::from(failure::BUG),
    }
}

fn run(args: &Args) -> u8 {
    let output = || Output::new(args.global.json, args.global.quiet, args.global.verbose);
    // A server writes to the standard output by itself, which must be held by nobody else.
    if let Command::Mcp = args.command {
        let served = Environment::read().map_err(Failure::from);
        let served = served.and_then(|environment| commands::run_mcp(args, environment));
        return served.unwrap_or_else(|failure| {
            output().failure(&failure);
            failure.exit_code()
        });
    }
    let mut output = output();
    let done = Environment::read().map_err(Failure::from);
    let done = done.and_then(|environment| commands::run(args, &environment, &mut output));
    let done = done.and_then(|code| output.finish().map(|()| code).map_err(Failure::from));
    match done {
        Ok(code) => code,
        Err(failure) => {
            let code = failure.exit_code();
            if code != failure::DONE {
                tell(&failure, commands::name(&args.command), &mut output);
            }
            code
        }
    }
}

/// Tells why a command failed: in words, and as JSON where that is asked for and there is no answer yet.
fn tell(failure: &Failure, command: &str, output: &mut Output) {
    // If the standard output is what failed, the words are told all the same.
    let _ = match failure {
        Failure::Fault(_) | Failure::Usage { .. } if output.json && output.answers == 0 => {
            let error = envelope_of_error(command, failure.code(), &failure.message(), failure.hint());
            output.answer(error.to_string().as_bytes())
        }
        Failure::Fault(_) | Failure::Usage { .. } | Failure::Output(_) => Ok(()),
    };
    output.failure(failure);
}

fn choose_color(when: When) {
    let choice = match when {
        When::Auto => anstream::ColorChoice::Auto,
        When::Always => anstream::ColorChoice::Always,
        When::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
}

//! `slop completions`

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::args::CliArgs;
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::cli::output::CommandOutput;

pub(super) fn run(shell: Shell, output: &mut CommandOutput) -> Result<u8, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CliArgs::command(), "slop", &mut script);
    output.write_text(&String::from_utf8_lossy(&script))?;
    Ok(failure::DONE)
}

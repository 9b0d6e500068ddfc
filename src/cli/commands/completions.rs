//! `slop completions`

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::args::Args;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::cli::output::Output;

pub(super) fn run(shell: Shell, output: &mut Output) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "slop", &mut script);
    output.data(&String::from_utf8_lossy(&script))?;
    Ok(failure::DONE)
}

//! `slop man`

use clap::CommandFactory;
use clap_mangen::Man;

use crate::cli::args::CliArgs;
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::cli::output::CommandOutput;

pub(super) fn run(command: Option<&str>, output: &mut CommandOutput) -> Result<u8, CommandError> {
    let mut page = CliArgs::command();
    // Global flags reach the commands only once the whole is built.
    page.build();
    if let Some(name) = command {
        let found = page.find_subcommand(name).cloned();
        page = found.ok_or_else(|| {
            CommandError::usage(format!("no command named `{name}`"), "`slop --help` lists the commands")
        })?;
    }
    let mut text = Vec::new();
    Man::new(page).render(&mut text)?;
    output.write_text(&String::from_utf8_lossy(&text))?;
    Ok(failure::DONE)
}

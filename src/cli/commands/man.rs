//! `slop man`

use clap::CommandFactory;
use clap_mangen::Man;

use crate::cli::args::Args;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::cli::output::Output;

pub(super) fn run(command: Option<&str>, output: &mut Output) -> Result<u8, Failure> {
    let mut page = Args::command();
    // Global flags reach the commands only once the whole is built.
    page.build();
    if let Some(name) = command {
        let found = page.find_subcommand(name).cloned();
        page = found.ok_or_else(|| {
            Failure::usage(format!("print the man page of `{name}`"), "`slop --help` lists the commands")
        })?;
    }
    let mut text = Vec::new();
    Man::new(page).render(&mut text)?;
    output.data(&String::from_utf8_lossy(&text))?;
    Ok(failure::DONE)
}

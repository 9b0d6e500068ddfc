//! `slop index`

use super::desk::CommandContext;
use super::desk::scan_line;
use crate::api::IndexQuery;
use crate::cli::args::IndexArgs;
use crate::cli::failure;
use crate::cli::failure::CommandError;

pub(super) fn run(args: &IndexArgs, desk: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let report = &desk.ask(IndexQuery { verify: args.verify })?;
    if desk.output.json {
        desk.write_data(report)?;
    } else {
        desk.output.write_line(&scan_line(report))?;
    }
    Ok(if report.has_errors() { failure::INCOMPLETE } else { failure::DONE })
}

//! `slop index`

use super::context::{CommandContext, scan_line};
use crate::api::IndexQuery;
use crate::cli::args::IndexArgs;
use crate::cli::failure;
use crate::cli::failure::CommandError;

pub(super) fn run(args: &IndexArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let report = &context.ask(IndexQuery { verify: args.verify })?;
    if context.output.json {
        context.write_data(report)?;
    } else {
        context.output.write_line(&scan_line(report))?;
    }
    Ok(if report.has_errors() { failure::INCOMPLETE } else { failure::DONE })
}

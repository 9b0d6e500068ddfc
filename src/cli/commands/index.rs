//! `slop index`

use super::desk::Desk;
use super::desk::scan_line;
use crate::api::Answer;
use crate::api::Ask;
use crate::api::IndexAsk;
use crate::cli::args::IndexArgs;
use crate::cli::failure;
use crate::cli::failure::Failure;

pub(super) fn run(args: &IndexArgs, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    let answer = desk.ask(Ask::Index(IndexAsk { verify: args.verify }))?;
    let Answer::Indexed(report) = &answer else { unreachable!("an index ask is answered by a report") };
    if desk.output.json {
        desk.write_data(report)?;
    } else {
        desk.output.line(&scan_line(report))?;
    }
    Ok(if report.has_errors() { failure::INCOMPLETE } else { failure::DONE })
}

//! `slop index`

use super::desk::Desk;
use super::desk::scan_line;
use super::desk::trust;
use crate::api::Request;
use crate::api::Response;
use crate::cli::args::IndexArgs;
use crate::cli::failure;
use crate::cli::failure::Failure;

pub(super) fn run(args: &IndexArgs, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    let response = desk.ask(Request::Index { trust: trust(args.verify) })?;
    let Response::Indexed(report) = &response else {
        unreachable!("an index request is answered by a report")
    };
    if desk.output.json {
        desk.write_json(&response)?;
    } else {
        desk.output.line(&scan_line(report))?;
    }
    Ok(if report.has_errors() { failure::INCOMPLETE } else { failure::DONE })
}

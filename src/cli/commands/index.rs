//! `slop index`

use std::collections::BTreeMap;

use super::desk::Desk;
use super::desk::trust;
use crate::api::Request;
use crate::api::Response;
use crate::cli::args::IndexArgs;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::model::LeftOut;
use crate::render::grouped;
use crate::render::seconds;

pub(super) fn run(args: &IndexArgs, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    let response = desk.ask(Request::Index { trust: trust(args.verify) })?;
    let Response::Indexed(report) = &response else {
        unreachable!("an index request is answered by a report")
    };
    if desk.output.json {
        desk.write_json(&response)?;
    } else {
        let line = format!(
            "{} files: {} read, {} derived, {} known already, {} gone, {} left out{}; {}",
            grouped(report.files),
            grouped(report.hashed),
            grouped(report.parsed),
            grouped(report.reused),
            grouped(report.removed),
            grouped(report.left_out.values().sum()),
            reasons(&report.left_out),
            seconds(report.elapsed),
        );
        desk.output.line(&line)?;
    }
    Ok(if report.has_errors() { failure::INCOMPLETE } else { failure::DONE })
}

/// Returns how many files were left out for each reason: ` (binary 12, symlink 1)`.
fn reasons(left_out: &BTreeMap<LeftOut, u64>) -> String {
    if left_out.is_empty() {
        return String::new();
    }
    let reasons: Vec<String> = left_out.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
    format!(" ({})", reasons.join(", "))
}

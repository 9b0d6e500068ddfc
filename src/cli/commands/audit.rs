//! `slop audit`

use super::desk::Desk;
use crate::api::Answer;
use crate::api::Ask;
use crate::api::shown_path;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::render::grouped;
use crate::render::size;

pub(super) fn run(desk: &mut Desk<'_>) -> Result<u8, Failure> {
    let answer = desk.ask(Ask::Audit)?;
    let Answer::Audited(audit) = &answer else { unreachable!("an audit ask is answered by an audit") };
    let is_clean = audit.differences.is_empty();
    let code = if is_clean { failure::DONE } else { failure::USER };
    if desk.output.json {
        desk.write_data(audit)?;
        return Ok(code);
    }
    for difference in &audit.differences {
        let path = shown_path(&difference.path, difference.path_hex.as_deref());
        desk.output.line(&format!("{path}: {}", difference.words()))?;
    }
    let (files, differences) = (grouped(audit.files), grouped(audit.differences.len() as u64));
    let plural = if audit.differences.len() == 1 { "difference" } else { "differences" };
    desk.output.line(&format!("{files} files, {} read, {differences} {plural}", size(audit.bytes)))?;
    Ok(code)
}

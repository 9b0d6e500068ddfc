//! `slop audit`

use super::context::CommandContext;
use crate::api::{AuditQuery, display_path};
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::render::{format_grouped, format_size};

pub(super) fn run(context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let audit = &context.ask(AuditQuery {})?;
    let is_clean = audit.differences.is_empty();
    let code = if is_clean { failure::DONE } else { failure::USER };
    if context.output.json {
        context.write_data(audit)?;
        return Ok(code);
    }
    for difference in &audit.differences {
        let path = display_path(&difference.path, difference.path_hex.as_deref());
        context.output.write_line(&format!("{path}: {}", difference.description()))?;
    }
    let (files, differences) = (format_grouped(audit.files), format_grouped(audit.differences.len() as u64));
    let plural = if audit.differences.len() == 1 { "difference" } else { "differences" };
    context
        .output
        .write_line(&format!("{files} files, {} read, {differences} {plural}", format_size(audit.bytes)))?;
    Ok(code)
}

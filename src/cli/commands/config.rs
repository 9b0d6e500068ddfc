//! `slop config`

use serde_json::json;

use super::context::CommandContext;
use crate::api::envelope;
use crate::cli::args::ConfigCommand;
use crate::cli::failure;
use crate::cli::failure::CommandError;

pub(super) fn run(command: &ConfigCommand, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let ConfigCommand::Show { origin } = command;
    if context.output.json {
        let values = context.loaded.values.iter().map(|value| {
            json!({
                "key": value.key,
                "value": value.value,
                "origin": value.origin.to_string(),
                "help": value.help,
            })
        });
        let data = json!({"values": values.collect::<serde_json::Value>()});
        context.output.write_envelope(&envelope("config", None, &[], &data))?;
        return Ok(failure::DONE);
    }
    for value in &context.loaded.values {
        let origin = if *origin { format!("  # {}", value.origin) } else { String::new() };
        context.output.write_line(&format!("{} = {}{origin}", value.key, value.value))?;
    }
    Ok(failure::DONE)
}

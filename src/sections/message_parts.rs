//! The parts of a message in the providers' formats, as text for a discussion.

use crate::model::collapse_whitespace;
use serde_json::{Map, Value};

/// The maximum number of characters of a call's arguments.
const MAX_ARGUMENTS: usize = 160;

/// Returns a line for each tool call of a message in OpenAI's format, which are not part of its content.
pub(super) fn call_lines(message: &Map<String, Value>) -> Vec<String> {
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    calls.filter_map(|call| Some(call_line(call.get("function")?.as_object()?, "arguments"))).collect()
}

/// Returns the text of a part; `None` if it has nothing to show, such as a thought.
pub(super) fn part_text(part: &Value) -> Option<String> {
    let part = match part {
        Value::String(text) => return Some(text.clone()),
        Value::Object(part) => part,
        _ => return None,
    };
    // Gemini marks a thought by a flag on an ordinary text part.
    if part.get("thought") == Some(&Value::Bool(true)) {
        return None;
    }
    if let Some(text) = part.get("text").and_then(Value::as_str) {
        return Some(text.to_owned());
    }
    match part.get("type").and_then(Value::as_str).unwrap_or_default() {
        "tool_use" | "server_tool_use" => return Some(call_line(part, "input")),
        "function_call" => return Some(call_line(part, "arguments")),
        "tool_result" => return part.get("content").and_then(result_text),
        "function_call_output" => return part.get("output").and_then(result_text),
        "image" | "image_url" | "input_image" => return Some("[image]".to_owned()),
        _ => {}
    }
    // Gemini's parts have no type, but a key for each kind.
    let gemini = |key: &str| part.get(key).and_then(Value::as_object);
    if let Some(call) = gemini("functionCall") {
        return Some(call_line(call, "args"));
    }
    if let Some(result) = gemini("functionResponse") {
        return result.get("response").map(Value::to_string);
    }
    let data = gemini("inlineData").or_else(|| gemini("inline_data"))?;
    let kind = data.get("mimeType").or_else(|| data.get("mime_type")).and_then(Value::as_str)?;
    kind.starts_with("image/").then(|| "[image]".to_owned())
}

fn result_text(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts: Vec<String> = parts.iter().filter_map(part_text).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        _ => None,
    }
}

fn call_line(call: &Map<String, Value>, arguments_key: &str) -> String {
    let name = call.get("name").and_then(Value::as_str).unwrap_or("?");
    let arguments = match call.get(arguments_key) {
        None | Some(Value::Null) => String::new(),
        // OpenAI encodes JSON in a string.
        Some(Value::String(json)) => collapse_whitespace(json),
        Some(arguments) => collapse_whitespace(&arguments.to_string()),
    };
    let is_long = arguments.chars().nth(MAX_ARGUMENTS).is_some();
    let shown: String = arguments.chars().take(MAX_ARGUMENTS).collect();
    let (space, ellipsis) = (if shown.is_empty() { "" } else { " " }, if is_long { "…" } else { "" });
    format!("[tool call: {}{space}{shown}{ellipsis}]", collapse_whitespace(name))
}

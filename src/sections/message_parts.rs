//! The parts of a message in the providers' formats, as text for a discussion.

use crate::model::collapse_whitespace;
use serde_json::{Map, Value};

/// The maximum number of characters of a call's arguments.
const MAX_ARGUMENTS: usize = 160;

/// Returns what a message in OpenAI's format has beside its content: a refusal, and a line for each tool call.
pub(super) fn lines_beside_content(message: &Map<String, Value>) -> Vec<String> {
    let refusal = message.get("refusal").and_then(Value::as_str).map(str::to_owned);
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let calls = calls.filter_map(|call| call.get("function")).chain(message.get("function_call"));
    let calls = calls.filter_map(Value::as_object).map(call_line);
    refusal.into_iter().chain(calls).collect()
}

/// Returns the role and the text of an entry that is not a message, but a tool call or its result, as in OpenAI's
/// Responses API; `None` if it is neither.
pub(super) fn call_or_result(entry: &Map<String, Value>) -> Option<(&'static str, Option<String>)> {
    let kind = entry.get("type")?.as_str()?;
    match kind.strip_suffix("_output") {
        Some(_) => Some(("tool", entry.get("output").and_then(result_text))),
        None => kind.strip_suffix("_call").map(|_| ("assistant", Some(call_line(entry)))),
    }
}

/// Returns the text of a part, or its kind in brackets; `None` if it has nothing to show, such as a thought.
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
    let text =
        |part: &Map<String, Value>, key: &str| part.get(key).and_then(Value::as_str).map(str::to_owned);
    if let Some(text) = text(part, "text").or_else(|| text(part, "refusal")) {
        return Some(text);
    }
    if let Some((_, text)) = call_or_result(part) {
        return text;
    }
    let Some(kind) = part.get("type").and_then(Value::as_str) else { return gemini_text(part) };
    match kind {
        "thinking" | "redacted_thinking" | "reasoning" => None,
        "tool_use" | "server_tool_use" | "mcp_tool_use" => Some(call_line(part)),
        "search_result" => part.get("content").and_then(result_text),
        result if result.ends_with("tool_result") => part.get("content").and_then(result_text),
        "image" | "image_url" | "input_image" => Some("[image]".to_owned()),
        "document" => {
            let source = part.get("source").and_then(Value::as_object);
            let source = source.filter(|source| source.get("type").is_some_and(|kind| kind == "text"));
            source.and_then(|source| text(source, "data")).or_else(|| Some("[document]".to_owned()))
        }
        "" => None,
        other => Some(format!("[{}]", collapse_whitespace(other))),
    }
}

/// Returns the text of one of Gemini's parts, which have no type, but a key for each kind.
fn gemini_text(part: &Map<String, Value>) -> Option<String> {
    let (key, value) = part.iter().find_map(|(key, value)| Some((key.as_str(), value.as_object()?)))?;
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    match key {
        "functionCall" => Some(call_line(value)),
        "functionResponse" => value.get("response").map(Value::to_string),
        "executableCode" => text("code").map(str::to_owned),
        "codeExecutionResult" => text("output").map(str::to_owned),
        "inlineData" | "inline_data" | "fileData" | "file_data" => {
            let kind = text("mimeType").or_else(|| text("mime_type")).unwrap_or_default();
            Some(if kind.starts_with("image/") { "[image]" } else { "[file]" }.to_owned())
        }
        _ => None,
    }
}

fn result_text(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts: Vec<String> = parts.iter().filter_map(part_text).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        Value::Object(_) => Some(content.to_string()),
        _ => None,
    }
}

fn call_line(call: &Map<String, Value>) -> String {
    let text = |key: &str| call.get(key).and_then(Value::as_str);
    let name = text("name").or_else(|| text("type")?.strip_suffix("_call")).unwrap_or("?");
    let arguments = ["arguments", "input", "args", "action"].iter().find_map(|key| call.get(*key));
    let arguments = match arguments {
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

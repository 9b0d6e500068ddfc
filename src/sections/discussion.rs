//! The discussion so far, in the formats of various clients.

use serde_json::{Map, Value};

use super::format::{DataSyntax, Error, parse};
use super::message_parts::{call_or_result, lines_beside_content, part_text};
use crate::model::{DiscussionEntry, collapse_whitespace};

/// Keys that may hold the list of entries.
const LIST_KEYS: [&str; 2] = ["history", "messages"];
/// Keys that may hold the takes of a discussion.
const TAKE_KEYS: [&str; 2] = ["takes", "discussions"];
/// The role of an entry without one.
const UNKNOWN_ROLE: &str = "Unknown";
const WANTED: &str = "a list, or one under `history` or `messages`, or takes that hold one";

/// A discussion for display.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Discussion {
    pub entries: Vec<DiscussionEntry>,
    /// The number of other entries, which have nothing to show.
    pub silent: usize,
}

/// Reads a discussion: the take of that name, or the one marked as active.
pub fn read_discussion(
    bytes: &[u8],
    syntax: Option<DataSyntax>,
    take: Option<&str>,
) -> Result<Discussion, Error> {
    let value = parse(bytes, syntax)?;
    let values = find_entries(&value, take)?;
    // Numbered before entries without text are dropped, so that an error names the entry as counted in the file.
    let read = values
        .iter()
        .enumerate()
        .map(|(at, value)| read_entry(value).map_err(|reason| Error::BadEntry { entry: at + 1, reason }));
    // An entry without text, such as a thought, is not part of the discussion.
    let entries: Vec<DiscussionEntry> = read.filter_map(Result::transpose).collect::<Result<_, _>>()?;
    let silent = values.len() - entries.len();
    Ok(Discussion { entries, silent })
}

fn find_entries<'a>(value: &'a Value, take: Option<&str>) -> Result<&'a [Value], Error> {
    let no_entries = Error::NoEntries { wanted: WANTED };
    match (value, take) {
        // One JSONL line that wraps a list comes from programs that write only JSONL.
        (Value::Array(items), None) => match items.as_slice() {
            // Without a list, it is an entry with missing keys.
            [Value::Object(only)] if !is_entry(only) => Ok(list_in(only).unwrap_or(items)),
            items => Ok(items),
        },
        (Value::Array(_), Some(name)) => Err(Error::NoTake { name: name.to_owned(), existing: Vec::new() }),
        (Value::Object(table), _) => {
            // A project's own file may nest all of it one level deeper.
            let inner = table.get("discussion").and_then(Value::as_object);
            let table = inner.filter(|_| list_in(table).is_none()).unwrap_or(table);
            entries_in_takes(table, take)
        }
        _ => Err(no_entries),
    }
}

fn entries_in_takes<'a>(table: &'a Map<String, Value>, take: Option<&str>) -> Result<&'a [Value], Error> {
    let takes: Vec<(&str, &Map<String, Value>)> =
        TAKE_KEYS.iter().filter_map(|key| table.get(*key)).flat_map(named_takes).collect();
    let find = |wanted: &str| takes.iter().find(|(name, _)| *name == wanted).map(|(_, take)| *take);
    let existing = || takes.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
    let no_entries = || Error::NoEntries { wanted: WANTED };
    // A requested take is never replaced by the active one: the caller wants that take or an error.
    if let Some(name) = take {
        let found = find(name);
        let found = found.ok_or_else(|| Error::NoTake { name: name.to_owned(), existing: existing() })?;
        return list_in(found).ok_or_else(no_entries);
    }
    let active = table.get("active").and_then(Value::as_str);
    if let Some(found) = active.and_then(find) {
        return list_in(found).ok_or_else(no_entries);
    }
    match (list_in(table), active, takes.as_slice()) {
        (Some(list), _, _) => Ok(list),
        (None, Some(name), _) => Err(Error::NoTake { name: name.to_owned(), existing: existing() }),
        (None, None, []) => Err(no_entries()),
        (None, None, [(_, only)]) => list_in(only).ok_or_else(no_entries),
        (None, None, _) => Err(Error::ManyTakes { existing: existing() }),
    }
}

/// Returns takes with their names: from a table keyed by name, or from a list of tables with a `name`.
fn named_takes(takes: &Value) -> Vec<(&str, &Map<String, Value>)> {
    match takes {
        Value::Object(takes) => {
            takes.iter().filter_map(|(name, take)| Some((name.as_str(), take.as_object()?))).collect()
        }
        Value::Array(takes) => {
            let takes = takes.iter().filter_map(Value::as_object);
            takes.filter_map(|take| Some((take.get("name")?.as_str()?, take))).collect()
        }
        _ => Vec::new(),
    }
}

fn list_in(table: &Map<String, Value>) -> Option<&[Value]> {
    LIST_KEYS.iter().find_map(|key| table.get(*key)?.as_array()).map(Vec::as_slice)
}

fn is_entry(table: &Map<String, Value>) -> bool {
    table.contains_key("role") || content_of(table).is_some()
}

/// Returns the message in a line of a coding agent's log: Claude Code has it under `message`, Codex under `payload` (the
/// other kinds of Codex's lines repeat what these have).
fn logged_message(line: &Map<String, Value>) -> Option<&Map<String, Value>> {
    if is_entry(line) {
        return None;
    }
    let is_item = line.get("type").is_some_and(|kind| kind == "response_item");
    let payload = line.get("payload").filter(|_| is_item);
    line.get("message").or(payload)?.as_object()
}

fn content_of(table: &Map<String, Value>) -> Option<&Value> {
    ["content", "parts", "text"].iter().find_map(|key| table.get(*key))
}

/// Returns the text of an entry; `None` if it has none.
fn read_entry(value: &Value) -> Result<Option<DiscussionEntry>, &'static str> {
    let table = match value {
        Value::String(text) => return Ok(entry(None, text)),
        Value::Object(table) => logged_message(table).unwrap_or(table),
        _ => return Err("neither a string nor a table with `role` and `content`"),
    };
    let role = match table.get("role") {
        None | Some(Value::Null) => None,
        // It begins a line, so it must be on a single one.
        Some(Value::String(role)) => Some(collapse_whitespace(role)),
        Some(_) => return Err("`role` is not a string"),
    };
    // Beside messages, there are tool calls and their results, and entries with nothing to show, such as reasoning.
    if role.is_none() && content_of(table).is_none() && table.get("type").is_some_and(Value::is_string) {
        let found = call_or_result(table).and_then(|(role, text)| entry(Some(role.to_owned()), &text?));
        return Ok(found);
    }
    let beside = lines_beside_content(table);
    let mut lines = match content_of(table) {
        // In OpenAI's format, messages that only call tools may have no content, or `null`.
        None | Some(Value::Null) if !beside.is_empty() => Vec::new(),
        None if role.is_none() => return Err("neither `role` nor `content`"),
        None => return Err("no `content`"),
        Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(parts)) => parts.iter().filter_map(part_text).collect(),
        Some(_) => return Err("`content` is neither a string nor a list of parts"),
    };
    lines.extend(beside);
    let role = role.filter(|role| !role.is_empty()).unwrap_or_else(|| UNKNOWN_ROLE.to_owned());
    Ok(entry(Some(role), &lines.join("\n")))
}

/// Returns an entry with its text trimmed; `None` if nothing is left.
fn entry(role: Option<String>, text: &str) -> Option<DiscussionEntry> {
    let content = text.trim().to_owned();
    (!content.is_empty()).then_some(DiscussionEntry { role, content })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(role: &str, content: &str) -> DiscussionEntry {
        let role = (!role.is_empty()).then(|| role.to_owned());
        DiscussionEntry { role, content: content.to_owned() }
    }

    #[track_caller]
    fn check(text: &str, syntax: Option<DataSyntax>, take: Option<&str>, expected: &[(&str, &str)]) {
        let expected: Vec<DiscussionEntry> =
            expected.iter().map(|(role, content)| said(role, content)).collect();
        assert_eq!(read_discussion(text.as_bytes(), syntax, take).unwrap().entries, expected, "{text}");
    }

    #[track_caller]
    fn check_error(text: impl AsRef<[u8]>, syntax: DataSyntax, take: Option<&str>, expected: &str) {
        let error = read_discussion(text.as_ref(), Some(syntax), take).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn entries_are_strings_or_tables() {
        let expected = [("", "User: a"), ("assistant", "b")];
        let list = r#"["User: a", {"role": "assistant", "content": "b"}]"#;
        check(list, Some(DataSyntax::Json), None, &expected);
        check(&format!(r#"{{"messages": {list}, "model": "m"}}"#), Some(DataSyntax::Json), None, &expected);
        check(&format!(r#"{{"history": {list}}}"#), None, None, &expected);
        let lines = "\"User: a\"\n\n{\"role\": \"assistant\", \"content\": \"b\"}\n";
        check(lines, Some(DataSyntax::JsonLines), None, &expected);
        check(lines, None, None, &expected);
        let toml = "history = ['User: a', { role = 'assistant', content = 'b' }]";
        check(toml, Some(DataSyntax::Toml), None, &expected);
        check(toml, None, None, &expected);
        check("[[history]]\nrole = 'u'\ncontent = 'x'", None, None, &[("u", "x")]);
        check("\u{feff}[]", Some(DataSyntax::Json), None, &[]);
    }

    #[test]
    fn texts_are_extracted_from_a_providers_parts() {
        let parts =
            r#"[{"type": "text", "text": "a"}, {"type": "image"}, "b", {"thought": true, "text": "c"}]"#;
        let shown = [("user", "a\n[image]\nb")];
        check(&format!(r#"[{{"role": "user", "content": {parts}}}]"#), None, None, &shown);
        check(&format!(r#"[{{"role": "user", "parts": {parts}}}]"#), None, None, &shown);
        let silent = r#"[{"role": "a", "content": null}, {"role": "a", "content": [{"type": "thinking", "thinking": "x"}]}, "b"]"#;
        let read = read_discussion(silent.as_bytes(), None, None).unwrap();
        assert_eq!((read.entries, read.silent), (vec![said("", "b")], 2));
        check(r#"[{"role": "a\n b", "content": "c"}]"#, None, None, &[("a b", "c")]);
        let empty =
            r#"["", " \n", {"role": "a", "content": ""}, {"role": "a", "parts": [{"text": ""}]}, "b"]"#;
        let read = read_discussion(empty.as_bytes(), None, None).unwrap();
        assert_eq!((read.entries, read.silent), (vec![said("", "b")], 4));
    }

    #[test]
    fn tool_calls_are_lines_and_their_results_are_texts() {
        let anthropic = r#"[
            {"role": "assistant", "content": [{"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "1", "name": "grep", "input": {"q": "a\nb"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "ring.py:12"},
                {"type": "tool_result", "content": [{"type": "text", "text": "two"}, {"type": "image", "source": {}}]}]}]"#;
        let call = "Let me see.\n[tool call: grep {\"q\":\"a\\nb\"}]";
        check(anthropic, None, None, &[("assistant", call), ("user", "ring.py:12\ntwo\n[image]")]);
        let openai = r#"[
            {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "assistant", "tool_calls": [{"id": "2", "function": {"name": "g"}}]},
            {"role": "tool", "tool_call_id": "1", "content": "done"},
            {"type": "function_call", "name": "h", "arguments": "{\"a\": 1}"},
            {"type": "reasoning", "summary": []},
            {"type": "function_call_output", "output": "out"}]"#;
        let (first, second) = (("assistant", "[tool call: f {}]"), ("assistant", "[tool call: g]"));
        let third = ("assistant", "[tool call: h {\"a\": 1}]");
        check(openai, None, None, &[first, second, ("tool", "done"), third, ("tool", "out")]);
        let gemini = r#"[{"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"x": 1}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"r": 2}}}]}]"#;
        check(gemini, None, None, &[("model", "[tool call: f {\"x\":1}]"), ("user", "{\"r\":2}")]);
        let long = format!(
            r#"[{{"role": "a", "content": [{{"type": "tool_use", "name": "n", "input": "{}"}}]}}]"#,
            "x".repeat(900)
        );
        let shown = format!("[tool call: n {}…]", "x".repeat(160));
        check(&long, None, None, &[("a", &shown)]);
    }

    #[test]
    fn messages_are_found_in_the_logs_of_coding_agents() {
        let claude_code = r#"{"type": "summary", "summary": "s"}
            {"type": "user", "message": {"role": "user", "content": "a"}, "uuid": "1"}
            {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "thinking", "thinking": "t"},
            {"type": "tool_use", "name": "Read", "input": {"file_path": "x"}}]}}"#;
        let lines = claude_code.replace("},\n", "},");
        let expected = [("user", "a"), ("assistant", "[tool call: Read {\"file_path\":\"x\"}]")];
        check(&lines, Some(DataSyntax::JsonLines), None, &expected);
        let codex = r#"{"type": "session_meta", "payload": {"id": "1"}}
            {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a"}]}}
            {"type": "event_msg", "payload": {"type": "user_message", "message": "a"}}
            {"type": "response_item", "payload": {"type": "local_shell_call", "action": {"command": ["ls"]}}}
            {"type": "response_item", "payload": {"type": "custom_tool_call_output", "output": "b"}}"#;
        let call = "[tool call: local_shell {\"command\":[\"ls\"]}]";
        check(codex, None, None, &[("user", "a"), ("assistant", call), ("tool", "b")]);
    }

    #[test]
    fn every_part_but_a_thought_leaves_something() {
        let parts = r#"[{"type": "document", "source": {"type": "text", "data": "d"}}, {"type": "document", "source": {}},
            {"type": "refusal", "refusal": "no"}, {"type": "input_audio"}, {"type": "redacted_thinking"},
            {"type": "search_result", "content": [{"type": "text", "text": "s"}]},
            {"executableCode": {"code": "1 + 1"}}, {"codeExecutionResult": {"output": "2"}}, {"fileData": {}}]"#;
        let shown = [("a", "d\n[document]\nno\n[input_audio]\ns\n1 + 1\n2\n[file]")];
        check(&format!(r#"[{{"role": "a", "content": {parts}}}]"#), None, None, &shown);
        let older = r#"[{"role": "a", "content": null, "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "a", "content": null, "refusal": "no"}]"#;
        check(older, None, None, &[("a", "[tool call: f {}]"), ("a", "no")]);
    }

    #[test]
    fn a_take_is_the_one_that_is_named_or_active() {
        let takes = "active = 'two'\n[takes.one]\nhistory = ['1']\n[takes.two]\nhistory = ['2']\n";
        check(takes, Some(DataSyntax::Toml), None, &[("", "2")]);
        check(takes, Some(DataSyntax::Toml), Some("one"), &[("", "1")]);
        let inactive = takes.replace("active = 'two'", "");
        check_error(&inactive, DataSyntax::Toml, None, "several takes, and none is chosen: `one`, `two`");
        check_error(takes, DataSyntax::Toml, Some("three"), "no take `three`, the takes are: `one`, `two`");
        check_error("[]", DataSyntax::Json, Some("one"), "no take `one`, the takes are: none");
        check("history = ['0']\n[takes.one]\nhistory = ['1']", Some(DataSyntax::Toml), None, &[("", "0")]);
        check("[discussions.only]\nhistory = ['1']", Some(DataSyntax::Toml), None, &[("", "1")]);
        let nested = "[discussion]\nactive = 'main'\n[discussion.discussions.main]\nhistory = ['m']";
        check(nested, Some(DataSyntax::Toml), None, &[("", "m")]);
        let listed = "[[takes]]\nname = 'one'\nhistory = ['1']\n[[takes]]\nname = 'two'\nhistory = ['2']";
        check(listed, Some(DataSyntax::Toml), Some("two"), &[("", "2")]);
        let gone = takes.replace("'two'", "'gone'");
        check_error(&gone, DataSyntax::Toml, None, "no take `gone`, the takes are: `one`, `two`");
    }

    #[test]
    fn errors_name_the_invalid_entry() {
        check_error(r#"["a", 3]"#, DataSyntax::Json, None, "entry 2: neither");
        check_error(r#"[{"role": "u"}]"#, DataSyntax::Json, None, "entry 1: no `content`");
        check_error(r#"[{"foo": 1}]"#, DataSyntax::Json, None, "entry 1: neither `role` nor `content`");
        check_error(r#"[{"content": 1}]"#, DataSyntax::Json, None, "entry 1: `content`");
        check_error(r#"{"a": []}"#, DataSyntax::Json, None, "no entries: expected a list");
        check_error("[1,", DataSyntax::Json, None, "not valid JSON: EOF while parsing");
        check_error("\"a\"\n{\n", DataSyntax::JsonLines, None, "not valid JSONL: line 2:");
        check_error("a = 1\nb = [", DataSyntax::Toml, None, "not valid TOML: line 2:");
        check_error(b"\"a\"\n\"\xff\"", DataSyntax::JsonLines, None, "line 2 is not UTF-8");
        let error = read_discussion(b"what is this?", None, None).unwrap_err().to_string();
        assert_eq!(error, "not JSON, JSONL or TOML");
    }

    #[test]
    fn deep_nesting_is_refused() {
        let deep = 100_000;
        check_error("[".repeat(deep), DataSyntax::Json, None, "recursion limit");
        check_error("[".repeat(deep), DataSyntax::JsonLines, None, "recursion limit");
        check_error(format!("history = {}", "[".repeat(deep)), DataSyntax::Toml, None, "not valid TOML");
        check_error(format!("{}history = 1", "a.".repeat(deep)), DataSyntax::Toml, None, "not valid TOML");
    }
}

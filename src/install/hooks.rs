//! The input that agents send to their hooks, and the output that they expect.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::agents::{CodingAgent, HookAnswer};
use super::hook_event::HookEvent;

/// The names of keys in different agents.
const SESSION: &[&str] = &["session_id", "sessionId", "conversation_id"];
const FILE: &[&str] = &["file_path", "filePath", "absolute_path", "path"];
const RANGE: &[&str] = &["offset", "limit", "startLine", "endLine", "start_line", "end_line"];
/// The tools that show a file to the model, in Claude Code and in versions of VS Code.
const READERS: &[&str] = &["Read", "read_file", "readFile", "copilot_readFile"];

/// The input of a hook.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HookInput {
    /// The id of the session.
    pub session: Option<String>,
    /// The folder that the agent works in.
    pub folder: Option<PathBuf>,
    /// The file that a tool is about to open.
    pub file: Option<String>,
    /// Whether the tool shows the whole file to the model.
    pub reads_whole_file: bool,
}

impl HookInput {
    /// Parses the standard input of a hook.
    pub fn parse(bytes: &[u8]) -> serde_json::Result<Self> {
        let sent: Value = serde_json::from_slice(bytes)?;
        let text = |value: &Value, names: &[&str]| {
            let found = names.iter().find_map(|name| value.get(name)?.as_str());
            found.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let folder = text(&sent, &["cwd"]);
        let folder = folder.or_else(|| sent.get("workspace_roots")?.get(0)?.as_str().map(str::to_owned));
        let input = sent.get("tool_input").unwrap_or(&Value::Null);
        let is_part = RANGE.iter().any(|name| input.get(name).is_some_and(|value| !value.is_null()));
        let reader = text(&sent, &["tool_name"]).is_some_and(|tool| READERS.contains(&tool.as_str()));
        Ok(Self {
            session: text(&sent, SESSION),
            folder: folder.map(PathBuf::from),
            file: text(input, FILE),
            reads_whole_file: reader && !is_part,
        })
    }
}

/// Returns the output with which the agent passes a text to the model; `None` if it does not run this hook.
pub fn hook_answer(agent: &CodingAgent, event: HookEvent, text: &str) -> Option<Value> {
    let form = agent.hooks.as_ref()?;
    let binding = form.events.iter().find(|binding| binding.hook == event)?;
    Some(match form.answer {
        HookAnswer::Specific => {
            json!({"hookSpecificOutput": {"hookEventName": binding.event, "additionalContext": text}})
        }
        HookAnswer::Plain => json!({"additional_context": text}),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn parse(sent: &Value) -> HookInput {
        HookInput::parse(sent.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn each_agents_input_is_understood() {
        let claude = parse(&json!({
            "session_id": "s", "cwd": "/p", "hook_event_name": "PreToolUse", "tool_name": "Read",
            "tool_input": {"file_path": "/p/a.rs"},
        }));
        let read = HookInput {
            session: Some("s".to_owned()),
            folder: Some(PathBuf::from("/p")),
            file: Some("/p/a.rs".to_owned()),
            reads_whole_file: true,
        };
        assert_eq!(claude, read);
        let vscode = parse(&json!({
            "sessionId": "s", "cwd": "/p", "tool_name": "read_file", "tool_input": {"filePath": "/p/a.rs"},
        }));
        assert_eq!(vscode, read);
        let cursor = parse(&json!({"conversation_id": "s", "workspace_roots": ["/p"]}));
        assert_eq!(cursor, HookInput { file: None, reads_whole_file: false, ..read });
    }

    #[test]
    fn an_edit_or_a_partial_read_is_not_a_read_of_the_whole_file() {
        for (tool, input) in [
            ("Edit", json!({"file_path": "a"})),
            ("Read", json!({"file_path": "a", "offset": 5})),
            ("read_file", json!({"filePath": "a", "startLine": 1, "endLine": 9})),
        ] {
            let parsed = parse(&json!({"tool_name": tool, "tool_input": input}));
            assert!(parsed.file.as_deref() == Some("a") && !parsed.reads_whole_file, "{tool}");
        }
    }

    #[test]
    fn unexpected_input_is_an_error_or_ignored() {
        assert!(HookInput::parse(b"").is_err());
        assert!(HookInput::parse(b"{").is_err());
        for sent in ["[]", "1", "{\"tool_input\": 1, \"cwd\": 2, \"workspace_roots\": {}}"] {
            assert_eq!(HookInput::parse(sent.as_bytes()).unwrap(), HookInput::default());
        }
    }

    #[test]
    fn the_answer_has_the_form_that_the_agent_expects() {
        let answer = |agent, event| hook_answer(CodingAgent::named(agent).unwrap(), event, "text");
        assert_eq!(
            answer("claude-code", HookEvent::Read),
            Some(json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "text"}}))
        );
        assert_eq!(
            answer("claude-code", HookEvent::Compacted),
            Some(
                json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "text"}})
            )
        );
        assert_eq!(answer("cursor", HookEvent::SessionStart), Some(json!({"additional_context": "text"})));
        assert_eq!(answer("cursor", HookEvent::Read), None);
        assert_eq!(answer("zed", HookEvent::SessionStart), None);
    }
}

//! `slop install` and `slop uninstall`, on the settings files of agents.

use std::fs;

use super::sandbox::{Sandbox, data, list, number, run, text};

#[test]
fn agents_are_set_up_after_confirmation_and_restored() {
    let sandbox = Sandbox::new();
    let servers = "{\n\t// mine\n\t\"mcpServers\": { },\n}";
    sandbox.write(".mcp.json", servers);
    let read = || fs::read_to_string(sandbox.path(".mcp.json")).unwrap();
    let refused = sandbox.slop(&["install", "claude-code"]);
    assert!(
        refused.code == 1 && refused.out.contains("edit ") && refused.err.contains("--yes"),
        "{refused:?}"
    );
    let shown = sandbox.stdout_of(&["install", "claude-code", "--dry-run"]);
    assert!(shown.contains("+\t\t\"slop\": {") && read() == servers, "{shown}");
    let written = sandbox.json(&["install", "claude-code", "--yes"]);
    let edited = list(&written["files"]).find(|file| text(&file["path"]).ends_with(".mcp.json")).unwrap();
    assert_eq!(edited["action"], "edit", "{written}");
    assert!(
        read().contains("\"command\": \"slop\"") && sandbox.path(".claude/skills/slop/SKILL.md").exists()
    );
    sandbox.stdout_of(&["uninstall", "--yes"]);
    assert_eq!(read(), servers);
    assert!(!sandbox.path(".claude").exists());
}

#[test]
fn doctor_reports_what_has_to_be_repaired() {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", "def run():\n    return 1\n");
    let healthy = sandbox.json(&["doctor"]);
    assert_eq!(healthy["problems"], serde_json::json!([]), "{healthy}");
    assert!((100..=1_400).contains(&number(&healthy["tokens"]["tools"])), "{healthy}");
    sandbox.stdout_of(&["install", "claude-code", "--yes"]);
    sandbox.write(".claude/skills/slop/SKILL.md", "mine");
    fs::remove_file(sandbox.path(".claude/skills/slop/SKILL.md")).unwrap();
    let doctor = sandbox.slop(&["doctor", "--json"]);
    assert_eq!(doctor.code, 1, "{doctor:?}");
    let problems = data(&doctor.out)["problems"].to_string();
    assert!(problems.contains("SKILL.md no longer has the file"), "{problems}");
    assert!(problems.contains("`slop install claude-code` writes it again"), "{problems}");
    assert!(
        problems.contains("names the program slop, which does not exist; put it on the PATH"),
        "{problems}"
    );
}

#[test]
fn the_repair_that_doctor_names_is_for_the_same_files() {
    let sandbox = Sandbox::new();
    sandbox.stdout_of(&["install", "claude-code", "--user", "--yes"]);
    fs::remove_file(sandbox.outside("home/.claude/skills/slop/SKILL.md")).unwrap();
    let doctor = sandbox.slop(&["doctor"]);
    assert!(doctor.out.contains("`slop install claude-code --user` writes it again"), "{doctor:?}");
    sandbox.stdout_of(&["install", "claude-code", "--user", "--yes"]);
    assert_eq!(sandbox.json(&["doctor"])["problems"], serde_json::json!([]));
}

#[test]
fn one_broken_file_hides_no_other_from_doctor_and_uninstall() {
    let sandbox = Sandbox::new();
    sandbox.stdout_of(&["install", "claude-code", "codex", "--yes"]);
    sandbox.write(".mcp.json", "{bad");
    let doctor = sandbox.slop(&["doctor"]);
    assert!(doctor.out.contains("codex") && doctor.out.contains(".mcp.json:1: not JSON"), "{doctor:?}");
    let uninstalled = sandbox.slop(&["uninstall", "--yes"]);
    assert!(uninstalled.code == 4 && uninstalled.err.contains(".mcp.json:1: not JSON"), "{uninstalled:?}");
    assert!(!sandbox.path(".codex").exists() && sandbox.path(".mcp.json").exists());
    // With nothing else to do, it is an error with a hint.
    sandbox.slop(&["uninstall", "--yes"]).assert_fails(1, &["not JSON", "fix the file"]);
}

#[test]
fn hooks_return_the_overview_the_skeleton_and_the_open_files() {
    let sandbox = Sandbox::new();
    sandbox.write("README.md", "# Station\n\nMeasures the weather.\n");
    let body = "    b = a + 1\n".repeat(20);
    let function = |n| format!("def run_{n}(a):\n{body}    return b\n\n");
    let large = (0..200).map(function).collect::<Vec<_>>().concat();
    sandbox.write("large.py", large);
    let hook = |event: &str, input: &str| {
        let script = format!("printf '%s' '{input}' | \"$SLOP\" hook {event} --agent claude-code");
        let ran = run(sandbox.script(&script));
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.out
    };
    let head = hook("session-start", r#"{"session_id": "s", "source": "startup"}"#);
    assert!(
        head.contains("\"additionalContext\":\"- Project: Station\\n- About: Measures the weather."),
        "{head}"
    );
    let read = r#"{"session_id": "s", "tool_name": "Read", "tool_input": {"file_path": "large.py"}}"#;
    let offered = hook("read", read);
    assert!(offered.contains("large.py has about ") && offered.contains("PreToolUse"), "{offered}");
    assert_eq!(hook("read", read), "", "it is offered once");
    let compacted = hook("compacted", r#"{"session_id": "s", "source": "compact"}"#);
    assert!(compacted.contains("### large.py") && !compacted.contains("return b"), "{compacted}");
    // Whatever happens, the agent goes on.
    assert_eq!(hook("read", "no JSON"), "");
    assert_eq!(hook("of-another-version", "{}"), "");
    sandbox.write("slop.toml", "broken = ");
    assert_eq!(hook("session-start", "{}"), "");
}

//! `slop install` and `slop uninstall`, on the settings files of agents.

use std::fs;

use super::sandbox::Sandbox;

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
    assert_eq!(written["files"][1]["action"], "edit", "{written}");
    assert!(
        read().contains("\"command\": \"slop\"") && sandbox.path(".claude/skills/slop/SKILL.md").exists()
    );
    sandbox.stdout_of(&["uninstall", "--yes"]);
    assert_eq!(read(), servers);
    assert!(!sandbox.path(".claude").exists());
}

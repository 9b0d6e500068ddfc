//! The Agent Skill: when to use slop, for agents that read such files (<https://agentskills.io/specification>).

/// The text of `SKILL.md`. Agents always see its description, and the rest when they use it.
pub const SKILL: &str = include_str!("skill.md");

/// Returns the part of the skill that agents always see: its name and description.
pub fn skill_description() -> &'static str {
    SKILL.split("---").nth(1).unwrap_or_default().trim()
}

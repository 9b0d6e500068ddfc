//! The Agent Skill: when to use slop, for agents that read such files (<https://agentskills.io/specification>).

/// The text of `SKILL.md`. Agents always see its description, and the rest when they choose it.
pub const SKILL: &str = include_str!("skill.md");

//! The arguments of `install` and `uninstall`, and of the hooks that they write.

use clap::Args as Arguments;
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser};

use crate::install::{AGENTS, HookEvent};

/// Arguments of `install`.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, Arguments)]
pub struct InstallArgs {
    /// The agents [default: those that have been used on this machine or in the project]
    #[arg(value_name = "AGENT", value_parser = agent_names(), conflicts_with = "all")]
    pub agents: Vec<String>,
    /// Set up every agent
    #[arg(long)]
    pub all: bool,
    /// Set up the agents for you, in all projects [default: for everyone, in this project]
    ///
    /// Without it, files in the project's folder are written, which are shared with the project. Windsurf, Cline and
    /// Zed support no servers for single projects.
    #[arg(long)]
    pub user: bool,
    /// Show what would be written, without writing it
    #[arg(long)]
    pub dry_run: bool,
    /// Write without confirmation
    #[arg(long, conflicts_with = "dry_run")]
    pub yes: bool,
}

/// Arguments of `uninstall`.
#[derive(Debug, Arguments)]
pub struct UninstallArgs {
    /// The agents [default: all]
    #[arg(value_name = "AGENT", value_parser = agent_names())]
    pub agents: Vec<String>,
    /// Leave the project's files unchanged
    #[arg(long)]
    pub user: bool,
    /// Show what would be written, without writing it
    #[arg(long)]
    pub dry_run: bool,
    /// Write without confirmation
    #[arg(long, conflicts_with = "dry_run")]
    pub yes: bool,
}

/// Arguments of `hook`.
#[derive(Debug, Arguments)]
pub struct HookArgs {
    /// What has happened in the agent's session
    #[arg(value_name = "EVENT")]
    pub event: HookEvent,
    /// The agent that runs the hook
    #[arg(long, value_name = "AGENT", value_parser = agent_names())]
    pub agent: String,
}

impl ValueEnum for HookEvent {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()))
    }
}

fn agent_names() -> PossibleValuesParser {
    PossibleValuesParser::new(AGENTS.iter().map(|agent| agent.name))
}

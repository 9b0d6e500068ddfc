//! The arguments of `install` and `uninstall`.

use clap::Args as Arguments;
use clap::builder::PossibleValuesParser;

use crate::install::AGENTS;

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
    /// Set up the agents for you, in all projects [default: for everybody, in this project]
    ///
    /// Without it, files in the project's folder are written, which others get with it. Windsurf, Cline and Zed have no
    /// servers for single projects.
    #[arg(long)]
    pub user: bool,
    /// Show what would be written, and write nothing
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
    /// Leave the project's files as they are
    #[arg(long)]
    pub user: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Write without confirmation
    #[arg(long, conflicts_with = "dry_run")]
    pub yes: bool,
}

fn agent_names() -> PossibleValuesParser {
    PossibleValuesParser::new(AGENTS.iter().map(|agent| agent.name))
}

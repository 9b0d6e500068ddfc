//! Declarations of the sub-agent's commands, `summarize` and `agent`.

use clap::{Args as Arguments, Subcommand};

use super::values::file_word;

/// Arguments of `summarize`.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, Arguments)]
pub struct SummarizeArgs {
    /// Files, folders or patterns [default: the whole project]
    #[arg(value_name = "PATH", value_parser = file_word())]
    pub files: Vec<String>,
    /// Write summaries for this tier: 1 (one or two sentences) or 2 (a paragraph) [setting: agent.tiers]
    #[arg(long = "tier", value_name = "N", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub tiers: Vec<u8>,
    /// Use the preferred models of this persona from your own settings file
    #[arg(long, value_name = "NAME")]
    pub persona: Option<String>,
    /// Show what would be asked, what would leave the machine and what it may cost, without sending anything
    #[arg(long, conflicts_with = "yes")]
    pub estimate: bool,
    /// Ask again about files that a model declined to summarize
    #[arg(long)]
    pub retry: bool,
    /// Do not ask for confirmation
    #[arg(long)]
    pub yes: bool,
    /// Submit all requests as one batch, at half the price; results arrive within a day
    ///
    /// Run the same command again to fetch the results; any other `slop summarize` fetches them too. Not all providers
    /// support batches.
    #[arg(long)]
    pub batch: bool,
}

/// Arguments of `agent`.
#[derive(Debug, Arguments)]
pub struct AgentArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub command: AgentCommand,
}

/// The subcommands of `agent`.
#[derive(Debug, Subcommand)]
pub enum AgentCommand {
    /// Print the request that would be sent about a file or a folder, without sending it
    ///
    /// Standard output is the body of the request, byte for byte; the address and the headers, with keys redacted, go
    /// to standard error. If the file would not be sent, prints the reason and exits with code 1.
    Preview {
        /// A file or a folder
        #[arg(value_name = "PATH", value_parser = file_word())]
        file: String,
        /// Write summaries for this tier: 1 or 2 [setting: agent.tiers]
        #[arg(long = "tier", value_name = "N", value_parser = clap::value_parser!(u8).range(1..=2))]
        tiers: Vec<u8>,
        /// Use the preferred models of this persona from your own settings file
        #[arg(long, value_name = "NAME")]
        persona: Option<String>,
    },
    /// Show calls and costs by day and model
    Usage,
    /// Show the summaries that models wrote of a file, a folder or the project (.)
    ///
    /// Without a path, shows those of the project and of its top-level folders.
    Show {
        /// A file or a folder
        #[arg(value_name = "PATH", value_parser = file_word())]
        file: Option<String>,
        /// Include everything in the folder
        #[arg(long)]
        all: bool,
        /// Show only what was written for this tier: 1 or 2
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=2))]
        tier: Option<u8>,
    },
    /// List the providers with their addresses, and whether an API key is set
    Providers,
}

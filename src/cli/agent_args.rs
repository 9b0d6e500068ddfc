//! The sub-agent's commands, declared: `summarize` and `agent`.

use clap::Args as Arguments;
use clap::Subcommand;

/// Arguments of `summarize`.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, Arguments)]
pub struct SummarizeArgs {
    /// Files, folders or patterns; without any, the whole project
    #[arg(value_name = "PATH")]
    pub files: Vec<String>,
    /// Write for this tier: 1 (a sentence or two) or 2 (a paragraph); the setting is agent.tiers
    #[arg(long = "tier", value_name = "N", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub tiers: Vec<u8>,
    /// Ask the preferred models of this persona, of your own settings file
    #[arg(long, value_name = "NAME")]
    pub persona: Option<String>,
    /// Say what would be asked, what leaves the machine and what it may cost, and ask nobody
    #[arg(long, conflicts_with = "yes")]
    pub estimate: bool,
    /// Ask again where a model would not answer
    #[arg(long)]
    pub retry: bool,
    /// Ask without a question on the terminal
    #[arg(long)]
    pub yes: bool,
    /// Hand all questions over at once, for half the price: the answers come within a day
    ///
    /// The same command brings them home, however often it is run, and so does every other run. Only some providers take batches.
    #[arg(long)]
    pub batch: bool,
}

/// Arguments of `agent`.
#[derive(Debug, Arguments)]
pub struct AgentArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: AgentCommand,
}

/// What can be asked about the sub-agent.
#[derive(Debug, Subcommand)]
pub enum AgentCommand {
    /// Print the bytes that would be sent about a file or a folder, and send nothing
    ///
    /// The standard output is the body of the request, byte for byte; the address and the headers, with keys hidden, go
    /// to the standard error. Exits with 1 where the file would not be sent, and says why.
    Preview {
        /// A file or a folder
        #[arg(value_name = "PATH")]
        file: String,
        /// Write for this tier: 1 or 2; the setting is agent.tiers
        #[arg(long = "tier", value_name = "N", value_parser = clap::value_parser!(u8).range(1..=2))]
        tiers: Vec<u8>,
        /// Ask the preferred models of this persona, of your own settings file
        #[arg(long, value_name = "NAME")]
        persona: Option<String>,
    },
    /// Say what was asked, day by day and model by model, and what it has cost
    Usage,
    /// Show what models wrote about a file, a folder or the project (.)
    ///
    /// Without a path about the project and the folders that lie in its root.
    Show {
        /// A file or a folder
        #[arg(value_name = "PATH")]
        file: Option<String>,
        /// Also about all that lies in the folder
        #[arg(long)]
        all: bool,
        /// Show what was written for this tier alone: 1 or 2
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=2))]
        tier: Option<u8>,
    },
    /// List who can be asked, where they are, and whether there is a key
    Providers,
}

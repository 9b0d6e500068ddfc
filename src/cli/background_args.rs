//! Declarations of the commands of the sub-agent, `summarize` and `agent`, and of the daemon, `watch` and `daemon`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use clap::{Args as Arguments, Subcommand};

use super::values::{file_word, whole_number};

/// Arguments of `ui`.
#[derive(Debug, Clone, Copy, Arguments)]
pub struct UiArgs {
    /// Print the address without opening a browser
    #[arg(long)]
    pub print: bool,
}

/// Arguments of `summarize`.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, Arguments)]
pub struct SummarizeArgs {
    /// Files, folders or patterns [default: the whole project]
    #[arg(value_name = "PATH", value_parser = file_word())]
    pub files: Vec<String>,
    /// Write summaries for this tier: 1 (one or two sentences) or 2 (a paragraph) [setting: agent.tiers]
    #[arg(long = "tier", value_name = "N", value_parser = whole_number::<u8>(1..=2))]
    pub tiers: Vec<u8>,
    /// Use the preferred models of this persona from your own settings file
    #[arg(long, value_name = "NAME")]
    pub persona: Option<String>,
    /// Show which requests would be made, what they would send and what they may cost, without sending anything
    #[arg(long, conflicts_with = "yes")]
    pub estimate: bool,
    /// Retry files that a model declined to summarize
    #[arg(long)]
    pub retry: bool,
    /// Do not ask for confirmation
    #[arg(long)]
    pub yes: bool,
    /// Do not use the team's cache
    #[arg(long)]
    pub no_share: bool,
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
    #[command(after_help = "Example:
  slop agent preview src/engine.py --tier 1")]
    Preview {
        /// A file or a folder
        #[arg(value_name = "PATH", value_parser = file_word())]
        file: String,
        /// Write summaries for this tier: 1 or 2 [setting: agent.tiers]
        #[arg(long = "tier", value_name = "N", value_parser = whole_number::<u8>(1..=2))]
        tiers: Vec<u8>,
        /// Use the preferred models of this persona from your own settings file
        #[arg(long, value_name = "NAME")]
        persona: Option<String>,
    },
    /// Show calls and costs by day and model
    #[command(after_help = "Example:
  slop agent usage")]
    Usage,
    /// Show the stored model summaries of a file, a folder or the project (.)
    ///
    /// Without a path, shows those of the project and of its top-level folders.
    #[command(after_help = "Example:
  slop agent show src")]
    Show {
        /// A file or a folder
        #[arg(value_name = "PATH", value_parser = file_word())]
        file: Option<String>,
        /// Include everything in the folder
        #[arg(long)]
        all: bool,
        /// Show only what was written for this tier: 1 or 2
        #[arg(long, value_name = "N", value_parser = whole_number::<u8>(1..=2))]
        tier: Option<u8>,
    },
    /// List the providers with their addresses, and whether an API key is set
    #[command(after_help = "Example:
  slop agent providers")]
    Providers,
}

/// Arguments of `watch`.
#[derive(Debug, Clone, Default, Arguments)]
pub struct WatchArgs {
    /// Also listen on this loopback address, such as 127.0.0.1:7878
    ///
    /// Port 0 picks a free port. Clients must send the token stored, with the address, in daemon.listen in the cache
    /// folder, which only the user can read.
    #[arg(long, value_name = "ADDRESS", value_parser = loopback)]
    pub listen: Option<SocketAddr>,
    /// Hash every file of every answer, and report missed changes
    ///
    /// Answers are always made from the current bytes. `slop daemon status` shows how many changes the timestamps or
    /// the watcher had missed.
    #[arg(long)]
    pub paranoid: bool,
    /// Detach from the terminal; used by `slop daemon start`.
    // Hidden, because users should run `daemon start`, which also waits until the daemon answers.
    #[arg(long, hide = true)]
    pub detached: bool,
}

/// Arguments of `daemon`.
#[derive(Debug, Arguments)]
pub struct DaemonArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub command: DaemonCommand,
}

/// The subcommands of `daemon`.
#[derive(Debug, Subcommand)]
pub enum DaemonCommand {
    /// Start the daemon in the background, unless it is running
    #[command(after_help = "Example:
  slop daemon start")]
    Start(WatchArgs),
    /// Stop the daemon if it is running
    #[command(after_help = "Example:
  slop daemon stop")]
    Stop,
    /// Restart the daemon
    #[command(after_help = "Example:
  slop daemon restart")]
    Restart(WatchArgs),
    /// Show the daemon's status
    ///
    /// The exit code is 1 if no daemon is running, and 3 if one is running but does not answer.
    #[command(after_help = "Example:
  slop daemon status")]
    Status {
        /// Also show how long the steps of answers have taken since the daemon was started
        ///
        /// For each step: how often it was done, the median, the 99th percentile, the longest time and the sum. Some
        /// steps contain others: an answer contains all of them.
        #[arg(long)]
        spans: bool,
    },
    /// Print the daemon's most recent log output
    #[command(after_help = "Example:
  slop daemon logs -n 200")]
    Logs {
        /// Number of lines to print
        #[arg(long, short = 'n', value_name = "N", default_value_t = 50, value_parser = whole_number::<usize>(0..))]
        lines: usize,
    },
    /// Print a systemd unit that keeps the daemon running
    ///
    /// It is a user unit: save it in ~/.config/systemd/user/ and enable it with systemctl --user.
    #[command(after_help = "Example:
  slop daemon unit > ~/.config/systemd/user/slop.service")]
    Unit,
}

fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr =
        text.parse().map_err(|_| "expected an address and a port, such as 127.0.0.1:7878".to_owned())?;
    // Other loopback addresses are rejected: only these two are safe from DNS rebinding in browsers.
    if [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)].contains(&address.ip()) {
        return Ok(address);
    }
    Err("not a loopback address: expected 127.0.0.1 or [::1]".to_owned())
}

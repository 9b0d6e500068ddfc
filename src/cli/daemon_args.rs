//! Declarations of the daemon's commands and their flags.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use clap::{Args as Arguments, Subcommand};

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
    Start(WatchArgs),
    /// Stop the daemon if it is running
    Stop,
    /// Restart the daemon
    Restart(WatchArgs),
    /// Show the daemon's status
    ///
    /// The exit code is 1 if no daemon is running, and 3 if one is running but does not answer.
    Status,
    /// Print the daemon's most recent log output
    Logs {
        /// Number of lines to print
        #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
        lines: usize,
    },
    /// Print a systemd unit that keeps the daemon running
    ///
    /// It is a user unit: save it in ~/.config/systemd/user/ and enable it with systemctl --user.
    Unit,
}

fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr =
        text.parse().map_err(|_| "expected an address and a port, such as 127.0.0.1:7878".to_owned())?;
    // Other loopback addresses are refused: DNS rebinding cannot lead a browser to these two.
    if [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)].contains(&address.ip()) {
        return Ok(address);
    }
    Err("not a loopback address: expected 127.0.0.1 or [::1]".to_owned())
}

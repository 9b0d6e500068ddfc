//! The flags of the daemon's commands, declared.

use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::Ipv6Addr;
use std::net::SocketAddr;

use clap::Args as Arguments;
use clap::Subcommand;

/// Arguments of `watch`.
#[derive(Debug, Clone, Default, Arguments)]
pub struct WatchArgs {
    /// Listen on this address of the machine itself too, as in 127.0.0.1:7878
    ///
    /// Port 0 takes one that is free. Who asks there has to know the word that is written, with the address, to
    /// daemon.listen in the cache folder, which the user alone can read.
    #[arg(long, value_name = "ADDRESS", value_parser = loopback)]
    pub listen: Option<SocketAddr>,
    /// Hash every file of every answer, and say where a stamp or an event was wrong
    ///
    /// Answers are made from the bytes that are there. `slop daemon status` counts the mistakes that were found.
    #[arg(long)]
    pub paranoid: bool,
    /// Leave the terminal; for `slop daemon start`.
    #[arg(long, hide = true)]
    pub detached: bool,
}

/// Arguments of `daemon`.
#[derive(Debug, Arguments)]
pub struct DaemonArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: DaemonCommand,
}

/// What can be done with the daemon.
#[derive(Debug, Subcommand)]
pub enum DaemonCommand {
    /// Start it in the background, unless it runs
    Start(WatchArgs),
    /// Stop it, if it runs
    Stop,
    /// Stop it and start it again
    Restart(WatchArgs),
    /// Say how it is
    ///
    /// Exits with 1 where none runs, and with 3 where one is there and does not answer.
    Status,
    /// Print what it said last in the background
    Logs {
        /// So many lines
        #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
        lines: usize,
    },
    /// Print a unit for systemd, to keep it running
    ///
    /// A user unit: put it into ~/.config/systemd/user/ and enable it with systemctl --user.
    Unit,
}

fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr =
        text.parse().map_err(|_| "give an address and a port, as in 127.0.0.1:7878".to_owned())?;
    // Of all that lead here, these are the names that a browser cannot be led to from elsewhere.
    if [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)].contains(&address.ip()) {
        return Ok(address);
    }
    Err("only the machine itself is listened to: give 127.0.0.1 or [::1]".to_owned())
}

//! `slop ui`.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;

use super::context::CommandContext;
use super::daemon;
use crate::api::PageTicket;
use crate::cli::background_args::UiArgs;
use crate::cli::failure::CommandError;
use crate::cli::location::{Desktop, ProcessEnvironment};
use crate::daemon::page_ticket;
use crate::sys::run_viewer;

/// Programs that open an address in the user's browser: on a desktop, in the Windows subsystem for Linux, and on GNOME.
const OPENERS: [&[&str]; 3] = [&["xdg-open"], &["wslview"], &["gio", "open"]];

/// How long to wait for a failure of a program. One that still runs then is the browser itself.
const FAILURE_WINDOW: Duration = Duration::from_secs(2);

/// Starts the daemon if none runs, and opens the page that it serves.
pub(super) fn run(
    args: UiArgs,
    environment: &ProcessEnvironment,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    let paths = context.daemon_paths();
    daemon::ensure_running(&paths, environment, context)?;
    let PageTicket { url, expires_in_s } = page_ticket(&paths)?;
    let desktop = Desktop::read();
    let mut opened_by = None;
    if !args.print && desktop.has_display {
        opened_by = open(&url, &desktop, context);
        if opened_by.is_none() {
            context.output.note("no browser could be opened: open the address by hand");
        }
    }
    if let Some(port) = port_of(&url)
        && desktop.is_remote
    {
        let host = desktop.host.as_deref().unwrap_or("HOST");
        context.output.note(&format!(
            "to open it on the machine that you sit at, run this there first: ssh -L {port}:127.0.0.1:{port} {host}"
        ));
    }
    let value = json!({"url": url, "expires_in_s": expires_in_s, "opened_by": opened_by});
    context.write_result(&value, &url)
}

fn port_of(url: &str) -> Option<u16> {
    let address = url.strip_prefix("http://")?.split('/').next()?;
    address.parse::<SocketAddr>().ok().map(|address| address.port())
}

/// Opens an address in a browser, and returns the program that did.
fn open(url: &str, desktop: &Desktop, context: &CommandContext<'_>) -> Option<String> {
    let chosen = desktop.browsers.iter().map(|command| command.split_whitespace().collect::<Vec<_>>());
    let openers = OPENERS.iter().map(|command| command.to_vec());
    chosen.chain(openers).find_map(|command| {
        let (program, rest) = command.split_first()?;
        let mut arguments: Vec<String> = rest.iter().map(|argument| argument.replace("%s", url)).collect();
        if !rest.iter().any(|argument| argument.contains("%s")) {
            arguments.push(url.to_owned());
        }
        let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        let has_started = run_viewer(program, &arguments, &context.location.root, FAILURE_WINDOW);
        has_started.is_ok_and(|started| started).then(|| (*program).to_owned())
    })
}

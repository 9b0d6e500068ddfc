//! `slop mcp`

use std::sync::Arc;

use crate::api::{ApiError, McpInfo, VERSION, serve_mcp};
use crate::cli::args::CliArgs;
use crate::cli::environment::ProcessEnvironment;
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::cli::place::ProjectLocation;
use crate::daemon::DaemonOrLocal;
use crate::model::error_chain;
use crate::service::LocalService;

/// Serves one client until it disconnects. Standard output carries the protocol, so that nothing else may hold its
/// lock.
pub(in crate::cli) fn run(args: &CliArgs, environment: ProcessEnvironment) -> Result<u8, CommandError> {
    let place = ProjectLocation::find(args.global.project.as_deref(), &environment.current_folder)?;
    let info =
        McpInfo { root: place.root.clone(), version: VERSION, require_fresh: args.global.require_fresh };
    let without_daemon = args.global.no_daemon || environment.without_daemon();
    // Settings are read with the first question: a client waits for a server to start, and a mistake in them is
    // better reported to the agent than lost.
    let local = LocalService::new(place.root, environment.sources);
    let service = DaemonOrLocal::new(local, environment.runtime, without_daemon);
    serve_mcp(Arc::new(service), info).map_err(|error| {
        let message = format!("connection to the MCP client failed: {}", error_chain(&error));
        let hint =
            "let a client of the Model Context Protocol start `slop mcp`; it is not for people to type to";
        ApiError::environment("mcp_failed", message, hint)
    })?;
    Ok(failure::DONE)
}

//! `slop mcp`

use std::sync::Arc;

use super::mcp_service;
use crate::api::Fault;
use crate::api::Kind;
use crate::api::McpInfo;
use crate::api::serve_mcp;
use crate::cli::args::Args;
use crate::cli::environment::Environment;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::cli::place::Place;

/// Serves one client until it leaves. The standard output is the protocol's alone, so that nobody may hold it.
pub(in crate::cli) fn run(args: &Args, environment: Environment) -> Result<u8, Failure> {
    let place = Place::find(args.global.project.as_deref(), &environment.current_folder)?;
    let info = McpInfo { root: place.root.clone(), version: env!("CARGO_PKG_VERSION") };
    // Settings are read with the first question: a client waits for a server to start, and a mistake in them is
    // better told to the agent than to nobody.
    let service = mcp_service::service(place, environment);
    serve_mcp(Arc::new(service), info).map_err(|error| Fault {
        code: "mcp_failed",
        message: format!("serve a client on the standard input and output: {error}"),
        hint: "let a client of the Model Context Protocol start `slop mcp`; it is not for people to type to",
        kind: Kind::Environment,
    })?;
    Ok(failure::DONE)
}

//! `slop mcp`

use std::sync::Arc;

use crate::api::Fault;
use crate::api::McpInfo;
use crate::api::VERSION;
use crate::api::serve_mcp;
use crate::cli::args::Args;
use crate::cli::environment::Environment;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::cli::place::Place;
use crate::daemon::Either;
use crate::model::with_causes;

/// Serves one client until it leaves. The standard output is the protocol's alone, so that nobody may hold it.
pub(in crate::cli) fn run(args: &Args, environment: Environment) -> Result<u8, Failure> {
    let place = Place::find(args.global.project.as_deref(), &environment.current_folder)?;
    let info =
        McpInfo { root: place.root.clone(), version: VERSION, require_fresh: args.global.require_fresh };
    let without_daemon = args.global.no_daemon || environment.without_daemon();
    // Settings are read with the first question: a client waits for a server to start, and a mistake in them is
    // better told to the agent than to nobody.
    let service = Either::new(place.root, environment.sources, environment.runtime, without_daemon);
    serve_mcp(Arc::new(service), info).map_err(|error| {
        let message = format!("serve a client on the standard input and output: {}", with_causes(&error));
        let hint =
            "let a client of the Model Context Protocol start `slop mcp`; it is not for people to type to";
        Fault::environment("mcp_failed", message, hint)
    })?;
    Ok(failure::DONE)
}

//! The servers on standard input and output: `mcp` and `lsp`. Standard output carries the protocol, so nothing else may
//! hold its lock.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::api::{ApiError, LspProject, McpInfo, VERSION, serve_lsp, serve_mcp};
use crate::cli::args::CliArgs;
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::cli::location::{ProcessEnvironment, ProjectLocation};
use crate::daemon::DaemonOrLocal;
use crate::model::error_chain;
use crate::service::LocalService;

/// Serves one client until it disconnects.
pub(in crate::cli) fn mcp(args: &CliArgs, environment: &ProcessEnvironment) -> Result<u8, CommandError> {
    let place = ProjectLocation::find(args.global.project.as_deref(), environment)?;
    let info = McpInfo {
        root: place.root.clone(),
        root_reason: place.project.reason,
        version: VERSION,
        require_fresh: args.global.require_fresh,
    };
    let service = service(place, args, environment, |local| local);
    serve_mcp(Arc::new(service), info).map_err(|error| {
        let message = format!("connection to the MCP client failed: {}", error_chain(&error));
        let hint = "let a client of the Model Context Protocol start `slop mcp`; it is not interactive";
        ApiError::environment("mcp_failed", message, hint)
    })?;
    Ok(failure::DONE)
}

/// Serves one editor until it disconnects. The protocol defines the exit code.
pub(in crate::cli) fn lsp(args: &CliArgs, environment: &ProcessEnvironment) -> Result<u8, CommandError> {
    let open = |folder: Option<&Path>| open_project(folder, args, environment);
    let served = serve_lsp(&open, &mut io::stdin().lock(), io::stdout()).map_err(|error| {
        let message = format!("connection to the LSP client failed: {}", error_chain(&error));
        let hint = "let an editor start `slop lsp`; it is not interactive";
        ApiError::environment("lsp_failed", message, hint)
    })?;
    Ok(if served { failure::DONE } else { failure::USER })
}

/// Opens the project around an editor's folder. A folder on the command line takes precedence.
fn open_project(
    folder: Option<&Path>,
    args: &CliArgs,
    environment: &ProcessEnvironment,
) -> Result<LspProject, ApiError> {
    let named = args.global.project.as_deref();
    let real = folder.and_then(|folder| dunce::canonicalize(folder).ok());
    let place = match (named, &real) {
        (None, Some(real)) => ProjectLocation::around(real, environment),
        (Some(_), _) | (None, None) => {
            ProjectLocation::find(named, environment).map_err(CommandError::into_api_error)?
        }
    };
    // An editor asks often, such as for every name under the pointer.
    let service = service(place, args, environment, LocalService::with_kept_workspace);
    let opened = folder.zip(real).map(|(folder, real)| (folder.to_owned(), real));
    let opened = opened.filter(|(folder, real)| folder != real);
    let require_fresh = args.global.require_fresh;
    Ok(LspProject { service: Arc::new(service), opened, require_fresh })
}

fn service(
    place: ProjectLocation,
    args: &CliArgs,
    environment: &ProcessEnvironment,
    keep: impl FnOnce(LocalService) -> LocalService,
) -> DaemonOrLocal {
    let without_daemon = args.global.no_daemon || environment.without_daemon();
    // Settings are read with the first question, so that the server starts quickly and errors in them are reported to
    // the client.
    let guard = place.project.guard();
    let local = LocalService::new(place.root, environment.sources.clone()).guarded_by(guard);
    DaemonOrLocal::new(keep(local), environment.runtime.clone(), without_daemon)
}

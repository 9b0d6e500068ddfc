//! The protocol as Streamable HTTP, in a daemon that has already checked access.
//!
//! Each request is answered independently, as in the protocol from 2026-07-28 on: older clients get no session, and so
//! no notifications between requests. Lasting state is shared by all clients: tasks and kept answers.

use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::{Semaphore, watch};

use super::questions::QueryRunner;
use super::server::{McpServer, McpState};
use super::subscriptions::{ChangeSource, Subscriptions};
use super::transport::McpInfo;
use crate::api::daemon_control::DaemonControl;
use crate::api::service::Service;

/// The path of the endpoint.
pub(in crate::api) const MCP_PATH: &str = "/mcp";

/// The limits that the endpoint shares with its server.
pub(in crate::api) struct EndpointLimits {
    /// The permits for questions in progress.
    pub(in crate::api) working: Arc<Semaphore>,
    /// The permits for streams of notifications.
    pub(in crate::api) subscribers: Arc<Semaphore>,
    /// Ends all streams when it becomes true.
    pub(in crate::api) stopping: watch::Receiver<bool>,
    /// The time between two comments in a stream without events.
    pub(in crate::api) heartbeat: Duration,
    /// The most bytes of a request's body.
    pub(in crate::api) request_bytes: usize,
}

/// Serves the protocol at [`MCP_PATH`].
pub(in crate::api) type McpEndpoint = StreamableHttpService<McpServer, NeverSessionManager>;

/// Returns the endpoint of a daemon. The caller must have checked the origin of requests.
pub(in crate::api) fn endpoint(
    daemon: &Arc<dyn DaemonControl>,
    info: McpInfo,
    limits: EndpointLimits,
) -> McpEndpoint {
    let EndpointLimits { working, subscribers, stopping, heartbeat, request_bytes } = limits;
    let service = Arc::clone(daemon) as Arc<dyn Service>;
    let state = McpState::new(QueryRunner::new(service, working, info.require_fresh), info);
    let source = ChangeSource::Daemon(Arc::clone(daemon), subscribers);
    let server = move || {
        let subscriptions = Subscriptions::new(source.clone(), stopping.clone());
        Ok(McpServer::new(state.clone(), subscriptions))
    };
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        // One message, unless there is progress to report before it.
        .with_json_response(true)
        .with_sse_keep_alive(Some(heartbeat))
        // Nothing can be resumed, so there is nothing to retry.
        .with_sse_retry(None)
        .with_max_request_body_bytes(request_bytes)
        // The daemon's own check also covers the port, and a Unix socket has no host name.
        .disable_allowed_hosts();
    StreamableHttpService::new(server, Arc::default(), config)
}

//! The sockets of a daemon: a private local socket and, on request, a TCP port.
//!
//! Queries are sent to the event loop as events, and their answers come back over channels.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::error::{Error, cancelled_error, stopping_error};
use super::event::{DaemonEvent, PendingQuery};
use super::instance::DaemonPaths;
use crate::api::{
    AnyQuery, ApiError, CallOptions, ClockPosition, DaemonControl, DaemonStatus, Delivery, Feed, HttpServer,
    McpInfo, PerformanceReport, Receiver, Service, Subscription, random_token,
};
use crate::engine::{AnswerStep, StepTimings};
use crate::model::lock;
use crate::sys::{
    BindError, BoundSocket, Clock, Disk, RealDisk, ShutdownSignals, WallClock, bind_local, kill_self,
};
use crate::ui::page_files;

/// How long the loop may take to answer a status request.
const STATUS_TIMEOUT: Duration = Duration::from_secs(1);
/// How often to check whether the client still waits for an answer.
const CANCEL_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The daemon as the transports see it.
pub(super) struct ServiceHandle {
    pub(super) events: SyncSender<DaemonEvent>,
    pub(super) feed: Arc<Feed>,
    pub(super) timings: Arc<StepTimings>,
    pub(super) last_status: Mutex<DaemonStatus>,
    /// The fingerprint of the settings of the last answer.
    pub(super) fingerprint: Arc<Mutex<String>>,
}

impl Service for ServiceHandle {
    fn answer(&self, query: AnyQuery, call: &CallOptions, receive: Receiver<'_>) -> Result<(), ApiError> {
        let began = WallClock.monotonic();
        let (reply, answer) = sync_channel(1);
        let question = PendingQuery { query, call: call.clone(), reply };
        if self.events.send(DaemonEvent::QueryReceived(question)).is_err() {
            return Err(stopping_error());
        }
        loop {
            match answer.recv_timeout(CANCEL_POLL_INTERVAL) {
                // Cancelled although the client waits: the daemon is about to end.
                Ok(Err(fault)) if fault.code == "cancelled" && !call.job.is_cancelled() => {
                    return Err(stopping_error());
                }
                Ok(answer) => {
                    let _: Delivery = receive(answer?);
                    let elapsed = WallClock.monotonic().saturating_sub(began);
                    self.timings.record(AnswerStep::Answer, elapsed);
                    return Ok(());
                }
                Err(RecvTimeoutError::Disconnected) => return Err(stopping_error()),
                // A worker abandons a cancelled job by itself, and one that is still queued need not be waited for.
                Err(RecvTimeoutError::Timeout) if call.job.is_cancelled() => return Err(cancelled_error()),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl DaemonControl for ServiceHandle {
    fn status(&self) -> DaemonStatus {
        let (reply, status) = sync_channel(1);
        // If the queue is full, the loop is too busy to answer, which is what the status then shows.
        let asked = self.events.try_send(DaemonEvent::StatusRequested(reply));
        let fresh = asked.ok().and_then(|()| status.recv_timeout(STATUS_TIMEOUT).ok());
        let mut last = lock(&self.last_status);
        match fresh {
            Some(fresh) => *last = fresh,
            // The status has to show that the loop is stuck.
            None => last.lag_ms = u64::try_from(STATUS_TIMEOUT.as_millis()).unwrap_or(u64::MAX),
        }
        last.clone()
    }

    fn performance(&self) -> PerformanceReport {
        PerformanceReport::new(&self.timings.summaries(), self.status())
    }

    fn subscribe(&self, since: Option<ClockPosition>) -> Subscription {
        self.feed.subscribe(since)
    }

    fn stop(&self) {
        let _ = self.events.send(DaemonEvent::Stop("it was asked to"));
    }

    fn fingerprint(&self) -> String {
        lock(&self.fingerprint).clone()
    }
}

/// How long open connections may take to finish.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);
/// How long a daemon may take to notice that it has lost its lock to this one.
const HANDOVER_TIMEOUT: Duration = Duration::from_secs(3);
/// Threads that serve connections. They never block: workers compute the answers.
const SERVER_THREADS: usize = 2;

/// The sockets that a daemon serves, closed on drop.
pub(super) struct ListenSockets {
    /// `None` only while it is shut down.
    runtime: Option<Runtime>,
    server: HttpServer,
    paths: DaemonPaths,
    socket: Option<OpenSocket>,
    /// The TCP port, if one is served.
    tcp: Option<TcpEndpoint>,
    tasks: Vec<JoinHandle<()>>,
}

/// A TCP port that is served, and the content of the file that describes how to reach it.
struct TcpEndpoint {
    address: SocketAddr,
    text: String,
}

struct OpenSocket {
    identity: Option<(u64, u64)>,
    /// Dropped to stop accepting connections.
    _retire: oneshot::Sender<()>,
}

impl ListenSockets {
    /// Listens on the sockets, and starts to serve them. The web page gets its port when it is first asked for.
    pub(super) fn open(
        control: Arc<dyn DaemonControl>,
        agents: McpInfo,
        paths: &DaemonPaths,
        listen: Option<SocketAddr>,
        page: SocketAddr,
        events: &SyncSender<DaemonEvent>,
    ) -> Result<Self, Error> {
        let failed = |source| Error::Spawn { what: "the threads that serve sockets", source };
        let mut builder = Builder::new_multi_thread();
        let runtime = builder
            .worker_threads(SERVER_THREADS)
            .thread_name("serve")
            .enable_all()
            .build()
            .map_err(failed)?;
        // Before the socket appears, because clients that see it may send this process a signal.
        handle_signals(&runtime, events);
        let listener = {
            // A named pipe must be created within a runtime.
            let _context = runtime.enter();
            bind_with_retry(paths)?
        };
        let mut sockets = Self {
            runtime: Some(runtime),
            server: HttpServer::new(control, agents, &page_files(), page),
            paths: paths.clone(),
            socket: None,
            tcp: None,
            tasks: Vec::new(),
        };
        sockets.replace_listener(listener);
        let server = sockets.server.clone();
        sockets.spawn_server(async move { server.serve_page().await });
        if let Some(address) = listen {
            sockets.listen_tcp(address)?;
        }
        Ok(sockets)
    }

    /// Returns whether the socket's path still refers to the socket that is served, and the listener file still
    /// exists.
    pub(super) fn are_intact(&self) -> bool {
        self.owns_socket_path() && (self.tcp.is_none() || RealDisk.identity(&self.paths.listener).is_some())
    }

    /// Creates the socket and the listener file again if they were deleted. Existing connections are kept.
    pub(super) fn reopen(&mut self) -> Result<(), Error> {
        if let Some(port) = &self.tcp {
            write_listener_file(&self.paths, &port.text)?;
        }
        if !self.owns_socket_path() {
            let listener = {
                let _context = self.runtime.as_ref().map(Runtime::enter);
                bind(&self.paths)?
            };
            self.replace_listener(listener);
        }
        Ok(())
    }

    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.tcp.as_ref().map(|port| port.address)
    }

    /// Deletes the socket's file, so that no client connects to it, unless it belongs to another daemon by now.
    pub(super) fn unlink(&self) {
        if self.owns_socket_path() {
            // The file may already be gone.
            let _ = RealDisk.unlink(&self.paths.socket);
        }
    }

    fn owns_socket_path(&self) -> bool {
        let found = RealDisk.identity(&self.paths.socket);
        found.is_some() && self.socket.as_ref().is_some_and(|open| open.identity == found)
    }

    /// Serves a socket until it is retired, or the server is stopped.
    fn spawn_server(&mut self, serving: impl Future<Output = std::io::Result<()>> + Send + 'static) {
        self.tasks.retain(|serving| !serving.is_finished());
        let Some(runtime) = &self.runtime else { return };
        self.tasks.push(runtime.spawn(async {
            // This fails only if the runtime cannot register the socket; the next check finds the socket gone.
            let _ = serving.await;
        }));
    }

    /// Serves a socket in place of the previous one.
    fn replace_listener(&mut self, listener: BoundSocket) {
        let (retire, retired) = oneshot::channel::<()>();
        let server = self.server.clone();
        self.socket = Some(OpenSocket { identity: RealDisk.identity(&self.paths.socket), _retire: retire });
        self.spawn_server(
            async move { server.serve_unix_until(listener, async { drop(retired.await) }).await },
        );
    }

    /// Listens on a port, and writes the port and its token to a file that only the user can read.
    fn listen_tcp(&mut self, address: SocketAddr) -> Result<(), Error> {
        let failed = |source| Error::BindAddress { address, source };
        let listener = TcpListener::bind(address).map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        // New with each start, so that a token that leaked earlier opens nothing.
        let token = random_token().map_err(failed)?;
        let text = json!({"address": bound.to_string(), "token": token}).to_string();
        write_listener_file(&self.paths, &text)?;
        self.tcp = Some(TcpEndpoint { address: bound, text });
        let server = self.server.clone();
        self.spawn_server(async move { server.serve_tcp(listener, &token).await });
        Ok(())
    }
}

impl Drop for ListenSockets {
    fn drop(&mut self) {
        self.server.stop();
        let serving = std::mem::take(&mut self.tasks);
        if let Some(runtime) = self.runtime.take() {
            // Pending requests are still answered, above all the one to stop.
            runtime.block_on(async {
                let all = async {
                    for socket in serving {
                        let _ = socket.await;
                    }
                };
                let _ = tokio::time::timeout(DRAIN_TIMEOUT, all).await;
            });
            runtime.shutdown_timeout(DRAIN_TIMEOUT);
        }
    }
}

fn bind(paths: &DaemonPaths) -> Result<BoundSocket, Error> {
    let folder = paths.socket.parent().unwrap_or(Path::new("."));
    let failed = |source| Error::CacheFolder { path: folder.to_owned(), source };
    RealDisk.create_private_folder(folder).map_err(failed)?;
    bind_local(&paths.socket).map_err(|error: BindError| Error::BindSocket(Box::new(error)))
}

/// Stops the daemon at the first terminating signal, and kills it at the second. The handlers are installed when this
/// returns.
fn handle_signals(runtime: &Runtime, events: &SyncSender<DaemonEvent>) {
    let _context = runtime.enter();
    // Without handlers, the first signal kills the process.
    let Ok(mut signals) = ShutdownSignals::of_service() else { return };
    let events = events.clone();
    runtime.spawn(async move {
        let mut is_stopped = false;
        loop {
            signals.recv().await;
            if std::mem::replace(&mut is_stopped, true) {
                let _ = kill_self();
            }
            let events = events.clone();
            // Blocks if the queue is full.
            let stop = move || drop(events.send(DaemonEvent::Stop("it received a signal")));
            tokio::task::spawn_blocking(stop);
        }
    });
}

/// Binds the socket, after waiting a while for a daemon that lost its lock to notice that and end.
fn bind_with_retry(paths: &DaemonPaths) -> Result<BoundSocket, Error> {
    let deadline = WallClock.monotonic().saturating_add(HANDOVER_TIMEOUT);
    loop {
        match bind(paths) {
            Err(Error::BindSocket(error))
                if matches!(*error, BindError::InUse(_)) && WallClock.monotonic() < deadline =>
            {
                WallClock.sleep(Duration::from_millis(20));
            }
            bound => return bound,
        }
    }
}

fn write_listener_file(paths: &DaemonPaths, text: &str) -> Result<(), Error> {
    let written = RealDisk.replace_private(&paths.listener, text.as_bytes());
    written.map_err(|source| Error::CacheFolder { path: paths.listener.clone(), source })
}

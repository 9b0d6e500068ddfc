//! Where a daemon is reached: a socket of the user's own, and a TCP port on request.
//!
//! Queries go to the event loop as events, and come back answered.

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
/// How often it is checked whether somebody still waits for an answer.
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
                // Given up although somebody waits: the daemon is about to end.
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
                // A worker gives up a cancelled job by itself; one that is still in the queue need not be waited for.
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
/// How long a daemon that has lost its lock to this one may take to notice.
const HANDOVER_TIMEOUT: Duration = Duration::from_secs(3);
/// Threads that serve connections. They never block: workers compute the answers.
const SERVER_THREADS: usize = 2;

/// The sockets that a daemon serves, closed on drop.
pub(super) struct ListenSockets {
    /// `None` only while it is taken down.
    runtime: Option<Runtime>,
    server: HttpServer,
    places: DaemonPaths,
    socket: Option<OpenSocket>,
    /// The port that is served; `None` if there is none.
    tcp: Option<TcpEndpoint>,
    tasks: Vec<JoinHandle<()>>,
}

/// A TCP port that is served, and the contents of the file that describes how to reach it.
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
        places: &DaemonPaths,
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
        // Before the socket appears: who sees it may stop this process by a signal.
        handle_signals(&runtime, events);
        let listener = {
            // A named pipe belongs to a runtime from its beginning.
            let _context = runtime.enter();
            bind_with_retry(places)?
        };
        let mut sockets = Self {
            runtime: Some(runtime),
            server: HttpServer::new(control, agents, &page_files(), page),
            places: places.clone(),
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
        self.owns_socket_path() && (self.tcp.is_none() || RealDisk.identity(&self.places.listener).is_some())
    }

    /// Listens on the socket again, and writes the listener file again, if they were deleted. Clients that
    /// are connected stay connected.
    pub(super) fn reopen(&mut self) -> Result<(), Error> {
        if let Some(port) = &self.tcp {
            write_listener_file(&self.places, &port.text)?;
        }
        if !self.owns_socket_path() {
            let listener = {
                let _context = self.runtime.as_ref().map(Runtime::enter);
                bind(&self.places)?
            };
            self.replace_listener(listener);
        }
        Ok(())
    }

    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.tcp.as_ref().map(|port| port.address)
    }

    /// Takes the socket's name away, so that no client tries it; not that of another daemon, which has come meanwhile.
    pub(super) fn unlink(&self) {
        if self.owns_socket_path() {
            // What is not there need not be deleted.
            let _ = RealDisk.unlink(&self.places.socket);
        }
    }

    fn owns_socket_path(&self) -> bool {
        let found = RealDisk.identity(&self.places.socket);
        found.is_some() && self.socket.as_ref().is_some_and(|open| open.identity == found)
    }

    /// Serves a socket until it is retired, or the server is stopped.
    fn spawn_server(&mut self, serving: impl Future<Output = std::io::Result<()>> + Send + 'static) {
        self.tasks.retain(|serving| !serving.is_finished());
        let Some(runtime) = &self.runtime else { return };
        self.tasks.push(runtime.spawn(async {
            // It fails only where the runtime cannot have the socket; the next look at the socket finds it gone.
            let _ = serving.await;
        }));
    }

    /// Serves a socket in place of the one before.
    fn replace_listener(&mut self, listener: BoundSocket) {
        let (retire, retired) = oneshot::channel::<()>();
        let server = self.server.clone();
        self.socket = Some(OpenSocket { identity: RealDisk.identity(&self.places.socket), _retire: retire });
        self.spawn_server(
            async move { server.serve_unix_until(listener, async { drop(retired.await) }).await },
        );
    }

    /// Listens on a port, and writes down for the user alone which it is, and the word that opens it.
    fn listen_tcp(&mut self, address: SocketAddr) -> Result<(), Error> {
        let failed = |source| Error::BindAddress { address, source };
        let listener = TcpListener::bind(address).map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        // New with each start, so that a token that leaked earlier opens nothing.
        let token = random_token().map_err(failed)?;
        let text = json!({"address": bound.to_string(), "token": token}).to_string();
        write_listener_file(&self.places, &text)?;
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
            // What is asked already is answered, above all the one that asked us to stop.
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

fn bind(places: &DaemonPaths) -> Result<BoundSocket, Error> {
    let folder = places.socket.parent().unwrap_or(Path::new("."));
    let failed = |source| Error::CacheFolder { path: folder.to_owned(), source };
    RealDisk.create_private_folder(folder).map_err(failed)?;
    bind_local(&places.socket).map_err(|error: BindError| Error::BindSocket(Box::new(error)))
}

/// Stops the daemon at the first terminating signal, and kills it at the second. Signals are handled when this returns.
fn handle_signals(runtime: &Runtime, events: &SyncSender<DaemonEvent>) {
    let _context = runtime.enter();
    // Where signals cannot be had, the first one ends the process as it would any other.
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
            // The queue may be full, and then this waits.
            let stop = move || drop(events.send(DaemonEvent::Stop("a signal asked for it")));
            tokio::task::spawn_blocking(stop);
        }
    });
}

/// Binds the socket; waits a while for a daemon whose lock was deleted to see that it is ours, and to go.
fn bind_with_retry(places: &DaemonPaths) -> Result<BoundSocket, Error> {
    let deadline = WallClock.monotonic().saturating_add(HANDOVER_TIMEOUT);
    loop {
        match bind(places) {
            Err(Error::BindSocket(error))
                if matches!(*error, BindError::InUse(_)) && WallClock.monotonic() < deadline =>
            {
                WallClock.sleep(Duration::from_millis(20));
            }
            bound => return bound,
        }
    }
}

fn write_listener_file(places: &DaemonPaths, text: &str) -> Result<(), Error> {
    let written = RealDisk.replace_private(&places.listener, text.as_bytes());
    written.map_err(|source| Error::CacheFolder { path: places.listener.clone(), source })
}

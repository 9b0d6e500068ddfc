//! Where a daemon is asked: a socket of the user's own, and a port of the machine if somebody wants one.

use std::fmt::Write;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use serde_json::json;
use tokio::runtime::Builder;
use tokio::runtime::Runtime;
use tokio::signal::unix::SignalKind;
use tokio::signal::unix::signal;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::error::Error;
use super::event::DaemonEvent;
use super::places::DaemonPaths;
use crate::api::BindError;
use crate::api::DaemonControl;
use crate::api::HttpServer;
use crate::api::bind_unix;
use crate::sys::Clock;
use crate::sys::Disk;
use crate::sys::RealDisk;
use crate::sys::WallClock;
use crate::sys::kill_self;

/// How long connections may take to end.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);
/// How long a daemon that has lost its lock to ours may take to see so.
const HANDOVER_TIMEOUT: Duration = Duration::from_secs(3);
/// Threads that serve connections. None of them works: that is done by threads that may wait.
const SERVER_THREADS: usize = 2;

/// The sockets that a daemon serves, until they are dropped.
pub(super) struct ListenSockets {
    /// `None` only while it is taken down.
    runtime: Option<Runtime>,
    server: HttpServer,
    places: DaemonPaths,
    /// The socket that is served now.
    socket: Option<OpenSocket>,
    /// The port that is served; `None` where there is none.
    tcp: Option<TcpEndpoint>,
    tasks: Vec<JoinHandle<()>>,
}

/// A port that is served, and the text that says how it is reached.
struct TcpEndpoint {
    address: SocketAddr,
    text: String,
}

/// A socket that is served.
struct OpenSocket {
    /// What the system knows it by.
    identity: Option<(u64, u64)>,
    /// Is dropped when no more connections are to be taken.
    _retire: oneshot::Sender<()>,
}

impl ListenSockets {
    /// Listens, and serves from now on.
    pub(super) fn open(
        keeper: Arc<dyn DaemonControl>,
        places: &DaemonPaths,
        listen: Option<SocketAddr>,
        events: &SyncSender<DaemonEvent>,
    ) -> Result<Self, Error> {
        let listener = bind_with_retry(places)?;
        let failed = |source| Error::Spawn { what: "the threads that serve sockets", source };
        let mut builder = Builder::new_multi_thread();
        let runtime = builder
            .worker_threads(SERVER_THREADS)
            .thread_name("serve")
            .enable_all()
            .build()
            .map_err(failed)?;
        let mut sockets = Self {
            runtime: Some(runtime),
            server: HttpServer::new(keeper),
            places: places.clone(),
            socket: None,
            tcp: None,
            tasks: Vec::new(),
        };
        sockets.replace_listener(listener);
        sockets.handle_signals(events);
        if let Some(address) = listen {
            sockets.listen_tcp(address)?;
        }
        Ok(sockets)
    }

    /// Stops at the first signal that asks for it, and at once at the second.
    fn handle_signals(&self, events: &SyncSender<DaemonEvent>) {
        let Some(runtime) = &self.runtime else { return };
        let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
        let stopped = Arc::new(AtomicBool::new(false));
        for kind in kinds {
            let (events, stopped) = (events.clone(), Arc::clone(&stopped));
            runtime.spawn(async move {
                // Where signals cannot be had, the first one ends the process as it would any other.
                let Ok(mut signals) = signal(kind) else { return };
                while signals.recv().await.is_some() {
                    if stopped.swap(true, Ordering::Relaxed) {
                        let _ = kill_self();
                    }
                    let events = events.clone();
                    // The queue may be full, and then this waits.
                    let stop = move || drop(events.send(DaemonEvent::Stop("a signal asked for it")));
                    tokio::task::spawn_blocking(stop);
                }
            });
        }
    }

    /// Says whether what has the socket's name is the socket that is served, and how the port is reached is written
    /// down.
    pub(super) fn are_intact(&self) -> bool {
        self.owns_socket_path() && (self.tcp.is_none() || RealDisk.identity(&self.places.listener).is_some())
    }

    /// Listens on the socket anew, and writes down anew how the port is reached, where somebody has deleted them. Who
    /// is connected stays so.
    pub(super) fn reopen(&mut self) -> Result<(), Error> {
        if let Some(port) = &self.tcp {
            write_listener_file(&self.places, &port.text)?;
        }
        if !self.owns_socket_path() {
            self.replace_listener(bind(&self.places)?);
        }
        Ok(())
    }

    /// Returns the address of the port, where there is one.
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
    fn replace_listener(&mut self, listener: UnixListener) {
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

fn bind(places: &DaemonPaths) -> Result<UnixListener, Error> {
    let folder = places.socket.parent().unwrap_or(Path::new("."));
    let failed = |source| Error::CacheFolder { path: folder.to_owned(), source };
    RealDisk.create_private_folder(folder).map_err(failed)?;
    bind_unix(&places.socket).map_err(|error: BindError| Error::BindSocket(Box::new(error)))
}

/// Binds the socket; waits a while for a daemon whose lock was deleted to see that it is ours, and to go.
fn bind_with_retry(places: &DaemonPaths) -> Result<UnixListener, Error> {
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

/// Returns a word that nobody can guess: 256 bits in hex.
fn random_token() -> std::io::Result<String> {
    let mut bytes = [0_u8; 32];
    let mut filled = 0;
    while filled < bytes.len() {
        filled += rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(bytes.iter().fold(String::new(), |mut word, byte| {
        // A string takes all that is written to it.
        let _ = write!(word, "{byte:02x}");
        word
    }))
}

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
use super::event::Event;
use super::places::Places;
use crate::api::BindError;
use crate::api::Keeper;
use crate::api::Server;
use crate::api::bind_unix;
use crate::sys::Clock;
use crate::sys::Disk;
use crate::sys::RealDisk;
use crate::sys::WallClock;
use crate::sys::die;

/// How long connections may take to end.
const FAREWELL: Duration = Duration::from_millis(500);
/// How long a daemon that has lost its lock to ours may take to see so.
const HANDOVER: Duration = Duration::from_secs(3);
/// Threads that serve connections. None of them works: that is done by threads that may wait.
const THREADS: usize = 2;

/// The sockets that a daemon serves, until they are dropped.
pub(super) struct Sockets {
    /// `None` only while it is taken down.
    runtime: Option<Runtime>,
    server: Server,
    places: Places,
    /// The socket that is served now.
    open: Option<OpenSocket>,
    /// The port that is served; `None` where there is none.
    port: Option<Port>,
    serving: Vec<JoinHandle<()>>,
}

/// A port that is served, and the text that says how it is reached.
struct Port {
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

impl Sockets {
    /// Listens, and serves from now on.
    pub(super) fn open(
        keeper: Arc<dyn Keeper>,
        places: &Places,
        listen: Option<SocketAddr>,
        events: &SyncSender<Event>,
    ) -> Result<Self, Error> {
        let listener = bind_patiently(places)?;
        let failed = |source| Error::Start { what: "the threads that serve sockets", source };
        let mut builder = Builder::new_multi_thread();
        let runtime =
            builder.worker_threads(THREADS).thread_name("serve").enable_all().build().map_err(failed)?;
        let mut sockets = Self {
            runtime: Some(runtime),
            server: Server::new(keeper),
            places: places.clone(),
            open: None,
            port: None,
            serving: Vec::new(),
        };
        sockets.listen_on(listener);
        sockets.obey_signals(events);
        if let Some(address) = listen {
            sockets.listen_on_port(address)?;
        }
        Ok(sockets)
    }

    /// Stops at the first signal that asks for it, and at once at the second.
    fn obey_signals(&self, events: &SyncSender<Event>) {
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
                        let _ = die();
                    }
                    let events = events.clone();
                    // The queue may be full, and then this waits.
                    let stop = move || drop(events.send(Event::Stop("a signal asked for it")));
                    tokio::task::spawn_blocking(stop);
                }
            });
        }
    }

    /// Says whether what has the socket's name is the socket that is served, and how the port is reached is written
    /// down.
    pub(super) fn are_there(&self) -> bool {
        self.is_ours() && (self.port.is_none() || RealDisk.identity(&self.places.listener).is_some())
    }

    /// Listens on the socket anew, and writes down anew how the port is reached, where somebody has deleted them. Who
    /// is connected stays so.
    pub(super) fn renew(&mut self) -> Result<(), Error> {
        if let Some(port) = &self.port {
            write_listener(&self.places, &port.text)?;
        }
        if !self.is_ours() {
            self.listen_on(bind(&self.places)?);
        }
        Ok(())
    }

    /// Returns the address of the port, where there is one.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.port.as_ref().map(|port| port.address)
    }

    /// Takes the socket's name away, so that no client tries it; not that of another daemon, which has come meanwhile.
    pub(super) fn leave(&self) {
        if self.is_ours() {
            // What is not there need not be deleted.
            let _ = RealDisk.remove_name(&self.places.socket);
        }
    }

    fn is_ours(&self) -> bool {
        let found = RealDisk.identity(&self.places.socket);
        found.is_some() && self.open.as_ref().is_some_and(|open| open.identity == found)
    }

    /// Serves a socket until it is retired, or the server is stopped.
    fn serve(&mut self, serving: impl Future<Output = std::io::Result<()>> + Send + 'static) {
        self.serving.retain(|serving| !serving.is_finished());
        let Some(runtime) = &self.runtime else { return };
        self.serving.push(runtime.spawn(async {
            // It fails only where the runtime cannot have the socket; the next look at the socket finds it gone.
            let _ = serving.await;
        }));
    }

    /// Serves a socket in place of the one before.
    fn listen_on(&mut self, listener: UnixListener) {
        let (retire, retired) = oneshot::channel::<()>();
        let server = self.server.clone();
        self.open = Some(OpenSocket { identity: RealDisk.identity(&self.places.socket), _retire: retire });
        self.serve(async move { server.serve_unix_until(listener, async { drop(retired.await) }).await });
    }

    /// Listens on a port, and writes down for the user alone which it is, and the word that opens it.
    fn listen_on_port(&mut self, address: SocketAddr) -> Result<(), Error> {
        let failed = |source| Error::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let token = random_word().map_err(failed)?;
        let text = json!({"address": bound.to_string(), "token": token}).to_string();
        write_listener(&self.places, &text)?;
        self.port = Some(Port { address: bound, text });
        let server = self.server.clone();
        self.serve(async move { server.serve_tcp(listener, &token).await });
        Ok(())
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        self.server.stop();
        let serving = std::mem::take(&mut self.serving);
        if let Some(runtime) = self.runtime.take() {
            // What is asked already is answered, above all the one that asked us to stop.
            runtime.block_on(async {
                let all = async {
                    for socket in serving {
                        let _ = socket.await;
                    }
                };
                let _ = tokio::time::timeout(FAREWELL, all).await;
            });
            runtime.shutdown_timeout(FAREWELL);
        }
    }
}

fn bind(places: &Places) -> Result<UnixListener, Error> {
    let folder = places.socket.parent().unwrap_or(Path::new("."));
    let failed = |source| Error::Cache { path: folder.to_owned(), source };
    RealDisk.make_private_folder(folder).map_err(failed)?;
    bind_unix(&places.socket).map_err(|error: BindError| Error::Socket(Box::new(error)))
}

/// Binds the socket; waits a while for a daemon whose lock was deleted to see that it is ours, and to go.
fn bind_patiently(places: &Places) -> Result<UnixListener, Error> {
    let deadline = WallClock.monotonic().saturating_add(HANDOVER);
    loop {
        match bind(places) {
            Err(Error::Socket(error))
                if matches!(*error, BindError::InUse(_)) && WallClock.monotonic() < deadline =>
            {
                WallClock.sleep(Duration::from_millis(20));
            }
            bound => return bound,
        }
    }
}

fn write_listener(places: &Places, text: &str) -> Result<(), Error> {
    let written = RealDisk.replace_private(&places.listener, text.as_bytes());
    written.map_err(|source| Error::Cache { path: places.listener.clone(), source })
}

/// Returns a word that nobody can guess: 256 bits in hex.
fn random_word() -> std::io::Result<String> {
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

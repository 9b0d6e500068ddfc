//! Where a daemon is asked: a socket of the user's own, and a port of the machine if somebody wants one.

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
use tokio::runtime::Handle;
use tokio::runtime::Runtime;
use tokio::signal::unix::SignalKind;
use tokio::signal::unix::signal;

use super::error::Error;
use super::event::Event;
use super::places::Places;
use crate::api::BindError;
use crate::api::Keeper;
use crate::api::Server;
use crate::api::bind_unix;
use crate::sys::Disk;
use crate::sys::RealDisk;
use crate::sys::die;

/// How long connections may take to end.
const FAREWELL: Duration = Duration::from_millis(500);
/// Threads that serve connections. None of them works: that is done by threads that may wait.
const THREADS: usize = 2;

/// The sockets that a daemon serves, until they are dropped.
pub(super) struct Sockets {
    /// `None` only while it is taken down.
    runtime: Option<Runtime>,
    server: Server,
}

impl Sockets {
    /// Listens, and serves from now on.
    pub(super) fn open(
        keeper: Arc<dyn Keeper>,
        places: &Places,
        listen: Option<SocketAddr>,
        events: SyncSender<Event>,
    ) -> Result<Self, Error> {
        let failed = |source| Error::Start { what: "the threads that serve sockets", source };
        let mut builder = Builder::new_multi_thread();
        let runtime =
            builder.worker_threads(THREADS).thread_name("serve").enable_all().build().map_err(failed)?;
        let sockets = Self { runtime: Some(runtime), server: Server::new(keeper) };
        sockets.listen_on(bind(places)?);
        sockets.obey_signals(events);
        if let Some(address) = listen {
            sockets.listen_on_port(address, places)?;
        }
        Ok(sockets)
    }

    /// Stops at the first signal that asks for it, and at once at the second.
    fn obey_signals(&self, events: SyncSender<Event>) {
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
                    tokio::task::spawn_blocking(move || events.send(Event::Stop("a signal asked for it")));
                }
            });
        }
    }

    /// Listens on the socket anew, after somebody has deleted it.
    pub(super) fn renew(&self, places: &Places) -> Result<(), Error> {
        self.listen_on(bind(places)?);
        Ok(())
    }

    /// Serves a socket on a thread of its own, which ends when the server is stopped.
    fn serve(&self, serving: impl FnOnce(&Handle, &Server) -> std::io::Result<()> + Send + 'static) {
        if let Some(runtime) = &self.runtime {
            let (handle, server) = (runtime.handle().clone(), self.server.clone());
            std::thread::spawn(move || serving(&handle, &server));
        }
    }

    fn listen_on(&self, listener: UnixListener) {
        self.serve(move |runtime, server| runtime.block_on(server.serve_unix(listener)));
    }

    /// Listens on a port, and writes down for the user alone which it is, and the word that opens it.
    fn listen_on_port(&self, address: SocketAddr, places: &Places) -> Result<(), Error> {
        let failed = |source| Error::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let token = random_word().map_err(failed)?;
        let text = json!({"address": bound.to_string(), "token": token}).to_string();
        RealDisk.replace_private(&places.listener, text.as_bytes()).map_err(failed)?;
        self.serve(move |runtime, server| runtime.block_on(server.serve_tcp(listener, &token)));
        Ok(())
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        self.server.stop();
        if let Some(runtime) = self.runtime.take() {
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

/// Returns a word that nobody can guess: 256 bits in hex.
fn random_word() -> std::io::Result<String> {
    let mut bytes = [0_u8; 32];
    let mut filled = 0;
    while filled < bytes.len() {
        filled += rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

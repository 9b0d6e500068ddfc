//! Serves one client on standard input and output, from start to shutdown.

use std::io;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rmcp::service::{RunningService, ServerInitializeError};
use rmcp::task_manager::TaskManager;
use rmcp::{RoleServer, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::time::timeout;

use super::lines::{pass_answers, pass_questions, write_answers};
use super::questions::{MAX_CONCURRENT, QueryRunner, wait_idle};
use super::server::{McpServer, McpState};
use super::subscriptions::{ChangeSource, Subscriptions};
use crate::api::feed_reader::FeedSource;
use crate::api::service::Service;
use crate::model::RootReason;
use crate::sys::ShutdownSignals as SystemSignals;

/// How long answers in progress may take after the client disconnects, and how long stopping may take then.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// The buffer between the client's lines and the server.
const PIPE_BYTES: usize = 64 << 10;

/// The served project, and the options of the server.
#[derive(Debug, Clone)]
pub struct McpInfo {
    /// The project's folder: absolute paths below it are converted to relative ones.
    pub root: PathBuf,
    /// Why it was chosen.
    pub root_reason: RootReason,
    pub version: &'static str,
    pub require_fresh: bool,
}

/// Serves one client on standard input and output, until the input ends or the process is asked to end.
///
/// Nothing else may write to standard output meanwhile.
pub fn serve<S: Service + FeedSource + 'static>(service: Arc<S>, info: McpInfo) -> io::Result<()> {
    // One thread is enough for one client, because answers are computed on other threads.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (input, output) = rmcp::transport::io::stdio();
    let served = runtime.block_on(async {
        let ending = ShutdownSignals { stops: signals()?, patience: SHUTDOWN_TIMEOUT };
        let (to_server, server_input) = tokio::io::duplex(PIPE_BYTES);
        let (server_output, from_server) = tokio::io::duplex(PIPE_BYTES);
        let (sender, answers) = mpsc::channel(1);
        let asking = tokio::spawn(pass_questions(input, to_server, sender.clone()));
        tokio::spawn(pass_answers(from_server, sender));
        let writing = tokio::spawn(write_answers(output, answers));
        let served = serve_on(service, info, server_input, server_output, ending).await;
        // Otherwise it would wait for the client's next line.
        asking.abort();
        let _ = timeout(SHUTDOWN_TIMEOUT, writing).await;
        served
    });
    // The thread that reads standard input cannot be woken, and is left behind.
    runtime.shutdown_background();
    served
}

/// Requests to end a server before its client does, and the timeout for that.
pub(super) struct ShutdownSignals {
    /// Each message asks it to end; the second one to end without waiting.
    pub(super) stops: mpsc::Receiver<()>,
    /// How long answers in progress may take after the client disconnects, and how long stopping may take then.
    pub(super) patience: Duration,
}

pub(super) async fn serve_on<S, R, W>(
    service: Arc<S>,
    info: McpInfo,
    input: R,
    output: W,
    mut ending: ShutdownSignals,
) -> io::Result<()>
where
    S: Service + FeedSource + 'static,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (leaving, has_left) = watch::channel(false);
    let source = ChangeSource::Socket(Arc::clone(&service) as Arc<dyn FeedSource>);
    let permits = Arc::new(Semaphore::new(MAX_CONCURRENT as usize));
    let questions = QueryRunner::new(service, Arc::clone(&permits), info.require_fresh);
    let state = McpState::new(questions, info);
    let tasks = state.tasks.clone();
    let server = McpServer::new(state, Subscriptions::new(source, has_left));
    let (input, left) = EofWatcher::new(input);
    let running = tokio::select! {
        running = server.serve((input, output)) => running,
        // A client that never begins the protocol must not prevent the process from ending.
        Some(()) = ending.stops.recv() => return Ok(()),
    };
    match running {
        Ok(running) => {
            let work = WorkInProgress { permits: &permits, tasks: &tasks };
            run_until_closed(running, left, leaving, work, ending).await;
        }
        // Disconnecting before the protocol has begun is not an error.
        Err(ServerInitializeError::ConnectionClosed(_)) => {}
        Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
    }
    Ok(())
}

/// Work that may continue after a client has disconnected.
struct WorkInProgress<'a> {
    permits: &'a Semaphore,
    tasks: &'a TaskManager,
}

/// Waits until the client disconnects or the server is asked to end, and until all work has ended.
async fn run_until_closed(
    running: RunningService<RoleServer, McpServer>,
    left: oneshot::Receiver<()>,
    leaving: watch::Sender<bool>,
    work: WorkInProgress<'_>,
    ending: ShutdownSignals,
) {
    let ShutdownSignals { mut stops, patience } = ending;
    let token = running.cancellation_token();
    let mut closed = pin!(running.waiting());
    let is_closed = tokio::select! {
        _ = &mut closed => true,
        _ = left => {
            // Subscriptions end only with their client, so they are ended here.
            leaving.send_replace(true);
            timeout(patience, &mut closed).await.is_ok()
        }
        Some(()) = stops.recv() => false,
    };
    // Running work is cancelled, but finished answers are still sent.
    token.cancel();
    work.tasks.shutdown();
    let rest = async {
        if !is_closed {
            let _ = timeout(patience, closed).await;
        }
        wait_idle(work.permits, patience).await;
    };
    tokio::select! {
        () = rest => {}
        Some(()) = stops.recv() => {}
    }
}

/// An input that reports its end. The SDK does so only after waiting for the last answers, which may be too long for an
/// agent's program.
struct EofWatcher<R> {
    input: R,
    ended: Option<oneshot::Sender<()>>,
}

impl<R> EofWatcher<R> {
    fn new(input: R) -> (Self, oneshot::Receiver<()>) {
        let (ended, end) = oneshot::channel();
        (Self { input, ended: Some(ended) }, end)
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for EofWatcher<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.input).poll_read(context, buffer);
        let is_over = match &polled {
            Poll::Ready(Ok(())) => buffer.filled().len() == before,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if is_over && let Some(ended) = self.ended.take() {
            // There is no receiver if the client disconnects before it has begun.
            let _ = ended.send(());
        }
        polled
    }
}

/// Returns a receiver of the signals that end the process.
fn signals() -> io::Result<mpsc::Receiver<()>> {
    let (sender, receiver) = mpsc::channel(1);
    let mut signals = SystemSignals::of_service()?;
    tokio::spawn(async move {
        loop {
            signals.recv().await;
            if sender.send(()).await.is_err() {
                return;
            }
        }
    });
    Ok(receiver)
}

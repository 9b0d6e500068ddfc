//! The server's life on the standard input and output, from the first line to the last.

use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::io::AsyncRead;
use tokio::io::AsyncWrite;
use tokio::signal::unix::SignalKind;
use tokio::signal::unix::signal;
use tokio::sync::mpsc;

use super::questions::Questions;
use super::questions::settled;
use super::server::Server;
use crate::api::service::Service;

/// So long an answer that nobody waits for any more may take to stop.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the server must know of where it runs.
#[derive(Debug, Clone)]
pub struct Info {
    /// The project's folder: whole paths below it are taken as paths from it.
    pub root: PathBuf,
    /// The program's version.
    pub version: &'static str,
}

/// Serves one client on the standard input and output, until the input ends or the process is told to end.
///
/// Nobody else may hold the standard output meanwhile. The service is asked nothing before the client asks.
pub fn serve(service: Arc<dyn Service>, info: Info) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (input, output) = rmcp::transport::io::stdio();
    let served = runtime.block_on(async {
        let stops = signals()?;
        serve_on(service, info, (input, output), stops).await
    });
    // The thread that reads the standard input cannot be woken, and is left behind.
    runtime.shutdown_background();
    served
}

/// Serves one client on any two streams, until `stops` says that it is enough.
pub(super) async fn serve_on<R, W>(
    service: Arc<dyn Service>,
    info: Info,
    (input, output): (R, W),
    mut stops: mpsc::Receiver<()>,
) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let questions = Questions::new(service);
    let seats = questions.seats();
    let server = Server::new(questions, info);
    let running = tokio::select! {
        running = server.serve((input, output)) => match running {
            Ok(running) => running,
            // A client that leaves before it has begun has done nothing wrong.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        },
        Some(()) = stops.recv() => return Ok(()),
    };
    let token = running.cancellation_token();
    let mut closed = pin!(running.waiting());
    tokio::select! {
        _ = &mut closed => {}
        Some(()) = stops.recv() => {
            token.cancel();
            // Who says it twice does not want to wait.
            tokio::select! {
                _ = &mut closed => {}
                Some(()) = stops.recv() => return Ok(()),
            }
        }
    }
    settled(&seats, PATIENCE).await;
    Ok(())
}

/// Returns where the signals arrive that tell the process to end.
fn signals() -> io::Result<mpsc::Receiver<()>> {
    let (sender, receiver) = mpsc::channel(1);
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
        let (mut signal, sender) = (signal(kind)?, sender.clone());
        tokio::spawn(async move { while signal.recv().await.is_some() && sender.send(()).await.is_ok() {} });
    }
    Ok(receiver)
}

//! Filters the lines of a client before the SDK reads them, so that invalid JSON is answered, too.
//!
//! The SDK silently skips such a line, and the client would wait for its answer forever.

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::mpsc::{Receiver, Sender};

/// The answer to a line that is not JSON, whose id is unknown.
const PARSE_ERROR: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse error: the line is not JSON\"}}\n";

/// Forwards the lines of a client to the server, until either ends. Invalid JSON is answered here.
pub(super) async fn pass_questions(
    input: impl AsyncRead + Unpin,
    mut server: DuplexStream,
    answers: Sender<Vec<u8>>,
) {
    let mut input = BufReader::new(input);
    loop {
        let mut line = Vec::new();
        if !matches!(input.read_until(b'\n', &mut line).await, Ok(1..)) {
            return;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let passed = if serde_json::from_slice::<serde_json::Value>(&line).is_ok() {
            server.write_all(&line).await.is_ok()
        } else {
            answers.send(PARSE_ERROR.to_vec()).await.is_ok()
        };
        if !passed {
            return;
        }
    }
}

/// Forwards whole lines of the server, so that none is written into the middle of another.
pub(super) async fn pass_answers(server: DuplexStream, answers: Sender<Vec<u8>>) {
    let mut server = BufReader::new(server);
    loop {
        let mut line = Vec::new();
        if !matches!(server.read_until(b'\n', &mut line).await, Ok(1..)) || answers.send(line).await.is_err()
        {
            return;
        }
    }
}

/// Writes lines until there are no more, or writing fails.
pub(super) async fn write_answers(mut output: impl AsyncWrite + Unpin, mut answers: Receiver<Vec<u8>>) {
    while let Some(line) = answers.recv().await {
        let written = async {
            output.write_all(&line).await?;
            output.flush().await
        };
        if written.await.is_err() {
            return;
        }
    }
}

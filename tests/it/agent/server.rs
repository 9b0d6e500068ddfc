//! A scripted model server: it responds as a test specifies and records every byte that it
//! receives.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A received request.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedRequest {
    /// The method.
    pub(crate) method: String,
    /// The path with its query.
    pub(crate) path: String,
    /// Names, in lower case, and values.
    pub(crate) headers: Vec<(String, String)>,
    /// The body.
    pub(crate) body: Vec<u8>,
    /// When it was complete.
    pub(crate) at: Instant,
}

impl ReceivedRequest {
    /// Returns the body as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// Returns the value of a header, by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns everything that was sent, as text.
    pub(crate) fn text(&self) -> String {
        let headers: Vec<String> =
            self.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        format!(
            "{} {}\n{}\n\n{}",
            self.method,
            self.path,
            headers.join("\n"),
            String::from_utf8_lossy(&self.body)
        )
    }
}

/// How the server handles a request.
#[derive(Debug, Clone)]
pub(crate) enum ServerAction {
    /// Respond with this status, these headers and this body.
    Answer(u16, Vec<(String, String)>, Vec<u8>),
    /// Wait, then respond.
    Late(Duration, Box<ServerAction>),
    /// Write these bytes, which need not be HTTP, and hang up.
    Raw(Vec<u8>),
    /// Write the first bytes, then the others repeatedly with a pause, until the client hangs up.
    Drip(Vec<u8>, Vec<u8>, Duration),
    /// Hang up.
    HangUp,
    /// Stay silent until the test ends or the client hangs up.
    Silence,
}

impl ServerAction {
    /// Returns a JSON response.
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        let header = ("content-type".to_owned(), "application/json".to_owned());
        Self::Answer(status, vec![header], serde_json::to_vec(body).unwrap())
    }

    /// Returns the response with an additional header.
    pub(crate) fn with(self, name: &str, value: &str) -> Self {
        match self {
            Self::Answer(status, mut headers, body) => {
                headers.push((name.to_owned(), value.to_owned()));
                Self::Answer(status, headers, body)
            }
            other => other,
        }
    }

    /// Returns a response of Anthropic's Messages API with this text and these token counts.
    pub(crate) fn anthropic(words: &str, input: u64, output: u64) -> Self {
        Self::json(
            200,
            &json!({
                "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
                "content": [{"type": "text", "text": words}],
                "stop_reason": "end_turn", "stop_sequence": null,
                "usage": {"input_tokens": input, "output_tokens": output},
            }),
        )
        .with("request-id", "req_1")
    }

    /// Returns a response of the Chat Completions API.
    pub(crate) fn chat(words: &str, input: u64, output: u64) -> Self {
        Self::json(
            200,
            &json!({
                "id": "c_1", "object": "chat.completion", "created": 1, "model": "m",
                "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": words}}],
                "usage": {"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output},
            }),
        )
    }

    /// Returns a response with summaries for both tiers in the requested format.
    pub(crate) fn both(brief: &str, detail: &str) -> Self {
        Self::anthropic(&format!("<brief>{brief}</brief>\n<detail>{detail}</detail>"), 100, 20)
    }
}

type ServerScript = dyn Fn(&ReceivedRequest, usize) -> ServerAction + Send + Sync;

struct ServerState {
    script: Box<ServerScript>,
    seen: Mutex<Vec<ReceivedRequest>>,
    connections: AtomicUsize,
    under_way: AtomicUsize,
    most_at_once: AtomicUsize,
    is_over: AtomicBool,
}

/// A server on its own loopback port.
pub(crate) struct ModelServer {
    address: SocketAddr,
    shared: Arc<ServerState>,
}

impl ModelServer {
    /// Starts a server that handles each request, numbered from 0, as `script` specifies.
    pub(crate) fn start(
        script: impl Fn(&ReceivedRequest, usize) -> ServerAction + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(ServerState {
            script: Box::new(script),
            seen: Mutex::default(),
            connections: AtomicUsize::new(0),
            under_way: AtomicUsize::new(0),
            most_at_once: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if serving.is_over.load(Ordering::SeqCst) {
                    return;
                }
                serving.connections.fetch_add(1, Ordering::SeqCst);
                let serving = Arc::clone(&serving);
                thread::spawn(move || serve(stream, &serving));
            }
        });
        Self { address, shared }
    }

    /// Starts a server that uses these actions in turn, and then repeats the last one.
    pub(crate) fn with_responses(acts: impl IntoIterator<Item = ServerAction>) -> Self {
        let acts: Mutex<VecDeque<ServerAction>> = Mutex::new(acts.into_iter().collect());
        Self::start(move |_, _| {
            let mut acts = acts.lock().unwrap();
            if 1 < acts.len() { acts.pop_front().unwrap() } else { acts[0].clone() }
        })
    }

    /// Returns the address for a provider's `base_url`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the complete requests in order.
    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.shared.seen.lock().unwrap().clone()
    }

    /// Returns the number of complete requests.
    pub(crate) fn request_count(&self) -> usize {
        self.shared.seen.lock().unwrap().len()
    }

    /// Returns the number of connections, whether or not they sent a request.
    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Returns the highest number of concurrent requests.
    pub(crate) fn max_concurrent(&self) -> usize {
        self.shared.most_at_once.load(Ordering::SeqCst)
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // The accepting thread is blocked; this connection wakes it up to exit.
        let _ = TcpStream::connect(self.address);
    }
}

/// Answers the requests of one connection until either side hangs up.
fn serve(stream: TcpStream, shared: &ServerState) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    while let Some(seen) = read(&mut reader) {
        let now = shared.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        shared.most_at_once.fetch_max(now, Ordering::SeqCst);
        let number = {
            let mut all = shared.seen.lock().unwrap();
            all.push(seen.clone());
            all.len() - 1
        };
        let stays = perform((shared.script)(&seen, number), &mut stream, shared);
        shared.under_way.fetch_sub(1, Ordering::SeqCst);
        if !stays {
            return;
        }
    }
}

/// Performs an action and returns whether the connection stays open.
fn perform(act_now: ServerAction, stream: &mut TcpStream, shared: &ServerState) -> bool {
    match act_now {
        ServerAction::Answer(status, headers, body) => {
            let headers: String = headers
                .iter()
                .map(|(name, value)| format!("{name}: {value}\r\n"))
                .collect::<Vec<_>>()
                .concat();
            let head = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\n\r\n", body.len());
            stream.write_all(&[head.as_bytes(), &body].concat()).is_ok()
        }
        ServerAction::Late(wait, then) => {
            thread::sleep(wait);
            perform(*then, stream, shared)
        }
        ServerAction::Raw(bytes) => {
            let _ = stream.write_all(&bytes);
            false
        }
        ServerAction::Drip(first, others, pause) => {
            let mut goes_on = stream.write_all(&first).is_ok();
            while goes_on && !shared.is_over.load(Ordering::SeqCst) {
                thread::sleep(pause);
                goes_on = stream.write_all(&others).is_ok();
            }
            false
        }
        ServerAction::HangUp => false,
        ServerAction::Silence => {
            let _ = stream.set_read_timeout(Some(Duration::from_millis(50)));
            // An empty read means that the connection was closed; a timeout means nothing.
            while !shared.is_over.load(Ordering::SeqCst) {
                if matches!(stream.read(&mut [0]), Ok(0)) {
                    break;
                }
            }
            false
        }
    }
}

/// Reads a request with a body of a known length.
fn read(reader: &mut impl BufRead) -> Option<ReceivedRequest> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|bytes| 0 < *bytes)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|bytes| 0 < *bytes)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(ReceivedRequest { method, path, headers, body, at: Instant::now() })
}

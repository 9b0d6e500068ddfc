//! The server: reads messages and keeps the open texts on this thread, and answers requests on others.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, Write};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use serde::Deserialize;
use serde_json::{Value, json};

use super::addresses::{Addresses, parse as parse_address};
use super::buffers::OpenBuffers;
use super::context::{ClientTraits, RequestContext, Session};
use super::framing::{Frame, read_frame, write_frame};
use super::message::{
    INVALID_REQUEST, METHOD_NOT_FOUND, Message, NOT_INITIALIZED, PARSE_ERROR, ResponseError, notification,
    parse, response,
};
use super::requests::{DocumentParams, LspRequest};
use super::text::{PositionEncoding, TextChange};
use crate::api::fault::ApiError;
use crate::api::queries::IndexQuery;
use crate::api::service::{QueryJob, Service, VERSION};
use crate::model::{STACK_BYTES, lock};

/// The number of requests that are answered simultaneously; others wait.
const MAX_CONCURRENT: usize = 4;

/// The number of sent notes that are remembered; then all are forgotten.
const MAX_NOTED: usize = 1000;

/// The served project.
pub struct LspProject {
    pub service: Arc<dyn Service>,
    /// The folder that the client has opened, as the client spells it and without links, if these differ.
    pub opened: Option<(PathBuf, PathBuf)>,
    pub require_fresh: bool,
}

/// Opens the project of the client's folder, or of the current one if it names none.
pub type OpenProject<'o> = &'o dyn Fn(Option<&Path>) -> Result<LspProject, ApiError>;

/// Serves one client until it disconnects. Returns whether it followed the protocol, or closed the input.
///
/// Nothing else may write to standard output meanwhile.
pub fn serve(
    open: OpenProject<'_>,
    input: &mut dyn BufRead,
    output: impl Write + Send + 'static,
) -> io::Result<bool> {
    let mut server = Server {
        open,
        output: Arc::new(Mutex::new(output)),
        state: ServerState::Started,
        buffers: Arc::default(),
        running: Arc::default(),
        noted: Arc::default(),
    };
    let mut input = input;
    let is_orderly = loop {
        match read_frame(&mut input)? {
            // Closing the input is not an error.
            None => break true,
            Some(Frame::Unreadable(reason)) => {
                server.respond(&Value::Null, Err(ResponseError::new(PARSE_ERROR, reason)));
            }
            Some(Frame::Content(content)) => match parse(&content) {
                Err((id, error)) => server.respond(&id, Err(error)),
                Ok(Message::Request { id, method, params }) => server.request(id, &method, params),
                Ok(Message::Notification { method, params }) => {
                    if method == "exit" {
                        break matches!(server.state, ServerState::ShutDown);
                    }
                    server.notification(&method, params);
                }
                Ok(Message::Response) => {}
            },
        }
    };
    // The client no longer waits for running requests.
    lock(&server.running).values().for_each(|job| job.cancel());
    server.stop_workers();
    Ok(is_orderly)
}

struct Server<'o, W> {
    open: OpenProject<'o>,
    output: Arc<Mutex<W>>,
    state: ServerState,
    buffers: Arc<OpenBuffers>,
    /// The pending requests, by their ids as JSON.
    running: Arc<Mutex<HashMap<String, Arc<QueryJob>>>>,
    noted: Arc<Mutex<HashSet<String>>>,
}

enum ServerState {
    Started,
    Serving { session: Arc<Session>, work: Sender<WorkItem>, workers: Vec<std::thread::JoinHandle<()>> },
    ShutDown,
}

/// The next work of a worker.
struct WorkItem {
    /// `None` if no response is expected.
    id: Option<Value>,
    work: WorkerTask,
    buffers: Arc<OpenBuffers>,
    job: Arc<QueryJob>,
}

enum WorkerTask {
    Answer(LspRequest),
    /// Reads the project in advance, so that the first request does not wait for it.
    ReadProject,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct InitializeParams {
    root_uri: Option<String>,
    workspace_folders: Option<Vec<WorkspaceFolder>>,
    capabilities: Value,
}

#[derive(Deserialize)]
struct WorkspaceFolder {
    uri: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OpenParams {
    text_document: OpenedDocument,
}

#[derive(Deserialize)]
struct OpenedDocument {
    uri: String,
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChangeParams {
    #[serde(flatten)]
    document: DocumentParams,
    content_changes: Vec<TextChange>,
}

#[derive(Deserialize)]
struct CancelParams {
    id: Value,
}

impl<W: Write + Send + 'static> Server<'_, W> {
    fn request(&mut self, id: Value, method: &str, params: Value) {
        let result = match (&self.state, method) {
            (ServerState::Started, "initialize") => self.initialize(params),
            (ServerState::Started, _) => {
                Err(ResponseError::new(NOT_INITIALIZED, "server is not initialized"))
            }
            (ServerState::ShutDown, _) => Err(ResponseError::new(INVALID_REQUEST, "server is shut down")),
            (ServerState::Serving { .. }, "initialize") => {
                Err(ResponseError::new(INVALID_REQUEST, "server is initialized already"))
            }
            (ServerState::Serving { .. }, "shutdown") => {
                self.stop_workers();
                Ok(Value::Null)
            }
            (ServerState::Serving { work, .. }, method) => match LspRequest::parse(method, params) {
                None => Err(ResponseError::new(METHOD_NOT_FOUND, format!("no method named `{method}`"))),
                Some(Err(error)) => Err(error),
                Some(Ok(request)) => {
                    let job = Arc::new(QueryJob::default());
                    lock(&self.running).insert(id.to_string(), Arc::clone(&job));
                    let buffers = Arc::clone(&self.buffers);
                    let work_item =
                        WorkItem { id: Some(id), work: WorkerTask::Answer(request), buffers, job };
                    // The workers end only after this sender is dropped.
                    let _ = work.send(work_item);
                    return;
                }
            },
        };
        self.respond(&id, result);
    }

    fn initialize(&mut self, params: Value) -> Result<Value, ResponseError> {
        let params: InitializeParams =
            serde_json::from_value(params).map_err(|error| ResponseError::invalid_params(&error))?;
        let first = params.workspace_folders.iter().flatten().next().map(|folder| &folder.uri);
        let folder = first.or(params.root_uri.as_ref()).and_then(|uri| parse_address(uri));
        let LspProject { service, opened, require_fresh } = (self.open)(folder.as_deref())?;
        let traits = client_traits(&params.capabilities);
        let session = Arc::new(Session { service, addresses: Addresses { opened }, traits, require_fresh });
        let (work, items) = channel();
        let items = Arc::new(Mutex::new(items));
        let worker = || {
            let worker = Worker {
                session: Arc::clone(&session),
                output: Arc::clone(&self.output),
                running: Arc::clone(&self.running),
                noted: Arc::clone(&self.noted),
            };
            let items = Arc::clone(&items);
            let builder = std::thread::Builder::new().name("answer".to_owned()).stack_size(STACK_BYTES);
            builder.spawn(move || worker.run(&items)).ok()
        };
        let workers: Vec<_> = (0..MAX_CONCURRENT).map_while(|_| worker()).collect();
        if workers.is_empty() {
            return Err(ApiError::environment(
                "too_few_threads",
                "no thread can be started",
                "raise the limit of processes, for example with `ulimit -u`",
            )
            .into());
        }
        self.state = ServerState::Serving { session, work, workers };
        let encoding = match traits.encoding {
            PositionEncoding::Utf8 => "utf-8",
            PositionEncoding::Utf16 => "utf-16",
        };
        Ok(json!({
            "capabilities": {
                "positionEncoding": encoding,
                "textDocumentSync": {"openClose": true, "change": 2},
                "documentSymbolProvider": true,
                "workspaceSymbolProvider": true,
                "definitionProvider": true,
                "referencesProvider": true,
                "hoverProvider": true,
                "foldingRangeProvider": true,
            },
            "serverInfo": {"name": "slop", "version": VERSION},
        }))
    }

    fn notification(&mut self, method: &str, params: Value) {
        let ServerState::Serving { session, work, .. } = &self.state else { return };
        let path = |uri: &str| session.addresses.path(uri);
        let buffers = &mut self.buffers;
        let outcome = match method {
            "initialized" => {
                let job = Arc::new(QueryJob::default());
                let _ = work.send(WorkItem {
                    id: None,
                    work: WorkerTask::ReadProject,
                    buffers: Arc::clone(buffers),
                    job: Arc::clone(&job),
                });
                // The end of the server also cancels it.
                lock(&self.running).insert("initialized".to_owned(), job);
                Ok(())
            }
            "$/cancelRequest" => serde_json::from_value(params).map(|CancelParams { id }| {
                if let Some(job) = lock(&self.running).get(&id.to_string()) {
                    job.cancel();
                }
            }),
            "textDocument/didOpen" => serde_json::from_value(params).map(|OpenParams { text_document }| {
                if let Some(path) = path(&text_document.uri) {
                    Arc::make_mut(buffers).open(path, text_document.uri, text_document.text);
                }
            }),
            "textDocument/didChange" => serde_json::from_value(params).map(|params: ChangeParams| {
                if let Some(path) = path(&params.document.text_document.uri) {
                    Arc::make_mut(buffers).change(&path, params.content_changes, session.traits.encoding);
                }
            }),
            "textDocument/didClose" => serde_json::from_value(params).map(|params: DocumentParams| {
                if let Some(path) = path(&params.text_document.uri) {
                    Arc::make_mut(buffers).close(&path);
                }
            }),
            _ => Ok(()),
        };
        if let Err(error) = outcome {
            // No response is expected, but the client's text may now differ from this server's.
            let message = format!("invalid params of {method}: {error}");
            send(&self.output, &notification("window/logMessage", &json!({"type": 1, "message": message})));
        }
    }

    /// Answers pending requests, and rejects all others from now on.
    fn stop_workers(&mut self) {
        let state = std::mem::replace(&mut self.state, ServerState::ShutDown);
        if let ServerState::Serving { work, workers, .. } = state {
            if let Some(job) = lock(&self.running).get("initialized") {
                job.cancel();
            }
            drop(work);
            // A worker ends even if its last request panics.
            for worker in workers {
                drop(worker.join());
            }
        }
    }

    fn respond(&self, id: &Value, result: Result<Value, ResponseError>) {
        send(&self.output, &response(id, result));
    }
}

/// A thread that answers requests until there are no more.
struct Worker<W> {
    session: Arc<Session>,
    output: Arc<Mutex<W>>,
    running: Arc<Mutex<HashMap<String, Arc<QueryJob>>>>,
    /// The notes that were already sent to the client.
    noted: Arc<Mutex<HashSet<String>>>,
}

impl<W: Write> Worker<W> {
    fn run(&self, items: &Mutex<Receiver<WorkItem>>) {
        loop {
            let next = lock(items).recv();
            let Ok(WorkItem { id, work, buffers, job }) = next else { return };
            let context = RequestContext { session: &self.session, buffers: &buffers, job: &job };
            // A panic affects only this answer, because shared state is always replaced as a whole.
            let result = catch_unwind(AssertUnwindSafe(|| answer(&work, &context)));
            let result = result.unwrap_or_else(|_| Err(ApiError::bug().into()));
            for note in job.take_notes() {
                if self.is_new(&note) {
                    let params = json!({"type": 3, "message": note});
                    send(&self.output, &notification("window/logMessage", &params));
                }
            }
            if let Some(id) = id {
                lock(&self.running).remove(&id.to_string());
                send(&self.output, &response(&id, result));
            }
        }
    }

    /// Records that a note is sent; returns whether this is the first time.
    fn is_new(&self, note: &str) -> bool {
        let mut noted = lock(&self.noted);
        if MAX_NOTED <= noted.len() {
            noted.clear();
        }
        noted.insert(note.to_owned())
    }
}

fn answer(work: &WorkerTask, context: &RequestContext<'_>) -> Result<Value, ResponseError> {
    if context.job.is_cancelled() {
        return Err(ResponseError::new(super::message::REQUEST_CANCELLED, "request was cancelled"));
    }
    match work {
        WorkerTask::Answer(request) => request.answer(context),
        WorkerTask::ReadProject => {
            context.ask(IndexQuery { verify: false })?;
            Ok(Value::Null)
        }
    }
}

/// Reads the capabilities of a client; invalid ones count as missing.
fn client_traits(capabilities: &Value) -> ClientTraits {
    let offers = |pointer: &str, wanted: &str| {
        let offered = capabilities.pointer(pointer).and_then(Value::as_array);
        offered.is_some_and(|offered| offered.iter().any(|one| one == wanted))
    };
    let is_set = |pointer: &str| capabilities.pointer(pointer) == Some(&Value::Bool(true));
    let reads_utf8 = offers("/general/positionEncodings", "utf-8");
    let encoding = if reads_utf8 { PositionEncoding::Utf8 } else { PositionEncoding::Utf16 };
    let max_folds = capabilities.pointer("/textDocument/foldingRange/rangeLimit").and_then(Value::as_u64);
    let max_folds = max_folds.and_then(|limit| usize::try_from(limit).ok()).and_then(NonZeroUsize::new);
    ClientTraits {
        encoding,
        reads_markdown: offers("/textDocument/hover/contentFormat", "markdown"),
        reads_nested_symbols: is_set("/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport"),
        max_folds: max_folds.map_or(usize::MAX, NonZeroUsize::get),
    }
}

fn send<W: Write>(output: &Mutex<W>, message: &Value) {
    let bytes = serde_json::to_vec(message).expect("messages have string keys, so they can be serialized");
    // A disconnected client is noticed when its input ends.
    let _ = write_frame(&mut *lock(output), &bytes);
}

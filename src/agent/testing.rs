//! The harness of the tests: a clock that advances only in waits, scripted servers, tasks without content.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::call::AgentWorld;
use super::options::Options;
use super::outcome::{NoObserver, RunOutcome};
use super::prompts::PromptSource;
use super::service::SummaryService;
use crate::engine::summaries::{PreparedPrompt, SubjectLocation, SummaryPolicy, SummaryTask, WithheldReason};
use crate::llm::{Model, Provider, SoftFailure, TokenPrice, built_in_providers};
use crate::model::{
    ContentHash, HttpError, HttpRequest, HttpResponse, ModelName, ModelPrompt, Money, RelPath, SummaryKey,
    SummaryScope, Tier,
};
use crate::store::agent::{AgentDb, SpendCaps};
use crate::summarize::prompt::PromptStrategy;
use crate::sys::{Clock, Commands, HttpLimits, HttpTransport, ProcessOutput};

/// 2026-11-21, 00:00 UTC.
pub(super) const MIDNIGHT: u64 = 1_795_219_200;

/// The key of every provider.
pub(super) const KEY: &str = "hunter-of-keys-two";

/// A clock that advances only when somebody waits.
#[derive(Debug, Default)]
pub(super) struct FakeClock(AtomicU64);

impl Clock for FakeClock {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(MIDNIGHT) + self.monotonic()
    }

    fn sleep(&self, time: Duration) {
        self.0.fetch_add(u64::try_from(time.as_nanos()).unwrap(), Ordering::SeqCst);
        std::thread::yield_now();
    }

    fn thread_time(&self) -> Duration {
        Duration::ZERO
    }

    fn monotonic(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::SeqCst))
    }
}

/// A request that was sent.
#[derive(Debug, Clone)]
pub(super) struct RecordedRequest {
    /// When it was sent.
    pub(super) at: Duration,
    /// The address it was sent to.
    pub(super) url: String,
    pub(super) body: String,
}

/// Returns the response to a request, given its number, counted from 0.
pub(super) type ResponseScript =
    Box<dyn Fn(usize, &RecordedRequest) -> Result<HttpResponse, HttpError> + Sync + Send>;

/// Servers that respond by a script.
pub(super) struct FakeNetwork {
    clock: Arc<FakeClock>,
    script: ResponseScript,
    count: AtomicUsize,
    seen: Mutex<Vec<RecordedRequest>>,
}

impl HttpTransport for FakeNetwork {
    fn send(
        &self,
        request: &HttpRequest,
        _limits: &HttpLimits,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<HttpResponse, HttpError> {
        let body = String::from_utf8(request.body.clone()).unwrap();
        let seen = RecordedRequest { at: self.clock.monotonic(), url: request.url.clone(), body };
        self.seen.lock().unwrap().push(seen.clone());
        let number = self.count.fetch_add(1, Ordering::SeqCst);
        if is_stopped() {
            return Err(HttpError::Stopped);
        }
        (self.script)(number, &seen)
    }
}

impl Commands for FakeNetwork {
    fn run_command(
        &self,
        command: &[String],
        input: &str,
        _timeout: Duration,
        _max_output: usize,
        _is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> std::io::Result<ProcessOutput> {
        let seen =
            RecordedRequest { at: self.clock.monotonic(), url: command.join(" "), body: input.to_owned() };
        self.seen.lock().unwrap().push(seen);
        match command[0].as_str() {
            "echo" => Ok(ProcessOutput {
                success: true,
                stdout: command[1].clone().into_bytes(),
                stderr: Vec::new(),
            }),
            "fail" => Ok(ProcessOutput {
                success: false,
                stdout: Vec::new(),
                stderr: b"error: not logged in".to_vec(),
            }),
            _ => Err(std::io::Error::from(std::io::ErrorKind::NotFound)),
        }
    }
}

/// A folder, a clock and servers.
pub(super) struct TestBench {
    pub(super) folder: tempfile::TempDir,
    pub(super) clock: Arc<FakeClock>,
    pub(super) network: FakeNetwork,
}

impl TestBench {
    pub(super) fn new(
        script: impl Fn(usize, &RecordedRequest) -> Result<HttpResponse, HttpError> + Sync + Send + 'static,
    ) -> Self {
        let clock = Arc::new(FakeClock::default());
        let network = FakeNetwork {
            clock: clock.clone(),
            script: Box::new(script),
            count: AtomicUsize::new(0),
            seen: Mutex::default(),
        };
        Self { folder: tempfile::tempdir().unwrap(), clock, network }
    }

    pub(super) fn service(&self, options: &Options) -> SummaryService<'_> {
        let world = AgentWorld { network: &self.network, commands: &self.network, clock: &*self.clock };
        let keys = ["anthropic", "openai-chat", "openai"].map(|name| (name.to_owned(), KEY.into()));
        SummaryService::open(self.folder.path(), world, options.clone(), keys.into()).unwrap()
    }

    /// Opens a service and runs tasks.
    pub(super) fn run(&self, options: &Options, tasks: Vec<SummaryTask>) -> RunOutcome {
        self.service(options).run(tasks, &PlainPrompts, &NoObserver, &|| false)
    }

    pub(super) fn seen(&self) -> Vec<RecordedRequest> {
        self.network.seen.lock().unwrap().clone()
    }

    pub(super) fn paid(&self) -> AgentDb {
        AgentDb::open(&self.folder.path().join("agent.db")).unwrap().db
    }

    pub(super) fn now(&self) -> Duration {
        self.clock.monotonic()
    }

    pub(super) fn clock_passes(&self, time: Duration) {
        self.clock.sleep(time);
    }
}

/// Prompts for tasks without content.
pub(super) struct PlainPrompts;

impl PromptSource for PlainPrompts {
    fn keys(&self, task: &SummaryTask, by: &ModelName) -> Vec<(Tier, SummaryKey)> {
        let key = |tier: Tier| {
            SummaryKey(ContentHash::digest(format!("{} {by} {}", task.subject, tier.number()).as_bytes()))
        };
        task.tiers.iter().map(|tier| (*tier, key(*tier))).collect()
    }

    fn prepare(&self, task: &SummaryTask, shrink: u8) -> Result<PreparedPrompt, WithheldReason> {
        let SubjectLocation::File(path) = &task.location else { return Err(WithheldReason::Changed) };
        let name = path.as_str().unwrap();
        if name.contains("secret") {
            return Err(WithheldReason::Secret { rules: vec!["aws-access-token".to_owned()] });
        }
        let length = 4_000 >> shrink;
        let prompt = ModelPrompt {
            instructions: "Say what this is. ".repeat(200),
            material: format!("<{name}> {}", "x".repeat(length)),
            answer_tokens: 100,
        };
        Ok(PreparedPrompt { prompt, strategy: "code/1".to_owned(), redacted: 0, is_cut: false })
    }

    fn check(&self, task: &SummaryTask, answer: &str) -> Result<Vec<(Tier, String)>, SoftFailure> {
        match answer {
            "misshapen" => Err(SoftFailure::Misshapen),
            _ => Ok(task.tiers.iter().map(|tier| (*tier, answer.to_owned())).collect()),
        }
    }
}

/// Returns a task about the file of that name.
pub(super) fn task(name: &str) -> SummaryTask {
    let path = RelPath::new(name.as_bytes()).unwrap();
    let mut task = SummaryTask {
        id: SummaryKey(ContentHash::digest(b"")),
        subject: ContentHash::digest(name.as_bytes()),
        language: "rust",
        scope: SummaryScope::File,
        strategy: PromptStrategy::Code,
        location: SubjectLocation::File(path.clone()),
        paths: vec![path],
        tiers: vec![Tier::Orchestrator, Tier::TechLead],
        estimated_bytes: 4_000,
    };
    let first = ModelName { provider: "anthropic".to_owned(), model: "small".to_owned() };
    task.id = PlainPrompts.keys(&task, &first)[0].1;
    task
}

/// Returns tasks about this many files.
pub(super) fn tasks(count: usize) -> Vec<SummaryTask> {
    (0..count).map(|number| task(&format!("f{number}"))).collect()
}

pub(super) fn provider(name: &str) -> Provider {
    built_in_providers().into_iter().find(|provider| provider.name == name).unwrap()
}

/// An Anthropic model, at a dollar for a million tokens of input and five for output.
pub(super) fn model(name: &str) -> Model {
    let money = |text| Money::from_dollars(text).unwrap();
    let price = TokenPrice {
        input: money("1"),
        cache_read: money("0.1"),
        cache_write: money("1.25"),
        output: money("5"),
        long: None,
    };
    Model {
        provider: Arc::new(provider("anthropic")),
        name: name.to_owned(),
        temperature: None,
        top_p: None,
        max_output_tokens: None,
        price: Some(price),
        min_cacheable_tokens: None,
    }
}

pub(super) fn options(chain: Vec<Model>) -> Options {
    let policy = SummaryPolicy {
        tiers: vec![Tier::Orchestrator, Tier::TechLead],
        models: Vec::new(),
        provider_chain: String::new(),
        paths: Vec::new(),
        exclude: Vec::new(),
        items: Vec::new(),
        min_age: Duration::ZERO,
        material_bytes: 24_000,
        answer_tokens: 100,
        redacts: false,
        min_bytes: 0,
        secret_names: crate::engine::summaries::SecretNames::default(),
        retries: false,
    };
    Options {
        is_background: false,
        chain,
        policy,
        concurrency: 1,
        requests_a_minute: 100_000,
        tokens_a_minute: 100_000_000,
        timeout: Duration::from_mins(2),
        proxy: None,
        caps: SpendCaps {
            day: Money::from_nanos(1 << 50),
            total: Money::from_nanos(1 << 50),
            calls_a_day: 1 << 40,
        },
        writers: Vec::new(),
        fills_outbox: false,
    }
}

/// Returns how many tasks were answered, refused and left, and how many calls were made.
pub(super) fn counts(outcome: &RunOutcome) -> (u64, u64, u64, u64) {
    (outcome.answered, outcome.refused.len() as u64, outcome.remaining, outcome.calls)
}

/// An answer in Anthropic's format.
pub(super) fn answer(text: &str) -> HttpResponse {
    response(
        200,
        &format!(
            r#"{{"type":"message","role":"assistant","content":[{{"type":"text","text":"{text}"}}],"stop_reason":"end_turn","usage":{{"input_tokens":1000,"output_tokens":50}}}}"#
        ),
    )
}

/// What [`answer`] costs at [`model`]'s price.
pub(super) const ANSWER_COSTS: Money = Money::from_nanos(1_000 * 1_000 + 50 * 5_000);

/// An error in Anthropic's format.
pub(super) fn error(status: u16, kind: &str) -> HttpResponse {
    response(
        status,
        &format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"{kind}, it says"}}}}"#),
    )
}

pub(super) fn response(status: u16, body: &str) -> HttpResponse {
    HttpResponse { status, headers: Vec::new(), body: body.as_bytes().to_vec() }
}

pub(super) fn with_header(mut response: HttpResponse, name: &str, value: &str) -> HttpResponse {
    response.headers.push((name.to_owned(), value.to_owned()));
    response
}

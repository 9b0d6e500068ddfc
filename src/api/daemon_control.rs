//! The operations of a daemon besides answering: its status, the feed of changes, and stopping it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::feed::{ClockPosition, Subscription};
use super::service::Service;
use super::wire::Dollars;
use crate::engine::StepSummary;

/// A service that keeps running between questions, such as the daemon.
///
/// All methods but [`Service::answer`] are called from threads that serve sockets, and must not block.
pub trait DaemonControl: Service {
    fn status(&self) -> DaemonStatus;

    /// Returns how long the steps of its answers have taken, with its status.
    fn performance(&self) -> PerformanceReport;

    /// Subscribes to changes from now on, or after `since`.
    fn subscribe(&self, since: Option<ClockPosition>) -> Subscription;

    /// Asks the daemon to stop, without waiting for it.
    fn stop(&self);

    /// Returns the fingerprint of the settings in use.
    fn fingerprint(&self) -> String;
}

/// The status of a daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DaemonStatus {
    /// Version of the protocol between clients and daemons.
    pub protocol: u32,
    /// Version of the program.
    pub version: String,
    /// The daemon's process.
    pub pid: u32,
    /// The watched folder.
    pub root: String,
    /// The project's name.
    pub project: String,
    /// The start time of the daemon in milliseconds since the Unix epoch.
    pub started_at_ms: i64,
    /// The uptime in milliseconds.
    pub uptime_ms: u64,
    /// How it detects changes.
    pub mode: DaemonMode,
    /// Why it receives no events, if it does not.
    pub reason: Option<String>,
    /// The epoch of `sequence`; a new one begins at each start, and when events were lost.
    pub epoch: u64,
    /// The number of changes seen in this epoch.
    pub sequence: u64,
    /// Epoch and sequence combined: `epoch:sequence`.
    pub clock: String,
    /// The number of files that have changed and are not yet indexed.
    pub pending: u64,
    /// The number of queries waiting for a worker.
    pub queue_waiting: u64,
    /// The number of worker threads.
    pub workers: u32,
    /// The number of queries answered.
    pub answers: u64,
    /// How often the system's event queue overflowed.
    pub overflows: u64,
    /// How often the whole tree was rescanned.
    pub rescans: u64,
    /// The number of events received from the system.
    pub events: u64,
    /// The number of watched folders.
    pub watches: u64,
    /// The system's limit of watched folders for this user.
    pub watch_limit: Option<u64>,
    /// The linked folders that cannot be watched, by name, with the reason: their files are compared for each answer.
    #[serde(default)]
    pub unwatched_links: BTreeMap<String, String>,
    /// The number of changes that an audit or a stat found and no event reported.
    pub missed: u64,
    /// Whether each answer is computed twice and compared.
    pub paranoid: ParanoidStatus,
    /// The last audit; absent before the first.
    pub last_audit: Option<AuditStatus>,
    /// The longest recent delay of the event loop.
    pub lag_ms: u64,
    /// The cache on disk.
    pub store: StoreStatus,
    /// The sub-agent that writes summaries.
    pub agent: AgentStatus,
    /// The process's memory in use.
    pub rss_bytes: Option<u64>,
    /// The number of open file descriptors.
    pub fds: Option<u64>,
    /// The loopback address that the daemon also listens on, if any.
    pub listen: Option<String>,
    /// Problems in the settings: omitted entries, and why the last valid settings are in effect.
    #[serde(default)]
    pub settings_problems: Vec<String>,
    /// Fingerprint of the settings in effect.
    pub settings: String,
}

/// The path of requests for a ticket.
pub(in crate::api) const TICKET_PATH: &str = "/v1/ui/ticket";

/// A ticket that opens the web page once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PageTicket {
    /// The address of the page, with the ticket as its fragment.
    pub url: String,
    /// How many seconds the ticket is valid.
    pub expires_in_s: u64,
}

/// How long the steps of a daemon's answers have taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PerformanceReport {
    /// The start of the measurement, which is that of the daemon, in milliseconds since the Unix epoch.
    pub since_ms: i64,
    /// The steps, always the same and in the same order.
    pub spans: Vec<StepSpan>,
    /// The daemon's status.
    pub status: DaemonStatus,
}

/// How long one step of answers has taken. The percentiles are too high by at most an eighth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepSpan {
    /// The step: `cookie`, `list`, `stat`, `read`, `parse`, `derive`, `store`, `render`, `tokens`, `fit`, `order`,
    /// `compose` or `answer`. Some contain others.
    pub name: String,
    /// How often it was done.
    pub count: u64,
    /// The median in microseconds.
    pub p50_us: u64,
    /// The 99th percentile in microseconds.
    pub p99_us: u64,
    /// The longest time in microseconds.
    pub max_us: u64,
    /// The sum in microseconds.
    pub total_us: u64,
}

impl PerformanceReport {
    pub fn new(steps: &[StepSummary], status: DaemonStatus) -> Self {
        let span = |times: &StepSummary| StepSpan {
            name: times.step.name().to_owned(),
            count: times.count,
            p50_us: times.p50_us,
            p99_us: times.p99_us,
            max_us: times.max_us,
            total_us: times.total_us,
        };
        Self { since_ms: status.started_at_ms, spans: steps.iter().map(span).collect(), status }
    }
}

/// How a daemon detects changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DaemonMode {
    /// It receives events from the system.
    Events,
    /// It checks every file for each answer, because events are not available.
    Verified,
    /// It is scanning the tree for the first time.
    Starting,
}

/// Whether each answer is computed twice and compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ParanoidStatus {
    /// Whether it is on.
    pub on: bool,
    /// The number of answers compared.
    pub answers: u64,
    /// The number of them that were wrong.
    pub mistakes: u64,
}

/// The result of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditStatus {
    /// The time of the answer in milliseconds since the Unix epoch.
    pub at_ms: i64,
    /// The number of files that differ from the index.
    pub differences: u64,
}

/// The cache on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreStatus {
    /// Size of the database.
    pub bytes: u64,
    /// Size of its log.
    pub wal_bytes: u64,
    /// Whether it can be used.
    pub ok: bool,
}

/// The sub-agent that writes summaries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentStatus {
    /// Its state: `off`, `idle`, `working`, `paused` (resumes automatically) or `stopped` (until the user acts).
    pub state: String,
    /// Why it is paused or stopped.
    pub reason: Option<String>,
    /// Its models in order, as `provider/model`.
    pub models: Vec<String>,
    /// The number of calls in flight.
    pub in_flight: u32,
    /// The number of tasks of the current round that have not been started.
    pub waiting: u64,
    /// The number of files and folders that could be summarized when last checked.
    pub ready: u64,
    /// The number of them that had summaries.
    pub done: u64,
    /// The number of files that changed too recently.
    pub young: u64,
    /// The number of subjects that were declined or failed, and are not retried yet.
    pub refused: u64,
    /// The number of files that are not sent to a model.
    pub not_asked: u64,
    /// The maximum cost of today's calls.
    pub spent_today_usd: Dollars,
    /// The maximum cost of all calls.
    pub spent_total_usd: Dollars,
    /// The daily spending limit.
    pub cap_day_usd: Dollars,
    /// The total spending limit.
    pub cap_total_usd: Dollars,
}

impl AgentStatus {
    pub fn disabled() -> Self {
        Self { state: "off".to_owned(), ..Self::default() }
    }

    pub fn stopped(reason: String) -> Self {
        Self { state: "stopped".to_owned(), reason: Some(reason), ..Self::default() }
    }
}

/// The daemon is stopping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Stopping {
    /// Whether the daemon is stopping.
    pub(super) stopping: bool,
}

//! What a daemon tells and does beside answering asks: how it fares, what has changed, that it is to stop.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;

use super::feed::ClockPosition;
use super::feed::Subscription;
use super::service::Service;
use super::wire::Dollars;

/// A service that keeps running between two asks, as the daemon does.
///
/// All of it but [`Service::ask`] is called from threads that serve sockets, and must not wait for work.
pub trait DaemonControl: Service {
    /// Returns how the daemon fares.
    fn status(&self) -> DaemonStatus;

    /// Returns what changes from now on, or after `since`.
    fn subscribe(&self, since: Option<ClockPosition>) -> Subscription;

    /// Asks the daemon to stop, and does not wait until it has.
    fn stop(&self);

    /// Returns the fingerprint of the settings that answers are made by.
    fn fingerprint(&self) -> String;
}

/// How a daemon fares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DaemonStatus {
    /// Version of what clients and daemons say to each other.
    pub protocol: u32,
    /// Version of the program.
    pub version: String,
    /// The daemon's process.
    pub pid: u32,
    /// The folder that is watched.
    pub root: String,
    /// The project's name.
    pub project: String,
    /// When the daemon began, in milliseconds since the epoch.
    pub started_at_ms: i64,
    /// How long it has been running.
    pub uptime_ms: u64,
    /// How it knows what has changed.
    pub mode: DaemonMode,
    /// Why it is not told of changes, where it is not.
    pub reason: Option<String>,
    /// The count of starts and of lost tracks that `sequence` belongs to.
    pub epoch: u64,
    /// How many changes were seen in this epoch.
    pub sequence: u64,
    /// Both as one word: `epoch:sequence`.
    pub clock: String,
    /// How many files are known to have changed, and are still to be derived from.
    pub pending: u64,
    /// How many asks wait for a worker.
    pub queue_waiting: u64,
    /// How many threads answer asks.
    pub workers: u32,
    /// How many asks were answered.
    pub answers: u64,
    /// How often the system's queue of events overflowed.
    pub overflows: u64,
    /// How often the whole tree was looked at anew.
    pub rescans: u64,
    /// How many events the system has told.
    pub events: u64,
    /// How many folders are watched.
    pub watches: u64,
    /// How many folders the system lets this user watch.
    pub watch_limit: Option<u64>,
    /// How many changes an audit or a stat found that no event had told.
    pub missed: u64,
    /// Whether each answer is made twice and compared.
    pub paranoid: ParanoidStatus,
    /// The last audit; absent before the first.
    pub last_audit: Option<AuditStatus>,
    /// How long the loop was away from its events at worst, lately.
    pub lag_ms: u64,
    /// The cache on disk.
    pub store: StoreStatus,
    /// The sub-agent that writes summaries.
    pub agent: AgentStatus,
    /// The process's memory in use.
    pub rss_bytes: Option<u64>,
    /// How many files and sockets the process has open.
    pub fds: Option<u64>,
    /// The address of the machine itself that is listened on too, where there is one.
    pub listen: Option<String>,
    /// Fingerprint of the settings that answers are made by.
    pub settings: String,
}

/// How a daemon knows what has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DaemonMode {
    /// The system tells.
    Events,
    /// It looks at every file for each answer, for the system does not tell.
    Verified,
    /// It looks at the tree for the first time.
    Starting,
}

/// Whether each answer is made twice and compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ParanoidStatus {
    /// Whether it is.
    pub on: bool,
    /// How many answers were compared.
    pub answers: u64,
    /// How many of them were not what they should have been.
    pub mistakes: u64,
}

/// What an audit found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditStatus {
    /// When it was, in milliseconds since the epoch.
    pub at_ms: i64,
    /// How many files were not as the index had them.
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentStatus {
    /// What it does: `off`, `idle`, `working`, `paused` (it goes on by itself) or `stopped` (until somebody has done
    /// something).
    pub state: String,
    /// Why it is paused or stopped.
    pub reason: Option<String>,
    /// Whom it asks, the first one first, as `provider/model`.
    pub models: Vec<String>,
    /// How many calls are under way.
    pub in_flight: u32,
    /// How many questions of the present round nobody has begun with.
    pub waiting: u64,
    /// How many files and folders could be asked about when that was last looked at.
    pub ready: u64,
    /// How many of them had their summaries.
    pub done: u64,
    /// How many files had been written too lately.
    pub young: u64,
    /// How many were asked about in vain, and are not asked about again yet.
    pub refused: u64,
    /// How many files no model is asked about.
    pub not_asked: u64,
    /// What this day's calls cost at most.
    pub spent_today_usd: Dollars,
    /// What all calls cost at most.
    pub spent_total_usd: Dollars,
    /// What may be spent a day.
    pub cap_day_usd: Dollars,
    /// What may be spent in all.
    pub cap_total_usd: Dollars,
}

impl AgentStatus {
    /// Returns how one is that asks nobody.
    pub fn disabled() -> Self {
        Self {
            state: "off".to_owned(),
            reason: None,
            models: Vec::new(),
            in_flight: 0,
            waiting: 0,
            ready: 0,
            done: 0,
            young: 0,
            refused: 0,
            not_asked: 0,
            spent_today_usd: Dollars::default(),
            spent_total_usd: Dollars::default(),
            cap_day_usd: Dollars::default(),
            cap_total_usd: Dollars::default(),
        }
    }

    /// Returns how one is that cannot ask anybody.
    pub fn stopped(reason: String) -> Self {
        Self { state: "stopped".to_owned(), reason: Some(reason), ..Self::disabled() }
    }
}

/// The daemon was asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Stopping {
    /// Whether it will.
    pub(super) stopping: bool,
}

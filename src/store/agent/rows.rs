//! The values that `agent.db` stores and returns.

use std::fmt;
use std::path::PathBuf;

use crate::model::{ContentHash, ModelName, Money, SummaryKey, SummaryScope, Tier, TokenUsage, WriterKey};

/// A summary that a model wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSummary {
    /// Its key, a hash of everything that its text depends on.
    pub key: SummaryKey,
    /// Its subject: a content, or the hash of the contents of a folder.
    pub subject: ContentHash,
    /// The id of the content's file type; empty for a folder.
    pub language: String,
    /// The kind of the subject.
    pub scope: SummaryScope,
    /// The tier for which it was written.
    pub tier: Tier,
    /// The prompt that was used, with its version: `code/1`.
    pub prompt: String,
    /// The model that wrote it.
    pub model: ModelName,
    /// The text, checked.
    pub text: String,
    /// The tokens of the call that produced it, and possibly other summaries.
    pub tokens: TokenUsage,
    /// What that call cost.
    pub cost: Money,
    /// When it was received, in milliseconds since the epoch.
    pub at_ms: i64,
}

/// A summary that another member of the team has paid for. Its cost is not in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedSummary {
    pub summary: StoredSummary,
    /// The key with which its signature was verified.
    pub writer: WriterKey,
}

/// The keys under which the state of a task is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskKeys {
    /// The key of its claim.
    pub task: SummaryKey,
    /// The key of its refusal, which also depends on the models.
    pub refusal: SummaryKey,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimStatus {
    /// This process has claimed the task.
    Acquired,
    Done,
    /// Another running process has claimed it.
    HeldElsewhere,
    /// It is in a batch whose answers have not arrived yet.
    InBatch,
    /// It failed and must not be retried before this time (milliseconds since the epoch; `None`: never).
    Refused {
        reason: String,
        until_ms: Option<i64>,
    },
}

/// The most that a call may cost, reserved before the call is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpendReservation {
    /// The task of the call.
    pub task_key: SummaryKey,
    /// The model that is called.
    pub model: ModelName,
    /// The most that it may cost.
    pub max_cost: Money,
    /// The process that calls, by the name of its lock.
    pub holder: String,
    /// Whether it is part of a batch.
    pub is_batch: bool,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
    /// The day for which it counts, in days since 1970-01-01 in UTC.
    pub day: i64,
}

/// The caps on spending. An unsettled reservation counts as spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpendCaps {
    /// The cap on money per day.
    pub day: Money,
    /// In total.
    pub total: Money,
    /// The cap on calls per day.
    pub calls_a_day: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapExceeded {
    Day,
    /// Calls of the day may be missing from a restored ledger, so nothing more is spent on that day.
    DayClosed,
    Total,
    /// How many calls may be made on one day.
    Calls,
}

/// The id of a row of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpendId(pub i64);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchId(pub i64);

/// Calls to be sent as one batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBatch {
    pub model: ModelName,
    /// The reservation of each call, and how its answer is stored.
    pub calls: Vec<(SpendReservation, BatchQuestion)>,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BatchState {
    /// Its cost is reserved. It may or may not have been sent, because a process may have died in between.
    Reserved,
    Submitted,
}

/// A batch whose answers have not all been recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallBatch {
    pub id: BatchId,
    pub model: ModelName,
    /// The provider's name for it, once it was submitted.
    pub remote_id: Option<String>,
    pub state: BatchState,
    /// When it was reserved or submitted, in milliseconds since the epoch.
    pub at_ms: i64,
    /// The calls without a recorded answer.
    pub items: Vec<BatchItem>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchItem {
    pub batch: BatchId,
    pub task_key: SummaryKey,
    pub spend: SpendId,
    /// How its answer is stored.
    pub question: BatchQuestion,
}

/// How the answer to a call of a batch is stored, independent of the settings when it arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchQuestion {
    /// Its subject: a content, or the hash of the contents of a folder.
    pub subject: ContentHash,
    /// The id of the content's file type; empty for a folder.
    pub language: String,
    pub scope: SummaryScope,
    /// The prompt that is used, with its version: `code/1`.
    pub prompt: String,
    /// The keys of the summaries that it produces.
    pub keys: Vec<(Tier, SummaryKey)>,
    /// The paths of all files with this content, as bytes; empty for a folder.
    pub paths: Vec<Vec<u8>>,
}

/// A task that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusalRow {
    pub task_key: SummaryKey,
    pub reason: String,
    /// It must not be retried before this time, in milliseconds since the epoch; `None`: never.
    pub until_ms: Option<i64>,
    /// When it was tried, in milliseconds since the epoch.
    pub at_ms: i64,
}

/// What happened when a damaged or missing database was restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentDbRecovery {
    /// Where the damaged file is kept; `None` if the file was missing.
    pub moved_to: Option<PathBuf>,
    pub reason: String,
    /// How many rows the restored database has.
    pub restored: u64,
    /// How many calls are known to be missing from it.
    pub lost: u64,
    /// Whether calls may be missing from the ledger. Then nothing more may be spent on the day of the last one.
    pub is_ledger_short: bool,
}

impl fmt::Display for AgentDbRecovery {
    /// Formats a note for the user.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reason, restored, lost, .. } = self;
        write!(
            f,
            "summaries by models were restored ({reason}): {restored} rows recovered, {lost} calls known to be lost"
        )?;
        if let Some(moved_to) = &self.moved_to {
            let name = moved_to.file_name().unwrap_or_default().to_string_lossy();
            write!(f, "; the damaged file is kept as {name}")?;
        }
        if self.is_ledger_short {
            f.write_str(
                "; calls may be missing from the ledger, so that no more is spent on the day of the last one",
            )?;
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AgentDbSize {
    pub summaries: u64,
    pub text_bytes: u64,
    /// The number of failed tasks.
    pub refusals: u64,
    pub calls: u64,
    /// The cost of all calls, including unsettled reservations.
    pub spent_total: Money,
    /// Bytes of the database, its log and its backup on disk.
    pub bytes_on_disk: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeletedSummaries {
    pub summaries: u64,
    pub refusals: u64,
    /// The cost of the calls that produced those summaries.
    pub cost: Money,
    /// Bytes by which the database became smaller on disk.
    pub bytes: u64,
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpendOutcome {
    /// It is in progress, or its process has died: it counts at its worst cost.
    Open,
    /// It produced a valid answer.
    Answered,
    /// It was refused; the settlement has its cost.
    Refused,
    /// Its cost is unknown: it counts at its worst cost.
    Unknown,
}

/// The cost and outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpendSettlement {
    /// Its outcome.
    pub outcome: SpendOutcome,
    /// Its cost; `None` counts at its worst cost.
    pub cost: Option<Money>,
    /// The tokens that the provider reported.
    pub tokens: TokenUsage,
    /// The provider's name for it.
    pub request_id: Option<String>,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
}

/// How much has been spent, including reservations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpendTotals {
    pub day: Money,
    /// In total.
    pub total: Money,
    pub calls: u64,
    /// The part of the total that is reserved and not settled.
    pub reserved: Money,
}

/// The calls of one model on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRow {
    /// Days since 1970-01-01, in UTC.
    pub day: i64,
    pub model: ModelName,
    /// How many calls were made.
    pub calls: u64,
    /// How many of them produced a valid answer.
    pub answered: u64,
    /// The tokens, as far as they were reported.
    pub tokens: TokenUsage,
    /// Their cost, including unsettled reservations.
    pub cost: Money,
    /// The part of the cost that is reserved and not settled.
    pub reserved: Money,
}

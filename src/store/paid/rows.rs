//! What goes into the database of paid things and comes out of it.

use std::fmt;
use std::path::PathBuf;

use crate::model::ContentHash;
use crate::model::ModelName;
use crate::model::Money;
use crate::model::SummaryKey;
use crate::model::SummaryScope;
use crate::model::Tier;
use crate::model::TokenUsage;

/// A summary that a model wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSummary {
    /// What its words depend on.
    pub key: SummaryKey,
    /// What it is about: a content, or what stands for those of a folder.
    pub subject: ContentHash,
    /// Id of the file type that the content was read as; empty for a folder.
    pub language: String,
    /// What kind of subject it is.
    pub scope: SummaryScope,
    /// For which tier it was written.
    pub tier: Tier,
    /// The strategy by which it was asked for, with its version: `code/1`.
    pub prompt: String,
    /// Who wrote it.
    pub model: ModelName,
    /// The words, checked.
    pub text: String,
    /// The tokens of the call that it came from; that call may have brought more than one.
    pub tokens: TokenUsage,
    /// What that call cost.
    pub cost: Money,
    /// When it came, in milliseconds since the epoch.
    pub at_ms: i64,
}

/// A piece of work is to be done by this process alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimStatus {
    /// It is this process's now.
    Acquired,
    /// It has been done.
    Done,
    /// Another process that is alive does it.
    HeldElsewhere,
    /// It was sent in a batch, whose answers are still to come.
    InBatch,
    /// It was tried, and is not to be tried again before this moment (milliseconds since the epoch; `None`: never).
    Refused {
        /// Why, in words.
        reason: String,
        /// Until when.
        until_ms: Option<i64>,
    },
}

/// Money that a call may cost at worst, put aside before it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpendReservation {
    /// What the call is for.
    pub task_key: SummaryKey,
    /// Who is asked.
    pub model: ModelName,
    /// What it costs at worst.
    pub max_cost: Money,
    /// Which process asks: the name of its lock.
    pub holder: String,
    /// Whether it is a part of a batch.
    pub is_batch: bool,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
    /// The day that it counts for: days since 1970-01-01, in UTC.
    pub day: i64,
}

/// How much may be spent. What was reserved and never settled counts as spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpendCaps {
    /// A day.
    pub day: Money,
    /// In all.
    pub total: Money,
    /// Calls a day.
    pub calls_a_day: u64,
}

/// A reservation was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapExceeded {
    /// It would pass what a day may cost.
    Day,
    /// It would pass what all may cost.
    Total,
    /// There have been as many calls today as may be.
    Calls,
}

/// A row of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpendId(pub i64);

/// A row of the batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchId(pub i64);

/// Many calls that are to be sent as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBatch {
    /// Who is asked.
    pub model: ModelName,
    /// What each of them may cost, and what its answer is to be kept as.
    pub calls: Vec<(SpendReservation, BatchQuestion)>,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
}

/// How far a batch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BatchState {
    /// Its money is put aside. Whether it was sent is not known: a process may have died in between.
    Reserved,
    /// The provider has it.
    Submitted,
}

/// A batch whose answers have not all been taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallBatch {
    /// Its row.
    pub id: BatchId,
    /// Who is asked.
    pub model: ModelName,
    /// The provider's name for it, once it has it.
    pub remote_id: Option<String>,
    /// How far it is.
    pub state: BatchState,
    /// When it was reserved or submitted, in milliseconds since the epoch.
    pub at_ms: i64,
    /// What is still to come.
    pub items: Vec<BatchItem>,
}

/// A call of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchItem {
    /// What it is for.
    pub task_key: SummaryKey,
    /// Its row of the ledger.
    pub spend: SpendId,
    /// What its answer is to be kept as.
    pub question: BatchQuestion,
}

/// What an answer is to be kept as, whatever is asked by the time that it comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchQuestion {
    /// What it is about: a content, or what stands for those of a folder.
    pub subject: ContentHash,
    /// Id of the file type that the content was read as; empty for a folder.
    pub language: String,
    /// What kind of subject it is.
    pub scope: SummaryScope,
    /// The strategy by which it is asked, with its version: `code/1`.
    pub prompt: String,
    /// The keys of the summaries that it brings.
    pub keys: Vec<(Tier, SummaryKey)>,
    /// The paths of all files that it is about, as bytes; none for a folder.
    pub paths: Vec<Vec<u8>>,
}

/// A piece of work that was tried in vain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusalRow {
    /// Which.
    pub task_key: SummaryKey,
    /// Why, in words.
    pub reason: String,
    /// It is not to be tried again before this moment, in milliseconds since the epoch; `None`: never.
    pub until_ms: Option<i64>,
    /// When it was tried, in milliseconds since the epoch.
    pub at_ms: i64,
}

/// A damaged database was put aside, and what could be read of it was carried over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentDbRecovery {
    /// Where it is now; it is kept.
    pub moved_to: PathBuf,
    /// What was wrong with it, in words.
    pub reason: String,
    /// How many rows were carried over.
    pub carried_over: u64,
    /// How many rows are known to be lost.
    pub lost: u64,
    /// Whether calls may be missing in the ledger. Then nothing more may be spent on the day of the last one.
    pub is_ledger_short: bool,
}

impl fmt::Display for AgentDbRecovery {
    /// Says what became of it, in words for a person.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moved_to = self.moved_to.file_name().unwrap_or_default().to_string_lossy();
        let Self { reason: why, carried_over, lost, .. } = self;
        write!(
            f,
            "what models wrote was salvaged: {why}; {carried_over} rows were carried over, {lost} are known to be lost; \
             the old file is now {moved_to}"
        )?;
        if self.is_ledger_short {
            f.write_str(
                "; calls may be missing in its account, so that no more is spent on the day of the last one",
            )?;
        }
        Ok(())
    }
}

/// How much there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AgentDbSize {
    /// Summaries.
    pub summaries: u64,
    /// Bytes of their words.
    pub text_bytes: u64,
    /// Pieces of work that were tried in vain.
    pub refusals: u64,
    /// Calls that were ever made.
    pub calls: u64,
    /// What all calls cost, reservations that were never settled included.
    pub spent_total: Money,
    /// Bytes that the database and its log take on the disk.
    pub bytes_on_disk: u64,
}

/// What was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeletedSummaries {
    /// Summaries.
    pub summaries: u64,
    /// Refusals.
    pub refusals: u64,
    /// What the calls cost that brought those summaries.
    pub cost: Money,
    /// Bytes by which the database became smaller on the disk.
    pub bytes: u64,
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpendOutcome {
    /// It is under way, or the process that made it is gone: it counts as its worst.
    Open,
    /// It brought what was asked for.
    Answered,
    /// It was refused, and cost what the settlement says.
    Refused,
    /// Nobody knows what it cost: it counts as its worst.
    Unknown,
}

/// What a call cost in the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpendSettlement {
    /// What became of it.
    pub outcome: SpendOutcome,
    /// What it cost; `None` counts as the worst.
    pub cost: Option<Money>,
    /// What was counted.
    pub tokens: TokenUsage,
    /// The provider's name for it.
    pub request_id: Option<String>,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
}

/// How much has been spent, what is reserved included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpendTotals {
    /// That day.
    pub day: Money,
    /// In all.
    pub total: Money,
    /// Calls of that day.
    pub calls: u64,
    /// Of all that, what is reserved and not settled.
    pub reserved: Money,
}

/// The calls of one model on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRow {
    /// Days since 1970-01-01, in UTC.
    pub day: i64,
    /// Who was asked.
    pub model: ModelName,
    /// How many calls were made.
    pub calls: u64,
    /// How many of them brought what was asked for.
    pub answered: u64,
    /// What was counted, as far as it was reported.
    pub tokens: TokenUsage,
    /// What they cost, reservations that were never settled included.
    pub cost: Money,
    /// Of that, what is reserved and not settled.
    pub reserved: Money,
}

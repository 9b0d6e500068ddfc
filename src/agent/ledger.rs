//! The ledger: claims and money, in the database of paid calls.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::options::Error;
use super::outcome::TaskOutcome;
use crate::engine::summaries::SubjectKey;
use crate::model::{SummaryKey, Tier, WriterKey, lock};
use crate::store;
use crate::store::agent::{
    AGENT_DATABASE, AgentDb, AgentDbRecovery, BatchId, CapExceeded, ClaimStatus, NewBatch, SpendCaps,
    SpendId, SpendReservation, SpendSettlement, SpendTotals, StoredSummary, TaskKeys, UsageRow,
};
use crate::sys::FileLock;

/// The prefix of lock names.
const LOCK_PREFIX: &str = "agent-";
const LOCK_SUFFIX: &str = ".lock";

/// The claims and the ledger. All threads share one connection: each of its commits waits for the disk, but a call
/// takes seconds.
#[derive(Debug)]
pub(super) struct ClaimStore {
    db: Mutex<AgentDb>,
    folder: PathBuf,
    /// Held for the lifetime of the store, to show other processes that our claims are alive.
    lock: FileLock,
    holder: String,
}

/// A task that this process has claimed; released on drop unless it was completed.
pub(super) struct ClaimGuard<'t> {
    store: &'t ClaimStore,
    keys: TaskKeys,
    is_open: bool,
}

/// A call that does not fit the caps.
pub(super) struct ReservationDenied {
    pub(super) cap: CapExceeded,
    /// Whether calls in flight hold money of which some will be released.
    pub(super) has_calls_in_flight: bool,
}

/// Counts a call or a run as in progress until it is dropped.
pub(super) struct InFlightGuard<'o>(&'o AtomicU32);

impl<'o> InFlightGuard<'o> {
    pub(super) fn new(count: &'o AtomicU32) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ClaimStore {
    /// Opens the database in that folder. The name of this process's lock is derived from `seed`.
    pub(super) fn open(folder: &Path, seed: u64) -> Result<(Self, Option<AgentDbRecovery>), Error> {
        let opened = AgentDb::open(&folder.join(AGENT_DATABASE))?;
        // Locks left by killed processes are litter; failing to remove them is harmless.
        let _ = FileLock::sweep(folder, LOCK_PREFIX, LOCK_SUFFIX);
        let (holder, lock) = acquire_lock(folder, seed)?;
        let claims = Self { db: Mutex::new(opened.db), folder: folder.to_owned(), lock, holder };
        Ok((claims, opened.recovery))
    }

    /// Claims a task, or returns why there is nothing to do. The task is done if the summaries of any one of the models
    /// exist.
    pub(super) fn claim(
        &self,
        keys: TaskKeys,
        wanted: &[Vec<SummaryKey>],
        now_ms: i64,
    ) -> Result<Result<ClaimGuard<'_>, TaskOutcome>, store::Error> {
        let first = wanted.first().map_or(&[][..], Vec::as_slice);
        let mut db = self.db();
        let is_alive = |holder: &str| self.is_alive(holder);
        let claim = db.claim(keys, first, &self.holder, now_ms, &is_alive)?;
        match claim {
            ClaimStatus::Acquired => {}
            ClaimStatus::Done => return Ok(Err(TaskOutcome::Done)),
            ClaimStatus::HeldElsewhere => return Ok(Err(TaskOutcome::InProgress)),
            ClaimStatus::InBatch => return Ok(Err(TaskOutcome::InBatch)),
            ClaimStatus::Refused { reason, .. } => return Ok(Err(TaskOutcome::Refused(reason))),
        }
        // Checked after the claim: its previous holder may have stored summaries of another model.
        for summaries in wanted.iter().skip(1) {
            if db.missing_keys(summaries)?.is_empty() {
                db.release(&keys.task, &self.holder)?;
                return Ok(Err(TaskOutcome::Done));
            }
        }
        Ok(Ok(ClaimGuard { store: self, keys, is_open: true }))
    }

    /// Reserves money. Fails if the written rows could not be found again: then nothing must be sent.
    pub(super) fn reserve<'o>(
        &self,
        reservation: &SpendReservation,
        caps: &SpendCaps,
        in_flight: &'o AtomicU32,
    ) -> Result<Result<(SpendId, InFlightGuard<'o>), ReservationDenied>, store::Error> {
        let mut db = self.db_in_place()?;
        // Both while the database is locked: calls are settled before they stop being in flight.
        Ok(match db.reserve(reservation, caps)? {
            Ok(spend) => Ok((spend, InFlightGuard::new(in_flight))),
            Err(cap) => {
                Err(ReservationDenied { cap, has_calls_in_flight: in_flight.load(Ordering::Relaxed) != 0 })
            }
        })
    }

    /// Reserves the money for a batch, all of it or none.
    pub(super) fn reserve_batch(
        &self,
        batch: &NewBatch,
        caps: &SpendCaps,
    ) -> Result<Result<BatchId, CapExceeded>, store::Error> {
        self.db_in_place()?.reserve_batch(batch, caps)
    }

    /// Stores the result of a task that nobody claims: it was in a batch.
    pub(super) fn accept(
        &self,
        spend: SpendId,
        settlement: &SpendSettlement,
        task: SummaryKey,
        summaries: &[StoredSummary],
        paths: &[Vec<u8>],
    ) -> Result<(), store::Error> {
        self.db().record_answer(spend, settlement, &task, &self.holder, summaries, paths)
    }

    /// Records that such a task cannot be answered.
    pub(super) fn refuse(
        &self,
        keys: TaskKeys,
        reason: &str,
        until_ms: Option<i64>,
        now_ms: i64,
    ) -> Result<(), store::Error> {
        self.db().record_refusal(keys, &self.holder, reason, until_ms, now_ms)
    }

    pub(super) fn holder(&self) -> &str {
        &self.holder
    }

    pub(super) fn db(&self) -> MutexGuard<'_, AgentDb> {
        lock(&self.db)
    }

    /// Returns the database; fails if what is written now could not be found again.
    fn db_in_place(&self) -> Result<MutexGuard<'_, AgentDb>, store::Error> {
        let db = self.db();
        // Without the lock's name another process would take our claims for dead ones.
        if db.is_file_in_place() && self.lock.is_intact() { Ok(db) } else { Err(store::Error::Gone) }
    }

    /// Returns whether a process is alive, by its lock. If that cannot be determined, it is assumed to be.
    fn is_alive(&self, holder: &str) -> bool {
        holder == self.holder || FileLock::is_held(&self.folder.join(holder)).unwrap_or(true)
    }
}

impl Drop for ClaimStore {
    fn drop(&mut self) {
        // A file that remains is harmless, because nobody holds its lock.
        let _ = self.lock.remove();
    }
}

impl ClaimGuard<'_> {
    /// Stores the result of a call.
    pub(super) fn accept(
        mut self,
        spend: SpendId,
        settlement: &SpendSettlement,
        summaries: &[StoredSummary],
        paths: &[Vec<u8>],
    ) -> Result<(), store::Error> {
        let holder = &self.store.holder;
        self.store.db().record_answer(spend, settlement, &self.keys.task, holder, summaries, paths)?;
        // Set after the transaction: if that failed, the drop must release the claim.
        self.is_open = false;
        Ok(())
    }

    /// Records that the task cannot be answered.
    pub(super) fn refuse(
        mut self,
        reason: &str,
        until_ms: Option<i64>,
        now_ms: i64,
    ) -> Result<(), store::Error> {
        self.store.db().record_refusal(self.keys, &self.store.holder, reason, until_ms, now_ms)?;
        self.is_open = false;
        Ok(())
    }
}

impl Drop for ClaimGuard<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // If that fails, the claim ends with this process.
            let _ = self.store.db().release(&self.keys.task, &self.store.holder);
        }
    }
}

/// Locks a file that no process has locked before, and returns its name.
fn acquire_lock(folder: &Path, seed: u64) -> Result<(String, FileLock), Error> {
    let mut number = seed;
    loop {
        let name = format!("{LOCK_PREFIX}{number:016x}{LOCK_SUFFIX}");
        let path = folder.join(&name);
        match FileLock::acquire(&path) {
            Ok(Some(lock)) => return Ok((name, lock)),
            // The name is that of a process that is alive, whose claims must not be mistaken for ours.
            Ok(None) => number = number.wrapping_add(1),
            Err(source) => return Err(Error::Lock { path, source }),
        }
    }
}

/// A reader of the database of paid calls; empty if nothing was ever paid for.
#[derive(Debug)]
pub struct LedgerReader(Option<AgentDb>);

impl LedgerReader {
    /// Opens the database in `folder`, the project's cache, for reading.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        Ok(Self(AgentDb::open_reader(&folder.join(AGENT_DATABASE))?))
    }

    /// Includes summaries fetched from these writers.
    pub fn with_trusted_writers(mut self, writers: &[WriterKey]) -> Self {
        if let Some(db) = &mut self.0 {
            db.trust_writers(writers);
        }
        self
    }

    /// Returns how much has been spent on that day and in total. Days are counted from 1970-01-01 in UTC.
    pub fn spent(&self, day: i64) -> Result<SpendTotals, Error> {
        Ok(self.0.as_ref().map(|db| db.spend_totals(day)).transpose()?.unwrap_or_default())
    }

    /// Returns the calls by day, latest first, and model.
    pub fn usage(&self) -> Result<Vec<UsageRow>, Error> {
        Ok(self.0.as_ref().map(AgentDb::usage).transpose()?.unwrap_or_default())
    }

    /// Returns the tasks that are in batches and have no result yet.
    pub fn in_batches(&self) -> Result<BTreeSet<SummaryKey>, Error> {
        Ok(self.0.as_ref().map(in_batches).transpose()?.unwrap_or_default())
    }

    /// Returns who wrote a summary; `None` if it was paid for here.
    pub fn writer_of(&self, key: &SummaryKey) -> Result<Option<WriterKey>, Error> {
        Ok(self.0.as_ref().map(|db| db.writer_of(key)).transpose()?.flatten())
    }

    /// Returns what models wrote about a node for a tier, newest first.
    pub fn summaries(&self, of: &SubjectKey, tier: Tier) -> Result<Vec<StoredSummary>, Error> {
        let found =
            self.0.as_ref().map(|db| db.summaries_of_subject(&of.subject, of.language, tier)).transpose()?;
        Ok(found.unwrap_or_default().into_iter().filter(|summary| summary.scope == of.scope).collect())
    }
}

/// Deletes these refusals from the database in `folder`, so that their tasks are tried again.
pub fn forget_refusals(folder: &Path, refusals: &[SummaryKey]) -> Result<(), Error> {
    let file = folder.join(AGENT_DATABASE);
    if refusals.is_empty() || AgentDb::open_reader(&file)?.is_none() {
        return Ok(());
    }
    // Only now opened for writing, which would create a database where none is needed.
    AgentDb::open(&file)?.db.delete_refusals_of(refusals)?;
    Ok(())
}

pub(super) fn in_batches(db: &AgentDb) -> Result<BTreeSet<SummaryKey>, store::Error> {
    let batches = db.open_batches()?;
    Ok(batches.iter().flat_map(|batch| &batch.items).map(|item| item.task_key).collect())
}

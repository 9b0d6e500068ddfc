//! The ledger: claims and money, in the database of paid calls.

use std::path::Path;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use super::Error;
use super::SummaryService;
use super::office::InFlightGuard;
use crate::model::SummaryKey;
use crate::store;
use crate::store::agent::AGENT_DATABASE;
use crate::store::agent::AgentDb;
use crate::store::agent::AgentDbRecovery;
use crate::store::agent::BatchId;
use crate::store::agent::CapExceeded;
use crate::store::agent::ClaimStatus;
use crate::store::agent::NewBatch;
use crate::store::agent::SpendCaps;
use crate::store::agent::SpendId;
use crate::store::agent::SpendReservation;
use crate::store::agent::SpendSettlement;
use crate::store::agent::SpendTotals;
use crate::store::agent::StoredSummary;
use crate::sys::FileLock;

/// The prefix of lock names.
const LOCK_PREFIX: &str = "agent-";
/// Their suffix.
const LOCK_SUFFIX: &str = ".lock";

/// The claims and the ledger. All threads share one connection: each of its commits waits for the disk, but a call
/// takes seconds.
#[derive(Debug)]
pub(super) struct ClaimStore {
    db: Mutex<AgentDb>,
    folder: PathBuf,
    /// Held for the lifetime of the store: it shows other processes that our claims are alive.
    lock: FileLock,
    holder: String,
}

/// A task that this process has claimed; released on drop unless it was completed.
pub(super) struct ClaimGuard<'t> {
    store: &'t ClaimStore,
    errand: SummaryKey,
    refusal: SummaryKey,
    is_open: bool,
}

/// A call does not fit the caps.
pub(super) struct ReservationDenied {
    pub(super) cap: CapExceeded,
    /// Whether calls in flight hold money of which some will be released.
    pub(super) has_calls_in_flight: bool,
}

/// The outcome of claiming a task.
pub(super) enum ClaimOutcome<'t> {
    Acquired(ClaimGuard<'t>),
    Done,
    InProgress,
    InBatch,
    Refused(String),
}

impl ClaimStore {
    /// Opens the database in that folder. `seed` makes the name of this process's lock.
    pub(super) fn open(folder: &Path, chance: u64) -> Result<(Self, Option<AgentDbRecovery>), Error> {
        let opened = AgentDb::open(&folder.join(AGENT_DATABASE))?;
        // Locks left by killed processes are litter; failing to remove them is harmless.
        let _ = FileLock::sweep(folder, LOCK_PREFIX, LOCK_SUFFIX);
        let (holder, lock) = acquire_lock(folder, chance)?;
        let till = Self { db: Mutex::new(opened.db), folder: folder.to_owned(), lock, holder };
        Ok((till, opened.recovery))
    }

    /// Claims a task, whose refusal is stored under another key. The task is done if the summaries of any one of the
    /// models exist.
    pub(super) fn claim(
        &self,
        (errand, refusal): (SummaryKey, SummaryKey),
        wanted: &[Vec<SummaryKey>],
        now_ms: i64,
    ) -> Result<ClaimOutcome<'_>, store::Error> {
        let first = wanted.first().map_or(&[][..], Vec::as_slice);
        let mut paid = self.db();
        let claim =
            paid.claim(&errand, &refusal, first, &self.holder, now_ms, &|holder| self.is_alive(holder))?;
        match claim {
            ClaimStatus::Acquired => {}
            ClaimStatus::Done => return Ok(ClaimOutcome::Done),
            ClaimStatus::HeldElsewhere => return Ok(ClaimOutcome::InProgress),
            ClaimStatus::InBatch => return Ok(ClaimOutcome::InBatch),
            ClaimStatus::Refused { reason: why, .. } => return Ok(ClaimOutcome::Refused(why)),
        }
        // Checked after the claim: its previous holder may have stored summaries of another model.
        for keys in wanted.iter().skip(1) {
            if paid.missing_keys(keys)?.is_empty() {
                paid.release(&errand, &self.holder)?;
                return Ok(ClaimOutcome::Done);
            }
        }
        Ok(ClaimOutcome::Acquired(ClaimGuard { store: self, errand, refusal, is_open: true }))
    }

    /// Reserves money. Fails if the written rows could not be found again: then nothing must be sent.
    pub(super) fn reserve<'o>(
        &self,
        reservation: &SpendReservation,
        caps: &SpendCaps,
        office: &'o SummaryService<'_>,
    ) -> Result<Result<(SpendId, InFlightGuard<'o>), ReservationDenied>, store::Error> {
        let mut paid = self.db();
        // Without the lock's name another process would take our claims for dead ones.
        if !paid.is_file_in_place() || !self.lock.is_intact() {
            return Err(store::Error::Gone);
        }
        // Both while the database is locked: calls are settled before they stop being in flight.
        Ok(match paid.reserve(reservation, caps)? {
            Ok(spend) => Ok((spend, office.count_in_flight())),
            Err(cap) => Err(ReservationDenied { cap, has_calls_in_flight: office.has_calls_in_flight() }),
        })
    }

    /// Reserves the money for a batch, all of it or none.
    pub(super) fn reserve_batch(
        &self,
        batch: &NewBatch,
        caps: &SpendCaps,
    ) -> Result<Result<BatchId, CapExceeded>, store::Error> {
        let mut paid = self.db();
        if !paid.is_file_in_place() || !self.lock.is_intact() {
            return Err(store::Error::Gone);
        }
        paid.reserve_batch(batch, caps)
    }

    /// Stores the result of a task that nobody claims: it was in a batch.
    pub(super) fn accept(
        &self,
        spend: SpendId,
        settlement: &SpendSettlement,
        errand: SummaryKey,
        summaries: &[StoredSummary],
        paths: &[Vec<u8>],
    ) -> Result<(), store::Error> {
        self.db().record_answer(spend, settlement, &errand, &self.holder, summaries, paths)
    }

    /// Records that such a task cannot be answered.
    pub(super) fn refuse(
        &self,
        (errand, refusal): (SummaryKey, SummaryKey),
        why: &str,
        until_ms: Option<i64>,
        now_ms: i64,
    ) -> Result<(), store::Error> {
        self.db().record_refusal(&errand, &refusal, &self.holder, why, until_ms, now_ms)
    }

    /// Makes refused tasks available again.
    pub(super) fn forget_refusals(&self, refusals: &[SummaryKey]) -> Result<(), store::Error> {
        self.db().delete_refusals_of(refusals).map(drop)
    }

    pub(super) fn settle(&self, spend: SpendId, settlement: &SpendSettlement) -> Result<(), store::Error> {
        self.db().settle(spend, settlement)
    }

    pub(super) fn spent(&self, day: i64) -> Result<SpendTotals, store::Error> {
        self.db().spend_totals(day)
    }

    pub(super) fn holder(&self) -> &str {
        &self.holder
    }

    pub(super) fn db(&self) -> MutexGuard<'_, AgentDb> {
        // Every change is a transaction: a thread that panicked has left nothing half done.
        self.db.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.store.db().record_answer(spend, settlement, &self.errand, holder, summaries, paths)?;
        self.is_open = false;
        Ok(())
    }

    /// Records that the task cannot be answered.
    pub(super) fn refuse(
        mut self,
        why: &str,
        until_ms: Option<i64>,
        now_ms: i64,
    ) -> Result<(), store::Error> {
        self.store.db().record_refusal(
            &self.errand,
            &self.refusal,
            &self.store.holder,
            why,
            until_ms,
            now_ms,
        )?;
        self.is_open = false;
        Ok(())
    }
}

impl Drop for ClaimGuard<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // If that fails, the claim ends with this process.
            let _ = self.store.db().release(&self.errand, &self.store.holder);
        }
    }
}

/// Locks a file that no process has locked before, and returns its name.
fn acquire_lock(folder: &Path, chance: u64) -> Result<(String, FileLock), Error> {
    let mut number = chance;
    loop {
        let name = format!("{LOCK_PREFIX}{number:016x}{LOCK_SUFFIX}");
        let path = folder.join(&name);
        match FileLock::acquire(&path) {
            Ok(Some(lock)) => return Ok((name, lock)),
            Ok(None) => number = number.wrapping_add(1),
            Err(source) => return Err(Error::Lock { path, source }),
        }
    }
}

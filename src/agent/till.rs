//! Claims and money: all that a run says to the database of what was paid for.

use std::path::Path;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use super::Error;
use super::Office;
use super::office::UnderWay;
use crate::model::SummaryKey;
use crate::store;
use crate::store::paid::BatchId;
use crate::store::paid::Caps;
use crate::store::paid::Claim;
use crate::store::paid::NewBatch;
use crate::store::paid::OverCap;
use crate::store::paid::PAID_DATABASE;
use crate::store::paid::Paid;
use crate::store::paid::PaidRecovery;
use crate::store::paid::Reservation;
use crate::store::paid::Settlement;
use crate::store::paid::SpendId;
use crate::store::paid::Spent;
use crate::store::paid::Summary;
use crate::sys::FileLock;

/// How the names of locks begin.
const BEGINNING: &str = "agent-";
/// How they end.
const ENDING: &str = ".lock";

/// One connection for all threads: each of its commits waits for the disk, and a call takes seconds.
#[derive(Debug)]
pub(super) struct Till {
    paid: Mutex<Paid>,
    folder: PathBuf,
    /// Held for life: by it others know that our claims are no dead ones.
    lock: FileLock,
    holder: String,
}

/// A piece of work that is this process's; given back when this is dropped before it is done.
pub(super) struct Held<'t> {
    till: &'t Till,
    errand: SummaryKey,
    refusal: SummaryKey,
    is_open: bool,
}

/// There is no room for a call.
pub(super) struct Refused {
    pub(super) cap: OverCap,
    /// Whether calls of this process hold money of which some will come back.
    pub(super) are_others: bool,
}

/// What came of claiming.
pub(super) enum Claimed<'t> {
    Yours(Held<'t>),
    Done,
    Taken,
    InBatch,
    Refused(String),
}

impl Till {
    /// Opens the database in that folder. `chance` makes the name of this process's lock.
    pub(super) fn open(folder: &Path, chance: u64) -> Result<(Self, Option<PaidRecovery>), Error> {
        let opened = Paid::open(&folder.join(PAID_DATABASE))?;
        // What is left of killed processes is litter, and no reason not to work.
        let _ = FileLock::sweep(folder, BEGINNING, ENDING);
        let (holder, lock) = lock(folder, chance)?;
        let till = Self { paid: Mutex::new(opened.paid), folder: folder.to_owned(), lock, holder };
        Ok((till, opened.recovery))
    }

    /// Claims an errand, whose refusal is kept by another key. It is done where the summaries are there that any one of the models would bring.
    pub(super) fn claim(
        &self,
        (errand, refusal): (SummaryKey, SummaryKey),
        wanted: &[Vec<SummaryKey>],
        now_ms: i64,
    ) -> Result<Claimed<'_>, store::Error> {
        let first = wanted.first().map_or(&[][..], Vec::as_slice);
        let mut paid = self.paid();
        let claim =
            paid.claim(&errand, &refusal, first, &self.holder, now_ms, &|holder| self.is_alive(holder))?;
        match claim {
            Claim::Yours => {}
            Claim::Done => return Ok(Claimed::Done),
            Claim::Taken => return Ok(Claimed::Taken),
            Claim::InBatch => return Ok(Claimed::InBatch),
            Claim::Refused { why, .. } => return Ok(Claimed::Refused(why)),
        }
        // Looked at behind the claim: whoever had it before may have brought words of another model.
        for keys in wanted.iter().skip(1) {
            if paid.missing(keys)?.is_empty() {
                paid.release(&errand, &self.holder)?;
                return Ok(Claimed::Done);
            }
        }
        Ok(Claimed::Yours(Held { till: self, errand, refusal, is_open: true }))
    }

    /// Puts money aside. It fails where what is written would not be found again: then nothing is to be sent.
    pub(super) fn reserve<'o>(
        &self,
        reservation: &Reservation,
        caps: &Caps,
        office: &'o Office<'_>,
    ) -> Result<Result<(SpendId, UnderWay<'o>), Refused>, store::Error> {
        let mut paid = self.paid();
        // Without the lock's name another process would take our claims for dead ones.
        if !paid.still_there() || !self.lock.still_there() {
            return Err(store::Error::Gone);
        }
        // Both while the database is held: calls are settled before they are no longer under way.
        Ok(match paid.reserve(reservation, caps)? {
            Ok(spend) => Ok((spend, office.under_way())),
            Err(cap) => Err(Refused { cap, are_others: office.has_calls() }),
        })
    }

    /// Puts the money for a batch aside, all of it or none.
    pub(super) fn reserve_batch(
        &self,
        batch: &NewBatch,
        caps: &Caps,
    ) -> Result<Result<BatchId, OverCap>, store::Error> {
        let mut paid = self.paid();
        if !paid.still_there() || !self.lock.still_there() {
            return Err(store::Error::Gone);
        }
        paid.reserve_batch(batch, caps)
    }

    /// Keeps what came of a question that nobody holds: it was in a batch.
    pub(super) fn accept(
        &self,
        spend: SpendId,
        settlement: &Settlement,
        errand: SummaryKey,
        summaries: &[Summary],
        paths: &[Vec<u8>],
    ) -> Result<(), store::Error> {
        self.paid().accept(spend, settlement, &errand, &self.holder, summaries, paths)
    }

    /// Notes that such a question cannot be answered.
    pub(super) fn refuse(
        &self,
        (errand, refusal): (SummaryKey, SummaryKey),
        why: &str,
        until_ms: Option<i64>,
        now_ms: i64,
    ) -> Result<(), store::Error> {
        self.paid().refuse(&errand, &refusal, &self.holder, why, until_ms, now_ms)
    }

    /// Lets questions be asked again that were refused.
    pub(super) fn forgive(&self, refusals: &[SummaryKey]) -> Result<(), store::Error> {
        self.paid().forgive_some(refusals).map(drop)
    }

    pub(super) fn settle(&self, spend: SpendId, settlement: &Settlement) -> Result<(), store::Error> {
        self.paid().settle(spend, settlement)
    }

    pub(super) fn spent(&self, day: i64) -> Result<Spent, store::Error> {
        self.paid().spent(day)
    }

    pub(super) fn holder(&self) -> &str {
        &self.holder
    }

    pub(super) fn paid(&self) -> MutexGuard<'_, Paid> {
        // Every change is a transaction: a thread that died has left nothing half done.
        self.paid.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says whether a process lives, by its lock. Where that cannot be found out, it is taken to live.
    fn is_alive(&self, holder: &str) -> bool {
        holder == self.holder || FileLock::is_held(&self.folder.join(holder)).unwrap_or(true)
    }
}

impl Drop for Till {
    fn drop(&mut self) {
        // Whoever finds it finds that nobody holds it.
        let _ = self.lock.remove();
    }
}

impl Held<'_> {
    /// Keeps what a call brought.
    pub(super) fn accept(
        mut self,
        spend: SpendId,
        settlement: &Settlement,
        summaries: &[Summary],
        paths: &[Vec<u8>],
    ) -> Result<(), store::Error> {
        let holder = &self.till.holder;
        self.till.paid().accept(spend, settlement, &self.errand, holder, summaries, paths)?;
        self.is_open = false;
        Ok(())
    }

    /// Notes that it cannot be done.
    pub(super) fn refuse(
        mut self,
        why: &str,
        until_ms: Option<i64>,
        now_ms: i64,
    ) -> Result<(), store::Error> {
        self.till.paid().refuse(&self.errand, &self.refusal, &self.till.holder, why, until_ms, now_ms)?;
        self.is_open = false;
        Ok(())
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // Where that fails, the claim ends with this process.
            let _ = self.till.paid().release(&self.errand, &self.till.holder);
        }
    }
}

/// Locks a file that nobody else has ever locked, and returns its name.
fn lock(folder: &Path, chance: u64) -> Result<(String, FileLock), Error> {
    let mut number = chance;
    loop {
        let name = format!("{BEGINNING}{number:016x}{ENDING}");
        let path = folder.join(&name);
        match FileLock::acquire(&path) {
            Ok(Some(lock)) => return Ok((name, lock)),
            Ok(None) => number = number.wrapping_add(1),
            Err(source) => return Err(Error::Lock { path, source }),
        }
    }
}

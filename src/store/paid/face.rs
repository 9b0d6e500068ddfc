//! The face, yet to be filled in.
#![allow(unused_variables, clippy::all, clippy::pedantic, clippy::todo)]
use super::super::Error;
use super::super::Verdict;
use super::Batch;
use super::BatchId;
use super::Caps;
use super::Claim;
use super::FreedPaid;
use super::NewBatch;
use super::OverCap;
use super::PaidRecovery;
use super::PaidSize;
use super::Refused;
use super::Reservation;
use super::Settlement;
use super::SpendId;
use super::Spent;
use super::Summary;
use super::UsageRow;
use crate::model::ContentHash;
use crate::model::SummaryKey;
use crate::model::Tier;
use std::path::Path;

/// The database of what was paid for: one connection to it.
#[derive(Debug)]
pub struct Paid {
    file: std::path::PathBuf,
}

/// It was opened.
#[derive(Debug)]
pub struct OpenedPaid {
    /// The database.
    pub paid: Paid,
    /// Set where a damaged one stood in its place.
    pub recovery: Option<PaidRecovery>,
}

impl Paid {
    /// Opens for writing; makes it if need be.
    pub fn open(file: &Path) -> Result<OpenedPaid, Error> {
        todo!()
    }

    /// Opens what is there for reading. `None` where nothing has been paid for yet.
    pub fn open_reader(file: &Path) -> Result<Option<Self>, Error> {
        todo!()
    }

    /// Puts a database that turned out to be damaged aside, and carries over what can be read of it.
    pub fn recover(self, why: &Error) -> Result<OpenedPaid, Error> {
        todo!()
    }

    /// Says whether what is written would be found again.
    pub fn still_there(&self) -> bool {
        todo!()
    }

    /// Returns a number that changes with everything that a look-up may give.
    pub fn generation(&self) -> Result<u64, Error> {
        todo!()
    }

    /// Returns the summary of that key.
    pub fn summary(&self, key: &SummaryKey) -> Result<Option<Summary>, Error> {
        todo!()
    }

    /// Returns those keys for which there is no summary.
    pub fn missing(&self, keys: &[SummaryKey]) -> Result<Vec<SummaryKey>, Error> {
        todo!()
    }

    /// Returns the summaries of a subject, newest first.
    pub fn of_subject(
        &self,
        subject: &ContentHash,
        language: &str,
        tier: Tier,
    ) -> Result<Vec<Summary>, Error> {
        todo!()
    }

    /// Returns all summaries for that tier, newest first.
    pub fn all_for(&self, tier: Tier) -> Result<Vec<Summary>, Error> {
        todo!()
    }

    /// Returns all summaries, in the order in which they came.
    pub fn summaries(&self) -> Result<Vec<Summary>, Error> {
        todo!()
    }

    /// Returns what a file of that path was summarized as last.
    pub fn latest(&self, path: &[u8], tier: Tier) -> Result<Option<Summary>, Error> {
        todo!()
    }

    /// Returns what each file was summarized as last, by path.
    pub fn all_latest(&self, tier: Tier) -> Result<Vec<(Vec<u8>, Summary)>, Error> {
        todo!()
    }

    /// Notes as what files are summarized now.
    pub fn note_latest(&mut self, latest: &[(Vec<u8>, SummaryKey)]) -> Result<(), Error> {
        todo!()
    }

    /// Claims a piece of work.
    pub fn claim(
        &mut self,
        errand: &SummaryKey,
        wanted: &[SummaryKey],
        holder: &str,
        now_ms: i64,
        is_alive: &dyn Fn(&str) -> bool,
    ) -> Result<Claim, Error> {
        todo!()
    }

    /// Gives a piece of work back undone.
    pub fn release(&mut self, errand: &SummaryKey, holder: &str) -> Result<(), Error> {
        todo!()
    }

    /// Gives a piece of work back that cannot be done.
    pub fn refuse(
        &mut self,
        errand: &SummaryKey,
        holder: &str,
        why: &str,
        until_ms: Option<i64>,
        now_ms: i64,
    ) -> Result<(), Error> {
        todo!()
    }

    /// Returns what was tried in vain, newest first.
    pub fn refusals(&self) -> Result<Vec<Refused>, Error> {
        todo!()
    }

    /// Lets everything be tried again; returns how much that is.
    pub fn forgive(&mut self) -> Result<u64, Error> {
        todo!()
    }

    /// Puts the money for a call aside.
    pub fn reserve(
        &mut self,
        reservation: &Reservation,
        caps: &Caps,
    ) -> Result<Result<SpendId, OverCap>, Error> {
        todo!()
    }

    /// Says what a call cost.
    pub fn settle(&mut self, spend: SpendId, settlement: &Settlement) -> Result<(), Error> {
        todo!()
    }

    /// Keeps what a call brought.
    pub fn accept(
        &mut self,
        spend: SpendId,
        settlement: &Settlement,
        errand: &SummaryKey,
        holder: &str,
        summaries: &[Summary],
        paths: &[Vec<u8>],
    ) -> Result<(), Error> {
        todo!()
    }

    /// Says how much has been spent.
    pub fn spent(&self, day: i64) -> Result<Spent, Error> {
        todo!()
    }

    /// Returns calls by day and model, newest first.
    pub fn usage(&self) -> Result<Vec<UsageRow>, Error> {
        todo!()
    }

    /// Puts the money for a batch aside, all of it or none.
    pub fn reserve_batch(
        &mut self,
        batch: &NewBatch,
        caps: &Caps,
    ) -> Result<Result<BatchId, OverCap>, Error> {
        todo!()
    }

    /// Notes that a provider has a batch.
    pub fn batch_submitted(&mut self, batch: BatchId, remote_id: &str, at_ms: i64) -> Result<(), Error> {
        todo!()
    }

    /// Returns the batches whose answers have not all been taken in.
    pub fn open_batches(&self) -> Result<Vec<Batch>, Error> {
        todo!()
    }

    /// Forgets a batch; what of it was not settled counts as its worst.
    pub fn batch_done(&mut self, batch: BatchId) -> Result<(), Error> {
        todo!()
    }

    /// Deletes summaries, refusals and what is noted of them; all, or those of some subjects. The ledger stays.
    pub fn clear_summaries(&mut self, subjects: Option<&[ContentHash]>) -> Result<FreedPaid, Error> {
        todo!()
    }

    /// Says how much there is.
    pub fn size(&self) -> Result<PaidSize, Error> {
        todo!()
    }

    /// Reads every row and checks it.
    pub fn verify(&mut self) -> Result<Verdict, Error> {
        todo!()
    }
}

//! What models wrote and what it cost, as the cache is looked after: status, clearing, checking, export.
//!
//! The database is opened for each of these and closed again. None of them makes it where there is none.

use std::collections::HashMap;
use std::path::Path;
use std::path::PathBuf;

use super::error::Error;
use super::project::Project;
use crate::model::ContentHash;
use crate::model::Money;
use crate::model::with_causes;
use crate::store;
use crate::store::Verdict;
use crate::store::paid::OpenedPaid;
use crate::store::paid::PAID_DATABASE;
use crate::store::paid::Paid;
use crate::store::paid::PaidSize;
use crate::store::paid::Summary;

/// What became of the words of models when the cache was cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClearedPaid {
    /// Summaries that were deleted.
    pub summaries: u64,
    /// Summaries that were kept, because nobody said that they may go.
    pub kept: u64,
    /// What those that were deleted had cost.
    pub cost: Money,
    /// Bytes by which the database became smaller on the disk.
    pub bytes: u64,
}

impl Project<'_> {
    /// Returns where what models wrote is kept; nothing may be there yet.
    pub fn paid_file(&self) -> PathBuf {
        self.cache_folder().join(PAID_DATABASE)
    }

    /// Salvages the database if it is damaged, and tells so. To be done before it is asked what there is to write: a reader
    /// mends nothing, and with a damaged file it could not even say that nothing is known.
    pub fn mend_paid(&mut self) -> Result<(), Error> {
        if let Some(opened) = open_if_there(&self.paid_file()).map_err(Error::Paid)? {
            self.take_opened(opened);
        }
        Ok(())
    }

    /// Says how much models wrote; `None` where they never wrote anything, or it cannot be read.
    pub(super) fn paid_size(&mut self) -> Option<PaidSize> {
        self.with_reader(Paid::size)
    }

    /// Deletes the summaries of models, all or those of some contents. The ledger stays.
    pub(super) fn clear_paid(&mut self, subjects: Option<&[ContentHash]>) -> Result<ClearedPaid, Error> {
        let opened = open_if_there(&self.paid_file()).map_err(Error::Paid)?;
        let Some(opened) = opened else { return Ok(ClearedPaid::default()) };
        let mut paid = self.take_opened(opened);
        let freed = paid.clear_summaries(subjects).map_err(Error::Paid)?;
        let kept = paid.size().map_err(Error::Paid)?.summaries;
        Ok(ClearedPaid { summaries: freed.summaries, kept, cost: freed.cost, bytes: freed.bytes })
    }

    /// Says how many summaries of models stay, for nobody said that they may go.
    pub(super) fn keep_paid(&mut self) -> ClearedPaid {
        let kept = self.paid_size().map_or(0, |size| size.summaries);
        ClearedPaid { kept, ..ClearedPaid::default() }
    }

    /// Checks every byte of what models wrote, and adds to what was found elsewhere. A broken database is salvaged.
    pub(super) fn verify_paid(&mut self, verdict: &mut Verdict) -> Result<(), Error> {
        let file = self.paid_file();
        // To open it is to look at its structure, and to salvage it where that is broken.
        let Some(opened) = open_if_there(&file).map_err(Error::Paid)? else { return Ok(()) };
        if let Some(recovery) = &opened.recovery {
            verdict.structure.get_or_insert(format!("{PAID_DATABASE}: {}", recovery.why));
        }
        let found = self.take_opened(opened).verify().map_err(Error::Paid)?;
        verdict.rows += found.rows;
        verdict.damaged.extend(found.damaged);
        Ok(())
    }

    /// Returns what models wrote of files, by content, the newest last.
    pub(super) fn paid_words(&mut self) -> HashMap<ContentHash, Vec<Summary>> {
        let mut words: HashMap<ContentHash, Vec<Summary>> = HashMap::new();
        for summary in self.with_reader(Paid::summaries).unwrap_or_default() {
            words.entry(summary.subject).or_default().push(summary);
        }
        words
    }

    fn with_reader<T>(&mut self, ask: impl FnOnce(&Paid) -> Result<T, store::Error>) -> Option<T> {
        let answer = Paid::open_reader(&self.paid_file()).and_then(|paid| paid.as_ref().map(ask).transpose());
        answer.unwrap_or_else(|error| {
            let why = with_causes(&error);
            self.note(format!("what models wrote cannot be read: {why}; `slop cache verify` mends it"));
            None
        })
    }

    fn take_opened(&mut self, opened: OpenedPaid) -> Paid {
        if let Some(recovery) = opened.recovery {
            self.note(recovery.to_string());
        }
        opened.paid
    }
}

/// Opens the database if there is one, whatever state it is in.
fn open_if_there(file: &Path) -> Result<Option<OpenedPaid>, store::Error> {
    match Paid::open_reader(file) {
        Ok(None) => Ok(None),
        Ok(Some(_)) | Err(_) => Ok(Some(Paid::open(file)?)),
    }
}

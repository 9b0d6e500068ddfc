//! What a run has to report besides its answer.

use crate::engine::report::IndexReport;

/// Collects what use cases report besides their answers: notes for a person, and what the last scan did.
///
/// Whoever answers reads it afterwards; nothing in the engine decides anything by it.
#[derive(Debug, Default)]
pub(in crate::engine) struct RunLog {
    notes: Vec<String>,
    last_scan: Option<IndexReport>,
    unstable: u64,
}

impl RunLog {
    /// Adds a note, once.
    pub(in crate::engine) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Returns how many notes were added since they were last taken.
    pub(in crate::engine) const fn note_count(&self) -> usize {
        self.notes.len()
    }

    /// Records what a scan of the project's files did.
    pub(in crate::engine) fn record_scan(&mut self, report: IndexReport) {
        self.last_scan = Some(report);
    }

    /// Counts files that could not be read because they kept changing.
    pub(in crate::engine) const fn count_unstable(&mut self, files: u64) {
        self.unstable += files;
    }

    /// Returns the notes added since this was last called.
    pub(in crate::engine) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Returns how many files could not be read, since this was last called, because they kept changing.
    pub(in crate::engine) const fn take_unstable(&mut self) -> u64 {
        std::mem::replace(&mut self.unstable, 0)
    }

    /// Returns what the last scan did.
    pub(in crate::engine) const fn last_scan(&self) -> Option<&IndexReport> {
        self.last_scan.as_ref()
    }
}

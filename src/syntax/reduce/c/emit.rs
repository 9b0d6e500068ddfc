//! Puts an item out, with what is left out of it.

use std::ops::Range;

use super::scan::CScanner;

impl CScanner<'_> {
    /// Copies a part of the item at hand, with the edits that were made in it.
    pub(super) fn copy_item(&mut self, range: Range<usize>) {
        self.ensure_separator(range.start);
        self.edits.sort_by_key(|(edited, _)| edited.start);
        let mut at = range.start;
        for (edited, text) in std::mem::take(&mut self.edits) {
            if edited.start < at || range.end < edited.end {
                continue;
            }
            self.out.copy(self.text, at..edited.start);
            self.out.substitute(text, edited.clone());
            at = edited.end;
        }
        self.out.copy(self.text, at..range.end);
    }

    /// Keeps what follows from what was put out last.
    pub(super) fn ensure_separator(&mut self, start: usize) {
        if self.out.text.is_empty() || self.out.text.ends_with(['\n', ' ']) {
            return;
        }
        if self.bytes[..start].last().is_some_and(|byte| matches!(byte, b' ' | b'\n' | b'\t')) {
            self.out.copy(self.text, start - 1..start);
        } else {
            self.out.substitute("\n", start..start);
        }
    }
}

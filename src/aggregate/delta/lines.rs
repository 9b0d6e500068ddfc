//! Which lines have changed, by the symbols that they belong to.

use std::collections::BTreeMap;

use similar::DiffOp;

use super::super::symbol_lines::{SymbolComparison, line_owners};
use super::version::FileVersion;
use crate::model::compare_lines;

/// Changed lines that are so close to each other are requested as one range.
const NEAR_LINES: usize = 8;

/// The changed lines of one symbol, or of none.
#[derive(Default)]
pub(super) struct ChangedLines {
    pub(super) removed: usize,
    added: usize,
    /// Lines with their signs; empty if they are too many to be shown.
    pub(super) shown: String,
    pub(super) bytes: usize,
    /// Runs of lines in the new text, from 1, both ends included.
    pub(super) runs: Vec<(usize, usize)>,
    is_touched: bool,
}

impl ChangedLines {
    fn add(&mut self, sign: char, line: &str, number: usize, limit: usize) {
        self.is_touched = true;
        match self.runs.last_mut() {
            Some((_, last)) if number <= *last + NEAR_LINES => *last = number.max(*last),
            _ => self.runs.push((number, number)),
        }
        let line = line.trim_end();
        if line.is_empty() {
            return;
        }
        *(if sign == '-' { &mut self.removed } else { &mut self.added }) += 1;
        self.bytes += line.trim_start().len() + 1;
        if limit < self.bytes {
            self.shown.clear();
        } else {
            self.shown.push(sign);
            self.shown.push_str(line);
            self.shown.push('\n');
        }
    }

    pub(super) fn count(&self) -> usize {
        self.removed.max(self.added)
    }

    pub(super) fn first_line(&self) -> usize {
        self.runs.first().map_or(1, |(first, _)| *first)
    }
}

/// The changed lines of a file, by the symbols of the new version. Those of new and of removed symbols are not in it.
#[derive(Default)]
pub(super) struct LineChanges {
    pub(super) symbols: BTreeMap<usize, ChangedLines>,
    pub(super) rest: ChangedLines,
}

impl LineChanges {
    pub(super) fn find(
        (old, old_text): (&FileVersion<'_>, &str),
        (new, new_text): (&FileVersion<'_>, &str),
        comparison: &SymbolComparison,
        (limit, rest_limit): (usize, usize),
    ) -> Self {
        let old_lines: Vec<&str> = old_text.split_inclusive('\n').collect();
        let new_lines: Vec<&str> = new_text.split_inclusive('\n').collect();
        let old_owners = line_owners(&old.lines, old_lines.len());
        let new_owners = line_owners(&new.lines, new_lines.len());
        let mut changes = Self::default();
        for op in compare_lines(&old_lines, &new_lines) {
            if matches!(op, DiffOp::Equal { .. }) {
                continue;
            }
            let place = op.new_range().start + 1;
            for at in op.old_range() {
                let owner = old_owners[at].map(|owner| comparison.new_positions[owner]);
                match owner {
                    Some(Some(symbol)) => {
                        changes.symbols.entry(symbol).or_default().add('-', old_lines[at], place, limit);
                    }
                    Some(None) => {}
                    None => changes.rest.add('-', old_lines[at], place, rest_limit),
                }
            }
            for at in op.new_range() {
                match new_owners[at] {
                    Some(symbol) if comparison.old_positions[symbol].is_some() => {
                        changes.symbols.entry(symbol).or_default().add('+', new_lines[at], at + 1, limit);
                    }
                    Some(_) => {}
                    None => changes.rest.add('+', new_lines[at], at + 1, rest_limit),
                }
            }
        }
        changes
    }
}

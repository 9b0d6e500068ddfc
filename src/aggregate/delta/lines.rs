//! Finds the lines that have changed, by the symbols that they belong to.

use std::collections::{BTreeMap, HashMap};

use similar::DiffOp;

use super::symbol_lines::{SymbolComparison, line_owners};
use super::version::FileVersion;
use crate::model::compare_lines;

/// Changed lines that are this close to each other are requested as one range.
const NEAR_LINES: usize = 8;
/// The maximum number of bytes that are shown of a changed line.
const MAX_LINE_BYTES: usize = 160;
/// The number of bytes that are shown of a longer line before the first changed byte.
const LEAD_BYTES: usize = 40;

/// The changed lines of one symbol, or of no symbol.
#[derive(Default)]
pub(super) struct ChangedLines {
    removed: usize,
    added: usize,
    /// Lines with their signs; empty if there are too many to be shown.
    pub(super) hunks: Vec<Hunk>,
    /// Ranges of lines in the new text, counted from 1, both ends included.
    pub(super) runs: Vec<(usize, usize)>,
}

/// Consecutive changed lines.
pub(super) struct Hunk {
    /// The position in the file's list of hunks.
    number: usize,
    /// The line in the new text, from 1.
    pub(super) line: usize,
    pub(super) text: String,
    /// Whether a removed line identifies the place, because it occurs once in the symbol.
    pub(super) has_place: bool,
}

/// An added or removed line.
struct ChangedLine<'t> {
    sign: char,
    text: &'t str,
    /// The line that replaces it, or that it replaces.
    twin: Option<&'t str>,
    /// The line in the new text, from 1.
    number: usize,
    hunk: usize,
    is_unique: bool,
}

impl ChangedLines {
    /// Adds a line. If there are more than `limit`, lines are counted and not shown.
    fn add(&mut self, line: &ChangedLine<'_>, limit: usize) {
        let number = line.number;
        match self.runs.last_mut() {
            Some((_, last)) if number <= *last + NEAR_LINES => *last = number.max(*last),
            _ => self.runs.push((number, number)),
        }
        if line.text.trim_end().is_empty() {
            return;
        }
        let is_removed = line.sign == '-';
        *(if is_removed { &mut self.removed } else { &mut self.added }) += 1;
        if limit < self.signed_count() {
            self.hunks.clear();
            return;
        }
        if self.hunks.last().is_none_or(|hunk| hunk.number != line.hunk) {
            let (number, text) = (line.hunk, String::new());
            self.hunks.push(Hunk { number, line: line.number, text, has_place: false });
        }
        if let Some(hunk) = self.hunks.last_mut() {
            hunk.has_place |= is_removed && line.is_unique;
            hunk.text.push(line.sign);
            // If the view is not the file's text, the rest of a line cannot be requested.
            hunk.text.push_str(&shown_line(line, if limit == usize::MAX { limit } else { MAX_LINE_BYTES }));
            hunk.text.push('\n');
        }
    }

    /// Returns how many lines are shown: a replaced line counts twice.
    pub(super) const fn signed_count(&self) -> usize {
        self.removed + self.added
    }

    pub(super) fn count(&self) -> usize {
        self.removed.max(self.added)
    }
}

/// Returns a line; if it is long, only the part that has changed.
fn shown_line(line: &ChangedLine<'_>, most: usize) -> String {
    let text = line.text.trim_end();
    if text.len() <= most {
        return text.to_owned();
    }
    let same = |twin: &str| text.bytes().zip(twin.bytes()).take_while(|(a, b)| a == b).count();
    let same = line.twin.map_or(0, same);
    let is_near = same + LEAD_BYTES <= most;
    let first = if is_near { 0 } else { text.floor_char_boundary(same.saturating_sub(LEAD_BYTES)) };
    let end = text.floor_char_boundary(first.saturating_add(most));
    let (before, after) = (if is_near { "" } else { "…" }, if end < text.len() { "…" } else { "" });
    format!("{before}{}{after}", &text[first..end])
}

/// The changed lines of a file, by the symbols of the new version, without those of new and removed symbols.
#[derive(Default)]
pub(super) struct LineChanges {
    pub(super) symbols: BTreeMap<usize, ChangedLines>,
    pub(super) rest: ChangedLines,
}

/// A version of a file whose text is known.
#[derive(Clone, Copy)]
pub(super) struct VersionWithText<'v> {
    pub(super) version: &'v FileVersion<'v>,
    pub(super) text: &'v str,
}

impl LineChanges {
    pub(super) fn find(
        VersionWithText { version: old, text: old_text }: VersionWithText<'_>,
        VersionWithText { version: new, text: new_text }: VersionWithText<'_>,
        comparison: &SymbolComparison,
        limit: usize,
    ) -> Self {
        let old_lines: Vec<&str> = old_text.split_inclusive('\n').collect();
        let new_lines: Vec<&str> = new_text.split_inclusive('\n').collect();
        let old_owners = line_owners(&old.lines, old_lines.len());
        let new_owners = line_owners(&new.lines, new_lines.len());
        let counts = count_lines(old, &old_lines, &old_owners);
        let is_unique = |at: usize| counts.get(&counted_line(old, old_lines[at], old_owners[at])) == Some(&1);
        let mut changes = Self::default();
        let mut hunk = 0;
        for op in compare_lines(&old_lines, &new_lines) {
            if matches!(op, DiffOp::Equal { .. }) {
                hunk += 1;
                continue;
            }
            let (old_range, new_range) = (op.old_range(), op.new_range());
            let number = new_range.start + 1;
            for at in old_range.clone() {
                let twin = new_lines[new_range.clone()].get(at - old_range.start).copied();
                let (text, is_unique) = (old_lines[at], is_unique(at));
                let line = ChangedLine { sign: '-', text, twin, number, hunk, is_unique };
                match old_owners[at].map(|owner| comparison.new_positions[owner]) {
                    Some(Some(symbol)) => changes.symbols.entry(symbol).or_default().add(&line, limit),
                    Some(None) => {}
                    None => changes.rest.add(&line, limit),
                }
            }
            for at in new_range.clone() {
                let twin = old_lines[old_range.clone()].get(at - new_range.start).copied();
                let (text, number) = (new_lines[at], at + 1);
                let line = ChangedLine { sign: '+', text, twin, number, hunk, is_unique: false };
                match new_owners[at] {
                    Some(symbol) if comparison.old_positions[symbol].is_some() => {
                        changes.symbols.entry(symbol).or_default().add(&line, limit);
                    }
                    Some(_) => {}
                    None => changes.rest.add(&line, limit),
                }
            }
        }
        changes
    }
}

/// A trimmed line, and the name of the symbol that it belongs to.
type CountedLine<'t> = (Option<&'t str>, &'t str);

fn counted_line<'t>(version: &'t FileVersion<'_>, line: &'t str, owner: Option<usize>) -> CountedLine<'t> {
    // By name, so overloads share their lines.
    (owner.map(|owner| version.lines[owner].qualified_name.as_str()), line.trim())
}

/// Counts equal lines of the same symbol.
fn count_lines<'t>(
    version: &'t FileVersion<'_>,
    lines: &[&'t str],
    owners: &[Option<usize>],
) -> HashMap<CountedLine<'t>, usize> {
    let mut counts = HashMap::new();
    for (line, owner) in lines.iter().zip(owners) {
        *counts.entry(counted_line(version, line, *owner)).or_default() += 1;
    }
    counts
}

//! Writes a delta.

use std::fmt::Write as _;

use super::lines::{ChangedLines, LineChanges, VersionWithText};
use super::rows::{SymbolEntry, outermost, rows};
use super::symbol_lines::{SymbolComparison, compare_symbols};
use super::version::{FileVersion, MAX_HEAD_BYTES, clip};
use crate::model::{RelPath, shell_word};

/// The maximum number of added or removed lines that are shown of a symbol, or outside of symbols. If there are more,
/// their number is enough to decide whether they are needed.
const SHOWN_LINES: usize = 8;
/// The same for all symbols of a file. An edit that was made everywhere can be understood from some of its places.
const SHOWN_FILE_LINES: usize = 16;
/// If this many siblings are new, only their names are shown.
const MANY_SIBLINGS: usize = 10;
/// The maximum number of ranges that are listed; beyond it, the nearest ranges are merged.
const MAX_RANGES: usize = 8;

/// How a delta is written.
pub struct DeltaOptions<'a> {
    pub path: &'a RelPath,
    /// Whether the texts are those of the file, so that omitted lines can be requested by number.
    pub is_file_text: bool,
    /// The maximum number of symbols that are named.
    pub max_symbols: usize,
}

/// The changes in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    pub text: String,
    /// Whether symbols were removed, which no view of the new version shows.
    pub has_removed: bool,
}

/// Returns the changes from one version to the other.
pub fn render_delta(old: &FileVersion<'_>, new: &FileVersion<'_>, options: &DeltaOptions<'_>) -> Delta {
    let comparison = compare_symbols((&old.lines, &old.hashes), (&new.lines, &new.hashes));
    let changes = match (old.text, new.text) {
        (Some(old_text), Some(new_text)) => {
            let limit = if options.is_file_text { SHOWN_LINES } else { usize::MAX };
            let old = VersionWithText { version: old, text: old_text };
            let new = VersionWithText { version: new, text: new_text };
            LineChanges::find(old, new, &comparison, limit)
        }
        _ => LineChanges::default(),
    };
    let mut page = DeltaPage {
        old,
        new,
        comparison,
        changes,
        options,
        text: String::new(),
        symbols_left: options.max_symbols,
        not_named: 0,
        hidden: Vec::new(),
    };
    page.write();
    Delta { text: page.text, has_removed: page.comparison.new_positions.contains(&None) }
}

/// A delta in progress.
struct DeltaPage<'p, 'v> {
    old: &'p FileVersion<'v>,
    new: &'p FileVersion<'v>,
    comparison: SymbolComparison,
    changes: LineChanges,
    options: &'p DeltaOptions<'p>,
    text: String,
    symbols_left: usize,
    /// The number of changed symbols that are not named.
    not_named: usize,
    /// Symbols some of whose lines are not shown.
    hidden: Vec<usize>,
}

impl DeltaPage<'_, '_> {
    fn write(&mut self) {
        self.write_added();
        self.write_changed();
        self.write_removed();
        self.write_unchanged();
        if 0 < self.not_named {
            let _ = writeln!(self.text, "@@ {} more symbols have changed", self.not_named);
        }
        self.write_rest();
        if self.text.is_empty() {
            self.text.push_str("@@ only blank lines, or the order of symbols\n");
        }
        self.write_pointer();
    }

    /// Returns whether another symbol may be named.
    fn has_room(&mut self) -> bool {
        let has_room = 0 < self.symbols_left;
        self.symbols_left = self.symbols_left.saturating_sub(1);
        self.not_named += usize::from(!has_room);
        has_room
    }

    fn write_added(&mut self) {
        let is_added: Vec<bool> = self.comparison.old_positions.iter().map(Option::is_none).collect();
        let outermost = outermost(self.new, &is_added);
        let is_many = MANY_SIBLINGS <= outermost.len();
        let mut entries = Vec::new();
        for (at, members) in outermost {
            if self.has_room() {
                let members = self.member_names(self.new, &members);
                let head = if is_many { "" } else { self.new.heads[at].signature.as_str() };
                entries.push(SymbolEntry { at, head: clip(head), suffix: members });
                self.hidden.push(at);
            }
        }
        for row in rows(self.new, entries, "; ") {
            let _ = writeln!(self.text, "@@ added {row}");
        }
    }

    fn write_removed(&mut self) {
        let is_removed: Vec<bool> = self.comparison.new_positions.iter().map(Option::is_none).collect();
        let mut entries = Vec::new();
        for (at, members) in outermost(self.old, &is_removed) {
            if self.has_room() {
                let suffix = self.member_names(self.old, &members);
                entries.push(SymbolEntry { at, head: String::new(), suffix });
            }
        }
        for row in rows(self.old, entries, ", ") {
            let _ = writeln!(self.text, "@@ removed {row}");
        }
    }

    /// Returns the names of members that were added or removed together with their container.
    fn member_names(&mut self, version: &FileVersion<'_>, members: &[usize]) -> String {
        let mut names = Vec::new();
        for at in members {
            if self.has_room() {
                names.push(clip(&version.heads[*at].name));
            }
        }
        if names.is_empty() { String::new() } else { format!(" {{ {} }}", names.join(", ")) }
    }

    fn write_changed(&mut self) {
        let mut counted = Vec::new();
        let mut shown = 0;
        for at in 0..self.new.lines.len() {
            let Some(before) = self.comparison.old_positions[at] else { continue };
            if !self.comparison.is_changed[at] || !self.has_room() {
                continue;
            }
            let lines = self.changes.symbols.get(&at);
            let is_shown = |lines: &&ChangedLines| {
                let fits = !self.options.is_file_text || shown + lines.signed_count() <= SHOWN_FILE_LINES;
                fits && !lines.hunks.is_empty()
            };
            if let Some(lines) = lines.filter(is_shown) {
                shown += lines.signed_count();
                let hunks = self.hunks(lines);
                let _ = write!(self.text, "@@ changed {}{hunks}", self.new.name(at));
                continue;
            }
            let count = lines.map(|lines| (lines.count(), self.new.line_count(at)));
            let suffix = count.map_or(String::new(), |(lines, all)| format!(" {lines}/{all}"));
            if self.old.heads[before].signature == self.new.heads[at].signature {
                self.hidden.push(at);
                counted.push(SymbolEntry { at, head: String::new(), suffix });
                continue;
            }
            // A single changed line is the signature itself.
            let is_whole = self.new.heads[at].signature.len() <= MAX_HEAD_BYTES;
            if !is_whole || count.is_none_or(|(lines, _)| 1 < lines) {
                self.hidden.push(at);
            }
            self.write_signature(before, at, &suffix, shown < SHOWN_FILE_LINES);
            shown += 2;
        }
        let what = if self.new.text.is_some() { "changed lines" } else { "changed" };
        for row in rows(self.new, counted, ", ") {
            let _ = writeln!(self.text, "@@ {what} {row}");
        }
    }

    /// Writes the old and new signature of a symbol, or only the new one.
    fn write_signature(&mut self, old: usize, new: usize, count: &str, shows_both: bool) {
        let name = self.new.name(new);
        let (before, after) = (clip(&self.old.heads[old].signature), clip(&self.new.heads[new].signature));
        let _ = if shows_both {
            writeln!(self.text, "@@ changed {name}{count}, signature\n-{before}\n+{after}")
        } else {
            writeln!(self.text, "@@ changed {name}{count}, now {after}")
        };
    }

    /// Names symbols whose lines are unchanged, but moved or separated by other blank lines.
    fn write_unchanged(&mut self) {
        let mut entries = Vec::new();
        let touched: Vec<(usize, bool)> =
            self.changes.symbols.iter().map(|(at, lines)| (*at, 0 < lines.count())).collect();
        for (at, has_text) in touched {
            let has_members = self.new.heads.get(at + 1).is_some_and(|next| next.parent == Some(at));
            // Blank lines between the members of a container come and go with the members.
            if !self.comparison.is_changed[at] && (has_text || !has_members) && self.has_room() {
                entries.push(SymbolEntry { at, head: String::new(), suffix: String::new() });
            }
        }
        for row in rows(self.new, entries, ", ") {
            let _ = writeln!(self.text, "@@ moved or respaced {row}");
        }
    }

    fn write_rest(&mut self) {
        let rest = &self.changes.rest;
        let has_symbols = !(self.new.lines.is_empty() && self.old.lines.is_empty());
        let label = if has_symbols { " outside of symbols" } else { "" };
        if self.new.text.is_none() || self.old.text.is_none() {
            if self.comparison.is_rest_changed {
                let imports = self.imports();
                let _ = writeln!(self.text, "@@ changed{label}{imports}");
            }
            return;
        }
        if rest.count() == 0 {
            return;
        }
        if rest.hunks.is_empty() {
            let calls = self.line_calls(rest);
            let count = rest.count();
            let _ = writeln!(self.text, "@@ changed{label} {count} lines{calls}");
        } else {
            let hunks = self.hunks(rest);
            let _ = write!(self.text, "@@ changed{label}{hunks}");
        }
    }

    /// Returns the added and removed imports.
    fn imports(&self) -> String {
        let (old, new) = (&self.old.imports, &self.new.imports);
        let added = new.iter().filter(|name| !old.contains(name)).map(|name| format!("+{}", clip(name)));
        let removed = old.iter().filter(|name| !new.contains(name)).map(|name| format!("-{}", clip(name)));
        let names: Vec<String> = added.chain(removed).collect();
        if names.is_empty() { String::new() } else { format!(", imports {}", names.join(" ")) }
    }

    /// Returns changed lines, with line numbers where no removed line identifies the place. The first ones follow a
    /// label.
    fn hunks(&self, lines: &ChangedLines) -> String {
        let mut text = String::new();
        for (at, hunk) in lines.hunks.iter().enumerate() {
            let has_number = self.options.is_file_text && !hunk.has_place;
            let _ = match (at, has_number) {
                (0, true) => writeln!(text, " at {}", hunk.line),
                (0, false) => writeln!(text),
                (_, true) => writeln!(text, "@@ at {}", hunk.line),
                (_, false) => Ok(()),
            };
            text.push_str(&hunk.text);
        }
        text
    }

    /// Returns the call that shows some lines.
    fn line_calls(&self, lines: &ChangedLines) -> String {
        let mut runs = lines.runs.clone();
        while MAX_RANGES < runs.len() {
            let gap = |at: &usize| runs[at + 1].0.saturating_sub(runs[*at].1);
            let nearest = (0..runs.len() - 1).min_by_key(gap).unwrap_or(0);
            let (_, last) = runs.remove(nearest + 1);
            runs[nearest].1 = last;
        }
        let ranges: Vec<String> =
            runs.iter().map(|(first, last)| format!(" --lines {first}-{last}")).collect();
        format!(": slop view {}{}", self.options.path.to_argument(), ranges.concat())
    }

    /// Writes the call that shows the hidden lines of a symbol.
    fn write_pointer(&mut self) {
        let name = match self.hidden.as_slice() {
            [] => return,
            [only] => self.new.name(*only),
            _ => "NAME".to_owned(),
        };
        let (path, mask) = (self.options.path.to_argument(), shell_word(&format!("{name}=def")));
        let _ = writeln!(self.text, "@@ slop view {path} --mask {mask}");
    }
}

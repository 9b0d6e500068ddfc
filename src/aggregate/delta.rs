//! What has changed between two versions of a file, symbol by symbol.
//!
//! A delta is made of labels, which begin with `@@`, and of lines that are marked as in a diff. Symbols that are new are
//! shown by their signatures, those that are gone by their names. Of a changed symbol the changed lines are shown if
//! they are few, without context; else how many of its lines they are, and its signature if that has changed. The lines
//! that are not shown can be requested by the call at the end. Changes outside of all symbols are shown in the same way.
//!
//! Where only the structure of the versions is known, a delta names what has changed and shows signatures alone.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use similar::DiffOp;

use super::diff::compare_lines;
use super::symbol_lines::{
    OwnHashes, SymbolComparison, SymbolLines, compare_symbols, line_owners, outline_lines,
};
use crate::model::{Outline, RelPath, Symbol};

/// Changed lines of a symbol are shown up to so many bytes. Most edits of one line are smaller; for others, the number of
/// lines says enough to decide whether they are needed.
const SHOWN_BYTES: usize = 100;
/// The same for lines of no symbol: imports above all, of which often several change at once.
const SHOWN_REST_BYTES: usize = 140;
/// The same for all symbols of a file. An edit that was made everywhere is understood from some of the places.
const SHOWN_FILE_BYTES: usize = 240;
/// So many symbols of one container are listed below it.
const FEW_SIBLINGS: usize = 3;
/// Of so many new siblings only the names are shown.
const MANY_SIBLINGS: usize = 10;
/// Signatures and names are cut after so many bytes.
const MAX_HEAD_BYTES: usize = 160;
/// Changed lines that are so close to each other are requested as one range.
const NEAR_LINES: usize = 8;
/// So many ranges are listed; beyond, one range that covers all.
const MAX_RANGES: usize = 4;

/// One version of a file.
pub struct FileVersion<'a> {
    heads: Vec<SymbolHead>,
    lines: Vec<SymbolLines>,
    hashes: OwnHashes,
    imports: Vec<String>,
    text: Option<&'a str>,
}

/// What a delta shows of a symbol.
struct SymbolHead {
    name: String,
    signature: String,
    parent: Option<usize>,
}

/// How a delta is written.
pub struct DeltaOptions<'a> {
    pub path: &'a RelPath,
    /// Whether the texts are those of the file, so that lines that are not shown can be requested by their numbers.
    pub is_file_text: bool,
    /// So many symbols are named.
    pub max_symbols: usize,
}

impl<'a> FileVersion<'a> {
    /// Returns a version whose text is known.
    pub fn from_text(outline: Option<&Outline>, text: &'a str) -> Self {
        let lines = outline.map(outline_lines).unwrap_or_default();
        let hashes = OwnHashes::of_text(&lines, text);
        let heads = outline.map(|outline| heads(outline, &|symbol| symbol.signature.clone()));
        let imports = outline.map(|outline| outline.imports.clone()).unwrap_or_default();
        Self { heads: heads.unwrap_or_default(), lines, hashes, imports, text: Some(text) }
    }

    /// Returns a version of which the structure is known; `None` if the hashes are not those of the outline.
    pub fn from_structure(
        outline: &Outline,
        hashes: OwnHashes,
        signature: &dyn Fn(&Symbol) -> String,
    ) -> Option<Self> {
        let lines = outline_lines(outline);
        let imports = outline.imports.clone();
        let heads = heads(outline, signature);
        (lines.len() == hashes.symbols.len()).then_some(Self { heads, lines, hashes, imports, text: None })
    }

    fn name(&self, at: usize) -> String {
        clip(&self.lines[at].qualified_name)
    }

    /// Returns the signature of a symbol, or its name, with the names of its containers.
    fn qualified_head(&self, entry: &SymbolEntry) -> String {
        let (name, qualified) = (&self.heads[entry.at].name, self.name(entry.at));
        let head = match entry.head.find(name.as_str()) {
            _ if entry.head.is_empty() => qualified,
            _ if entry.head.contains(&qualified) => entry.head.clone(),
            Some(found) if !name.is_empty() => {
                let (before, rest) = entry.head.split_at(found);
                format!("{before}{qualified}{}", &rest[name.len()..])
            }
            Some(_) | None => format!("{qualified}: {}", entry.head),
        };
        head + &entry.suffix
    }

    fn line_count(&self, at: usize) -> u32 {
        (self.lines[at].last_line + 1).saturating_sub(self.lines[at].first_line)
    }
}

fn heads(outline: &Outline, signature: &dyn Fn(&Symbol) -> String) -> Vec<SymbolHead> {
    let mut heads = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    outline.walk(|symbol, depth| {
        open.truncate(depth);
        let parent = open.last().copied();
        open.push(heads.len());
        heads.push(SymbolHead { name: symbol.name.clone(), signature: signature(symbol), parent });
    });
    heads
}

/// What has changed in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    pub text: String,
    /// Whether symbols are gone, which no view of the new version shows.
    pub has_removed: bool,
}

/// Returns what has changed from one version to the other.
pub fn render_delta(old: &FileVersion<'_>, new: &FileVersion<'_>, options: &DeltaOptions<'_>) -> Delta {
    let comparison = compare_symbols((&old.lines, &old.hashes), (&new.lines, &new.hashes));
    let changes = match (old.text, new.text) {
        (Some(old_text), Some(new_text)) => {
            let limits =
                if options.is_file_text { (SHOWN_BYTES, SHOWN_REST_BYTES) } else { (usize::MAX, usize::MAX) };
            LineChanges::find((old, old_text), (new, new_text), &comparison, limits)
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

/// The changed lines of one symbol, or of none.
#[derive(Default)]
struct ChangedLines {
    removed: usize,
    added: usize,
    /// Lines with their signs; empty if they are too many to be shown.
    shown: String,
    bytes: usize,
    /// Runs of lines in the new text, from 1, both ends included.
    runs: Vec<(usize, usize)>,
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

    fn count(&self) -> usize {
        self.removed.max(self.added)
    }

    fn first_line(&self) -> usize {
        self.runs.first().map_or(1, |(first, _)| *first)
    }
}

/// The changed lines of a file, by the symbols of the new version. Those of new and of removed symbols are not in it.
#[derive(Default)]
struct LineChanges {
    symbols: BTreeMap<usize, ChangedLines>,
    rest: ChangedLines,
}

impl LineChanges {
    fn find(
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

/// A delta in progress.
struct DeltaPage<'p, 'v> {
    old: &'p FileVersion<'v>,
    new: &'p FileVersion<'v>,
    comparison: SymbolComparison,
    changes: LineChanges,
    options: &'p DeltaOptions<'p>,
    text: String,
    symbols_left: usize,
    /// How many symbols more have changed.
    not_named: usize,
    /// Symbols of which lines are not shown.
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

    /// Returns whether one more symbol may be named.
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

    /// Returns the names of what is new or gone together with its container.
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
                let fits = !self.options.is_file_text || shown + lines.bytes <= SHOWN_FILE_BYTES;
                fits && !lines.shown.is_empty()
            };
            if let Some(lines) = lines.filter(is_shown) {
                let (name, place) = (self.new.name(at), self.place(lines));
                shown += lines.bytes;
                let _ = write!(self.text, "@@ changed {name}{place}\n{}", lines.shown);
                continue;
            }
            let count = lines.map(|lines| (lines.count(), self.new.line_count(at)));
            let suffix = count.map_or(String::new(), |(lines, all)| format!(" {lines}/{all}"));
            if self.old.heads[before].signature == self.new.heads[at].signature {
                self.hidden.push(at);
                counted.push(SymbolEntry { at, head: String::new(), suffix });
                continue;
            }
            // One changed line is that of the signature.
            let is_whole = self.new.heads[at].signature.len() <= MAX_HEAD_BYTES;
            if !is_whole || count.is_none_or(|(lines, _)| 1 < lines) {
                self.hidden.push(at);
            }
            shown += self.write_signature(before, at, &suffix, shown);
        }
        let what = if self.new.text.is_some() { "changed lines" } else { "changed" };
        for row in rows(self.new, counted, ", ") {
            let _ = writeln!(self.text, "@@ {what} {row}");
        }
    }

    /// Writes the signatures of a symbol before and after; where many have changed, the new one alone. Returns how many bytes
    /// they have.
    fn write_signature(&mut self, old: usize, new: usize, count: &str, shown: usize) -> usize {
        let name = self.new.name(new);
        let (before, after) = (clip(&self.old.heads[old].signature), clip(&self.new.heads[new].signature));
        let bytes = before.len() + after.len();
        let _ = if shown + bytes <= SHOWN_FILE_BYTES {
            writeln!(self.text, "@@ changed {name}{count}, signature\n-{before}\n+{after}")
        } else {
            writeln!(self.text, "@@ changed {name}{count}, now {after}")
        };
        bytes
    }

    /// Names symbols whose lines are the same as before, but elsewhere or with other blank lines.
    fn write_unchanged(&mut self) {
        let mut entries = Vec::new();
        let touched: Vec<(usize, bool)> =
            self.changes.symbols.iter().map(|(at, lines)| (*at, 0 < lines.count())).collect();
        for (at, has_text) in touched {
            let has_members = self.new.heads.get(at + 1).is_some_and(|next| next.parent == Some(at));
            // Blank lines between the members of a container come and go with them.
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
        if rest.shown.is_empty() {
            let calls = self.line_calls(rest);
            let count = rest.count();
            let _ = writeln!(self.text, "@@ changed{label} {count} lines{calls}");
        } else {
            let _ = write!(self.text, "@@ changed{label}{}\n{}", self.place(rest), rest.shown);
        }
    }

    /// Returns which imports are new or gone.
    fn imports(&self) -> String {
        let (old, new) = (&self.old.imports, &self.new.imports);
        let added = new.iter().filter(|name| !old.contains(name)).map(|name| format!("+{}", clip(name)));
        let removed = old.iter().filter(|name| !new.contains(name)).map(|name| format!("-{}", clip(name)));
        let names: Vec<String> = added.chain(removed).collect();
        if names.is_empty() { String::new() } else { format!(", imports {}", names.join(" ")) }
    }

    /// Returns where lines were inserted; a line that was removed says that itself.
    fn place(&self, lines: &ChangedLines) -> String {
        let is_needed = self.options.is_file_text && lines.removed == 0;
        if is_needed { format!(" at {}", lines.first_line()) } else { String::new() }
    }

    /// Returns the call that shows some lines.
    fn line_calls(&self, lines: &ChangedLines) -> String {
        let mut runs = lines.runs.clone();
        if MAX_RANGES < runs.len() {
            let last = runs.last().map_or(1, |(_, last)| *last);
            runs = vec![(lines.first_line(), last)];
        }
        let ranges: Vec<String> =
            runs.iter().map(|(first, last)| format!(" --lines {first}-{last}")).collect();
        format!(": slop view {}{}", shell_word(&self.options.path.to_string()), ranges.concat())
    }

    /// Writes the call that shows the lines of a symbol of which they are not shown.
    fn write_pointer(&mut self) {
        let name = match self.hidden.as_slice() {
            [] => return,
            [only] => self.new.name(*only),
            _ => "NAME".to_owned(),
        };
        let (path, mask) = (shell_word(&self.options.path.to_string()), shell_word(&format!("{name}=def")));
        let _ = writeln!(self.text, "@@ slop view {path} --mask {mask}");
    }
}

/// A symbol in a row of a delta.
struct SymbolEntry {
    at: usize,
    /// Its signature; empty if it is only named.
    head: String,
    suffix: String,
}

/// Returns symbols in rows: several of one container below its name, the others by their whole names.
fn rows(version: &FileVersion<'_>, entries: Vec<SymbolEntry>, separator: &str) -> Vec<String> {
    let mut siblings: BTreeMap<Option<usize>, Vec<SymbolEntry>> = BTreeMap::new();
    for entry in entries {
        siblings.entry(version.heads[entry.at].parent).or_default().push(entry);
    }
    let mut single = Vec::new();
    let mut rows = Vec::new();
    for (parent, entries) in siblings {
        match parent {
            Some(parent) if FEW_SIBLINGS <= entries.len() => {
                let texts = entries.iter().map(|entry| {
                    let name = &version.heads[entry.at].name;
                    let head = if entry.head.is_empty() { clip(name) } else { entry.head.clone() };
                    head + &entry.suffix
                });
                let texts: Vec<String> = texts.collect();
                rows.push(format!("in {}: {}", version.name(parent), texts.join(separator)));
            }
            _ => single.extend(entries),
        }
    }
    single.sort_by_key(|entry| entry.at);
    let single: Vec<String> = single.iter().map(|entry| version.qualified_head(entry)).collect();
    if !single.is_empty() {
        rows.insert(0, single.join(separator));
    }
    rows
}

/// Returns the marked symbols that are not in another marked one, each with the marked symbols within it.
fn outermost(version: &FileVersion<'_>, marked: &[bool]) -> Vec<(usize, Vec<usize>)> {
    let mut found: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut group_of: Vec<Option<usize>> = vec![None; marked.len()];
    for (at, is_marked) in marked.iter().enumerate() {
        if !is_marked {
            continue;
        }
        if let Some(group) = version.heads[at].parent.and_then(|parent| group_of[parent]) {
            group_of[at] = Some(group);
            found[group].1.push(at);
        } else {
            group_of[at] = Some(found.len());
            found.push((at, Vec::new()));
        }
    }
    found
}

/// Returns a text on one line, cut if it is very long.
fn clip(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.len() <= MAX_HEAD_BYTES {
        return line;
    }
    format!("{}…", &line[..line.floor_char_boundary(MAX_HEAD_BYTES)])
}

/// Returns a text as a shell takes it for one word.
fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:=@+,%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ParseHealth, Span, SymbolKind};

    /// Reads the outline of a text in which `fn NAME` begins a function, and `type NAME` a type with all that is indented
    /// below it.
    fn outline(text: &str) -> Outline {
        let mut symbols: Vec<Symbol> = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            let is_inner = line.starts_with(' ');
            let siblings = match symbols.last_mut() {
                Some(around) if is_inner && around.kind == SymbolKind::Struct => &mut around.children,
                _ => &mut symbols,
            };
            let head = line.trim().strip_prefix("fn ").or_else(|| line.strip_prefix("type "));
            match head {
                Some(head) => {
                    let name = head.split('(').next().unwrap().to_owned();
                    let kind =
                        if line.starts_with("type") { SymbolKind::Struct } else { SymbolKind::Function };
                    let span = Span { start_byte: 0, end_byte: 0, start_line: number, end_line: number };
                    let signature = line.trim().to_owned();
                    let qualified_name = if is_inner { format!("T.{name}") } else { name.clone() };
                    siblings.push(Symbol {
                        kind,
                        name,
                        qualified_name,
                        span,
                        signature,
                        doc: None,
                        recovered: false,
                        children: vec![],
                    });
                }
                None if line.starts_with(' ') => siblings.last_mut().unwrap().span.end_line = number,
                None => {}
            }
            if let Some(around) = symbols.last_mut().filter(|_| is_inner) {
                around.span.end_line = number;
            }
        }
        let imports = text.lines().filter_map(|line| line.strip_prefix("use ").map(str::to_owned)).collect();
        Outline { health: ParseHealth::perfect(1), doc: None, imports, symbols }
    }

    fn options(path: &RelPath) -> DeltaOptions<'_> {
        DeltaOptions { path, is_file_text: true, max_symbols: 100 }
    }

    #[track_caller]
    fn check(old: &str, new: &str, expected: &str) {
        let path = RelPath::new(b"a.x").unwrap();
        let (old_outline, new_outline) = (outline(old), outline(new));
        let (before, after) = (
            FileVersion::from_text(Some(&old_outline), old),
            FileVersion::from_text(Some(&new_outline), new),
        );
        assert_eq!(render_delta(&before, &after, &options(&path)).text, expected);
    }

    const OLD: &str =
        "use a\n\ntype T\n  fn run(x)\n    one\n    two\n\n  fn stop()\n    three\nfn last()\n  four\n";

    #[test]
    fn a_small_change_is_shown_and_a_large_one_counted() {
        check(OLD, &OLD.replace("two", "2"), "@@ changed T.run\n-    two\n+    2\n");
        let many = "    a line of this length, which is repeated\n".repeat(4);
        let expected = "@@ changed lines T.run 4/7\n@@ slop view a.x --mask T.run=def\n";
        check(OLD, &OLD.replace("    two\n", &format!("    two\n{many}")), expected);
        let expected =
            "@@ changed T.run 5/7, signature\n-fn run(x)\n+fn run(x, y)\n@@ slop view a.x --mask T.run=def\n";
        check(
            OLD,
            &OLD.replace("run(x)", "run(x, y)").replace("    two\n", &format!("    two\n{many}")),
            expected,
        );
    }

    #[test]
    fn what_is_new_is_shown_by_its_signature_and_what_is_gone_by_its_name() {
        let new =
            OLD.replace("  fn stop()\n    three\n", "").replace("use a", "use b") + "fn more(z)\n  five\n";
        let expected = "@@ added fn more(z)\n@@ removed T.stop\n@@ changed outside of symbols\n-use a\n+use b\n\
            @@ slop view a.x --mask more=def\n";
        check(OLD, &new, expected);
        let expected = "@@ added type T { run, stop }\n@@ slop view a.x --mask T=def\n";
        check("use a\n\nfn last()\n  four\n", OLD, expected);
        check(OLD, "use a\n\nfn last()\n  four\n", "@@ removed T { run, stop }\n");
    }

    #[test]
    fn what_moved_and_blank_lines_do_not_vanish() {
        let moved =
            "use a\n\nfn last()\n  four\ntype T\n  fn run(x)\n    one\n    two\n\n  fn stop()\n    three\n";
        check(OLD, moved, "@@ moved or respaced last\n");
        check(OLD, &OLD.replace("one\n", "one\n\n    \n"), "@@ moved or respaced T.run\n");
        check(OLD, &OLD.replace("use a\n", "use a\n\n\n"), "@@ only blank lines, or the order of symbols\n");
    }

    #[test]
    fn a_text_without_symbols_is_compared_by_lines() {
        check("a\nb\nc\n", "a\nB\nc\n", "@@ changed\n-b\n+B\n");
        let rows = |sign: &str| (0..50).fold(String::new(), |text, n| text + &format!("{sign} row {n}\n"));
        let expected = "@@ changed 50 lines: slop view a.x --lines 1-50\n";
        check(&rows("old"), &rows("new"), expected);
    }

    #[test]
    fn without_the_texts_the_structure_is_compared() {
        let path = RelPath::new(b"a.x").unwrap();
        let version = |text: &str| {
            let outline = outline(text);
            let hashes = OwnHashes::of_text(&outline_lines(&outline), text);
            FileVersion::from_structure(&outline, hashes, &|symbol| symbol.signature.clone()).unwrap()
        };
        let new = OLD.replace("use a", "use b").replace("two", "2").replace("stop()", "stop(now)");
        let delta = render_delta(&version(OLD), &version(&new), &options(&path));
        let expected = "@@ changed T.stop, signature\n-fn stop()\n+fn stop(now)\n@@ changed T.run\n\
            @@ changed outside of symbols, imports +b -a\n@@ slop view a.x --mask NAME=def\n";
        assert_eq!(delta.text, expected);
    }

    #[test]
    fn many_symbols_of_one_container_are_listed_below_its_name() {
        let body = "    a line of this length, which is repeated\n".repeat(3);
        let text = |suffix: &str| {
            let method =
                |n: usize| format!("  fn m{n}()\n{}", body.replace("length", &format!("length{suffix}")));
            format!("type T\n{}", (0..3).map(method).collect::<String>())
        };
        let expected = "@@ changed lines in T: m0 3/4, m1 3/4, m2 3/4\n@@ slop view a.x --mask NAME=def\n";
        check(&text(""), &text("2"), expected);
        let expected = "@@ added in T: fn m0(); fn m1(); fn m2()\n@@ slop view a.x --mask NAME=def\n";
        check("type T\n", &text(""), expected);
    }

    #[test]
    fn a_table_of_data_is_not_named_in_full() {
        let path = RelPath::new(b"it's a.x").unwrap();
        let new = (0..9).fold(String::new(), |text, n| text + &format!("fn key{n}()\n"));
        let outlines = (outline(""), outline(&new));
        let (old, new) =
            (FileVersion::from_text(Some(&outlines.0), ""), FileVersion::from_text(Some(&outlines.1), &new));
        let delta = render_delta(&old, &new, &DeltaOptions { max_symbols: 1, ..options(&path) });
        let expected = "@@ added fn key0()\n@@ 8 more symbols have changed\n@@ slop view 'it'\\''s a.x' --mask key0=def\n";
        assert_eq!((delta.text.as_str(), delta.has_removed), (expected, false));
    }
}

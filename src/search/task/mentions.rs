//! Finds paths, modules and links to lines in a text.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::markup::{IgnoredTextReason, Markup};
use crate::search::traces::{has_source_extension, parse_location, with_slashes};

/// How a path is mentioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MentionedPathKind {
    /// As a path: `src/a.py`, `a/b.c:41`, `C:\code\a.c`, `a.py`.
    Path,
    /// As a module: `package.module`, `crate::search`. It may also be a member of a class.
    Module,
    /// By a link to a file of a repository, as in `https://…/blob/main/src/a.py#L3-L9`.
    Link,
}

/// A file, folder or module that a task mentions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MentionedPath {
    /// The path with `/` as separator and without `./`; a module as written.
    pub path: String,
    /// First and last line, from 1, if lines are mentioned.
    pub lines: Option<(u32, u32)>,
    /// How it is mentioned.
    pub kind: MentionedPathKind,
    /// The bytes of the text.
    pub range: Range<usize>,
}

/// Further mentions are ignored. A text with thousands of paths is a listing of files, and says nothing about any of
/// them.
const MAX_MENTIONS: usize = 1_000;

/// Finds the mentions in a text, in order and without duplicates. The lines of traces are skipped.
pub(super) fn find_paths(text: &str, markup: &Markup, traces: &[Range<usize>]) -> Vec<MentionedPath> {
    let mut found = Vec::new();
    for ignored in markup.ignored.iter().filter(|ignored| ignored.reason == IgnoredTextReason::Url) {
        found.extend(link(&text[ignored.range.clone()], ignored.range.start));
    }
    let mut ignored = Cursor::new(markup.ignored.iter().map(|ignored| ignored.range.clone()));
    let mut ticks = Cursor::new(markup.ticks.iter().cloned());
    let mut traces = Cursor::new(traces.iter().cloned());
    let mut next = 0;
    for piece in text.split_inclusive(is_separator) {
        let (start, token) = (next, piece.trim_end_matches(is_separator));
        next += piece.len();
        let is_skipped = ignored.contains(start) || traces.contains(start);
        let is_ticked = ticks.contains(start);
        if !is_skipped && 3 <= token.len() {
            found.extend(path(token, start, is_ticked));
            found.extend(within_script_without_blanks(token, start, is_ticked));
        }
    }
    found.sort_by_key(|mention| mention.range.start);
    let mut seen = FxHashSet::default();
    found.retain(|mention| seen.insert((mention.path.clone(), mention.lines, mention.kind)));
    found.truncate(MAX_MENTIONS);
    found
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || "\"'`<>()[]{}|,;*=“”‘’、。「」『』【】《》（），：；！？".contains(c)
}

/// Finds paths between words of Chinese, Japanese and other scripts without spaces: `修复src/a.py的错误`.
fn within_script_without_blanks(token: &str, start: usize, is_ticked: bool) -> Vec<MentionedPath> {
    let is_of_script = |c: char| matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}');
    if !token.contains(is_of_script) {
        return Vec::new();
    }
    let mut next = start;
    let pieces = token.split_inclusive(is_of_script).map(|piece| {
        next += piece.len();
        (next - piece.len(), piece.trim_end_matches(is_of_script))
    });
    let pieces = pieces.filter(|(_, piece)| has_source_extension(piece) || piece.contains(':'));
    pieces.filter_map(|(start, piece)| path(piece, start, is_ticked)).collect()
}

/// Looks up ascending positions in ranges.
pub(super) struct Cursor<I> {
    ranges: I,
    current: Range<usize>,
}

impl<I: Iterator<Item = Range<usize>>> Cursor<I> {
    /// The ranges are in order and do not overlap.
    pub(super) fn new(ranges: I) -> Self {
        Self { ranges, current: 0..0 }
    }

    /// Returns whether a position is in one of the ranges.
    pub(super) fn contains(&mut self, position: usize) -> bool {
        while self.current.end <= position {
            match self.ranges.next() {
                Some(next) => self.current = next,
                None => return false,
            }
        }
        self.current.contains(&position)
    }
}

fn path(token: &str, start: usize, is_ticked: bool) -> Option<MentionedPath> {
    let trimmed = token.trim_end_matches(['.', ':', '!', '?', '…']);
    let mention = |path: &str, lines, kind| {
        let path = if kind == MentionedPathKind::Module { path.to_owned() } else { with_slashes(path) };
        Some(MentionedPath { path, lines, kind, range: start..start + trimmed.len() })
    };
    let file = trimmed.strip_prefix("file://").unwrap_or(trimmed);
    if let Some((at, _)) = parse_location(file).filter(|(at, _)| has_source_extension(at.path)) {
        return mention(at.path, Some((at.line, at.line)), MentionedPathKind::Path);
    }
    if let Some((path, anchor)) = file.split_once("#L") {
        return mention(path, line_range(anchor), MentionedPathKind::Path);
    }
    // The identifier of a test: `tests/test_a.py::test_total`.
    let file =
        file.split_once("::").map_or(file, |(path, _)| if has_source_extension(path) { path } else { file });
    if is_path(file, is_ticked) {
        return mention(file, None, MentionedPathKind::Path);
    }
    if is_module(trimmed) { mention(trimmed, None, MentionedPathKind::Module) } else { None }
}

fn is_path(token: &str, is_ticked: bool) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "_-.+@~/\\:$ ".contains(c);
    if !token.chars().all(is_part) || !token.contains(|c: char| c.is_alphabetic()) || token.contains("//") {
        return false;
    }
    if has_source_extension(token) {
        return true;
    }
    let slashes = token.bytes().filter(|byte| matches!(byte, b'/' | b'\\')).count();
    let is_anchored =
        token.starts_with(['/', '~', '.']) || token.ends_with('/') || token.get(1..3) == Some(":\\");
    // A single slash between two words usually means "or".
    1 < slashes || 1 == slashes && (is_anchored || is_ticked)
}

/// Returns whether a token is identifiers with `.` or `::` between them.
fn is_module(token: &str) -> bool {
    let separator = if token.contains("::") { "::" } else { "." };
    let is_identifier = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let mut parts = token.split(separator);
    let is_long = token.split(separator).any(|part| 2 < part.len());
    token.contains(separator) && is_long && parts.all(is_identifier)
}

/// Reads a link to a file of a repository: the path after `/blob/REVISION/`, and its lines.
fn link(url: &str, start: usize) -> Option<MentionedPath> {
    let (address, anchor) = url.split_once('#').unwrap_or((url, ""));
    let address = address.split('?').next().unwrap_or_default();
    let rest = match ["/blob/", "/tree/", "/blame/", "/raw/"].iter().find_map(|kind| address.split_once(kind))
    {
        Some((_, rest)) => rest,
        None => address.strip_prefix("https://raw.githubusercontent.com/")?.splitn(3, '/').nth(2)?,
    };
    let (_, path) = rest.split_once('/')?;
    let path = path.trim_end_matches(['/', '.', ',', ':']);
    let lines = anchor.strip_prefix('L').and_then(line_range);
    let range = start..start + url.len();
    let path = with_slashes(&path.replace("%20", " "));
    (!path.is_empty()).then_some(MentionedPath { path, lines, kind: MentionedPathKind::Link, range })
}

/// Reads `3`, `3-9`, `3-L9` or `3C1-L9C4`.
fn line_range(anchor: &str) -> Option<(u32, u32)> {
    let number = |text: &str| {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count().min(9);
        text[..digits].parse::<u32>().ok().filter(|line| 0 < *line)
    };
    let first = number(anchor)?;
    let last = anchor.split_once('-').and_then(|(_, last)| number(last.trim_start_matches('L')));
    Some((first, last.unwrap_or(first).max(first)))
}

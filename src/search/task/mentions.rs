//! Finds paths, modules and links to lines in a text.

use std::ops::Range;

use percent_encoding::percent_decode_str;
use rustc_hash::FxHashSet;

use super::markup::{IgnoredTextReason, Markup};
use crate::search::traces::{ProjectNames, parse_location, with_slashes};

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
pub(super) fn find_paths(
    text: &str,
    markup: &Markup,
    traces: &[Range<usize>],
    project: &ProjectNames<'_>,
) -> Vec<MentionedPath> {
    let mut found = Vec::new();
    for ignored in markup.ignored.iter().filter(|ignored| ignored.reason == IgnoredTextReason::Url) {
        found.extend(link(&text[ignored.range.clone()], ignored.range.start));
    }
    let mut ignored = Cursor::new(markup.ignored.iter().map(|ignored| ignored.range.clone()));
    let mut ticks = Cursor::new(markup.ticks.iter().cloned());
    let mut traces = Cursor::new(traces.iter().cloned());
    for range in tokens(text, project) {
        let (start, token) = (range.start, &text[range.clone()]);
        let is_skipped = ignored.contains(start) || traces.contains(start);
        let is_ticked = ticks.contains(start);
        if !is_skipped && 3 <= token.len() {
            let mut written = path(token, start, is_ticked, project);
            if let Some(mention) = written.as_mut().filter(|mention| mention.kind == MentionedPathKind::Path)
            {
                mention.lines = mention.lines.or_else(|| lines_after(&text[range.end..]));
            }
            found.extend(written);
            found.extend(within_script_without_blanks(token, start, is_ticked, project));
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

/// Splits a text into words. Those of a name in the project are one: `app/[id]/page.tsx`, `My Project/a.cs`.
fn tokens(text: &str, project: &ProjectNames<'_>) -> Vec<Range<usize>> {
    let mut tokens = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(separator) = text[at..].find(is_separator).map(|found| at + found) {
        let name = text[start..separator].rfind(['/', '\\']).map_or(start, |slash| start + slash + 1);
        if let Some(end) = project.unusual_end(text, name, separator) {
            at = end;
            continue;
        }
        tokens.push(start..separator);
        at = separator + text[separator..].chars().next().map_or(1, char::len_utf8);
        start = at;
    }
    tokens.push(start..text.len());
    tokens
}

/// Reads the lines that are written after a path: `a.cs(3,5)`, `a.py line 3`, `(a.erl, line 3)`, `a.py on lines 3-9`.
fn lines_after(rest: &str) -> Option<(u32, u32)> {
    if let Some(number) = rest.strip_prefix('(').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    {
        let end = number.trim_start_matches(|c: char| c.is_ascii_digit());
        return line_range(number).filter(|_| end.starts_with([',', ')']));
    }
    let rest = rest.trim_start_matches(['`', '"', '\'', '(', ')', ',', ':', ' ', '*']);
    let rest = ["on ", "at ", "in "].iter().find_map(|word| rest.strip_prefix(word)).unwrap_or(rest);
    let number = ["line ", "lines "].iter().find_map(|word| rest.strip_prefix(word));
    number.and_then(line_range)
}

/// Finds paths between words of Chinese, Japanese and other scripts without spaces: `修复src/a.py的错误`.
fn within_script_without_blanks(
    token: &str,
    start: usize,
    is_ticked: bool,
    project: &ProjectNames<'_>,
) -> Vec<MentionedPath> {
    let is_of_script = |c: char| matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}');
    if !token.contains(is_of_script) {
        return Vec::new();
    }
    let mut next = start;
    let pieces = token.split_inclusive(is_of_script).map(|piece| {
        next += piece.len();
        (next - piece.len(), piece.trim_end_matches(is_of_script))
    });
    let pieces = pieces.filter(|(_, piece)| project.may_be_file(piece) || piece.contains(':'));
    pieces.filter_map(|(start, piece)| path(piece, start, is_ticked, project)).collect()
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

fn path(token: &str, start: usize, is_ticked: bool, project: &ProjectNames<'_>) -> Option<MentionedPath> {
    let trimmed = token.trim_end_matches(['.', ':', '!', '?', '…']);
    let mention = |path: &str, lines, kind| {
        let path = if kind == MentionedPathKind::Module { path.to_owned() } else { with_slashes(path) };
        Some(MentionedPath { path, lines, kind, range: start..start + trimmed.len() })
    };
    let file = trimmed.strip_prefix("file://").unwrap_or(trimmed);
    let emphasized = ["~~", "__", "_"].iter().find_map(|mark| file.strip_prefix(mark)?.strip_suffix(mark));
    let file = project.without_at(emphasized.unwrap_or(file));
    if let Some((at, _)) = parse_location(file).filter(|(at, _)| project.may_be_file(at.path)) {
        let lines = line_range(&file[at.path.len() + 1..]).unwrap_or((at.line, at.line));
        return mention(at.path, Some(lines), MentionedPathKind::Path);
    }
    if let Some((path, anchor)) = file.split_once("#L") {
        return mention(path, line_range(anchor), MentionedPathKind::Path);
    }
    // The identifier of a test: `tests/test_a.py::test_total`.
    let file =
        file.split_once("::").map_or(file, |(path, _)| if project.may_be_file(path) { path } else { file });
    if is_path(file, is_ticked, project) {
        return mention(file, None, MentionedPathKind::Path);
    }
    if is_module(trimmed) { mention(trimmed, None, MentionedPathKind::Module) } else { None }
}

fn is_path(token: &str, is_ticked: bool, project: &ProjectNames<'_>) -> bool {
    // Only names of the project contain separators.
    let is_part = |c: char| c.is_alphanumeric() || "_-.+@~/\\:$".contains(c) || is_separator(c);
    if !token.chars().all(is_part) || !token.contains(|c: char| c.is_alphabetic()) || token.contains("//") {
        return false;
    }
    if project.may_be_file(token) {
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

/// Reads a link to lines of a repository's file on GitHub, GitLab, Gitea, Bitbucket or Azure DevOps.
fn link(url: &str, start: usize) -> Option<MentionedPath> {
    let (address, anchor) = url.split_once('#').unwrap_or((url, ""));
    let (address, query) = address.split_once('?').unwrap_or((address, ""));
    let parameter = |name| query.split('&').find_map(|pair: &str| pair.strip_prefix(name)?.strip_prefix('='));
    let is_azure = address.contains("/_git/");
    let path = if is_azure { parameter("path")? } else { path_at_revision(address)? };
    let path = percent_decode_str(path.trim_end_matches(['/', '.', ',', ':'])).decode_utf8_lossy();
    let path = with_slashes(path.trim_start_matches('/'));
    let lines = match parameter("line").filter(|_| is_azure) {
        Some(first) => line_range(&format!("{first}-{}", parameter("lineEnd").unwrap_or_default())),
        None => anchor.strip_prefix('L').and_then(line_range),
    };
    // Bitbucket: `#lines-3:9`.
    let lines = lines.or_else(|| line_range(&anchor.strip_prefix("lines-")?.replace(':', "-")));
    let range = start..start + url.len();
    (!path.is_empty()).then_some(MentionedPath { path, lines, kind: MentionedPathKind::Link, range })
}

/// Returns the path after the revision in the address of a file: `…/blob/main/src/a.py`.
fn path_at_revision(address: &str) -> Option<&str> {
    let kinds = ["/blob/", "/tree/", "/blame/", "/raw/", "/src/commit/", "/src/branch/", "/src/tag/"];
    if let Some(raw) = address.strip_prefix("https://raw.githubusercontent.com/") {
        return raw.splitn(4, '/').nth(3);
    }
    if let Some((_, rest)) = kinds.iter().find_map(|kind| address.split_once(kind)) {
        return rest.split_once('/').map(|(_, path)| path);
    }
    // On Bitbucket, only a hash tells it from a folder of a site.
    let (revision, path) = address.split_once("/src/")?.1.split_once('/')?;
    let is_hash = 7 <= revision.len() && revision.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then_some(path)
}

/// Reads `3`, `3-9`, `3-L9` or `3C1-L9C4` at the start of a text.
fn line_range(text: &str) -> Option<(u32, u32)> {
    let number = |text: &str| {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count().min(9);
        let number = text[..digits].parse::<u32>().ok().filter(|line| 0 < *line);
        number.map(|number| (number, digits))
    };
    let (first, digits) = number(text)?;
    let rest = &text[digits..];
    let rest =
        rest.strip_prefix('C').map_or(rest, |column| column.trim_start_matches(|c: char| c.is_ascii_digit()));
    let last = rest.strip_prefix('-').and_then(|last| number(last.trim_start_matches('L')));
    Some((first, last.map_or(first, |(last, _)| last.max(first))))
}

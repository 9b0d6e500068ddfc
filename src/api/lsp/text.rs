//! Positions in a text in the units of the protocol, names at positions, and edits.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The unit of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PositionEncoding {
    Utf8,
    Utf16,
}

/// A position in a text, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Position {
    pub(super) line: u32,
    pub(super) character: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TextRange {
    pub(super) start: Position,
    pub(super) end: Position,
}

impl TextRange {
    pub(super) fn contains(&self, other: &Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// A change of an open text: of a range, or of the whole text.
#[derive(Debug, Deserialize)]
pub(super) struct TextChange {
    #[serde(default)]
    pub(super) range: Option<TextRange>,
    pub(super) text: String,
}

/// A text with the starts of its lines, which end with `\n`, `\r\n` or `\r` as the protocol requires.
#[derive(Debug, Clone)]
pub(super) struct IndexedText {
    pub(super) text: Arc<String>,
    line_starts: Vec<usize>,
}

impl IndexedText {
    pub(super) fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let line_starts = std::iter::once(0).chain(line_starts(text.as_bytes(), 0..text.len())).collect();
        Self { text: Arc::new(text), line_starts }
    }

    /// Returns the number of lines; a line break at the end of the text is followed by an empty line.
    pub(super) fn line_count(&self) -> usize {
        self.line_starts.len()
    }

    /// Returns the range of a line, without its terminator.
    pub(super) fn line_range(&self, line: usize) -> Option<Range<usize>> {
        let start = *self.line_starts.get(line)?;
        let end = self.line_starts.get(line + 1).copied().unwrap_or(self.text.len());
        let text = &self.text[start..end];
        Some(start..start + text.trim_end_matches(['\n', '\r']).len())
    }

    pub(super) fn line(&self, line: usize) -> Option<&str> {
        self.line_range(line).map(|range| &self.text[range])
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        (0..self.line_count()).filter_map(|line| self.line(line))
    }

    /// Returns the line of a byte, and the byte's offset in it. An offset past the end is clamped.
    pub(super) fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let offset = self.text.floor_char_boundary(offset);
        let line = self.line_starts.partition_point(|start| *start <= offset) - 1;
        (line, offset - self.line_starts[line])
    }

    /// Returns the position of a byte; a byte within a line terminator has the position where the terminator begins.
    pub(super) fn position(&self, offset: usize, encoding: PositionEncoding) -> Position {
        let (line, column) = self.line_and_column(offset);
        let text = self.line(line).unwrap_or_default();
        let before = &text[..text.floor_char_boundary(column)];
        let character = match encoding {
            PositionEncoding::Utf8 => before.len(),
            PositionEncoding::Utf16 => before.encode_utf16().count(),
        };
        Position { line: to_u32(line), character: to_u32(character) }
    }

    pub(super) fn range(&self, range: Range<usize>, encoding: PositionEncoding) -> TextRange {
        let end = range.end.max(range.start);
        TextRange { start: self.position(range.start, encoding), end: self.position(end, encoding) }
    }

    /// Returns the byte at a position. A position past the end of a line is clamped to it, and one within a character
    /// to its start.
    pub(super) fn offset(&self, position: Position, encoding: PositionEncoding) -> usize {
        let Some(range) = self.line_range(position.line as usize) else { return self.text.len() };
        let text = &self.text[range.clone()];
        let wanted = position.character as usize;
        let column = match encoding {
            PositionEncoding::Utf8 => text.floor_char_boundary(wanted),
            PositionEncoding::Utf16 => {
                let mut units = 0;
                let next = text.char_indices().find(|(_, c)| {
                    units += c.len_utf16();
                    wanted < units
                });
                next.map_or(text.len(), |(at, _)| at)
            }
        };
        range.start + column
    }

    /// Returns the name at a byte offset, or the one that ends there.
    pub(super) fn name_at(&self, offset: usize) -> Option<Range<usize>> {
        let before = self.text[..offset].char_indices().rev().take_while(|(_, c)| is_in_name(*c)).last();
        let start = before.map_or(offset, |(at, _)| at);
        let length: usize =
            self.text[offset..].chars().take_while(|c| is_in_name(*c)).map(char::len_utf8).sum();
        let range = start..offset + length;
        let first = self.text[range.clone()].chars().next()?;
        (!first.is_numeric()).then_some(range)
    }

    /// Returns the text after changes, each of which applies to the result of the previous one.
    pub(super) fn changed(mut self, changes: Vec<TextChange>, encoding: PositionEncoding) -> Self {
        for change in changes {
            let Some(range) = change.range else {
                self = Self::new(change.text);
                continue;
            };
            let start = self.offset(range.start, encoding);
            let end = self.offset(range.end, encoding).max(start);
            self.replace(start..end, &change.text);
        }
        self
    }

    /// Replaces a range. With many cursors, a text is changed in many places at once, so only the lines there are
    /// indexed again.
    fn replace(&mut self, range: Range<usize>, new: &str) {
        let text = Arc::make_mut(&mut self.text);
        text.replace_range(range.clone(), new);
        let end = range.start + new.len();
        // The first line starts at 0 in any text. Whether a line starts at an edge of the range depends on both sides.
        let first = self.line_starts.partition_point(|start| *start < range.start).max(1);
        let last = self.line_starts.partition_point(|start| *start <= range.end);
        for start in &mut self.line_starts[last..] {
            *start = *start - range.end + end;
        }
        let breaks = range.start.saturating_sub(1)..end;
        self.line_starts.splice(first..last, line_starts(text.as_bytes(), breaks));
    }
}

/// Returns the starts of the lines that follow the line breaks in a range.
fn line_starts(text: &[u8], range: Range<usize>) -> impl Iterator<Item = usize> {
    memchr::memchr2_iter(b'\n', b'\r', &text[range.clone()])
        .map(move |at| range.start + at + 1)
        .filter(|start| text[start - 1] == b'\n' || text.get(*start) != Some(&b'\n'))
}

/// Returns the occurrences of a name in a text, not within longer names.
pub(super) fn names_in<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = Range<usize>> {
    // An empty name would match everywhere.
    let found = (!name.is_empty()).then(|| text.match_indices(name)).into_iter().flatten();
    found.map(|(at, name)| at..at + name.len()).filter(|range| {
        let before = text[..range.start].chars().next_back();
        let after = text[range.end..].chars().next();
        !before.is_some_and(is_in_name) && !after.is_some_and(is_in_name)
    })
}

/// Returns whether a character is part of a name in most languages.
pub(super) fn is_in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

pub(super) fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [PositionEncoding; 2] = [PositionEncoding::Utf8, PositionEncoding::Utf16];

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn columns_are_in_the_units_of_the_client() {
        let text = IndexedText::new("aé𝄞b\r\nc\rd\n");
        let b = text.text.find('b').unwrap();
        assert_eq!(text.position(b, PositionEncoding::Utf8), at(0, 7));
        assert_eq!(text.position(b, PositionEncoding::Utf16), at(0, 4));
        assert_eq!(text.line_count(), 4);
        assert_eq!(text.lines().collect::<Vec<_>>(), ["aé𝄞b", "c", "d", ""]);
        // Within a surrogate pair, and past the end of a line.
        assert_eq!(text.offset(at(0, 3), PositionEncoding::Utf16), 3);
        assert_eq!(text.offset(at(0, 99), PositionEncoding::Utf16), b + 1);
        assert_eq!(text.offset(at(99, 0), PositionEncoding::Utf16), text.text.len());
    }

    #[test]
    fn every_byte_offset_of_a_line_round_trips() {
        let text = IndexedText::new("x\n  ü🦀 = y\r\n\r\nend");
        for encoding in BOTH {
            for (offset, c) in text.text.char_indices() {
                if !matches!(c, '\r' | '\n') {
                    assert_eq!(text.offset(text.position(offset, encoding), encoding), offset, "{offset}");
                }
            }
        }
    }

    #[test]
    fn changes_are_applied_in_order() {
        let change = |range, text: &str| TextChange { range, text: text.to_owned() };
        let range = |start, end| Some(TextRange { start, end });
        for encoding in BOTH {
            let text = IndexedText::new("a\nb\n").changed(
                vec![
                    change(range(at(1, 0), at(1, 1)), "x\ny"),
                    change(range(at(2, 0), at(2, 1)), "z"),
                    change(range(at(9, 9), at(9, 9)), "end"),
                ],
                encoding,
            );
            assert_eq!(&*text.text, "a\nx\nz\nend");
            assert_eq!(&*text.changed(vec![change(None, "new")], encoding).text, "new");
        }
        let crab = range(at(0, 2), at(0, 3));
        let text = IndexedText::new("🦀b").changed(vec![change(crab, "c")], PositionEncoding::Utf16);
        assert_eq!(&*text.text, "🦀c");
    }

    #[test]
    fn a_changed_text_has_the_lines_of_a_new_one() {
        for text in ["", "\r\n", "a\r\nb\n\rc\r", "\n\r\n\r"] {
            for (start, new) in
                (0..=text.len()).flat_map(|start| ["", "\n", "\r", "x\r\ny"].map(|new| (start, new)))
            {
                for end in start..=text.len() {
                    let mut changed = IndexedText::new(text);
                    changed.replace(start..end, new);
                    let expected = IndexedText::new(changed.text.as_str());
                    assert_eq!(changed.line_starts, expected.line_starts, "{text:?} {start}..{end} {new:?}");
                }
            }
        }
    }

    #[test]
    fn a_name_is_found_at_its_edges_and_not_within_another() {
        let text = IndexedText::new("self.run_it(2x)");
        let name = |offset| text.name_at(offset).map(|range| &text.text[range]);
        assert_eq!([name(5), name(8), name(11)], [Some("run_it"); 3]);
        assert_eq!((name(4), name(13)), (Some("self"), None));
        assert_eq!(names_in("run rerun run_it(run)", "run").collect::<Vec<_>>(), [0..3, 17..20]);
        assert_eq!(names_in("ab", "").count(), 0);
    }
}

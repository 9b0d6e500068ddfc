//! Shortens a long text: whole pieces are kept, and each gap names what was left out.

use std::ops::Range;

use crate::summarize::heuristic::SummaryInput;
use crate::summarize::words;

/// The most bytes of the note for one gap.
const GAP_NOTE_BYTES: usize = 176;
/// The most names in that note, and the most bytes of each.
const NAMES: usize = 3;
const NAME_BYTES: usize = 36;
/// The most lines of a piece without boundaries of its own.
const MOST_LINES: usize = 40;

/// Data before it is fenced.
pub(crate) struct MaterialText {
    pub(crate) text: String,
    pub(crate) is_cut: bool,
}

/// Lines of a text that are kept or dropped together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextPiece {
    /// Zero-based line numbers.
    pub(crate) lines: Range<usize>,
    pub(crate) name: Option<String>,
    /// The order in which pieces are kept, lowest first.
    pub(crate) rank: usize,
}

/// A text with an index of its lines.
pub(crate) struct LineIndex<'a> {
    text: &'a str,
    /// The offset of each line, and of the end.
    starts: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let mut starts: Vec<usize> = std::iter::once(0).chain(ends).collect();
        if starts.last() != Some(&text.len()) {
            starts.push(text.len());
        }
        Self { text, starts }
    }

    pub(crate) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the text of some lines, clamped to the existing ones.
    pub(crate) fn get(&self, lines: &Range<usize>) -> &'a str {
        let at = |line: usize| self.starts[line.min(self.count())];
        &self.text[at(lines.start)..at(lines.end.max(lines.start))]
    }
}

/// Splits lines into pieces of limited length, all but the first of a later rank.
pub(crate) fn chunks(lines: Range<usize>, name: Option<&str>, rank: usize, later: usize) -> Vec<TextPiece> {
    let starts = lines.clone().step_by(MOST_LINES);
    let piece = |start: usize| TextPiece {
        lines: start..lines.end.min(start + MOST_LINES),
        name: name.map(str::to_owned),
        rank: if start == lines.start { rank } else { later },
    };
    starts.map(piece).collect()
}

/// Returns as many whole pieces as fit, lowest ranks first, in the order of the text. The pieces must cover the whole
/// text in order.
pub(crate) fn fit(lines: &LineIndex<'_>, pieces: &[TextPiece], room: usize) -> MaterialText {
    if lines.text.len() <= room {
        return MaterialText { text: lines.text.to_owned(), is_cut: false };
    }
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by_key(|at| (pieces[*at].rank, *at));
    let mut is_kept = vec![false; pieces.len()];
    let is_gap =
        |is_kept: &[bool], at: Option<usize>| at.and_then(|at| is_kept.get(at)).is_some_and(|kept| !kept);
    // Everything is one gap at first. A kept piece splits its gap, or shortens it at one end.
    let mut left = room.saturating_sub(GAP_NOTE_BYTES);
    for at in order {
        let gaps =
            [at.checked_sub(1), Some(at + 1)].into_iter().filter(|side| is_gap(&is_kept, *side)).count();
        let takes = lines.get(&pieces[at].lines).len() + gaps * GAP_NOTE_BYTES;
        if let Some(rest) = (left + GAP_NOTE_BYTES).checked_sub(takes) {
            left = rest;
            is_kept[at] = true;
        }
    }
    if !is_kept.contains(&true) {
        return beginning(lines.text, room);
    }
    MaterialText { text: joined(lines, pieces, &is_kept), is_cut: true }
}

fn joined(lines: &LineIndex<'_>, pieces: &[TextPiece], is_kept: &[bool]) -> String {
    let mut text = String::new();
    let mut gap: Vec<&TextPiece> = Vec::new();
    for (piece, is_kept) in pieces.iter().zip(is_kept) {
        if !is_kept {
            gap.push(piece);
            continue;
        }
        close_gap(&mut text, &mut gap);
        text.push_str(lines.get(&piece.lines));
    }
    close_gap(&mut text, &mut gap);
    text
}

/// Appends a note about what was left out.
fn close_gap(text: &mut String, gap: &mut Vec<&TextPiece>) {
    if gap.is_empty() {
        return;
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let lines: usize = gap.iter().map(|piece| piece.lines.len()).sum();
    let mut names: Vec<&str> = gap.iter().filter_map(|piece| piece.name.as_deref()).collect();
    names.dedup();
    let noun = if lines == 1 { "line" } else { "lines" };
    text.extend(["[", &lines.to_string(), " ", noun, &quoted_names(&names), " left out]\n"]);
    gap.clear();
}

fn quoted_names(names: &[&str]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = names
        .iter()
        .take(NAMES)
        .map(|name| format!("`{}`", words::clip(&words::one_line(name), NAME_BYTES)))
        .collect();
    let more = match names.len().saturating_sub(NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(" of {}{more}", shown.join(", "))
}

/// Returns the beginning of a text, up to the end of a line if possible.
fn beginning(text: &str, room: usize) -> MaterialText {
    const MARK: &str = "\n[the rest left out]\n";
    let kept = &text[..text.floor_char_boundary(room.saturating_sub(MARK.len()))];
    let kept = kept.rfind('\n').filter(|end| kept.len() / 2 < *end).map_or(kept, |end| &kept[..end]);
    let mark = if kept.len() + MARK.len() <= room { MARK } else { "" };
    MaterialText { text: format!("{kept}{mark}"), is_cut: true }
}

/// The paragraphs at the top that describe the text.
const FIRST: usize = 3;
/// The most lines of a heading.
const HEADING_LINES: usize = 2;

/// Ranks of paragraphs, lowest first.
const TOP: usize = 0;
const HEADING: usize = 1;
const BELOW_HEADING: usize = 2;
const OTHER: usize = 3;
const CONTINUED: usize = 4;

/// Returns the text, cut between paragraphs.
pub(crate) fn prose_material(source: &SummaryInput<'_>, room: usize) -> MaterialText {
    let lines = LineIndex::new(source.text);
    fit(&lines, &paragraphs(&lines), room)
}

/// Returns the paragraphs, each with the blank lines after it.
fn paragraphs(lines: &LineIndex<'_>) -> Vec<TextPiece> {
    let mut pieces = Vec::new();
    let (mut start, mut is_behind_heading) = (0, false);
    for number in 1..=lines.count() {
        let is_empty = |at: usize| lines.get(&(at..at + 1)).trim().is_empty();
        let ends = number == lines.count() || is_empty(number - 1) && !is_empty(number);
        if !ends {
            continue;
        }
        let is_heading = is_heading(lines.get(&(start..number)));
        let rank = match (is_heading, is_behind_heading) {
            _ if pieces.len() < FIRST => TOP,
            (true, _) => HEADING,
            (false, true) => BELOW_HEADING,
            (false, false) => OTHER,
        };
        pieces.extend(chunks(start..number, None, rank, CONTINUED));
        is_behind_heading = is_heading;
        start = number;
    }
    pieces
}

/// Returns whether a paragraph is only a heading: prefixed with marks, or underlined.
fn is_heading(paragraph: &str) -> bool {
    let text = paragraph.trim_end();
    let first = text.lines().next().unwrap_or_default();
    let is_short = text.lines().count() <= HEADING_LINES;
    let is_marked =
        first.starts_with(['#', '=', '*']) && first.trim_start_matches(['#', '=', '*']).starts_with(' ');
    let is_underlined = text.lines().nth(1).is_some_and(|line| {
        3 <= line.len() && line.chars().all(|c| matches!(c, '=' | '-' | '~' | '^' | '"' | '*' | '+'))
    });
    is_short && (is_marked || is_underlined || first.starts_with('\\') && first.contains("section"))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::summarize::heuristic::tests::file_type;

    fn piece(lines: Range<usize>, name: Option<&str>, rank: usize) -> TextPiece {
        TextPiece { lines, name: name.map(str::to_owned), rank }
    }

    #[test]
    fn a_text_that_fits_is_unchanged() {
        let lines = LineIndex::new("a\nb");
        assert_eq!(lines.count(), 2);
        assert_eq!(fit(&lines, &[], 3).text, "a\nb");
    }

    #[test]
    fn the_most_important_pieces_are_kept_and_the_rest_is_named() {
        let text = (0..100).map(|number| format!("line {number} of the text\n")).collect::<Vec<_>>().concat();
        let lines = LineIndex::new(&text);
        let pieces = [
            piece(0..2, None, 0),
            piece(2..60, Some("big"), 1),
            piece(60..62, Some("small"), 2),
            piece(62..99, Some("other"), 3),
            piece(99..100, Some("last"), 4),
        ];
        let data = fit(&lines, &pieces, 900);
        assert!(data.is_cut && data.text.len() <= 900);
        assert_eq!(
            data.text,
            "line 0 of the text\nline 1 of the text\n[58 lines of `big` left out]\nline 60 of the text\n\
             line 61 of the text\n[37 lines of `other` left out]\nline 99 of the text\n"
        );
    }

    #[test]
    fn many_gaps_keep_the_limit_and_many_names_are_counted() {
        let text = "x\n".repeat(5_000);
        let lines = LineIndex::new(&text);
        let name = |number: usize| format!("a_rather_long_name_of_a_function_number_{number}");
        let pieces: Vec<TextPiece> =
            (0..5_000).map(|at| piece(at..at + 1, Some(&name(at)), usize::from(at % 7 != 0))).collect();
        for room in [300, 1_000, 5_000] {
            assert!(fit(&lines, &pieces, room).text.len() <= room);
        }
        let last = fit(&lines, &pieces, 1_000);
        assert!(last.text.contains("more left out]"), "{}", last.text);
    }

    #[test]
    fn a_single_line_of_any_length_is_cut() {
        let text = "é".repeat(10_000);
        let lines = LineIndex::new(&text);
        let data = fit(&lines, &[piece(0..1, None, 0)], 501);
        assert!(data.text.len() <= 501 && data.text.ends_with("[the rest left out]\n"));
    }

    #[test]
    fn headings_and_the_paragraphs_below_them_are_kept_first() {
        let long = "Another paragraph that says more about all of it, at some length, and then goes on.\n\n";
        let section =
            |number: usize| format!("## Part {number}\n\nWhat part {number} is.\n\n{}", long.repeat(20));
        let text = format!("# Title\n\nAbout.\n\nFor whom.\n\n{}{}", section(1), section(2));
        let source = SummaryInput { file_type: file_type("markdown"), text: &text, lines: 1, outline: None };
        let data = prose_material(&source, 1_900);
        assert!(data.is_cut && data.text.len() <= 1_900);
        expect![[r"
            # Title

            About.

            For whom.

            ## Part 1

            What part 1 is.

            Another paragraph that says more about all of it, at some length, and then goes on.

            Another paragraph that says more about all of it, at some length, and then goes on.

            Another paragraph that says more about all of it, at some length, and then goes on.

            Another paragraph that says more about all of it, at some length, and then goes on.

            Another paragraph that says more about all of it, at some length, and then goes on.

            Another paragraph that says more about all of it, at some length, and then goes on.

            Another paragraph that says more about all of it, at some length, and then goes on.

            Another paragraph that says more about all of it, at some length, and then goes on.

            Another paragraph that says more about all of it, at some length, and then goes on.

            Another paragraph that says more about all of it, at some length, and then goes on.

            Another paragraph that says more about all of it, at some length, and then goes on.

            Another paragraph that says more about all of it, at some length, and then goes on.

            Another paragraph that says more about all of it, at some length, and then goes on.

            Another paragraph that says more about all of it, at some length, and then goes on.

            Another paragraph that says more about all of it, at some length, and then goes on.

            Another paragraph that says more about all of it, at some length, and then goes on.

            Another paragraph that says more about all of it, at some length, and then goes on.

            [6 lines left out]
            ## Part 2

            What part 2 is.

            [40 lines left out]
        "]]
        .assert_eq(&data.text);
    }

    #[test]
    fn a_text_without_paragraphs_is_cut_as_well() {
        let text = "a line of a text that never ends and has no paragraphs\n".repeat(1_000);
        let source =
            SummaryInput { file_type: file_type("markdown"), text: &text, lines: 1_000, outline: None };
        let data = prose_material(&source, 5_000);
        assert!(data.is_cut && data.text.len() <= 5_000 && 2_000 < data.text.len());
    }
}

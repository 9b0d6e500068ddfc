//! The material about prose: all of it, or its headings and the paragraphs below them.

use super::super::heuristic::SummaryInput;
use super::cut::LineIndex;
use super::cut::TextPiece;
use super::cut::chunks;
use super::cut::fit;
use super::material::MaterialText;

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
pub(super) fn data(source: &SummaryInput<'_>, room: usize) -> MaterialText {
    let lines = LineIndex::new(source.text);
    fit(&lines, &paragraphs(&lines), room)
}

/// Returns the paragraphs, each with the blank lines behind it.
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

    use super::super::super::heuristic::tests::file_type;
    use super::*;

    #[test]
    fn headings_and_what_stands_below_them_stay_before_the_rest() {
        let long = "Another paragraph that says more about all of it, at some length, and then goes on.\n\n";
        let section =
            |number: usize| format!("## Part {number}\n\nWhat part {number} is.\n\n{}", long.repeat(20));
        let text = format!("# Title\n\nAbout.\n\nFor whom.\n\n{}{}", section(1), section(2));
        let source = SummaryInput { file_type: file_type("markdown"), text: &text, lines: 1, outline: None };
        let data = data(&source, 1_900);
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
    fn a_text_without_paragraphs_is_cut_all_the_same() {
        let text = "a line of a text that never ends and has no paragraphs\n".repeat(1_000);
        let source =
            SummaryInput { file_type: file_type("markdown"), text: &text, lines: 1_000, outline: None };
        let data = data(&source, 5_000);
        assert!(data.is_cut && data.text.len() <= 5_000 && 2_000 < data.text.len());
    }
}

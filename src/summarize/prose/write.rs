//! Selects the reader for a markup, and renders the result.

use super::super::heuristic::SummaryInput;
use super::super::opening;
use super::super::page::SummaryPage;
use super::super::redact;
use super::super::words;
use super::ProseReading;
use super::markdown;
use super::marked;
use super::restructured;

/// Bytes at the top that are read.
const HEAD_BYTES: usize = 256 * 1024;

const TITLE_BYTES: usize = 120;
const HEADINGS_BYTES: usize = 200;

/// Describes a text by its title, headings and first paragraph.
pub(in super::super) fn describe(source: &SummaryInput<'_>) -> String {
    let head = redact::without_pem(words::head(source.text, HEAD_BYTES));
    let mut reading = match source.file_type.id {
        "markdown" => markdown::read(&head),
        "rst" => restructured::read(&head),
        other => marked::read(&head, other),
    };
    let title = reading.title.take().or_else(|| {
        let highest = reading.headings.iter().map(|(level, _)| *level).min()?;
        let (level, _) = reading.headings.first()?;
        // A deeper heading that happens to come first is not the title.
        (*level == highest).then(|| reading.headings.remove(0).1)
    });
    let opening = opening::opening(source);
    let mut page = SummaryPage::new(&match title {
        Some(title) => format!("{opening}: {}", words::clip(&title, TITLE_BYTES)),
        None => format!("{opening}."),
    });
    let headings = main_headings(&reading);
    if !headings.is_empty() {
        let label = "Headings: ";
        let names = words::join_within(&headings, " · ", HEADINGS_BYTES - label.len());
        page.push_clipped(&format!("{label}{names}"), HEADINGS_BYTES);
    }
    if let Some(paragraph) = first_paragraph(&reading, &head) {
        let room = page.room();
        page.push_clipped(&paragraph, room);
    }
    page.into_text()
}

/// Returns the headings of as many upper levels as give a readable list.
fn main_headings(reading: &ProseReading) -> Vec<&str> {
    const ENOUGH: usize = 3;
    let up_to = |deepest: usize| -> Vec<&str> {
        let upper = reading.headings.iter().filter(|(level, _)| *level <= deepest);
        upper.map(|(_, text)| text.as_str()).collect()
    };
    let mut levels: Vec<usize> = reading.headings.iter().map(|(level, _)| *level).collect();
    levels.sort_unstable();
    levels.dedup();
    for &level in &levels {
        let headings = up_to(level);
        if ENOUGH <= headings.len() {
            return headings;
        }
    }
    up_to(usize::MAX)
}

/// Returns the first paragraph, or the first line with words if the text consists of lists.
fn first_paragraph(reading: &ProseReading, head: &str) -> Option<String> {
    if let Some(paragraph) = &reading.paragraph {
        return Some(paragraph.clone());
    }
    if !reading.headings.is_empty() || reading.title.is_some() {
        return None;
    }
    head.lines()
        .map(words::one_line)
        .find(|line| line.chars().any(char::is_alphanumeric) && !line.starts_with("``"))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::super::heuristic::tests::check;

    #[test]
    fn plain_text_shows_its_first_paragraph() {
        check(
            "text",
            "\n  Hello there,\n  reader.\n\nMore of it.\n",
            expect![[r"
                Plain text, a few lines.
                Hello there, reader."]],
        );
        check(
            "text",
            "****\n\n- only\n- lists\n",
            expect![[r"
            Plain text, a few lines.
            - only - lists"]],
        );
    }

    #[test]
    fn a_license_is_told_by_its_name() {
        check(
            "text",
            "MIT License\n\nCopyright (c) 2020 Me\n\nPermission is hereby granted, free of charge.\n",
            expect![[r"
                Plain text, a few lines.
                MIT License"]],
        );
    }

    #[test]
    fn a_long_paragraph_is_clipped_at_a_word() {
        check(
            "text",
            &"many words and more of them ".repeat(100),
            expect![[r"
            Plain text, 1 line.
            many words and more of them many words and more of them many words and more of them many words and more of them many words and more of them many words and more of them many words and more of them many words and more of them many words and more of them many words and more of them many words and more of them many words and more of them many words and more of them many words and more of them many words and more of them many words and more of them many words and more of them many words and more of them many words and more of them many words and more of them many words…"]],
        );
    }

    #[test]
    fn deep_headings_are_shown_where_there_are_no_others() {
        check(
            "markdown",
            "# T\n## A\n### B\n### C\n",
            expect![[r"
            Markdown, a few lines: T
            Headings: A · B · C"]],
        );
        check(
            "markdown",
            "# T\n## A\n### B\n## C\n### D\n## E\n",
            expect![[r"
            Markdown, a few lines: T
            Headings: A · C · E"]],
        );
    }

    #[test]
    fn text_does_not_carry_secrets_or_escapes_out() {
        check(
            "text",
            "Log in as https://me:hunter2@host/x with \x1b[1mcare\x1b[0m\n-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n",
            expect![[r"
                Plain text, a few lines.
                Log in as https://[redacted]@host/x with care [redacted]"]],
        );
    }
}

//! Selects the reader for a markup, and renders the result.

use super::page::{SummaryInput, SummaryPage};
use super::prose_reading::ProseReading;
use super::{markdown, markup, page};
use crate::model::FileType;
use crate::summarize::{secrets, words};

/// Bytes at the top that are read.
const HEAD_BYTES: usize = 256 * 1024;

const TITLE_BYTES: usize = 120;
const HEADINGS_BYTES: usize = 200;

/// Titles that name a part of a text, not what the text is about.
const GENERIC_TITLES: [&str; 17] = [
    "about", "contents", "description", "documentation", "getting started", "installation", "introduction",
    "overview", "prerequisites", "quick start", "quickstart", "read me", "readme", "readme.md",
    "table of contents", "usage", "welcome",
];

/// The beginning of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Introduction {
    pub title: Option<String>,
    /// The first paragraph with words, on one line: no badges, links to elsewhere, licenses or appeals for money.
    pub paragraph: Option<String>,
}

/// Returns the title and the first paragraph of a text, cut to `paragraph_bytes`. Secrets in them are redacted.
pub fn introduction(file_type: &FileType, text: &str, paragraph_bytes: usize) -> Introduction {
    let head = secrets::without_pem(words::head(text, HEAD_BYTES));
    let mut reading = read(file_type.id, &head);
    // One of several headings of the same level names only the first part of the text.
    let tops = reading.headings.iter().filter(|(level, _)| *level == 1).count();
    let title = if reading.title.is_some() || tops == 1 { take_title(&mut reading) } else { None };
    let paragraph = first_paragraph(&reading, &head, title.is_none());
    let title = title.filter(|title| !is_generic(title)).map(|title| words::clip(&title, TITLE_BYTES));
    Introduction { title, paragraph: paragraph.map(|words| words::clip(&words, paragraph_bytes)) }
}

/// Returns whether a title does not name what the text is about, but a part of it, or asks what that is.
fn is_generic(title: &str) -> bool {
    let words = title.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    GENERIC_TITLES.contains(&words.as_str()) || title.ends_with('?')
}

fn read(type_id: &str, head: &str) -> ProseReading {
    match type_id {
        "markdown" => markdown::read(head),
        "rst" => markup::read_restructured(head),
        other => markup::read_marked(head, other),
    }
}

/// Returns the title, and takes it from the headings if it is one of them.
fn take_title(reading: &mut ProseReading) -> Option<String> {
    reading.title.take().or_else(|| {
        let highest = reading.headings.iter().map(|(level, _)| *level).min()?;
        let (level, _) = reading.headings.first()?;
        // A deeper heading that happens to come first is not the title.
        (*level == highest).then(|| reading.headings.remove(0).1)
    })
}

/// Describes a text by its title, headings and first paragraph.
pub(crate) fn describe(source: &SummaryInput<'_>) -> String {
    let head = secrets::without_pem(words::head(source.text, HEAD_BYTES));
    let mut reading = read(source.file_type.id, &head);
    let title = take_title(&mut reading);
    let opening = page::opening(source);
    let is_untitled = title.is_none();
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
    if let Some(paragraph) = first_paragraph(&reading, &head, is_untitled) {
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
fn first_paragraph(reading: &ProseReading, head: &str, is_untitled: bool) -> Option<String> {
    if let Some(paragraph) = &reading.paragraph {
        return Some(paragraph.clone());
    }
    if !reading.headings.is_empty() || !is_untitled {
        return None;
    }
    head.lines().map(words::one_line).find(|line| {
        line.chars().any(char::is_alphanumeric) && !line.starts_with("``") && !line.starts_with('<')
    })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::summary::tests::check;

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
            "+----------+\n| Shop 4.0 |\n+----------+\n\nShop sells things.\n",
            expect![[r"
                Plain text, a few lines.
                Shop sells things."]],
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
    fn a_paragraph_about_the_readme_itself_is_skipped() {
        check(
            "markdown",
            "This README is only a *quick start*.\n\nWhat is Tern?\n---\n\nTern stores rows.\n",
            expect![[r"
                Markdown, a few lines: What is Tern?
                Tern stores rows."]],
        );
    }

    #[test]
    fn a_license_is_recognized_by_its_name() {
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
    fn text_leaks_neither_secrets_nor_escapes() {
        check(
            "text",
            "Log in as https://me:hunter2@host/x with \x1b[1mcare\x1b[0m\n-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n",
            expect![[r"
                Plain text, a few lines.
                Log in as https://[redacted]@host/x with care [redacted]"]],
        );
    }
}

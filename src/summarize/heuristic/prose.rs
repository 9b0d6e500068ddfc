//! Selects the reader for a markup, and renders the result.

use super::page::{SummaryInput, SummaryPage};
use super::{comments, markdown, page};
use crate::model::FileType;
use crate::summarize::{secrets, words};

/// Bytes at the top that are read.
const HEAD_BYTES: usize = 256 * 1024;

const TITLE_BYTES: usize = 120;
const HEADINGS_BYTES: usize = 200;

/// What a text says first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Introduction {
    pub title: Option<String>,
    /// The first paragraph with words, on one line: no badges, links to elsewhere, licenses or appeals for money.
    pub paragraph: Option<String>,
}

/// Returns the title and the first paragraph of a text, cut to so many bytes. Secrets in them are redacted.
pub fn introduction(file_type: &FileType, text: &str, paragraph_bytes: usize) -> Introduction {
    let head = secrets::without_pem(words::head(text, HEAD_BYTES));
    let mut reading = read(file_type.id, &head);
    // One of several headings is not the name of what a text is about, but of its first part.
    let tops = reading.headings.iter().filter(|(level, _)| *level == 1).count();
    let title = if reading.title.is_some() || tops == 1 { take_title(&mut reading) } else { None };
    let title = title.map(|title| words::clip(&title, TITLE_BYTES));
    let paragraph = first_paragraph(&reading, &head, title.is_none());
    Introduction { title, paragraph: paragraph.map(|words| words::clip(&words, paragraph_bytes)) }
}

fn read(type_id: &str, head: &str) -> ProseReading {
    match type_id {
        "markdown" => markdown::read(head),
        "rst" => read_restructured(head),
        other => read_marked(head, other),
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

/// What a summary shows of a text.
#[derive(Debug, Default)]
pub(crate) struct ProseReading {
    /// Headings with their levels, in the order of the text; a lower level is higher up.
    pub(crate) headings: Vec<(usize, String)>,
    /// A title separate from the headings.
    pub(crate) title: Option<String>,
    pub(crate) paragraph: Option<String>,
    /// The paragraph being read.
    lines: Vec<String>,
    /// The links in it, and the letters outside of them.
    links: usize,
    unlinked: usize,
    /// The first items of the list that the paragraph announces by its colon.
    items: Vec<String>,
    /// Whether there may be more of them.
    expects_items: bool,
}

impl ProseReading {
    /// Adds a heading, which ends the paragraph before it.
    pub(crate) fn push_heading(&mut self, level: usize, text: &str) {
        const MOST: usize = 200;
        self.end_paragraph();
        self.end_list();
        if MOST <= self.headings.len() {
            return;
        }
        let text = words::one_line(text);
        if !text.is_empty() && !is_appeal(&text) {
            self.headings.push((level, text));
        }
    }

    pub(crate) fn set_title(&mut self, text: &str) {
        let text = words::one_line(text);
        if self.title.is_none() && !text.is_empty() {
            self.title = Some(text);
        }
    }

    /// Returns whether the first paragraph has not been found yet.
    pub(crate) fn wants_text(&self) -> bool {
        self.paragraph.is_none()
    }

    /// Adds a line to the paragraph being read.
    pub(crate) fn push_line(&mut self, line: &str) {
        const MOST: usize = 40;
        if self.wants_text() && self.lines.len() < MOST {
            self.lines.push(words::one_line(line));
        }
    }

    /// Records how many links the last line has, and how many letters outside of them.
    pub(crate) fn add_links(&mut self, links: usize, unlinked: usize) {
        self.links += links;
        self.unlinked += unlinked;
    }

    /// Adds a line to the heading being read.
    pub(crate) fn push_heading_text(&mut self, line: &str) {
        const MOST: usize = 10;
        if self.lines.len() < MOST {
            self.lines.push(line.to_owned());
        }
    }

    /// Ends the heading being read.
    pub(crate) fn end_heading(&mut self, level: usize) {
        let text = std::mem::take(&mut self.lines).join(" ");
        self.push_heading(level, &text);
    }

    /// Ends the paragraph; the first one that is not empty, a license or a row of links is kept.
    pub(crate) fn end_paragraph(&mut self) {
        const UNLINKED: usize = 12;
        let paragraph = words::one_line(&self.lines.join(" "));
        let is_navigation = 0 < self.links && self.unlinked < UNLINKED;
        self.discard_paragraph();
        let says_something = paragraph.chars().any(char::is_alphanumeric)
            && !is_navigation
            && !comments::is_license(&paragraph)
            && !is_appeal(&paragraph)
            && !is_about_readme(&paragraph);
        if self.wants_text() && says_something {
            self.expects_items = paragraph.ends_with(':');
            self.paragraph = Some(paragraph);
        }
    }

    /// Adds an item of a list, if the paragraph announces it.
    pub(crate) fn push_item(&mut self, text: &str) {
        const MOST: usize = 3;
        if self.items.len() == MOST {
            self.end_list();
        }
        if self.expects_items {
            self.items.push(words::one_line(text));
        }
    }

    /// Adds a line to the last item; if there is none, the paragraph announces no list.
    pub(crate) fn continue_item(&mut self, line: &str) {
        match self.items.last_mut() {
            Some(item) if self.expects_items => {
                item.push(' ');
                item.push_str(&words::one_line(line));
            }
            _ => self.end_list(),
        }
    }

    /// Ends the list that the paragraph announces.
    pub(crate) fn end_list(&mut self) {
        self.expects_items = false;
    }

    /// Ends the text: what the paragraph announces becomes a part of it.
    pub(crate) fn finish(&mut self) {
        self.end_paragraph();
        let items: Vec<&str> = self.items.iter().map(|item| item.trim_end_matches(['.', ';', ','])).collect();
        if let Some(paragraph) = self.paragraph.as_mut().filter(|_| !items.is_empty()) {
            paragraph.push(' ');
            paragraph.push_str(&items.join("; "));
        }
    }

    /// Discards the paragraph being read, because it turned out to be something else.
    pub(crate) fn discard_paragraph(&mut self) {
        self.lines.clear();
        (self.links, self.unlinked) = (0, 0);
    }
}

/// Returns whether a paragraph is about the README that it is in, and not about the project.
fn is_about_readme(paragraph: &str) -> bool {
    paragraph.get(..12).is_some_and(|start| start.eq_ignore_ascii_case("this readme "))
}

/// Returns whether a paragraph or a heading asks for money or thanks for it.
fn is_appeal(text: &str) -> bool {
    const LONGEST: usize = 400;
    const PHRASES: [&str; 9] = [
        "sponsor", "donat", "backers", "patreon", "open collective", "opencollective", "buy me a coffee",
        "ko-fi", "special thanks to",
    ];
    let lower = text.to_lowercase();
    text.len() < LONGEST && PHRASES.iter().any(|phrase| lower.contains(phrase))
}

struct MarkupMarks {
    title: &'static [&'static str],
    /// Prefixes of headings, with their levels; the first match counts.
    headings: &'static [(&'static str, usize)],
    /// Prefixes of lines that are not text.
    skipped: &'static [&'static str],
}

const ASCIIDOC: MarkupMarks = MarkupMarks {
    title: &["= "],
    headings: &[("== ", 1), ("=== ", 2), ("==== ", 3)],
    skipped: &[
        "//", ":", "[", "----", "====", "....", "|", "* ", ". ", "- ", "image:", "include::", "ifdef::",
        "endif::", "toc::",
    ],
};

const ORG: MarkupMarks = MarkupMarks {
    title: &["#+TITLE:", "#+title:"],
    headings: &[("* ", 1), ("** ", 2), ("*** ", 3)],
    skipped: &["#", ":", "|", "- ", "+ "],
};

const LATEX: MarkupMarks = MarkupMarks {
    title: &["\\title{"],
    headings: &[
        ("\\chapter{", 1),
        ("\\chapter*{", 1),
        ("\\section{", 2),
        ("\\section*{", 2),
        ("\\subsection{", 3),
        ("\\subsection*{", 3),
    ],
    skipped: &["%", "\\", "{", "}"],
};

const MAN: MarkupMarks = MarkupMarks {
    title: &[".TH ", ".Dt "],
    headings: &[(".SH ", 1), (".Sh ", 1), (".SS ", 2), (".Ss ", 2)],
    skipped: &[".", "'"],
};

const TEXINFO: MarkupMarks = MarkupMarks {
    title: &["@settitle ", "@title "],
    headings: &[
        ("@chapter ", 1),
        ("@section ", 2),
        ("@subsection ", 3),
        ("@unnumbered ", 1),
        ("@appendix ", 1),
    ],
    skipped: &["@", "\\"],
};

const PLAIN: MarkupMarks = MarkupMarks { title: &[], headings: &[], skipped: &[] };

/// Reads a text in the markup of that file type; plain text has no marks.
pub(crate) fn read_marked(text: &str, id: &str) -> ProseReading {
    let marks = match id {
        "asciidoc" => &ASCIIDOC,
        "org" => &ORG,
        "latex" | "tex" => &LATEX,
        "man" | "roff" => &MAN,
        "texinfo" => &TEXINFO,
        _ => &PLAIN,
    };
    let mut reading = ProseReading::default();
    // The previous line, if a paragraph begins with it.
    let mut opening: Option<&str> = None;
    let mut in_paragraph = false;
    for line in text.lines() {
        let line = line.trim();
        let before = opening.take();
        let goes_on = std::mem::take(&mut in_paragraph);
        if marks.headings.is_empty() && is_ruler(line) {
            match before {
                Some(heading) => {
                    reading.discard_paragraph();
                    reading.push_heading(1, heading.trim_start_matches("* "));
                }
                None => reading.end_paragraph(),
            }
            continue;
        }
        let after = |mark: &str| line.strip_prefix(mark).map(without_end);
        if let Some(title) = marks.title.iter().find_map(|mark| after(mark)) {
            reading.end_paragraph();
            reading.set_title(title);
        } else if let Some((level, text)) =
            marks.headings.iter().find_map(|(mark, level)| Some((*level, after(mark)?)))
        {
            reading.push_heading(level, text);
        } else if line.is_empty() || marks.skipped.iter().any(|start| line.starts_with(start)) {
            reading.end_paragraph();
        } else {
            opening = (!goes_on).then_some(line);
            in_paragraph = true;
            reading.push_line(line);
        }
    }
    reading.end_paragraph();
    reading
}

/// Returns whether a line only underlines the previous one, or separates paragraphs.
fn is_ruler(line: &str) -> bool {
    let Some(first) = line.chars().next() else { return false };
    4 <= line.len() && "=-*~_#+^".contains(first) && line.chars().all(|c| c == first)
}

/// Removes the end of a heading: LaTeX's brace, the quotes of a manual page.
fn without_end(text: &str) -> &str {
    text.split('}').next().unwrap_or(text).trim().trim_matches('"')
}

/// Reads headings and the first paragraph; skips directives with their indented bodies.
pub(crate) fn read_restructured(text: &str) -> ProseReading {
    let mut reading = ProseReading::default();
    // The styles of headings, highest first: their order in the text defines their levels.
    let mut styles: Vec<(char, bool)> = Vec::new();
    let mut previous = "";
    let mut before = "";
    let mut in_directive = false;
    let mut in_table = false;
    for line in text.lines() {
        let is_indented = line.starts_with([' ', '\t']);
        in_directive = in_directive && (is_indented || line.trim().is_empty());
        in_table = (in_table || is_table_border(line)) && !line.trim().is_empty();
        if line.starts_with(".. ") || line.trim_end() == ".." {
            in_directive = true;
            reading.end_paragraph();
        } else if let Some(mark) = underline(line).filter(|_| !in_directive) {
            if is_title(previous, line) {
                let style = (mark, underline(before) == Some(mark));
                let level = styles.iter().position(|known| *known == style).unwrap_or_else(|| {
                    styles.push(style);
                    styles.len() - 1
                });
                reading.discard_paragraph();
                reading.push_heading(level, previous);
            } else {
                reading.end_paragraph();
            }
        } else if line.trim().is_empty() || in_directive || in_table || is_indented || is_no_prose(line) {
            reading.end_paragraph();
        } else {
            reading.push_line(line.trim_end_matches(':'));
        }
        before = previous;
        previous = line;
    }
    reading.end_paragraph();
    reading
}

fn underline(line: &str) -> Option<char> {
    const MARKS: &str = "=-`:'\"~^_*+#<>.";
    let line = line.trim_end();
    let mark = line.chars().next().filter(|&c| MARKS.contains(c))?;
    (3 <= line.len() && line.chars().all(|c| c == mark)).then_some(mark)
}

/// Returns whether a line above an underline can be its title.
fn is_title(line: &str, underline: &str) -> bool {
    let length = line.trim().chars().count();
    0 < length && length <= underline.trim_end().len() + 2 && self::underline(line).is_none()
}

fn is_table_border(line: &str) -> bool {
    line.starts_with("==") && line.contains(' ') && line.bytes().all(|b| matches!(b, b'=' | b' '))
}

/// Returns whether a line is a field, an item of a list, or nothing but substitutions, which stand for images: `|logo|`.
fn is_no_prose(line: &str) -> bool {
    let is_field = line.strip_prefix(':').is_some_and(|rest| rest.contains(':'));
    let is_substitution = |word: &str| 2 < word.len() && word.starts_with('|') && word.ends_with('|');
    is_field
        || line.split_whitespace().all(is_substitution)
        || ["- ", "* ", "+ ", "| ", "+-", "#. "].iter().any(|mark| line.starts_with(mark))
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
    fn images_at_the_head_of_a_text_are_skipped() {
        check(
            "rst",
            "|logo|\n\n.. |logo| image:: logo.svg\n   :alt: Tern\n\n|version| |tests|\n\nTern stores rows, |fast|.\n",
            expect![[r"
                reStructuredText, a few lines.
                Tern stores rows, |fast|."]],
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

    #[test]
    fn an_underlined_line_of_plain_text_is_a_heading() {
        check(
            "text",
            "========\nThe shop\n========\n\nIt sells.\n\nGoods\n-----\nmany\nthings\n-----\n",
            expect![[r"
                Plain text, about 10 lines: The shop
                Headings: Goods
                It sells."]],
        );
    }

    #[test]
    fn each_markup_shows_its_title_and_headings() {
        check(
            "asciidoc",
            "= The shop\n:toc:\n// no\n\nIt sells.\n\n== Install\n\n=== Deep\n== Use\n== End\n",
            expect![[r"
                AsciiDoc, about 10 lines: The shop
                Headings: Install · Use · End
                It sells."]],
        );
        check(
            "org",
            "#+TITLE: The shop\n#+AUTHOR: me\n\nIt sells.\n* Install\n** Deep\n* Use\n",
            expect![[r"
                Org, a few lines: The shop
                Headings: Install · Deep · Use
                It sells."]],
        );
        check(
            "latex",
            "% no\n\\documentclass{article}\n\\title{The shop}\n\\begin{document}\n\\section{Goods}\nWe sell \\emph{things}.\n\\subsection*{More}\n",
            expect![[r"
                LaTeX, a few lines: The shop
                Headings: Goods · More
                We sell \emph{things}."]],
        );
        check(
            "man",
            ".\\\" no\n.TH SHOP 1\n.SH NAME\nshop \\- sells things\n.SH \"SEE ALSO\"\n",
            expect![[r"
                Manual page, a few lines: SHOP 1
                Headings: NAME · SEE ALSO
                shop \- sells things"]],
        );
        check(
            "texinfo",
            "\\input texinfo\n@settitle The shop\n@chapter Goods\nWe sell.\n",
            expect![[r"
                Texinfo, a few lines: The shop
                Headings: Goods
                We sell."]],
        );
    }

    #[test]
    fn titles_with_and_without_an_overline_are_read() {
        check(
            "rst",
            ".. _top:\n\n==========\n The shop\n==========\n\n:Author: me\n:Date: now\n\n.. image:: x.png\n   :alt: no\n\nIt sells things,\nmany of them::\n\n    code\n\nInstall\n-------\n\nUse\n---\n\nDeep\n~~~~\n",
            expect![[r"
                reStructuredText, about 20 lines: The shop
                Headings: Install · Use · Deep
                It sells things, many of them"]],
        );
    }

    #[test]
    fn tables_and_lists_are_not_paragraphs() {
        check(
            "rst",
            "Title\n=====\n\n====  ====\na     b\n====  ====\n\n- item\n\nReal text.\n",
            expect![[r"
                reStructuredText, a few lines: Title
                Real text."]],
        );
    }
}

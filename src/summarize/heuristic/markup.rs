//! Markup languages other than Markdown: marks at the start of lines, or underlines.

use super::prose_reading::ProseReading;

/// How the lines of a markup begin.
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
                // Counted from 1, as in Markdown: a text with one heading of that level has it as its title.
                reading.push_heading(level + 1, &without_references(previous));
            } else {
                reading.end_paragraph();
            }
        } else if line.trim().is_empty() || in_directive || in_table || is_indented || is_no_prose(line) {
            reading.end_paragraph();
        } else {
            reading.push_line(&without_references(line.trim_end_matches(':')));
        }
        before = previous;
        previous = line;
    }
    reading.end_paragraph();
    // Once more, because a reference may begin in one line and end in the next.
    reading.paragraph = reading.paragraph.map(|paragraph| without_references(&paragraph));
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

/// Returns whether a line is a field, an item of a list, nothing but a reference, or nothing but substitutions, which
/// stand for images: `|logo|`.
fn is_no_prose(line: &str) -> bool {
    let is_field = line.strip_prefix(':').is_some_and(|rest| rest.contains(':'));
    let is_reference =
        line.starts_with('`') && line.trim_end().ends_with("`_") && line.matches('`').count() == 2;
    is_field
        || is_reference
        || is_only_substitutions(line)
        || ["- ", "* ", "+ ", "| ", "+-", "#. "].iter().any(|mark| line.starts_with(mark))
}

/// Returns a text with the words of its references alone: of `` `the guide <https://…>`_ `` and `` `Guide`_ ``.
fn without_references(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once('`') {
        out.push_str(before);
        let literal = inside.strip_prefix('`').and_then(|literal| literal.split_once("``"));
        let reference =
            inside.split_once('`').filter(|(name, after)| !name.is_empty() && after.starts_with('_'));
        if let Some((name, after)) = reference {
            out.push_str(name.split_once(" <").map_or(name, |(words, _)| words));
            rest = after.trim_start_matches('_');
        } else if let Some((literal, after)) = literal {
            out.extend(["``", literal, "``"]);
            rest = after;
        } else {
            out.push('`');
            rest = inside;
        }
    }
    out + rest
}

fn is_only_substitutions(line: &str) -> bool {
    let mut rest = line.trim();
    while let Some((name, after)) = rest.strip_prefix('|').and_then(|inside| inside.split_once('|')) {
        if name.is_empty() || name.trim() != name {
            return false;
        }
        rest = after.trim_start();
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::summary::tests::{check, file_type};

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

    #[test]
    fn references_are_shown_by_their_words() {
        check(
            "rst",
            "`Shop`_\n=======\n\nSells ``by `weight`_`` as `the guide <https://x>`__ says, `openly\n<https://y>`_, `x`.\n",
            expect![[r"
                reStructuredText, a few lines: Shop
                Sells ``by `weight`_`` as the guide says, openly, `x`."]],
        );
    }

    #[test]
    fn substitutions_alone_are_no_paragraph() {
        check(
            "rst",
            "|Shop Logo|\n\n|CI| |Docs Status|\n\nThe |Shop| sells.\n",
            expect![[r"
                reStructuredText, a few lines.
                The |Shop| sells."]],
        );
    }

    #[test]
    fn the_only_heading_of_the_highest_level_is_the_title_of_an_introduction() {
        let title = |text: &str| crate::summarize::introduction(file_type("rst"), text, 100).title;
        let parts = "\nUse\n---\n\nBuild\n-----\n";
        assert_eq!(title(&format!("Shop\n====\n\nSells.\n{parts}")), Some("Shop".to_owned()));
        assert_eq!(title(parts), None);
    }

    #[test]
    fn a_title_that_any_text_may_have_is_none() {
        let introduction = |text: &str| crate::summarize::introduction(file_type("markdown"), text, 100);
        for title in ["Getting Started", "📖 Introduction", "README", "What is Shop?"] {
            let found = introduction(&format!("# {title}\n\nA shop sells.\n\n## Use\n"));
            assert_eq!((found.title, found.paragraph.as_deref()), (None, Some("A shop sells.")), "{title}");
        }
    }
}

//! Markups with prefixed headings: a table for each, and one reader.

use super::ProseReading;

/// How a markup marks its lines.
struct MarkupMarks {
    /// Prefixes of the title.
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
        "//",
        ":",
        "[",
        "----",
        "====",
        "....",
        "|",
        "* ",
        ". ",
        "- ",
        "image:",
        "include::",
        "ifdef::",
        "endif::",
        "toc::",
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
pub(super) fn read(text: &str, id: &str) -> ProseReading {
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

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::super::heuristic::tests::check;

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
}

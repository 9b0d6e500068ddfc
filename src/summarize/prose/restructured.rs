//! reStructuredText.

use super::ProseReading;

/// Reads headings and the first paragraph; skips directives with their indented bodies.
pub(super) fn read(text: &str) -> ProseReading {
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
        } else if line.trim().is_empty() || in_directive || in_table || is_indented || is_field_or_item(line)
        {
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

fn is_field_or_item(line: &str) -> bool {
    let is_field = line.strip_prefix(':').is_some_and(|rest| rest.contains(':'));
    is_field || ["- ", "* ", "+ ", "| ", "+-", "#. "].iter().any(|mark| line.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::super::heuristic::tests::check;

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
    fn tables_and_lists_are_no_paragraphs() {
        check(
            "rst",
            "Title\n=====\n\n====  ====\na     b\n====  ====\n\n- item\n\nReal text.\n",
            expect![[r"
                reStructuredText, a few lines: Title
                Real text."]],
        );
    }
}

//! Elides from C# what its grammar loses whole files over: branches that are not statements or members of their own.
//!
//! Where `#if` to `#endif` holds whole members, as it mostly does, the grammar reads all of its branches. Where it cuts
//! through a declaration, only the first branch is parsed, as if the others and the directives did not exist.

use std::ops::Range;

use super::braces::block_end;
use crate::syntax::text::PreprocessedText;

/// Returns `text` without the branches and directives that the grammar would stumble over; `None` where there are none,
/// or the scanner does not support what it reads.
pub(in crate::syntax) fn preprocess_conditionals(text: &str) -> Option<PreprocessedText> {
    if !text.contains("#if") && !text.contains("#pragma") {
        return None;
    }
    let mut scan = ConditionalScanner { text, last: b'{', ..ConditionalScanner::default() };
    let mut at = 0;
    let mut at_line_start = true;
    while let Some(byte) = text.as_bytes().get(at).copied() {
        if byte == b'#' && at_line_start {
            let end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
            scan.directive(at..end)?;
            at = end;
            continue;
        }
        // Bytes beyond ASCII are those of a byte order mark, which may precede the first directive.
        at_line_start = byte == b'\n' || (at_line_start && (byte.is_ascii_whitespace() || 0x7f < byte));
        let end = token_end(text, at, 0)?;
        if !(byte.is_ascii_whitespace() || text[at..].starts_with("//") || text[at..].starts_with("/*")) {
            scan.record_byte(byte);
        }
        at = end;
    }
    (scan.groups.is_empty() && !scan.elided.is_empty()).then(|| scan.finish())
}

/// What is between an `#if` and its `#endif`.
struct ConditionalGroup {
    /// The line of `#if`.
    first: Range<usize>,
    /// Where the second branch begins, if there is one.
    second: Option<usize>,
    /// How many braces were open at its start, and the byte before it.
    depth: isize,
    before: u8,
    /// How many braces were open at the end of its first branch, and the byte before that end.
    first_end: Option<(isize, u8)>,
    is_unsupported: bool,
}

#[derive(Default)]
struct ConditionalScanner<'a> {
    text: &'a str,
    groups: Vec<ConditionalGroup>,
    /// What the parser is not given.
    elided: Vec<Range<usize>>,
    repairs: usize,
    depth: isize,
    /// The last byte that is neither a comment nor white space.
    last: u8,
}

impl ConditionalScanner<'_> {
    fn record_byte(&mut self, byte: u8) {
        match byte {
            b'{' => self.depth += 1,
            b'}' => self.depth -= 1,
            _ => {}
        }
        if let Some(group) = self.groups.last_mut() {
            group.is_unsupported |= self.depth < group.depth;
        }
        self.last = byte;
    }

    fn directive(&mut self, line: Range<usize>) -> Option<()> {
        let words = self.text[line.clone()].trim_start_matches('#').trim_start();
        let name_end = words.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(words.len());
        match &words[..name_end] {
            "if" => {
                let is_unsupported = !matches!(self.last, b'{' | b'}' | b';' | b']');
                let (depth, before) = (self.depth, self.last);
                self.groups.push(ConditionalGroup {
                    first: line,
                    second: None,
                    depth,
                    before,
                    first_end: None,
                    is_unsupported,
                });
            }
            "elif" | "else" => {
                let end = (self.depth, self.last);
                let group = self.groups.last_mut()?;
                group.end_branch(end);
                group.second.get_or_insert(line.start);
                (self.depth, self.last) = (group.depth, group.before);
            }
            "endif" => {
                let mut group = self.groups.pop()?;
                group.end_branch((self.depth, self.last));
                (self.depth, self.last) = group.first_end?;
                if group.is_unsupported {
                    self.repairs += 1;
                    self.elided.push(group.first);
                    self.elided.push(group.second.unwrap_or(line.start)..line.end);
                }
            }
            // The grammar does not support everything that compilers accept there.
            "pragma" => self.elided.push(line),
            _ => {}
        }
        Some(())
    }

    fn finish(mut self) -> PreprocessedText {
        self.elided.sort_by_key(|range| (range.start, range.end));
        let mut preprocessed = PreprocessedText::default();
        preprocessed.repairs = self.repairs;
        let mut at = 0;
        for range in self.elided {
            // A line within an elided branch is elided with it.
            if at <= range.start {
                preprocessed.copy(self.text, at..range.start);
            }
            at = at.max(range.end);
        }
        preprocessed.copy(self.text, at..self.text.len());
        preprocessed
    }
}

impl ConditionalGroup {
    fn end_branch(&mut self, end: (isize, u8)) {
        let (depth, last) = end;
        self.is_unsupported |= depth != self.depth || !matches!(last, b'{' | b'}' | b';' | b']');
        self.first_end.get_or_insert(end);
    }
}

/// Returns where what begins at `at` ends: a comment, a literal, or a single character. `None` where it never does.
fn token_end(text: &str, at: usize, depth: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    match rest.as_bytes() {
        [b'/', b'/', ..] => Some(rest.find('\n').map_or(text.len(), |end| at + end)),
        [b'/', b'*', ..] => rest[2..].find("*/").map(|end| at + end + 4),
        [b'\'', ..] => character_end(text, at + 1),
        [b'"' | b'$' | b'@', ..] => {
            let prefix = rest.len() - rest.trim_start_matches(['$', '@']).len();
            if rest[prefix..].starts_with('"') {
                string_end(text, at, at + prefix, depth)
            } else {
                Some(at + prefix.max(1))
            }
        }
        _ => Some(at + rest.chars().next()?.len_utf8()),
    }
}

fn character_end(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let escaped = if rest.starts_with('\\') { 2 } else { 0 };
    let end = rest.get(escaped..)?.find(['\'', '\n'])? + escaped;
    rest[end..].starts_with('\'').then_some(at + end + 1)
}

/// Returns the end of the string whose prefix begins at `start` and whose quotation mark is at `quote`.
fn string_end(text: &str, start: usize, quote: usize, depth: usize) -> Option<usize> {
    let marks = text[quote..].bytes().take_while(|byte| *byte == b'"').count();
    let prefix = &text[start..quote];
    let is_verbatim = prefix.contains('@');
    if 3 <= marks && !is_verbatim {
        // A raw string ends with as many marks as it begins with.
        let end = text[quote + marks..].find(&text[quote..quote + marks])? + quote + 2 * marks;
        let more = text[end..].bytes().take_while(|byte| *byte == b'"').count();
        return Some(end + more);
    }
    let has_holes = prefix.contains('$');
    let mut at = quote + 1;
    loop {
        at += text.get(at..)?.find(['"', '\\', '{', '\n'])?;
        match &text.as_bytes()[at..] {
            [b'"', b'"', ..] if is_verbatim => at += 2,
            [b'"', ..] => return Some(at + 1),
            [b'\n', ..] if !is_verbatim => return None,
            [b'{', b'{', ..] if has_holes => at += 2,
            [b'{', ..] if has_holes => at = block_end(text, at, depth, token_end)?,
            [b'\\', ..] if !is_verbatim => at += 1 + text.get(at + 1..)?.chars().next()?.len_utf8(),
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(preprocess_conditionals(text).map(|preprocessed| preprocessed.text).as_deref(), expected);
    }

    #[test]
    fn whole_members_stay() {
        check("class A {\n#if X\n void F() { }\n#else\n int x;\n#endif\n}", None);
        check("class A { string s = @\"\n#if\n\"; }", None);
    }

    #[test]
    fn the_first_branch_of_a_declaration_stays() {
        check(
            "#if X\npublic class A\n#elif Y\nclass A\n#else\nclass C\n#endif\n{ }",
            Some("public class A\n{ }"),
        );
        check("class A\n#if X\n: B\n#endif\n{ }", Some("class A\n: B\n{ }"));
        check("#if X\nclass A {\n#else\nclass B {\n#endif\n}\n", Some("class A {\n}\n"));
    }

    #[test]
    fn a_nested_branch_is_elided_with_its_parent() {
        check("a(\n#if X\nb\n#else\n#if Y\nc\n#endif\n#pragma d\n#endif\n);", Some("a(\nb\n);"));
    }

    #[test]
    fn open_conditions_are_not_preprocessed() {
        for text in ["a\n#if X\n", "a\n#else\n#if\n", "a\n#if X\n'\n#endif\n", "#pragma\n\""] {
            check(text, None);
        }
    }
}

#[cfg(test)]
mod literals_tests {
    use super::*;

    #[test]
    fn literals_are_skipped_whole() {
        for text in [
            "\"a\\\"b\"",
            "@\"a\\\"",
            "@\"a\"\"b\"",
            "$\"{{ {(a ? \"}\" : $\"{b}\")} }}\"",
            "$@\"\n{a}\"\"\"",
            "\"\"\"a\"b\"\"\"",
            "$$\"\"\"\n{{a}} \"\" \"\"\"",
            "'\\''",
            "'\"'",
            "/* \" */",
            "// \"",
            "\"\"",
            "é",
        ] {
            assert_eq!(token_end(text, 0, 0), Some(text.len()), "{text}");
        }
    }

    #[test]
    fn an_open_literal_has_no_end() {
        for text in ["\"a", "\"a\n\"", "'", "/* ", "$\"{", "\"\"\"a\"\"", "\"\\"] {
            assert_eq!(token_end(text, 0, 0), None, "{text}");
        }
        assert_eq!(token_end(&"$\"{".repeat(10_000), 0, 0), None);
    }
}

//! The mark that replaces a secret in everything that is displayed or sent.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

const OPEN: &str = "(redacted:";
/// No rule has a longer name.
const LONGEST_RULE: usize = 60;

/// Returns the mark for a secret that a rule found.
///
/// Parentheses do not begin a list or a table in any configuration format.
pub fn redaction_mark(rule: &str) -> String {
    format!("{OPEN}{rule})")
}

/// Counts the marks in a text, by rule.
pub fn count_redactions(text: &str) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for rule in rules_of_marks(text) {
        *counts.entry(text[rule].to_owned()).or_insert(0) += 1;
    }
    counts
}

/// Replaces each mark by an identifier of the same length: a mark may stand for a name, a number or an option, and must
/// not confuse a parser.
pub fn marks_as_identifiers(text: &str) -> Cow<'_, str> {
    let mut replaced = String::new();
    let mut end = 0;
    for rule in rules_of_marks(text) {
        replaced.push_str(&text[end..rule.start - OPEN.len()]);
        end = rule.end + 1;
        let mark = &text[rule.start - OPEN.len()..end];
        replaced.extend(mark.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }));
    }
    if end == 0 {
        return Cow::Borrowed(text);
    }
    Cow::Owned(replaced + &text[end..])
}

/// Returns the positions of the rule names in the marks of a text.
fn rules_of_marks(text: &str) -> impl Iterator<Item = Range<usize>> {
    memchr::memmem::find_iter(text.as_bytes(), OPEN.as_bytes()).filter_map(|at| {
        let start = at + OPEN.len();
        let rest = &text.as_bytes()[start..];
        let is_of_name = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
        let length = rest.iter().take(LONGEST_RULE).position(|byte| !is_of_name(byte))?;
        (0 < length && rest[length] == b')').then_some(start..start + length)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_counted_by_rule() {
        let text = format!(
            "a = {}; b = {}, {}",
            redaction_mark("x-key"),
            redaction_mark("y2"),
            redaction_mark("x-key")
        );
        let counts: Vec<_> = count_redactions(&text).into_iter().collect();
        assert_eq!(counts, [("x-key".to_owned(), 2), ("y2".to_owned(), 1)]);
        assert!(count_redactions("(redacted:) (redacted:A B) (redacted:a").is_empty());
    }

    #[test]
    fn marks_are_replaced_by_identifiers_for_a_parser() {
        let text = format!("const é = {};\nf({})", redaction_mark("x-key"), redaction_mark("y2"));
        assert_eq!(marks_as_identifiers(&text), "const é = _redacted_x_key_;\nf(_redacted_y2_)");
        assert_eq!(marks_as_identifiers("a(redacted:) (redacted:B)"), "a(redacted:) (redacted:B)");
    }
}

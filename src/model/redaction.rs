//! The mark that replaces a secret in everything that is shown or sent.

use std::collections::BTreeMap;

const OPEN: &str = "(redacted:";
/// No rule has a longer name.
const LONGEST_RULE: usize = 60;

/// Returns the mark that replaces what a rule found.
///
/// Parentheses do not begin a list or a table in any configuration format.
pub fn redaction_mark(rule: &str) -> String {
    format!("{OPEN}{rule})")
}

/// Counts the marks in a text, by rule.
pub fn count_redactions(text: &str) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for at in memchr::memmem::find_iter(text.as_bytes(), OPEN.as_bytes()) {
        let rest = &text.as_bytes()[at + OPEN.len()..];
        let length = rest
            .iter()
            .take(LONGEST_RULE)
            .position(|b| !b.is_ascii_lowercase() && !b.is_ascii_digit() && *b != b'-');
        if let Some(length) = length.filter(|length| 0 < *length && rest[*length] == b')') {
            let start = at + OPEN.len();
            *counts.entry(text[start..start + length].to_owned()).or_insert(0) += 1;
        }
    }
    counts
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
}

//! What a view of a file shows that earlier views of it did not.

use std::collections::HashSet;

/// Between two views of a file whose lines are kept as one text. No line of a file is only that.
const SEAM: &str = "\n… …\n";
/// Beyond so many bytes, views are not kept together.
const MAX_MERGED_BYTES: usize = 256 << 10;

/// Returns whether `shown` has lines of the file that `known` has not.
///
/// Pairs of lines are compared: a line as `return None` is found in many functions, and the first line of one whose body is
/// left out says nothing about the body. What views say of what they leave out is no line of the file.
pub fn has_new_lines(known: &str, shown: &str, source: &str) -> bool {
    let (known, source) = (line_pairs(known), line_pairs(source));
    line_pairs(shown).iter().any(|pair| source.contains(pair) && !known.contains(pair))
}

/// Returns a text of two views, the first of which can be told apart; `None` if that is too large to be kept.
pub fn merge_shown(first: &str, others: &str) -> Option<String> {
    if !has_new_lines(first, others, others) {
        return Some(first.to_owned());
    }
    (first.len() + others.len() <= MAX_MERGED_BYTES).then(|| format!("{first}{SEAM}{others}"))
}

/// Returns the first view of those that [`merge_shown`] has put together, and the others.
pub fn split_shown(text: &str) -> (&str, &str) {
    text.split_once(SEAM).unwrap_or((text, ""))
}

/// Returns each line with the one that follows it, without blank lines.
fn line_pairs(text: &str) -> HashSet<(&str, &str)> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    match lines.as_slice() {
        [only] => HashSet::from([("", *only)]),
        lines => lines.windows(2).map(|pair| (pair[0], pair[1])).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str =
        "import a\n\ndef f():\n    return 1\n\ndef g():\n    return 1\n\ndef h():\n    return 2\n";
    const F: &str =
        "import a\n\ndef f():\n    return 1\n\ndef g():\n    ...  # 1 line\ndef h():\n    ...  # 1 line\n";

    #[test]
    fn a_body_is_new_and_a_signature_or_a_mark_is_not() {
        let g = "def f():\n    ...  # 1 line\ndef g():\n    return 1\n\ndef h():\n    ...  # 1 line\n";
        assert!(has_new_lines(F, g, SOURCE));
        assert!(has_new_lines(F, SOURCE, SOURCE));
        let heads = "import a\n\n# lines 3-7\ndef g():\n    ...  # line 7\ndef h():\n    ...  # line 10\n";
        assert!(!has_new_lines(F, heads, SOURCE) && !has_new_lines(SOURCE, F, SOURCE));
        assert!(has_new_lines("", "one\n", "one\n") && !has_new_lines("one", "one\n", "one\n"));
    }

    #[test]
    fn what_was_shown_twice_is_kept_once() {
        let h = "def h():\n    return 2\n";
        let both = merge_shown(F, h).unwrap();
        assert!(!has_new_lines(&both, F, SOURCE) && !has_new_lines(&both, h, SOURCE));
        assert!(has_new_lines(&both, "def g():\n    return 1\n", SOURCE));
        assert_eq!(merge_shown(&both, h).unwrap(), both);
        assert_eq!((split_shown(&both), split_shown(F)), ((F, h), (F, "")));
        assert_eq!(merge_shown(&"x\n".repeat(MAX_MERGED_BYTES), h), None);
    }
}

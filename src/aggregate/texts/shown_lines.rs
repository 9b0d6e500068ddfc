//! Finds what a view of a file shows that earlier views did not, and stores which lines a reader has.

use std::collections::HashSet;

use super::page::gap_mark;

/// Separates two views of a file in one stored text. No line of a file looks like this.
const SEAM: &str = "\n… …\n";
/// Separates a view that its reader has only in part from the lines the reader has.
const UNSEEN: &str = "\n… … …\n";
/// Shorter runs of known lines are repeated, as context for the others.
const MIN_KNOWN_LINES: usize = 6;
/// The maximum total size of views that are stored together.
const MAX_MERGED_BYTES: usize = 256 << 10;

/// Returns whether `shown` has lines of the file that `known` lacks.
///
/// Pairs of lines are compared: a line such as `return None` occurs in many functions, and the first line of a function
/// whose body is omitted does not imply the body. Remarks of views about omissions are not lines of the file.
pub fn has_new_lines(known: &str, shown: &str, source: &str) -> bool {
    let (known, source) = (line_pairs(known), line_pairs(source));
    line_pairs(shown).iter().any(|pair| source.contains(pair) && !known.contains(pair))
}

/// Returns `shown` with a comment in place of each longer run of lines that `known` has; `None` if there is none. Lines
/// that enclose new lines by indentation are kept. `source` is the text of the file.
pub fn without_known_lines(known: &str, shown: &str, source: &str, language: &str) -> Option<String> {
    let (known, source) = (line_pairs(known), line_pairs(source));
    let lines: Vec<&str> = shown.split_inclusive('\n').collect();
    let stays = lines_to_keep(&lines, &|pair| source.contains(&pair) && !known.contains(&pair));
    let (mut text, mut left, mut is_shorter) = (String::new(), lines.as_slice(), false);
    for run in stays.chunk_by(|a, b| a == b) {
        let (lines, after) = left.split_at(run.len());
        left = after;
        if run[0] || run.len() < MIN_KNOWN_LINES {
            text.extend(lines.iter().copied());
            continue;
        }
        is_shorter = true;
        text.push_str(&lines[0][..indentation(lines[0])]);
        text.push_str(&gap_mark(language, "… lines shown earlier"));
        text.push('\n');
    }
    is_shorter.then_some(text)
}

/// Returns which lines are new, or enclose new lines.
fn lines_to_keep(lines: &[&str], is_new: &dyn Fn((&str, &str)) -> bool) -> Vec<bool> {
    let mut stays = vec![false; lines.len()];
    let filled: Vec<usize> = (0..lines.len()).filter(|at| !lines[*at].trim().is_empty()).collect();
    for pair in filled.windows(2).filter(|at| is_new((lines[at[0]].trim_end(), lines[at[1]].trim_end()))) {
        stays[pair[0]..=pair[1]].fill(true);
    }
    let mut innermost = 0;
    for at in filled.into_iter().rev() {
        let depth = indentation(lines[at]);
        stays[at] |= depth < innermost;
        // A closing bracket is enclosed by its opening line, which is indented equally.
        let ends_bracket = lines[at].trim_start().starts_with([')', ']', '}']);
        innermost = if stays[at] { depth + usize::from(ends_bracket) } else { innermost };
    }
    stays
}

/// Returns the bytes of white space at the beginning of a line.
fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// Joins two views so that the first can be recovered; `None` if the result is too large to be stored.
pub fn merge_shown(first: &str, others: &str) -> Option<String> {
    if !has_new_lines(first, others, others) {
        return Some(first.to_owned());
    }
    (first.len() + others.len() <= MAX_MERGED_BYTES).then(|| format!("{first}{SEAM}{others}"))
}

/// Returns the first of the views that [`merge_shown`] joined, and the others; or the view of [`after_delta`], and the
/// lines of it that its reader has.
pub fn split_shown(text: &str) -> (&str, &str) {
    text.split_once(UNSEEN).or_else(|| text.split_once(SEAM)).unwrap_or((text, ""))
}

/// Returns the lines that the reader has of a file with this stored text.
pub fn seen_lines(kept: &str) -> &str {
    kept.split_once(UNSEEN).map_or(kept, |(_, seen)| seen)
}

/// Returns whether the reader lacks lines of the stored view, because a delta only named the changes.
pub fn lacks_lines(kept: &str) -> bool {
    kept.contains(UNSEEN)
}

/// Returns the text to store if the reader had `kept` of the file, and got a delta in place of the view. A delta may
/// name symbols without showing their lines.
pub fn after_delta(kept: &str, delta: &str, view: &str) -> String {
    let known = line_pairs(seen_lines(kept));
    let shown: HashSet<&str> =
        delta.lines().filter_map(|line| line.strip_prefix('+')).map(str::trim_end).collect();
    let lines: Vec<&str> = view.split_inclusive('\n').collect();
    let filled: Vec<usize> = (0..lines.len()).filter(|at| !lines[*at].trim_end().is_empty()).collect();
    let text = |at: usize| lines[at].trim_end();
    let known_lines: HashSet<&str> = known.iter().flat_map(|(one, other)| [*one, *other]).collect();
    // A line that the reader had is known if it is next to one that the delta shows.
    let is_beside = |one: &str, other: &str| shown.contains(one) && known_lines.contains(other);
    let mut is_seen = vec![false; lines.len()];
    for pair in filled.windows(2) {
        let (one, other) = (text(pair[0]), text(pair[1]));
        if known.contains(&(one, other)) || is_beside(one, other) || is_beside(other, one) {
            (is_seen[pair[0]], is_seen[pair[1]]) = (true, true);
        }
    }
    for at in &filled {
        is_seen[*at] |= shown.contains(text(*at)) || known.contains(&("", text(*at)));
    }
    if filled.iter().all(|at| is_seen[*at]) {
        return view.to_owned();
    }
    let mut seen = String::new();
    for run in filled.chunk_by(|a, b| is_seen[*a] == is_seen[*b]) {
        if is_seen[run[0]] {
            seen.extend(run.iter().map(|at| lines[*at]));
        } else {
            // Lines that are apart in the view must not become adjacent.
            seen.push_str("…\n");
        }
    }
    with_unseen(view, &seen)
}

/// Returns the text to store for a view of which only the lines `seen` were shown.
fn with_unseen(view: &str, seen: &str) -> String {
    let seen = if seen.len() <= MAX_MERGED_BYTES { seen } else { "" };
    format!("{view}{UNSEEN}{seen}")
}

/// Adds another part of a file to its stored text; `None` if the result is too large.
pub fn merge_part(kept: &str, part: &str) -> Option<String> {
    let (view, _) = split_shown(kept);
    let merged = merge_shown(seen_lines(kept), part)?;
    Some(if lacks_lines(kept) { with_unseen(view, &merged) } else { merged })
}

/// Returns each line paired with the next one, ignoring blank lines.
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
    fn known_lines_are_left_out_around_what_is_new() {
        let known = (1..=12)
            .fold(String::new(), |text, n| text + &format!("    def f{n}(self):\n        return {n}\n"));
        let known = format!("class A:\n{known}");
        let shown = known.replace("return 6\n", "return 6\n        # more\n");
        assert_eq!(
            without_known_lines(&known, &shown, &shown, "python").unwrap(),
            "class A:\n    # … lines shown earlier\n    def f6(self):\n        return 6\n        # more\n    \
             def f7(self):\n        # … lines shown earlier\n"
        );
        assert_eq!(without_known_lines("", &shown, &shown, "python"), None);
        let split = shown.replace("f6(self):", "f6(\n        self,\n    ) -> int:");
        let text = without_known_lines(&known, &split, &split, "python").unwrap();
        assert!(text.contains("def f6(\n        self,\n    ) -> int:\n"), "{text}");
        let gaps = known.replace("return 9", "...  # line 19");
        assert!(!without_known_lines(&known, &gaps, &known, "python").unwrap().contains("line 19"));
    }

    #[test]
    fn lines_that_a_delta_did_not_show_are_not_seen() {
        let old = "def f():\n    a = 1\n    b = 2\n    return a\n\ndef g():\n    return 1\n";
        let new = old.replace("a = 1", "a = 3").replace("return 1", "return 4");
        let kept =
            after_delta(old, "@@ changed lines f 1/4\n@@ changed g\n-    return 1\n+    return 4\n", &new);
        assert_eq!(split_shown(&kept).0, new);
        assert!(lacks_lines(&kept) && !seen_lines(&kept).contains("a = 3"));
        assert!(
            seen_lines(&kept).contains("    b = 2\n    return a\n") && seen_lines(&kept).contains("return 4")
        );
        let whole = after_delta(old, "-    a = 1\n+    a = 3\n-    return 1\n+    return 4\n", &new);
        assert_eq!(whole, new);
        // A part that is shown later is added to the seen lines, and the view stays the same.
        let later = merge_part(&kept, "def f():\n    a = 3\n    b = 2\n").unwrap();
        assert!(!has_new_lines(seen_lines(&later), &new, &new));
        assert_eq!(split_shown(&later).0, new);
    }

    #[test]
    fn lines_that_were_shown_twice_are_stored_once() {
        let h = "def h():\n    return 2\n";
        let both = merge_shown(F, h).unwrap();
        assert!(!has_new_lines(&both, F, SOURCE) && !has_new_lines(&both, h, SOURCE));
        assert!(has_new_lines(&both, "def g():\n    return 1\n", SOURCE));
        assert_eq!(merge_shown(&both, h).unwrap(), both);
        assert_eq!((split_shown(&both), split_shown(F)), ((F, h), (F, "")));
        assert_eq!(merge_shown(&"x\n".repeat(MAX_MERGED_BYTES), h), None);
    }
}

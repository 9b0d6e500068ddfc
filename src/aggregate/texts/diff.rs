//! The changes in a file, as a unified diff.

use std::fmt::Write as _;

use crate::model::{RelPath, render_hunks};

/// The number of unchanged lines shown around a change.
const CONTEXT: usize = 3;

/// Returns the difference between two texts of a file as `git diff` writes it. A text is `None` if the file did not, or
/// does not, exist. `old_label` names the old text where there is no diff to show.
pub fn render_diff(path: &RelPath, old: Option<&str>, new: Option<&str>, old_label: &str) -> String {
    if old == new {
        return format!("(no changes since {old_label})\n");
    }
    let (old_text, new_text) = (old.unwrap_or_default(), new.unwrap_or_default());
    if old_text.is_empty() && new_text.is_empty() {
        let what = if old.is_none() { "new" } else { "deleted" };
        return format!("(an empty file, {what} since {old_label})\n");
    }
    let name = |side: &str, text: Option<&str>| match text {
        Some(_) => header_name(side, path),
        None => "/dev/null".to_owned(),
    };
    let hunks = render_hunks(old_text, new_text, CONTEXT);
    format!("--- {}\n+++ {}\n{hunks}", name("a/", old), name("b/", new))
}

/// Returns a diff without removed lines, and their number.
pub fn without_old_lines(diff: &str) -> (String, usize) {
    let (mut shown, mut hidden, mut is_in_hunk, mut is_hiding) = (String::new(), 0, false, false);
    for line in diff.split_inclusive('\n') {
        is_in_hunk |= line.starts_with("@@ ");
        // A "no newline" marker belongs to the line before it.
        is_hiding = is_in_hunk && (line.starts_with('-') || is_hiding && line.starts_with('\\'));
        if is_hiding {
            hidden += usize::from(line.starts_with('-'));
        } else {
            shown.push_str(line);
        }
    }
    (shown, hidden)
}

/// Returns a path as git writes it above a diff: in quotes if it contains special characters.
fn header_name(side: &str, path: &RelPath) -> String {
    let is_plain = path.as_str() == Some(path.to_string().as_str());
    if is_plain && !path.as_bytes().iter().any(|byte| matches!(byte, b'"' | b'\\')) {
        // Without the tab, a space in the name would be taken for its end; a timestamp may follow a tab.
        let tab = if path.as_bytes().contains(&b' ') { "\t" } else { "" };
        return format!("{side}{path}{tab}");
    }
    let mut quoted = format!("\"{side}");
    for byte in path.as_bytes() {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(*byte)]),
            0x20..0x7f => quoted.push(char::from(*byte)),
            0..0x20 | 0x7f..=0xff => {
                // Octal, as git quotes names, so that `git apply` finds the file.
                let _ = write!(quoted, "\\{byte:03o}");
            }
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RelPath {
        RelPath::new(text.as_bytes()).unwrap()
    }

    fn diff(old: &str, new: &str) -> String {
        render_diff(&path("a"), Some(old), Some(new), "HEAD")
    }

    #[test]
    fn a_change_is_shown_with_three_lines_on_each_side() {
        let new = diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n");
        let expected = "--- a/a\n+++ b/a\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
        assert_eq!(new, expected);
    }

    #[test]
    fn a_missing_final_newline_is_marked_as_in_git() {
        let expected = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n";
        assert_eq!(diff("x", "x\n"), expected);
        assert_eq!(diff("a\rb\r\n", "a\rc\r\n"), "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\rb\r\n+a\rc\r\n");
    }

    #[test]
    fn new_and_removed_files_have_an_empty_other_side() {
        let new = render_diff(&path("a b"), None, Some("x\n"), "HEAD");
        assert_eq!(new, "--- /dev/null\n+++ b/a b\t\n@@ -0,0 +1 @@\n+x\n");
        let gone = render_diff(&path("é\"\u{7}"), Some("x\n"), None, "HEAD");
        assert_eq!(gone, "--- \"a/\\303\\251\\\"\\007\"\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n");
        assert_eq!(render_diff(&path("a"), None, Some(""), "v1"), "(an empty file, new since v1)\n");
        assert_eq!(diff("x", "x"), "(no changes since HEAD)\n");
    }

    #[test]
    fn removed_lines_are_counted_and_not_shown() {
        let diff = render_diff(&path("a.sql"), Some("same\n-- old\nold"), Some("same\n-- new\n"), "HEAD");
        let (shown, hidden) = without_old_lines(&diff);
        assert_eq!(shown, "--- a/a.sql\n+++ b/a.sql\n@@ -1,3 +1,2 @@\n same\n+-- new\n");
        assert_eq!(hidden, 2);
    }
}

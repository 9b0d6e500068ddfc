//! Fences: the marks between which a file's text is placed in a prompt.

use crate::model::ContentHash;

/// Hex digits of a mark.
const DIGITS: usize = 16;

/// Returns a mark that does not occur in the text. It is derived from the subject, so that the same prompt is the
/// same bytes; and an author cannot put the mark of a file into that file, because it would have to contain its own
/// digest.
pub(super) fn unique_mark(subject: &ContentHash, text: &str) -> String {
    let mut digest = *subject;
    loop {
        digest = ContentHash::digest(format!("mark/1 {digest}").as_bytes());
        let mark = digest.to_string()[..DIGITS].to_owned();
        if !text.contains(&mark) {
            return mark;
        }
    }
}

/// Returns how many bytes [`fenced`] adds, given the line that describes the data.
pub(super) const fn overhead(about: &str) -> usize {
    // The mark three times, and the words and line breaks around it.
    about.len() + 3 * DIGITS + 32
}

/// Returns the material of a prompt: a description, and the data between its marks.
pub(super) fn fenced(subject: &ContentHash, about: &str, data: &str) -> String {
    let mark = unique_mark(subject, &format!("{about}\n{data}"));
    let line_end = if data.ends_with('\n') { "" } else { "\n" };
    format!("Mark: {mark}\n{about}\n{mark} begin\n{data}{line_end}{mark} end\n")
}

//! The mark between which a file's text stands in a question.

use crate::model::ContentHash;

/// So many hex digits of a digest make a mark.
const DIGITS: usize = 16;

/// Returns a mark that stands nowhere in the text. It follows from what the question is about, so that the same question
/// is the same bytes; and whoever writes a file cannot write the mark of that file into it, which would be a digest of
/// itself.
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

/// Returns how many bytes [`fenced`] adds, given the line that says what the data is.
pub(super) const fn overhead(about: &str) -> usize {
    // The mark thrice, and the words and line ends around it.
    about.len() + 3 * DIGITS + 32
}

/// Returns the text of a question: what the data is, and the data between its marks.
pub(super) fn fenced(subject: &ContentHash, about: &str, data: &str) -> String {
    let mark = unique_mark(subject, &format!("{about}\n{data}"));
    let line_end = if data.ends_with('\n') { "" } else { "\n" };
    format!("Mark: {mark}\n{about}\n{mark} begin\n{data}{line_end}{mark} end\n")
}

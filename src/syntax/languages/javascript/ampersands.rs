//! Ampersands in the text and in the attributes of JSX.

use memchr::memchr_iter;

/// Replaces each ampersand that looks like the beginning of a character reference (`&amp;`) and is not one, as in `<a
/// href="?b=1&c=2">R&D</a>`, by a bar, because the grammar takes these for errors. In code, a bar is an operator as
/// well. `None` if there is no such ampersand.
pub(in crate::syntax::languages) fn without_bare_ampersands(text: &str) -> Option<String> {
    let is_bare = |at: &usize| {
        let (before, after) = (&text[..*at], &text[*at + 1..]);
        let rest = after.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '#');
        rest.len() < after.len() && !before.ends_with('&') && !rest.starts_with(';')
    };
    let bare: Vec<usize> = memchr_iter(b'&', text.as_bytes()).filter(is_bare).collect();
    if bare.is_empty() {
        return None;
    }
    let mut respelled = text.as_bytes().to_vec();
    for at in bare {
        respelled[at] = b'|';
    }
    String::from_utf8(respelled).ok()
}

//! Kotlin: finds the ends of tokens.

use crate::syntax::languages::braces::block_end;

/// Arguments that are longer are not looked through for their end: each of them may contain others.
const MAX_ARGUMENTS: usize = 500;

/// Returns where what begins at `at` ends: a comment, a literal, a name in quotes, or a single byte.
pub(super) fn token_end(text: &str, at: usize, depth: usize) -> Option<usize> {
    let rest = &text.as_bytes()[at..];
    match rest {
        [b'/', b'/', ..] => Some(text[at..].find('\n').map_or(text.len(), |end| at + end)),
        [b'/', b'*', ..] => comment_end(text, at),
        [b'"', ..] => string_end(text, at, depth, 1),
        [b'$', b'$', ..] => {
            let dollars = rest.iter().take_while(|byte| **byte == b'$').count();
            let is_string = rest[dollars..].starts_with(b"\"");
            if is_string { string_end(text, at + dollars, depth, dollars) } else { Some(at + dollars) }
        }
        [b'\'', b'\\', _, ..] => quoted_end(text, at + 3, '\''),
        [b'\'', ..] => quoted_end(text, at + 1, '\''),
        [b'`', ..] => quoted_end(text, at + 1, '`'),
        _ => Some(at + 1),
    }
}

/// Returns where a quotation is closed on its line.
fn quoted_end(text: &str, at: usize, mark: char) -> Option<usize> {
    let rest = text.get(at..)?;
    let end = rest.find([mark, '\n'])?;
    rest[end..].starts_with(mark).then_some(at + end + 1)
}

/// Comments may be nested.
fn comment_end(text: &str, at: usize) -> Option<usize> {
    let (mut at, mut depth) = (at, 0_usize);
    loop {
        at += text.get(at..)?.find(['/', '*'])?;
        match text.as_bytes().get(at..at + 2)? {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Returns where the first parenthesis from `at` on is closed, unless that is far away.
pub(super) fn parentheses_end(text: &str, at: usize) -> Option<usize> {
    let start = at + text[at..].find('(')?;
    let (mut at, mut open) = (start, 0_usize);
    while at < start + MAX_ARGUMENTS {
        match text.as_bytes().get(at)? {
            b'(' => open += 1,
            b')' => open -= 1,
            _ => {
                at = token_end(text, at, 0)?;
                continue;
            }
        }
        at += 1;
        if open == 0 {
            return Some(at);
        }
    }
    None
}

/// Returns the end of the string whose quotation mark is at `at`, in which code is marked by that many dollars.
fn string_end(text: &str, at: usize, depth: usize, dollars: usize) -> Option<usize> {
    let is_raw = text[at..].starts_with("\"\"\"");
    let mut at = at + if is_raw { 3 } else { 1 };
    loop {
        at += text.get(at..)?.find(['"', '\\', '$', '\n'])?;
        match &text.as_bytes()[at..] {
            [b'$', rest @ ..] => {
                let more = rest.iter().take_while(|byte| **byte == b'$').count();
                at += 1 + more;
                if dollars <= 1 + more && rest[more..].starts_with(b"{") {
                    at = block_end(text, at, depth, token_end)?;
                }
                continue;
            }
            [b'"', b'"', b'"', ..] if is_raw => {
                // Further quotation marks belong to the string, and precede those that close it.
                let more = text[at + 3..].bytes().take_while(|byte| *byte == b'"').count();
                return Some(at + 3 + more);
            }
            [b'"', ..] if !is_raw => return Some(at + 1),
            [b'\n', ..] if !is_raw => return None,
            [b'\\', ..] if !is_raw => at += 1,
            _ => {}
        }
        // What is escaped may be a character of several bytes.
        at += text.get(at..)?.chars().next()?.len_utf8();
    }
}

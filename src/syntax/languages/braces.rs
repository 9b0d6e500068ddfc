//! Where code in braces ends that may lie within a string, which lies within code: C# and Kotlin interpolate both ways.

/// Strings nested deeper than this in strings were not written by a person.
const MAX_DEPTH: usize = 50;

/// Returns where the block ends whose opening brace is at `at`; `None` if it does not, or is nested too deeply.
///
/// `token_end` returns the end of the token at a position that is no brace, at the depth of strings within strings.
pub(super) fn block_end(
    text: &str,
    at: usize,
    depth: usize,
    token_end: fn(&str, usize, usize) -> Option<usize>,
) -> Option<usize> {
    if depth == MAX_DEPTH {
        return None;
    }
    let (mut at, mut open) = (at, 0_usize);
    loop {
        match text.as_bytes().get(at)? {
            b'{' => open += 1,
            // The block begins with a brace, so that one is open here.
            b'}' => open -= 1,
            _ => {
                at = token_end(text, at, depth + 1)?;
                continue;
            }
        }
        at += 1;
        if open == 0 {
            return Some(at);
        }
    }
}

//! Finds the end of a block of code that may contain strings with interpolated code, as in C# and Kotlin.

/// Strings nested more deeply than this in strings are not hand-written.
const MAX_DEPTH: usize = 50;

/// Returns the end of the block whose opening brace is at `at`; `None` if it is not closed, or is nested too deeply.
///
/// `token_end` returns the end of the token at a position that is not a brace, given the depth of strings within
/// strings.
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

//! Passes over C#'s comments, characters and strings of all kinds.

/// Strings nested deeper than this in strings are no program that a person wrote.
const MAX_DEPTH: usize = 50;

/// Returns where what begins at `at` ends: a comment, a literal, or a single character. `None` where it never does.
pub(super) fn token_end(text: &str, at: usize, depth: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    match rest.as_bytes() {
        [b'/', b'/', ..] => Some(rest.find('\n').map_or(text.len(), |end| at + end)),
        [b'/', b'*', ..] => rest[2..].find("*/").map(|end| at + end + 4),
        [b'\'', ..] => character_end(text, at + 1),
        [b'"' | b'$' | b'@', ..] => {
            let prefix = rest.len() - rest.trim_start_matches(['$', '@']).len();
            if rest[prefix..].starts_with('"') {
                string_end(text, at, at + prefix, depth)
            } else {
                Some(at + prefix.max(1))
            }
        }
        _ => Some(at + rest.chars().next()?.len_utf8()),
    }
}

fn character_end(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let escaped = if rest.starts_with('\\') { 2 } else { 0 };
    let end = rest.get(escaped..)?.find(['\'', '\n'])? + escaped;
    rest[end..].starts_with('\'').then_some(at + end + 1)
}

/// Returns where the string ends whose prefix begins at `start` and whose quotation mark stands at `quote`.
fn string_end(text: &str, start: usize, quote: usize, depth: usize) -> Option<usize> {
    let marks = text[quote..].bytes().take_while(|byte| *byte == b'"').count();
    let prefix = &text[start..quote];
    let is_verbatim = prefix.contains('@');
    if 3 <= marks && !is_verbatim {
        // A raw string ends with as many marks as it begins with.
        let end = text[quote + marks..].find(&text[quote..quote + marks])? + quote + 2 * marks;
        let more = text[end..].bytes().take_while(|byte| *byte == b'"').count();
        return Some(end + more);
    }
    let has_holes = prefix.contains('$');
    let mut at = quote + 1;
    loop {
        at += text.get(at..)?.find(['"', '\\', '{', '\n'])?;
        match &text.as_bytes()[at..] {
            [b'"', b'"', ..] if is_verbatim => at += 2,
            [b'"', ..] => return Some(at + 1),
            [b'\n', ..] if !is_verbatim => return None,
            [b'{', b'{', ..] if has_holes => at += 2,
            [b'{', ..] if has_holes => at = interpolation_end(text, at, depth)?,
            [b'\\', ..] if !is_verbatim => at += 1 + text.get(at + 1..)?.chars().next()?.len_utf8(),
            _ => at += 1,
        }
    }
}

/// Returns where the code ends that stands within a string.
fn interpolation_end(text: &str, at: usize, depth: usize) -> Option<usize> {
    if depth == MAX_DEPTH {
        return None;
    }
    let (mut at, mut open) = (at, 0_usize);
    loop {
        match text.as_bytes().get(at)? {
            b'{' => open += 1,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_passed_over_whole() {
        for text in [
            "\"a\\\"b\"",
            "@\"a\\\"",
            "@\"a\"\"b\"",
            "$\"{{ {(a ? \"}\" : $\"{b}\")} }}\"",
            "$@\"\n{a}\"\"\"",
            "\"\"\"a\"b\"\"\"",
            "$$\"\"\"\n{{a}} \"\" \"\"\"",
            "'\\''",
            "'\"'",
            "/* \" */",
            "// \"",
            "\"\"",
            "é",
        ] {
            assert_eq!(token_end(text, 0, 0), Some(text.len()), "{text}");
        }
    }

    #[test]
    fn what_never_ends_is_said_to() {
        for text in ["\"a", "\"a\n\"", "'", "/* ", "$\"{", "\"\"\"a\"\"", "\"\\"] {
            assert_eq!(token_end(text, 0, 0), None, "{text}");
        }
        assert_eq!(token_end(&"$\"{".repeat(10_000), 0, 0), None);
    }
}

//! Lenient JSON: with comments and trailing commas, or malformed.

use super::super::words;

/// Returns the text without `//` and `/* */` comments and without trailing commas.
pub(super) fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    // Offset in `plain` of a comma that a closing bracket may follow.
    let mut comma = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let taken = match c {
            '"' => string_bytes(rest),
            '/' if rest.starts_with("//") => {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                continue;
            }
            '/' if rest.starts_with("/*") => {
                rest = rest[2..].split_once("*/").map_or("", |(_, after)| after);
                plain.push(' ');
                continue;
            }
            _ => c.len_utf8(),
        };
        match c {
            ']' | '}' => {
                if let Some(at) = comma.take() {
                    plain.replace_range(at..=at, " ");
                }
            }
            ',' => comma = Some(plain.len()),
            _ if c.is_whitespace() => {}
            _ => comma = None,
        }
        plain.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    plain
}

/// Returns the least indented keys of a malformed text, each once.
pub(super) fn keys(head: &str) -> Vec<String> {
    const MOST: usize = 40;
    let indented: Vec<(usize, &str)> = head
        .lines()
        .filter_map(|line| {
            let trimmed = line.trim_start();
            let (key, rest) = trimmed.strip_prefix('"')?.split_once('"')?;
            rest.trim_start().starts_with(':').then_some((line.len() - trimmed.len(), key))
        })
        .collect();
    let least = indented.iter().map(|(indent, _)| *indent).min().unwrap_or(0);
    let mut keys = Vec::new();
    for (_, key) in indented.iter().filter(|(indent, _)| *indent == least).take(MOST) {
        let key = words::clip(&words::one_line(key), 60);
        if !key.is_empty() && !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

/// Returns the length of a string with its quotes, or of the rest of the text if it is not closed.
fn string_bytes(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return at + 1,
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_and_strings_stay() {
        let cases = [
            ("{\"a\": 1} // end", "{\"a\": 1} "),
            ("/* a */{\"u\": \"http://x/*y*/\"}", " {\"u\": \"http://x/*y*/\"}"),
            ("[1, 2, ]", "[1, 2  ]"),
            ("[1, // one\n]", "[1  \n]"),
            ("{\"a\\\"//\": \"\\\\\"} //", "{\"a\\\"//\": \"\\\\\"} "),
            ("[\",]\"]", "[\",]\"]"),
            ("/* never ends", " "),
            ("\"never ends //", "\"never ends //"),
        ];
        for (text, expected) in cases {
            assert_eq!(without_comments(text), expected);
        }
    }

    #[test]
    fn only_the_outermost_keys_of_a_broken_text_are_named() {
        assert_eq!(keys("{\n \"a\": {\n  \"b\": 1\n },\n \"c\" : [\n"), ["a", "c"]);
        assert!(keys("nothing").is_empty());
    }
}

//! The notations in which languages, settings and documents assign a value to a name.

use std::ops::Range;

/// The maximum size in bytes of a value, and of the text between it and its name.
const LONGEST_VALUE: usize = 2048;
const LONGEST_TYPE: usize = 48;
/// The maximum number of bytes of a line that are examined.
const LONGEST_LINE: usize = 600;

/// A value after a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AssignedValue {
    pub(crate) span: Range<usize>,
    pub(crate) is_quoted: bool,
    pub(crate) operator: Operator,
}

/// The operator between a name and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    /// `=`, `:=`, `.=`, `=>` and other signs of an assignment, or a comparison.
    Assigns,
    /// `:`, which settings and dictionaries have; types follow it in programs.
    Colon,
    /// A comma: `define('NAME', 'value')`.
    Comma,
    /// `>`, after the name of an element.
    Element,
    /// `||`, `??` or `or`: a default value; or `->`, after which programs have the name of a field.
    Default,
    /// Nothing but a space or an opening parenthesis: `password "…"`, `Secret("…")`.
    Nothing,
    /// A dash or a bar in a sentence or a table.
    Dash,
}

/// Longer operators first.
const OPERATORS: [(&str, Operator); 27] = [
    (":::=", Operator::Assigns),
    ("!==", Operator::Assigns),
    ("===", Operator::Assigns),
    ("||=", Operator::Assigns),
    ("??=", Operator::Assigns),
    ("::=", Operator::Assigns),
    ("<<-", Operator::Assigns),
    ("!=", Operator::Assigns),
    ("==", Operator::Assigns),
    ("=>", Operator::Assigns),
    ("=~", Operator::Assigns),
    (":=", Operator::Assigns),
    ("?=", Operator::Assigns),
    ("+=", Operator::Assigns),
    (".=", Operator::Assigns),
    ("<-", Operator::Assigns),
    ("->", Operator::Default),
    (":-", Operator::Default),
    ("||", Operator::Default),
    ("??", Operator::Default),
    ("or ", Operator::Default),
    ("=", Operator::Assigns),
    (":", Operator::Colon),
    (",", Operator::Comma),
    (">", Operator::Element),
    ("|", Operator::Dash),
    ("- ", Operator::Dash),
];

/// Returns the value after a name that ends at `end`.
pub(crate) fn value_after(text: &str, end: usize) -> Option<AssignedValue> {
    let bytes = text.as_bytes();
    let mut at = skip_closing(bytes, end);
    let bare = at;
    at = skip(bytes, at, b" \t");
    let next_line = skip_line_break(bytes, at);
    if bytes.get(next_line) == Some(&b'=') {
        at = next_line;
    }
    let (operator, behind) = operator_at(text, at, bare)?;
    // The name is the last argument of a call, and the call itself one of several: `equal(set(NAME), "…")`.
    if operator == Operator::Comma && bytes.get(end) == Some(&b')') {
        return None;
    }
    // The name is that of a class or a module, and a part of it follows: `TrafficSecrets::Aes128Gcm`.
    let is_scope = operator == Operator::Colon && behind == end + 1 && bytes.get(behind) == Some(&b':');
    if is_scope && bytes.get(behind + 1).is_some_and(|b| b.is_ascii_alphabetic() || b"_{*<".contains(b)) {
        return None;
    }
    at = behind;
    if operator == Operator::Nothing {
        return quoted_at(bytes, at).map(|span| AssignedValue { span, is_quoted: true, operator });
    }
    let line_end = skip(bytes, at, b" \t");
    at = skip_line_break(bytes, at);
    // A value may be wrapped: `(`, `[`, `{`, `String(`, `@"`, `SecretString::from(`.
    let opened = skip_wrapper(bytes, at);
    if let Some(span) = quoted_at(bytes, opened) {
        // Behind a comma, a text that has a value itself is the next key of a map.
        let behind = skip(bytes, skip_closing(bytes, span.end), b" \t");
        let is_key = operator == Operator::Comma && bytes.get(behind) == Some(&b':');
        return (!is_key).then_some(AssignedValue { span, is_quoted: true, operator });
    }
    // `NAME=` alone on its line has an empty value, and what follows is the next assignment.
    if operator == Operator::Assigns && matches!(bytes.get(line_end), Some(b'\n' | b'\r')) {
        return None;
    }
    let span = plain_at(bytes, at)?;
    Some(AssignedValue { span, is_quoted: false, operator })
}

/// Returns the quoted value that is compared with a name: `"…" == password`.
pub(crate) fn value_before(text: &str, start: usize) -> Option<AssignedValue> {
    let head = text[..start].trim_end_matches([' ', '\t']);
    let compared = ["===", "!==", "==", "!="].iter().find_map(|sign| head.strip_suffix(sign))?;
    let compared = compared.trim_end_matches([' ', '\t']);
    let quote = compared.chars().next_back().filter(|quote| matches!(quote, '"' | '\'' | '`'))?;
    let end = compared.len() - 1;
    let written = line_before(text, end).rsplit_once(quote)?.1;
    Some(AssignedValue { span: end - written.len()..end, is_quoted: true, operator: Operator::Assigns })
}

/// Returns the line before a position, or its end: what is examined for each name must not grow with the line.
pub(crate) fn line_before(text: &str, at: usize) -> &str {
    let near = &text[text.ceil_char_boundary(at.saturating_sub(LONGEST_LINE))..at];
    near.rsplit('\n').next().unwrap_or_default()
}

/// Returns the line after a position, or its beginning.
pub(crate) fn line_after(text: &str, at: usize) -> &str {
    let near = &text[at..text.floor_char_boundary(text.len().min(at + LONGEST_LINE))];
    near.split('\n').next().unwrap_or_default().trim_end_matches('\r')
}

/// Skips what closes a name: quotes, escaped ones too, brackets, and the size of an array.
fn skip_closing(bytes: &[u8], mut at: usize) -> usize {
    const MOST: usize = 5;
    for _ in 0..MOST {
        match bytes.get(at) {
            Some(b'"' | b'\'' | b'`' | b')' | b']' | b'}') => at += 1,
            Some(b'\\') if matches!(bytes.get(at + 1), Some(b'"' | b'\'')) => at += 2,
            Some(b'[') => {
                let close = skip(bytes, at + 1, b"0123456789");
                if bytes.get(close) != Some(&b']') {
                    break;
                }
                at = close + 1;
            }
            _ => break,
        }
    }
    at
}

fn skip(bytes: &[u8], mut at: usize, skipped: &[u8]) -> usize {
    while bytes.get(at).is_some_and(|b| skipped.contains(b)) {
        at += 1;
    }
    at
}

/// Skips spaces, and a line's end with the spaces after it.
fn skip_line_break(bytes: &[u8], at: usize) -> usize {
    let end = skip(bytes, at, b" \t");
    let next = if bytes.get(end) == Some(&b'\\') { end + 1 } else { end };
    match (bytes.get(next), bytes.get(next + 1)) {
        (Some(b'\n'), _) => skip(bytes, next + 1, b" \t"),
        (Some(b'\r'), Some(b'\n')) => skip(bytes, next + 2, b" \t"),
        _ => end,
    }
}

/// Returns the operator at a position, and the position after it. `bare` is the end of the name with its quotes.
fn operator_at(text: &str, at: usize, bare: usize) -> Option<(Operator, usize)> {
    let bytes = text.as_bytes();
    if let Some(behind) = separate_value(text, bare) {
        return Some((Operator::Assigns, behind));
    }
    if !begins_attribute(bytes, at, bare)
        && let Some(behind) = typed_assignment(bytes, at)
    {
        return Some((Operator::Assigns, behind));
    }
    let rest = &bytes[at.min(bytes.len())..];
    for (sign, operator) in OPERATORS {
        if rest.starts_with(sign.as_bytes()) {
            return Some((operator, at + sign.len()));
        }
    }
    match rest.first()? {
        b'(' | b'{' => Some((Operator::Nothing, skip_line_break(bytes, at + 1))),
        // The backslash is that of `"name\", \"value"` and the like.
        b'"' | b'\'' | b'`' | b'\\' if bare < at => Some((Operator::Nothing, at)),
        _ => None,
    }
}

/// Returns where the value begins if name and value are attributes of their own: `name="PASSWORD" value="…"`.
fn separate_value(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = skip(bytes, at, b" \t,");
    at = skip(bytes, at, b"\r\n");
    at = skip(bytes, at, b" \t");
    at = skip(bytes, at, b"\"'");
    let rest = bytes.get(at..at + 5)?;
    if !rest.eq_ignore_ascii_case(b"value") {
        return None;
    }
    let at = skip(bytes, skip(bytes, at + 5, b"\"'"), b" \t");
    matches!(bytes.get(at), Some(b':' | b'=')).then_some(at + 1)
}

/// Returns whether another attribute of an element follows a quoted name: `<a class="token" href="…">`.
fn begins_attribute(bytes: &[u8], at: usize, bare: usize) -> bool {
    const ATTRIBUTES: [&[u8]; 18] = [
        b"href", b"src", b"srcset", b"class", b"id", b"style", b"title", b"rel", b"target", b"alt", b"type",
        b"action", b"for", b"role", b"lang", b"width", b"height", b"d",
    ];
    let is_quoted = bare < at && matches!(bytes[bare - 1], b'"' | b'\'');
    let length = bytes[at..].iter().take_while(|b| b.is_ascii_alphanumeric()).count();
    is_quoted
        && bytes.get(at + length) == Some(&b'=')
        && ATTRIBUTES.iter().any(|known| bytes[at..at + length].eq_ignore_ascii_case(known))
}

/// Returns where the value begins if a type is before it: `name: Type = …`, `var name string = …`.
fn typed_assignment(bytes: &[u8], at: usize) -> Option<usize> {
    let start = if bytes.get(at) == Some(&b':') { skip(bytes, at + 1, b" \t") } else { at };
    if !bytes.get(start).is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'&' | b'*' | b'[')) {
        return None;
    }
    let window = &bytes[start..bytes.len().min(start + LONGEST_TYPE)];
    let length =
        window.iter().position(|b| !(b.is_ascii_alphanumeric() || b"_[]. |?&<>*:\t,'".contains(b)))?;
    let is_assigned = window[length] == b'=' && window.get(length + 1) != Some(&b'=') && 0 < length;
    // In a sentence, words follow each other; a type is one word, or begins after a colon.
    let words = window[..length].split(|b| *b == b' ').filter(|word| !word.is_empty()).count();
    (is_assigned && (words <= 1 || start != at)).then_some(start + length + 1)
}

/// Skips what wraps a text: a prefix of its quote, a call, brackets.
fn skip_wrapper(bytes: &[u8], start: usize) -> usize {
    const LONGEST_CALL: usize = 40;
    let mut at = start;
    for _ in 0..3 {
        let end = bytes.len().min(at + LONGEST_CALL);
        let name = bytes[at..end]
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':' | b'&' | b'*' | b'@'))
            .count();
        match bytes.get(at + name) {
            Some(b'"' | b'\'' | b'`') if name <= 2 || bytes[at..at + name].ends_with(b"@") => {
                return at + name;
            }
            Some(b'(' | b'[' | b'{') if name == 0 || is_wrapping(&bytes[at..at + name]) => {
                at = skip_line_break(bytes, at + name + 1);
            }
            _ => return at,
        }
    }
    at
}

/// Returns whether a function only changes the type of a text.
fn is_wrapping(name: &[u8]) -> bool {
    const WRAPPERS: [&str; 14] = [
        "string", "str", "secret", "secretstr", "secretstring", "new", "from", "bytes", "byte", "text",
        "assign", "to_owned", "string_view", "equals",
    ];
    let last = name.rsplit(|b| matches!(b, b'.' | b':')).next().unwrap_or_default();
    WRAPPERS.iter().any(|known| last.eq_ignore_ascii_case(known.as_bytes()))
}

/// Returns the text between the quotes that begin at a position.
fn quoted_at(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let is_escaped = bytes.get(at) == Some(&b'\\');
    let open = at + usize::from(is_escaped);
    let quote = *bytes.get(open).filter(|b| matches!(b, b'"' | b'\'' | b'`'))?;
    let is_triple = bytes.get(open + 1) == Some(&quote) && bytes.get(open + 2) == Some(&quote);
    let start = open + if is_triple { 3 } else { 1 };
    let end = bytes.len().min(start + LONGEST_VALUE);
    let mut at = start;
    while at < end {
        match bytes[at] {
            b'\n' if !is_triple => return None,
            b'\\' if is_escaped && bytes.get(at + 1) == Some(&quote) => return Some(start..at),
            // The escape of a line's end is not part of the value that it ends.
            b'\\' if matches!(bytes.get(at + 1), Some(b'n' | b'r')) && start + 6 <= at => {
                return Some(start..at);
            }
            b'\\' if !is_escaped && quote != b'`' => at += 1,
            b if b == quote => return (start < at).then_some(start..at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns the unquoted value at a position: up to a space or a quote.
fn plain_at(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let end = bytes.len().min(at + LONGEST_VALUE);
    let window = bytes.get(at..end)?;
    let length = window.iter().enumerate().position(|(i, b)| {
        b.is_ascii_whitespace()
            || matches!(b, b'"' | b'\'' | b'`')
            || *b == b'\\' && matches!(window.get(i + 1), Some(b'n' | b'r' | b'"' | b't'))
    });
    let mut end = at + length.unwrap_or(window.len());
    // A cut at the limit may be within a character.
    while end < bytes.len() && bytes[end] & 0xc0 == 0x80 {
        end += 1;
    }
    (at < end).then_some(at..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str) {
        let end = text.find("NAME").unwrap() + 4;
        let found = value_after(text, end).map(|value| &text[value.span]);
        assert_eq!(found, Some("the-value"), "{text}");
    }

    #[test]
    fn a_value_is_found_in_every_notation() {
        for text in [
            "NAME=the-value",
            "NAME = \"the-value\"",
            "var NAME string = \"the-value\"",
            "let NAME: Option<&str> = 'the-value'",
            "$NAME .= 'the-value';",
            "NAME ::= the-value",
            "NAME :::= \"the-value\"",
            "NAME ?= the-value",
            "NAME := `the-value`",
            "{\"a\": \"NAME=the-value\\nB=true\"}",
            "\\\"NAME\\\": \\\"the-value\\\"",
            "<NAME>the-value",
            "<NAME>\n  the-value",
            "NAME => 'the-value'",
            "set('NAME', 'the-value')",
            "name='NAME' value='the-value'",
            "- name: NAME\n  value: the-value",
            "char NAME[25] = \"the-value\";",
            "NAME = @\"the-value\"",
            "NAME(\"the-value\")",
            "NAME = String::from(\"the-value\")",
            "NAME{\n  \"the-value\"};",
            "NAME\n    = \"the-value\";",
            "NAME: \"\"\"the-value\"\"\"",
            "NAME \"the-value\"",
            "x || NAME || 'the-value'",
            "NAME - 'the-value'",
            "NAME |the-value",
        ] {
            check(text);
        }
    }

    #[test]
    fn text_after_an_empty_assignment_is_not_its_value() {
        for text in ["NAME=\nHOST_OTHER=h\n", "NAME =\n  other=1\n", "NAME=\r\nx.y="] {
            assert_eq!(value_after(text, 4), None, "{text}");
        }
    }

    #[test]
    fn text_in_a_scope_or_after_a_call_is_not_a_value() {
        for text in ["NAME::the_value {", "NAME::{the, value}", "set(NAME), \"the-value\""] {
            assert_eq!(value_after(text, text.find("NAME").unwrap() + 4), None, "{text}");
        }
    }

    #[test]
    fn a_compared_value_may_come_first() {
        let text = "if (\"the-value\" === NAME)";
        let found = value_before(text, text.find("NAME").unwrap()).unwrap();
        assert_eq!(&text[found.span], "the-value");
        assert_eq!(value_before("f(\"a\", NAME)", 7), None);
    }
}

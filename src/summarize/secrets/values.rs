//! Properties of names and values that make them secrets, for both policies.

use crate::summarize::redact::is_flag;
use crate::summarize::redact::is_reference;

/// Returns the entropy of a text in bits per character, by the frequency of its bytes.
pub(super) fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let all = f64::from(counts.iter().sum::<u32>().max(1));
    let parts = counts.iter().filter(|count| 0 < **count).map(|count| f64::from(*count) / all);
    -parts.map(|part| part * part.log2()).sum::<f64>()
}

/// Returns whether a text is a typical filler for a token: `xxxxxxxx`, `0123456789abcdef`, AWS's example.
pub(super) fn is_filler(value: &str) -> bool {
    const FILLERS: [&str; 7] =
        ["xxxxxx", "******", "......", "000000000", "123456789012", "abcdefghijklm", "example"];
    let small = value.to_ascii_lowercase();
    FILLERS.iter().any(|filler| small.contains(filler))
}

/// Returns whether a value is a placeholder: `${TOKEN}`, `<your key>`, `changeme`.
pub(super) fn is_placeholder(value: &str) -> bool {
    const PARTS: [&str; 19] = [
        "change_me",
        "changeme",
        "change-me",
        "placeholder",
        "your_",
        "your-",
        "yourpass",
        "yourkey",
        "yourtoken",
        "dummy",
        "redacted",
        "insert",
        "not-a-",
        "notasecret",
        "sample",
        "xxxx",
        "****",
        "todo",
        "fixme",
    ];
    let bare = value.trim().trim_matches(['"', '\'', '`']);
    if is_reference(bare) || is_flag(bare) || is_filler(bare) || is_made_at_run_time(bare) {
        return true;
    }
    let small = bare.to_ascii_lowercase();
    PARTS.iter().any(|part| small.contains(part)) || is_common_word(&small)
}

/// Returns whether a value is computed at run time.
fn is_made_at_run_time(value: &str) -> bool {
    let wraps = [("<", ">"), ("{", "}"), ("[", "]"), ("%", "%"), ("@", "@"), ("__", "__"), ("(", ")")];
    wraps.iter().any(|(open, close)| value.starts_with(open) && value.ends_with(close))
        || ["$(", "${", "{{", "{%", "<%", "#{", "%(", "%{", "%s", "%d", "\\(", "{0}", "{}"]
            .iter()
            .any(|mark| value.contains(mark))
        || value.strip_prefix('$').is_some_and(is_name)
        || value.starts_with("ENC[")
        || value.starts_with('%') && 2 <= value.matches('%').count() && value.ends_with(['%', '\\'])
        || value.starts_with("!vault")
        || value.starts_with("vault:")
        || value.starts_with("op://")
        || value.starts_with("ref+")
}

fn is_name(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':'))
}

/// Returns whether a lowercase value consists of words that are common in documents and tests, with only digits and
/// marks besides: `password1`, `my_secret`, `test-token`.
fn is_common_word(small: &str) -> bool {
    const WORDS: [&str; 60] = [
        "a",
        "abc",
        "access",
        "admin",
        "alice",
        "api",
        "apikey",
        "app",
        "auth",
        "bar",
        "baz",
        "bearer",
        "bob",
        "client",
        "correct",
        "credentials",
        "db",
        "default",
        "demo",
        "fake",
        "foo",
        "guest",
        "hash",
        "hello",
        "id",
        "invalid",
        "key",
        "me",
        "mock",
        "mypass",
        "mysql",
        "my",
        "new",
        "no",
        "none",
        "of",
        "old",
        "pass",
        "passphrase",
        "passwd",
        "password",
        "passwords",
        "postgres",
        "scott",
        "tiger",
        "private",
        "pwd",
        "root",
        "secret",
        "some",
        "test",
        "testing",
        "the",
        "token",
        "user",
        "username",
        "value",
        "wrong",
        "word",
        "your",
    ];
    let mut parts =
        small.split(|c: char| !c.is_ascii_alphabetic()).filter(|part| !part.is_empty()).peekable();
    let digits = small.bytes().filter(u8::is_ascii_digit).count();
    digits <= 4 && parts.peek().is_some() && parts.all(|part| WORDS.contains(&part))
}

/// Returns whether a value was chosen by a person or a program: it is not a word, a name, a path or a sentence.
pub(super) fn is_chosen(value: &str) -> bool {
    const SHORTEST: usize = 6;
    if value.len() < SHORTEST || value.contains(char::is_whitespace) || is_placeholder(value) {
        return false;
    }
    let has = |test: fn(&u8) -> bool| value.bytes().any(|b| test(&b));
    let (digit, small, capital) =
        (has(u8::is_ascii_digit), has(u8::is_ascii_lowercase), has(u8::is_ascii_uppercase));
    let mark = value.bytes().any(|b| b.is_ascii_punctuation() && !b"._-/:".contains(&b));
    if is_path(value) || is_dotted_name(value) || !value.is_ascii() && !digit {
        return false;
    }
    match (digit, small || capital, mark) {
        (true, true, _) | (_, true, true) => 2.2 <= entropy(value),
        (true, false, true) => true,
        (true, false, false) => 8 <= value.len(),
        (false, true, false) => small && capital && 16 <= value.len() && is_mixed(value),
        (false, false, _) => false,
    }
}

/// Returns whether letters alternate randomly between small and capital, unlike in `camelCase`.
fn is_mixed(value: &str) -> bool {
    let changes = value
        .as_bytes()
        .windows(2)
        .filter(|pair| pair[0].is_ascii_uppercase() != pair[1].is_ascii_uppercase());
    value.len() <= changes.count() * 3
}

/// Returns whether a value is a qualified name in settings: `hashers.MD5PasswordHasher`.
fn is_dotted_name(value: &str) -> bool {
    const SHORTEST: usize = 16;
    let is_part = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    let small = value.to_ascii_lowercase();
    let says_so =
        value.contains('.') || ["password", "hasher", "token", "secret"].iter().any(|w| small.contains(w));
    SHORTEST <= value.len() && says_so && value.split('.').all(is_part) && !is_random(value)
}

fn is_path(value: &str) -> bool {
    let parts = value.split('/').count();
    value.starts_with(['/', '~', '.']) && 1 < parts && !is_random(value)
        || value.contains("://")
        || value.contains("...")
}

/// Returns whether a value could be a name or an expression of a program.
pub(super) fn is_code(value: &str) -> bool {
    let plain = value.trim_end_matches(['.', ';', ',']);
    let Some(first) = plain.bytes().next() else { return true };
    let named = (first.is_ascii_alphabetic() || b"_$@&*!~-".contains(&first))
        && plain.bytes().skip(1).all(|b| b.is_ascii_alphanumeric() || b"_.:[]#?/|\\".contains(&b));
    named && !is_random(plain)
        || plain.contains(['(', '[', '{', '<'])
        || plain.contains("->")
        || plain.contains("::")
}

/// Returns whether letters and digits are mixed randomly: long, and with many changes between them.
pub(super) fn is_random(value: &str) -> bool {
    let class = |b: u8| match b {
        b'a'..=b'z' => 0_u8,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let changes = value.as_bytes().windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    // Hexadecimal has only two classes, and fewer changes between them.
    let is_hexadecimal = value.bytes().all(|b| b.is_ascii_hexdigit());
    let mixed = if is_hexadecimal { changes * 4 } else { changes * 5 / 2 };
    2 <= digits && 8 <= value.len() && value.len() <= mixed && 2.8 <= entropy(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_a_secret_is_none() {
        for value in [
            "${TOKEN}",
            "{{ token }}",
            "<your key>",
            "changeme",
            "password1",
            "my-secret",
            "test_token",
            "$TOKEN",
            "%(password)s",
            "xxxxxxxxxxxx",
            "AKIAIOSFODNN7EXAMPLE",
            "true",
            "op://vault/item",
            "{password}",
        ] {
            assert!(is_placeholder(value), "{value}");
        }
        for value in ["hunter2", "Tr0ub4dor&3", "s3cr3t!x", "pa$$w0rd"] {
            assert!(!is_placeholder(value), "{value}");
        }
    }

    #[test]
    fn a_chosen_value_is_no_word_name_or_path() {
        for value in
            ["hunter2!", "Tr0ub4dor&3", "q8Zt3Lw0pX", "correct-h0rse", "98761234", "aGVsbG9Xb3JsZHRoZQ=="]
        {
            assert!(is_chosen(value), "{value}");
        }
        for value in
            ["password", "my_password", "auth.User", "/etc/passwd", "a b c d e 1", "csrfmiddlewaretoken", ""]
        {
            assert!(!is_chosen(value), "{value}");
        }
    }

    #[test]
    fn an_expression_is_told_from_a_text() {
        for value in ["self.password", "get_token()", "hash1", "PyObject_1", "foo->bar", "args[0]", "sha256"]
        {
            assert!(is_code(value), "{value}");
        }
        for value in ["q8Zt3Lw0pX9k", "hunter2!", "Tr0ub4dor%3"] {
            assert!(!is_code(value), "{value}");
        }
    }
}

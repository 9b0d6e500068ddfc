//! Properties of names and values that make them secrets, for both policies.

use std::ops::Range;

use memchr::memmem;

use super::generated::{is_camel_case, is_generated};

/// What a detection is for, which decides on which side it errs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SecretPolicy {
    /// A line is shown to a reader: in doubt a word is redacted.
    Display,
    /// A file is sent to a provider: a false alarm may withhold all of it.
    Prompt,
}

/// How secret the value of a key is, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KeySecrecy {
    Public,
    /// Texts are secret, numbers are not (`session_timeout = 30`, `max_tokens = 4096`).
    Texts,
    /// All texts and numbers are secret, at any depth.
    All,
}

/// Returns how secret the value of a key such as `db.password`, `apiKey` or `AUTHORS` is.
pub(crate) fn key_secrecy(key: &str) -> KeySecrecy {
    const EVERYWHERE: [&str; 11] = [
        "password", "passwd", "passphrase", "secret", "apikey", "accesskey", "privatekey", "encryptionkey",
        "signingkey", "connectionstring", "credential",
    ];
    // Not within other words, such as `compass` and `bypass`.
    const AS_A_WORD: [&str; 3] = ["pwd", "pass", "pw"];
    const TEXTS: [&str; 12] = [
        "auth", "authorization", "cookie", "cookies", "dsn", "jwt", "otp", "private", "session", "sessionid",
        "signature", "tokens",
    ];
    let words = key_words(key);
    let compact = words.concat();
    let named = EVERYWHERE.iter().any(|part| compact.contains(part));
    if named || words.iter().any(|word| AS_A_WORD.contains(&word.as_str()) || word.ends_with("token")) {
        return KeySecrecy::All;
    }
    if words.iter().any(|word| TEXTS.contains(&word.as_str())) {
        return KeySecrecy::Texts;
    }
    KeySecrecy::Public
}

/// Returns whether a value only refers to a secret: `${DB_PASSWORD}`, `{{ .Values.password }}`.
pub(crate) fn is_reference(value: &str) -> bool {
    let value = value.trim();
    let inside = value
        .strip_prefix("${{")
        .or_else(|| value.strip_prefix("{{"))
        .and_then(|rest| rest.strip_suffix("}}"))
        .or_else(|| value.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')));
    inside.is_some_and(|name| {
        name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b' ' | b'$'))
    })
}

/// Returns whether a value is a boolean or null, which is never a secret.
pub(crate) fn is_flag(value: &str) -> bool {
    // `secrets: inherit` passes the secrets of a workflow on.
    const FLAGS: [&str; 10] = ["true", "false", "yes", "no", "on", "off", "null", "none", "~", "inherit"];
    FLAGS.iter().any(|flag| value.eq_ignore_ascii_case(flag))
}

/// Returns the user information of URLs that contains a secret.
pub(crate) fn url_secrets(text: &str) -> Vec<Range<usize>> {
    const MARK: &str = "://";
    // Without a password, the user may be a token, as in `https://ghp_…@github.com`. Names are shorter.
    const LONGEST_PLAIN_USER: usize = 20;
    // Bounded, so that a long text full of `://` is not searched to its end for each of them.
    const LONGEST_ADDRESS: usize = 512;
    let mut found = Vec::new();
    let mut done = 0;
    while let Some(mark) = memmem::find(&text.as_bytes()[done..], MARK.as_bytes()) {
        let start = done + mark + MARK.len();
        let after = &text[start..];
        let near = &after[..after.floor_char_boundary(LONGEST_ADDRESS)];
        let run = &near[..near.find(is_end_of_address).unwrap_or(near.len())];
        done = start;
        let Some(at) = user_info_end(run) else { continue };
        let user_info = &run[..at];
        if user_info.contains(':') || LONGEST_PLAIN_USER <= user_info.len() {
            found.push(start..start + at);
            done = start + at;
        }
    }
    found
}

fn is_end_of_address(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>')
}

/// Returns the offset of the `@` that ends the user information of a URL.
fn user_info_end(address: &str) -> Option<usize> {
    let authority = &address[..address.find(['/', '?', '#']).unwrap_or(address.len())];
    // The last one: a password may contain an unescaped `@`, and its end must not remain.
    if let Some(at) = authority.rfind('@') {
        return Some(at);
    }
    // If the password contains an unescaped `/`, what follows the colon is not a port.
    let (_, port) = authority.split_once(':')?;
    if port.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    address.rfind('@')
}

/// Splits a key into lowercase words: `dbPassword`, `DB_PASSWORD` and `db-password` are equal.
pub(crate) fn key_words(key: &str) -> Vec<String> {
    const LONGEST: usize = 200;
    let key = &key[..key.floor_char_boundary(LONGEST)];
    let mut words = vec![String::new()];
    let mut after_small = false;
    for c in key.chars() {
        let starts_word = after_small && c.is_uppercase();
        if (starts_word || !c.is_alphanumeric()) && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        after_small = c.is_lowercase();
    }
    words
}

/// Returns the entropy of a text in bits per character, by the frequency of its bytes.
pub(crate) fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    // An empty text must not cause a division by zero.
    let all = f64::from(counts.iter().sum::<u32>().max(1));
    let parts = counts.iter().filter(|count| 0 < **count).map(|count| f64::from(*count) / all);
    -parts.map(|part| part * part.log2()).sum::<f64>()
}

/// Returns whether a text is a typical filler for a token: `xxxxxxxx`, `0123456789abcdef`, AWS's example. A small part
/// of a long text may be one by chance.
pub(crate) fn is_filler(value: &str) -> bool {
    const FILLERS: [&str; 7] =
        ["xxxxxx", "******", "......", "000000000", "123456789012", "abcdefghijklm", "example"];
    // 1/`LEAST_SHARE` of the bytes has to be filler.
    const LEAST_SHARE: usize = 12;
    let small = value.to_ascii_lowercase();
    let is_most = |filler: &str| {
        let bytes = small.matches(filler).count() * filler.len();
        0 < bytes && value.len() <= bytes * LEAST_SHARE
    };
    FILLERS.iter().any(|filler| is_most(filler))
}

/// Returns whether a value is a placeholder: `${TOKEN}`, `<your key>`, `changeme`.
pub(crate) fn is_placeholder(value: &str) -> bool {
    // The last one is the signature of every `CACHEDIR.TAG`.
    const PARTS: [&str; 20] = [
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
        "8a477f597d28d172789f06886806bc55",
    ];
    let bare = value.trim().trim_matches(['"', '\'', '`', '\\']);
    if is_reference(bare) || is_flag(bare) || is_filler(bare) || is_made_at_run_time(bare) {
        return true;
    }
    let small = bare.to_ascii_lowercase();
    PARTS.iter().any(|part| small.contains(part)) || is_common_word(&small) || is_algorithm(&small)
}

/// Returns whether a lowercase value names how something is hashed, signed, encrypted or encoded: `base64`,
/// `pbkdf2-sha256`, `aes-256-gcm`.
fn is_algorithm(small: &str) -> bool {
    const WORDS: [&str; 54] = [
        "aes", "argon2", "argon2i", "argon2id", "base32", "base58", "base64", "base64url", "bcrypt",
        "blake2", "blake2b", "blake2s", "blake3", "cbc", "chacha20", "crc32", "ctr", "curve25519", "des",
        "des3", "ecdsa", "ed25519", "eddsa", "es256", "es384", "gcm", "hmac", "hs256", "hs384", "hs512",
        "md5", "oauth", "oauth2", "pbkdf2", "pkcs1", "pkcs8", "pkcs12", "poly1305", "ps256", "rs256",
        "rs512", "rsa", "scram", "scrypt", "sha", "sha1", "sha224", "sha256", "sha384", "sha512", "utf",
        "utf8", "x25519", "x509",
    ];
    let is_size = |part: &str| part.len() <= 4 && part.bytes().all(|b| b.is_ascii_digit());
    let mut parts = small.split(['-', '_', '/', '.']).peekable();
    parts.peek().is_some_and(|first| !is_size(first))
        && parts.all(|part| WORDS.contains(&part) || is_size(part))
}

/// Returns whether a value is computed at run time.
fn is_made_at_run_time(value: &str) -> bool {
    let wraps = [("<", ">"), ("{", "}"), ("[", "]"), ("%", "%"), ("@", "@"), ("__", "__"), ("(", ")")];
    wraps.iter().any(|(open, close)| value.starts_with(open) && value.ends_with(close))
        || has_expression(value)
        || ["$(", "{%", "<%", "#{", "%(", "%{", "%s", "%d", "\\(", "{0}", "{}"]
            .iter()
            .any(|mark| value.contains(mark))
        || value.strip_prefix('$').is_some_and(|rest| is_name(rest.split('/').next().unwrap_or_default()))
        || value.starts_with('<') && value.contains('>')
        || value.starts_with("ENC[")
        || value.starts_with('%') && 2 <= value.matches('%').count() && value.ends_with(['%', '\\'])
        || value.starts_with("!vault")
        || value.starts_with("vault:")
        || value.starts_with("op://")
        || value.starts_with("ref+")
}

/// Returns whether a value contains a reference: `${NAME}` or `{{ name }}`. Other brackets may be part of a password.
fn has_expression(value: &str) -> bool {
    let closed = |open: &str, close: &str| {
        value.match_indices(open).any(|(at, _)| {
            let rest = &value[at + open.len()..];
            rest.find(close).is_some_and(|end| !rest[..end].contains(['{', '}', ']', '<', '>', '#']))
        })
    };
    closed("{{", "}}")
        || closed("${", "}")
        || value.starts_with("${")
        || value.ends_with("${")
        || value.ends_with("{{")
}

/// Returns whether a value closes a bracket that it did not open, other than at its end: no expression does.
pub(crate) fn has_stray_bracket(value: &str) -> bool {
    let mut open = Vec::new();
    for c in value.trim_end_matches([')', ']', '}', '>', ';', ':', ',']).chars() {
        match c {
            '(' => open.push(')'),
            '[' => open.push(']'),
            '{' => open.push('}'),
            ')' | ']' | '}' if open.pop() != Some(c) => return true,
            _ => {}
        }
    }
    false
}

/// Returns whether a password is the name of the variable that has it: `https://USER:SHOP_PASSWORD@host`.
pub(crate) fn is_variable(password: &str) -> bool {
    password.contains('_')
        && password.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        && key_secrecy(password) != KeySecrecy::Public
}

fn is_name(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':'))
}

/// Returns whether a lowercase value consists of words that are common in documents and tests, with only digits and
/// marks besides: `password1`, `my_secret`, `test-token`.
fn is_common_word(small: &str) -> bool {
    const WORDS: [&str; 60] = [
        "a", "abc", "access", "admin", "alice", "api", "apikey", "app", "auth", "bar", "baz", "bearer",
        "bob", "client", "correct", "credentials", "db", "default", "demo", "fake", "foo", "guest", "hash",
        "hello", "id", "invalid", "key", "me", "mock", "mypass", "mysql", "my", "new", "no", "none", "of",
        "old", "pass", "passphrase", "passwd", "password", "passwords", "postgres", "scott", "tiger",
        "private", "pwd", "root", "secret", "some", "test", "testing", "the", "token", "user", "username",
        "value", "wrong", "word", "your",
    ];
    let mut parts =
        small.split(|c: char| !c.is_ascii_alphabetic()).filter(|part| !part.is_empty()).peekable();
    let digits = small.bytes().filter(u8::is_ascii_digit).count();
    let letters = small.bytes().filter(u8::is_ascii_alphabetic).count();
    digits <= 4
        && small.len() <= letters * 2 + digits
        && parts.peek().is_some()
        && parts.all(|part| WORDS.contains(&part))
}

/// Returns whether a value was chosen by a person or a program: it is not a word, a name, a path or a sentence.
pub(crate) fn is_chosen(value: &str) -> bool {
    const SHORTEST: usize = 6;
    if value.len() < SHORTEST || value.contains(char::is_whitespace) || is_placeholder(value) {
        return false;
    }
    let has = |test: fn(&u8) -> bool| value.bytes().any(|b| test(&b));
    let (digit, small, capital) =
        (has(u8::is_ascii_digit), has(u8::is_ascii_lowercase), has(u8::is_ascii_uppercase));
    let mark = value.bytes().any(|b| b.is_ascii_punctuation() && !b"._-/:".contains(&b));
    let marks = value.bytes().filter(|b| b"@*#$%&!^".contains(b)).count();
    if is_path(value) || is_dotted_name(value) || !value.is_ascii() && !digit && marks < 2 {
        return false;
    }
    match (digit, small || capital, mark) {
        (true, true, _) | (_, true, true) => 2.2 <= entropy(value),
        (true, false, true) => true,
        (true, false, false) => 8 <= value.len(),
        (false, true, false) => {
            // A private class has an underscore before its name.
            let is_class = is_camel_case(value.trim_start_matches('_'));
            16 <= value.len() && is_mixed(value) && !is_class || is_thoroughly_mixed(value)
        }
        (false, false, _) => false,
    }
}

/// Returns whether letters alternate randomly between small and capital, unlike in `camelCase`.
fn is_mixed(value: &str) -> bool {
    value.len() <= case_changes(value) * 3
}

/// Returns whether every second letter or so is of the other case than the one before, so that even a short word
/// without digits is none.
pub(crate) fn is_thoroughly_mixed(value: &str) -> bool {
    const SHORTEST: usize = 12;
    // Of random letters, half are capitals; of `RegQueryValueExW`, less than a third.
    let capitals = value.bytes().filter(u8::is_ascii_uppercase).count();
    SHORTEST <= value.len()
        && value.len() <= capitals * 3
        && value.bytes().all(|b| b.is_ascii_alphanumeric())
        && value.len() <= case_changes(value) * 2
}

fn case_changes(value: &str) -> usize {
    let pairs = value.as_bytes().windows(2);
    pairs.filter(|pair| pair[0].is_ascii_uppercase() != pair[1].is_ascii_uppercase()).count()
}

/// Returns whether a value is a qualified name in settings: `hashers.MD5PasswordHasher`.
fn is_dotted_name(value: &str) -> bool {
    const SHORTEST: usize = 16;
    let is_part = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
    };
    let small = value.to_ascii_lowercase();
    let says_so =
        value.contains('.') || ["password", "hasher", "token", "secret"].iter().any(|w| small.contains(w));
    SHORTEST <= value.len()
        && says_so
        && value.split('.').all(is_part)
        && !is_random(value, SecretPolicy::Prompt)
}

fn is_path(value: &str) -> bool {
    let parts = value.split('/').count();
    let is_name = |part: &str| {
        let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b);
        !part.is_empty() && part.bytes().all(is_plain) && !is_random(part, SecretPolicy::Prompt)
    };
    // That of a package: `github.com/cli/cli/v2/pkg`.
    let is_package = 2 < parts && value.split('/').all(is_name);
    value.starts_with(['/', '~', '.']) && 1 < parts && !is_random(value, SecretPolicy::Prompt)
        || is_package
        || value.starts_with("//")
        || value.contains("://")
        || value.contains("...")
}

/// Returns whether a value could be a name or an expression of a program.
pub(crate) fn is_code(value: &str) -> bool {
    // What closes an expression around it, or counts it up or down, is not part of a name.
    let plain = value.trim_end_matches(['.', ';', ':', ',', ')', ']', '}', '+', '-']);
    let Some(first) = plain.bytes().next() else { return true };
    let named = (first.is_ascii_alphabetic() || b"_$@&*!~-".contains(&first))
        && plain.bytes().skip(1).all(|b| b.is_ascii_alphanumeric() || b"_.:[]#?/|\\".contains(&b));
    named && !is_random(plain, SecretPolicy::Prompt)
        || plain.contains(['(', '[', '{', '<'])
        || plain.contains("->")
        || plain.contains("::")
}

/// Returns whether a text mixes its characters randomly.
///
/// Counted are the changes between small letters, capitals, digits and marks: two of three neighbors differ in random
/// base64, two of five in `longNamesInCamelCase`.
pub(crate) fn is_random(value: &str, policy: SecretPolicy) -> bool {
    let least = match policy {
        // Nothing but the word itself is known, so it must be long.
        SecretPolicy::Display => 32,
        // The name or the shape of the value is evidence, too.
        SecretPolicy::Prompt => 8,
    };
    if value.len() < least {
        return false;
    }
    let class = |b: u8| match b {
        b'a'..=b'z' => 0_usize,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let mut counts = [0_usize; 4];
    value.bytes().for_each(|b| counts[class(b)] += 1);
    let changes = |counts: fn(usize) -> bool| {
        let classes = value.as_bytes().windows(2).map(|pair| (class(pair[0]), class(pair[1])));
        classes.filter(|(left, right)| left != right && counts(*left) && counts(*right)).count()
    };
    match policy {
        // Hexadecimal digests have no capitals and are kept. Marks separate the words of names and paths.
        SecretPolicy::Display => {
            let length: usize = counts[..3].iter().sum();
            counts[..3].iter().all(|count| 0 < *count) && length * 9 <= changes(|class| class < 3) * 20
        }
        // Hexadecimal has only two classes, and fewer changes between them.
        SecretPolicy::Prompt => {
            let is_hexadecimal = value.bytes().all(|b| b.is_ascii_hexdigit());
            let changes = changes(|_| true);
            let mixed = if is_hexadecimal { changes * 4 } else { changes * 5 / 2 };
            2 <= counts[2] && value.len() <= mixed && 2.8 <= entropy(value) || is_generated(value)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_not_secrets() {
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
            "base64",
            "PBKDF2-SHA256",
            "aes-256-gcm",
        ] {
            assert!(is_placeholder(value), "{value}");
        }
        for value in ["hunter2", "Tr0ub4dor&3", "s3cr3t!x", "pa$$w0rd", "base64x", "2048"] {
            assert!(!is_placeholder(value), "{value}");
        }
    }

    #[test]
    fn a_chosen_value_is_not_a_word_name_or_path() {
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
    fn an_expression_is_distinguished_from_a_text() {
        for value in ["self.password", "get_token()", "hash1", "PyObject_1", "foo->bar", "args[0]", "sha256"]
        {
            assert!(is_code(value), "{value}");
        }
        for value in ["q8Zt3Lw0pX9k", "hunter2!", "Tr0ub4dor%3"] {
            assert!(!is_code(value), "{value}");
        }
    }
}

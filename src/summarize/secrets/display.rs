//! Redaction of what is displayed: passwords, tokens, keys.
//!
//! Secrets are recognized by the *name* of a value and by the *shape* of a text. In doubt a text is redacted: a false
//! alarm costs a word, a miss costs a key.

use std::borrow::Cow;

use super::rules::has_display_prefix;
use super::values::{KeySecrecy, SecretPolicy, is_flag, is_random, is_reference, key_secrecy, url_secrets};

pub(crate) const REDACTED: &str = "[redacted]";

pub(crate) fn redact_line(line: &str) -> String {
    // The order matters: a password in a URL may look like an assignment, and its value like a token.
    let line = without_pem(line);
    let line = without_url_passwords(&line);
    let line = without_assigned_secrets(&line);
    without_secret_tokens(&line)
}

/// Redacts the PEM blocks in a text; an unclosed one extends to the end.
pub(crate) fn without_pem(text: &str) -> Cow<'_, str> {
    const BEGIN: &str = "-----BEGIN ";
    const END: &str = "-----END ";
    if !text.contains(BEGIN) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find(BEGIN) {
        safe.push_str(&rest[..begin]);
        safe.push_str(REDACTED);
        let block = &rest[begin + BEGIN.len()..];
        let Some(end) = block.find(END) else {
            return Cow::Owned(safe);
        };
        let label = &block[end + END.len()..];
        let label_end = label.find("-----").map_or(label.len(), |dashes| dashes + 5);
        rest = &label[label_end..];
    }
    safe.push_str(rest);
    Cow::Owned(safe)
}

/// Redacts `user:password@` in URLs.
fn without_url_passwords(line: &str) -> String {
    let mut safe = String::with_capacity(line.len());
    let mut done = 0;
    for span in url_secrets(line) {
        safe.push_str(&line[done..span.start]);
        safe.push_str(REDACTED);
        done = span.end;
    }
    safe.push_str(&line[done..]);
    safe
}

/// Redacts what is assigned to a secret name: `password="x"`, `"token": "x"`, `--api-key=x`.
fn without_assigned_secrets(line: &str) -> String {
    let mut safe = String::with_capacity(line.len());
    let mut done = 0;
    for (sign, _) in line.match_indices(['=', ':']) {
        if sign < done {
            continue;
        }
        let Some((start, ends)) = value_start(line, sign) else {
            continue;
        };
        if !names_a_secret(&line[done..sign]) {
            continue;
        }
        let end = line[start..].find(ends).map_or(line.len(), |length| start + length);
        let value = &line[start..end];
        if is_harmless(value) || is_own_name(&line[done..sign], value) {
            continue;
        }
        safe.push_str(&line[done..start]);
        safe.push_str(REDACTED);
        done = end;
    }
    safe.push_str(&line[done..]);
    safe
}

/// Returns whether a character ends a value.
type ValueEnd = fn(char) -> bool;

/// Returns where the value after an assignment operator starts, and what ends it; `None` if there is no plain value.
///
/// An unquoted value must directly follow `=`: what follows `: ` in a program is a type.
fn value_start(line: &str, sign: usize) -> Option<(usize, ValueEnd)> {
    const LONGEST_SIGN: usize = 4;
    let signs = line[sign..].bytes().take(LONGEST_SIGN).take_while(|b| b"=:> ".contains(b));
    let start = sign + signs.count();
    match line[start..].chars().next()? {
        '"' => Some((start + 1, |c| c == '"')),
        '\'' => Some((start + 1, |c| c == '\'')),
        // After a colon and a space it begins code within prose: "Session: `Session` sends requests".
        '`' if line[sign..start] != *": " => Some((start + 1, |c| c == '`')),
        _ if line[sign..start].contains([':', ' ']) => None,
        _ => Some((start, |c| c.is_whitespace() || matches!(c, ',' | ';' | '&' | ')' | '"' | '\''))),
    }
}

fn is_harmless(value: &str) -> bool {
    value.len() < 3
        || matches!(value, "None" | "null" | "nil" | "NULL" | "nullptr" | "undefined")
        || is_flag(value)
        || is_reference(value)
        || value == REDACTED
}

/// Returns whether a value is the name that it is assigned to, as in `password: String = "password"`.
fn is_own_name(before: &str, value: &str) -> bool {
    // A type may be between them.
    const NEAR: usize = 2;
    let words = before.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.rev().take(NEAR).any(|word| word.eq_ignore_ascii_case(value))
}

/// Returns whether the words right before an assignment operator name a secret.
fn names_a_secret(before: &str) -> bool {
    const NEAR: usize = 80;
    let near = &before[before.ceil_char_boundary(before.len().saturating_sub(NEAR))..];
    let last = near.rfind([',', ';', '(', '{', '&', '?', '=']).map_or(0, |at| at + 1);
    near[last..]
        .split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.'))
        // `private String name = "…"` is about visibility, not about a secret.
        .any(|word| !word.is_empty() && word != "private" && key_secrecy(word) != KeySecrecy::Public)
}

/// Redacts words that have the shape of a secret.
fn without_secret_tokens(line: &str) -> String {
    let mut safe = String::with_capacity(line.len());
    let mut rest = line;
    let mut after_bearer = false;
    while let Some(start) = rest.find(is_token_char) {
        let token = &rest[start..];
        let token = &token[..token.find(|c| !is_token_char(c)).unwrap_or(token.len())];
        safe.push_str(&rest[..start]);
        let borne = after_bearer && 8 <= token.len() && token.bytes().any(|b| b.is_ascii_digit());
        safe.push_str(if borne || is_secret_token(token) { REDACTED } else { token });
        after_bearer = token.eq_ignore_ascii_case("bearer") || token.eq_ignore_ascii_case("basic");
        rest = &rest[start + token.len()..];
    }
    safe.push_str(rest);
    safe
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '/' | '.')
}

fn is_secret_token(token: &str) -> bool {
    is_json_web_token(token)
        || token.split(['/', '.']).any(has_display_prefix)
        || token.split('.').any(|part| is_random(part, SecretPolicy::Display))
        || token.split('/').any(|part| is_random(part, SecretPolicy::Display))
}

fn is_json_web_token(token: &str) -> bool {
    token.find("eyJ").is_some_and(|start| {
        token[start..].split_once('.').is_some_and(|(_, claims)| claims.starts_with("eyJ"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_name_secrets_are_known() {
        for key in [
            "password",
            "DB_PASSWORD",
            "PGPASSWORD",
            "dbPasswd",
            "db.pwd",
            "client-secret",
            "api_key",
            "apiKey",
            "API-KEY",
            "X-Api-Key",
            "token",
            "accessToken",
            "AUTHTOKEN",
            "aws_secret_access_key",
            "privateKey",
            "credentials",
            "ConnectionString",
            "SMTP_PASS",
        ] {
            assert_eq!(key_secrecy(key), KeySecrecy::All, "{key}");
        }
        for key in ["auth", "session_id", "Cookie", "SENTRY_DSN", "signature", "max_tokens", "private"] {
            assert_eq!(key_secrecy(key), KeySecrecy::Texts, "{key}");
        }
    }

    #[test]
    fn keys_that_only_resemble_secret_names_are_not_secret() {
        for key in [
            "author", "authors", "keywords", "tokenizer", "monkey", "key", "keys", "compass", "passes",
            "name", "", "é",
        ] {
            assert_eq!(key_secrecy(key), KeySecrecy::Public, "{key}");
        }
    }

    #[track_caller]
    fn check(line: &str, expected: &str) {
        assert_eq!(redact_line(line), expected);
        assert_eq!(redact_line(expected), expected, "a second pass changes nothing");
    }

    #[test]
    fn passwords_in_urls_are_redacted() {
        check("postgres://me:s3cr/et@db:5432/x", "postgres://[redacted]@db:5432/x");
        check(
            "see https://u:p@h/a?b and https://x.org:80/a@b",
            "see https://[redacted]@h/a?b and https://x.org:80/a@b",
        );
        check("git@github.com:me/it.git ssh://git@host/x", "git@github.com:me/it.git ssh://git@host/x");
        check("https://0123456789abcdef0123@host", "https://[redacted]@host");
    }

    #[test]
    fn tokens_of_known_issuers_are_redacted() {
        check("id AKIAIOSFODNN7EXAMPLE.", "id [redacted]");
        check("use ghp_0123456789abcdefghijABCDEFGHIJ012345 now", "use [redacted] now");
        check("sk-ant-api03-abcdefghijklmnop", "[redacted]");
        check("xoxb-1234567890-abcdef", "[redacted]");
        check("x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc y", "x [redacted] y");
        check("Authorization: Bearer abcdef123456", "Authorization: Bearer [redacted]");
        check("sk-learn-is-a-library-of-python", "sk-learn-is-a-library-of-python");
    }

    #[test]
    fn long_random_words_are_redacted_and_names_are_not() {
        check("wJa1rXUtnF3mI/K7mD5nG/bPxRf1CY8Xq2PLk0Ey", "[redacted]");
        check("q8Zt3Lw0pXv7Rk2Nf5Yb9Hc4Jd6Gs1Ma", "[redacted]");
        for name in [
            "test_that_a_very_long_name_in_snake_case_2_stays",
            "AbstractSingletonProxyFactoryBeanConfiguration2",
            "/usr/share/doc/python3/examples/Some/Long/Path/file",
            "TestSimulateNoFreeListSync_1op_1p",
            "https://a-b.github.io/Zsh-100-Commits-Club/Zsh-Plugin-Standard.html",
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "550e8400-e29b-41d4-a716-446655440000",
        ] {
            check(name, name);
        }
    }

    #[test]
    fn values_assigned_to_secret_names_are_redacted() {
        check("DB_PASSWORD = \"hunter2\"", "DB_PASSWORD = \"[redacted]\"");
        check(
            "def f(user='me', password: str = 'hunter2', n=3)",
            "def f(user='me', password: str = '[redacted]', n=3)",
        );
        check("static const char *api_token = \"abc\"", "static const char *api_token = \"[redacted]\"");
        check("GET /x?token=abcdef&n=1", "GET /x?token=[redacted]&n=1");
        check("{\"secret\": \"abc\", \"name\": \"abc\"}", "{\"secret\": \"[redacted]\", \"name\": \"abc\"}");
    }

    #[test]
    fn code_that_only_mentions_secrets_is_kept() {
        for line in [
            "def login(user: str, password: str = None) -> Token",
            "private static String name = \"abc\"",
            "int token=0; char *password;",
            "fn secret(&self) -> Secret",
            "token: ${{ secrets.TOKEN }}",
            "Session: `Session` creates requests",
            "func login(user: String = \"user\", password: String = \"password\")",
        ] {
            check(line, line);
        }
    }

    #[test]
    fn pem_blocks_are_redacted_whole_or_to_the_end() {
        let block = "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb";
        assert_eq!(without_pem(block), "a\n[redacted]\nb");
        assert_eq!(without_pem("x -----BEGIN PRIVATE KEY----- MIIE"), "x [redacted]");
        assert_eq!(without_pem("nothing"), "nothing");
    }

    #[test]
    fn a_reference_is_not_a_secret_but_its_default_is() {
        assert!(is_reference("${DB_PASSWORD}"));
        assert!(is_reference("{{ .Values.password }}"));
        assert!(is_reference("${{ secrets.TOKEN }}"));
        assert!(!is_reference("${DB_PASSWORD:-hunter2}"));
        assert!(!is_reference("hunter2"));
    }
}

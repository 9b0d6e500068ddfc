//! Values under names that say that they are secret, in programs, settings and documents alike.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::summarize::redact::Secrecy;
use crate::summarize::redact::of_key;
use crate::summarize::secrets::values::is_chosen;
use crate::summarize::secrets::values::is_code;
use crate::summarize::secrets::values::is_placeholder;
use crate::summarize::secrets::values::is_random;

/// Bytes of a name that is looked at, and of what follows it.
const LONGEST_KEY: usize = 120;
const AFTER: usize = 1200;

/// What may stand between a name and its value, and the value: in quotes, or plain.
static VALUE: LazyLock<Regex> = LazyLock::new(|| {
    let between = concat!(
        r#"^["'`\]\)]{0,2}[ \t]*"#,
        // A type; an attribute or a list of variables, where name and value are apart; a sign.
        r#"(?::[ \t]*[A-Za-z_&][\w\[\]., |?&<>*']{0,40}?=|"#,
        r#"[ \t]*,?[ \t]*\r?\n?[ \t]*["']?value["']?[ \t]*[:=]|"#,
        r#"=>|:=|->|\?=|\+=|={1,3}|!==?|[:,>])[ \t]*(?:\r?\n[ \t]*)?"#,
    );
    let wrapped =
        r"(?:[rbuLRBU@]{1,2}|String\(|str\(|Secret(?:Str|String)?(?:::(?:new|from))?\()?\(?(?:\r?\n[ \t]*)?";
    let quoted = r#"(?:"((?:[^"\\\n]|\\.){1,512})["\\]|'((?:[^'\\\n]|\\.){1,512})['\\]|`([^`\n]{1,512})`)"#;
    let plain = r#"([^\s"'`]{1,512})"#;
    Regex::new(&format!("{between}(?:{wrapped}{quoted}|{plain})")).expect("a fixed pattern")
});

/// Looks at the name that a word is part of. Returns where the name ends, and its value where that is a secret.
pub(super) fn assigned(text: &str, word: &Range<usize>) -> (usize, Option<Range<usize>>) {
    let before = &text.as_bytes()[word.start.saturating_sub(LONGEST_KEY)..word.start];
    let start = word.start - before.iter().rev().take_while(|b| is_key_byte(**b)).count();
    let after = text.as_bytes()[word.end..].iter().take(LONGEST_KEY);
    let end = word.end + after.take_while(|b| is_key_byte(**b)).count();
    (end, value_of(text, start..end))
}

fn is_key_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')
}

fn value_of(text: &str, key: Range<usize>) -> Option<Range<usize>> {
    let rest = &text[key.end..text.floor_char_boundary((key.end + AFTER).min(text.len()))];
    // Most words are part of a sentence or of an expression; the pattern is for the others.
    let sign = rest.bytes().find(|b| !b"\"'`]) \t\r\n".contains(b))?;
    if !b"=:,>-?+!v".contains(&sign) {
        return None;
    }
    let secrecy = of_key(&text[key.clone()]);
    if secrecy == Secrecy::Open || text[key.clone()].to_ascii_lowercase().contains("public") {
        return None;
    }
    let captures = VALUE.captures(rest)?;
    let quoted = captures.get(1).or_else(|| captures.get(2)).or_else(|| captures.get(3));
    let value = quoted.or_else(|| captures.get(4))?;
    let span = key.end + value.start()..key.end + value.end();
    let is_secret = match (secrecy, quoted) {
        (Secrecy::Open, _) => false,
        (Secrecy::Texts, _) => {
            20 <= value.len() && is_random(value.as_str()) && !is_placeholder(value.as_str())
        }
        (Secrecy::All, Some(_)) => is_quoted_secret(value.as_str()),
        (Secrecy::All, None) => return plain_secret(text, &key, span),
    };
    is_secret.then_some(span)
}

fn is_quoted_secret(value: &str) -> bool {
    is_chosen(value)
        && !value.contains("\\u")
        && !(value.contains(['(', '[', '*', '^']) && value.contains('\\'))
}

/// Returns what of a value without quotes is a secret: an expression of a program looks much like one.
fn plain_secret(text: &str, key: &Range<usize>, span: Range<usize>) -> Option<Range<usize>> {
    let value = &text[span.clone()];
    let name = &text[key.clone()];
    let between = &text[key.end..span.start];
    if between.contains(',') || is_number(value) && !name.to_ascii_lowercase().contains("pass") {
        return None;
    }
    let line = text[..key.start].rfind('\n').map_or(0, |at| at + 1);
    let begins = text[line..key.start].trim().trim_start_matches(['#', '-', ';', '/', '"', '\'', ' ']);
    let ends = text[span.end..].lines().next().unwrap_or_default().trim_start();
    let is_line = (between.contains("value")
        || matches!(begins, "" | "export" | "set" | "setx" | "ENV" | "ARG" | "environment"))
        && (ends.is_empty() || ends.starts_with('#'));
    if is_line && between == "=" && !name.bytes().any(|b| b.is_ascii_lowercase()) {
        let is_password = name.contains("PASS") && 6 <= value.len() && !is_placeholder(value);
        let is_word = is_password && value.bytes().all(|b| b.is_ascii_alphanumeric());
        return (is_chosen(value) || is_word).then_some(span);
    }
    // In settings, what follows a colon is a text; in programs it is a type, and those are short or have no digits.
    let may_be_name = is_line && between.trim() == ":" && 8 <= value.len() && is_word_with_digits(value);
    if is_line && is_chosen(value) && (may_be_name || !is_code(value)) {
        return Some(span);
    }
    // Amid other things it ends at a sign; and what is called, or looked up in, is a name.
    let end = value.find([',', ';', '&', '<', '>', '(', ')', '[', ']', '{', '}', '|', '\\']);
    let (value, rest) = value.split_at(end.unwrap_or(value.len()));
    let is_called = rest.starts_with(['(', '[']) || rest.is_empty() && ends.starts_with(['(', '[']);
    let is_secret = is_chosen(value) && !is_code(value) && is_random(value) && !is_called;
    is_secret.then(|| span.start..span.start + value.len())
}

fn is_word_with_digits(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    2 <= digits && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
}

fn is_number(value: &str) -> bool {
    value.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn value(text: &str) -> Option<&str> {
        let at = ["pass", "Pass", "PASS", "secret", "SECRET", "token", "TOKEN"]
            .iter()
            .find_map(|word| text.find(word).map(|at| at..at + word.len()));
        assigned(text, &at.unwrap()).1.map(|span| &text[span])
    }

    #[test]
    fn values_of_secret_names_are_found_in_all_notations() {
        for text in [
            "password = \"hunter2!\"",
            "\"db_password\": \"hunter2!\",",
            "password: str = 'hunter2!'",
            "const char *password = \"hunter2!\";",
            "define('DB_PASSWORD', 'hunter2!');",
            "os.environ['DB_PASSWORD'] = 'hunter2!'",
            "DB_PASSWORD=hunter2!",
            "export DB_PASSWORD=hunter2!  # the database",
            "  password: hunter2!",
            "spring.datasource.password = hunter2!",
            "<add key=\"Password\" value=\"hunter2!\"/>",
            "- name: DB_PASSWORD\n  value: hunter2!",
            "- name: DB_PASSWORD\n  value: \"hunter2!\"",
            "{:password => 'hunter2!'}",
            "password := `hunter2!`",
            "if password == 'hunter2!':",
        ] {
            assert_eq!(value(text), Some("hunter2!"), "{text}");
        }
    }

    #[test]
    fn a_variable_of_the_environment_may_hold_a_mere_word() {
        assert_eq!(value("DB_PASSWORD=letmein"), Some("letmein"));
        assert_eq!(value("DB_PASSWORD=password"), None);
    }

    #[test]
    fn code_that_speaks_of_secrets_is_left_alone() {
        for text in [
            "password = self.password",
            "password = get_password(user1)",
            "f(password=hash1, n=2)",
            "token = tokens[0]",
            "password: string;",
            "password=\"{password}\"",
            "password = models.CharField(max_length=128)",
            "# the password, 8 characters",
            "passwordField1.setText(\"Enter it\")",
            "if (!token->next) {",
            "secret: required",
            "'password': _('Enter 8 characters')",
        ] {
            assert_eq!(value(text), None, "{text}");
        }
    }
}

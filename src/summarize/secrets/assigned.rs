//! Values under names that indicate a secret, in programs, settings and documents alike.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::values::{KeySecrecy, SecretPolicy, is_chosen, is_code, is_placeholder, is_random, key_secrecy};

/// The most bytes of a name, and of what follows it.
const LONGEST_KEY: usize = 120;
const AFTER: usize = 1200;

/// What may separate a name from its value, and the value: quoted or plain.
static VALUE: LazyLock<Regex> = LazyLock::new(|| {
    let between = concat!(
        r#"^["'`\]\)]{0,2}[ \t]*"#,
        // A type; an attribute or a list of variables, where name and value are separate; an operator.
        r#"(?::[ \t]*[A-Za-z_&][\w\[\]., |?&<>*']{0,40}?=|"#,
        r#"[ \t]*,?[ \t]*\r?\n?[ \t]*["']?value["']?[ \t]*[:=]|"#,
        // A default value.
        r#"\|\||\?\?|or[ \t]|:-|"#,
        r#"=>|:=|->|\?=|\+=|={1,3}|!==?|[:,>])[ \t]*(?:\r?\n[ \t]*)?"#,
    );
    let wrapped =
        r"(?:[rbuLRBU@]{1,2}|String\(|str\(|Secret(?:Str|String)?(?:::(?:new|from))?\()?\(?(?:\r?\n[ \t]*)?";
    let quoted = r#"(?:"((?:[^"\\\n]|\\.){1,512})["\\]|'((?:[^'\\\n]|\\.){1,512})['\\]|`([^`\n]{1,512})`)"#;
    let plain = r#"([^\s"'`]{1,512})"#;
    Regex::new(&format!("{between}(?:{wrapped}{quoted}|{plain})")).expect("a fixed pattern")
});

/// Examines the name that a word is part of. Returns the end of the name, and its value if that is a secret.
pub(crate) fn find_assigned(text: &str, word: &Range<usize>) -> (usize, Option<Range<usize>>) {
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
    // Most words are part of a sentence or an expression; the regular expression is for the others.
    let sign = rest.bytes().find(|b| !b"\"'`]) \t\r\n".contains(b))?;
    if is_defined(text, &key, rest) {
        return defined_value(rest).map(|span| key.end + span.start..key.end + span.end);
    }
    if !b"=:,>-?+!v|o".contains(&sign) {
        return None;
    }
    let secrecy = key_secrecy(&text[key.clone()]);
    if secrecy == KeySecrecy::Public || text[key.clone()].to_ascii_lowercase().contains("public") {
        return None;
    }
    let captures = VALUE.captures(rest)?;
    let quoted = captures.get(1).or_else(|| captures.get(2)).or_else(|| captures.get(3));
    let value = quoted.or_else(|| captures.get(4))?;
    let span = key.end + value.start()..key.end + value.end();
    let between = rest[..value.start()].trim_start_matches(['"', '\'', '`', ')', ']', ' ', '\t']);
    if quoted.is_none() && ["||", "??", "or"].iter().any(|sign| between.starts_with(sign)) {
        return None;
    }
    let is_secret = match (secrecy, quoted) {
        (KeySecrecy::Public, _) => false,
        (KeySecrecy::Texts, _) => {
            20 <= value.len()
                && is_random(value.as_str(), SecretPolicy::Prompt)
                && !is_placeholder(value.as_str())
        }
        (KeySecrecy::All, Some(_)) => is_quoted_secret(value.as_str()),
        (KeySecrecy::All, None) => return plain_secret(text, &key, span),
    };
    is_secret.then_some(span)
}

/// Returns whether the name is defined as a macro: `#define DB_PASSWORD "…"`.
fn is_defined(text: &str, key: &Range<usize>, rest: &str) -> bool {
    let line = text[..key.start].rfind('\n').map_or(0, |at| at + 1);
    let before = text[line..key.start].trim_start().strip_prefix('#').unwrap_or_default();
    before.trim() == "define"
        && rest.starts_with([' ', '\t'])
        && key_secrecy(&text[key.clone()]) == KeySecrecy::All
}

/// Returns the range of a macro's text in what follows its name, if that is a secret.
fn defined_value(rest: &str) -> Option<Range<usize>> {
    let open = rest.find('"').filter(|open| matches!(rest[..*open].trim(), "" | "L" | "u8"))?;
    let length = rest[open + 1..].find(['"', '\n'])?;
    let span = open + 1..open + 1 + length;
    is_quoted_secret(&rest[span.clone()]).then_some(span)
}

fn is_quoted_secret(value: &str) -> bool {
    is_chosen(value)
        && !value.contains("\\u")
        && !(value.contains(['(', '[', '*', '^']) && value.contains('\\'))
}

/// Returns which part of an unquoted value is a secret; expressions look much alike.
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
        && (ends.is_empty() || ends.starts_with('#') || is_remark(text, &span, between, ends));
    if is_line && between == "=" && !name.bytes().any(|b| b.is_ascii_lowercase()) {
        let is_password = name.contains("PASS") && 6 <= value.len() && !is_placeholder(value);
        let is_word = is_password && value.bytes().all(|b| b.is_ascii_alphanumeric());
        return (is_chosen(value) || is_word).then_some(span);
    }
    // An assignment for a single command.
    let is_for_command = between == "="
        && matches!(begins, "" | "export" | "env" | "sudo")
        && !name.bytes().any(|b| b.is_ascii_lowercase())
        && ends.starts_with(|first: char| first.is_ascii_lowercase() || matches!(first, '.' | '/' | '$'));
    if is_for_command
        && is_chosen(value)
        && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-!@%+.".contains(&b))
    {
        return Some(span);
    }
    // In settings a text follows a colon; in programs a type, which is short or has no digits.
    let may_be_name = is_line && between.trim() == ":" && 8 <= value.len() && is_word_with_digits(value);
    if is_line && is_chosen(value) && (may_be_name || !is_code(value)) {
        return Some(span);
    }
    // In an expression the value ends at an operator; what is called or indexed is a name.
    let end = value.find([',', ';', '&', '<', '>', '(', ')', '[', ']', '{', '}', '|', '\\']);
    let (value, rest) = value.split_at(end.unwrap_or(value.len()));
    let is_called = rest.starts_with(['(', '[']) || rest.is_empty() && ends.starts_with(['(', '[']);
    let is_secret =
        is_chosen(value) && !is_code(value) && is_random(value, SecretPolicy::Prompt) && !is_called;
    is_secret.then(|| span.start..span.start + value.len())
}

/// Returns whether a remark follows a value on its line: `Password: hunter2! (of the test machine)`.
fn is_remark(text: &str, span: &Range<usize>, between: &str, ends: &str) -> bool {
    between.trim() == ":" && ends.starts_with('(') && text[span.end..].starts_with([' ', '\t'])
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
        let at = ["PASS", "pass", "Pass", "secret", "SECRET", "token", "TOKEN"]
            .iter()
            .find_map(|word| text.find(word).map(|at| at..at + word.len()));
        find_assigned(text, &at.unwrap()).1.map(|span| &text[span])
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
            "#define WIFI_PASSWORD \"hunter2!\"",
            "#  define WIFI_PASSWORD\t\"hunter2!\" /* x */",
            "process.env.DB_PASSWORD || \"hunter2!\"",
            "process.env.DB_PASSWORD ?? 'hunter2!'",
            "os.environ.get('DB_PASSWORD') or 'hunter2!'",
            "PGPASSWORD=hunter2! psql -h db",
            "Password: hunter2! (of the test machine)",
        ] {
            assert_eq!(value(text), Some("hunter2!"), "{text}");
        }
    }

    #[test]
    fn an_environment_variable_may_hold_a_plain_word() {
        assert_eq!(value("DB_PASSWORD=letmein"), Some("letmein"));
        assert_eq!(value("DB_PASSWORD=password"), None);
    }

    #[test]
    fn code_that_mentions_secrets_is_not_redacted() {
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
            "#define PASSWORD_SIZE 128",
            "#define PASSWORD_PROMPT \"Password for user1: \"",
            "#define WIFI_PASSWORD \"changeme\"",
            "password || defaultPassword1",
            "password = password or default_password1",
            "make PASSWORD=x install",
        ] {
            assert_eq!(value(text), None, "{text}");
        }
    }
}

//! Values under names that indicate a secret, in programs, settings and documents alike.

use std::ops::Range;

use super::expressions::{
    has_optional_part, is_call, is_character_class, is_class_name, is_field_tag, is_file_name,
    is_fingerprint, is_host, is_in_python_head, is_lexical_token, is_media_type, is_member,
    is_named_for_token, is_negated_option, is_option, is_passing, is_path_pattern, is_repetition,
    is_template, is_text_method, is_type, is_version_range,
};
use super::generated::{is_generated, is_ordinary_name, is_surely_generated};
use super::notation::{AssignedValue, Operator, line_after, line_before, value_after, value_before};
use super::values::{
    KeySecrecy, SecretPolicy, has_stray_bracket, is_chosen, is_code, is_placeholder, is_random,
    is_thoroughly_mixed, is_variable, key_secrecy, key_words,
};

/// The most bytes of a name.
const LONGEST_KEY: usize = 120;
/// How many bytes after a name are searched for a generated word.
const LONGEST_REST: usize = 300;

/// Finds values under the names of one text, from its start to its end.
#[derive(Default)]
pub(crate) struct AssignedSearch {
    /// How far names, and the words after them, have been examined.
    names_seen: usize,
    words_seen: usize,
    /// Bytes of all values that were examined. Names may be so dense that each is within the values of others.
    value_bytes: usize,
}

/// What a name says of its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NameStrength {
    /// It is a secret unless it looks like anything else.
    Secret,
    /// It is a secret if it is random.
    Maybe,
    /// It is a secret if it must have been generated.
    Key,
}

impl AssignedSearch {
    /// Examines the name that a word is part of, and returns the secrets that are its values.
    pub(crate) fn find(&mut self, text: &str, word: &Range<usize>) -> Vec<Range<usize>> {
        if word.start < self.names_seen {
            return Vec::new();
        }
        let key = name_around(text, word);
        self.names_seen = key.end;
        let Some(strength) = strength(&text[key.clone()]) else { return Vec::new() };
        if is_defined(text, &key) {
            return defined_value(text, key.end).into_iter().collect();
        }
        let values = [value_after(text, key.end), value_before(text, key.start)].into_iter().flatten();
        let found: Vec<Range<usize>> = values
            .inspect(|value| self.value_bytes += value.span.len())
            .filter_map(|value| secret_value(text, &key, strength, value))
            .collect();
        if found.is_empty() { self.generated_words(text, key.end, strength) } else { found }
    }

    /// Returns how many bytes of values have been examined.
    pub(crate) fn value_bytes(&self) -> usize {
        self.value_bytes
    }

    /// Returns words after a name, on its line, that must have been generated: in a log, a table or a sentence.
    fn generated_words(&mut self, text: &str, end: usize, strength: NameStrength) -> Vec<Range<usize>> {
        const SHORTEST: usize = 20;
        if strength == NameStrength::Maybe {
            return Vec::new();
        }
        let limit = text.floor_char_boundary(text.len().min(end + LONGEST_REST));
        let stop = text[end..limit].find('\n').map_or(limit, |at| end + at);
        let mut at = end.max(self.words_seen);
        let mut found = Vec::new();
        while at < stop {
            let length = text.as_bytes()[at..stop].iter().take_while(|b| is_word_byte(**b)).count();
            let word = at..at + length;
            if SHORTEST <= length
                && is_lone_word(text, &word)
                && is_generated(&text[word.clone()])
                && !is_fingerprint(line_before(text, word.start), &text[word.clone()])
            {
                found.push(word);
            }
            at += length + 1;
        }
        self.words_seen = self.words_seen.max(stop);
        found
    }
}

/// Returns the range of the name that a word is part of.
pub(crate) fn name_around(text: &str, word: &Range<usize>) -> Range<usize> {
    let before = &text.as_bytes()[word.start.saturating_sub(LONGEST_KEY)..word.start];
    let start = word.start - before.iter().rev().take_while(|b| is_key_byte(**b)).count();
    // A dash in a sentence: "stay in place--pass `x`".
    let dash = text[start..word.start].trim_start_matches('-').rfind("--");
    let start = dash
        .map_or(start, |at| word.start - (text[start..word.start].trim_start_matches('-').len() - at - 2));
    let after = text.as_bytes()[word.end..].iter().take(LONGEST_KEY);
    start..word.end + after.take_while(|b| is_key_byte(**b)).count()
}

fn is_key_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')
}

fn is_word_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"_-+/=.~".contains(&b)
}

/// Returns whether a word is neither a part of an address or a path, nor a digest that says that it is one.
fn is_lone_word(text: &str, word: &Range<usize>) -> bool {
    const DIGESTS: [&str; 8] =
        ["sha1-", "sha256-", "sha384-", "sha512-", "sha1=", "sha256=", "sha384=", "sha512="];
    let value = &text[word.clone()];
    let before = &text[..word.start];
    !before.ends_with([':', '@', '#', '%', '$', '&', '?'])
        && !before.ends_with("sha256:")
        && !value.starts_with(['/', '.', '-', '_'])
        && !DIGESTS.iter().any(|digest| value.starts_with(digest))
        && value.matches('/').count() <= value.len() / 16
        && !is_placeholder(value)
}

/// Returns what a name says of its value; `None` if nothing.
fn strength(name: &str) -> Option<NameStrength> {
    // A part of encoded data.
    if name.bytes().all(|b| b.is_ascii_alphanumeric()) && is_surely_generated(name) {
        return None;
    }
    if name.starts_with('-') && is_negated_option(name) {
        return None;
    }
    let strength = strength_of_words(name)?;
    Some(if is_file_name(name) || is_passing(name) { NameStrength::Maybe } else { strength })
}

fn strength_of_words(name: &str) -> Option<NameStrength> {
    // What is known of a secret, or done with it.
    const NEXT_TO_SECRETS: [&str; 21] = [
        "id", "ids", "url", "uri", "name", "path", "file", "hash", "size", "expiry", "expires", "expiration",
        "timeout", "ttl", "length", "count", "type", "cb", "callback", "fd", "fds",
    ];
    // What has keys that are no secrets.
    const HARMLESS: [&str; 30] = [
        "public", "pub", "primary", "foreign", "cache", "sort", "hash", "digest", "checksum", "sha",
        "sha256", "md5", "fingerprint", "partition", "index", "url", "uri", "path", "file", "dir", "name",
        "regex", "pattern", "length", "size", "count", "type", "event", "translation", "row",
    ];
    let words = key_words(name);
    // The fingerprint of an assembly's signer in .NET, and what Angular finds a service by.
    if matches!(words.concat().as_str(), "publickeytoken" | "injectiontoken") {
        return None;
    }
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    match key_secrecy(name) {
        KeySecrecy::All if has(&["public", "pub"]) && !has(&["token", "secret"]) => None,
        KeySecrecy::All if has(&NEXT_TO_SECRETS) => Some(NameStrength::Maybe),
        KeySecrecy::All => Some(NameStrength::Secret),
        _ if has(&HARMLESS) => None,
        KeySecrecy::Texts => Some(NameStrength::Maybe),
        KeySecrecy::Public => {
            let is_key = |word: &String| word.trim_end_matches(|c: char| c.is_ascii_digit()).ends_with("key");
            words.iter().any(is_key).then_some(NameStrength::Key)
        }
    }
}

fn secret_value(
    text: &str,
    key: &Range<usize>,
    strength: NameStrength,
    value: AssignedValue,
) -> Option<Range<usize>> {
    let AssignedValue { span, is_quoted, operator } = value;
    let (written, name) = (&text[span.clone()], &text[key.clone()]);
    if is_fingerprint(name, written) {
        return None;
    }
    let is_plausible = match (operator, is_quoted) {
        (Operator::Nothing, false) => false,
        // An option or a call in a sentence: "pass `-std=c++17`", "the token `lexer.next(1)`"; or a type in a table:
        // "The password | `map(string)`".
        (Operator::Nothing | Operator::Dash, true) if is_call(written) => is_generated(written),
        (Operator::Nothing | Operator::Dash | Operator::Comma, true) if written.starts_with('-') => {
            is_generated(written)
        }
        // The tag after the type of a field, or what a text is compared with: `password.startswith("*")`.
        (Operator::Nothing, true) if is_field_tag(written) || is_text_method(name) => is_generated(written),
        // What is next to a class in a list of names.
        (Operator::Comma, true) if is_class_name(name) && is_ordinary_name(written) => false,
        // `("def f(): pass", "…")`: the statement of Python ends a text.
        (Operator::Comma, true) if name == "pass" && line_before(text, key.start).ends_with(": ") => {
            is_generated(written)
        }
        (Operator::Colon, true) if is_in_python_head(line_before(text, key.start)) => false,
        (Operator::Nothing, true) if is_lexical_token(name) => is_generated(written),
        // What somebody is to pass on: "pass `argv[1]`".
        (Operator::Nothing, true) if name.eq_ignore_ascii_case("pass") => {
            is_random(written, SecretPolicy::Prompt)
        }
        // In a call, an argument after a name is a value of its own.
        (Operator::Nothing | Operator::Dash, true) => is_generated(written) || !written.contains(' '),
        (Operator::Default, is_quoted) => is_quoted,
        (Operator::Dash, false) => is_generated(written),
        _ => true,
    };
    if !is_plausible {
        return None;
    }
    match strength {
        NameStrength::Secret if is_quoted => {
            let is_ordinary = is_named_for_token(name) && is_ordinary_name(written);
            (!is_ordinary && is_quoted_secret(written)).then_some(span)
        }
        NameStrength::Secret => plain_secret(text, key, span),
        NameStrength::Maybe => generated_value(text, span, 20),
        NameStrength::Key => generated_value(text, span, 16),
    }
}

/// Returns the part of a value that was generated; what closes the expression that it is in, is not part of it.
fn generated_value(text: &str, span: Range<usize>, shortest: usize) -> Option<Range<usize>> {
    let written = text[span.clone()].trim_end_matches([',', ';', ')', ']', '}', '.', '>']);
    let is_one = shortest <= written.len()
        && !written.contains("::")
        && is_lone_word(text, &(span.start..span.start + written.len()))
        && written.bytes().all(|b| b.is_ascii_graphic() && !b"()[]{}<>,;\"'`\\".contains(&b))
        && (is_generated(written) || is_thoroughly_mixed(written));
    is_one.then(|| span.start..span.start + written.len())
}

/// Returns whether the name is defined as a macro: `#define DB_PASSWORD "…"`.
fn is_defined(text: &str, key: &Range<usize>) -> bool {
    let before = line_before(text, key.start).trim_start().strip_prefix('#').unwrap_or_default();
    before.trim() == "define"
        && text[key.end..].starts_with([' ', '\t'])
        && key_secrecy(&text[key.clone()]) == KeySecrecy::All
}

/// Returns the range of a macro's text after its name, if that is a secret.
fn defined_value(text: &str, end: usize) -> Option<Range<usize>> {
    let rest = line_after(text, end);
    let open = rest.find('"').filter(|open| matches!(rest[..*open].trim(), "" | "L" | "u8"))?;
    let length = rest[open + 1..].find(['"', '\n'])?;
    let span = open + 1..open + 1 + length;
    is_quoted_secret(&rest[span.clone()]).then_some(end + span.start..end + span.end)
}

fn is_quoted_secret(value: &str) -> bool {
    const MOST_DIGITS: usize = 1;
    // A text within a text, as in `"'Name'"`.
    let inner = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\''));
    let value = inner.unwrap_or(value);
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let is_name = is_variable(value) && digits <= MOST_DIGITS;
    let is_pattern = value.contains(['(', '[', '*', '^']) && value.contains('\\');
    // The quote ends a text, and what follows is appended to it: `'--password='.$connection['password']`, or
    // `"no token "+name+", but "`.
    let is_appended = value.starts_with(".$") || value.starts_with('+') && value.ends_with('+');
    let is_syntax = is_appended
        || is_option(value)
        || is_version_range(value)
        || is_character_class(value)
        || is_media_type(value)
        || is_path_pattern(value)
        || has_optional_part(value)
        || is_host(value)
        || is_template(value);
    is_chosen(value) && !is_name && !is_pattern && !is_syntax && !value.contains("\\u")
}

/// Returns which part of an unquoted value is a secret; expressions look much alike.
fn plain_secret(text: &str, key: &Range<usize>, span: Range<usize>) -> Option<Range<usize>> {
    let value = &text[span.clone()];
    let name = &text[key.clone()];
    let between = &text[key.end..span.start];
    // A comma after a number ends an entry or an argument.
    let is_count = value.strip_suffix(',').is_some_and(is_number)
        || is_number(value) && !name.to_ascii_lowercase().contains("pass");
    if between.contains(',') || is_count {
        return None;
    }
    let is_argument = value.ends_with("),") && is_call(value.trim_end_matches(','));
    if is_member(value) || is_only_name(value) || is_type(value) || is_repetition(value) || is_argument {
        return None;
    }
    let begins = line_before(text, key.start).trim().trim_start_matches(['#', '-', ';', '/', '"', '\'', ' ']);
    let ends = line_after(text, span.end).trim_start();
    let is_line = (between.contains("value")
        || matches!(begins, "" | "export" | "set" | "setx" | "ENV" | "ARG" | "environment"))
        && (ends.trim_start_matches(['\'', '"', '`', ',', ';']).is_empty()
            || ends.starts_with('#')
            || is_remark(text, &span, between, ends));
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
    if is_line && is_chosen(value) && (may_be_name || !is_code(value) || has_stray_bracket(value)) {
        // A comma after a colon's value is more likely the end of an entry than that of a password.
        let is_entry = between.trim() == ":" && value.ends_with(',');
        return Some(span.start..span.end - usize::from(is_entry));
    }
    // In an expression the value ends at an operator; what is called or indexed is a name.
    let end = value.find([',', ';', '&', '<', '>', '(', ')', '[', ']', '{', '}', '|', '\\']);
    let (value, rest) = value.split_at(end.unwrap_or(value.len()));
    let is_called = rest.starts_with(['(', '[']) || rest.is_empty() && ends.starts_with(['(', '[']);
    let is_secret =
        is_chosen(value) && !is_code(value) && is_random(value, SecretPolicy::Prompt) && !is_called;
    is_secret.then(|| span.start..span.start + value.len())
}

/// Returns whether a value is a name in an expression, of which only the sign after it is none of a name:
/// `SHOP_PASSWORD=shop_password,`, `ShopToken::class,`.
fn is_only_name(value: &str) -> bool {
    let name = value.strip_prefix(':').or_else(|| value.strip_suffix([',', ';'])).unwrap_or_default();
    let name = name.trim_end_matches([',', ';', ')', ']']);
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_')
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
        let at = ["PASS", "pass", "Pass", "secret", "SECRET", "token", "TOKEN", "Key"]
            .iter()
            .find_map(|word| text.find(word).map(|at| at..at + word.len()));
        let found = AssignedSearch::default().find(text, &at.unwrap());
        found.first().map(|span| &text[span.clone()])
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
    fn a_password_may_follow_its_name_without_a_sign() {
        assert_eq!(value("the password 'hunter2!' is old"), Some("hunter2!"));
        assert_eq!(value("pass 'q8Zt3Lw0pX'"), Some("q8Zt3Lw0pX"));
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
            "// It is valid to pass `char_end()` and `0`.",
            "pass `-std=c++17` to the compiler",
            "Pass 'value.begin1()' here",
            "the token `lexer.next(1)`",
            "pass `argv[1]` as well",
            "password = password or default_password1",
            "make PASSWORD=x install",
            "| a | The password | `map(string)` | `null` |",
            "  pass: [\"text/*\", \"application/vnd.api+json\"]",
            "  token: ?Ast.TokenIndex,\n",
            "const a1token = new InjectionToken('MockService1')",
        ] {
            assert_eq!(value(text), None, "{text}");
        }
    }
}

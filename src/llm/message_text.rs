//! Text of a server or a program as one printable line, without what may be a key.
//!
//! Messages are shown to people and stored; what comes from outside must neither drive a terminal nor repeat a key that
//! the server was sent.

use std::borrow::Cow;

use crate::model::is_invisible;

pub(super) const MAX_MESSAGE: usize = 300;

/// The most bytes of a call's id.
const MAX_ID: usize = 128;

/// Shorter runs of letters and digits are taken for words; the keys of all providers are longer.
const MIN_KEY: usize = 20;

/// Returns the text as one printable line of at most this many bytes, with possible keys hidden.
pub(super) fn redacted_line(text: &str, most: usize) -> String {
    // The rest cannot be shown in any case, and may be megabytes.
    let head = head(text, most.saturating_mul(8));
    let mut line = String::new();
    for word in
        head.split(|char: char| char.is_whitespace() || char.is_control()).filter(|word| !word.is_empty())
    {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(hide_keys(word).chars().filter(|char| !is_invisible(*char)));
    }
    shortened(line, most)
}

/// Returns a server's id of a call, if it is valid.
pub(super) fn call_id(text: &str) -> Option<String> {
    let is_name =
        !text.is_empty() && text.len() <= MAX_ID && text.bytes().all(|byte| byte.is_ascii_graphic());
    is_name.then(|| text.to_owned())
}

/// Cuts a line to this many bytes, with an ellipsis.
pub(super) fn shortened(line: String, most: usize) -> String {
    if line.len() <= most {
        return line;
    }
    let mut short = head(&line, most.saturating_sub('…'.len_utf8())).to_owned();
    short.push('…');
    short
}

fn head(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// Hides what looks like a key: a long run of letters and digits that is neither a word nor a model's name. Some
/// servers repeat the key that they reject, and only the sender could recognize it for certain.
fn hide_keys(word: &str) -> Cow<'_, str> {
    let is_of_key = |char: char| char.is_ascii_alphanumeric() || "-_.+/=*".contains(char);
    if !word.split(|char| !is_of_key(char)).any(may_be_key) {
        return Cow::Borrowed(word);
    }
    let mut shown = String::new();
    for run in word.split_inclusive(|char| !is_of_key(char)) {
        let end =
            run.len() - run.chars().next_back().filter(|char| !is_of_key(*char)).map_or(0, char::len_utf8);
        shown.push_str(if may_be_key(&run[..end]) { "(hidden)" } else { &run[..end] });
        shown.push_str(&run[end..]);
    }
    Cow::Owned(shown)
}

fn may_be_key(run: &str) -> bool {
    const BEGINNINGS: [&str; 6] = ["sk-", "sk_", "AIza", "gsk_", "key-", "eyJ"];
    if BEGINNINGS.iter().any(|beginning| run.starts_with(beginning)) {
        return true;
    }
    let has = |test: fn(&u8) -> bool| run.as_bytes().iter().any(test);
    let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit);
    // A digest has no capitals, but is not a word either; the parts of a model's name are short.
    let longest = run.split(|char: char| !char.is_ascii_alphanumeric()).map(str::len).max().unwrap_or(0);
    MIN_KEY <= run.len() && (is_mixed && 12 <= longest || MIN_KEY <= longest && has(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_printable(text: &str, shown: &str) {
        assert_eq!(redacted_line(text, MAX_MESSAGE), shown);
    }

    #[test]
    fn messages_are_one_printable_line() {
        check_printable(" a\r\n\tb\u{1b}[31m c\u{0} ", "a b [31m c");
        check_printable("safe\u{202e}txt\u{200b}!", "safetxt!");
        check_printable("", "");
    }

    #[test]
    fn long_words_are_cut_at_a_character() {
        let cut = redacted_line(&"ä".repeat(1_000), 11);
        assert_eq!(cut, "ääää…");
        assert!(redacted_line(&"x ".repeat(10_000_000), MAX_MESSAGE).len() <= MAX_MESSAGE);
    }

    #[test]
    fn possible_keys_are_hidden() {
        let body = "Ab3".repeat(10);
        check_printable(
            &format!("Incorrect API key provided: sk-proj-{body}."),
            "Incorrect API key provided: (hidden)",
        );
        check_printable(&format!("token \"{body}\" is unknown"), "token \"(hidden)\" is unknown");
        check_printable(&format!("key={}", "0a1b2c3d".repeat(4)), "(hidden)");
        check_printable(&format!("API_KEY:{}", "0a1b2c3d".repeat(4)), "API_KEY:(hidden)");
    }

    #[test]
    fn names_of_models_and_numbers_are_shown() {
        check_printable(
            "model: claude-haiku-4-5-20251001 is gone",
            "model: claude-haiku-4-5-20251001 is gone",
        );
        check_printable("deepseek-ai/DeepSeek-V4 has 8192 tokens", "deepseek-ai/DeepSeek-V4 has 8192 tokens");
        check_printable(
            "credit_balance_exhausted_for_organization",
            "credit_balance_exhausted_for_organization",
        );
    }
}

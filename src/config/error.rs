//! What can be wrong with a setting, always with the place where it is written.

use std::io;
use std::str::Utf8Error;

use super::Origin;

/// Why the settings are not usable.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The machine gave no thread to read the layers in.
    #[error("start a thread that reads the settings")]
    Thread(#[from] io::Error),
    /// The file is no text.
    #[error("read {origin} as UTF-8")]
    NotUtf8 {
        /// The file, and the line of the first byte that is not UTF-8.
        origin: Origin,
        /// What is wrong with that byte.
        source: Utf8Error,
    },
    // The cause stands in the message, against the custom of the house: printed as a source, toml's own error
    // repeats the whole offending line, however long that is, and ends in a line break.
    /// The file is no TOML.
    #[error("read {origin} as TOML: {message}")]
    Syntax {
        /// The file, and the line where reading ended.
        origin: Origin,
        /// What the TOML parser says.
        message: String,
    },
    /// There is no such setting.
    #[error("read {origin}: unknown key `{key}`, the nearest known is `{nearest}`")]
    UnknownKey {
        /// Where it is written.
        origin: Origin,
        /// The key as written, shortened where it is long.
        key: String,
        /// The known key that is most like it.
        nearest: String,
    },
    /// The value is of the wrong type, or means nothing.
    #[error("read {origin}: `{key}` is {found}, not {allowed}")]
    BadValue {
        /// Where it is written.
        origin: Origin,
        /// The key.
        key: String,
        /// The value as written, shortened where it is long.
        found: String,
        /// What the value may be, in words.
        allowed: String,
    },
}

/// Returns `text` fit for a message: on one line, not long, without marks that change how a terminal shows it.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut shown = String::new();
    for c in text.chars().take(LONGEST) {
        match c {
            // These are escaped by `escape_debug` too, but they harm nobody and `\"auto\"` reads badly.
            '"' | '\'' | '\\' => shown.push(c),
            other => shown.extend(other.escape_debug()),
        }
    }
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_shows_hostile_text_on_one_short_line() {
        assert_eq!(shown("\"a\\b\" 'ü'"), "\"a\\b\" 'ü'");
        assert_eq!(shown("a\n\u{1b}[31m\u{202e}"), "a\\n\\u{1b}[31m\\u{202e}");
        assert_eq!(shown(&"x".repeat(60)), "x".repeat(60));
        assert_eq!(shown(&"x".repeat(1_000_000)), format!("{}…", "x".repeat(60)));
    }
}

//! What can be wrong with a setting, always with the place where it is written.

use std::io;
use std::path::PathBuf;
use std::str::Utf8Error;

use super::SettingOrigin;

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
        origin: SettingOrigin,
        /// What is wrong with that byte.
        source: Utf8Error,
    },
    // The cause stands in the message, against the custom of the house: printed as a source, toml's own error
    // repeats the whole offending line, however long that is, and ends in a line break.
    /// The file is no TOML.
    #[error("read {origin} as TOML: {message}")]
    Syntax {
        /// The file, and the line where reading ended.
        origin: SettingOrigin,
        /// What the TOML parser says.
        message: String,
    },
    /// There is no such setting.
    #[error("read {origin}: unknown key `{key}`, the nearest known is `{nearest}`")]
    UnknownKey {
        /// Where it is written.
        origin: SettingOrigin,
        /// The key as written, shortened where it is long.
        key: String,
        /// The known key that is most like it.
        nearest: String,
    },
    /// The value is of the wrong type, or means nothing.
    #[error("read {origin}: `{key}` is {found}, not {allowed}")]
    BadValue {
        /// Where it is written.
        origin: SettingOrigin,
        /// The key.
        key: String,
        /// The value as written, shortened where it is long.
        found: String,
        /// What the value may be, in words.
        allowed: String,
    },
    /// A file that is to be edited cannot be read.
    #[error("read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// An edited file cannot be written.
    #[error("write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Someone else wrote the file meanwhile.
    #[error("edit {}, which changed meanwhile", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The file is written in a way that leaves no place for the edit.
    #[error("edit {} and keep it readable", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
    },
    /// No item has that path.
    #[error("find `{}` under [[files]] in {}", printable(item), path.display())]
    NoSuchItem {
        /// The file.
        path: PathBuf,
        /// The path that was looked for.
        item: String,
    },
    /// The item has no such slice.
    #[error("find that slice of `{}`", printable(item))]
    NoSuchSlice {
        /// The item's path.
        item: String,
    },
    /// The item has a slice of these lines.
    #[error("add a slice of lines {}-{} to `{}`, which has one", lines.0, lines.1, printable(item))]
    SliceExists {
        /// The item's path.
        item: String,
        /// Its first and last line.
        lines: (u32, u32),
    },
    /// The item's mask has no such symbol.
    #[error("find {} in the mask of `{}`{}", symbol_or_any(key.as_deref()), printable(item), nearest_suffix(nearest.as_deref()))]
    NoSuchMask {
        /// The item's path.
        item: String,
        /// The symbol, if one was named.
        key: Option<String>,
        /// The one that is most like it.
        nearest: Option<String>,
    },
    /// No preset has that name.
    #[error("find a preset named `{}`{}", printable(name), nearest_suffix(nearest.as_deref()))]
    NoSuchPreset {
        /// The name.
        name: String,
        /// The one that is most like it.
        nearest: Option<String>,
    },
    /// A preset has that name.
    #[error("save a preset as `{}`, which {} has", printable(name), path.display())]
    PresetExists {
        /// The name.
        name: String,
        /// The file.
        path: PathBuf,
    },
    /// There is nothing that a preset could hold.
    #[error("save a preset of no files: {} has no [[files]]", path.display())]
    NothingToSave {
        /// The file.
        path: PathBuf,
    },
    /// What was curated would be lost.
    #[error("replace what is curated of {}", printable(&items.join(", ")))]
    WouldLose {
        /// The paths of the items.
        items: Vec<String>,
    },
}

fn symbol_or_any(key: Option<&str>) -> String {
    key.map_or("a symbol".to_owned(), |key| format!("`{}`", printable(key)))
}

fn nearest_suffix(nearest: Option<&str>) -> String {
    nearest.map_or(String::new(), |nearest| format!(", the nearest known is `{}`", printable(nearest)))
}

/// Returns `"a", "b" or "c"`.
pub(super) fn join_alternatives<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = words.map(|word| format!("\"{word}\"")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Returns `text` fit for a message: on one line, not long, without marks that change how a terminal shows it.
pub(super) fn printable(text: &str) -> String {
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
        assert_eq!(printable("\"a\\b\" 'ü'"), "\"a\\b\" 'ü'");
        assert_eq!(printable("a\n\u{1b}[31m\u{202e}"), "a\\n\\u{1b}[31m\\u{202e}");
        assert_eq!(printable(&"x".repeat(60)), "x".repeat(60));
        assert_eq!(printable(&"x".repeat(1_000_000)), format!("{}…", "x".repeat(60)));
    }
}

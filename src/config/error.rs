//! The errors of settings, each with the location of the setting.

use std::path::{Path, PathBuf};
use std::str::Utf8Error;
use std::{fmt, io};

/// Why settings cannot be used or edited.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no thread could be started to read the settings")]
    Thread(#[from] io::Error),
    #[error("{origin}: not UTF-8")]
    NotUtf8 {
        /// The file, and the line of the first byte that is not UTF-8.
        origin: SettingOrigin,
        source: Utf8Error,
    },
    // The cause is part of the message, unlike elsewhere: toml's own error, printed as a source, repeats the whole
    // offending line, however long that is, and ends in a line break.
    #[error("{origin}: not TOML: {message}")]
    Syntax {
        /// The file, and the line where reading ended.
        origin: SettingOrigin,
        message: String,
    },
    #[error("{origin}: unknown key `{key}`{suggestion}")]
    UnknownKey {
        origin: SettingOrigin,
        /// The key as written, shortened where it is long.
        key: String,
        /// The end of the message, which suggests a known key; it may be empty.
        suggestion: String,
    },
    #[error("{origin}: `{key}` is {found}, not {allowed}")]
    BadValue {
        origin: SettingOrigin,
        key: String,
        /// The value as written, shortened where it is long.
        found: String,
        /// Description of the values that are allowed.
        allowed: String,
    },
    #[error("{} cannot be read", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} cannot be written", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("{} is a link to {}, outside of the project", path.display(), target.display())]
    OutsideLink { path: PathBuf, target: PathBuf },
    /// Another program wrote the file during the edit.
    #[error("{} changed while it was edited", path.display())]
    Changed { path: PathBuf },
    /// The edit was made for a different state of the file.
    #[error("{} does not have the revision that the edit was made from", path.display())]
    Moved {
        path: PathBuf,
        /// Its actual revision.
        revision: String,
    },
    /// The layout of the file does not allow the edit.
    #[error("{} would not be readable after the edit", path.display())]
    Unwritable { path: PathBuf },
    #[error("no item `{}` under [[files]] in {}", shortened_value(item), path.display())]
    NoSuchItem { path: PathBuf, item: String },
    #[error("no such slice of `{}`", shortened_value(item))]
    NoSuchSlice { item: String },
    #[error("`{}` has no slice {index}", shortened_value(item))]
    NoSliceAt { item: String, index: usize },
    #[error("no screenshot `{}`", shortened_value(screenshot))]
    NoSuchScreenshot { screenshot: String },
    #[error("`{}` already has a slice of lines {}-{}", shortened_value(item), lines.0, lines.1)]
    SliceExists { item: String, lines: (u32, u32) },
    #[error("{}{suggestion}", no_symbol(item, key.as_deref()))]
    NoSuchMask { item: String, key: Option<String>, suggestion: String },
    #[error("no preset named `{}`{suggestion}", shortened_value(name))]
    NoSuchPreset { name: String, suggestion: String },
    #[error("preset `{}` already exists in {}", shortened_value(name), path.display())]
    PresetExists { name: String, path: PathBuf },
    #[error("{} has no [[files]] to save as a preset", path.display())]
    NothingToSave { path: PathBuf },
    /// The file with the takes cannot be interpreted.
    #[error("{}: {reason}", path.display())]
    BadTakes { path: PathBuf, reason: String },
    #[error("`{}` is not the name of a take", shortened_value(name))]
    BadTakeName { name: String },
    #[error("no take named `{}`{suggestion}", shortened_value(name))]
    NoSuchTake { name: String, suggestion: String },
    #[error("a take named `{}` already exists", shortened_value(name))]
    TakeExists { name: String },
    #[error("`{}` is the current take", shortened_value(name))]
    TakeIsCurrent { name: String },
    #[error("the take `{}` has curated entries or screenshots", shortened_value(name))]
    TakeNotEmpty { name: String },
    #[error("curated items would be lost: {}", shortened_value(&items.join(", ")))]
    WouldLose { items: Vec<String> },
}

fn no_symbol(item: &str, key: Option<&str>) -> String {
    let item = shortened_value(item);
    key.map_or_else(
        || format!("`{item}` has no mask"),
        |key| format!("no symbol `{}` in the mask of `{item}`", shortened_value(key)),
    )
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

/// Returns `text` for a message: on one line, shortened, without characters that change how a terminal displays it.
pub(super) fn shortened_value(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let mut shown = String::new();
    // Settings may be hostile: a message must not contain escape sequences or a megabyte of text.
    for c in text.chars().take(MAX_CHARS) {
        match c {
            // `escape_debug` would escape these too, but they are harmless and `\"auto\"` is hard to read.
            '"' | '\'' | '\\' => shown.push(c),
            other => shown.extend(other.escape_debug()),
        }
    }
    if text.chars().nth(MAX_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

/// The place where a value is set.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SettingOrigin {
    /// `config/default.toml`, as it was when slop was built.
    BuiltIn,
    /// The user's own file.
    UserFile {
        path: PathBuf,
        line: usize,
    },
    /// The project's `slop.toml`.
    ProjectFile {
        /// The file, as named by the caller.
        path: PathBuf,
        line: usize,
    },
    Environment(String),
    Flag,
}

impl SettingOrigin {
    pub fn file(&self) -> Option<&Path> {
        match self {
            // Only these can be opened and edited; a variable has no line.
            Self::UserFile { path, .. } | Self::ProjectFile { path, .. } => Some(path),
            Self::BuiltIn | Self::Environment(_) | Self::Flag => None,
        }
    }
}

/// Prints `built-in`, `slop.toml:12`, `SLOP_PROJECT_NAME` or `flag`.
impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built-in"),
            Self::UserFile { path, line } | Self::ProjectFile { path, line } => {
                write!(f, "{}:{line}", path.display())
            }
            Self::Environment(name) => f.write_str(name),
            Self::Flag => f.write_str("flag"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_shows_hostile_text_on_one_short_line() {
        assert_eq!(shortened_value("\"a\\b\" 'ü'"), "\"a\\b\" 'ü'");
        assert_eq!(shortened_value("a\n\u{1b}[31m\u{202e}"), "a\\n\\u{1b}[31m\\u{202e}");
        assert_eq!(shortened_value(&"x".repeat(60)), "x".repeat(60));
        assert_eq!(shortened_value(&"x".repeat(1_000_000)), format!("{}…", "x".repeat(60)));
    }
}

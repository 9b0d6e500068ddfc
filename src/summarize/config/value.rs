//! What every syntax is read into.

use super::super::redact;

/// Levels of keys that are shown; what lies deeper is counted.
pub(super) const MAX_DEPTH: usize = 3;

/// The value of a key, as far as a summary shows it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ConfigValue {
    /// Words.
    Text(String),
    /// A number, a switch, a date, nothing: shown as it is written.
    Literal(String),
    /// A list by its length; the first element only of a list that is the whole file.
    Array {
        /// How many elements it has.
        length: usize,
        /// The first.
        first: Option<Box<ConfigValue>>,
    },
    /// Keys and their values, in the order that the file or its reader gives.
    Table(Vec<(String, ConfigValue)>),
    /// A table too deep to be shown, by its number of keys.
    Keys(usize),
}

impl ConfigValue {
    /// Returns what a value written without quotes means.
    pub(super) fn from_bare(written: &str) -> Self {
        let is_number = written.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))
            && written.bytes().any(|b| b.is_ascii_digit())
            && written
                .bytes()
                .all(|b| b.is_ascii_hexdigit() || matches!(b, b'-' | b'+' | b'.' | b'_' | b'x' | b':'));
        if is_number || redact::is_flag(written) {
            Self::Literal(written.to_owned())
        } else {
            Self::Text(written.to_owned())
        }
    }

    /// Returns what a value means that may stand in quotes; those that do not end are taken off as well.
    pub(super) fn from_text(written: &str) -> Self {
        match written.strip_prefix(['"', '\'']) {
            Some(inside) => Self::Text(inside.strip_suffix(['"', '\'']).unwrap_or(inside).to_owned()),
            None => Self::from_bare(written),
        }
    }
}

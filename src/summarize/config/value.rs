//! The common tree of all formats.

use super::super::redact;

/// Levels of keys that are shown; deeper ones are counted.
pub(super) const MAX_DEPTH: usize = 3;

/// The value of a key, as far as a summary shows it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ConfigValue {
    /// A string.
    Text(String),
    /// A number, boolean, date or null, as it is written.
    Literal(String),
    /// A list by its length; with the first element if the list is the whole file.
    Array {
        /// The number of elements.
        length: usize,
        /// The first element.
        first: Option<Box<ConfigValue>>,
    },
    /// Keys and their values, in the order of the file.
    Table(Vec<(String, ConfigValue)>),
    /// The number of keys of a table that is too deep to be shown.
    Keys(usize),
}

impl ConfigValue {
    /// Returns the value of an unquoted text.
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

    /// Returns the value of a text that may be quoted; unbalanced quotes are removed as well.
    pub(super) fn from_text(written: &str) -> Self {
        match written.strip_prefix(['"', '\'']) {
            Some(inside) => Self::Text(inside.strip_suffix(['"', '\'']).unwrap_or(inside).to_owned()),
            None => Self::from_bare(written),
        }
    }
}

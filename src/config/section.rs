//! Reads a TOML file: its keys with their lines, and its tables entry by entry. An invalid value is an error, an
//! unknown key a warning.

use crate::model::suggest_known_name;
use std::cell::{Cell, RefCell};
use std::ops::RangeInclusive;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Error, SettingOrigin, join_alternatives, shortened_value};

/// How many unknown keys of one file are listed one by one.
// A hostile file may have a hundred thousand keys, and users only read a few.
const MAX_UNKNOWN_WARNINGS: usize = 20;

/// A settings file that is being read.
pub(super) struct SettingsSource<'a> {
    text: &'a str,
    line_starts: Vec<usize>,
    origin: &'a dyn Fn(usize) -> SettingOrigin,
    // A cell, because the sections that warn share the source while they read from it.
    warnings: RefCell<Vec<String>>,
    suppressed: Cell<usize>,
    left_out: RefCell<Vec<Error>>,
}

impl<'a> SettingsSource<'a> {
    /// Creates a source from the parsed text; `origin` returns the origin of a line.
    pub(super) fn new(text: &'a str, origin: &'a dyn Fn(usize) -> SettingOrigin) -> Self {
        let line_starts = text.match_indices('\n').map(|(at, _)| at + 1).collect();
        Self {
            text,
            line_starts,
            origin,
            warnings: RefCell::new(Vec::new()),
            suppressed: Cell::new(0),
            left_out: RefCell::new(Vec::new()),
        }
    }

    pub(super) fn origin(&self, offset: usize) -> SettingOrigin {
        (self.origin)(self.line_starts.partition_point(|start| *start <= offset) + 1)
    }

    /// Returns an entry, or records its error and leaves it out, so that the others are read all the same.
    pub(super) fn or_leave_out<T>(&self, entry: Result<T, Error>) -> Option<T> {
        entry.map_err(|error| self.left_out.borrow_mut().push(error)).ok()
    }

    /// Removes and returns the errors of the omitted entries.
    pub(super) fn take_left_out(&self) -> Vec<Error> {
        self.left_out.take()
    }

    /// Returns the warnings, with each unknown key by itself unless there are very many.
    pub(super) fn into_warnings(self) -> Vec<String> {
        let mut warnings = self.warnings.into_inner();
        let more = self.suppressed.get();
        if 0 < more {
            warnings.push(format!("keys without effect that are not listed here: {more}"));
        }
        warnings
    }

    /// Returns the error for an invalid value.
    pub(super) fn invalid(&self, key: &str, value: &Spanned<DeValue<'_>>, allowed: &str) -> Error {
        let found = match value.get_ref() {
            // The span of a table with a header is only the header.
            DeValue::Table(_) => "a table",
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_) => self.text.get(value.span()).unwrap_or_default(),
        };
        self.bad_value(key, value.span().start, found, allowed)
    }

    fn bad_value(&self, key: &str, offset: usize, found: &str, allowed: &str) -> Error {
        Error::BadValue {
            origin: self.origin(offset),
            key: shortened_value(key),
            found: shortened_value(found),
            allowed: allowed.to_owned(),
        }
    }

    /// Counts an unknown key, and returns whether it is listed.
    fn may_warn(&self) -> bool {
        // Searching the nearest known key for very many keys would delay every command.
        let is_listed = self.warnings.borrow().len() < MAX_UNKNOWN_WARNINGS;
        self.suppressed.set(self.suppressed.get() + usize::from(!is_listed));
        is_listed
    }

    /// Warns of a setting that had a meaning in an older program.
    pub(super) fn warn_older(&self, key: &str, offset: usize) {
        if self.may_warn() {
            let (origin, key) = (self.origin(offset), shortened_value(key));
            let words = "has no effect; `slop init --from` writes a file without it";
            self.warnings.borrow_mut().push(format!("{origin}: `{key}` {words}"));
        }
    }

    /// Warns that a project's file sets what only the user's own may set.
    pub(super) fn warn_user_only(&self, key: &str, offset: usize) {
        if self.may_warn() {
            let (origin, key) = (self.origin(offset), shortened_value(key));
            let words = "has no effect in a project's file, it belongs in the user's own";
            self.warnings.borrow_mut().push(format!("{origin}: `{key}` {words}"));
        }
    }

    fn warn_repeated(&self, value: &str, offset: usize) {
        if self.may_warn() {
            let (origin, value) = (self.origin(offset), shortened_value(value));
            self.warnings
                .borrow_mut()
                .push(format!("{origin}: an earlier entry for `{value}` has no effect"));
        }
    }

    /// Warns of a provider's key in a place from which none is read.
    fn warn_written_key(&self, key: &str, offset: usize) {
        let (origin, key) = (self.origin(offset), shortened_value(key));
        self.warnings.borrow_mut().push(format!(
            "{origin}: `{key}` has no effect, for no key is read from settings: take it out, and name the variable that \
             holds it in `{KEY_VARIABLES}`, or a file in `key_file`"
        ));
    }

    fn warn_unknown(&self, key: &str, offset: usize, known: &[String]) {
        let suggestion = suggest_known_name(key, known.iter().map(String::as_str));
        let (origin, key) = (self.origin(offset), shortened_value(key));
        self.warnings.borrow_mut().push(format!("{origin}: unknown key `{key}` has no effect{suggestion}"));
    }
}

/// The setting that names the variables of a provider's key.
const KEY_VARIABLES: &str = "key_variables";

/// Returns whether other programs store a provider's key in a setting with this name.
fn looks_like_key_name(name: &str) -> bool {
    let name: String =
        name.chars().filter(char::is_ascii_alphabetic).map(|letter| letter.to_ascii_lowercase()).collect();
    ["key", "token", "secret", "password"].iter().any(|end| name.ends_with(end))
}

pub(super) struct TomlSection<'s> {
    pub(super) source: &'s SettingsSource<'s>,
    pub(super) key: String,
    /// The offset of its representation in the text.
    pub(super) offset: usize,
    table: &'s DeTable<'s>,
}

impl<'s> TomlSection<'s> {
    /// Creates a section from the value of `key`, which must be a table.
    pub(super) fn new(
        source: &'s SettingsSource<'s>,
        key: String,
        value: &'s Spanned<DeValue<'s>>,
        allowed: &str,
    ) -> Result<Self, Error> {
        match value.get_ref() {
            DeValue::Table(table) => Ok(Self { source, key, offset: value.span().start, table }),
            _ => Err(source.invalid(&key, value, allowed)),
        }
    }

    /// Warns that an earlier entry with the same value of a key is overridden by this one.
    pub(super) fn warn_repeated(&self, name: &str, value: &str) {
        if let Some(found) = self.value(name) {
            self.source.warn_repeated(value, found.span().start);
        }
    }

    /// Warns of every key that is not in `known`.
    pub(super) fn warn_unknown_keys(&self, known: &[&str]) {
        for (name, _) in self.entries() {
            if !known.contains(&name.get_ref().as_ref()) && self.source.may_warn() {
                // A provider's key gets a warning of its own, because suggesting a name would not lead the user to
                // remove the key.
                if known.contains(&KEY_VARIABLES) && looks_like_key_name(name.get_ref()) {
                    self.source.warn_written_key(&self.dotted_key(name.get_ref()), name.span().start);
                    continue;
                }
                self.source.warn_unknown(
                    &self.dotted_key(name.get_ref()),
                    name.span().start,
                    &self.known_keys(known),
                );
            }
        }
    }

    fn known_keys(&self, known: &[&str]) -> Vec<String> {
        known.iter().map(|key| format!("{}.{key}", self.key)).collect()
    }

    /// Returns the entries in the order of the file.
    pub(super) fn entries(&self) -> Vec<(&'s Spanned<toml::de::DeString<'s>>, &'s Spanned<DeValue<'s>>)> {
        let mut entries: Vec<_> = self.table.iter().collect();
        // The table is ordered by name, but messages should follow the order of the file.
        entries.sort_by_key(|(name, _)| name.span().start);
        entries
    }

    pub(super) fn dotted_key(&self, name: &str) -> String {
        if is_bare(name) { format!("{}.{name}", self.key) } else { format!("{}.{name:?}", self.key) }
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>, Error> {
        self.read(name, "a string", |value| value.as_str().map(str::to_owned))
    }

    /// Returns the text of a required entry, which must not be empty.
    pub(super) fn required_text(&self, name: &str, allowed: &str) -> Result<String, Error> {
        let text = self.read(name, allowed, |value| {
            value.as_str().filter(|text| !text.is_empty() && !text.contains('\0')).map(str::to_owned)
        })?;
        text.ok_or_else(|| self.missing(name, allowed))
    }

    /// Returns whether an entry is true; `default` if it is missing.
    pub(super) fn boolean(&self, name: &str, default: bool) -> Result<bool, Error> {
        Ok(self.read(name, "true or false", DeValue::as_bool)?.unwrap_or(default))
    }

    pub(super) fn integer(&self, name: &str, range: RangeInclusive<u32>) -> Result<Option<u32>, Error> {
        let allowed = format!("a whole number from {} to {}", range.start(), range.end());
        self.read(name, &allowed, |value| {
            let number = value.as_integer()?;
            let number = u32::from_str_radix(number.as_str(), number.radix()).ok()?;
            range.contains(&number).then_some(number)
        })
    }

    pub(super) fn required_integer(&self, name: &str, range: RangeInclusive<u32>) -> Result<u32, Error> {
        let allowed = format!("a whole number from {} to {}", range.start(), range.end());
        self.integer(name, range)?.ok_or_else(|| self.missing(name, &allowed))
    }

    /// Returns the number of an entry, if there is one; infinity and NaN are invalid.
    pub(super) fn float(&self, name: &str, allowed: &str, most: f64) -> Result<Option<f64>, Error> {
        self.read(name, allowed, |value| {
            let number = match value {
                DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
                DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse::<f64>().ok(),
                _ => None,
            };
            // No range contains NaN, so it is rejected here, too.
            number.filter(|number| (0.0..=most).contains(number))
        })
    }

    /// Returns the strings of an entry; empty if it is missing.
    pub(super) fn strings(&self, name: &str) -> Result<Vec<String>, Error> {
        Ok(self.read(name, "a list of strings", string_list)?.unwrap_or_default())
    }

    pub(super) fn choice<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<Option<T>, Error> {
        let allowed = join_alternatives(words.iter().map(|(word, _)| *word));
        self.read(name, &allowed, |value| {
            let text = value.as_str()?;
            words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning)
        })
    }

    /// Converts an entry's value with `convert`, if there is one.
    pub(super) fn read<T>(
        &self,
        name: &str,
        allowed: &str,
        convert: impl FnOnce(&'s DeValue<'s>) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some(value) = self.value(name) else { return Ok(None) };
        match convert(value.get_ref()) {
            Some(converted) => Ok(Some(converted)),
            None => Err(self.source.invalid(&self.dotted_key(name), value, allowed)),
        }
    }

    pub(super) fn subsection(&self, name: &str, allowed: &str) -> Result<Option<Self>, Error> {
        let value = self.value(name);
        value.map(|value| Self::new(self.source, self.dotted_key(name), value, allowed)).transpose()
    }

    /// Returns the values of an entry that is a list; empty if it is missing.
    pub(super) fn values(&self, name: &str, allowed: &str) -> Result<Vec<&'s Spanned<DeValue<'s>>>, Error> {
        let list =
            self.read(name, allowed, |value| value.as_array().map(|values| values.iter().collect()))?;
        Ok(list.unwrap_or_default())
    }

    pub(super) fn value(&self, name: &str) -> Option<&'s Spanned<DeValue<'s>>> {
        self.table.get(name)
    }

    /// Returns the error for an invalid entry.
    pub(super) fn invalid(&self, name: &str, allowed: &str) -> Error {
        match self.value(name) {
            Some(value) => self.source.invalid(&self.dotted_key(name), value, allowed),
            None => self.missing(name, allowed),
        }
    }

    /// Returns the error for an invalid entry, without showing its value.
    pub(super) fn invalid_hidden(&self, name: &str, allowed: &str) -> Error {
        let offset = self.value(name).map_or(self.offset, |value| value.span().start);
        self.source.bad_value(&self.dotted_key(name), offset, "(hidden)", allowed)
    }

    pub(super) fn missing(&self, name: &str, allowed: &str) -> Error {
        self.source.bad_value(&self.dotted_key(name), self.offset, "missing", allowed)
    }
}

/// Returns the strings of a list that contains nothing else.
pub(super) fn string_list(value: &DeValue<'_>) -> Option<Vec<String>> {
    let values = value.as_array()?;
    values.iter().map(|value| value.get_ref().as_str().map(str::to_owned)).collect()
}

/// How deep tables are traversed; no setting is deeper, and a hostile file may have thousands of levels.
const DEEPEST: usize = 8;

/// A key whose value is not a table, or is an empty or too deeply nested one.
pub(super) struct TomlLeaf<'a> {
    /// The dotted key; parts that are not bare words are quoted, so that no two keys look alike.
    pub(super) key: String,
    /// Its line, from 1.
    pub(super) line: usize,
    pub(super) value: &'a Spanned<DeValue<'a>>,
    /// Where its name begins in the text.
    pub(super) offset: usize,
}

/// Returns the leaves of a parsed text in the order of the text.
pub(super) fn leaves<'a>(table: &'a DeTable<'a>, text: &str) -> Vec<TomlLeaf<'a>> {
    let mut leaves = Vec::new();
    collect_leaves(table, "", DEEPEST, &mut leaves);
    leaves.sort_by_key(|leaf| leaf.offset);
    // One pass for all leaves, because counting lines for each would take quadratic time.
    let (mut line, mut counted_to) = (1, 0);
    for leaf in &mut leaves {
        line += text[counted_to..leaf.offset].matches('\n').count();
        counted_to = leaf.offset;
        leaf.line = line;
    }
    leaves
}

/// Returns the line of the byte at `offset`, from 1.
pub(super) fn line_at(bytes: &[u8], offset: usize) -> usize {
    bytes[..offset.min(bytes.len())].split(|&byte| byte == b'\n').count()
}

fn collect_leaves<'a>(table: &'a DeTable<'a>, above: &str, levels: usize, leaves: &mut Vec<TomlLeaf<'a>>) {
    for (name, value) in table {
        let key = join_key(above, name.get_ref());
        match value.get_ref() {
            DeValue::Table(inner) if !inner.is_empty() && 0 < levels => {
                collect_leaves(inner, &key, levels - 1, leaves);
            }
            _ => leaves.push(TomlLeaf { key, line: 0, value, offset: name.span().start }),
        }
    }
}

/// Returns the dotted key of `name` below the key `above`.
pub(super) fn join_key(above: &str, name: &str) -> String {
    // Rust's escapes differ from TOML's, but a key that needs quotes is not a setting and is only shown in messages.
    let dot = if above.is_empty() { "" } else { "." };
    if is_bare(name) { format!("{above}{dot}{name}") } else { format!("{above}{dot}{name:?}") }
}

/// Returns whether `name` is a bare key in TOML.
pub(super) fn is_bare(name: &str) -> bool {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !name.is_empty() && name.bytes().all(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, usize)]) {
        let table = DeTable::parse(text).unwrap();
        let found = leaves(table.get_ref(), text);
        let found: Vec<_> = found.iter().map(|leaf| (leaf.key.as_str(), leaf.line)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn keys_are_listed_as_written_with_their_lines() {
        check("", &[]);
        check("b = 1\na = 2", &[("b", 1), ("a", 2)]);
        check("[t]\r\n\r\nx = [\r\n1]\r\ny = 1", &[("t.x", 3), ("t.y", 5)]);
        check("a.b.c = 1\na.d = 2", &[("a.b.c", 1), ("a.d", 2)]);
        check("t = { x = 1, y = {} }", &[("t.x", 1), ("t.y", 1)]);
        check("\u{feff}\n[e]", &[("e", 2)]);
        check("[[f]]\nx = 1\n[[f]]\n", &[("f", 1)]);
    }

    #[test]
    fn a_quoted_key_is_never_mistaken_for_a_dotted_one() {
        check("\"project.name\" = 1", &[("\"project.name\"", 1)]);
        check("a.\"\\n\" = 1", &[("a.\"\\n\"", 1)]);
        check("\"\" = 1", &[("\"\"", 1)]);
        check("\"a\".b = 1", &[("a.b", 1)]);
    }

    #[test]
    fn a_too_deeply_nested_table_is_one_leaf() {
        check("a.b.c.d.e.f.g.h.i.j.k = 1", &[("a.b.c.d.e.f.g.h.i", 1)]);
    }
}

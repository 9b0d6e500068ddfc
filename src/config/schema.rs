//! The schema of the settings, read from the page of their defaults.

use crate::model::suggest_known_name;
use toml::de::{DeTable, DeValue};

use super::error::shortened_value;
use super::section;
use super::section::{TomlLeaf, is_bare};

/// Every setting with its default and a sentence: the only place where a default is written.
pub const DEFAULT_TOML: &str = include_str!("../../config/default.toml");

/// What type a setting's value has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueKind {
    Text,
    Switch,
    Number,
    /// From 0 to 1.
    Fraction,
    List,
    /// A table from the ids of languages to tables with only `view`.
    Languages,
}

impl ValueKind {
    /// Returns the kind of a plain value, if there is one.
    pub(super) fn from_value(value: &toml::Value) -> Option<Self> {
        match value {
            toml::Value::String(_) => Some(Self::Text),
            toml::Value::Boolean(_) => Some(Self::Switch),
            toml::Value::Integer(_) => Some(Self::Number),
            toml::Value::Array(_) => Some(Self::List),
            toml::Value::Table(_) => Some(Self::Languages),
            toml::Value::Float(_) => Some(Self::Fraction),
            toml::Value::Datetime(_) => None,
        }
    }

    /// Converts a value to this kind, if possible: 0 and 1 are fractions, too.
    pub(super) fn accept(self, value: toml::Value) -> Option<toml::Value> {
        match (self, value) {
            (Self::Fraction, toml::Value::Integer(number @ (0 | 1))) => {
                Some(toml::Value::Float(if number == 0 { 0.0 } else { 1.0 }))
            }
            (kind, value) => (Self::from_value(&value) == Some(kind)).then_some(value),
        }
    }

    /// Describes the values of this kind.
    pub(super) const fn description(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Switch => "true or false",
            Self::Number => "a whole number",
            Self::Fraction => "a number from 0 to 1",
            Self::List => "a list of strings",
            Self::Languages => "a table such as { markdown.view = \"full\" }",
        }
    }
}

/// A setting that has a default.
pub(super) struct KnownSetting {
    pub(super) key: String,
    pub(super) kind: ValueKind,
    pub(super) default: toml::Value,
    pub(super) help: String,
}

impl KnownSetting {
    pub(super) fn section(&self) -> &str {
        self.key.rsplit_once('.').map_or("", |(section, _)| section)
    }

    /// Returns whether `key` sets the view of a language in this table of languages.
    fn has_language(&self, key: &str) -> bool {
        let inside = key.strip_prefix(&self.key).and_then(|inside| inside.strip_prefix('.'));
        let id = inside.and_then(|inside| inside.strip_suffix(".view"));
        self.kind == ValueKind::Languages && id.is_some_and(is_bare)
    }

    /// Returns the key, and its kind, that the environment variable `name` sets, if it is one of this setting's.
    fn match_variable(&self, name: &str) -> Option<(String, ValueKind)> {
        let rest = name.strip_prefix(&variable(&self.key))?;
        if self.kind != ValueKind::Languages {
            return rest.is_empty().then(|| (self.key.clone(), self.kind));
        }
        let id = rest.strip_prefix('_')?.strip_suffix("_VIEW")?;
        // Ids of languages are lowercase and have hyphens, which variables cannot have.
        let id = id.to_ascii_lowercase().replace('_', "-");
        let key = format!("{}.{id}.view", self.key);
        self.has_language(&key).then_some((key, ValueKind::Text))
    }

    /// Returns the key that `key` may have been meant for, if it is in this table of languages.
    fn language_view_like(&self, key: &str) -> Option<String> {
        let inside = key.strip_prefix(&self.key)?.strip_prefix('.')?;
        let id = inside.split('.').next().filter(|id| is_bare(id))?;
        (self.kind == ValueKind::Languages).then(|| format!("{}.{id}.view", self.key))
    }
}

/// All settings, in the order of [`DEFAULT_TOML`].
pub(super) struct SettingsSchema {
    pub(super) keys: Vec<KnownSetting>,
}

impl SettingsSchema {
    pub(super) fn built_in() -> Self {
        // The page is compiled in and read at every start, so an error in it fails every test.
        let parsed = DeTable::parse(DEFAULT_TOML).expect("the page of defaults is TOML");
        let lines: Vec<&str> = DEFAULT_TOML.lines().collect();
        let to_known = |leaf: TomlLeaf<'_>| {
            let default = to_plain(leaf.value.get_ref()).expect("a default is a plain value");
            KnownSetting {
                kind: ValueKind::from_value(&default).expect("a default has the type of a setting"),
                help: comment_above(&lines[..leaf.line - 1]),
                key: leaf.key,
                default,
            }
        };
        let leaves = section::leaves(parsed.get_ref(), DEFAULT_TOML);
        Self { keys: leaves.into_iter().map(to_known).collect() }
    }

    pub(super) fn kind(&self, key: &str) -> Option<ValueKind> {
        for known in &self.keys {
            if known.key == key {
                return Some(known.kind);
            }
            // The ids of languages are not checked, because a different version may support more.
            if known.has_language(key) {
                return Some(ValueKind::Text);
            }
        }
        None
    }

    /// Returns whether there are settings below `key`: `tiers` and `tiers.1` are sections.
    pub(super) fn is_section(&self, key: &str) -> bool {
        self.sections().any(|section| section == key)
    }

    /// Returns the end of a message, which suggests a known key or section instead of `key`.
    pub(super) fn suggest_key(&self, key: &str) -> String {
        // `languages.markdown = "full"` is an easy mistake, for which no edit distance finds the right key.
        if let Some(meant) = self.keys.iter().find_map(|known| known.language_view_like(key)) {
            return format!(", the nearest known is `{}`", shortened_value(&meant));
        }
        let keys = self.keys.iter().map(|known| known.key.as_str());
        suggest_known_name(key, keys.chain(self.sections()))
    }

    /// Returns the key, and its kind, that the environment variable `name` sets.
    pub(super) fn find_by_variable(&self, name: &str) -> Option<(String, ValueKind)> {
        self.keys.iter().find_map(|known| known.match_variable(name))
    }

    /// Returns the end of a message, which suggests a variable of a setting instead of `name`.
    pub(super) fn suggest_variable(&self, name: &str) -> String {
        let single = self.keys.iter().filter(|known| known.kind != ValueKind::Languages);
        let variables: Vec<String> = single.map(|known| variable(&known.key)).collect();
        suggest_known_name(name, variables.iter().map(String::as_str))
    }

    fn sections(&self) -> impl Iterator<Item = &str> {
        let keys = self.keys.iter().map(|known| known.key.as_str());
        keys.flat_map(|key| key.match_indices('.').map(|(dot, _)| &key[..dot]))
    }
}

/// Returns the name of the environment variable that sets `key`.
fn variable(key: &str) -> String {
    let letter = |c: char| {
        if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }
    };
    "SLOP_".chars().chain(key.chars().map(letter)).collect()
}

/// Converts a parsed value to a plain one; `None` for what no setting can be, such as a date or a number beyond 64
/// bits.
pub(super) fn to_plain(value: &DeValue<'_>) -> Option<toml::Value> {
    match value {
        DeValue::String(text) => Some(toml::Value::String(text.to_string())),
        DeValue::Boolean(switch) => Some(toml::Value::Boolean(*switch)),
        DeValue::Integer(number) => {
            let number = i64::from_str_radix(number.as_str(), number.radix());
            number.ok().map(toml::Value::Integer)
        }
        DeValue::Array(items) => {
            // All lists are of strings, so a wrong element is reported as an invalid value of its key.
            let texts = items.iter().map(|item| match item.get_ref() {
                DeValue::String(text) => Some(toml::Value::String(text.to_string())),
                _ => None,
            });
            texts.collect::<Option<_>>().map(toml::Value::Array)
        }
        // A table that is not empty is traversed, and never a value itself.
        DeValue::Table(table) if table.is_empty() => Some(toml::Value::Table(toml::Table::new())),
        DeValue::Float(number) => number.as_str().parse().ok().map(toml::Value::Float),
        DeValue::Table(_) | DeValue::Datetime(_) => None,
    }
}

/// Returns the comment that ends with the last of `lines`, as one line.
fn comment_above(lines: &[&str]) -> String {
    let mut words: Vec<&str> =
        lines.iter().rev().map_while(|line| line.strip_prefix('#')).map(str::trim).collect();
    words.reverse();
    words.join(" ")
}

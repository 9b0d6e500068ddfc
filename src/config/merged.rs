//! The layers laid over one another: for each setting the value that won, and where it came from.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::Error;
use super::Origin;
use super::error::either;
use super::error::shown;
use super::layers::Assignment;
use super::schema::Schema;

/// The list to which a project's file adds: what the user has excluded no project lets in again.
const ADDED_TO: &str = "agent.exclude";

/// A value with its origin.
pub(super) struct Setting {
    /// The value; its type is the one of the default.
    pub(super) value: toml::Value,
    /// Where it came from.
    pub(super) origin: Origin,
}

/// Settings of which it is known what they were before the project's file had its say.
const REMEMBERED: [&str; 3] = ["secrets.names", "secrets.allow", "aggregation.cache_dir"];

/// For each key its setting.
pub(super) struct Merged {
    settings: BTreeMap<String, Setting>,
    /// What the user would have, where the project's file has something else.
    users: BTreeMap<String, toml::Value>,
}

impl Merged {
    /// Returns the defaults.
    pub(super) fn built_in(schema: &Schema) -> Self {
        let setting = |value: &toml::Value| Setting { value: value.clone(), origin: Origin::BuiltIn };
        let keys = schema.keys.iter();
        let settings = keys.map(|known| (known.key.clone(), setting(&known.default))).collect();
        Self { settings, users: BTreeMap::new() }
    }

    /// Lays a layer over those that are there.
    pub(super) fn put(&mut self, layer: Vec<Assignment>) {
        for Assignment { key, mut value, origin } in layer {
            if let (ADDED_TO, Origin::ProjectFile { .. }) = (key.as_str(), &origin)
                && let (Some(below), Some(above)) =
                    (self.setting(&key).value.as_array(), value.as_array_mut())
            {
                above.splice(0..0, below.iter().cloned());
            }
            // What comes later is the environment's and the command's, which are the user's.
            self.users.remove(&key);
            if matches!(origin, Origin::ProjectFile { .. }) && REMEMBERED.contains(&key.as_str()) {
                self.users.insert(key.clone(), self.setting(&key).value.clone());
            }
            self.settings.insert(key, Setting { value, origin });
        }
    }

    /// Returns the value that the user would have, where the project's file has one of its own.
    pub(super) fn users(&self, key: &str) -> Option<&toml::Value> {
        self.users.get(key)
    }

    /// Returns the texts that the user would have; those of `key` where the project's file says nothing of them.
    pub(super) fn users_list(&self, key: &str) -> Result<Vec<String>, Error> {
        let Some(users) = self.users(key).and_then(toml::Value::as_array) else { return self.list(key) };
        Ok(users.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect())
    }

    /// Returns the setting `key`, which has a default.
    pub(super) fn setting(&self, key: &str) -> &Setting {
        self.settings.get(key).expect("every setting has a default")
    }

    /// Returns the settings whose keys begin with `section` and a dot, by their keys.
    pub(super) fn below(&self, section: &str) -> impl Iterator<Item = (&str, &Setting)> {
        let prefix = format!("{section}.");
        self.settings
            .range(prefix.clone()..)
            .map(|(key, setting)| (key.as_str(), setting))
            .take_while(move |(key, _)| key.starts_with(&prefix))
    }

    /// Returns the text of `key`.
    pub(super) fn text(&self, key: &str) -> &str {
        self.setting(key).value.as_str().expect("it has its default's type")
    }

    /// Returns whether `key` is set to true.
    pub(super) fn switch(&self, key: &str) -> bool {
        self.setting(key).value.as_bool().expect("it has its default's type")
    }

    /// Returns the number of `key`, which must lie in `range`.
    pub(super) fn number(&self, key: &str, range: RangeInclusive<u32>) -> Result<u32, Error> {
        let number = self.setting(key).value.as_integer().expect("it has its default's type");
        match u32::try_from(number) {
            Ok(number) if range.contains(&number) => Ok(number),
            Ok(_) | Err(_) => {
                let (least, most) = range.into_inner();
                Err(self.refused(key, format!("a whole number from {least} to {most}")))
            }
        }
    }

    /// Returns the texts of `key`, none of which may be empty.
    pub(super) fn list(&self, key: &str) -> Result<Vec<String>, Error> {
        let items = self.setting(key).value.as_array().expect("it has its default's type");
        let items = items.iter().map(|item| item.as_str().expect("a list holds texts"));
        let items: Vec<String> = items.map(str::to_owned).collect();
        if items.iter().any(|item| item.trim().is_empty()) {
            return Err(self.refused(key, "a list of strings that are not empty".to_owned()));
        }
        Ok(items)
    }

    /// Returns what the word of `key` stands for, which must be one of `words`.
    pub(super) fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<T, Error> {
        let text = self.text(key);
        match words.iter().find(|(word, _)| *word == text) {
            Some((_, meaning)) => Ok(*meaning),
            None => Err(self.refused(key, either(words.iter().map(|(word, _)| *word)))),
        }
    }

    /// Returns the error that `key` does not hold what is allowed.
    pub(super) fn refused(&self, key: &str, allowed: String) -> Error {
        let setting = self.setting(key);
        Error::BadValue {
            origin: setting.origin.clone(),
            key: shown(key),
            found: shown(&setting.value.to_string()),
            allowed,
        }
    }
}

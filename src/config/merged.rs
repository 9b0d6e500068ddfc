//! The layers laid over one another: for each setting the value that won, and where it came from.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::Error;
use super::SettingOrigin;
use super::error::join_alternatives;
use super::error::printable;
use super::layers::SettingAssignment;
use super::schema::SettingsSchema;

/// The list to which a project's file adds: what the user has excluded no project lets in again.
const APPENDED_BY_PROJECT: &str = "agent.exclude";

/// A value with its origin.
pub(super) struct MergedSetting {
    /// The value; its type is the one of the default.
    pub(super) value: toml::Value,
    /// Where it came from.
    pub(super) origin: SettingOrigin,
}

/// Settings of which it is known what they were before the project's file had its say.
const USER_VALUES_KEPT: [&str; 3] = ["secrets.names", "secrets.allow", "aggregation.cache_dir"];

/// For each key its setting.
pub(super) struct MergedSettings {
    settings: BTreeMap<String, MergedSetting>,
    /// What the user would have, where the project's file has something else.
    user_values: BTreeMap<String, toml::Value>,
}

impl MergedSettings {
    /// Returns the defaults.
    pub(super) fn built_in(schema: &SettingsSchema) -> Self {
        let setting =
            |value: &toml::Value| MergedSetting { value: value.clone(), origin: SettingOrigin::BuiltIn };
        let keys = schema.keys.iter();
        let settings = keys.map(|known| (known.key.clone(), setting(&known.default))).collect();
        Self { settings, user_values: BTreeMap::new() }
    }

    /// Lays a layer over those that are there.
    pub(super) fn overlay(&mut self, layer: Vec<SettingAssignment>) {
        for SettingAssignment { key, mut value, origin } in layer {
            if let (APPENDED_BY_PROJECT, SettingOrigin::ProjectFile { .. }) = (key.as_str(), &origin)
                && let (Some(below), Some(above)) =
                    (self.setting(&key).value.as_array(), value.as_array_mut())
            {
                above.splice(0..0, below.iter().cloned());
            }
            // What comes later is the environment's and the command's, which are the user's.
            self.user_values.remove(&key);
            if matches!(origin, SettingOrigin::ProjectFile { .. }) && USER_VALUES_KEPT.contains(&key.as_str())
            {
                self.user_values.insert(key.clone(), self.setting(&key).value.clone());
            }
            self.settings.insert(key, MergedSetting { value, origin });
        }
    }

    /// Returns the value that the user would have, where the project's file has one of its own.
    pub(super) fn user_value(&self, key: &str) -> Option<&toml::Value> {
        self.user_values.get(key)
    }

    /// Returns the texts that the user would have; those of `key` where the project's file says nothing of them.
    pub(super) fn user_list(&self, key: &str) -> Result<Vec<String>, Error> {
        let Some(users) = self.user_value(key).and_then(toml::Value::as_array) else {
            return self.strings(key);
        };
        Ok(users.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect())
    }

    /// Returns the setting `key`, which has a default.
    pub(super) fn setting(&self, key: &str) -> &MergedSetting {
        self.settings.get(key).expect("every setting has a default")
    }

    /// Returns the settings whose keys begin with `section` and a dot, by their keys.
    pub(super) fn settings_under(&self, section: &str) -> impl Iterator<Item = (&str, &MergedSetting)> {
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
    pub(super) fn boolean(&self, key: &str) -> bool {
        self.setting(key).value.as_bool().expect("it has its default's type")
    }

    /// Returns the number of `key`, which must lie in `range`.
    pub(super) fn number(&self, key: &str, range: RangeInclusive<u32>) -> Result<u32, Error> {
        let number = self.setting(key).value.as_integer().expect("it has its default's type");
        match u32::try_from(number) {
            Ok(number) if range.contains(&number) => Ok(number),
            Ok(_) | Err(_) => {
                let (least, most) = range.into_inner();
                Err(self.invalid(key, format!("a whole number from {least} to {most}")))
            }
        }
    }

    /// Returns the texts of `key`, none of which may be empty.
    pub(super) fn strings(&self, key: &str) -> Result<Vec<String>, Error> {
        let items = self.setting(key).value.as_array().expect("it has its default's type");
        let items = items.iter().map(|item| item.as_str().expect("a list holds texts"));
        let items: Vec<String> = items.map(str::to_owned).collect();
        if items.iter().any(|item| item.trim().is_empty()) {
            return Err(self.invalid(key, "a list of strings that are not empty".to_owned()));
        }
        Ok(items)
    }

    /// Returns what the word of `key` stands for, which must be one of `words`.
    pub(super) fn choice<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<T, Error> {
        let text = self.text(key);
        match words.iter().find(|(word, _)| *word == text) {
            Some((_, meaning)) => Ok(*meaning),
            None => Err(self.invalid(key, join_alternatives(words.iter().map(|(word, _)| *word)))),
        }
    }

    /// Returns the error that `key` does not hold what is allowed.
    pub(super) fn invalid(&self, key: &str, allowed: String) -> Error {
        let setting = self.setting(key);
        Error::BadValue {
            origin: setting.origin.clone(),
            key: printable(key),
            found: printable(&setting.value.to_string()),
            allowed,
        }
    }
}

//! The layers: each is read into assignments of known keys to values of the right type, and overrides those below it.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use toml::de::{DeTable, DeValue};

use super::curation::Curation;
use super::error::{Error, SettingOrigin, join_alternatives, shortened_value};
use super::links::ProposedResource;
use super::schema::{SettingsSchema, ValueKind, to_plain};
use super::section::{SettingsSource, TomlLeaf, line_at};
use super::user_only::{UserProviders, drop_from_project};
use super::{curation, hidden, links, older_files, section, user_only};

/// Variables that are not settings, but are read by `cli` itself.
// Listed, because each would otherwise be reported as an unknown setting by every command.
const RESERVED_VARIABLES: [&str; 7] = [
    "SLOP_CONFIG",
    "SLOP_LINKS",
    "SLOP_LOG",
    "SLOP_NO_DAEMON",
    "SLOP_PROJECT",
    "SLOP_SHARE_SIGNING_KEY",
    "SLOP_SHARE_TEAM_KEY",
];

/// A setting in one layer.
#[derive(Debug)]
pub(super) struct SettingAssignment {
    /// A key of the schema.
    pub(super) key: String,
    /// A value of the key's kind.
    pub(super) value: toml::Value,
    pub(super) origin: SettingOrigin,
}

/// The content of a settings file.
pub(super) struct FileLayer {
    pub(super) settings: Vec<SettingAssignment>,
    pub(super) curation: Curation,
    pub(super) resources: Vec<ProposedResource>,
    pub(super) user_only: UserProviders,
    pub(super) warnings: Vec<String>,
    /// The errors of curated entries that were left out.
    pub(super) left_out: Vec<Error>,
}

/// The owner of a file: a project's may come from anyone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileOwner {
    User,
    Project,
    /// A project of an older program, whose settings may differ.
    OlderProject,
}

/// Reads a file; `origin` names a line of it.
pub(super) fn from_file(
    bytes: &[u8],
    whose: FileOwner,
    origin: &dyn Fn(usize) -> SettingOrigin,
    schema: &SettingsSchema,
) -> Result<FileLayer, Error> {
    let text = std::str::from_utf8(bytes)
        .map_err(|source| Error::NotUtf8 { origin: origin(line_at(bytes, source.valid_up_to())), source })?;
    let parsed = DeTable::parse(text).map_err(|error| Error::Syntax {
        origin: origin(line_at(bytes, error.span().map_or(0, |span| span.start))),
        message: error.message().to_owned(),
    })?;
    let source = SettingsSource::new(text, origin);
    let mut top = parsed.into_inner();
    // Curation and providers are removed first: what remains are settings, all of whose keys are known.
    let is_older = whose == FileOwner::OlderProject || top.get("files").is_some_and(older_files::has_paths);
    if is_older {
        older_files::move_settings(&mut top);
    }
    let curation = curation::extract(&mut top, &source);
    let resources = top.remove("resources").and_then(|value| {
        let read = links::read_proposed(&source, &value);
        source.or_leave_out(read)
    });
    let left_out = source.take_left_out();
    // Removed from a project's file before anything interprets it, because a provider of its own could name an address
    // or a program.
    let trusted = match whose {
        FileOwner::User => user_only::extract(&mut top, &source)?,
        FileOwner::Project | FileOwner::OlderProject => {
            drop_from_project(&mut top, &source);
            UserProviders::default()
        }
    };
    let mut leaves = section::leaves(&top, text);
    if whose != FileOwner::User {
        // Checked before the schema: what a project may not set must not cause an error either, or the project could
        // stop every command.
        leaves.retain(|leaf| is_allowed_in_project(leaf, &source));
    }
    let assignment = |leaf| match leaf_assignment(leaf, text, origin(leaf.line), schema) {
        // The file was written for a program with different settings.
        Err(Error::UnknownKey { .. }) if is_older => {
            source.warn_older(&leaf.key, leaf.offset);
            None
        }
        read => read.transpose(),
    };
    let settings = leaves.iter().filter_map(assignment).collect::<Result<_, _>>()?;
    Ok(FileLayer {
        settings,
        curation,
        resources: resources.unwrap_or_default(),
        user_only: trusted,
        warnings: source.into_warnings(),
        left_out,
    })
}

/// Returns whether a project's file may set this, and warns if not. A project can prevent calls of models, but can
/// neither cause them, nor show secrets, nor declare itself trusted.
fn is_allowed_in_project(leaf: &TomlLeaf<'_>, source: &SettingsSource<'_>) -> bool {
    let is_restraint = match leaf.key.as_str() {
        "agent.exclude" => true,
        // Only `true` would cause calls of models. A wrong type passes here, and is reported as an invalid value below.
        "agent.background" => leaf.value.get_ref().as_bool() != Some(true),
        // Otherwise a project's author could show the user's secrets to any agent.
        "secrets.show" => false,
        // Anything else could show foreign text, or send the user's text elsewhere.
        "share.mode" => leaf.value.get_ref().as_str() == Some("off"),
        key => !["agent.", "share.", "trust."].iter().any(|section| key.starts_with(section)),
    };
    if !is_restraint {
        source.warn_user_only(&leaf.key, leaf.offset);
    }
    is_restraint
}

/// Reads the environment. An empty variable counts as one that is not set.
pub(super) fn from_environment(
    variables: &[(String, String)],
    schema: &SettingsSchema,
) -> Result<(Vec<SettingAssignment>, Vec<String>), Error> {
    let (mut layer, mut warnings) = (Vec::new(), Vec::new());
    for (name, text) in slop_variables(variables) {
        let Some((key, kind)) = schema.find_by_variable(name) else {
            // Only a warning, because the variable may belong to another program, or to a later version of slop.
            let suggestion = schema.suggest_variable(name);
            warnings.push(format!("unknown variable `{}`{suggestion}", shortened_value(name)));
            continue;
        };
        let value = match kind {
            // A text is used as is: in a variable, quotes would be part of it.
            ValueKind::Text => Some(toml::Value::String(text.clone())),
            ValueKind::Switch
            | ValueKind::Number
            | ValueKind::Fraction
            | ValueKind::List
            | ValueKind::Languages => toml_value(text, kind),
        };
        layer.push(checked_assignment(key, kind, value, text, SettingOrigin::Environment(name.clone()))?);
    }
    Ok((layer, warnings))
}

/// Returns the variables that are settings, sorted by name, so that the same environment always causes the same
/// warnings and the same first error.
pub(super) fn slop_variables(variables: &[(String, String)]) -> Vec<&(String, String)> {
    let is_ours = |name: &str| name.starts_with("SLOP_") && !RESERVED_VARIABLES.contains(&name);
    let mut ours: Vec<_> =
        variables.iter().filter(|(name, text)| is_ours(name) && !text.is_empty()).collect();
    ours.sort();
    ours
}

/// Reads pairs of a dotted key and a value in TOML; strings need no quotes.
pub(super) fn from_flags(
    flags: &[(String, String)],
    schema: &SettingsSchema,
) -> Result<Vec<SettingAssignment>, Error> {
    let read = |(key, text): &(String, String)| {
        let Some(kind) = schema.kind(key) else {
            return Err(unknown_setting(key, text, SettingOrigin::Flag, schema));
        };
        let bare = || (kind == ValueKind::Text).then(|| toml::Value::String(text.clone()));
        let value = toml_value(text, kind).or_else(bare);
        checked_assignment(key.clone(), kind, value, text, SettingOrigin::Flag)
    };
    flags.iter().map(read).collect()
}

/// Returns the assignment of a leaf; `None` for an empty section.
fn leaf_assignment(
    leaf: &TomlLeaf<'_>,
    text: &str,
    origin: SettingOrigin,
    schema: &SettingsSchema,
) -> Result<Option<SettingAssignment>, Error> {
    let written = text.get(leaf.value.span()).unwrap_or_default();
    // `slop init` leaves headers without settings below them.
    let is_empty_table = matches!(leaf.value.get_ref(), DeValue::Table(table) if table.is_empty());
    match schema.kind(&leaf.key) {
        Some(kind) => {
            let value = to_plain(leaf.value.get_ref()).and_then(|value| kind.accept(value));
            checked_assignment(leaf.key.clone(), kind, value, written, origin).map(Some)
        }
        None if is_empty_table && schema.is_section(&leaf.key) => Ok(None),
        None => Err(unknown_setting(&leaf.key, written, origin, schema)),
    }
}

fn toml_value(text: &str, kind: ValueKind) -> Option<toml::Value> {
    let parsed = DeValue::parse(text.trim()).ok()?;
    to_plain(parsed.get_ref()).and_then(|value| kind.accept(value))
}

fn checked_assignment(
    key: String,
    kind: ValueKind,
    value: Option<toml::Value>,
    written: &str,
    origin: SettingOrigin,
) -> Result<SettingAssignment, Error> {
    if let Some(value) = value {
        return Ok(SettingAssignment { key, value, origin });
    }
    let nothing = written.is_empty().then(|| "nothing".to_owned());
    let found = nothing.or_else(|| hidden::shown_value(&key, written));
    Err(Error::BadValue {
        origin,
        key: shortened_value(&key),
        found: found.unwrap_or_else(|| shortened_value(written)),
        allowed: kind.description().to_owned(),
    })
}

fn unknown_setting(key: &str, written: &str, origin: SettingOrigin, schema: &SettingsSchema) -> Error {
    if schema.is_section(key) {
        return Error::BadValue {
            origin,
            key: key.to_owned(),
            found: shortened_value(written),
            allowed: "a table of settings".to_owned(),
        };
    }
    Error::UnknownKey { origin, key: shortened_value(key), suggestion: schema.suggest_key(key) }
}

/// The list to which a project's file only adds, so that no project can include what the user has excluded.
const APPENDED_BY_PROJECT: &str = "agent.exclude";

pub(super) struct MergedSetting {
    /// The value, of the same type as the default.
    pub(super) value: toml::Value,
    pub(super) origin: SettingOrigin,
}

/// The settings of which the user's value is kept in addition to the project's.
const USER_VALUES_KEPT: [&str; 3] = ["secrets.names", "secrets.allow", "aggregation.cache_dir"];

pub(super) struct MergedSettings {
    settings: BTreeMap<String, MergedSetting>,
    /// The user's values of keys that the project's file overrides.
    user_values: BTreeMap<String, toml::Value>,
}

impl MergedSettings {
    pub(super) fn built_in(schema: &SettingsSchema) -> Self {
        let setting =
            |value: &toml::Value| MergedSetting { value: value.clone(), origin: SettingOrigin::BuiltIn };
        let keys = schema.keys.iter();
        let settings = keys.map(|known| (known.key.clone(), setting(&known.default))).collect();
        Self { settings, user_values: BTreeMap::new() }
    }

    pub(super) fn overlay(&mut self, layer: Vec<SettingAssignment>) {
        for SettingAssignment { key, mut value, origin } in layer {
            if let (APPENDED_BY_PROJECT, SettingOrigin::ProjectFile { .. }) = (key.as_str(), &origin)
                && let (Some(below), Some(above)) =
                    (self.setting(&key).value.as_array(), value.as_array_mut())
            {
                // The user's patterns stay in the list, so that no project can include what they exclude.
                above.splice(0..0, below.iter().cloned());
            }
            // Later layers, the environment and the flags, belong to the user.
            self.user_values.remove(&key);
            if matches!(origin, SettingOrigin::ProjectFile { .. }) && USER_VALUES_KEPT.contains(&key.as_str())
            {
                self.user_values.insert(key.clone(), self.setting(&key).value.clone());
            }
            self.settings.insert(key, MergedSetting { value, origin });
        }
    }

    /// Returns the user's value of a key that the project's file overrides.
    pub(super) fn user_value(&self, key: &str) -> Option<&toml::Value> {
        self.user_values.get(key)
    }

    /// Returns the user's list for `key`, whether or not the project's file overrides it.
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
            // The keys of a section are adjacent in the map.
            .range(prefix.clone()..)
            .map(|(key, setting)| (key.as_str(), setting))
            .take_while(move |(key, _)| key.starts_with(&prefix))
    }

    pub(super) fn text(&self, key: &str) -> &str {
        self.setting(key).value.as_str().expect("it has its default's type")
    }

    pub(super) fn boolean(&self, key: &str) -> bool {
        self.setting(key).value.as_bool().expect("it has its default's type")
    }

    /// Returns the number of `key`, which must be in `range`.
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

    /// Returns the fraction of `key` in thousandths.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and 1")]
    pub(super) fn thousandths(&self, key: &str) -> Result<u32, Error> {
        let fraction = self.setting(key).value.as_float().expect("it has its default's type");
        // No range contains NaN, so it is rejected here, too.
        if !(0.0..=1.0).contains(&fraction) {
            return Err(self.invalid(key, "a number from 0 to 1".to_owned()));
        }
        Ok((fraction * 1000.0).round() as u32)
    }

    /// Returns the texts of `key`, none of which may be empty.
    pub(super) fn strings(&self, key: &str) -> Result<Vec<String>, Error> {
        let items = self.setting(key).value.as_array().expect("it has its default's type");
        let items = items.iter().map(|item| item.as_str().expect("a list contains strings"));
        let items: Vec<String> = items.map(str::to_owned).collect();
        if items.iter().any(|item| item.trim().is_empty()) {
            return Err(self.invalid(key, "a list of strings that are not empty".to_owned()));
        }
        Ok(items)
    }

    /// Returns the value that `key` names, which must be one of `words`.
    pub(super) fn choice<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<T, Error> {
        let text = self.text(key);
        match words.iter().find(|(word, _)| *word == text) {
            Some((_, meaning)) => Ok(*meaning),
            None => Err(self.invalid(key, join_alternatives(words.iter().map(|(word, _)| *word)))),
        }
    }

    /// Returns the error for an invalid value of `key`.
    pub(super) fn invalid(&self, key: &str, allowed: String) -> Error {
        let setting = self.setting(key);
        Error::BadValue {
            origin: setting.origin.clone(),
            key: shortened_value(key),
            found: hidden::shown_value(key, setting.value.as_str().unwrap_or_default())
                .unwrap_or_else(|| shortened_value(&setting.value.to_string())),
            allowed,
        }
    }
}

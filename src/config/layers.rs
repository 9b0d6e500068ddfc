//! Each layer read into assignments: known keys, values of the right type, and where they are written.

use toml::de::DeTable;
use toml::de::DeValue;

use super::Error;
use super::SettingOrigin;
use super::curation;
use super::curation::Curation;
use super::error::printable;
use super::schema::SettingsSchema;
use super::schema::ValueKind;
use super::schema::to_plain;
use super::section::SettingsSource;
use super::table;
use super::table::TomlLeaf;
use super::trusted;
use super::trusted::UserProviders;

/// Variables that are no settings: `cli` itself reads them before there are any.
const RESERVED_VARIABLES: [&str; 4] = ["SLOP_CONFIG", "SLOP_LOG", "SLOP_NO_DAEMON", "SLOP_PROJECT"];

/// A setting as one layer has it.
#[derive(Debug)]
pub(super) struct SettingAssignment {
    /// A key of the schema.
    pub(super) key: String,
    /// A value of the key's kind.
    pub(super) value: toml::Value,
    /// Where it is written.
    pub(super) origin: SettingOrigin,
}

/// What a file holds.
pub(super) struct FileLayer {
    /// The settings.
    pub(super) settings: Vec<SettingAssignment>,
    /// What a person curated.
    pub(super) curation: Curation,
    /// What the file says of providers and prices.
    pub(super) user_only: UserProviders,
    /// What is odd but stops nothing.
    pub(super) warnings: Vec<String>,
}

/// Whose a file is: a project's may come from anyone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileOwner {
    /// The user's own.
    User,
    /// The project's.
    Project,
}

/// Reads a file; `origin` names a line of it.
pub(super) fn from_file(
    bytes: &[u8],
    whose: FileOwner,
    origin: &dyn Fn(usize) -> SettingOrigin,
    schema: &SettingsSchema,
) -> Result<FileLayer, Error> {
    let text = std::str::from_utf8(bytes).map_err(|source| Error::NotUtf8 {
        origin: origin(table::line_at(bytes, source.valid_up_to())),
        source,
    })?;
    let parsed = DeTable::parse(text).map_err(|error| Error::Syntax {
        origin: origin(table::line_at(bytes, error.span().map_or(0, |span| span.start))),
        message: error.message().to_owned(),
    })?;
    let source = SettingsSource::new(text, origin);
    let mut top = parsed.into_inner();
    let curation = curation::extract(&mut top, &source)?;
    let trusted = match whose {
        FileOwner::User => trusted::extract(&mut top, &source)?,
        FileOwner::Project => {
            trusted::drop_from_project(&mut top, &source);
            UserProviders::default()
        }
    };
    let mut leaves = table::leaves(&top, text);
    if whose == FileOwner::Project {
        leaves.retain(|leaf| is_allowed_in_project(leaf, &source));
    }
    let settings = leaves.iter().map(|leaf| leaf_assignment(leaf, text, origin(leaf.line), schema));
    let settings = settings.filter_map(Result::transpose).collect::<Result<_, _>>()?;
    Ok(FileLayer { settings, curation, user_only: trusted, warnings: source.into_warnings() })
}

/// Says whether a project's file may set this, and warns where it may not: a project can keep models from being asked,
/// and never have them asked.
fn is_allowed_in_project(leaf: &TomlLeaf<'_>, source: &SettingsSource<'_>) -> bool {
    let is_restraint = match leaf.key.as_str() {
        "agent.exclude" => true,
        "agent.background" => leaf.value.get_ref().as_bool() != Some(true),
        key => !key.starts_with("agent."),
    };
    if !is_restraint {
        source.warn_user_only(&leaf.key, leaf.offset);
    }
    is_restraint
}

/// Reads the environment. What is no setting gives a warning: it may be another program's, or a later slop's.
///
/// An empty variable counts as one that is not set.
pub(super) fn from_environment(
    variables: &[(String, String)],
    schema: &SettingsSchema,
) -> Result<(Vec<SettingAssignment>, Vec<String>), Error> {
    let (mut layer, mut warnings) = (Vec::new(), Vec::new());
    for (name, text) in slop_variables(variables) {
        let Some((key, kind)) = schema.find_by_variable(name) else {
            let nearest = schema.nearest_variable(name);
            warnings.push(format!("unknown variable {}, the nearest known is {nearest}", printable(name)));
            continue;
        };
        let value = match kind {
            ValueKind::Text => Some(toml::Value::String(text.clone())),
            ValueKind::Switch | ValueKind::Number | ValueKind::List | ValueKind::Languages => {
                toml_value(text, kind)
            }
        };
        layer.push(checked_assignment(key, kind, value, text, SettingOrigin::Environment(name.clone()))?);
    }
    Ok((layer, warnings))
}

/// Returns the variables that are settings, by name, so that the same environment always gives the same warnings and the
/// same first error.
pub(super) fn slop_variables(variables: &[(String, String)]) -> Vec<&(String, String)> {
    let is_ours = |name: &str| name.starts_with("SLOP_") && !RESERVED_VARIABLES.contains(&name);
    let mut ours: Vec<_> =
        variables.iter().filter(|(name, text)| is_ours(name) && !text.is_empty()).collect();
    ours.sort();
    ours
}

/// Reads pairs of a dotted key and a value in TOML; a string may go without its quotes.
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

/// Returns what the leaf sets; `None` for an empty section, which sets nothing.
fn leaf_assignment(
    leaf: &TomlLeaf<'_>,
    text: &str,
    origin: SettingOrigin,
    schema: &SettingsSchema,
) -> Result<Option<SettingAssignment>, Error> {
    let written = text.get(leaf.value.span()).unwrap_or_default();
    let is_empty_table = matches!(leaf.value.get_ref(), DeValue::Table(table) if table.is_empty());
    match schema.kind(&leaf.key) {
        Some(kind) => {
            let value =
                to_plain(leaf.value.get_ref()).filter(|value| ValueKind::from_value(value) == Some(kind));
            checked_assignment(leaf.key.clone(), kind, value, written, origin).map(Some)
        }
        None if is_empty_table && schema.is_section(&leaf.key) => Ok(None),
        None => Err(unknown_setting(&leaf.key, written, origin, schema)),
    }
}

fn toml_value(text: &str, kind: ValueKind) -> Option<toml::Value> {
    let parsed = DeValue::parse(text.trim()).ok()?;
    to_plain(parsed.get_ref()).filter(|value| ValueKind::from_value(value) == Some(kind))
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
    Err(Error::BadValue {
        origin,
        key: printable(&key),
        found: nothing.unwrap_or_else(|| printable(written)),
        allowed: kind.description().to_owned(),
    })
}

fn unknown_setting(key: &str, written: &str, origin: SettingOrigin, schema: &SettingsSchema) -> Error {
    if schema.is_section(key) {
        return Error::BadValue {
            origin,
            key: key.to_owned(),
            found: printable(written),
            allowed: "a table of settings".to_owned(),
        };
    }
    Error::UnknownKey { origin, key: printable(key), nearest: schema.nearest(key) }
}

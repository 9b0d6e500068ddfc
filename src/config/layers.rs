//! Each layer read into assignments: known keys, values of the right type, and where they are written.

use toml::de::DeTable;
use toml::de::DeValue;

use super::Error;
use super::Origin;
use super::curation;
use super::curation::Curation;
use super::error::shown;
use super::schema::Kind;
use super::schema::Schema;
use super::schema::plain;
use super::section::Source;
use super::table;
use super::table::Leaf;
use super::trusted;
use super::trusted::Written;

/// Variables that are no settings: `cli` itself reads them before there are any.
const RESERVED_VARIABLES: [&str; 4] = ["SLOP_CONFIG", "SLOP_LOG", "SLOP_NO_DAEMON", "SLOP_PROJECT"];

/// A setting as one layer has it.
#[derive(Debug)]
pub(super) struct Assignment {
    /// A key of the schema.
    pub(super) key: String,
    /// A value of the key's kind.
    pub(super) value: toml::Value,
    /// Where it is written.
    pub(super) origin: Origin,
}

/// What a file holds.
pub(super) struct FileLayer {
    /// The settings.
    pub(super) settings: Vec<Assignment>,
    /// What a person curated.
    pub(super) curation: Curation,
    /// What the file says of providers and prices.
    pub(super) trusted: Written,
    /// What is odd but stops nothing.
    pub(super) warnings: Vec<String>,
}

/// Whose a file is: a project's may come from anyone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// The user's own.
    User,
    /// The project's.
    Project,
}

/// Reads a file; `origin` names a line of it.
pub(super) fn from_file(
    bytes: &[u8],
    whose: Whose,
    origin: &dyn Fn(usize) -> Origin,
    schema: &Schema,
) -> Result<FileLayer, Error> {
    let text = std::str::from_utf8(bytes).map_err(|source| Error::NotUtf8 {
        origin: origin(table::line_at(bytes, source.valid_up_to())),
        source,
    })?;
    let parsed = DeTable::parse(text).map_err(|error| Error::Syntax {
        origin: origin(table::line_at(bytes, error.span().map_or(0, |span| span.start))),
        message: error.message().to_owned(),
    })?;
    let source = Source::new(text, origin);
    let mut top = parsed.into_inner();
    let curation = curation::take(&mut top, &source)?;
    let trusted = match whose {
        Whose::User => trusted::take(&mut top, &source)?,
        Whose::Project => {
            trusted::drop_from_project(&mut top, &source);
            Written::default()
        }
    };
    let mut leaves = table::leaves(&top, text);
    if whose == Whose::Project {
        leaves.retain(|leaf| is_for_projects(leaf, &source));
    }
    let settings = leaves.iter().map(|leaf| assignment_of(leaf, text, origin(leaf.line), schema));
    let settings = settings.filter_map(Result::transpose).collect::<Result<_, _>>()?;
    Ok(FileLayer { settings, curation, trusted, warnings: source.into_warnings() })
}

/// Says whether a project's file may set this, and warns where it may not: a project can keep models from being asked,
/// and never have them asked.
fn is_for_projects(leaf: &Leaf<'_>, source: &Source<'_>) -> bool {
    let is_restraint = match leaf.key.as_str() {
        "agent.exclude" => true,
        "agent.background" => leaf.value.get_ref().as_bool() != Some(true),
        key => !key.starts_with("agent."),
    };
    if !is_restraint {
        source.warn_untrusted(&leaf.key, leaf.offset);
    }
    is_restraint
}

/// Reads the environment. What is no setting gives a warning: it may be another program's, or a later slop's.
///
/// An empty variable counts as one that is not set.
pub(super) fn from_environment(
    variables: &[(String, String)],
    schema: &Schema,
) -> Result<(Vec<Assignment>, Vec<String>), Error> {
    let (mut layer, mut warnings) = (Vec::new(), Vec::new());
    for (name, text) in ours(variables) {
        let Some((key, kind)) = schema.key_of_variable(name) else {
            let nearest = schema.nearest_variable(name);
            warnings.push(format!("unknown variable {}, the nearest known is {nearest}", shown(name)));
            continue;
        };
        let value = match kind {
            Kind::Text => Some(toml::Value::String(text.clone())),
            Kind::Switch | Kind::Number | Kind::List | Kind::Languages => toml_value(text, kind),
        };
        layer.push(assigned(key, kind, value, text, Origin::Environment(name.clone()))?);
    }
    Ok((layer, warnings))
}

/// Returns the variables that are settings, by name, so that the same environment always gives the same warnings and the
/// same first error.
pub(super) fn ours(variables: &[(String, String)]) -> Vec<&(String, String)> {
    let is_ours = |name: &str| name.starts_with("SLOP_") && !RESERVED_VARIABLES.contains(&name);
    let mut ours: Vec<_> =
        variables.iter().filter(|(name, text)| is_ours(name) && !text.is_empty()).collect();
    ours.sort();
    ours
}

/// Reads pairs of a dotted key and a value in TOML; a string may go without its quotes.
pub(super) fn from_flags(flags: &[(String, String)], schema: &Schema) -> Result<Vec<Assignment>, Error> {
    let read = |(key, text): &(String, String)| {
        let Some(kind) = schema.kind(key) else {
            return Err(not_a_setting(key, text, Origin::Flag, schema));
        };
        let bare = || (kind == Kind::Text).then(|| toml::Value::String(text.clone()));
        let value = toml_value(text, kind).or_else(bare);
        assigned(key.clone(), kind, value, text, Origin::Flag)
    };
    flags.iter().map(read).collect()
}

/// Returns what the leaf sets; `None` for an empty section, which sets nothing.
fn assignment_of(
    leaf: &Leaf<'_>,
    text: &str,
    origin: Origin,
    schema: &Schema,
) -> Result<Option<Assignment>, Error> {
    let written = text.get(leaf.value.span()).unwrap_or_default();
    let is_empty_table = matches!(leaf.value.get_ref(), DeValue::Table(table) if table.is_empty());
    match schema.kind(&leaf.key) {
        Some(kind) => {
            let value = plain(leaf.value.get_ref()).filter(|value| Kind::of(value) == Some(kind));
            assigned(leaf.key.clone(), kind, value, written, origin).map(Some)
        }
        None if is_empty_table && schema.is_section(&leaf.key) => Ok(None),
        None => Err(not_a_setting(&leaf.key, written, origin, schema)),
    }
}

fn toml_value(text: &str, kind: Kind) -> Option<toml::Value> {
    let parsed = DeValue::parse(text.trim()).ok()?;
    plain(parsed.get_ref()).filter(|value| Kind::of(value) == Some(kind))
}

fn assigned(
    key: String,
    kind: Kind,
    value: Option<toml::Value>,
    written: &str,
    origin: Origin,
) -> Result<Assignment, Error> {
    if let Some(value) = value {
        return Ok(Assignment { key, value, origin });
    }
    let nothing = written.is_empty().then(|| "nothing".to_owned());
    Err(Error::BadValue {
        origin,
        key: shown(&key),
        found: nothing.unwrap_or_else(|| shown(written)),
        allowed: kind.in_words().to_owned(),
    })
}

fn not_a_setting(key: &str, written: &str, origin: Origin, schema: &Schema) -> Error {
    if schema.is_section(key) {
        return Error::BadValue {
            origin,
            key: key.to_owned(),
            found: shown(written),
            allowed: "a table of settings".to_owned(),
        };
    }
    Error::UnknownKey { origin, key: shown(key), nearest: schema.nearest(key) }
}

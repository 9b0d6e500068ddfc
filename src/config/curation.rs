//! What people curate, read from the settings files: `[[files]]`, `[presets.NAME]` and `[personas.NAME]`.

use toml::Spanned;
use toml::de::DeTable;
use toml::de::DeValue;

use super::Error;
use super::SettingOrigin;
use super::items;
use super::items::ITEM;
use super::section::SettingsSource;
use super::section::TomlSection;
use crate::model::AggregationStrategy;
use crate::model::FileItem;
use crate::model::Persona;
use crate::model::PreferredModel;
use crate::model::Preset;

/// What people have curated, of all layers together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curation {
    /// The project's items, in the order in which they are written.
    pub files: Vec<FileItem>,
    /// The presets, by name; the project's take the place of the user's.
    pub presets: Vec<SavedEntry<Preset>>,
    /// The personas, by name; the project's take the place of the user's.
    pub personas: Vec<SavedEntry<Persona>>,
}

/// Something with a name, and where it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedEntry<T> {
    /// What is saved.
    pub value: T,
    /// Where it is written.
    pub origin: SettingOrigin,
}

impl Curation {
    /// Returns the preset of that name.
    pub fn preset(&self, name: &str) -> Option<&SavedEntry<Preset>> {
        self.presets.iter().find(|preset| preset.value.name == name)
    }

    /// Returns the persona of that name.
    pub fn persona(&self, name: &str) -> Option<&SavedEntry<Persona>> {
        self.personas.iter().find(|persona| persona.value.name == name)
    }

    /// Lays what a higher layer holds over what is there.
    pub(super) fn overlay(&mut self, layer: Self) {
        self.files = layer.files;
        overlay_by_name(&mut self.presets, layer.presets, |preset| &preset.name);
        overlay_by_name(&mut self.personas, layer.personas, |persona| &persona.name);
    }
}

fn overlay_by_name<T>(below: &mut Vec<SavedEntry<T>>, above: Vec<SavedEntry<T>>, name: fn(&T) -> &str) {
    below.retain(|old| !above.iter().any(|new| name(&new.value) == name(&old.value)));
    below.extend(above);
    below.sort_by(|a, b| name(&a.value).cmp(name(&b.value)));
}

/// Takes what is curated out of a file's top level; the settings stay.
pub(super) fn extract(top: &mut DeTable<'_>, source: &SettingsSource<'_>) -> Result<Curation, Error> {
    let mut curation = Curation::default();
    // `[files]` was once a section with `max_bytes`; the settings know what to say to that.
    let is_old = |value: &Spanned<DeValue<'_>>| {
        value.get_ref().as_table().is_some_and(|table| table.contains_key("max_bytes"))
    };
    if !top.get("files").is_some_and(is_old)
        && let Some(value) = top.remove("files")
    {
        curation.files = files(source, &value)?;
    }
    if let Some(value) = top.remove("presets") {
        curation.presets = named_entries(source, "presets", &value, preset)?;
    }
    if let Some(value) = top.remove("personas") {
        curation.personas = named_entries(source, "personas", &value, persona)?;
    }
    Ok(curation)
}

fn files<'s>(
    source: &'s SettingsSource<'s>,
    value: &'s Spanned<DeValue<'s>>,
) -> Result<Vec<FileItem>, Error> {
    let DeValue::Array(values) = value.get_ref() else {
        return Err(source.invalid("files", value, "a list of tables, each under [[files]]"));
    };
    let item = |value| items::read_item(&TomlSection::new(source, "files".to_owned(), value, ITEM)?);
    values.iter().map(item).collect()
}

fn named_entries<'s, T>(
    source: &'s SettingsSource<'s>,
    key: &str,
    value: &'s Spanned<DeValue<'s>>,
    read: fn(&str, &TomlSection<'s>) -> Result<T, Error>,
) -> Result<Vec<SavedEntry<T>>, Error> {
    let all = TomlSection::new(source, key.to_owned(), value, "a table of tables")?;
    let saved = all.entries().into_iter().map(|(name, value)| {
        let key = all.dotted_key(name.get_ref());
        let section = TomlSection::new(source, key, value, "a table")?;
        let value = read(name.get_ref(), &section)?;
        Ok(SavedEntry { value, origin: source.origin(name.span().start) })
    });
    saved.collect()
}

fn preset(name: &str, section: &TomlSection<'_>) -> Result<Preset, Error> {
    section.warn_unknown_keys(&["description", "files", "screenshots"]);
    let key = section.dotted_key("files");
    let item = |value: &'_ _| -> Result<FileItem, Error> { items::read_item_or_path(section, &key, value) };
    let files = section.values("files", "a list of paths and tables")?;
    Ok(Preset {
        name: name.to_owned(),
        description: section.text("description")?.unwrap_or_default(),
        files: files.into_iter().map(item).collect::<Result<_, _>>()?,
        screenshots: section.strings("screenshots")?,
    })
}

fn persona(name: &str, section: &TomlSection<'_>) -> Result<Persona, Error> {
    section.warn_unknown_keys(&[
        "tier",
        "aggregation_strategy",
        "preferred_models",
        "context_preset",
        "system_prompt",
    ]);
    let key = section.dotted_key("preferred_models");
    let model = |value| preferred_model(&TomlSection::new(section.source, key.clone(), value, MODEL)?);
    let models =
        section.values("preferred_models", "a list of tables such as { provider = \"…\", model = \"…\" }")?;
    Ok(Persona {
        name: name.to_owned(),
        tier: items::read_tier(section)?,
        aggregation_strategy: section.choice(
            "aggregation_strategy",
            &AggregationStrategy::ALL.map(|strategy| (strategy.name(), strategy)),
        )?,
        preferred_models: models.into_iter().map(model).collect::<Result<_, _>>()?,
        context_preset: section.text("context_preset")?,
        system_prompt: section.text("system_prompt")?.unwrap_or_default(),
    })
}

const MODEL: &str = "a table such as { provider = \"…\", model = \"…\" }";

/// More than any model writes; what a provider would refuse is refused here, with its place.
const MAX_OUTPUT_TOKENS: u32 = 1_000_000;

/// Reads a model. A project that was checked out may come from anyone: it names a provider and no more, for an
/// address, a key or a command of its own would send what it pleases to where it pleases.
fn preferred_model(section: &TomlSection<'_>) -> Result<PreferredModel, Error> {
    section.warn_unknown_keys(&["provider", "model", "temperature", "top_p", "max_output_tokens"]);
    Ok(PreferredModel {
        provider: section.required_text("provider", "the name of a provider")?,
        model: section.required_text("model", "the name of a model")?,
        temperature: section.float("temperature", "a number from 0 to 2", 2.0)?,
        top_p: section.float("top_p", "a number from 0 to 1", 1.0)?,
        max_output_tokens: section.integer("max_output_tokens", 1..=MAX_OUTPUT_TOKENS)?,
    })
}

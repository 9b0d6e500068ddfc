//! Reads the curation from the settings files: `[[files]]` with masks and slices, `[presets.NAME]` and
//! `[personas.NAME]`.

use std::collections::{BTreeMap, HashSet};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Error, SettingOrigin, join_alternatives};
use super::older_files;
use super::section::{SettingsSource, TomlSection, string_list};
use crate::model::{
    AggregationStrategy, ContentHash, DocumentDefaults, FileItem, MaskMode, Persona, PersonaViews,
    PreferredModel, Preset, Slice, SliceAnchors, Tier, ViewMode,
};

/// The curation of all layers together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curation {
    /// The project's items, in the order of the file.
    pub files: Vec<FileItem>,
    /// Images of the project that every document contains, in their order.
    pub screenshots: Vec<String>,
    /// The defaults of requests for documents.
    pub document: DocumentDefaults,
    /// The presets, by name; the project's replace the user's.
    pub presets: Vec<SavedEntry<Preset>>,
    /// The personas, by name; the project's replace the user's.
    pub personas: Vec<SavedEntry<Persona>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SavedEntry<T> {
    pub value: T,
    pub origin: SettingOrigin,
}

impl Curation {
    pub fn preset(&self, name: &str) -> Option<&SavedEntry<Preset>> {
        self.presets.iter().find(|preset| preset.value.name == name)
    }

    pub fn persona(&self, name: &str) -> Option<&SavedEntry<Persona>> {
        self.personas.iter().find(|persona| persona.value.name == name)
    }

    pub(super) fn overlay(&mut self, layer: Self) {
        // Items are replaced, not merged: those in the user's own file belong to no project, and are dropped on
        // loading.
        (self.files, self.screenshots, self.document) = (layer.files, layer.screenshots, layer.document);
        overlay_by_name(&mut self.presets, layer.presets, |preset| &preset.name);
        overlay_by_name(&mut self.personas, layer.personas, |persona| &persona.name);
    }
}

fn overlay_by_name<T>(below: &mut Vec<SavedEntry<T>>, above: Vec<SavedEntry<T>>, name: fn(&T) -> &str) {
    // An entry is replaced as a whole, because nobody wrote a mixture of two presets.
    below.retain(|old| !above.iter().any(|new| name(&new.value) == name(&old.value)));
    below.extend(above);
    below.sort_by(|a, b| name(&a.value).cmp(name(&b.value)));
}

/// Removes and returns the curation from a file's top level, leaving the settings. An entry with an invalid value is
/// left out, and its error is recorded in the source.
pub(super) fn extract(top: &mut DeTable<'_>, source: &SettingsSource<'_>) -> Curation {
    let mut curation = Curation::default();
    // `[files]` was once a section with `max_bytes`, which the settings report.
    let is_old = |value: &Spanned<DeValue<'_>>| {
        value.get_ref().as_table().is_some_and(|table| table.contains_key("max_bytes"))
    };
    if !top.get("files").is_some_and(is_old)
        && let Some(value) = top.remove("files")
    {
        curation.files = source.or_leave_out(files(source, &value)).unwrap_or_default();
    }
    // A section of that name belongs to an older program, and may have different keys.
    let is_list = |value: &Spanned<DeValue<'_>>| !value.get_ref().is_table() || older_files::has_paths(value);
    if top.get("screenshots").is_some_and(is_list)
        && let Some(value) = top.remove("screenshots")
    {
        curation.screenshots = source.or_leave_out(screenshots(source, &value)).unwrap_or_default();
    }
    if let Some(value) = top.remove("document") {
        curation.document = source.or_leave_out(document(source, &value)).unwrap_or_default();
    }
    if let Some(value) = top.remove("presets") {
        curation.presets =
            source.or_leave_out(named_entries(source, "presets", &value, preset)).unwrap_or_default();
    }
    if let Some(value) = top.remove("personas") {
        curation.personas =
            source.or_leave_out(named_entries(source, "personas", &value, persona)).unwrap_or_default();
    }
    curation
}

fn files<'s>(
    source: &'s SettingsSource<'s>,
    value: &'s Spanned<DeValue<'s>>,
) -> Result<Vec<FileItem>, Error> {
    if older_files::has_paths(value) {
        return older_files::read(source, value);
    }
    let section = |value| TomlSection::new(source, "files".to_owned(), value, ITEM);
    let DeValue::Array(values) = value.get_ref() else {
        let error = source.invalid("files", value, "a list of tables, each under [[files]]");
        source.or_leave_out::<()>(Err(error));
        // A single entry under `[files]`.
        return Ok(section(value).map_or(Vec::new(), |section| restrictions(&section)));
    };
    let mut paths = HashSet::new();
    let read = |value| {
        let Some(section) = source.or_leave_out(section(value)) else { return Vec::new() };
        let item = source.or_leave_out(read_item(&section));
        let items = item.map_or_else(|| restrictions(&section), |item| vec![item]);
        for item in &items {
            if !paths.insert(item.path.clone()) {
                section.warn_repeated("path", &item.path);
            }
        }
        items
    };
    Ok(values.iter().flat_map(read).collect())
}

fn screenshots<'s>(
    source: &'s SettingsSource<'s>,
    value: &'s Spanned<DeValue<'s>>,
) -> Result<Vec<String>, Error> {
    if older_files::has_paths(value) {
        return older_files::read_screenshots(source, value);
    }
    string_list(value.get_ref()).ok_or_else(|| source.invalid("screenshots", value, "a list of strings"))
}

fn document<'s>(
    source: &'s SettingsSource<'s>,
    value: &'s Spanned<DeValue<'s>>,
) -> Result<DocumentDefaults, Error> {
    let section = TomlSection::new(source, "document".to_owned(), value, "a table such as { tier = 3 }")?;
    section.warn_unknown_keys(&["tier", "persona", "preset", "focus", "budget_tokens"]);
    let defaults = DocumentDefaults {
        tier: read_tier(&section)?,
        persona: section.text("persona")?,
        preset: section.text("preset")?,
        focus: section.strings("focus")?,
        budget_tokens: section.integer("budget_tokens", 0..=u32::MAX)?.map(Into::into),
    };
    if defaults.tier.is_some() && defaults.persona.is_some() {
        return Err(
            section.invalid("persona", "absent: `document.tier` is set, and a persona has a tier of its own")
        );
    }
    Ok(defaults)
}

fn named_entries<'s, T>(
    source: &'s SettingsSource<'s>,
    key: &str,
    value: &'s Spanned<DeValue<'s>>,
    read: fn(&str, &TomlSection<'s>) -> Result<T, Error>,
) -> Result<Vec<SavedEntry<T>>, Error> {
    let all = TomlSection::new(source, key.to_owned(), value, "a table of tables")?;
    let entry = |(name, value): (&Spanned<toml::de::DeString<'_>>, _)| {
        let key = all.dotted_key(name.get_ref());
        let section = TomlSection::new(source, key, value, "a table")?;
        let value = read(name.get_ref(), &section)?;
        Ok(SavedEntry { value, origin: source.origin(name.span().start) })
    };
    Ok(all.entries().into_iter().filter_map(|saved| source.or_leave_out(entry(saved))).collect())
}

fn preset(name: &str, section: &TomlSection<'_>) -> Result<Preset, Error> {
    section.warn_unknown_keys(&["description", "files", "screenshots"]);
    Ok(Preset {
        name: name.to_owned(),
        description: section.text("description")?.unwrap_or_default(),
        files: read_items(section, "files")?,
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
        "budget_tokens",
        "focus",
        "view",
        "focus_view",
        "languages",
    ]);
    let key = section.dotted_key("preferred_models");
    let model = |value| preferred_model(&TomlSection::new(section.source, key.clone(), value, MODEL)?);
    let models =
        section.values("preferred_models", "a list of tables such as { provider = \"…\", model = \"…\" }")?;
    let tier = read_tier(section)?;
    Ok(Persona {
        name: name.to_owned(),
        tier,
        budget_tokens: section.integer("budget_tokens", 0..=u32::MAX)?.map(Into::into),
        focus: section.strings("focus")?,
        views: persona_views(section, tier.is_some())?,
        aggregation_strategy: section.choice(
            "aggregation_strategy",
            &AggregationStrategy::ALL.map(|strategy| (strategy.name(), strategy)),
        )?,
        preferred_models: models.into_iter().map(model).collect::<Result<_, _>>()?,
        context_preset: section.text("context_preset")?,
        system_prompt: section.text("system_prompt")?.unwrap_or_default(),
    })
}

/// Reads the views of a persona, which have the same keys as those of a tier.
fn persona_views(section: &TomlSection<'_>, has_tier: bool) -> Result<PersonaViews, Error> {
    let views = named(&ViewMode::OF_TIERS);
    let mut languages = BTreeMap::new();
    if let Some(all) = section.subsection("languages", "a table such as { markdown.view = \"full\" }")? {
        for (id, value) in all.entries() {
            let id = id.get_ref().as_ref();
            let language =
                TomlSection::new(section.source, all.dotted_key(id), value, "a table with a view")?;
            language.warn_unknown_keys(&["view"]);
            let view = language.choice("view", &views)?;
            languages.extend(view.map(|view| (id.to_owned(), view)));
        }
    }
    let focus_view = section.choice("focus_view", &named(&ViewMode::OF_FOCUS))?;
    // Only a tier has different views for some files; otherwise either key would be ignored silently.
    for name in ["focus_view", "languages"] {
        if !has_tier && section.value(name).is_some() {
            return Err(section.invalid(name, "with the tier that it requires"));
        }
    }
    Ok(PersonaViews { view: section.choice("view", &views)?, focus_view, languages })
}

const MODEL: &str = "a table such as { provider = \"…\", model = \"…\" }";

/// Reads a model. A project that was checked out may come from anyone, so it can only name a provider: with an address,
/// a key or a command of its own, it could send anything anywhere.
fn preferred_model(section: &TomlSection<'_>) -> Result<PreferredModel, Error> {
    section.warn_unknown_keys(&["provider", "model", "temperature", "top_p", "max_output_tokens"]);
    Ok(PreferredModel {
        provider: section.required_text("provider", "the name of a provider")?,
        model: section.required_text("model", "the name of a model")?,
        temperature: section.float("temperature", "a number from 0 to 2", 2.0)?,
        top_p: section.float("top_p", "a number from 0 to 1", 1.0)?,
        max_output_tokens: section.integer("max_output_tokens", 1..=PreferredModel::MAX_OUTPUT_TOKENS)?,
    })
}

pub(super) const ITEM: &str = "a table with a path";

pub(super) const ITEM_KEYS: [&str; 11] = [
    "path", "auto_aggregate", "force_full", "view_mode", "selected", "ast_signatures", "ast_definitions",
    "ast_mask", "tier", "injected_at", "custom_slices",
];

const SLICE_KEYS: [&str; 11] = [
    "start_line", "end_line", "tag", "comment", "content_hash", "start_context", "end_context",
    "anchor_lines", "line_hashes", "unique_lines", "copies",
];

/// Reads a list of items, each of which may be written as just its path.
pub(super) fn read_items(section: &TomlSection<'_>, name: &str) -> Result<Vec<FileItem>, Error> {
    let key = section.dotted_key(name);
    let read = |value| {
        let item = section.source.or_leave_out(read_item_or_path(section, &key, value));
        let restrictions = || {
            let section = TomlSection::new(section.source, key.clone(), value, ITEM);
            section.map_or(Vec::new(), |section| restrictions(&section))
        };
        item.map_or_else(restrictions, |item| vec![item])
    };
    Ok(section.values(name, "a list of paths and tables")?.into_iter().flat_map(read).collect())
}

fn read_item_or_path<'s>(
    section: &TomlSection<'s>,
    key: &str,
    value: &'s Spanned<DeValue<'s>>,
) -> Result<FileItem, Error> {
    match value.get_ref() {
        // No path contains a NUL, at which a system call would stop.
        DeValue::String(path) if !path.is_empty() && !path.contains('\0') => {
            Ok(FileItem::plain(path.as_ref()))
        }
        _ => read_item(&TomlSection::new(
            section.source,
            key.to_owned(),
            value,
            "a path or a table with a path",
        )?),
    }
}

fn read_item(section: &TomlSection<'_>) -> Result<FileItem, Error> {
    section.warn_unknown_keys(&ITEM_KEYS);
    let plain = FileItem::plain(section.required_text("path", "a path or a pattern")?);
    let key = section.dotted_key("custom_slices");
    let slices = section.values("custom_slices", "a list of tables, each with its lines")?;
    let slice =
        |value| read_slice(&TomlSection::new(section.source, key.clone(), value, "a table with its lines")?);
    Ok(FileItem {
        auto_aggregate: section.boolean("auto_aggregate", plain.auto_aggregate)?,
        force_full: section.boolean("force_full", plain.force_full)?,
        view_mode: section.choice("view_mode", &named(&ViewMode::OF_ITEMS))?,
        // This and `injected_at` are other programs' values, in whatever form.
        selected: section.boolean("selected", plain.selected).unwrap_or(plain.selected),
        ast_signatures: section.boolean("ast_signatures", plain.ast_signatures)?,
        ast_definitions: section.boolean("ast_definitions", plain.ast_definitions)?,
        ast_mask: read_mask(section)?,
        tier: read_tier(section)?,
        injected_at: section.float("injected_at", "seconds since the epoch", f64::MAX).unwrap_or_default(),
        custom_slices: slices
            .into_iter()
            .filter_map(|value| section.source.or_leave_out(slice(value)))
            .collect(),
        ..plain
    })
}

/// Returns what an entry with an invalid value hides and excludes all the same. Showing what the user has hidden,
/// because a different value is misspelled, would be worse than hiding too much.
fn restrictions(section: &TomlSection<'_>) -> Vec<FileItem> {
    let mut ast_mask = Vec::new();
    if let Some(mask) = section.value("ast_mask").and_then(|mask| mask.get_ref().as_table()) {
        collect_hides(mask, "", &mut ast_mask);
    }
    let auto_aggregate = section.boolean("auto_aggregate", true).unwrap_or(true);
    let exclusions = named(&[ViewMode::None, ViewMode::Path]);
    let view_mode = section.choice("view_mode", &exclusions).unwrap_or_default();
    if ast_mask.is_empty() && auto_aggregate && view_mode.is_none() {
        return Vec::new();
    }
    let path = section.text("path").map(|path| path.into_iter().collect());
    let mut paths: Vec<String> = path.or_else(|_| section.strings("path")).unwrap_or_default();
    paths.retain(|path| !path.is_empty() && !path.contains('\0'));
    let item =
        |path| FileItem { auto_aggregate, view_mode, ast_mask: ast_mask.clone(), ..FileItem::plain(path) };
    paths.into_iter().map(item).collect()
}

/// Collects the names that a mask hides, including those whose dots are not quoted.
fn collect_hides(mask: &DeTable<'_>, above: &str, hides: &mut Vec<(String, MaskMode)>) {
    for (name, value) in mask {
        let name = format!("{above}{}", name.get_ref());
        match value.get_ref() {
            DeValue::Table(inner) => collect_hides(inner, &format!("{name}."), hides),
            value if value.as_str().and_then(MaskMode::from_word) == Some(MaskMode::Hide) => {
                hides.push((name, MaskMode::Hide));
            }
            _ => {}
        }
    }
}

/// Returns views with their names.
pub(super) fn named(views: &[ViewMode]) -> Vec<(&'static str, ViewMode)> {
    views.iter().map(|view| (view.name(), *view)).collect()
}

pub(super) fn read_tier(section: &TomlSection<'_>) -> Result<Option<Tier>, Error> {
    tier_number(section, "tier")
}

pub(super) fn tier_number(section: &TomlSection<'_>, name: &str) -> Result<Option<Tier>, Error> {
    let number = section.integer(name, 1..=4)?;
    Ok(number.and_then(|number| u8::try_from(number).ok()).and_then(Tier::from_number))
}

fn read_mask(section: &TomlSection<'_>) -> Result<Vec<(String, MaskMode)>, Error> {
    let Some(mask) = section.subsection("ast_mask", &format!("a table from symbols to {}", mask_modes()))?
    else {
        return Ok(Vec::new());
    };
    let mode = |(name, value): (&Spanned<toml::de::DeString<'_>>, &Spanned<DeValue<'_>>)| {
        let name = name.get_ref().as_ref();
        let allowed = match value.get_ref() {
            // `Engine.run = "def"` is an easy mistake.
            DeValue::Table(_) => "a mode; a name with a dot in it must be quoted".to_owned(),
            _ => mask_modes(),
        };
        let mode = value.get_ref().as_str().and_then(MaskMode::from_word);
        let mode = mode.ok_or_else(|| section.source.invalid(&mask.dotted_key(name), value, &allowed))?;
        Ok((name.to_owned(), mode))
    };
    mask.entries().into_iter().map(mode).collect()
}

fn mask_modes() -> String {
    // `full` means the same as `def`.
    join_alternatives(["full"].into_iter().chain(MaskMode::ALL.iter().map(|mode| mode.name())))
}

fn read_slice(section: &TomlSection<'_>) -> Result<Slice, Error> {
    section.warn_unknown_keys(&SLICE_KEYS);
    let start_line = section.required_integer("start_line", 1..=u32::MAX)?;
    // The range begins at the first line, so that the error names what is allowed.
    let end_line = section.required_integer("end_line", start_line..=u32::MAX)?;
    let (old_before, old_after) = read_old_anchors(section)?;
    // Both spellings may be present if an older program has also written the file.
    let or_old = |new: Vec<String>, old| if new.is_empty() { old } else { new };
    let (unique_before, unique_after) = match section.subsection("unique_lines", BEFORE_AFTER)? {
        Some(unique) => read_before_after(&unique)?,
        None => (Vec::new(), Vec::new()),
    };
    // Other programs store different or shortened hashes here: such a slice is found by its anchors.
    let hash = |value: &DeValue<'_>| value.as_str().map(|text| text.parse::<ContentHash>().ok());
    Ok(Slice {
        start_line,
        end_line,
        tag: section.text("tag")?.unwrap_or_default(),
        comment: section.text("comment")?.unwrap_or_default(),
        anchors: SliceAnchors {
            content_hash: section.read("content_hash", "a string", hash)?.flatten(),
            before: or_old(section.strings("start_context")?, old_before),
            after: or_old(section.strings("end_context")?, old_after),
            line_hashes: section.strings("line_hashes")?,
            unique_before,
            unique_after,
            copies: section.integer("copies", 0..=u32::MAX)?.unwrap_or(0),
        },
    })
}

const BEFORE_AFTER: &str = "a table of two lists of strings, { before = […], after = […] }";

/// Reads the older spelling of anchors: the lines before the slice, or those before and after it.
fn read_old_anchors(section: &TomlSection<'_>) -> Result<(Vec<String>, Vec<String>), Error> {
    let name = "anchor_lines";
    if section.value(name).is_some_and(|value| value.get_ref().is_table()) {
        return section
            .subsection(name, BEFORE_AFTER)?
            .map_or(Ok(Default::default()), |both| read_before_after(&both));
    }
    let before = section.read(name, "a list of strings, or { before = […], after = […] }", string_list)?;
    Ok((before.unwrap_or_default(), Vec::new()))
}

fn read_before_after(section: &TomlSection<'_>) -> Result<(Vec<String>, Vec<String>), Error> {
    section.warn_unknown_keys(&["before", "after"]);
    Ok((section.strings("before")?, section.strings("after")?))
}

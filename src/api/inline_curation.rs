//! Curation that a question brings along: entries, presets and personas under the keys that they have in `slop.toml`.
//!
//! They hold for one answer. What the settings would leave out with a note is refused here, because whoever asked can
//! correct it: the error names the position and the key.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{DeserializeOwned, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::queries::{MaskName, StrategyName};
use crate::model::{
    ContentHash, FileItem, Persona, PersonaViews, PreferredModel, Preset, Slice, SliceAnchors, Tier, ViewMode,
};

/// An entry for a file, a folder or a pattern, with the keys of `[[files]]` in `slop.toml`.
#[expect(clippy::struct_excessive_bools, reason = "each is a key of `[[files]]` of its own")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ItemEntry {
    /// A file, a folder or a pattern: relative to the project's folder, or absolute.
    #[serde(deserialize_with = "path_text")]
    #[schemars(length(min = 1))]
    pub path: String,
    /// `false`: leave it out of documents.
    #[serde(default = "yes")]
    pub auto_aggregate: bool,
    /// Show it in full, regardless of tier and budget.
    #[serde(default)]
    pub force_full: bool,
    /// The view; by default, the tier decides.
    #[serde(default, deserialize_with = "item_view")]
    #[schemars(with = "Option<String>", extend("enum" = ITEM_VIEWS))]
    pub view_mode: Option<ViewName>,
    /// Kept for other programs; slop ignores it.
    #[serde(default)]
    pub selected: bool,
    /// Show the signatures of all symbols.
    #[serde(default)]
    pub ast_signatures: bool,
    /// Show the definitions of all symbols.
    #[serde(default)]
    pub ast_definitions: bool,
    /// How to show single symbols, by their names as in outlines.
    #[serde(default)]
    pub ast_mask: BTreeMap<String, MaskName>,
    /// 3: show it in full in documents for tier 3.
    #[serde(default, deserialize_with = "tier_number")]
    #[schemars(range(min = 1, max = 4))]
    pub tier: Option<u8>,
    /// Kept for other programs; slop ignores it.
    #[serde(default)]
    pub injected_at: Option<f64>,
    /// Lines to show, and nothing else of the file.
    #[serde(default)]
    pub custom_slices: Vec<SliceEntry>,
}

/// A range of lines that is tracked across edits, as `slop slice make` prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "SliceFields", into = "SliceFields")]
pub struct SliceEntry(SliceFields);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SliceEntry")]
struct SliceFields {
    /// The first line, counted from 1.
    start_line: NonZeroU32,
    /// The last line, inclusive.
    end_line: NonZeroU32,
    /// A short name.
    tag: Option<String>,
    /// Why the lines matter.
    comment: Option<String>,
    /// The SHA-256 of the text.
    content_hash: Option<String>,
    /// The lines before it.
    start_context: Option<Vec<String>>,
    /// The lines after it.
    end_context: Option<Vec<String>>,
    /// The older spelling of both: the lines before it, or an object with `before` and `after`.
    anchor_lines: Option<AnchorLines>,
    /// A short hash for each line.
    line_hashes: Option<Vec<String>>,
    /// The nearest lines that occur once in the file.
    unique_lines: Option<ContextSides>,
    /// How often the text occurred in the file.
    copies: Option<u32>,
}

/// The lines on both sides of a slice.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct ContextSides {
    // A side that is missing is no error: the file may begin or end there.
    pub(super) before: Option<Vec<String>>,
    pub(super) after: Option<Vec<String>>,
}

/// How systems before slop wrote contexts: the lines before the slice alone, or both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(super) enum AnchorLines {
    Before(Vec<String>),
    Sides(ContextSides),
}

impl AnchorLines {
    pub(super) fn into_sides(self) -> ContextSides {
        match self {
            Self::Before(before) => ContextSides { before: Some(before), after: None },
            Self::Sides(sides) => sides,
        }
    }
}

/// A set of files with their entries.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InlinePreset {
    /// Its name, for a person.
    pub name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// The files: paths, or entries.
    pub files: Vec<NameOrInline<ItemEntry>>,
    /// Images within the project to add to the document.
    pub screenshots: Vec<String>,
}

/// An agent's profile.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "PersonaFields", into = "PersonaFields")]
pub struct InlinePersona(PersonaFields);

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "InlinePersona")]
struct PersonaFields {
    /// Its name, for a person, and for the name that its documents are recorded under.
    name: Option<String>,
    /// The tier.
    #[serde(deserialize_with = "tier_number")]
    #[schemars(range(min = 1, max = 4))]
    tier: Option<u8>,
    /// How to choose views.
    aggregation_strategy: Option<StrategyName>,
    /// The models to ask, the first one of a provider first.
    preferred_models: Vec<ModelEntry>,
    /// The name of a preset in the settings.
    context_preset: Option<String>,
    /// The system prompt of a provider's request body.
    system_prompt: Option<String>,
    /// Limit documents to this many tokens; 0 for no limit.
    budget_tokens: Option<u64>,
    /// Files to focus on.
    focus: Vec<String>,
    /// The view of files that nothing else decides.
    #[serde(deserialize_with = "tier_view")]
    #[schemars(with = "Option<String>", extend("enum" = TIER_VIEWS))]
    view: Option<ViewName>,
    /// The view of files in focus; requires a tier.
    #[serde(deserialize_with = "focus_view")]
    #[schemars(with = "Option<String>", extend("enum" = FOCUS_VIEWS))]
    focus_view: Option<ViewName>,
    /// The views of files by language, such as `{"markdown": {"view": "full"}}`; requires a tier.
    languages: BTreeMap<String, LanguageEntry>,
}

/// How the files of a language are shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LanguageEntry {
    /// The view.
    #[serde(deserialize_with = "tier_view")]
    #[schemars(with = "String", extend("enum" = TIER_VIEWS))]
    view: Option<ViewName>,
}

/// A model of a provider, and how it is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ModelEntry {
    /// The name of the provider.
    provider: String,
    /// The name of the model.
    model: String,
    /// From 0 to 2.
    #[serde(default, deserialize_with = "up_to::<_, 2>")]
    #[schemars(range(min = 0, max = 2))]
    temperature: Option<f64>,
    /// From 0 to 1.
    #[serde(default, deserialize_with = "up_to::<_, 1>")]
    #[schemars(range(min = 0, max = 1))]
    top_p: Option<f64>,
    /// The most tokens of an answer.
    #[serde(default)]
    max_output_tokens: Option<NonZeroU32>,
}

/// The name of what the settings hold, or the same written out. A file that is no more than its path counts as a name.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum NameOrInline<T> {
    /// A name.
    Name(String),
    /// What the name would stand for.
    Inline(Box<T>),
}

impl<T> NameOrInline<T> {
    /// Returns the name, if it is one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Inline(_) => None,
        }
    }
}

impl<T> From<String> for NameOrInline<T> {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

/// A discussion: the file that holds it, or what was said.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum HistorySource {
    /// A file: JSON, JSONL or TOML.
    File(String),
    /// Messages: strings, or objects with `role` and `content`.
    Messages(Vec<Value>),
    /// One text.
    Text(HistoryText),
}

/// A discussion that is one text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HistoryText {
    /// What was said.
    pub text: String,
}

impl HistorySource {
    /// Returns the file, if the discussion is in one.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::File(path) => Some(path),
            Self::Messages(_) | Self::Text(_) => None,
        }
    }

    /// Returns what was said, as a JSON list of messages; `None` if a file holds it.
    pub fn messages(&self) -> Option<Vec<u8>> {
        let messages = match self {
            Self::File(_) => return None,
            Self::Messages(messages) => serde_json::to_vec(messages),
            Self::Text(HistoryText { text }) => serde_json::to_vec(&[text]),
        };
        Some(messages.expect("values and texts always become JSON"))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for NameOrInline<T> {
    // Written by hand, because of what is `untagged` serde keeps neither the error nor its place.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for NameVisitor<T> {
            type Value = NameOrInline<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an object")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Self::Value, E> {
                Ok(NameOrInline::Name(name.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let inline = T::deserialize(MapAccessDeserializer::new(map))?;
                Ok(NameOrInline::Inline(Box::new(inline)))
            }
        }

        deserializer.deserialize_any(NameVisitor(PhantomData))
    }
}

impl<'de> Deserialize<'de> for HistorySource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct HistoryVisitor;

        impl<'de> Visitor<'de> for HistoryVisitor {
            type Value = HistorySource;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the path of a file, a list of messages, or an object with `text`")
            }

            fn visit_str<E: serde::de::Error>(self, path: &str) -> Result<Self::Value, E> {
                Ok(HistorySource::File(path.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Deserialize::deserialize(SeqAccessDeserializer::new(list)).map(HistorySource::Messages)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Deserialize::deserialize(MapAccessDeserializer::new(map)).map(HistorySource::Text)
            }
        }

        deserializer.deserialize_any(HistoryVisitor)
    }
}

/// The views that an item may have. A window is about a line, which an item has no way to name.
const ITEM_VIEWS: [&str; 11] = [
    "full", "summary", "outline", "skeleton", "masked", "custom", "diff", "none", "ast_signatures",
    "ast_definitions", "path",
];

/// The views that a tier may have, and so a persona.
const TIER_VIEWS: [&str; 7] =
    ["full", "skeleton", "outline", "summary", "ast_signatures", "ast_definitions", "none"];

const FOCUS_VIEWS: [&str; 5] = ["full", "skeleton", "outline", "summary", "window"];

/// A view by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewName(ViewMode);

impl Serialize for ViewName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

fn item_view<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ViewName>, D::Error> {
    read_view(deserializer, &ITEM_VIEWS)
}

fn tier_view<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ViewName>, D::Error> {
    read_view(deserializer, &TIER_VIEWS)
}

fn focus_view<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ViewName>, D::Error> {
    read_view(deserializer, &FOCUS_VIEWS)
}

fn read_view<'de, D: Deserializer<'de>>(
    deserializer: D,
    allowed: &'static [&'static str],
) -> Result<Option<ViewName>, D::Error> {
    let Some(name) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    let mode = ViewMode::from_name(&name).filter(|mode| allowed.contains(&mode.name()));
    mode.map(|mode| Some(ViewName(mode))).ok_or_else(|| D::Error::unknown_variant(&name, allowed))
}

fn tier_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u8>, D::Error> {
    let number = Option::<u8>::deserialize(deserializer)?;
    match number {
        Some(number) if Tier::from_number(number).is_none() => {
            Err(D::Error::custom(format!("no tier {number}, expected 1, 2, 3 or 4")))
        }
        number => Ok(number),
    }
}

fn path_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let path = String::deserialize(deserializer)?;
    // No path holds a NUL, and a system call would end there.
    if path.is_empty() || path.contains('\0') {
        return Err(D::Error::custom("not a path or a pattern"));
    }
    Ok(path)
}

fn up_to<'de, D: Deserializer<'de>, const MOST: u32>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let number = Option::<f64>::deserialize(deserializer)?;
    match number {
        Some(number) if !(0.0..=f64::from(MOST)).contains(&number) => {
            Err(D::Error::custom(format!("expected a number from 0 to {MOST}")))
        }
        number => Ok(number),
    }
}

const fn yes() -> bool {
    true
}

impl TryFrom<SliceFields> for SliceEntry {
    type Error = String;

    fn try_from(fields: SliceFields) -> Result<Self, String> {
        let SliceFields { start_line, end_line, .. } = fields;
        if end_line < start_line {
            return Err(format!("`end_line` {end_line} is before `start_line` {start_line}"));
        }
        Ok(Self(fields))
    }
}

impl From<SliceEntry> for SliceFields {
    fn from(slice: SliceEntry) -> Self {
        slice.0
    }
}

impl TryFrom<PersonaFields> for InlinePersona {
    type Error = &'static str;

    fn try_from(fields: PersonaFields) -> Result<Self, &'static str> {
        let needs_tier = fields.focus_view.is_some() || !fields.languages.is_empty();
        if needs_tier && fields.tier.is_none() {
            return Err("`focus_view` and `languages` require a `tier`");
        }
        Ok(Self(fields))
    }
}

impl From<InlinePersona> for PersonaFields {
    fn from(persona: InlinePersona) -> Self {
        persona.0
    }
}

impl From<SliceEntry> for Slice {
    fn from(slice: SliceEntry) -> Self {
        let written = slice.0;
        // As in the settings, the older spelling counts where the newer one is missing or empty.
        let old = written.anchor_lines.map_or_else(ContextSides::default, AnchorLines::into_sides);
        let or_old = |new: Option<Vec<String>>, old: Option<Vec<String>>| {
            new.filter(|lines| !lines.is_empty()).or(old).unwrap_or_default()
        };
        let unique = written.unique_lines.unwrap_or_default();
        Self {
            start_line: written.start_line.get(),
            end_line: written.end_line.get(),
            tag: written.tag.unwrap_or_default(),
            comment: written.comment.unwrap_or_default(),
            anchors: SliceAnchors {
                // Other programs keep other hashes here: such a slice is found by its anchors.
                content_hash: written.content_hash.and_then(|hash| hash.parse::<ContentHash>().ok()),
                before: or_old(written.start_context, old.before),
                after: or_old(written.end_context, old.after),
                line_hashes: written.line_hashes.unwrap_or_default(),
                unique_before: unique.before.unwrap_or_default(),
                unique_after: unique.after.unwrap_or_default(),
                copies: written.copies.unwrap_or_default(),
            },
        }
    }
}

impl From<ItemEntry> for FileItem {
    fn from(entry: ItemEntry) -> Self {
        Self {
            path: entry.path,
            auto_aggregate: entry.auto_aggregate,
            force_full: entry.force_full,
            view_mode: entry.view_mode.map(|view| view.0),
            selected: entry.selected,
            ast_signatures: entry.ast_signatures,
            ast_definitions: entry.ast_definitions,
            ast_mask: entry.ast_mask.into_iter().map(|(symbol, show)| (symbol, show.into())).collect(),
            tier: entry.tier.and_then(Tier::from_number),
            injected_at: entry.injected_at,
            custom_slices: entry.custom_slices.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<NameOrInline<ItemEntry>> for FileItem {
    fn from(file: NameOrInline<ItemEntry>) -> Self {
        match file {
            NameOrInline::Name(path) => Self::plain(path),
            NameOrInline::Inline(entry) => (*entry).into(),
        }
    }
}

impl From<InlinePreset> for Preset {
    fn from(preset: InlinePreset) -> Self {
        Self {
            name: preset.name.unwrap_or_default(),
            description: preset.description.unwrap_or_default(),
            files: preset.files.into_iter().map(Into::into).collect(),
            screenshots: preset.screenshots,
        }
    }
}

impl From<InlinePersona> for Persona {
    fn from(persona: InlinePersona) -> Self {
        let fields = persona.0;
        let languages = fields.languages.into_iter();
        let views = PersonaViews {
            view: fields.view.map(|view| view.0),
            focus_view: fields.focus_view.map(|view| view.0),
            languages: languages.filter_map(|(id, entry)| Some((id, entry.view?.0))).collect(),
        };
        Self {
            name: fields.name.unwrap_or_default(),
            tier: fields.tier.and_then(Tier::from_number),
            aggregation_strategy: fields.aggregation_strategy.map(Into::into),
            preferred_models: fields.preferred_models.into_iter().map(Into::into).collect(),
            context_preset: fields.context_preset,
            budget_tokens: fields.budget_tokens,
            focus: fields.focus,
            views,
            system_prompt: fields.system_prompt.unwrap_or_default(),
        }
    }
}

impl From<ModelEntry> for PreferredModel {
    fn from(entry: ModelEntry) -> Self {
        Self {
            provider: entry.provider,
            model: entry.model,
            temperature: entry.temperature,
            top_p: entry.top_p,
            max_output_tokens: entry.max_output_tokens.map(NonZeroU32::get),
        }
    }
}

/// Reads JSON. The message of an error begins with the place of the wrong value, such as `items[0].tier`.
pub fn read_json<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| located(&error))?;
    deserializer.end().map_err(|error| error.to_string())?;
    Ok(value)
}

/// Converts a value as [`read_json`] reads a text.
pub(super) fn read_value<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|error| located(&error))
}

fn located(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    let path = error.path();
    // Without a path the error is about the whole, or about its syntax.
    if path.iter().len() == 0 { error.inner().to_string() } else { format!("{path}: {}", error.inner()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn refused(items: &Value) -> String {
        read_value::<Vec<ItemEntry>>(items.clone()).unwrap_err()
    }

    #[test]
    fn the_error_of_an_entry_names_its_position_and_key() {
        let check = |items: Value, begins: &str| {
            let error = refused(&items);
            assert!(error.starts_with(begins), "{error}");
        };
        check(json!([{"path": "a"}, {"path": ""}]), "[1].path: not a path");
        check(json!([{"view_mode": "full"}]), "[0]: missing field `path`");
        check(
            json!([{"path": "a", "view_mode": "window"}]),
            "[0].view_mode: unknown variant `window`, expected",
        );
        check(
            json!([{"path": "a", "ast_mask": {"A.b": "show"}}]),
            "[0].ast_mask.A.b: unknown variant `show`",
        );
        check(json!([{"path": "a", "tier": 5}]), "[0].tier: no tier 5");
        check(json!([{"path": "a", "forcefull": true}]), "[0].forcefull: unknown field `forcefull`");
        let slices =
            |slice: Value| json!([{"path": "a", "custom_slices": [{"start_line": 1, "end_line": 2}, slice]}]);
        check(slices(json!({"start_line": 0, "end_line": 2})), "[0].custom_slices[1].start_line: ");
        check(
            slices(json!({"start_line": 3, "end_line": 2})),
            "[0].custom_slices[1]: `end_line` 2 is before `start_line` 3",
        );
    }

    #[test]
    fn what_a_name_stands_for_is_refused_with_its_place_too() {
        let preset = json!({"files": ["a", {"path": "b", "force_full": 1}]});
        let error = read_value::<NameOrInline<InlinePreset>>(preset).unwrap_err();
        assert!(error.starts_with("files[1].force_full: invalid type"), "{error}");
        let persona = json!({"preferred_models": [{"provider": "p", "model": "m", "top_p": 1.5}]});
        let error = read_value::<NameOrInline<InlinePersona>>(persona).unwrap_err();
        assert!(error.starts_with("preferred_models[0].top_p: expected a number from 0 to 1"), "{error}");
        let error = read_value::<NameOrInline<InlinePersona>>(json!({"focus_view": "full"})).unwrap_err();
        assert_eq!(error, "`focus_view` and `languages` require a `tier`");
    }

    #[test]
    fn an_entry_is_what_the_settings_make_of_the_same_keys() {
        let slice = json!({
            "start_line": 2, "end_line": 3, "tag": "t", "comment": null, "content_hash": "no hash",
            "anchor_lines": ["before"], "start_context": [],
        });
        let entry = json!({
            "path": "a.py", "auto_aggregate": false, "view_mode": "path", "ast_mask": {"A": "full", "A.b": "hide"},
            "tier": 3, "injected_at": 1.5, "custom_slices": [slice],
        });
        let read: ItemEntry = read_value(entry).unwrap();
        let again: ItemEntry = read_json(&serde_json::to_vec(&read).unwrap()).unwrap();
        assert_eq!(again, read);
        let item = FileItem::from(read);
        let text = "[[files]]\npath = 'a.py'";
        assert!(text.contains(&item.path) && !item.auto_aggregate && item.tier == Some(Tier::Worker));
        assert_eq!(item.custom_slices[0].anchors.before, ["before"]);
        assert_eq!(item.custom_slices[0].anchors.content_hash, None);
    }

    #[test]
    fn the_names_of_views_are_those_of_the_settings() {
        for name in [&ITEM_VIEWS[..], &TIER_VIEWS, &FOCUS_VIEWS].concat() {
            assert_eq!(ViewMode::from_name(name).map(ViewMode::name), Some(name));
        }
    }

    #[test]
    fn a_discussion_is_a_path_or_messages_or_a_text() {
        let read = |value: Value| read_value::<HistorySource>(value).unwrap();
        assert_eq!(read(json!("talk.json")).file(), Some("talk.json"));
        assert_eq!(read(json!({"text": "So it was."})).messages().unwrap(), br#"["So it was."]"#);
        let messages = json!(["Hello.", {"role": "user", "content": "Fix it."}]);
        assert_eq!(read(messages.clone()).messages().unwrap(), messages.to_string().as_bytes());
        assert!(read_value::<HistorySource>(json!(3)).unwrap_err().contains("a list of messages"));
    }
}

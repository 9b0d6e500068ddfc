//! Questions about code: outlines, views, symbols and references; and about images.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::api::choices::{DocsName, MaskName, ModeName};
use crate::api::inline_curation::ItemEntry;

/// The outlines to show.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "OutlineAsk")]
pub struct OutlineQuery {
    /// Files, folders or patterns, relative to the project's folder; every file with an outline if empty.
    pub files: Vec<String>,
    /// Read and hash the files, even if their size and timestamps are unchanged.
    pub verify: bool,
}

/// The image to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ImageAsk")]
pub struct ImageQuery {
    /// A PNG, JPEG, GIF or WebP of the project.
    pub path: String,
}

/// The views to show.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "ViewAsk")]
pub struct ViewQuery {
    /// Files, folders or patterns, relative to the project's folder.
    pub files: Vec<String>,
    /// How to show them; by default in full, or in a smaller view for files above `limits.max_bytes`.
    pub mode: Option<ModeName>,
    /// How much of the docs skeletons show; by default all of them.
    pub docs: Option<DocsName>,
    /// How to show single symbols, for the mode `masked`; an object as in `ast_mask` of an entry means the same.
    #[serde(deserialize_with = "mask_entries")]
    pub mask: Vec<MaskEntry>,
    /// Whether symbols hidden by the mask of the settings or of `items` stay hidden even if `mask` names them.
    pub keeps_hidden: bool,
    /// Lines to show, for the mode `custom`.
    pub lines: Vec<LineRange>,
    /// The commit, branch or tag that the mode `diff` compares with; by default the last commit.
    #[serde(alias = "against")]
    pub base: Option<String>,
    /// Entries for this answer only: the one that applies to a file replaces that under `[[files]]`, and decides how
    /// the file is shown if there is no `mode`.
    pub items: Vec<ItemEntry>,
    /// Read and hash the files, even if their size and timestamps are unchanged.
    pub verify: bool,
}

/// How to show one symbol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaskEntry {
    /// The symbol's name as in outlines.
    pub symbol: String,
    /// How to show it.
    pub show: MaskName,
}

/// Reads a list of entries, or an object with the symbols as its keys.
fn mask_entries<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<MaskEntry>, D::Error> {
    struct MaskVisitor;

    impl<'de> Visitor<'de> for MaskVisitor {
        type Value = Vec<MaskEntry>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(list))
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            let symbols = BTreeMap::deserialize(MapAccessDeserializer::new(map))?;
            Ok(symbols.into_iter().map(|(symbol, show)| MaskEntry { symbol, show }).collect())
        }
    }

    deserializer.deserialize_any(MaskVisitor)
}

/// A range of lines; in JSON an object, or a text such as `10-12`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "LineRangeJson")]
pub struct LineRange {
    /// The first line, counted from 1.
    pub start: u32,
    /// The last line, inclusive.
    pub end: u32,
}

/// The two ways to write a range of lines.
#[derive(Deserialize, JsonSchema)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "a range of lines is \"10-12\" or {\"start\": 10, \"end\": 12}"
)]
#[schemars(rename = "LineRangeAsk", example = "10-12")]
enum LineRangeJson {
    /// The first and the last line, or the only one: `10-12`, `7`.
    Text(String),
    /// The first and the last line.
    Object {
        /// The first line, counted from 1.
        start: u32,
        /// The last line, inclusive.
        end: u32,
    },
}

impl TryFrom<LineRangeJson> for LineRange {
    type Error = String;

    fn try_from(json: LineRangeJson) -> Result<Self, String> {
        let text = match json {
            LineRangeJson::Object { start, end } => return Self { start, end }.checked(),
            LineRangeJson::Text(text) => text,
        };
        let (start, end) = text.split_once('-').unwrap_or((&text, &text));
        let number = |text: &str| text.trim().parse().ok();
        let range = number(start).zip(number(end)).map(|(start, end)| Self { start, end });
        let range = range.ok_or_else(|| {
            let got: String = text.chars().take(40).collect();
            format!("{got:?} is not a range of lines, such as \"10-12\" or {{\"start\": 10, \"end\": 12}}")
        })?;
        range.checked()
    }
}

impl LineRange {
    /// Returns the range if it has lines.
    fn checked(self) -> Result<Self, String> {
        let Self { start, end } = self;
        if (1..=end).contains(&start) {
            Ok(self)
        } else {
            Err(format!("{start}-{end} is not a range of lines"))
        }
    }
}

/// The symbols to find.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SymbolsAsk")]
pub struct SymbolsQuery {
    /// The name, qualified or not: `run`, `Engine.run`, `ns::Engine::run`; prefixed with a module's name:
    /// `app.core.Engine`; or a pattern: `get_*`, `Engine.*`.
    pub name: String,
    /// Whether to include the source of the definitions.
    #[serde(default)]
    pub definition: bool,
    /// Whether to ignore case.
    #[serde(default)]
    pub ignore_case: bool,
    /// Only symbols of this kind, as in outlines, such as `function` or `class`.
    #[serde(default)]
    pub kind: Option<String>,
}

/// What to search for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SearchAsk")]
pub struct SearchQuery {
    /// Words, a question, the text of an issue, a stack trace or an error message.
    pub query: String,
    /// The most hits; 20 by default.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
    /// Only hits of this kind: `file`, or a kind of symbol as in outlines, such as `function` or `class`.
    #[serde(default)]
    pub kind: Option<String>,
}

/// The uses to find.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "RefsAsk")]
pub struct RefsQuery {
    /// The symbol: `run`, `Engine.run`, `src/engine.py:run`. By default, every use of any symbol.
    pub symbol: Option<String>,
}

/// The calls to find.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CallsAsk")]
pub struct CallsQuery {
    /// The symbol: `run`, `Engine.run`, `src/engine.py:run`.
    pub symbol: String,
    /// Whether to find those that call it, or those that it calls.
    pub direction: CallDirectionName,
    /// How many calls to follow from the symbol; 1 by default.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub depth: Option<u32>,
}

/// The change whose impact to find: that of a target, or since a revision.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "ImpactAsk")]
pub struct ImpactQuery {
    /// A file, a folder or a symbol that changes.
    pub target: Option<String>,
    /// The commit, branch or tag since which files have changed.
    pub base: Option<String>,
    /// How many references to follow from the change; by default 3, or any number for tests.
    #[schemars(range(min = 1))]
    pub depth: Option<u32>,
    /// Whether to return only tests, the most likely first.
    pub tests: bool,
}

/// In which direction calls are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallDirectionName {
    /// To those that call the symbol.
    Callers,
    /// To those that the symbol calls.
    Callees,
}

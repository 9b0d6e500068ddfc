//! The arguments of the tools, and their conversion to questions. Agents read the documentation of each argument.
//!
//! Optional values have no `null` in their schemas, because some clients do not pass on schemas with alternatives.
//! Minimum and maximum numbers are checked but not in the schemas, which are part of every prompt.

use std::path::{Component, Path};

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::questions::bad_arguments;
use super::show::shorten;
use crate::api::body_schema::{BodySchema, without_internal_types};
use crate::api::choices::PartName;
use crate::api::choices::{MaskName, ModeName, ReceiptScope};
use crate::api::fault::ApiError;
use crate::api::inline_curation::{
    HistorySource, HistoryText, InlinePersona, InlinePreset, ItemEntry, NameOrInline,
};
use crate::api::located_json::{LocatedError, PathSegment, parse_located, path_text};
use crate::api::queries::{
    AggregateQuery, AttachmentOptions, CallDirectionName, CallsQuery, HydrateQuery, ImpactQuery, LineRange,
    MaskEntry, OutlineQuery, RefsQuery, ViewQuery, ViewSelection, token_limit,
};
use crate::api::query::WireQuery;

/// Arguments of `slop_aggregate`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AggregateArguments {
    /// Detail: 1 summaries and the file tree, 2 summaries with signatures, 3 focused files in full and skeletons of
    /// the others, 4 outlines and the lines around focused lines. Default: the project's settings.
    #[serde(default)]
    #[schemars(with = "u8", range(min = 1, max = 4))]
    pub(super) tier: Option<u8>,
    /// An agent profile of slop.toml, or one as JSON, instead of `tier`.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) persona: Option<NameOrInline<InlinePersona>>,
    /// A saved set of files of slop.toml, or one as JSON.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) preset: Option<NameOrInline<InlinePreset>>,
    /// Entries as of `[[files]]` in slop.toml; `ast_mask`: symbol to def, sig or hide.
    #[serde(default)]
    #[schemars(with = "Vec<ItemArgument>")]
    pub(super) items: Option<Vec<ItemEntry>>,
    /// Text or messages so far.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) history: Option<HistoryArgument>,
    /// Images to link.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(super) screenshots: Option<Vec<String>>,
    /// What you are about to do: an issue, an error with its stack trace, words. Decides what is shown.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) task: Option<String>,
    /// Files that the task is about, shown in most detail: path, name, part of a path, pattern or `path:line`.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(super) focus: Option<Vec<String>>,
    /// Only these files, folders or patterns.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(super) files: Option<Vec<String>>,
    /// Most tokens. Default: the tier's setting, or 20000.
    #[serde(default, deserialize_with = "token_limit::deserialize")]
    #[schemars(with = "u64")]
    pub(super) budget: Option<u64>,
    /// An id of your own: later calls with it give only what has changed since.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) reader: Option<String>,
    /// Answer with links to parts of it, as resources.
    #[serde(default)]
    #[schemars(with = "bool")]
    pub(super) links: Option<bool>,
    /// Place all files in tiers and keep the places; show what is HOT.
    #[serde(default)]
    #[schemars(with = "bool")]
    pub(super) hydrate: Option<bool>,
}

/// Arguments of `slop_view`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ViewArguments {
    /// Files, folders or patterns (`src/*.py`).
    #[schemars(length(min = 1))]
    pub(super) files: Vec<String>,
    /// `skeleton`: signatures and docs without bodies; `diff`: changes since `base` or the last commit. Default:
    /// `full`, or what `symbols`, `lines` or `base` imply.
    #[serde(default)]
    #[schemars(with = "ViewModeArgument")]
    pub(super) mode: Option<ViewModeArgument>,
    /// Only the definitions of these: `Engine.run`.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(super) symbols: Option<Vec<String>>,
    /// Only these lines, from 1, both ends included.
    #[serde(default)]
    #[schemars(with = "Vec<LineRangeArgument>")]
    pub(super) lines: Option<Vec<LineRange>>,
    /// Changes since this commit, branch or tag.
    #[serde(default, alias = "against")]
    #[schemars(with = "String")]
    pub(super) base: Option<String>,
    /// As for `slop_aggregate`.
    #[serde(default)]
    #[schemars(with = "Vec<JsonObject>")]
    pub(super) items: Option<Vec<ItemEntry>>,
}

/// A view that an agent can request by name. The names have no docs, so that the schema is a plain list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ViewModeArgument {
    Full,
    Skeleton,
    Outline,
    Summary,
    Diff,
}

// The schema of an entry, with the keys that agents need most; the others are read too.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct ItemArgument {
    #[serde(default)]
    #[schemars(with = "String")]
    path: Option<String>,
    #[serde(default)]
    #[schemars(with = "String")]
    view_mode: Option<String>,
    #[serde(default)]
    #[schemars(with = "JsonObject")]
    ast_mask: Option<JsonObject>,
}

// The schema of a range of lines; a text such as `10-12`, as documents write it, is read too. It has no docs, because
// those of the list describe it.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
struct LineRangeArgument {
    start: u32,
    end: u32,
}

/// Arguments of `slop_outline`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OutlineArguments {
    /// Files, folders or patterns (`src/*.py`).
    #[schemars(length(min = 1))]
    pub(super) files: Vec<String>,
}

/// Arguments of `slop_symbol`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SymbolArguments {
    /// `run`, `Engine.run`, `ns::Engine::run`, `get_*`.
    pub(super) name: String,
    /// Show the source, not only the signature.
    #[serde(default)]
    pub(super) definition: bool,
}

/// Arguments of `slop_refs`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RefsArguments {
    /// `impact`: what a change may touch; `tests`: which tests to run for it, most likely first.
    pub(super) mode: RefsModeArgument,
    /// A symbol: `run`, `Engine.run`, `src/a.py:run`. For `impact` and `tests` also a file or folder.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) target: Option<String>,
    /// Instead of `target`, for `impact` and `tests`: changes since this commit, branch or tag.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) base: Option<String>,
    /// Most steps to follow. Default: 1, for `impact` 3, for `tests` any.
    #[serde(default)]
    #[schemars(with = "u32")]
    pub(super) depth: Option<u32>,
}

/// Arguments of `slop_search`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchArguments {
    /// Any text.
    pub(super) query: String,
    /// Most hits. Default: 20.
    #[serde(default)]
    #[schemars(with = "u32")]
    pub(super) limit: Option<u32>,
    /// Only `file`, or a kind of symbol such as `function`.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) kind: Option<String>,
}

/// What to find. The names have no docs, so that the schema is a plain list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum RefsModeArgument {
    Uses,
    Callers,
    Callees,
    Impact,
    Tests,
}

/// Arguments of `slop_status`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusArguments {
    /// Only these. `left_out`: no text to show; `stale`, `new`: read when an answer needs them.
    #[serde(default)]
    #[schemars(with = "FileStateArgument")]
    pub(super) state: Option<FileStateArgument>,
    /// Only files below this folder.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) below: Option<String>,
    /// The `next_cursor` of the answer to continue.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) cursor: Option<String>,
}

/// What slop knows of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum FileStateArgument {
    Fresh,
    Stale,
    New,
    LeftOut,
}

impl FileStateArgument {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Stale => "stale",
            Self::New => "new",
            Self::LeftOut => "left_out",
        }
    }
}

/// The budget of a document if neither the agent nor the project's settings set one.
const DEFAULT_BUDGET: u64 = 20_000;

/// Documents for agents are recorded under this name, so that they do not affect the user's `--since-last`.
const DOCUMENT_NAME: &str = "mcp";

pub(super) fn aggregate_query(
    arguments: AggregateArguments,
    root: &Path,
) -> Result<AggregateQuery, ApiError> {
    // Checked in spite of the schema, because clients may not validate.
    if arguments.tier.is_some_and(|tier| !(1..=4).contains(&tier)) {
        return Err(bad_arguments("`tier` is not 1, 2, 3 or 4"));
    }
    if arguments.tier.is_some() && arguments.persona.is_some() {
        return Err(bad_arguments("`tier` and `persona` exclude each other"));
    }
    if arguments.reader.as_ref().is_some_and(String::is_empty) {
        return Err(bad_arguments("`reader` is empty"));
    }
    let choice = ViewSelection {
        tier: arguments.tier,
        persona: arguments.persona.map(|persona| read_inline("persona", persona)).transpose()?,
        preset: arguments.preset.map(|preset| read_inline("preset", preset)).transpose()?,
        items: arguments.items.unwrap_or_default(),
        task: arguments.task,
        focus: paths_from_root(&arguments.focus.unwrap_or_default(), root),
        budget: arguments.budget,
        default_budget: Some(DEFAULT_BUDGET),
        ..ViewSelection::default()
    };
    let files = paths_from_root(&arguments.files.unwrap_or_default(), root);
    let since_last = arguments.reader.is_some();
    // Several agents may work on one project, and each has received different documents.
    let name = match arguments.reader {
        Some(reader) => format!("{DOCUMENT_NAME}/{reader}"),
        None => DOCUMENT_NAME.to_owned(),
    };
    let attachments = AttachmentOptions {
        // A discussion in the project is never sent to an agent that did not request one.
        part: if arguments.history.is_some() { PartName::Whole } else { PartName::Prefix },
        history: arguments.history.map(HistoryArgument::into_source),
        screenshots: paths_from_root(&arguments.screenshots.unwrap_or_default(), root),
        ..AttachmentOptions::default()
    };
    // The text includes what an agent should know of the receipt, for which the totals suffice.
    let receipt = ReceiptScope::None;
    Ok(AggregateQuery {
        files,
        choice,
        name: Some(name),
        since_last,
        attachments,
        receipt,
        ..AggregateQuery::default()
    })
}

/// Returns the hydration for a document, and the question for the document of HOT files.
pub(super) fn hydration_queries(asked: AggregateQuery) -> Result<(HydrateQuery, AggregateQuery), ApiError> {
    // Checked before anything is placed, because the document would be rejected afterwards.
    if !asked.files.is_empty() || asked.choice.preset.is_some() {
        return Err(bad_arguments("`hydrate` places all files, and excludes `files` and `preset`"));
    }
    let choice = ViewSelection { default_budget: None, ..asked.choice };
    // The task and the budget have decided which files are HOT; they do not affect how a file is shown at its depth.
    let ViewSelection { tier, persona, items, .. } = choice.clone();
    let shown = ViewSelection { tier, persona, items, ..ViewSelection::default() };
    let document = AggregateQuery { choice: shown, hydrated: true, ..asked };
    Ok((HydrateQuery { choice, fragments: false }, document))
}

/// A discussion: a text, or messages, which may be written as JSON in a text.
#[derive(Debug)]
pub(super) struct HistoryArgument(HistorySource);

impl<'de> Deserialize<'de> for HistoryArgument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "a text, a list of messages with `role` and `content`, or an object with `text`";
        HistorySource::read(deserializer, expected).map(Self)
    }
}

impl HistoryArgument {
    fn into_source(self) -> HistorySource {
        // A string from an agent is the text itself, not the path of a file.
        let HistorySource::File(text) = self.0 else { return self.0 };
        let is_message = |value: &Value| value.get("role").is_some() || value.get("content").is_some();
        // A text may begin with a bracket without being JSON, or be a list of something else.
        let messages = serde_json::from_str::<Vec<Value>>(&text).ok();
        match messages.filter(|messages| !messages.is_empty() && messages.iter().all(is_message)) {
            Some(messages) => HistorySource::Messages(messages),
            None => HistorySource::Text(HistoryText { text }),
        }
    }
}

/// Returns the error for an invalid argument of a tool, with the expectation and an example.
pub(super) fn misshaped_argument<T: JsonSchema>(error: &LocatedError) -> ApiError {
    const DETAILED: [&str; 5] = ["items", "persona", "preset", "history", "budget"];
    // The tools' own schemas, which are part of every prompt, are less detailed than those of the same keys over HTTP.
    let is_detailed =
        matches!(error.path.first(), Some(PathSegment::Key(key)) if DETAILED.contains(&key.as_str()));
    let schema = if is_detailed {
        BodySchema::new(AggregateQuery::body_schema)
    } else {
        BodySchema::new(schemars::SchemaGenerator::subschema_for::<T>)
    };
    let meant =
        schema.meant_key(&error.path).map(|key| format!("did you mean `{key}`? ")).unwrap_or_default();
    let (path, wanted, example) = schema.expectation(&error.path);
    let subject = match path {
        [] => "the arguments are".to_owned(),
        path => format!("`{}` is", shorten(path_text(path))),
    };
    let reason = without_internal_types(&error.to_string(), &wanted).into_owned();
    ApiError { hint: format!("{meant}{subject} {wanted}, as in {example}").into(), ..bad_arguments(&reason) }
}

/// Parses an inline value given as a JSON string. The schema only allows a string, because some clients do not pass on
/// schemas with alternatives.
fn read_inline<T: DeserializeOwned>(key: &str, given: NameOrInline<T>) -> Result<NameOrInline<T>, ApiError> {
    match given {
        NameOrInline::Name(text) if text.trim_start().starts_with('{') => {
            let read = parse_located(text.as_bytes()).map_err(|mut error| {
                error.path.insert(0, PathSegment::Key(key.to_owned()));
                misshaped_argument::<AggregateArguments>(&error)
            });
            Ok(NameOrInline::Inline(Box::new(read?)))
        }
        given => Ok(given),
    }
}

pub(super) fn view_query(arguments: ViewArguments, root: &Path) -> Result<ViewQuery, ApiError> {
    let mode = requested_mode(&arguments)?;
    let entry = |symbol| MaskEntry { symbol, show: MaskName::Def };
    let lines = arguments.lines.unwrap_or_default();
    if lines.iter().any(|lines| lines.start == 0 || lines.end < lines.start) {
        return Err(bad_arguments("`lines` has a range that starts before line 1, or ends before its start"));
    }
    Ok(ViewQuery {
        files: paths_from_root_or_error(&arguments.files, root)?,
        mode,
        mask: arguments.symbols.unwrap_or_default().into_iter().map(entry).collect(),
        keeps_hidden: true,
        lines,
        base: arguments.base,
        items: arguments.items.unwrap_or_default(),
        ..ViewQuery::default()
    })
}

/// Returns the mode that is requested by name, or implied by another argument.
fn requested_mode(arguments: &ViewArguments) -> Result<Option<ModeName>, ApiError> {
    let is_given = |list: Option<usize>| list.is_some_and(|length| 0 < length);
    // An empty list counts as absent, because it selects nothing.
    let symbols = is_given(arguments.symbols.as_ref().map(Vec::len)).then_some(ModeName::Masked);
    let lines = is_given(arguments.lines.as_ref().map(Vec::len)).then_some(ModeName::Custom);
    let base = arguments.base.as_ref().map(|_| ModeName::Diff);
    let mut implied = [symbols, lines, base].into_iter().flatten();
    let first = implied.next();
    let named = arguments.mode.map(to_mode_name);
    let fits = named.is_none() || first.is_none() || named == first;
    if implied.next().is_some() || !fits {
        let reason = "more than one of `symbols`, `lines` and `base`, or a `mode` that contradicts them";
        return Err(bad_arguments(reason));
    }
    Ok(first.or(named))
}

const fn to_mode_name(name: ViewModeArgument) -> ModeName {
    match name {
        ViewModeArgument::Full => ModeName::Full,
        ViewModeArgument::Skeleton => ModeName::Skeleton,
        ViewModeArgument::Outline => ModeName::Outline,
        ViewModeArgument::Summary => ModeName::Summary,
        ViewModeArgument::Diff => ModeName::Diff,
    }
}

pub(super) fn outline_query(arguments: &OutlineArguments, root: &Path) -> Result<OutlineQuery, ApiError> {
    let files = paths_from_root_or_error(&arguments.files, root)?;
    Ok(OutlineQuery { files, verify: false })
}

/// A question about references.
#[derive(Debug)]
pub(super) enum ReferencesQuery {
    Uses(RefsQuery),
    Calls(CallsQuery),
    Impact(ImpactQuery),
}

pub(super) fn references_query(arguments: RefsArguments, root: &Path) -> Result<ReferencesQuery, ApiError> {
    let RefsArguments { mode, target, base, depth } = arguments;
    if depth == Some(0) {
        return Err(bad_arguments("`depth` is less than 1"));
    }
    let is_change = matches!(mode, RefsModeArgument::Impact | RefsModeArgument::Tests);
    if target.is_some() == base.is_some() || base.is_some() && !is_change {
        return Err(bad_arguments("`target` is required, or `base` instead for `impact` and `tests`"));
    }
    let target = target.map(|target| path_from_root(&target, root));
    let symbol = target.clone().unwrap_or_default();
    Ok(match mode {
        RefsModeArgument::Uses => ReferencesQuery::Uses(RefsQuery { symbol: Some(symbol) }),
        RefsModeArgument::Callers => {
            ReferencesQuery::Calls(CallsQuery { symbol, direction: CallDirectionName::Callers, depth })
        }
        RefsModeArgument::Callees => {
            ReferencesQuery::Calls(CallsQuery { symbol, direction: CallDirectionName::Callees, depth })
        }
        RefsModeArgument::Impact | RefsModeArgument::Tests => {
            let tests = mode == RefsModeArgument::Tests;
            ReferencesQuery::Impact(ImpactQuery { target, base, depth, tests })
        }
    })
}

fn paths_from_root_or_error(words: &[String], root: &Path) -> Result<Vec<String>, ApiError> {
    if words.is_empty() {
        return Err(bad_arguments("`files` names no file"));
    }
    Ok(paths_from_root(words, root))
}

fn paths_from_root(words: &[String], root: &Path) -> Vec<String> {
    words.iter().map(|word| path_from_root(word, root)).collect()
}

/// Returns a file argument relative to the root. A path outside of the root is returned unchanged, for the engine to
/// reject.
pub(super) fn path_from_root(word: &str, root: &Path) -> String {
    let path = Path::new(word);
    if path.components().any(|part| part == Component::ParentDir) {
        return word.to_owned();
    }
    // Agents often give absolute paths, which they know from other tools.
    let path = path.strip_prefix(root).unwrap_or(path);
    let plain: std::path::PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
    match plain.to_str() {
        // An empty argument must not select everything.
        Some("") if word.is_empty() => String::new(),
        Some("") => ".".to_owned(),
        Some(plain) => plain.to_owned(),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_made_relative_to_the_root() {
        let check = |given, expected: &str| {
            assert_eq!(path_from_root(given, Path::new("/home/me/project")), expected);
        };
        check("src/a.py", "src/a.py");
        check("./src//a.py", "src/a.py");
        check("src/", "src");
        check("/home/me/project/src/a.py", "src/a.py");
        check("/home/me/project", ".");
        check(".", ".");
        check("", "");
        check("src/*.py", "src/*.py");
        // Paths outside are unchanged.
        check("/home/me/projects/a.py", "/home/me/projects/a.py");
        check("/home/me/project/../secret", "/home/me/project/../secret");
        check("../a.py", "../a.py");
    }
}

//! What agents give to the tools. The words here are what they read of each argument.
//!
//! Optional values show no `null` in their schemas: some clients pass on no schema that has alternatives.

use schemars::JsonSchema;
use serde::Deserialize;

/// Arguments of `slop_aggregate`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AggregateArguments {
    /// How much of each file to show: 1 (orchestrator) a summary of each file and the file tree, 2 (tech lead)
    /// summaries with signatures, 3 (worker) focused files in full and skeletons of the others, 4 (QA) outlines, and
    /// the lines around focused lines. Defaults to the project's settings.
    #[serde(default)]
    #[schemars(with = "u8", range(min = 1, max = 4))]
    pub(super) tier: Option<u8>,
    /// Name of an agent profile in the project's slop.toml; not together with `tier`.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) persona: Option<String>,
    /// Name of a saved set of files in the project's slop.toml.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) preset: Option<String>,
    /// The files that the task is about: a path relative to the project's root, a file name, part of a path, a pattern,
    /// or `path:line`. They are shown in the most detail, and files that they refer to rank higher.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(super) focus: Option<Vec<String>>,
    /// Aggregate only these: files, folders or patterns relative to the project's root. Defaults to the whole project.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(super) files: Option<Vec<String>>,
    /// Limit the document to this many tokens: the least important files are shown in smaller views, then left out.
    /// Defaults to the tier's budget in the project's settings, or else 20000.
    #[serde(default)]
    #[schemars(with = "u64", range(min = 1))]
    pub(super) budget: Option<u64>,
}

/// Arguments of `slop_view`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ViewArguments {
    /// Files, folders or patterns (`src/*.py`), relative to the project's root.
    #[schemars(length(min = 1))]
    pub(super) files: Vec<String>,
    /// How to show them: `full` is the text, `skeleton` signatures, docs and types without bodies (a tenth to a third
    /// of the text), `outline` the symbols, `summary` a short description, `diff` the changes since the last commit or
    /// since `base`. Defaults to `full`, or to what `symbols`, `lines` or `base` imply.
    #[serde(default)]
    #[schemars(with = "ViewModeArgument")]
    pub(super) mode: Option<ViewModeArgument>,
    /// Show only the definitions of these symbols, named as in `slop_outline`: `Engine.run`.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(super) symbols: Option<Vec<String>>,
    /// Show only these lines.
    #[serde(default)]
    #[schemars(with = "Vec<LineRangeArgument>")]
    pub(super) lines: Option<Vec<LineRangeArgument>>,
    /// Show what has changed since this commit, branch or tag.
    #[serde(default, alias = "against")]
    #[schemars(with = "String")]
    pub(super) base: Option<String>,
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

/// A range of lines.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LineRangeArgument {
    /// The first line, counted from 1.
    #[schemars(range(min = 1))]
    pub(super) start: u32,
    /// The last line, inclusive.
    #[schemars(range(min = 1))]
    pub(super) end: u32,
}

/// Arguments of `slop_outline`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OutlineArguments {
    /// Files, folders or patterns (`src/*.py`), relative to the project's root.
    #[schemars(length(min = 1))]
    pub(super) files: Vec<String>,
}

/// Arguments of `slop_symbol`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SymbolArguments {
    /// The symbol's name, or the end of its qualified name: `run`, `Engine.run`, `ns::Engine::run`.
    pub(super) name: String,
    /// Whether to show the source of each definition instead of only its signature.
    #[serde(default)]
    pub(super) definition: bool,
}

/// Arguments of `slop_status`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusArguments {
    /// List only files in this state: `fresh` (the cache has this content), `stale` (it may have changed since it was
    /// read), `new` (never read), `left_out` (no text to show; the reason is given). Stale and new files are read when
    /// an answer needs them.
    #[serde(default)]
    #[schemars(with = "FileStateArgument")]
    pub(super) state: Option<FileStateArgument>,
    /// List only the files below this folder, relative to the project's root.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) below: Option<String>,
    /// Continue where an earlier answer ended: its `next_cursor`.
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
    /// Returns the state's name in answers.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Stale => "stale",
            Self::New => "new",
            Self::LeftOut => "left_out",
        }
    }
}

//! What people curate: files, lines and symbols, and named selections of them.
//!
//! All of it is written in `slop.toml`; `config` reads and edits it.

use std::collections::BTreeMap;

use super::file::ContentHash;
use super::named_enum::named_enum;
use super::path::{RelPath, normalized_path};
use super::view::{AggregationStrategy, Tier, ViewMode};

/// What a person specifies for one file, or for all that a pattern matches: an entry of `[[files]]`, or of a preset.
#[expect(clippy::struct_excessive_bools, reason = "each is a key of `[[files]]` of its own")]
#[derive(Debug, Clone, PartialEq)]
pub struct FileItem {
    /// The path or pattern as it was written: relative to the project's root, or absolute.
    pub path: String,
    /// Whether the file is aggregated; if not, it is not inlined, but an agent may request it.
    pub auto_aggregate: bool,
    pub force_full: bool,
    /// How the file is shown; `None` leaves it to the tier.
    pub view_mode: Option<ViewMode>,
    /// Whether a person has picked the file out.
    pub selected: bool,
    /// Whether the signatures of all top-level symbols and members are shown.
    pub ast_signatures: bool,
    /// Whether the definitions of all top-level symbols and members are shown.
    pub ast_definitions: bool,
    /// How single symbols are shown, by their qualified names, as written.
    pub ast_mask: Vec<(String, MaskMode)>,
    pub tier: Option<Tier>,
    /// When the file was handed to an agent, in seconds since the epoch.
    pub injected_at: Option<f64>,
    /// The lines that a person marked.
    pub custom_slices: Vec<Slice>,
}

impl FileItem {
    /// Returns an item that only selects the file, with defaults for the rest.
    pub fn plain(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            auto_aggregate: true,
            force_full: false,
            view_mode: None,
            selected: false,
            ast_signatures: false,
            ast_definitions: false,
            ast_mask: Vec::new(),
            tier: None,
            injected_at: None,
            custom_slices: Vec::new(),
        }
    }
}

impl FileItem {
    /// Returns whether the item only selects the file.
    pub fn is_plain(&self) -> bool {
        *self == Self::plain(self.path.clone())
    }

    /// Returns whether the item names that file by its path, not by a pattern or a folder.
    pub fn is_of(&self, path: &RelPath) -> bool {
        normalized_path(&self.path).as_bytes() == path.as_bytes()
    }
}

named_enum! {
    /// How a symbol is shown.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum MaskMode {
        Definition = "def",
        Signature = "sig",
        /// Its signature, and the first paragraph of its documentation.
        Summary = "agg",
        /// Not at all.
        Hide = "hide",
    }
}

impl MaskMode {
    /// Parses a mode: its name, or `full` for the whole symbol, as other programs write it.
    pub fn from_word(word: &str) -> Option<Self> {
        if word == "full" { Some(Self::Definition) } else { Self::from_name(word) }
    }
}

/// A range of lines that a person marked, with the data to find it again after edits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// First line when it was marked, from 1.
    pub start_line: u32,
    /// Last line when it was marked, inclusive.
    pub end_line: u32,
    /// A short name; may be empty.
    pub tag: String,
    /// Why it matters; may be empty.
    pub comment: String,
    /// The data to find it again.
    pub anchors: SliceAnchors,
}

impl Slice {
    /// Returns the name of the slice: its tag, or else the lines that were marked, such as `10-14`.
    pub fn name(&self) -> String {
        if self.tag.is_empty() { format!("{}-{}", self.start_line, self.end_line) } else { self.tag.clone() }
    }
}

/// The recorded text and surroundings of a slice. All but the lines may be missing; the slice is then harder to find,
/// but a guess is always reported as such.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SliceAnchors {
    /// SHA-256 of the slice's text: its lines joined by line feeds, without the last line break.
    pub content_hash: Option<ContentHash>,
    /// The lines before it, the nearest last (`start_context`).
    pub before: Vec<String>,
    /// The lines after it, the nearest first (`end_context`).
    pub after: Vec<String>,
    pub line_hashes: Vec<String>,
    /// The nearest lines before it that occurred once in the file, the nearest last.
    pub unique_before: Vec<String>,
    /// The nearest lines after it that occurred once in the file, the nearest first.
    pub unique_after: Vec<String>,
    /// How often the text occurred in the file; 0 if unknown.
    pub copies: u32,
}

/// The result of finding a slice in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SliceResolution {
    pub status: SliceStatus,
    /// Its current first line, from 1; a best guess if it is stale.
    pub start_line: u32,
    /// Its current last line, inclusive; a best guess if it is stale.
    pub end_line: u32,
    /// The reason in words.
    pub reason: String,
}

named_enum! {
    /// How reliably a slice was found again.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum SliceStatus {
        /// The same text at the same lines.
        Exact = "exact",
        /// The same text at other lines.
        Moved = "moved",
        /// Another text, which probably replaced it.
        Changed = "changed",
        /// Not found, or found at several equally good places.
        Stale = "stale",
    }
}

/// A saved composition of files.
#[derive(Debug, Clone, PartialEq)]
pub struct Preset {
    pub name: String,
    /// What it is for; may be empty.
    pub description: String,
    pub files: Vec<FileItem>,
    pub screenshots: Vec<String>,
}

/// A named agent profile.
#[derive(Debug, Clone, PartialEq)]
pub struct Persona {
    pub name: String,
    pub tier: Option<Tier>,
    pub aggregation_strategy: Option<AggregationStrategy>,
    /// The models to ask: the first is used, the others are fallbacks to escalate to.
    pub preferred_models: Vec<PreferredModel>,
    pub context_preset: Option<String>,
    /// The maximum tokens of a document for it, 0 for no limit; `None` leaves it to the tier.
    pub budget_tokens: Option<u64>,
    /// The files in focus if a request has no focus.
    pub focus: Vec<String>,
    pub views: PersonaViews,
    /// The system prompt; may be empty.
    pub system_prompt: String,
}

/// Defaults for what a request leaves open: `[document]` in `slop.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DocumentDefaults {
    /// The tier; never together with a persona.
    pub tier: Option<Tier>,
    /// The name of a persona.
    pub persona: Option<String>,
    /// The name of a preset.
    pub preset: Option<String>,
    /// The files in focus.
    pub focus: Vec<String>,
    /// The maximum tokens, 0 for no limit.
    pub budget_tokens: Option<u64>,
}

/// The views of a persona, in place of those of its tier.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PersonaViews {
    /// The view of files that no other rule decides.
    pub view: Option<ViewMode>,
    pub focus_view: Option<ViewMode>,
    /// Views by file type id.
    pub languages: BTreeMap<String, ViewMode>,
}

impl PersonaViews {
    /// Returns whether one of them is for files in focus or of a language, which requires a tier.
    pub fn needs_tier(&self) -> bool {
        self.focus_view.is_some() || !self.languages.is_empty()
    }
}

/// A model of a provider, and its parameters. `None` fields are not sent.
#[derive(Debug, Clone, PartialEq)]
pub struct PreferredModel {
    /// Name of the provider, such as `anthropic`.
    pub provider: String,
    /// Name of the model, as the provider spells it.
    pub model: String,
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    pub max_output_tokens: Option<u32>,
}

impl PreferredModel {
    /// More than any model writes. Larger values are rejected early, with their location.
    pub const MAX_OUTPUT_TOKENS: u32 = 1_000_000;
}

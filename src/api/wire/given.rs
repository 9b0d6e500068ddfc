//! Documents that were delivered to agents, and what has changed since.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document_view::FirstDifference;
use crate::engine::{DeliveredFileDiff, DeliveredFileState, DeliveredFileStatus, RecordName};
use crate::model::path_text;

/// The documents that were delivered to agents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GivenDocuments {
    /// The names under which documents were delivered: all, or the requested one.
    pub names: Vec<GivenName>,
    /// The documents of the name, the newest first: at most 20. One that was delivered several times in a row is listed
    /// once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<GivenStep>,
    /// The current state of the files of the last document of the name, by path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<GivenFileColumns>,
    /// The changes of the requested file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<GivenFileChange>,
}

/// A name under which documents were delivered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GivenName {
    /// The name.
    pub name: String,
    /// Distinguishes documents of the same name that were requested with different entries or a different inline
    /// preset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curation: Option<String>,
    /// When the last document was delivered, in milliseconds since the epoch; null if that is not recorded.
    pub at_ms: Option<i64>,
    /// Its bytes.
    pub bytes: u64,
    /// Its tokens.
    pub tokens: u64,
    /// How many files it shows.
    pub files: usize,
}

/// A document that was delivered, compared with the one before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GivenStep {
    /// When it was delivered, in milliseconds since the epoch.
    pub at_ms: i64,
    /// Its bytes.
    pub bytes: u64,
    /// Its tokens.
    pub tokens: u64,
    /// The bytes that a provider's prompt cache keeps of the document before; null if there is none.
    pub kept_bytes: Option<u64>,
    /// About how many tokens these are.
    pub kept_tokens: Option<u64>,
    /// The first difference from the document before.
    pub first: Option<FirstDifference>,
}

/// Files of a document that was delivered, in columns: one value for each file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GivenFileColumns {
    /// The paths, as they are written in requests.
    pub file: Vec<String>,
    /// `same`, `changed`, `new` (created since, and not in the document) or `gone`.
    pub state: Vec<String>,
    /// How each was shown; null for new files.
    pub view: Vec<Option<String>>,
}

/// The changes of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GivenFileChange {
    /// The path.
    pub file: String,
    /// `same`, `changed` or `gone`.
    pub state: String,
    /// How it was shown.
    pub view: Option<String>,
    /// A unified diff from the delivered text to the current text of the same view; empty if they are the same, null if
    /// there is no diff.
    pub diff: Option<String>,
    /// Why there is no diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How many lines of the delivered text are left out of the diff because a mask hides them now.
    pub hidden_lines: usize,
}

impl GivenName {
    /// Returns the name of a record whose last document is `last`, with the number of files that it shows.
    pub fn new(record: &RecordName, last: Option<&GivenStep>, files: usize) -> Self {
        let RecordName { name, curation } = record.clone();
        let (bytes, tokens) = last.map_or((0, 0), |last| (last.bytes, last.tokens));
        Self { name, curation, at_ms: last.map(|last| last.at_ms), bytes, tokens, files }
    }
}

impl From<Vec<DeliveredFileStatus>> for GivenFileColumns {
    fn from(files: Vec<DeliveredFileStatus>) -> Self {
        let mut columns = Self::default();
        for DeliveredFileStatus { path, view, state } in files {
            columns.file.push(path_text(path.as_bytes()));
            columns.state.push(state_name(state).to_owned());
            columns.view.push(view.map(|view| view.name().to_owned()));
        }
        columns
    }
}

impl From<DeliveredFileDiff> for GivenFileChange {
    fn from(change: DeliveredFileDiff) -> Self {
        let DeliveredFileDiff { file: DeliveredFileStatus { path, view, state }, diff, reason, hidden_lines } =
            change;
        Self {
            file: path_text(path.as_bytes()),
            state: state_name(state).to_owned(),
            view: view.map(|view| view.name().to_owned()),
            diff,
            reason: reason.map(str::to_owned),
            hidden_lines,
        }
    }
}

const fn state_name(state: DeliveredFileState) -> &'static str {
    match state {
        DeliveredFileState::Same => "same",
        DeliveredFileState::Changed => "changed",
        DeliveredFileState::New => "new",
        DeliveredFileState::Gone => "gone",
    }
}

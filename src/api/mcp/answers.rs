//! What is read of the answers: the keys that agents are told of, and no others.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde::de::IgnoredAny;

use super::refusal::ToolError;

/// Reads an answer's data.
pub(super) fn read<T: DeserializeOwned>(data: &[u8]) -> Result<T, ToolError> {
    serde_json::from_slice(data).map_err(|error| ToolError::bug(&format!("read slop's own answer: {error}")))
}

/// One file as it is shown.
#[derive(Debug, Deserialize)]
pub(super) struct ViewData {
    pub(super) path: String,
    pub(super) language: Option<String>,
    pub(super) view: String,
    pub(super) sha256: Option<String>,
    pub(super) head: String,
    pub(super) text: String,
    pub(super) why: Option<String>,
}

/// The symbols of one file.
#[derive(Debug, Deserialize)]
pub(super) struct OutlineData {
    pub(super) path: String,
    pub(super) language: String,
    pub(super) lines: u32,
    pub(super) symbols: Vec<SymbolNode>,
}

/// One symbol in its file.
#[derive(Debug, Deserialize)]
pub(super) struct SymbolNode {
    pub(super) kind: String,
    pub(super) qualified_name: String,
    pub(super) start_line: u32,
    pub(super) end_line: u32,
    pub(super) signature: String,
    pub(super) children: Vec<SymbolNode>,
}

/// One symbol that has the name.
#[derive(Debug, Deserialize)]
pub(super) struct SymbolData {
    pub(super) path: String,
    pub(super) kind: String,
    pub(super) qualified_name: String,
    pub(super) start_line: u32,
    pub(super) end_line: u32,
    pub(super) signature: String,
    pub(super) doc: Option<String>,
    pub(super) definition: Option<String>,
}

/// The state of every file.
#[derive(Debug, Deserialize)]
pub(super) struct FilesData {
    pub(super) files: Vec<FileData>,
}

/// The state of one file.
#[derive(Debug, Deserialize)]
pub(super) struct FileData {
    pub(super) path: String,
    pub(super) path_hex: Option<String>,
    pub(super) state: String,
    pub(super) reason: Option<String>,
    pub(super) language: Option<String>,
    /// In bytes; not every service knows it.
    pub(super) size: Option<u64>,
}

/// A document, and what became of the files.
#[derive(Debug, Deserialize)]
pub(super) struct DocumentData {
    pub(super) text: String,
    pub(super) receipt: ReceiptData,
}

/// What became of the files.
#[derive(Debug, Deserialize)]
pub(super) struct ReceiptData {
    pub(super) tokens: Option<u64>,
    pub(super) budget_tokens: Option<u64>,
    pub(super) tokens_counted_by: Option<String>,
    pub(super) files: Vec<EntryData>,
    pub(super) left_out: Vec<IgnoredAny>,
    pub(super) missing: Vec<MissingData>,
}

/// What became of one file.
#[derive(Debug, Deserialize)]
pub(super) struct EntryData {
    pub(super) view: String,
    pub(super) wanted: String,
}

/// A word that means no file.
#[derive(Debug, Deserialize)]
pub(super) struct MissingData {
    pub(super) word: String,
    pub(super) why: String,
}

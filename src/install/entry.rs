//! What is written into a settings file.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// For whom an agent is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InstallScope {
    /// For everybody who works on the project, by files in its folder.
    Project,
    /// For the user, in all projects.
    User,
}

/// The language of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileFormat {
    /// JSON, with comments and trailing commas where the file has them.
    Json,
    Toml,
    /// A text that is slop's as a whole.
    Text,
}

/// How an entry belongs to what it is written into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryKind {
    /// The value of the last key.
    Property,
    /// One more element of the list that the keys lead to.
    Element,
    /// A value that the file needs, but that stays if others use the file too.
    Shared,
    /// All of the file.
    WholeFile,
}

/// One value in a settings file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigEntry {
    pub format: FileFormat,
    pub kind: EntryKind,
    /// The keys that lead to the value, the outermost first.
    pub keys: Vec<String>,
    /// For a whole file a string, its text.
    pub value: Value,
}

impl ConfigEntry {
    /// Returns the entry in words: its keys, joined by dots.
    pub fn name(&self) -> String {
        match self.kind {
            EntryKind::WholeFile => "the file".to_owned(),
            EntryKind::Property | EntryKind::Element | EntryKind::Shared => self.keys.join("."),
        }
    }
}

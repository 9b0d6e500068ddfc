//! Entries of a settings file.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Whether an agent is set up for a project or a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InstallScope {
    /// For everyone who works on the project, with files in its folder.
    Project,
    /// For the user, in all projects.
    User,
}

/// The language of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileFormat {
    /// JSON, possibly with comments and trailing commas.
    Json,
    Toml,
    /// A text that belongs to slop as a whole.
    Text,
}

/// How an entry relates to its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryKind {
    /// The value of the last key.
    Property,
    /// One more element of the list that the keys lead to.
    Element,
    /// A value that the file needs, and that is kept if others use the file, too.
    Shared,
    /// The whole file.
    WholeFile,
}

/// One value in a settings file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigEntry {
    pub format: FileFormat,
    pub kind: EntryKind,
    /// The keys that lead to the value, outermost first.
    pub keys: Vec<String>,
    /// For a whole file, a string with its text.
    pub value: Value,
}

impl ConfigEntry {
    /// Returns a name of the entry for messages: its keys, joined by dots.
    pub fn name(&self) -> String {
        match self.kind {
            EntryKind::WholeFile => "the file".to_owned(),
            EntryKind::Property | EntryKind::Element | EntryKind::Shared => self.keys.join("."),
        }
    }
}

//! The folders linked to a project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The other folders that are, or might become, part of the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinksState {
    /// The folders, by name.
    pub links: Vec<LinkState>,
}

/// A folder that is, or might become, part of the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkState {
    /// Its name: its file `a.py` is `@name/a.py`.
    pub name: String,
    /// How its files are listed: `git-checkout` or `directory`.
    pub kind: String,
    /// Where it is, as an absolute path.
    pub path: String,
    /// Who named it: `user` or `project`.
    pub named_by: String,
    /// `linked`, `wants consent`, `gone`, `another folder` or `refused`.
    pub state: String,
    /// Why it is not linked; empty if it is.
    pub reason: String,
}

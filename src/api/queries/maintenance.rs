//! Questions about the index and the cache.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of an index run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
// Schemas keep the names under which they were published, because generated clients have types of these names.
#[schemars(rename = "IndexAsk")]
pub struct IndexQuery {
    /// Read and hash every file, even if its size and timestamps are unchanged.
    pub verify: bool,
}

/// What to delete from the cache; by default everything except summaries by models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "these are the flags of a command, each by itself")]
#[schemars(rename = "CacheClearAsk")]
pub struct CacheClearQuery {
    /// Only the data of these files.
    pub files: Vec<String>,
    /// The summaries.
    pub summaries: bool,
    /// The outlines, skeletons and references.
    pub structure: bool,
    /// The summaries by models, of all files or of the given ones. Writing them again costs money.
    pub agent: bool,
    /// Everything, including summaries by models.
    pub all: bool,
}

/// What to export from the cache.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "CacheExportAsk")]
pub struct CacheExportQuery {
    /// Files, folders or patterns, relative to the project's folder; every file if empty.
    pub files: Vec<String>,
    /// The `next` of the previous page; by default, the first page.
    pub after: Option<String>,
    /// The most files of a page; 1000 by default.
    #[schemars(range(min = 1, max = 10_000))]
    pub limit: Option<u32>,
}

/// How long contents that no file has are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CacheCollectAsk")]
pub struct CacheGcQuery {
    /// The number of days.
    pub days: u32,
}

/// Asks for the state of every file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilesQuery {}

/// Asks for the linked folders. Which folders are linked is the user's decision: no request changes it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinksQuery {}

/// Asks how much is cached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheStatusQuery {}

/// Asks for a check of every byte that is cached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheVerifyQuery {}

/// Asks for a comparison of the index with the files themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditQuery {}

//! The cache itself: how much there is, what was deleted, what is damaged or wrong.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;

use super::dollars::Dollars;
use super::path::wire_path;
use crate::engine::AgentDbSize;
use crate::engine::AuditReport;
use crate::engine::CacheStatus;
use crate::engine::ClearedCache;
use crate::engine::IndexDifference;
use crate::engine::IntegrityReport;

/// How much is cached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheSize {
    /// Files that are known.
    pub files: u64,
    /// Contents that are known.
    pub contents: u64,
    /// Those of them that no file holds.
    pub idle_contents: u64,
    /// What is derived, by kind.
    pub artifacts: Vec<ArtifactSize>,
    /// What the last aggregations gave.
    pub given: GivenSize,
    /// Bytes of the database and its log on the disk.
    pub bytes_on_disk: u64,
    /// What models wrote and what it cost; absent where they never wrote anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentSize>,
}

/// How much models wrote, and what it cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentSize {
    /// Summaries.
    pub summaries: u64,
    /// Bytes of their words.
    pub text_bytes: u64,
    /// What was asked in vain.
    pub refusals: u64,
    /// Calls that were ever made.
    pub calls: u64,
    /// What they cost. A call of unknown cost counts as the most it may have cost.
    pub spent_usd: Dollars,
    /// Bytes of the database and its log on the disk.
    pub bytes_on_disk: u64,
}

/// How much there is of one kind of what is derived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactSize {
    /// The kind, as `outline`.
    pub artifact: String,
    /// How many there are.
    pub rows: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// How much is remembered of what aggregations gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GivenSize {
    /// How many views.
    pub rows: u64,
    /// Bytes of their texts.
    pub bytes: u64,
}

/// What was deleted from the cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheFreed {
    /// Contents.
    pub contents: u64,
    /// What was derived from them.
    pub artifacts: u64,
    /// Files that were known.
    pub files: u64,
    /// Bytes by which the databases became smaller on the disk.
    pub bytes: u64,
    /// Summaries that models wrote.
    #[serde(default)]
    pub agent_summaries: u64,
    /// What those had cost.
    #[serde(default)]
    pub agent_usd: Dollars,
    /// Summaries that models wrote and that are still there.
    #[serde(default)]
    pub agent_kept: u64,
}

/// What a check of the cache found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheVerdict {
    /// Rows that were looked at.
    pub rows: u64,
    /// Rows that were damaged and are deleted now, in words.
    pub damaged: Vec<String>,
    /// What is wrong with the structure of the database; then it is made anew.
    pub structure: Option<String>,
}

/// How the index differs from the files themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditResult {
    /// Files that were looked at.
    pub files: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// What is not as the index says, by path.
    pub differences: Vec<AuditDifference>,
}

/// A file of which the index says something else than is true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditDifference {
    /// The file, from the project's folder.
    pub path: String,
    /// The bytes of the path in hex, where they are no UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// What is wrong: `not_indexed`, `other_content`, `still_indexed`, `other_reason` or `damaged_row`.
    pub kind: String,
}

impl CacheVerdict {
    /// Says whether nothing is wrong.
    pub const fn is_sound(&self) -> bool {
        self.damaged.is_empty() && self.structure.is_none()
    }
}

impl AuditDifference {
    /// Returns what is wrong, in words that fit behind the path.
    pub fn description(&self) -> &str {
        match self.kind.as_str() {
            "not_indexed" => "the project has it, and the index does not",
            "other_content" => "the index has another content",
            "still_indexed" => "the index has it, and the project does not",
            "other_reason" => "the index leaves it out for another reason",
            "damaged_row" => "what the index holds of it is damaged",
            other => other,
        }
    }
}

impl From<CacheStatus> for CacheSize {
    fn from(status: CacheStatus) -> Self {
        let CacheStatus { size, paid } = status;
        let artifacts = size.artifacts.iter().map(|kind| ArtifactSize {
            artifact: kind.artifact.name().to_owned(),
            rows: kind.rows,
            bytes: kind.bytes,
        });
        Self {
            files: size.files,
            contents: size.contents,
            idle_contents: size.idle_contents,
            artifacts: artifacts.collect(),
            given: GivenSize { rows: size.delivered_texts, bytes: size.delivered_bytes },
            bytes_on_disk: size.bytes_on_disk,
            agent: paid.map(AgentSize::from),
        }
    }
}

impl From<AgentDbSize> for AgentSize {
    fn from(size: AgentDbSize) -> Self {
        Self {
            summaries: size.summaries,
            text_bytes: size.text_bytes,
            refusals: size.refusals,
            calls: size.calls,
            spent_usd: size.spent_total.into(),
            bytes_on_disk: size.bytes_on_disk,
        }
    }
}

impl From<ClearedCache> for CacheFreed {
    fn from(cleared: ClearedCache) -> Self {
        let ClearedCache { freed, paid } = cleared;
        Self {
            contents: freed.contents,
            artifacts: freed.artifacts,
            files: freed.files,
            bytes: freed.bytes.saturating_add(paid.bytes),
            agent_summaries: paid.summaries,
            agent_usd: paid.cost.into(),
            agent_kept: paid.kept,
        }
    }
}

impl From<IntegrityReport> for CacheVerdict {
    fn from(verdict: IntegrityReport) -> Self {
        Self { rows: verdict.rows, damaged: verdict.damaged_rows, structure: verdict.structure_error }
    }
}

impl From<AuditReport> for AuditResult {
    fn from(report: AuditReport) -> Self {
        let differences = report.differences.into_iter().map(Into::into).collect();
        Self { files: report.files, bytes: report.bytes, differences }
    }
}

impl From<IndexDifference> for AuditDifference {
    fn from(difference: IndexDifference) -> Self {
        let (path, path_hex) = wire_path(&difference.path);
        Self { path, path_hex, kind: difference.kind.name().to_owned() }
    }
}

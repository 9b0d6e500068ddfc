//! Answers about the cache itself: its size, what was deleted, what is damaged or wrong.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scalars::Dollars;
use super::scalars::wire_path;
use crate::engine::{AgentDbSize, AuditReport, CacheStatus, ClearedCache, IndexDifference, IntegrityReport};

/// How much is cached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheSize {
    /// Known files.
    pub files: u64,
    /// Known contents.
    pub contents: u64,
    /// Contents that no file has anymore.
    pub idle_contents: u64,
    /// Linked worktrees of the repository that share the cache.
    #[serde(default)]
    pub linked_worktrees: u64,
    /// The artifacts by kind.
    pub artifacts: Vec<ArtifactSize>,
    /// The records of delivered documents.
    pub given: GivenSize,
    /// Size of the database and its log on disk, in bytes.
    pub bytes_on_disk: u64,
    /// Summaries by models and their cost; absent if there have never been any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentSize>,
}

/// Summaries by models, and what they cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentSize {
    /// Summaries.
    pub summaries: u64,
    /// Size of their texts in bytes.
    pub text_bytes: u64,
    /// Subjects that models declined or failed to summarize.
    pub refusals: u64,
    /// The number of calls made so far.
    pub calls: u64,
    /// Their cost. A call of unknown cost counts at its maximum.
    pub spent_usd: Dollars,
    /// Size of the database and its log on disk, in bytes.
    pub bytes_on_disk: u64,
}

/// The totals of one kind of artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactSize {
    /// The kind, such as `outline`.
    pub artifact: String,
    /// The number of entries.
    pub rows: u64,
    /// Total size in bytes.
    pub bytes: u64,
}

/// How much is recorded about delivered documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GivenSize {
    /// The number of views.
    pub rows: u64,
    /// Size of their texts in bytes.
    pub bytes: u64,
}

/// What was deleted from the cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheFreed {
    /// The number of contents.
    pub contents: u64,
    /// The artifacts derived from them.
    pub artifacts: u64,
    /// Files that were already known.
    pub files: u64,
    /// Bytes by which the databases shrank on disk.
    pub bytes: u64,
    /// Summaries by models.
    #[serde(default)]
    pub agent_summaries: u64,
    /// Their cost.
    #[serde(default)]
    pub agent_usd: Dollars,
    /// Summaries by models that are still cached.
    #[serde(default)]
    pub agent_kept: u64,
    /// Other worktrees of the repository, which share the cache and keep what they use of it.
    #[serde(default)]
    pub other_worktrees: u64,
}

/// The result of verifying the cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheVerdict {
    /// Rows checked.
    pub rows: u64,
    /// Descriptions of the damaged rows that were deleted.
    pub damaged: Vec<String>,
    /// What is wrong with the structure of the database, which is then rebuilt.
    pub structure: Option<String>,
}

/// How the index differs from the files on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditResult {
    /// Files checked.
    pub files: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Files whose artifacts were all derived again and compared with the stored ones: a sample, a different one each
    /// time.
    #[serde(default)]
    pub derived: u64,
    /// The differences, by path.
    pub differences: Vec<AuditDifference>,
}

/// A file for which the index differs from the file on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditDifference {
    /// The file, relative to the project's folder.
    pub path: String,
    /// The bytes of the path in hex, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// What is wrong: `not_indexed`, `other_content`, `still_indexed`, `other_reason`, `damaged_row` or
    /// `other_artifact`.
    pub kind: String,
}

impl CacheVerdict {
    pub const fn is_sound(&self) -> bool {
        self.damaged.is_empty() && self.structure.is_none()
    }
}

impl AuditDifference {
    /// Returns what is wrong, in words that fit after the path.
    pub fn description(&self) -> &str {
        match self.kind.as_str() {
            "not_indexed" => "the project has it, and the index does not",
            "other_content" => "the index has different content",
            "still_indexed" => "the index has it, and the project does not",
            "other_reason" => "the index leaves it out for another reason",
            "damaged_row" => "its entry in the index is damaged",
            "other_artifact" => "its outline, skeleton or summary does not match its content",
            other => other,
        }
    }
}

impl From<CacheStatus> for CacheSize {
    fn from(status: CacheStatus) -> Self {
        let CacheStatus { size, paid: agent } = status;
        let artifacts = size.artifacts.iter().map(|kind| ArtifactSize {
            artifact: kind.artifact.name().to_owned(),
            rows: kind.rows,
            bytes: kind.bytes,
        });
        Self {
            files: size.files,
            contents: size.contents,
            idle_contents: size.idle_contents,
            linked_worktrees: size.linked_worktrees,
            artifacts: artifacts.collect(),
            given: GivenSize { rows: size.delivered_texts, bytes: size.delivered_bytes },
            bytes_on_disk: size.bytes_on_disk,
            agent: agent.map(AgentSize::from),
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
        let ClearedCache { freed, paid: agent } = cleared;
        Self {
            contents: freed.contents,
            artifacts: freed.artifacts,
            files: freed.files,
            bytes: freed.bytes.saturating_add(agent.bytes),
            agent_summaries: agent.summaries,
            agent_usd: agent.cost.into(),
            agent_kept: agent.kept,
            other_worktrees: freed.other_worktrees,
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
        Self { files: report.files, bytes: report.bytes, derived: report.derived, differences }
    }
}

impl From<IndexDifference> for AuditDifference {
    fn from(difference: IndexDifference) -> Self {
        let (path, path_hex) = wire_path(&difference.path);
        Self { path, path_hex, kind: difference.kind.name().to_owned() }
    }
}

//! Files: the result of an index run, the state of each file, and views.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scalars::wire_path;
use crate::engine::{FileStatus, Freshness, IndexReport, ViewAnswer};
use crate::model::{SkipReason, Tier};
use crate::render;

/// The result of an index run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexRun {
    /// Files of the project with text.
    pub files: u64,
    /// Files read and hashed.
    pub hashed: u64,
    /// Contents that were parsed.
    pub parsed: u64,
    /// Files whose content was already known.
    pub reused: u64,
    /// Known files that no longer exist.
    pub removed: u64,
    /// The number of files without text, by reason.
    pub left_out: BTreeMap<String, u64>,
    /// Bytes read.
    pub bytes: u64,
    /// The duration in milliseconds.
    pub elapsed_ms: u64,
}

/// An image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImageContent {
    /// The file, as written in the request.
    pub path: String,
    /// Its type by its first bytes, such as `image/png`.
    pub media_type: String,
    /// Its size.
    pub bytes: u64,
    /// Its bytes in base64.
    pub base64: String,
}

impl ImageContent {
    pub fn new(path: String, (media_type, bytes): (&str, Vec<u8>)) -> Self {
        let base64 = render::base64(&bytes);
        Self { path, media_type: media_type.to_owned(), bytes: bytes.len() as u64, base64 }
    }
}

/// The state of every file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileStates {
    /// The files, by path.
    pub files: Vec<FileState>,
    /// Problems in the settings: each entry that is ignored, with its file, its line and the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// The state of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileState {
    /// The file, relative to the project's folder.
    pub path: String,
    /// The bytes of the path in hex, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// `fresh`: the cache has this content; `stale`: the file may have changed since; `new`: not cached; `left_out`:
    /// there is no text to show.
    pub state: String,
    /// Why it is left out.
    pub reason: Option<String>,
    /// The file's type, such as `python`.
    pub language: Option<String>,
    /// SHA-256 of the stored content.
    pub sha256: Option<String>,
    /// The size of the stored content in bytes.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// An estimate of the tokens of the stored content, which errs on the high side.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// The author of the stored summary.
    pub summary_by: Option<String>,
    /// The tiers for which a language model has summarized its content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agent_tiers: Vec<u8>,
}

/// One view of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileView {
    /// The file, relative to the project's folder.
    pub path: String,
    /// The bytes of the path in hex, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// The file's type, such as `python`.
    pub language: String,
    /// The view, such as `skeleton`.
    pub view: String,
    /// SHA-256 of the content that is shown; null if there is no text.
    pub sha256: Option<String>,
    /// A note about the view, on one line.
    pub head: String,
    /// The note in the file's header line, after language and view.
    pub remarks: Vec<String>,
    /// The text of the view.
    pub text: String,
    /// Why it is not shown in the requested view.
    pub why: Option<String>,
}

impl IndexRun {
    pub fn has_errors(&self) -> bool {
        self.left_out.keys().filter_map(|reason| SkipReason::from_name(reason)).any(SkipReason::is_error)
    }

    pub const fn elapsed(&self) -> Duration {
        Duration::from_millis(self.elapsed_ms)
    }
}

impl FileView {
    /// Returns whether an error is shown instead of the file.
    pub const fn is_failed(&self) -> bool {
        self.sha256.is_none() && self.why.is_some()
    }
}

impl From<&IndexReport> for IndexRun {
    fn from(report: &IndexReport) -> Self {
        let left_out = report.left_out.iter().map(|(reason, count)| (reason.name().to_owned(), *count));
        Self {
            files: report.files,
            hashed: report.hashed,
            parsed: report.parsed,
            reused: report.reused,
            removed: report.removed,
            left_out: left_out.collect(),
            bytes: report.bytes,
            // Milliseconds in 64 bits last for half a billion years, so the fallback is never used.
            elapsed_ms: u64::try_from(report.elapsed.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

impl From<FileStatus> for FileState {
    fn from(file: FileStatus) -> Self {
        let (path, path_hex) = wire_path(&file.path);
        let (state, reason) = match file.freshness {
            Freshness::Fresh => ("fresh", None),
            Freshness::Stale => ("stale", None),
            Freshness::New => ("new", None),
            Freshness::LeftOut(reason) => ("left_out", Some(reason.name().to_owned())),
        };
        Self {
            path,
            path_hex,
            state: state.to_owned(),
            reason,
            language: file.content.map(|(_, file_type)| file_type.id.to_owned()),
            sha256: file.content.map(|(hash, _)| hash.to_string()),
            bytes: file.size,
            tokens: file.estimated_tokens(),
            summary_by: file.summary_author(),
            agent_tiers: file.written_for.into_iter().map(Tier::number).collect(),
        }
    }
}

impl From<ViewAnswer> for FileView {
    fn from(answer: ViewAnswer) -> Self {
        let block = answer.block;
        let (path, path_hex) = wire_path(&block.path);
        Self {
            path,
            path_hex,
            language: block.file_type.id.to_owned(),
            view: block.view.name().to_owned(),
            sha256: block.content.map(|content| content.to_string()),
            head: render::head_line(&block),
            remarks: block.remarks,
            text: block.body.text().into_owned(),
            why: answer.reason,
        }
    }
}

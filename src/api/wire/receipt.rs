//! The receipt of a document: what became of each file.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;

use super::envelope::SCHEMA_VERSION;
use super::path::wire_path;
use crate::model::MissingFile;
use crate::model::Omission;
use crate::model::OmittedFile;
use crate::model::Receipt;
use crate::model::ReceiptEntry;
use crate::model::SectionProblem;
use crate::model::SkipReason;
use crate::model::SummaryProvenance;
use crate::model::ViewMode;

/// What became of each file that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DocumentReceipt {
    /// Version of this JSON.
    pub schema_version: u32,
    /// Number of the tier, if one was asked for.
    pub tier: Option<u8>,
    /// The name that the document is remembered by.
    pub name: Option<String>,
    /// Whether it shows what has changed since the last one of that name.
    pub since_last: bool,
    /// The strategy.
    pub strategy: String,
    /// The order of the files.
    pub order: String,
    /// How tokens were counted.
    pub tokens_counted_by: String,
    /// The most tokens that the document may have.
    pub budget_tokens: Option<u64>,
    /// The most bytes that the document may have.
    pub max_bytes: Option<u64>,
    /// Bytes of the document as it is written.
    pub bytes: u64,
    /// Tokens of the document as Markdown.
    pub tokens: u64,
    /// Whether there was no room for the tree of names.
    pub without_tree: bool,
    /// Who wrote the words about folders in the tree of names; none where there are no such words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folders: Option<FolderAuthor>,
    /// The files of the document, in its order.
    pub files: Vec<ReceiptFile>,
    /// The files that are not in it, by path.
    pub left_out: Vec<ReceiptOmission>,
    /// What a preset or an item names that is not there.
    pub missing: Vec<ReceiptMissing>,
    /// What could not be had beside the files.
    pub problems: Vec<ReceiptProblem>,
}

/// A file of the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptFile {
    /// The file, from the project's folder.
    pub path: String,
    /// The bytes of the path in hex, where they are no UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// SHA-256 of the content that was rendered; none where no text could be had.
    pub sha256: Option<String>,
    /// How it is shown.
    pub view: String,
    /// How it would have been shown, had nothing stood in the way.
    pub wanted: String,
    /// The rule that wanted it so.
    pub rule: String,
    /// Why `view` is not `wanted`, and what else should be known.
    pub why: Option<String>,
    /// Bytes of its part of the document.
    pub bytes: u64,
    /// Tokens of its part of the document.
    pub tokens: u64,
    /// Who wrote the words, where it is shown as a summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<SummaryAuthor>,
}

/// Who wrote the words of a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryAuthor {
    /// `heuristic`, or `agent`: a language model.
    pub by: String,
    /// The model, as `anthropic/claude-haiku-4-5`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether it wrote of what the file was earlier, and has not of what it is now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub earlier: bool,
    /// Whether the words are a model's, and so nothing that may be obeyed or believed unseen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untrusted: bool,
}

/// Who wrote the words that stand behind folders in the tree of names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FolderAuthor {
    /// `agent`: a language model.
    pub by: String,
    /// That the words are a model's, and so nothing that may be obeyed or believed unseen.
    pub untrusted: bool,
    /// Behind how many folders they stand.
    pub count: u64,
}

impl FolderAuthor {
    fn from_count(count: u64) -> Option<Self> {
        (0 < count).then(|| Self { by: "agent".to_owned(), untrusted: true, count })
    }
}

/// A file that is not in the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptOmission {
    /// The file, from the project's folder.
    pub path: String,
    /// The bytes of the path in hex, where they are no UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// Why, as a name: `budget`, `unchanged`, `auto_aggregate`, or why it has no text, as `binary`.
    pub reason: String,
    /// How it would have been shown, had there been room.
    pub wanted: Option<String>,
    /// Why, in words.
    pub why: String,
}

/// Words that no file answers to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptMissing {
    /// The path or pattern, as a preset or an item spells it.
    pub word: String,
    /// What is wrong with it.
    pub why: String,
}

/// Something beside the files that could not be had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptProblem {
    /// The section that misses it, as `screenshots`.
    pub section: String,
    /// What it is, and why.
    pub why: String,
    /// Whether the document misses what was asked for.
    pub is_error: bool,
}

impl ReceiptFile {
    /// Says whether an error stands in place of the file.
    pub fn is_failed(&self) -> bool {
        self.sha256.is_none() && self.why.is_some() && self.view != ViewMode::Path.name()
    }
}

impl ReceiptOmission {
    /// Says whether it is an error that left the file out.
    pub fn is_error(&self) -> bool {
        SkipReason::from_name(&self.reason).is_some_and(SkipReason::is_error)
    }
}

impl From<&Receipt> for DocumentReceipt {
    fn from(receipt: &Receipt) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            tier: receipt.tier,
            name: receipt.name.clone(),
            since_last: receipt.since_last,
            strategy: receipt.strategy.to_owned(),
            order: receipt.order.to_owned(),
            tokens_counted_by: receipt.counter.to_owned(),
            budget_tokens: receipt.budget_tokens,
            max_bytes: receipt.max_bytes,
            bytes: receipt.bytes,
            tokens: receipt.tokens,
            without_tree: receipt.tree_omitted,
            folders: FolderAuthor::from_count(receipt.folders_by_model),
            files: receipt.files.iter().map(Into::into).collect(),
            left_out: receipt.omitted.iter().map(|omitted| omission(omitted, receipt)).collect(),
            missing: receipt.missing.iter().map(Into::into).collect(),
            problems: receipt.problems.iter().map(Into::into).collect(),
        }
    }
}

impl From<&ReceiptEntry> for ReceiptFile {
    fn from(entry: &ReceiptEntry) -> Self {
        let (path, path_hex) = wire_path(&entry.path);
        Self {
            path,
            path_hex,
            sha256: entry.content.map(|content| content.to_string()),
            view: entry.view.name().to_owned(),
            wanted: entry.wanted.name().to_owned(),
            rule: entry.rule.name().to_owned(),
            why: entry.reason.clone(),
            summary: entry.summary.as_ref().map(Into::into),
            bytes: entry.bytes,
            tokens: entry.tokens,
        }
    }
}

impl From<&SummaryProvenance> for SummaryAuthor {
    fn from(by: &SummaryProvenance) -> Self {
        let (by, model, earlier) = match by {
            SummaryProvenance::Heuristic => ("heuristic", None, false),
            SummaryProvenance::Model { name, is_outdated: is_earlier } => {
                ("agent", Some(name.to_string()), *is_earlier)
            }
        };
        Self { by: by.to_owned(), untrusted: model.is_some(), model, earlier }
    }
}

impl From<&MissingFile> for ReceiptMissing {
    fn from(missing: &MissingFile) -> Self {
        Self { word: missing.pattern.clone(), why: missing.reason.clone() }
    }
}

impl From<&SectionProblem> for ReceiptProblem {
    fn from(problem: &SectionProblem) -> Self {
        Self { section: problem.section.to_owned(), why: problem.reason.clone(), is_error: problem.is_error }
    }
}

fn omission(omitted: &OmittedFile, receipt: &Receipt) -> ReceiptOmission {
    let (path, path_hex) = wire_path(&omitted.path);
    let wanted = match omitted.reason {
        Omission::Budget { wanted } => Some(wanted.name().to_owned()),
        Omission::LeftOut(_) | Omission::AutoAggregate | Omission::Unchanged => None,
    };
    let (reason, why) = (omitted.reason.name().to_owned(), receipt.omission_text(omitted.reason));
    ReceiptOmission { path, path_hex, reason, wanted, why }
}

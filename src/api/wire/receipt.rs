//! The receipt of a document, which says how each file was shown, or why it was left out.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::envelope::SCHEMA_VERSION;
use super::explanation::ScoreParts;
use super::receipt_totals::{ReceiptGroup, ReceiptTotals, folder_groups};
use super::scalars::{iso_time_of_ns, wire_path};
use crate::api::choices::ReceiptScope;
use crate::engine::ESTIMATE;
use crate::model::{
    FileDetails, MissingFile, Omission, OmittedFile, PackingReceipt, Receipt, ReceiptEntry, RelPath,
    SectionProblem, SkipReason, SummaryProvenance, TaskReceipt, ViewFault, ViewMode,
};

/// How each requested file was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DocumentReceipt {
    /// Version of this JSON.
    pub schema_version: u32,
    /// The number of the tier, if one was requested.
    pub tier: Option<u8>,
    /// The name under which the document is recorded.
    pub name: Option<String>,
    /// Whether it shows only the changes since the last document of that name.
    pub since_last: bool,
    /// The strategy.
    pub strategy: String,
    /// The order of the files.
    pub order: String,
    /// How tokens were counted.
    pub tokens_counted_by: String,
    /// Set if all counts of tokens are estimates.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// The limit of the document in tokens.
    pub budget_tokens: Option<u64>,
    /// The limit of the document in bytes.
    pub max_bytes: Option<u64>,
    /// Size of the document as written, in bytes.
    pub bytes: u64,
    /// Size of the document as Markdown, in tokens.
    pub tokens: u64,
    /// Whether the file tree did not fit.
    pub without_tree: bool,
    /// The author of the folder summaries in the file tree; null if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folders: Option<FolderAuthor>,
    /// Which files are listed in `files`, `left_out` and `groups`. The other keys cover all files.
    pub scope: ReceiptScope,
    /// The sums over all files, whether they are listed or not.
    pub totals: ReceiptTotals,
    /// The sums by folder.
    pub groups: Vec<ReceiptGroup>,
    /// The files of the document, in order.
    pub files: Vec<ReceiptFile>,
    /// What was understood of the task, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskUnderstanding>,
    /// How the budget was spent, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packing: Option<BudgetUse>,
    /// The files that are not in it, by path.
    pub left_out: Vec<ReceiptOmission>,
    /// Files that a preset or an entry names and that do not exist.
    pub missing: Vec<ReceiptMissing>,
    /// Entries of the settings that are left out, attachments that could not be included, and files that could not be
    /// read or parsed.
    pub problems: Vec<ReceiptProblem>,
}

/// What was understood of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskUnderstanding {
    /// The first line with words.
    pub title: String,
    /// Paths and modules of the project as written, with lines.
    pub paths: Vec<String>,
    /// Frames of stack traces and diagnostics, the innermost of each trace first.
    pub frames: Vec<String>,
    /// Symbols of the project that the task mentions.
    pub symbols: Vec<String>,
    /// Quoted strings and error messages.
    pub quotes: Vec<String>,
    /// The words with the highest weights.
    pub terms: Vec<String>,
    /// What was ignored.
    pub ignored: Vec<IgnoredText>,
    /// Whether anything in the project matches; if not, files are ranked by their history.
    pub matched: bool,
}

/// Parts of a task that were ignored for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IgnoredText {
    /// The reason.
    pub reason: String,
    /// Their size in bytes.
    pub bytes: u64,
}

impl From<TaskReceipt> for TaskUnderstanding {
    fn from(task: TaskReceipt) -> Self {
        let TaskReceipt { title, paths, frames, symbols, quotes, terms, ignored, has_matches } = task;
        let ignored = ignored
            .into_iter()
            .map(|ignored| IgnoredText { reason: ignored.reason.to_owned(), bytes: ignored.bytes });
        let ignored = ignored.collect();
        Self { title, paths, frames, symbols, quotes, terms, ignored, matched: has_matches }
    }
}

/// How a budget was spent: in tokens, or in bytes if only these are limited. Pieces are measured one by one, so the sum
/// differs a little from the size of the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetUse {
    /// On requested views: focus, curated files, presets.
    pub chosen: u64,
    /// On the bodies of symbols.
    pub bodies: u64,
    /// On signatures and summaries.
    pub signatures: u64,
    /// On rows of names.
    pub names: u64,
    /// On lines of the file tree.
    pub paths: u64,
    /// By how many percent the selection's value is at most below that of the best possible one.
    pub at_most_percent_below_best: u32,
}

/// A file of the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptFile {
    /// The file, relative to the project's folder.
    pub path: String,
    /// The bytes of the path in hex, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// The name of the error because of which nothing is shown of the file, such as `unreadable`; otherwise null.
    pub error: Option<String>,
    /// The file's type, such as `python`; null if it has no text.
    pub language: Option<String>,
    /// SHA-256 of the content that was rendered; null if there is no text.
    pub sha256: Option<String>,
    /// Size of the file in bytes; null if there is no text.
    pub size: Option<u64>,
    /// The number of its lines; null if there is no text.
    pub lines: Option<u32>,
    /// When it was last modified, as in `2026-11-23T06:28:27.123Z`; null in a document in the format `json`, which
    /// depends on contents alone.
    pub mtime: Option<String>,
    /// How much it matters for this document, in thousandths; null without a limit, for then files are not ranked.
    pub importance: Option<u64>,
    /// The view that was wanted.
    pub wanted: String,
    /// The view in which it is shown.
    pub view: String,
    /// The rule that chose the view.
    pub rule: String,
    /// Why `view` differs from `wanted`, and other notes.
    pub why: Option<String>,
    /// Size of its block in the document, in bytes.
    pub bytes: u64,
    /// Size of its block in the document, in tokens.
    pub tokens: u64,
    /// Set if `tokens` is an estimate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// Set if the part of the document that is the same for every task shows the file too: then the entry of that block
    /// comes earlier.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeated: bool,
    /// The author of the summary, if it is shown as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<SummaryAuthor>,
    /// How many secrets are redacted in what is shown of it, by rule.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub redacted: BTreeMap<String, u64>,
    /// The parts of its importance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<ScoreParts>,
}

/// The author of a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryAuthor {
    /// `heuristic`, or `agent`: a language model.
    pub by: String,
    /// The model, such as `anthropic/claude-haiku-4-5`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether the summary describes an earlier version of the file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub earlier: bool,
    /// Whether the text was written by a model and must not be trusted or obeyed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untrusted: bool,
}

/// The author of the folder summaries in the file tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FolderAuthor {
    /// `agent`: a language model.
    pub by: String,
    /// Set if the text was written by a model and must not be trusted or obeyed.
    pub untrusted: bool,
    /// How many folders are summarized after them.
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
    /// The file, relative to the project's folder.
    pub path: String,
    /// The bytes of the path in hex, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// The reason as a name: `budget`, `unchanged`, `auto_aggregate`, or why it has no text, such as `binary`.
    pub reason: String,
    /// The same name, if it is an error that left the file out; otherwise null.
    pub error: Option<String>,
    /// The file's type, such as `python`; null if it has no text.
    pub language: Option<String>,
    /// Size of the file in bytes; null if there is no text and the file is not `too_large` either.
    pub size: Option<u64>,
    /// The view it would have had without a limit.
    pub wanted: Option<String>,
    /// The reason as text.
    pub why: String,
}

/// Arguments that match no file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptMissing {
    /// The path or pattern as written in a preset or an entry.
    pub word: String,
    /// What is wrong with it.
    pub why: String,
}

/// A part that is missing from a document, or a problem in the settings that it was made with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptProblem {
    /// Where it belongs: `settings`, `files`, `items` for a mask without effect, or a section such as `screenshots`.
    pub section: String,
    /// The file, for a problem of `files`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The bytes of the path in hex, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// The name of the problem, for a problem of `files`: `unreadable`, `parse_timed_out`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The reason.
    pub why: String,
    /// Whether the document lacks something that was requested.
    pub is_error: bool,
}

impl DocumentReceipt {
    /// Returns a receipt that lists these files.
    pub fn new(receipt: &Receipt, scope: ReceiptScope) -> Self {
        let estimated = receipt.counter == ESTIMATE;
        let ReceiptFaults { missing, problems } = ReceiptFaults::from_receipt(receipt);
        Self {
            schema_version: SCHEMA_VERSION,
            tier: receipt.tier,
            name: receipt.name.clone(),
            since_last: receipt.since_last,
            strategy: receipt.strategy.to_owned(),
            order: receipt.order.to_owned(),
            tokens_counted_by: receipt.counter.to_owned(),
            estimated,
            budget_tokens: receipt.budget_tokens,
            max_bytes: receipt.max_bytes,
            bytes: receipt.bytes,
            tokens: receipt.tokens,
            without_tree: receipt.is_limited() && !receipt.has_tree,
            folders: FolderAuthor::from_count(receipt.folders_by_model),
            scope,
            totals: receipt.into(),
            groups: folder_groups(receipt, &listed_folders(receipt, scope)),
            files: listed_files(receipt, scope).map(|entry| receipt_file(entry, estimated)).collect(),
            task: receipt.task.clone().map(Into::into),
            packing: receipt.packing.map(Into::into),
            left_out: listed_omissions(receipt, scope).map(|omitted| omission(omitted, receipt)).collect(),
            missing,
            problems,
        }
    }

    /// Removes the modification times, for a document that depends only on the contents of files.
    #[must_use]
    pub fn without_times(mut self) -> Self {
        self.files.iter_mut().for_each(|file| file.mtime = None);
        self
    }
}

/// What is missing from a document, and the problems in the settings, according to its receipt.
#[derive(Debug, Default, Deserialize)]
pub(in crate::api) struct ReceiptFaults {
    missing: Vec<ReceiptMissing>,
    problems: Vec<ReceiptProblem>,
}

impl ReceiptFaults {
    pub(in crate::api) fn from_receipt(receipt: &Receipt) -> Self {
        Self {
            missing: receipt.missing.iter().map(Into::into).collect(),
            problems: receipt.problems.iter().map(Into::into).chain(file_problems(receipt)).collect(),
        }
    }

    /// Returns the faults as notes, without those about settings and masks, which are already notes of the answer.
    pub(in crate::api) fn into_notes(self) -> Vec<String> {
        let missing = self.missing.into_iter().map(|missing| format!("{}: {}", missing.word, missing.why));
        let is_noted = |problem: &ReceiptProblem| matches!(&*problem.section, "settings" | "items");
        let problems = self.problems.into_iter().filter(|problem| !is_noted(problem)).map(|problem| {
            let subject = problem.path.unwrap_or(problem.section);
            format!("{subject}: {}", problem.why)
        });
        missing.chain(problems).collect()
    }
}

fn listed_files(receipt: &Receipt, scope: ReceiptScope) -> impl Iterator<Item = &ReceiptEntry> {
    receipt.files.iter().filter(move |entry| match scope {
        ReceiptScope::All => true,
        ReceiptScope::Shown => {
            !matches!(entry.view, ViewMode::Names | ViewMode::Path) || entry.error().is_some()
        }
        ReceiptScope::None => false,
    })
}

/// Returns the files that are listed as left out. A receipt of the shown files lists only those of the others that the
/// user can do something about.
fn listed_omissions(receipt: &Receipt, scope: ReceiptScope) -> impl Iterator<Item = &OmittedFile> {
    receipt.omitted.iter().filter(move |omitted| match scope {
        ReceiptScope::All => true,
        ReceiptScope::Shown => omitted.reason == Omission::AutoAggregate || error_of(omitted).is_some(),
        ReceiptScope::None => false,
    })
}

/// Returns the folders of all files that are listed.
fn listed_folders(receipt: &Receipt, scope: ReceiptScope) -> BTreeSet<&[u8]> {
    let shown = listed_files(receipt, scope).map(|entry| entry.path.parent());
    shown.chain(listed_omissions(receipt, scope).map(|omitted| omitted.path.parent())).collect()
}

/// Returns the error that left a file out, if it is one.
fn error_of(omitted: &OmittedFile) -> Option<SkipReason> {
    match omitted.reason {
        Omission::LeftOut(reason) => Some(reason).filter(|reason| reason.is_error()),
        Omission::AutoAggregate | Omission::NoInterest | Omission::Unchanged | Omission::Budget { .. } => {
            None
        }
    }
}

/// Returns the files that could not be read or parsed, whether they are listed or not.
fn file_problems(receipt: &Receipt) -> impl Iterator<Item = ReceiptProblem> {
    let shown = receipt.files.iter().filter_map(|entry| {
        let is_error = entry.error().is_some();
        let fault = entry.error().or(entry.fault)?;
        // The reason given for a file that is shown may be a different one.
        let why = entry.reason.clone().filter(|_| fault == ViewFault::NoView);
        let why = why.unwrap_or_else(|| fault.description().to_owned());
        Some(file_problem(&entry.path, fault.name(), why, is_error))
    });
    let left_out = receipt.omitted.iter().filter_map(|omitted| {
        let reason = error_of(omitted)?;
        Some(file_problem(&omitted.path, reason.name(), reason.description().to_owned(), true))
    });
    shown.chain(left_out)
}

fn file_problem(path: &RelPath, code: &str, why: String, is_error: bool) -> ReceiptProblem {
    let (path, path_hex) = wire_path(path);
    let (section, code) = ("files".to_owned(), Some(code.to_owned()));
    ReceiptProblem { section, path: Some(path), path_hex, code, why, is_error }
}

impl From<PackingReceipt> for BudgetUse {
    fn from(packing: PackingReceipt) -> Self {
        let PackingReceipt { chosen, bodies, signatures, names, paths, shortfall_percent } = packing;
        Self { chosen, bodies, signatures, names, paths, at_most_percent_below_best: shortfall_percent }
    }
}

fn receipt_file(entry: &ReceiptEntry, estimated: bool) -> ReceiptFile {
    let (path, path_hex) = wire_path(&entry.path);
    let FileDetails { language, size, lines, mtime_ns } = entry.details;
    let error = entry.error().map(|fault| fault.name().to_owned());
    ReceiptFile {
        path,
        path_hex,
        error,
        language: language.map(str::to_owned),
        sha256: entry.content.map(|content| content.to_string()),
        size,
        lines,
        mtime: mtime_ns.and_then(iso_time_of_ns),
        importance: entry.score.as_ref().map(|score| score.thousandths),
        wanted: entry.wanted.name().to_owned(),
        view: entry.view.name().to_owned(),
        rule: entry.rule.name().to_owned(),
        why: entry.reason.clone(),
        bytes: entry.bytes,
        tokens: entry.tokens,
        estimated,
        repeated: entry.is_repeated,
        summary: entry.summary.as_ref().map(Into::into),
        redacted: entry.redacted.clone(),
        score: entry.score.clone().map(Into::into),
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
        // A model's text is untrusted, because the file that it describes may have dictated it.
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
        Self {
            section: problem.section.to_owned(),
            path: None,
            path_hex: None,
            code: None,
            why: problem.reason.clone(),
            is_error: problem.is_error,
        }
    }
}

fn omission(omitted: &OmittedFile, receipt: &Receipt) -> ReceiptOmission {
    let (path, path_hex) = wire_path(&omitted.path);
    let wanted = match omitted.reason {
        Omission::Budget { wanted } => Some(wanted.name().to_owned()),
        Omission::LeftOut(_) | Omission::AutoAggregate | Omission::NoInterest | Omission::Unchanged => None,
    };
    let (reason, why) = (omitted.reason.name().to_owned(), receipt.omission_text(omitted.reason));
    let error = error_of(omitted).map(|reason| reason.name().to_owned());
    let FileDetails { language, size, .. } = omitted.details;
    ReceiptOmission {
        path,
        path_hex,
        reason,
        error,
        language: language.map(str::to_owned),
        size,
        wanted,
        why,
    }
}

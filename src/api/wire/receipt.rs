//! The receipt of a document, which says what became of each file, and why files get the views that they get.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::envelope::SCHEMA_VERSION;
use super::scalars::wire_path;
use crate::engine::{Explanation, LimitedView, RankedName};
use crate::model::{
    MissingFile, Omission, OmittedFile, PackingReceipt, RankScore, Receipt, ReceiptEntry, SectionProblem,
    SkipReason, SummaryProvenance, TaskReceipt, ViewMode,
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
    /// Attachments that could not be included.
    pub problems: Vec<ReceiptProblem>,
}

/// What was understood of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskUnderstanding {
    /// The first line that says something.
    pub title: String,
    /// Paths and modules as written, with lines.
    pub paths: Vec<String>,
    /// Frames of stack traces and diagnostics, the innermost of each trace first.
    pub frames: Vec<String>,
    /// Symbols of the project that the task mentions.
    pub symbols: Vec<String>,
    /// Quoted strings and error messages.
    pub quotes: Vec<String>,
    /// The words that weigh most.
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
    /// On views that were asked for: focus, curated files, presets.
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
    /// SHA-256 of the content that was rendered; null if there is no text.
    pub sha256: Option<String>,
    /// The view.
    pub view: String,
    /// The view that was wanted.
    pub wanted: String,
    /// The rule that chose the view.
    pub rule: String,
    /// Why `view` differs from `wanted`, and other notes.
    pub why: Option<String>,
    /// Size of its block in the document, in bytes.
    pub bytes: u64,
    /// Size of its block in the document, in tokens.
    pub tokens: u64,
    /// The author of the summary, if it is shown as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<SummaryAuthor>,
    /// Its score, if the document has a limit.
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
    /// Whether the summary is of an earlier content of the file.
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

/// An attachment that could not be included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptProblem {
    /// The section that lacks it, such as `screenshots`.
    pub section: String,
    /// The view and the reason.
    pub why: String,
    /// Whether the document lacks something that was requested.
    pub is_error: bool,
}

impl ReceiptFile {
    /// Returns whether an error is shown in place of the file.
    pub fn is_failed(&self) -> bool {
        // A file that a budget cut to its path has a reason and no content either, and is no error.
        self.sha256.is_none() && self.why.is_some() && self.view != ViewMode::Path.name()
    }
}

impl ReceiptOmission {
    /// Returns whether it is an error that left the file out.
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
            without_tree: receipt.is_limited() && !receipt.has_tree,
            folders: FolderAuthor::from_count(receipt.folders_by_model),
            files: receipt.files.iter().map(Into::into).collect(),
            task: receipt.task.clone().map(Into::into),
            packing: receipt.packing.map(Into::into),
            left_out: receipt.omitted.iter().map(|omitted| omission(omitted, receipt)).collect(),
            missing: receipt.missing.iter().map(Into::into).collect(),
            problems: receipt.problems.iter().map(Into::into).collect(),
        }
    }
}

impl From<PackingReceipt> for BudgetUse {
    fn from(packing: PackingReceipt) -> Self {
        let PackingReceipt { chosen, bodies, signatures, names, paths, shortfall_percent } = packing;
        Self { chosen, bodies, signatures, names, paths, at_most_percent_below_best: shortfall_percent }
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
            score: entry.score.clone().map(Into::into),
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
        // Whatever a model wrote is untrusted, because the file it was about may have dictated it.
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

/// Why a file is shown the way it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileExplanation {
    /// The file, relative to the project's folder.
    pub path: String,
    /// The bytes of the path in hex, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// SHA-256 of its content, if it has text.
    pub sha256: Option<String>,
    /// Its size in bytes, if it has text.
    pub size: Option<u64>,
    /// Its type, such as `python`.
    pub language: Option<String>,
    /// The note in its header line, after language and view.
    pub remarks: Vec<String>,
    /// Why it is left out.
    pub left_out: Option<String>,
    /// The result of each rule, in the order of evaluation.
    pub rules: Vec<ExplainedRule>,
    /// The rule that decides.
    pub decided_by: String,
    /// The view that it selects.
    pub wanted: String,
    /// The view that the file gets.
    pub view: String,
    /// Why another view than the wanted one is used.
    pub why: Option<String>,
    /// The author of the summary, if it is shown as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<SummaryAuthor>,
    /// Why these summaries are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_why: Option<String>,
    /// Size of the view in bytes.
    pub bytes: u64,
    /// Tokens of the view.
    pub tokens: u64,
    /// How tokens were counted.
    pub tokens_counted_by: String,
    /// The effect of the limits, if there are any and the document contains the file.
    pub under_limits: Option<LimitEffect>,
}

/// The result of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedRule {
    /// The rule, such as `focus` or `tier`.
    pub rule: String,
    /// The view that it selects if it matches.
    pub view: Option<String>,
}

/// The effect of a document's limits on a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LimitEffect {
    /// The view; null if there is no room for it.
    pub view: Option<String>,
    /// Why another view than the wanted one is used.
    pub why: Option<String>,
    /// Its rank among the files, counted from 1.
    pub place: u64,
    /// The number of files that the document covers.
    pub files: u64,
    /// Its score.
    pub score: ScoreParts,
    /// Its best symbols, if its symbols were ranked.
    pub symbols: Vec<SymbolRank>,
}

/// The score of a file or symbol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScoreParts {
    /// The sum of the parts, times a factor for what the file is for; in thousandths.
    pub thousandths: u64,
    /// The parts that are not 0.
    pub parts: Vec<ScorePart>,
}

impl From<RankScore> for ScoreParts {
    fn from(score: RankScore) -> Self {
        let part = |(part, thousandths): (&str, u64)| ScorePart { part: part.to_owned(), thousandths };
        Self { thousandths: score.thousandths, parts: score.parts.into_iter().map(part).collect() }
    }
}

/// A part of a score.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScorePart {
    /// What it is for. Of files: `text`, `path`, `mention`, `subjects`, `nearness`, `together`, `same_stem`, `changes`; of
    /// symbols: `text`, `name`, `exact`, `frame`, and `file` for the parts of their file.
    pub part: String,
    /// Its value in thousandths.
    pub thousandths: u64,
}

/// A symbol with its score.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SymbolRank {
    /// The name of the symbol.
    pub name: String,
    /// Its first line, counted from 1.
    pub start_line: u32,
    /// Its last line, inclusive.
    pub end_line: u32,
    /// Its score.
    pub score: ScoreParts,
}

impl From<Explanation> for FileExplanation {
    fn from(explanation: Explanation) -> Self {
        let (path, path_hex) = wire_path(&explanation.path);
        let rules = explanation.verdicts.iter().map(|verdict| ExplainedRule {
            rule: verdict.rule.name().to_owned(),
            view: verdict.view.map(|view| view.name().to_owned()),
        });
        Self {
            path,
            path_hex,
            sha256: explanation.content.map(|(hash, _)| hash.to_string()),
            size: explanation.content.map(|(_, size)| size),
            language: explanation.file_type.map(|file_type| file_type.id.to_owned()),
            rules: rules.collect(),
            remarks: explanation.remarks,
            left_out: explanation.left_out.map(|reason| reason.name().to_owned()),
            decided_by: explanation.routed.rule.name().to_owned(),
            wanted: explanation.routed.view.name().to_owned(),
            view: explanation.view.name().to_owned(),
            why: explanation.reason,
            summary: explanation.summary.as_ref().map(|(by, _)| by.into()),
            summary_why: explanation.summary.map(|(_, why)| why.to_owned()),
            bytes: explanation.bytes,
            tokens: explanation.tokens,
            tokens_counted_by: explanation.counter.to_owned(),
            under_limits: explanation.under_limits.map(Into::into),
        }
    }
}

impl From<LimitedView> for LimitEffect {
    fn from(limited: LimitedView) -> Self {
        let symbol = |symbol: RankedName| SymbolRank {
            name: symbol.name,
            start_line: *symbol.lines.start(),
            end_line: *symbol.lines.end(),
            score: symbol.score.into(),
        };
        Self {
            view: limited.view.map(|view| view.name().to_owned()),
            why: limited.reason,
            place: limited.place as u64,
            files: limited.files as u64,
            score: limited.score.into(),
            symbols: limited.symbols.into_iter().map(symbol).collect(),
        }
    }
}

//! Explanations of how files are shown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hydration::FragmentPlace;
use super::receipt::SummaryAuthor;
use super::scalars::{iso_time_of_s, wire_path};
use crate::engine::{Explanation, LimitedView, RankedName, RecentChanges};
use crate::model::{LinkedFolder, RankScore};

/// The number of digits of an abbreviated commit hash.
const SHORT_COMMIT: usize = 12;

/// Why a file is shown the way it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// The linked folder that the file is in, and who linked it when, such as `resource lib: linked by you on
    /// 2026-11-22`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// Recent changes of the file in the history of its checkout, which decide its place in the stable order, such as
    /// `3 commits of @lib since 1a2b3c4d5e6f, and not committed`; `null` outside of git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<String>,
    /// Where hydration has placed the file, or each of its slices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fragments: Vec<FragmentPlace>,
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
    /// What it measures. For files: `text`, `path`, `mention`, `subjects`, `similar`, `together`, `same_stem`,
    /// `folder`, `changes`; for symbols: `text`, `name`, `exact`, `frame`, and `file` for the parts of their file.
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

/// Returns who decided that a linked folder belongs to the project.
fn describe_resource(linked: &LinkedFolder) -> String {
    let name = &linked.name;
    let Some(linked_at_s) = linked.linked_at_s else {
        return format!("resource {name}: proposed by the project, within its folder");
    };
    let time = iso_time_of_s(linked_at_s).unwrap_or_default();
    format!("resource {name}: linked by you on {}", time.split('T').next().unwrap_or_default())
}

/// Describes the recent changes of a file.
fn describe_changes(changes: &RecentChanges) -> String {
    let commits = match changes.commits {
        0 => "no commit".to_owned(),
        1 => "1 commit".to_owned(),
        commits => format!("{commits} commits"),
    };
    let checkout = changes.linked.as_ref().map_or("the project".to_owned(), |name| format!("@{name}"));
    let since = changes.since.get(..SHORT_COMMIT).unwrap_or(&changes.since);
    let rest = if changes.is_uncommitted { ", and not committed" } else { "" };
    format!("{commits} of {checkout} since {since}{rest}")
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
            changes: explanation.changes.as_ref().map(describe_changes),
            resource: explanation.linked.as_ref().map(describe_resource),
            fragments: explanation.fragments.into_iter().map(Into::into).collect(),
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

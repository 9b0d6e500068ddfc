//! Why files get the views that they get.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;

use super::path::wire_path;
use super::receipt::SummaryAuthor;
use crate::engine::Explanation;
use crate::engine::LimitedView;

/// Why a file gets the view that it gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileExplanation {
    /// The file, from the project's folder.
    pub path: String,
    /// The bytes of the path in hex, where they are no UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// SHA-256 of its content, if it has text.
    pub sha256: Option<String>,
    /// Its size in bytes, if it has text.
    pub size: Option<u64>,
    /// Its type, as `python`.
    pub language: Option<String>,
    /// What its head would say beside language and view.
    pub remarks: Vec<String>,
    /// Why it is left out altogether.
    pub left_out: Option<String>,
    /// What each rule has to say, in the order in which they are asked.
    pub rules: Vec<ExplainedRule>,
    /// The rule that decides.
    pub decided_by: String,
    /// The view that it wants.
    pub wanted: String,
    /// What the file is shown as in the end.
    pub view: String,
    /// Why that is not what was wanted.
    pub why: Option<String>,
    /// Who wrote the words, where it is shown as a summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<SummaryAuthor>,
    /// Why they are shown and no other's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_why: Option<String>,
    /// Bytes of the view.
    pub bytes: u64,
    /// Tokens of the view.
    pub tokens: u64,
    /// How tokens were counted.
    pub tokens_counted_by: String,
    /// What the limits make of it, where there are any and the document holds the file.
    pub under_limits: Option<LimitEffect>,
}

/// What one rule has to say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedRule {
    /// The rule, as `focus` or `tier`.
    pub rule: String,
    /// The view that it gives, if it matches.
    pub view: Option<String>,
}

/// What the limits of a document make of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LimitEffect {
    /// What it is shown as; none where there is no room for it.
    pub view: Option<String>,
    /// Why that is not what was wanted.
    pub why: Option<String>,
    /// Its place among the files by importance, from 1.
    pub place: u64,
    /// How many files the document is about.
    pub files: u64,
    /// Whether it is in focus.
    pub in_focus: bool,
    /// Whether a person curated it.
    pub curated: bool,
    /// How many other files refer to it.
    pub referred_by: u32,
    /// How many names it shares with files in focus.
    pub shared_with_focus: u32,
    /// How often commits changed it of late, in millionths of a change.
    pub recent_changes_millionths: u64,
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
    fn from(fate: LimitedView) -> Self {
        let importance = fate.importance;
        Self {
            view: fate.view.map(|view| view.name().to_owned()),
            why: fate.reason,
            place: fate.place as u64,
            files: fate.files as u64,
            in_focus: importance.in_focus,
            curated: importance.is_curated,
            referred_by: importance.referred_by,
            shared_with_focus: importance.shared_with_focus,
            recent_changes_millionths: fate.changes,
        }
    }
}

//! The prompts and keys of tasks, as the runs need them.

use crate::engine::summaries::{
    PreparedPrompt, PromptPreparer, SummaryPolicy, SummaryTask, WithheldReason, summary_keys,
};
use crate::llm::SoftFailure;
use crate::model::{ModelName, Money, SummaryKey, Tier};
use crate::store::agent::{BatchQuestion, SpendSettlement, StoredSummary};
use crate::summarize::prompt::{AnswerFlaw, check};

/// Supplies keys and prompts. Called from several threads at once.
pub trait PromptSource: Sync {
    /// Returns the keys of the summaries that this model would write for a task.
    fn keys(&self, task: &SummaryTask, by: &ModelName) -> Vec<(Tier, SummaryKey)>;

    /// Writes the prompt, with the material halved `shrink` times.
    fn prepare(&self, task: &SummaryTask, shrink: u8) -> Result<PreparedPrompt, WithheldReason>;

    /// Returns the summary for each of the task's tiers, or what is wrong with the answer.
    fn check(&self, task: &SummaryTask, answer: &str) -> Result<Vec<(Tier, String)>, SoftFailure>;
}

/// Prompts about a project's files.
pub struct ProjectPrompts<'p> {
    pub preparer: &'p PromptPreparer<'p>,
    pub policy: &'p SummaryPolicy,
}

impl PromptSource for ProjectPrompts<'_> {
    fn keys(&self, task: &SummaryTask, by: &ModelName) -> Vec<(Tier, SummaryKey)> {
        summary_keys(task, self.policy, by)
    }

    fn prepare(&self, task: &SummaryTask, shrink: u8) -> Result<PreparedPrompt, WithheldReason> {
        self.preparer.prepare(task, shrink)
    }

    fn check(&self, task: &SummaryTask, answer: &str) -> Result<Vec<(Tier, String)>, SoftFailure> {
        parse_answer(answer, &task.tiers)
    }
}

/// Returns the summary for each of these tiers, or what is wrong with the answer.
pub(super) fn parse_answer(answer: &str, tiers: &[Tier]) -> Result<Vec<(Tier, String)>, SoftFailure> {
    check(answer, tiers).map_err(|flaw| match flaw {
        AnswerFlaw::Empty => SoftFailure::Empty,
        AnswerFlaw::Misshapen => SoftFailure::Misshapen,
    })
}

/// Returns the row under which this model's answer will be stored.
pub(super) fn question_row(
    prompts: &dyn PromptSource,
    task: &SummaryTask,
    by: &ModelName,
    prepared: &PreparedPrompt,
) -> BatchQuestion {
    BatchQuestion {
        subject: task.subject,
        language: task.language.to_owned(),
        scope: task.scope,
        prompt: prepared.strategy.clone(),
        keys: prompts.keys(task, by),
        paths: task.paths.iter().map(|path| path.as_bytes().to_vec()).collect(),
    }
}

/// Returns the summary rows of one call.
pub(super) fn summary_rows(
    question: &BatchQuestion,
    by: &ModelName,
    cost: Money,
    summaries: &[(Tier, String)],
    settlement: &SpendSettlement,
) -> Vec<StoredSummary> {
    let row = |(tier, key): &(Tier, SummaryKey)| {
        let (_, text) = summaries.iter().find(|(of, _)| of == tier)?;
        Some(StoredSummary {
            key: *key,
            subject: question.subject,
            language: question.language.clone(),
            scope: question.scope,
            tier: *tier,
            prompt: question.prompt.clone(),
            model: by.clone(),
            text: text.clone(),
            tokens: settlement.tokens,
            cost,
            at_ms: settlement.at_ms,
        })
    };
    question.keys.iter().filter_map(row).collect()
}

//! What the driver needs to know about tasks.

use crate::engine::summaries::PreparedPrompt;
use crate::engine::summaries::PromptPreparer;
use crate::engine::summaries::SummaryPolicy;
use crate::engine::summaries::SummaryTask;
use crate::engine::summaries::WithheldReason;
use crate::engine::summaries::summary_keys;
use crate::llm::SoftFailure;
use crate::model::ModelName;
use crate::model::SummaryKey;
use crate::model::Tier;
use crate::store::agent::BatchQuestion;
use crate::summarize::agent::AnswerFlaw;
use crate::summarize::agent::check;

/// Supplies keys and prompts. Called from several threads at once.
pub trait PromptSource: Sync {
    /// Returns the keys of the summaries that this model would write for a task.
    fn keys(&self, errand: &SummaryTask, by: &ModelName) -> Vec<(Tier, SummaryKey)>;

    /// Writes the prompt, with the material halved `shrink` times.
    fn prepare(&self, errand: &SummaryTask, shrink: u8) -> Result<PreparedPrompt, WithheldReason>;

    /// Returns the summary for each of the task's tiers, or what is wrong with the answer.
    fn check(&self, errand: &SummaryTask, answer: &str) -> Result<Vec<(Tier, String)>, SoftFailure>;

    /// Returns the paths of all files with the task's content, as bytes; none for a folder.
    fn paths(&self, errand: &SummaryTask) -> Vec<Vec<u8>>;
}

/// Prompts about a project's files.
pub struct ProjectPrompts<'p> {
    /// Writes the prompts.
    pub preparer: &'p PromptPreparer<'p>,
    /// Which summaries are wanted.
    pub policy: &'p SummaryPolicy,
}

impl PromptSource for ProjectPrompts<'_> {
    fn keys(&self, errand: &SummaryTask, by: &ModelName) -> Vec<(Tier, SummaryKey)> {
        summary_keys(errand, self.policy, by)
    }

    fn prepare(&self, errand: &SummaryTask, shrink: u8) -> Result<PreparedPrompt, WithheldReason> {
        self.preparer.prepare(errand, shrink)
    }

    fn check(&self, errand: &SummaryTask, answer: &str) -> Result<Vec<(Tier, String)>, SoftFailure> {
        parse_answer(answer, &errand.tiers)
    }

    fn paths(&self, errand: &SummaryTask) -> Vec<Vec<u8>> {
        errand.paths.iter().map(|path| path.as_bytes().to_vec()).collect()
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
    questions: &dyn PromptSource,
    errand: &SummaryTask,
    by: &ModelName,
    prepared: &PreparedPrompt,
) -> BatchQuestion {
    BatchQuestion {
        subject: errand.subject,
        language: errand.language.to_owned(),
        scope: errand.scope,
        prompt: prepared.strategy.clone(),
        keys: questions.keys(errand, by),
        paths: questions.paths(errand),
    }
}

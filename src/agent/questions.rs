//! What the driver has to be told about the questions that it asks.

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

/// Knows what is asked. Asked from several threads at once.
pub trait PromptSource: Sync {
    /// Returns the keys of the summaries that an errand brings where this model writes them.
    fn keys(&self, errand: &SummaryTask, by: &ModelName) -> Vec<(Tier, SummaryKey)>;

    /// Words the question, with its material halved so many times.
    fn prepare(&self, errand: &SummaryTask, shrink: u8) -> Result<PreparedPrompt, WithheldReason>;

    /// Returns the words of an answer for each of the errand's tiers, or what is wrong with it.
    fn check(&self, errand: &SummaryTask, answer: &str) -> Result<Vec<(Tier, String)>, SoftFailure>;

    /// Returns the paths of all files that the errand is about, as bytes; none for a folder.
    fn paths(&self, errand: &SummaryTask) -> Vec<Vec<u8>>;
}

/// Questions about a project's files, as the engine words them.
pub struct ProjectPrompts<'p> {
    /// Who words them.
    pub preparer: &'p PromptPreparer<'p>,
    /// What is wanted.
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

/// Returns the words of an answer for each of these tiers, or what is wrong with it.
pub(super) fn parse_answer(answer: &str, tiers: &[Tier]) -> Result<Vec<(Tier, String)>, SoftFailure> {
    check(answer, tiers).map_err(|flaw| match flaw {
        AnswerFlaw::Empty => SoftFailure::Empty,
        AnswerFlaw::Misshapen => SoftFailure::Misshapen,
    })
}

/// Returns what the answer of this model is to be kept as.
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

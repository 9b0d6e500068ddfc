//! What the driver has to be told about the questions that it asks.

use crate::engine::agent::Errand;
use crate::engine::agent::Prepared;
use crate::engine::agent::Preparer;
use crate::engine::agent::Wish;
use crate::engine::agent::Withheld;
use crate::engine::agent::keys_of;
use crate::llm::Soft;
use crate::model::ModelName;
use crate::model::SummaryKey;
use crate::model::Tier;
use crate::store::paid::Question;
use crate::summarize::agent::Flaw;
use crate::summarize::agent::check;

/// Knows what is asked. Asked from several threads at once.
pub trait Questions: Sync {
    /// Returns the keys of the summaries that an errand brings where this model writes them.
    fn keys(&self, errand: &Errand, by: &ModelName) -> Vec<(Tier, SummaryKey)>;

    /// Words the question, with its material halved so many times.
    fn prepare(&self, errand: &Errand, shrink: u8) -> Result<Prepared, Withheld>;

    /// Returns the words of an answer for each of the errand's tiers, or what is wrong with it.
    fn check(&self, errand: &Errand, answer: &str) -> Result<Vec<(Tier, String)>, Soft>;

    /// Returns the paths of all files that the errand is about, as bytes; none for a folder.
    fn paths(&self, errand: &Errand) -> Vec<Vec<u8>>;
}

/// Questions about a project's files, as the engine words them.
pub struct Worded<'p> {
    /// Who words them.
    pub preparer: &'p Preparer<'p>,
    /// What is wanted.
    pub wish: &'p Wish,
}

impl Questions for Worded<'_> {
    fn keys(&self, errand: &Errand, by: &ModelName) -> Vec<(Tier, SummaryKey)> {
        keys_of(errand, self.wish, by)
    }

    fn prepare(&self, errand: &Errand, shrink: u8) -> Result<Prepared, Withheld> {
        self.preparer.prepare(errand, shrink)
    }

    fn check(&self, errand: &Errand, answer: &str) -> Result<Vec<(Tier, String)>, Soft> {
        words_of(answer, &errand.tiers)
    }

    fn paths(&self, errand: &Errand) -> Vec<Vec<u8>> {
        errand.paths.iter().map(|path| path.as_bytes().to_vec()).collect()
    }
}

/// Returns the words of an answer for each of these tiers, or what is wrong with it.
pub(super) fn words_of(answer: &str, tiers: &[Tier]) -> Result<Vec<(Tier, String)>, Soft> {
    check(answer, tiers).map_err(|flaw| match flaw {
        Flaw::Empty => Soft::Empty,
        Flaw::Misshapen => Soft::Misshapen,
    })
}

/// Returns what the answer of this model is to be kept as.
pub(super) fn question(
    questions: &dyn Questions,
    errand: &Errand,
    by: &ModelName,
    prepared: &Prepared,
) -> Question {
    Question {
        subject: errand.subject,
        language: errand.language.to_owned(),
        scope: errand.scope,
        prompt: prepared.strategy.clone(),
        keys: questions.keys(errand, by),
        paths: questions.paths(errand),
    }
}

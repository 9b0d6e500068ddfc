//! Questions are claimed, withheld and given up: what one at a time and many at once have in common.

use super::Office;
use super::Questions;
use super::Why;
use super::till::Claimed;
use super::till::Held;
use crate::engine::agent::Errand;
use crate::engine::agent::Withheld;
use crate::llm::Failure;
use crate::llm::Model;
use crate::model::Money;
use crate::model::SummaryKey;
use crate::model::Tokens;
use crate::store;
use crate::store::paid::BatchId;
use crate::store::paid::Settlement;
use crate::store::paid::SpendOutcome;

/// What nobody could answer is not asked again for so long.
const REFUSED_FOR_MS: i64 = 24 * 60 * 60 * 1000;

impl Office<'_> {
    /// Claims a question.
    pub(super) fn claim(&self, errand: &Errand, questions: &dyn Questions) -> Result<Claimed<'_>, Why> {
        let keys = |model: &Model| -> Vec<SummaryKey> {
            questions.keys(errand, &model.full_name()).into_iter().map(|(_, key)| key).collect()
        };
        let wanted: Vec<_> = self.options.chain.iter().map(keys).collect();
        self.till.claim(self.keys_of(errand), &wanted, self.windows.now_ms()).map_err(Why::Store)
    }

    /// Returns the keys by which a question is claimed, and refused.
    pub(super) fn keys_of(&self, errand: &Errand) -> (SummaryKey, SummaryKey) {
        (errand.id, self.options.wish.refusal_of(&errand.id))
    }

    /// Keeps in mind that a question is not to be asked.
    pub(super) fn withhold(&self, held: Held<'_>, withheld: &Withheld) -> Result<(), Why> {
        if matches!(withheld, Withheld::Changed) {
            // There will be another question about what is there now.
            return Ok(());
        }
        // The rules are a part of the key: with others it is another question.
        held.refuse(&withheld.to_string(), None, self.windows.now_ms()).map_err(Why::Store)
    }

    /// Gives a batch up that no provider has.
    pub(super) fn cancel(&self, id: BatchId) -> Result<(), store::Error> {
        let at_ms = self.windows.now_ms();
        let settlement = Settlement {
            outcome: SpendOutcome::Refused,
            cost: Some(Money::ZERO),
            tokens: Tokens::default(),
            request_id: None,
            at_ms,
        };
        let mut paid = self.till.paid();
        let batches = paid.open_batches()?;
        for batch in batches.iter().filter(|batch| batch.id == id) {
            for item in &batch.items {
                paid.settle(item.spend, &settlement)?;
            }
        }
        paid.batch_done(id)
    }
}

/// Returns until when a question is not asked again that failed so; `None` where the subject has nothing to do with it.
pub(super) fn refused_until(failure: Failure, now_ms: i64) -> Option<Until> {
    match failure {
        Failure::Outage | Failure::Account => None,
        Failure::Useless => Some(Until(Some(now_ms.saturating_add(REFUSED_FOR_MS)))),
        Failure::Declined => Some(Until(None)),
    }
}

/// A moment in milliseconds since the epoch, or never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Until(pub(super) Option<i64>);

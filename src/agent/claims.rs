//! Questions are claimed, withheld and given up: what one at a time and many at once have in common.

use super::PromptSource;
use super::StopReason;
use super::SummaryService;
use super::till::ClaimGuard;
use super::till::ClaimOutcome;
use crate::engine::summaries::SummaryTask;
use crate::engine::summaries::WithheldReason;
use crate::llm::GiveUpReason;
use crate::llm::Model;
use crate::model::Money;
use crate::model::SummaryKey;
use crate::model::TokenUsage;
use crate::store;
use crate::store::agent::BatchId;
use crate::store::agent::SpendOutcome;
use crate::store::agent::SpendSettlement;

/// What nobody could answer is not asked again for so long.
const REFUSED_FOR_MS: i64 = 24 * 60 * 60 * 1000;

impl SummaryService<'_> {
    /// Claims a question.
    pub(super) fn claim(
        &self,
        errand: &SummaryTask,
        questions: &dyn PromptSource,
    ) -> Result<ClaimOutcome<'_>, StopReason> {
        let keys = |model: &Model| -> Vec<SummaryKey> {
            questions.keys(errand, &model.full_name()).into_iter().map(|(_, key)| key).collect()
        };
        let wanted: Vec<_> = self.options.chain.iter().map(keys).collect();
        self.claims.claim(self.keys_of(errand), &wanted, self.world.now_ms()).map_err(StopReason::Store)
    }

    /// Returns the keys by which a question is claimed, and refused.
    pub(super) fn keys_of(&self, errand: &SummaryTask) -> (SummaryKey, SummaryKey) {
        (errand.id, self.options.policy.refusal_key(&errand.id))
    }

    /// Keeps in mind that a question is not to be asked.
    pub(super) fn withhold(&self, held: ClaimGuard<'_>, withheld: &WithheldReason) -> Result<(), StopReason> {
        if matches!(withheld, WithheldReason::Changed) {
            // There will be another question about what is there now.
            return Ok(());
        }
        // The rules are a part of the key: with others it is another question.
        held.refuse(&withheld.to_string(), None, self.world.now_ms()).map_err(StopReason::Store)
    }

    /// Gives a batch up that no provider has.
    pub(super) fn cancel(&self, id: BatchId) -> Result<(), store::Error> {
        let at_ms = self.world.now_ms();
        let settlement = SpendSettlement {
            outcome: SpendOutcome::Refused,
            cost: Some(Money::ZERO),
            tokens: TokenUsage::default(),
            request_id: None,
            at_ms,
        };
        let mut paid = self.claims.db();
        let batches = paid.open_batches()?;
        for batch in batches.iter().filter(|batch| batch.id == id) {
            for item in &batch.items {
                paid.settle(item.spend, &settlement)?;
            }
        }
        paid.delete_batch(id)
    }
}

/// Returns until when a question is not asked again that failed so; `None` where the subject has nothing to do with it.
pub(super) fn retry_at(failure: GiveUpReason, now_ms: i64) -> Option<RetryAt> {
    match failure {
        GiveUpReason::Outage | GiveUpReason::Account => None,
        GiveUpReason::Useless => Some(RetryAt(Some(now_ms.saturating_add(REFUSED_FOR_MS)))),
        GiveUpReason::Declined => Some(RetryAt(None)),
    }
}

/// A moment in milliseconds since the epoch, or never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RetryAt(pub(super) Option<i64>);

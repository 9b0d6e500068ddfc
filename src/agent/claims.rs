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

/// How long a task that no model could answer is not tried again.
const REFUSED_FOR_MS: i64 = 24 * 60 * 60 * 1000;

impl SummaryService<'_> {
    /// Claims a task.
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

    /// Returns the keys under which a task is claimed and refused.
    pub(super) fn keys_of(&self, errand: &SummaryTask) -> (SummaryKey, SummaryKey) {
        (errand.id, self.options.policy.refusal_key(&errand.id))
    }

    /// Records that a task must not be sent.
    pub(super) fn withhold(&self, held: ClaimGuard<'_>, withheld: &WithheldReason) -> Result<(), StopReason> {
        if matches!(withheld, WithheldReason::Changed) {
            // There will be another task for the new content.
            return Ok(());
        }
        // The secret rules are part of the key: with other rules it is another task.
        held.refuse(&withheld.to_string(), None, self.world.now_ms()).map_err(StopReason::Store)
    }

    /// Cancels a batch that no provider has.
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

/// Returns when a task that failed for this reason may be tried again; `None` if the subject is not at fault.
pub(super) fn retry_at(failure: GiveUpReason, now_ms: i64) -> Option<RetryAt> {
    match failure {
        GiveUpReason::Outage | GiveUpReason::Account => None,
        GiveUpReason::Useless => Some(RetryAt(Some(now_ms.saturating_add(REFUSED_FOR_MS)))),
        GiveUpReason::Declined => Some(RetryAt(None)),
    }
}

/// A time in milliseconds since the epoch, or never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RetryAt(pub(super) Option<i64>);

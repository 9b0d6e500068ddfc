//! The data that the runs and batches of a service share: options, keys, claims and provider gates.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64};

use secrecy::SecretString;

use super::call::AgentWorld;
use super::gate::ProviderGate;
use super::ledger::{ClaimGuard, ClaimStore};
use super::options::Options;
use super::outcome::{StopReason, TaskOutcome};
use super::prompts::PromptSource;
use crate::engine::summaries::{SummaryTask, WithheldReason};
use crate::llm::{GiveUpReason, Model};
use crate::model::{Money, SummaryKey, TokenUsage, utc_day};
use crate::store;
use crate::store::agent::{BatchId, SpendOutcome, SpendReservation, SpendSettlement, SpendTotals, TaskKeys};

/// How long a task that no model could answer is not tried again.
const REFUSED_FOR_MS: i64 = 24 * 60 * 60 * 1000;

/// What the runs and batches of a service share.
pub(super) struct AgentCore<'w> {
    pub(super) world: AgentWorld<'w>,
    pub(super) options: Options,
    /// By the provider's name.
    pub(super) keys: BTreeMap<String, SecretString>,
    pub(super) claims: ClaimStore,
    pub(super) gates: BTreeMap<String, ProviderGate>,
    pub(super) in_flight: AtomicU32,
    /// Tasks of the current run that have not been started.
    pub(super) waiting: AtomicU64,
}

impl<'w> AgentCore<'w> {
    pub(super) fn new(
        world: AgentWorld<'w>,
        options: Options,
        keys: BTreeMap<String, SecretString>,
        claims: ClaimStore,
    ) -> Self {
        let now = world.clock.monotonic();
        let names = options.chain.iter().map(|model| model.provider.name.clone());
        // One gate for all models of a provider: limits and outages are those of the account, not of a model.
        let gates = names.map(|name| (name.clone(), ProviderGate::new(&name, &options, now))).collect();
        let (in_flight, waiting) = (AtomicU32::new(0), AtomicU64::new(0));
        Self { world, options, keys, claims, gates, in_flight, waiting }
    }

    pub(super) fn gate(&self, model: &Model) -> &ProviderGate {
        self.gates.get(&model.provider.name).expect("every provider of the chain has a gate")
    }

    /// Returns why no model can be called; `None` if one can.
    pub(super) fn unavailable_reason(&self) -> Option<StopReason> {
        let now = self.world.clock.monotonic();
        let mut first = None;
        for model in &self.options.chain {
            // `?` returns `None`: one model that can be called is enough.
            let reason = self.gate(model).stop_reason(now, &model.name)?;
            first.get_or_insert(reason);
        }
        first
    }

    /// Returns how much has been spent, today and in total.
    pub(super) fn spent(&self) -> Result<SpendTotals, store::Error> {
        self.claims.db().spend_totals(self.today())
    }

    /// Returns the key of a model's provider, if it has one.
    pub(super) fn key(&self, model: &Model) -> Option<&SecretString> {
        self.keys.get(&model.provider.name)
    }

    pub(super) fn today(&self) -> i64 {
        utc_day(self.world.clock.now_s())
    }

    /// Claims a task, or returns why there is nothing to do.
    pub(super) fn claim(
        &self,
        task: &SummaryTask,
        prompts: &dyn PromptSource,
    ) -> Result<Result<ClaimGuard<'_>, TaskOutcome>, StopReason> {
        let keys = |model: &Model| -> Vec<SummaryKey> {
            prompts.keys(task, &model.full_name()).into_iter().map(|(_, key)| key).collect()
        };
        let wanted: Vec<_> = self.options.chain.iter().map(keys).collect();
        self.claims
            .claim(self.task_keys(task.id), &wanted, self.world.clock.now_ms())
            .map_err(StopReason::Store)
    }

    /// Returns what is reserved for a call that may cost this much.
    pub(super) fn reservation(
        &self,
        task: &SummaryTask,
        model: &Model,
        max_cost: Money,
        is_batch: bool,
    ) -> SpendReservation {
        SpendReservation {
            task_key: task.id,
            model: model.full_name(),
            max_cost,
            holder: self.claims.holder().to_owned(),
            is_batch,
            at_ms: self.world.clock.now_ms(),
            day: self.today(),
        }
    }

    pub(super) fn task_keys(&self, task: SummaryKey) -> TaskKeys {
        TaskKeys { task, refusal: self.options.policy.refusal_key(&task) }
    }

    /// Records that a task must not be sent.
    pub(super) fn withhold(
        &self,
        claim: ClaimGuard<'_>,
        withheld: &WithheldReason,
    ) -> Result<(), StopReason> {
        if matches!(withheld, WithheldReason::Changed) {
            // There will be another task for the new content.
            return Ok(());
        }
        // The secret rules are part of the key: with other rules it is another task.
        claim.refuse(&withheld.to_string(), None, self.world.clock.now_ms()).map_err(StopReason::Store)
    }

    /// Cancels a batch that no provider has.
    pub(super) fn cancel(&self, id: BatchId) -> Result<(), store::Error> {
        let at_ms = self.world.clock.now_ms();
        // The provider has no such batch, so nothing is charged.
        let settlement = SpendSettlement {
            outcome: SpendOutcome::Refused,
            cost: Some(Money::ZERO),
            tokens: TokenUsage::default(),
            request_id: None,
            at_ms,
        };
        let mut db = self.claims.db();
        let batches = db.open_batches()?;
        for batch in batches.iter().filter(|batch| batch.id == id) {
            for item in &batch.items {
                db.settle(item.spend, &settlement)?;
            }
        }
        // Deleted last: a process that dies before leaves a batch that `collect` finds, and what is settled stays
        // settled.
        db.delete_batch(id)
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

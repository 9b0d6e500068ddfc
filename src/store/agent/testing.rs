//! Test data for the database.

use std::ops::Deref;

use super::{
    AgentDb, BatchQuestion, SpendCaps, SpendId, SpendOutcome, SpendReservation, SpendSettlement,
    StoredSummary, TaskKeys,
};
use crate::model::{ContentHash, ModelName, Money, SummaryKey, SummaryScope, Tier, TokenUsage};
use crate::store::testing::DatabaseFolder;

/// The process that the tests pretend to be.
pub(super) const ME: &str = "agent-0123.lock";

/// A folder with a database, deleted when it is dropped.
pub(super) struct TempAgentDb(DatabaseFolder);

impl TempAgentDb {
    pub(super) fn new() -> Self {
        Self(DatabaseFolder::new("agent.db"))
    }

    /// Opens the database, which must not be damaged.
    #[track_caller]
    pub(super) fn open(&self) -> AgentDb {
        let opened = AgentDb::open(&self.file()).unwrap();
        assert_eq!(opened.recovery, None);
        opened.db
    }
}

impl Deref for TempAgentDb {
    type Target = DatabaseFolder;

    fn deref(&self) -> &DatabaseFolder {
        &self.0
    }
}

pub(super) fn key(name: &str) -> SummaryKey {
    SummaryKey(ContentHash::digest(name.as_bytes()))
}

/// The keys of the task of that name.
pub(super) fn task_keys(name: &str) -> TaskKeys {
    TaskKeys { task: key(name), refusal: key(name) }
}

pub(super) fn model() -> ModelName {
    ModelName { provider: "anthropic".to_owned(), model: "small".to_owned() }
}

/// A summary of the content of that name, for tier 1.
pub(super) fn summary(name: &str, at_ms: i64) -> StoredSummary {
    StoredSummary {
        key: key(name),
        subject: ContentHash::digest(format!("content of {name}").as_bytes()),
        language: "python".to_owned(),
        scope: SummaryScope::File,
        tier: Tier::Orchestrator,
        prompt: "code/1".to_owned(),
        model: model(),
        text: format!("It does {name}."),
        tokens: TokenUsage { input: Some(900), cache_read: None, cache_write: Some(0), output: Some(40) },
        cost: Money::from_nanos(40),
        at_ms,
    }
}

pub(super) fn reservation(name: &str, worst: u64, day: i64) -> SpendReservation {
    SpendReservation {
        task_key: key(name),
        model: model(),
        max_cost: Money::from_nanos(worst),
        holder: ME.to_owned(),
        is_batch: false,
        at_ms: day * 86_400_000,
        day,
    }
}

/// How the answer about the content of that name is stored, for a batch.
pub(super) fn question(name: &str) -> BatchQuestion {
    let StoredSummary { key, subject, language, scope, tier, prompt, .. } = summary(name, 0);
    let paths = vec![format!("{name}.py").into_bytes(), b"\xff other".to_vec()];
    let keys = vec![(tier, key), (Tier::TechLead, self::key("another"))];
    BatchQuestion { subject, language, scope, prompt, keys, paths }
}

/// Caps that tests do not reach unintentionally.
pub(super) fn caps() -> SpendCaps {
    SpendCaps { day: Money::from_nanos(1_000_000), total: Money::from_nanos(10_000_000), calls_a_day: 10_000 }
}

pub(super) fn answered_settlement(cost: Option<u64>) -> SpendSettlement {
    SpendSettlement {
        outcome: SpendOutcome::Answered,
        cost: cost.map(Money::from_nanos),
        tokens: TokenUsage { input: Some(900), cache_read: None, cache_write: Some(0), output: Some(40) },
        request_id: Some("req_1".to_owned()),
        at_ms: 7,
    }
}

#[track_caller]
pub(super) fn reserve(db: &mut AgentDb, name: &str, worst: u64, day: i64) -> SpendId {
    db.reserve(&reservation(name, worst, day), &caps()).unwrap().unwrap()
}

/// Records a call on that day that produces the summary of that name and costs 40.
#[track_caller]
pub(super) fn record_paid_summary(db: &mut AgentDb, name: &str, day: i64) {
    let spend = reserve(db, name, 100, day);
    let summaries = [summary(name, day * 86_400_000)];
    let paths = [format!("{name}.py").into_bytes()];
    db.record_answer(spend, &answered_settlement(Some(40)), &key(name), ME, &summaries, &paths).unwrap();
}

/// A database with `count` summaries, all of it in the main file.
pub(super) fn fill_database(sandbox: &TempAgentDb, count: usize) {
    let mut db = sandbox.open();
    for number in 0..count {
        record_paid_summary(&mut db, &format!("part {number}"), 5);
    }
}

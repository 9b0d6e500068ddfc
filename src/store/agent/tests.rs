//! The guarantees of the database.

#![expect(clippy::disallowed_methods, reason = "a test does to the file what the database must withstand")]

use std::sync::atomic::{AtomicU32, Ordering};

use super::testing::{
    ME, TempAgentDb, answered_settlement, caps, fill_database, key, model, question, record_paid_summary,
    reservation, reserve, summary, task_keys,
};
use super::*;
use crate::model::{Money, SummaryKey, Tier};
use crate::store::Error;

const NOBODY: &dyn Fn(&str) -> bool = &|_| false;
const ALIVE: &dyn Fn(&str) -> bool = &|_| true;

fn nanos(nanos: u64) -> Money {
    Money::from_nanos(nanos)
}

fn claim(db: &mut AgentDb, name: &str, holder: &str, is_alive: &dyn Fn(&str) -> bool) -> ClaimStatus {
    db.claim(task_keys(name), &[key(name)], holder, 1_000, is_alive).unwrap()
}

#[test]
fn a_connection_can_be_sent_to_another_thread() {
    fn check<T: Send>() {}
    check::<AgentDb>();
}

#[test]
fn paid_data_survives_reopening() {
    let sandbox = TempAgentDb::new();
    let mut db = sandbox.open();
    assert_eq!(db.summary(&key("a")).unwrap(), None);
    record_paid_summary(&mut db, "a", 5);
    drop(db);
    assert_eq!(sandbox.file_names(), ["agent.db", "agent.db.backup"]);
    let db = sandbox.open();
    let expected = summary("a", 5 * 86_400_000);
    assert_eq!(db.summary(&key("a")).unwrap().as_ref(), Some(&expected));
    let alone = std::slice::from_ref(&expected);
    assert_eq!(db.summaries().unwrap(), alone);
    assert_eq!(db.summaries_for_tier(Tier::Orchestrator).unwrap(), alone);
    assert_eq!(db.summaries_for_tier(Tier::TechLead).unwrap(), []);
    assert_eq!(db.summaries_of_subject(&expected.subject, "python", Tier::Orchestrator).unwrap(), alone);
    assert_eq!(db.summaries_of_subject(&expected.subject, "c", Tier::Orchestrator).unwrap(), []);
    assert_eq!(db.latest_summary(b"a.py", Tier::Orchestrator).unwrap(), Some(expected.clone()));
    assert_eq!(db.latest_summaries(Tier::Orchestrator).unwrap(), [(b"a.py".to_vec(), expected)]);
    assert_eq!(db.latest_summary(b"b.py", Tier::Orchestrator).unwrap(), None);
}

#[test]
fn a_reader_of_a_missing_database_finds_and_creates_nothing() {
    let sandbox = TempAgentDb::new();
    assert!(AgentDb::open_reader(&sandbox.file()).unwrap().is_none());
    assert_eq!(sandbox.file_names(), [""; 0]);
    record_paid_summary(&mut sandbox.open(), "a", 5);
    let mut reader = AgentDb::open_reader(&sandbox.file()).unwrap().unwrap();
    assert!(reader.summary(&key("a")).unwrap().is_some());
    assert!(matches!(reader.delete_refusals_of(&[key("a")]), Err(Error::ReadOnly(_))));
}

#[test]
fn an_existing_summary_is_kept() {
    let sandbox = TempAgentDb::new();
    let mut db = sandbox.open();
    record_paid_summary(&mut db, "a", 5);
    let spend = reserve(&mut db, "a", 100, 5);
    let other = StoredSummary { text: "Other words.".to_owned(), ..summary("a", 9) };
    db.record_answer(spend, &answered_settlement(Some(1)), &key("a"), ME, &[other], &[]).unwrap();
    assert_eq!(db.summary(&key("a")).unwrap().unwrap().text, "It does a.");
    assert_eq!(db.summaries().unwrap().len(), 1);
}

#[test]
fn the_newest_summary_of_a_subject_comes_first() {
    let sandbox = TempAgentDb::new();
    let mut db = sandbox.open();
    let subject = summary("a", 1).subject;
    for (name, at_ms) in [("old", 1), ("new", 3), ("middle", 2)] {
        let spend = reserve(&mut db, name, 100, 5);
        let summaries = [StoredSummary { subject, ..summary(name, at_ms) }];
        db.record_answer(spend, &answered_settlement(Some(1)), &key(name), ME, &summaries, &[]).unwrap();
    }
    let found = db.summaries_of_subject(&subject, "python", Tier::Orchestrator).unwrap();
    let times: Vec<i64> = found.iter().map(|summary| summary.at_ms).collect();
    assert_eq!(times, [3, 2, 1]);
}

#[test]
fn missing_keys_are_found_among_few_and_many() {
    let sandbox = TempAgentDb::new();
    fill_database(&sandbox, 3);
    let db = sandbox.open();
    for others in [1, 1_000] {
        let mut keys: Vec<SummaryKey> = (0..others).map(|number| key(&format!("other {number}"))).collect();
        let missing = keys.clone();
        keys.push(key("part 0"));
        keys.push(key("part 2"));
        assert_eq!(db.missing_keys(&keys).unwrap(), missing);
    }
    assert_eq!(db.missing_keys(&[]).unwrap(), []);
}

#[test]
fn a_damaged_summary_is_absent_and_can_be_written_again() {
    for harm in [
        "UPDATE summary SET text = 'It does b.'",
        "UPDATE summary SET tier = 2",
        "UPDATE summary SET subject = x'00'",
        "UPDATE summary SET cost = 41",
        "UPDATE summary SET input = NULL",
        "UPDATE summary SET model = 'large'",
        "UPDATE summary SET ck = x'00'",
    ] {
        let sandbox = TempAgentDb::new();
        let mut db = sandbox.open();
        record_paid_summary(&mut db, "a", 5);
        sandbox.raw_connection().execute_batch(harm).unwrap();
        assert_eq!(db.summary(&key("a")).unwrap(), None, "{harm}");
        assert_eq!(db.damaged_rows(), 1);
        assert_eq!(db.missing_keys(&[key("a")]).unwrap(), [key("a")]);
        assert_eq!(db.missing_keys(&vec![key("a"); 500]).unwrap().len(), 500);
        assert_eq!(claim(&mut db, "a", ME, NOBODY), ClaimStatus::Acquired);
        record_paid_summary(&mut db, "a", 6);
        assert_eq!(db.summary(&key("a")).unwrap().unwrap().at_ms, 6 * 86_400_000, "{harm}");
    }
}

#[test]
fn the_generation_changes_only_with_the_results_of_lookups() {
    let sandbox = TempAgentDb::new();
    let mut db = sandbox.open();
    let mut before = db.generation().unwrap();
    let mut moved = |db: &AgentDb| {
        let now = db.generation().unwrap();
        std::mem::replace(&mut before, now) != now
    };
    assert_eq!(claim(&mut db, "a", ME, NOBODY), ClaimStatus::Acquired);
    let spend = reserve(&mut db, "a", 100, 5);
    db.settle(spend, &answered_settlement(Some(1))).unwrap();
    db.record_refusal(task_keys("a"), ME, "declined", None, 1).unwrap();
    assert!(!moved(&db));
    record_paid_summary(&mut db, "a", 5);
    assert!(moved(&db));
    // The same summary for the same path.
    record_paid_summary(&mut db, "a", 6);
    assert!(!moved(&db));
    record_paid_summary(&mut db, "b", 6);
    assert!(moved(&db));
    assert_eq!(db.latest_summaries(Tier::Orchestrator).unwrap().len(), 2);
    db.clear_summaries(None).unwrap();
    assert!(moved(&db));
    drop(db);
    // A newly created database is not mistaken for the old one.
    for name in sandbox.file_names() {
        std::fs::remove_file(sandbox.path(&name)).unwrap();
    }
    assert!(moved(&sandbox.open()));
}

#[test]
fn a_task_has_one_holder() {
    let sandbox = TempAgentDb::new();
    let mut db = sandbox.open();
    assert_eq!(claim(&mut db, "a", ME, NOBODY), ClaimStatus::Acquired);
    // Another thread of the same process counts like another process.
    assert_eq!(claim(&mut db, "a", ME, NOBODY), ClaimStatus::HeldElsewhere);
    assert_eq!(claim(&mut db, "a", "other", ALIVE), ClaimStatus::HeldElsewhere);
    assert_eq!(claim(&mut db, "b", "other", ALIVE), ClaimStatus::Acquired);
    db.release(&key("a"), "other").unwrap();
    assert_eq!(claim(&mut db, "a", "other", ALIVE), ClaimStatus::HeldElsewhere);
    db.release(&key("a"), ME).unwrap();
    assert_eq!(claim(&mut db, "a", "other", ALIVE), ClaimStatus::Acquired);
    // Its process has died.
    assert_eq!(claim(&mut db, "a", ME, NOBODY), ClaimStatus::Acquired);
    record_paid_summary(&mut db, "a", 5);
    assert_eq!(claim(&mut db, "a", "other", NOBODY), ClaimStatus::Done);
}

#[test]
fn many_connections_claim_each_task_once() {
    let sandbox = TempAgentDb::new();
    drop(sandbox.open());
    let claimed = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (sandbox, claimed) = (&sandbox, &claimed);
            scope.spawn(move || {
                let mut db = sandbox.open();
                for number in 0..10 {
                    let claim = claim(&mut db, &format!("{number}"), &format!("p{thread}"), ALIVE);
                    claimed.fetch_add(u32::from(claim == ClaimStatus::Acquired), Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(claimed.into_inner(), 10);
}

#[test]
fn a_refused_task_is_not_claimed_before_its_time() {
    let sandbox = TempAgentDb::new();
    let mut db = sandbox.open();
    assert_eq!(claim(&mut db, "a", ME, NOBODY), ClaimStatus::Acquired);
    db.record_refusal(task_keys("a"), ME, "too long", Some(2_000), 900).unwrap();
    let refused = ClaimStatus::Refused { reason: "too long".to_owned(), until_ms: Some(2_000) };
    assert_eq!(db.claim(task_keys("a"), &[key("a")], ME, 1_999, NOBODY).unwrap(), refused);
    assert_eq!(db.claim(task_keys("a"), &[key("a")], ME, 2_000, NOBODY).unwrap(), ClaimStatus::Acquired);
    db.record_refusal(task_keys("a"), ME, "declined", None, 2_100).unwrap();
    assert!(matches!(
        db.claim(task_keys("a"), &[key("a")], ME, i64::MAX, NOBODY).unwrap(),
        ClaimStatus::Refused { until_ms: None, .. }
    ));
    assert_eq!(db.refusals().unwrap().len(), 1);
    assert_eq!(db.delete_refusals_of(&[key("a")]).unwrap(), 1);
    assert_eq!(claim(&mut db, "a", ME, NOBODY), ClaimStatus::Acquired);
}

#[test]
fn a_damaged_refusal_refuses_nothing() {
    let sandbox = TempAgentDb::new();
    let mut db = sandbox.open();
    db.record_refusal(task_keys("a"), ME, "declined", None, 1).unwrap();
    sandbox.raw_connection().execute_batch("UPDATE refusal SET why = 'x'").unwrap();
    assert_eq!(claim(&mut db, "a", ME, NOBODY), ClaimStatus::Acquired);
}

#[test]
fn caps_hold_and_open_calls_count_at_their_worst() {
    let sandbox = TempAgentDb::new();
    let mut db = sandbox.open();
    let caps = SpendCaps { day: nanos(100), total: nanos(150), calls_a_day: 4 };
    let ask = |db: &mut AgentDb, worst, day| db.reserve(&reservation("a", worst, day), &caps).unwrap();
    let first = ask(&mut db, 60, 1).unwrap();
    assert_eq!(ask(&mut db, 41, 1), Err(CapExceeded::Day));
    db.settle(first, &answered_settlement(Some(10))).unwrap();
    assert_eq!(
        db.spend_totals(1).unwrap(),
        SpendTotals { day: nanos(10), total: nanos(10), calls: 1, reserved: nanos(0) }
    );
    ask(&mut db, 90, 1).unwrap();
    assert_eq!(ask(&mut db, 1, 1), Err(CapExceeded::Day));
    assert_eq!(ask(&mut db, 51, 2), Err(CapExceeded::Total));
    ask(&mut db, 50, 2).unwrap();
    let expected = SpendTotals { day: nanos(50), total: nanos(150), calls: 1, reserved: nanos(140) };
    assert_eq!(db.spend_totals(2).unwrap(), expected);
    // Free calls are limited only in number.
    ask(&mut db, 0, 1).unwrap();
    ask(&mut db, 0, 1).unwrap();
    assert_eq!(ask(&mut db, 0, 1), Err(CapExceeded::Calls));
    // A denied reservation leaves no row.
    assert_eq!(db.size().unwrap().calls, 5);
}

#[test]
fn every_connection_sees_what_the_others_spend() {
    let sandbox = TempAgentDb::new();
    let (mut one, mut two) = (sandbox.open(), sandbox.open());
    let first = reserve(&mut one, "a", 100, 5);
    assert_eq!(two.spend_totals(5).unwrap().day, nanos(100));
    let second = reserve(&mut two, "b", 50, 5);
    one.settle(first, &answered_settlement(Some(7))).unwrap();
    two.settle(second, &answered_settlement(Some(5))).unwrap();
    for db in [&one, &two, &sandbox.open()] {
        let expected = SpendTotals { day: nanos(12), total: nanos(12), calls: 2, reserved: nanos(0) };
        assert_eq!(db.spend_totals(5).unwrap(), expected);
        assert_eq!(db.spend_totals(6).unwrap().day, nanos(0));
    }
}

#[test]
fn the_first_settlement_counts_and_an_unknown_cost_is_the_worst() {
    let sandbox = TempAgentDb::new();
    let mut db = sandbox.open();
    let spend = reserve(&mut db, "a", 100, 5);
    db.settle(spend, &SpendSettlement { outcome: SpendOutcome::Unknown, ..answered_settlement(None) })
        .unwrap();
    db.settle(spend, &answered_settlement(Some(1))).unwrap();
    assert_eq!(db.spend_totals(5).unwrap().day, nanos(100));
    assert!(db.settle(SpendId(99), &answered_settlement(Some(1))).is_err());
}

#[test]
fn a_damaged_row_of_the_ledger_counts_at_its_larger_amount_every_day() {
    for harm in ["worst = 3", "cost = 3", "day = 4", "state = 'refused'", "cost = -100", "id = 9"] {
        let sandbox = TempAgentDb::new();
        let mut db = sandbox.open();
        let spend = reserve(&mut db, "a", 100, 5);
        db.settle(spend, &answered_settlement(Some(100))).unwrap();
        sandbox.raw_connection().execute_batch(&format!("UPDATE spend SET {harm}")).unwrap();
        let mut fresh = sandbox.open();
        for day in [5, 6] {
            let sums = fresh.spend_totals(day).unwrap();
            assert_eq!((sums.day, sums.total, sums.calls), (nanos(100), nanos(100), 1), "{harm}");
        }
        assert_eq!(fresh.usage().unwrap(), []);
        // Once reported, it is a call of unknown cost.
        assert_eq!(fresh.verify().unwrap().damaged_rows.len(), 1);
        assert_eq!(fresh.verify().unwrap().damaged_rows.len(), 0);
        assert_eq!(fresh.spend_totals(9).unwrap().total, nanos(100));
    }
}

#[test]
fn usage_adds_up_by_day_and_model() {
    let sandbox = TempAgentDb::new();
    let mut db = sandbox.open();
    record_paid_summary(&mut db, "a", 5);
    record_paid_summary(&mut db, "b", 5);
    reserve(&mut db, "c", 100, 5);
    record_paid_summary(&mut db, "d", 6);
    let usage = db.usage().unwrap();
    let days: Vec<i64> = usage.iter().map(|row| row.day).collect();
    assert_eq!(days, [6, 5]);
    let row = &usage[1];
    assert_eq!((row.calls, row.answered, row.cost, row.reserved), (3, 2, nanos(180), nanos(100)));
    assert_eq!((row.tokens.input, row.tokens.cache_read), (Some(1_800), None));
    assert_eq!(row.model, model());
}

#[test]
fn a_batch_is_reserved_as_a_whole_and_holds_its_tasks() {
    let sandbox = TempAgentDb::new();
    let mut db = sandbox.open();
    let new = |worst| NewBatch {
        model: model(),
        calls: ["a", "b"].map(|name| (reservation(name, worst, 5), question(name))).into(),
        at_ms: 1,
    };
    assert_eq!(db.reserve_batch(&new(600_000), &caps()).unwrap(), Err(CapExceeded::Day));
    assert_eq!(db.open_batches().unwrap(), []);
    assert_eq!(db.spend_totals(5).unwrap(), SpendTotals::default());
    let id = db.reserve_batch(&new(100), &caps()).unwrap().unwrap();
    assert_eq!(db.spend_totals(5).unwrap().reserved, nanos(200));
    assert_eq!(claim(&mut db, "a", ME, NOBODY), ClaimStatus::InBatch);
    db.mark_batch_submitted(id, "remote-1", 2).unwrap();
    drop(db);
    let mut db = sandbox.open();
    let batches = db.open_batches().unwrap();
    let [batch] = batches.as_slice() else { panic!("{batches:?}") };
    assert_eq!((batch.remote_id.as_deref(), batch.state), (Some("remote-1"), BatchState::Submitted));
    let BatchItem { task_key: task, spend, question: kept, .. } = &batch.items[0];
    assert_eq!((task, kept), (&key("a"), &question("a")));
    db.record_answer(*spend, &answered_settlement(Some(4)), task, ME, &[summary("a", 3)], &[]).unwrap();
    assert_eq!(db.open_batches().unwrap()[0].items.len(), 1);
    db.delete_batch(id).unwrap();
    assert_eq!(db.open_batches().unwrap(), []);
    assert_eq!(db.spend_totals(5).unwrap().day, nanos(104));
    assert_eq!(claim(&mut db, "b", ME, NOBODY), ClaimStatus::Acquired);
}

#[test]
fn clearing_deletes_summaries_and_keeps_the_ledger() {
    let sandbox = TempAgentDb::new();
    let mut db = sandbox.open();
    record_paid_summary(&mut db, "a", 5);
    record_paid_summary(&mut db, "b", 5);
    db.record_refusal(task_keys("c"), ME, "declined", None, 1).unwrap();
    let freed = db.clear_summaries(Some(&[summary("a", 0).subject])).unwrap();
    assert_eq!((freed.summaries, freed.refusals, freed.cost), (1, 0, nanos(40)));
    assert_eq!(db.summary(&key("a")).unwrap(), None);
    assert!(db.summary(&key("b")).unwrap().is_some());
    assert_eq!(db.latest_summaries(Tier::Orchestrator).unwrap().len(), 1);
    let freed = db.clear_summaries(None).unwrap();
    assert_eq!((freed.summaries, freed.refusals, freed.cost), (1, 1, nanos(40)));
    let size = db.size().unwrap();
    assert_eq!((size.summaries, size.refusals, size.calls, size.spent_total), (0, 0, 2, nanos(80)));
    assert_eq!(db.latest_summaries(Tier::Orchestrator).unwrap(), []);
    drop(db);
    let bytes = std::fs::read(sandbox.file()).unwrap();
    assert!(!bytes.windows(7).any(|window| window == b"It does"));
}

#[test]
fn verifying_reports_damage_and_keeps_the_rest() {
    let sandbox = TempAgentDb::new();
    let mut db = sandbox.open();
    record_paid_summary(&mut db, "a", 5);
    record_paid_summary(&mut db, "b", 5);
    db.record_refusal(task_keys("c"), ME, "declined", None, 1).unwrap();
    assert_eq!(db.verify().unwrap().damaged_rows, [""; 0]);
    sandbox
        .raw_connection()
        .execute_batch(
            "UPDATE summary SET text = 'x' WHERE id = 1; UPDATE latest SET tier = 3 WHERE path = x'622e7079';
             UPDATE refusal SET at_ms = 2",
        )
        .unwrap();
    let verdict = db.verify().unwrap();
    assert_eq!(verdict.damaged_rows, ["summary by a model", "last summary of a path", "refusal of a model"]);
    assert_eq!(db.verify().unwrap().damaged_rows, [""; 0]);
    assert!(db.summary(&key("b")).unwrap().is_some());
    assert_eq!(db.spend_totals(5).unwrap().total, nanos(80));
}

#[test]
fn an_uncommitted_write_leaves_nothing() {
    let sandbox = TempAgentDb::new();
    let mut db = sandbox.open();
    let spend = reserve(&mut db, "a", 100, 5);
    // The disk is full from here on.
    let pages: i64 = sandbox.raw_connection().query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    db.database.connection.pragma_update(None, "max_page_count", pages).unwrap();
    let large = StoredSummary { text: "x".repeat(100_000), ..summary("a", 1) };
    let error =
        db.record_answer(spend, &answered_settlement(Some(1)), &key("a"), ME, &[large], &[]).unwrap_err();
    assert!(matches!(error, Error::Full(_)), "{error:?}");
    assert_eq!(db.summary(&key("a")).unwrap(), None);
    assert_eq!(db.spend_totals(5).unwrap().reserved, nanos(100));
    assert_eq!(sandbox.open().spend_totals(5).unwrap().reserved, nanos(100));
}

#[test]
fn writing_to_a_deleted_database_is_an_error() {
    let sandbox = TempAgentDb::new();
    let mut db = sandbox.open();
    record_paid_summary(&mut db, "a", 5);
    std::fs::remove_file(sandbox.file()).unwrap();
    assert!(!db.is_file_in_place());
    assert!(matches!(db.reserve(&reservation("b", 1, 5), &caps()), Err(Error::Gone)));
    assert!(db.summary(&key("a")).unwrap().is_some());
}

#[test]
fn a_dead_process_leaves_everything_that_was_acknowledged() {
    let sandbox = TempAgentDb::new();
    let mut db = sandbox.open();
    record_paid_summary(&mut db, "a", 5);
    reserve(&mut db, "b", 100, 5);
    // The files as after a kill: the log has not been checkpointed.
    let other = TempAgentDb::new();
    for name in ["agent.db", "agent.db-wal"] {
        std::fs::copy(sandbox.path(name), other.path(name)).unwrap();
    }
    let db = other.open();
    assert!(db.summary(&key("a")).unwrap().is_some());
    let spent = db.spend_totals(5).unwrap();
    assert_eq!((spent.day, spent.reserved), (nanos(140), nanos(100)));
}

#[test]
fn the_database_of_a_newer_version_is_left_unchanged() {
    let sandbox = TempAgentDb::new();
    fill_database(&sandbox, 1);
    sandbox.raw_connection().execute_batch("PRAGMA user_version = 99").unwrap();
    assert!(matches!(AgentDb::open(&sandbox.file()), Err(Error::TooNew { found: 99, .. })));
    assert_eq!(sandbox.file_names(), ["agent.db", "agent.db.backup"]);
}

//! What is left after harm of every kind.

#![expect(clippy::disallowed_methods, reason = "a test does to the file what the database must stand")]

use std::fs;
use std::path::Path;

use super::super::Error;
use super::log::FRAME_HEADER;
use super::log::HEADER;
use super::log::PAGE;
use super::samples::ME;
use super::samples::TempAgentDb;
use super::samples::answered_settlement;
use super::samples::caps;
use super::samples::fill_database;
use super::samples::key;
use super::samples::model;
use super::samples::question;
use super::samples::record_paid_summary;
use super::samples::reservation;
use super::samples::reserve;
use super::samples::summary;
use super::*;
use crate::model::Money;
use crate::model::Tier;

/// Enough for several pages of each kind.
const PARTS: usize = 60;
/// A thousand days.
const LONG_AGO: std::time::Duration = std::time::Duration::from_hours(24 * 1_000);

fn nanos(nanos: u64) -> Money {
    Money::from_nanos(nanos)
}

/// The day on which this test runs, as the file system has it.
fn today(file: &Path) -> i64 {
    let modified = fs::metadata(file).unwrap().modified().unwrap();
    let since = modified.duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_secs() / 86_400).unwrap()
}

/// The bytes of a database with so many summaries, each call on day 5 for 40.
fn sound_bytes() -> Vec<u8> {
    let sandbox = TempAgentDb::new();
    fill_database(&sandbox, PARTS);
    fs::read(sandbox.file()).unwrap()
}

/// Puts these bytes in the place of the database, and opens it.
fn opened_of(sandbox: &TempAgentDb, bytes: &[u8]) -> Result<OpenedAgentDb, Error> {
    for name in ["agent.db-wal", "agent.db-shm"] {
        let _ = fs::remove_file(sandbox.path(name));
    }
    fs::write(sandbox.file(), bytes).unwrap();
    AgentDb::open(&sandbox.file())
}

/// Makes sure that nothing is served that was not written, and that no more may be spent than before; returns how many
/// summaries are left.
#[track_caller]
fn check_harmless(opened: OpenedAgentDb, today: i64) -> usize {
    let OpenedAgentDb { db: mut paid, recovery } = opened;
    let mut left = 0;
    let summaries = paid.summaries();
    for found in summaries.unwrap_or_default() {
        let name = found.text.trim_start_matches("It does ").trim_end_matches('.').to_owned();
        assert_eq!(found, summary(&name, 5 * 86_400_000));
        left += 1;
    }
    let tight = SpendCaps { day: nanos(10), ..caps() };
    let spent = paid.spend_totals(5).map(|spent| spent.day);
    let is_known = spent.as_ref().is_ok_and(|day| nanos(40 * PARTS as u64) <= *day);
    let is_closed = [5, today]
        .into_iter()
        .all(|day| !matches!(paid.reserve(&reservation("new", 1, day), &caps()), Ok(Ok(_))));
    // Either each call is known, or nothing may be spent.
    assert!(is_known || is_closed, "{spent:?} {recovery:?}");
    assert!(!matches!(paid.reserve(&reservation("new", 1, 5), &tight), Ok(Ok(_))), "{recovery:?}");
    left
}

#[test]
fn rows_are_found_without_the_help_of_the_tree_they_hang_in() {
    let sandbox = TempAgentDb::new();
    let mut bytes = sound_bytes();
    // The header and the schema are gone.
    bytes[..PAGE].fill(0);
    let OpenedAgentDb { db: paid, recovery } = opened_of(&sandbox, &bytes).unwrap();
    let recovery = recovery.unwrap();
    assert_eq!(recovery.moved_to, sandbox.path("agent.db.corrupt-1"));
    assert_eq!(fs::read(&recovery.moved_to).unwrap(), bytes);
    let expected = (3 * PARTS as u64, 0, false);
    assert_eq!((recovery.carried_over, recovery.lost, recovery.is_ledger_short), expected);
    assert_eq!(paid.summaries().unwrap().len(), PARTS);
    assert_eq!(paid.latest_summaries(Tier::Orchestrator).unwrap().len(), PARTS);
    let expected = SpendTotals { day: nanos(2_400), total: nanos(2_400), calls: 60, reserved: nanos(0) };
    assert_eq!(paid.spend_totals(5).unwrap(), expected);
    drop(paid);
    assert_eq!(sandbox.file_names(), ["agent.db", "agent.db.corrupt-1"]);
    drop(sandbox.open());
}

#[test]
fn everything_is_carried_over_as_it_was() {
    let sandbox = TempAgentDb::new();
    let mut paid = sandbox.open();
    record_paid_summary(&mut paid, "a", 5);
    reserve(&mut paid, "b", 100, 5);
    paid.record_refusal(&key("c"), &key("c"), ME, "declined", None, 1).unwrap();
    let calls = ["d", "e"].map(|name| (reservation(name, 10, 6), question(name))).into();
    let new = NewBatch { model: model(), calls, at_ms: 1 };
    let batch = paid.reserve_batch(&new, &caps()).unwrap().unwrap();
    paid.mark_batch_submitted(batch, "remote-1", 2).unwrap();
    // More than a page holds, and more than two.
    let long = StoredSummary { text: "long ".repeat(3_000), ..summary("long", 7) };
    let spend = reserve(&mut paid, "long", 100, 6);
    let path = vec![b'p'; 4_090];
    paid.record_answer(spend, &answered_settlement(None), &key("long"), ME, &[long], &[path]).unwrap();
    let all = |paid: &AgentDb| {
        (
            paid.summaries().unwrap(),
            paid.latest_summaries(Tier::Orchestrator).unwrap(),
            paid.refusals().unwrap(),
            paid.open_batches().unwrap(),
            paid.usage().unwrap(),
            paid.spend_totals(6).unwrap(),
        )
    };
    let before = all(&paid);
    drop(paid);
    sandbox.raw_connection().execute_batch("DROP INDEX summary_by_subject").unwrap();
    let opened = AgentDb::open(&sandbox.file()).unwrap();
    assert!(!opened.recovery.unwrap().is_ledger_short);
    assert_eq!(all(&opened.db), before);
}

#[test]
fn rows_that_are_in_the_log_alone_are_found() {
    let sandbox = TempAgentDb::new();
    let mut paid = sandbox.open();
    for number in 0..PARTS {
        record_paid_summary(&mut paid, &format!("part {number}"), 5);
    }
    let other = TempAgentDb::new();
    for name in ["agent.db", "agent.db-wal"] {
        fs::copy(sandbox.path(name), other.path(name)).unwrap();
    }
    // SQLite believes nothing of a log from its first damage on.
    for (name, place) in [("agent.db", 0), ("agent.db-wal", 32 + 24 + 50)] {
        let mut bytes = fs::read(other.path(name)).unwrap();
        bytes[place..place + 20].fill(b'x');
        fs::write(other.path(name), bytes).unwrap();
    }
    let opened = AgentDb::open(&other.file()).unwrap();
    let recovery = opened.recovery.unwrap();
    assert_eq!((recovery.lost, recovery.is_ledger_short), (0, false), "{recovery:?}");
    assert_eq!(opened.db.summaries().unwrap().len(), PARTS);
    assert_eq!(opened.db.spend_totals(5).unwrap().total, nanos(2_400));
}

/// A database whose last ten summaries are in the log, as a kill leaves it, with the log changed.
fn killed(harm: impl FnOnce(&mut Vec<u8>)) -> TempAgentDb {
    let sandbox = TempAgentDb::new();
    fill_database(&sandbox, 1);
    let mut paid = sandbox.open();
    for number in 1..=10 {
        record_paid_summary(&mut paid, &format!("part {number}"), 5);
    }
    let other = TempAgentDb::new();
    fs::copy(sandbox.file(), other.file()).unwrap();
    let mut log = fs::read(sandbox.path("agent.db-wal")).unwrap();
    harm(&mut log);
    fs::write(other.path("agent.db-wal"), log).unwrap();
    other
}

#[test]
fn commits_behind_a_hole_in_the_log_are_not_forgotten() {
    // In the page of a frame, in the salts of a frame, in the salts of the log, in what makes it a log.
    for place in [HEADER + FRAME_HEADER + 4_000, HEADER + FRAME_HEADER + PAGE + 9, 17, 1] {
        let sandbox = killed(|log| log[place] ^= 4);
        // A reader before does not have the log deleted.
        drop(AgentDb::open_reader(&sandbox.file()));
        let OpenedAgentDb { db: paid, recovery } = AgentDb::open(&sandbox.file()).unwrap();
        assert!(recovery.is_some_and(|recovery| !recovery.is_ledger_short), "{place}");
        assert_eq!(paid.summaries().unwrap().len(), 11, "{place}");
        assert_eq!(paid.spend_totals(5).unwrap().total, nanos(440), "{place}");
    }
}

#[test]
fn a_torn_end_of_the_log_is_no_damage() {
    for cut in [1, PAGE, PAGE + FRAME_HEADER] {
        let sandbox = killed(|log| log.truncate(log.len() - cut));
        let paid = sandbox.open();
        // The last transaction is open again; it counts as its worst.
        assert_eq!(paid.spend_totals(5).unwrap().total, nanos(500), "{cut}");
    }
    let sandbox = killed(|log| {
        let end = log.len();
        log[end - 9] ^= 1;
    });
    assert_eq!(sandbox.open().spend_totals(5).unwrap().total, nanos(500));
}

#[test]
fn a_ledger_that_lacks_calls_closes_the_day_and_counts_them_as_the_dearest() {
    let sandbox = TempAgentDb::new();
    let mut paid = sandbox.open();
    for (name, worst) in [("a", 100), ("b", 700), ("c", 50)] {
        reserve(&mut paid, name, worst, 5);
    }
    drop(paid);
    sandbox.raw_connection().execute_batch("DELETE FROM spend WHERE id = 3; DROP TABLE lease").unwrap();
    let today = today(&sandbox.file());
    let OpenedAgentDb { db: mut paid, recovery } = AgentDb::open(&sandbox.file()).unwrap();
    let recovery = recovery.unwrap();
    assert_eq!((recovery.lost, recovery.is_ledger_short), (1, true));
    assert_eq!(paid.spend_totals(5).unwrap().total, nanos(1_500));
    for day in [5, today] {
        assert_eq!(paid.reserve(&reservation("d", 1, day), &caps()).unwrap(), Err(CapExceeded::Day));
    }
    // What costs nothing goes on, and so does everything on the next day.
    assert!(paid.reserve(&reservation("d", 0, today), &caps()).unwrap().is_ok());
    assert!(paid.reserve(&reservation("d", 1, today + 1), &caps()).unwrap().is_ok());
    drop(paid);
    // It stays closed, however often the file breaks.
    sandbox.raw_connection().execute_batch("DROP TABLE lease").unwrap();
    let OpenedAgentDb { db: mut paid, recovery } = AgentDb::open(&sandbox.file()).unwrap();
    assert!(!recovery.unwrap().is_ledger_short);
    assert_eq!(paid.reserve(&reservation("d", 1, today), &caps()).unwrap(), Err(CapExceeded::Day));
}

#[test]
fn what_summaries_cost_is_known_where_the_ledger_is_lost() {
    let sandbox = TempAgentDb::new();
    fill_database(&sandbox, 3);
    sandbox.raw_connection().execute_batch("DROP TABLE spend; DROP TABLE counter").unwrap();
    let OpenedAgentDb { db: paid, recovery } = AgentDb::open(&sandbox.file()).unwrap();
    assert!(recovery.unwrap().is_ledger_short);
    assert_eq!(paid.spend_totals(0).unwrap().total, nanos(120));
}

#[test]
fn a_file_of_which_nothing_is_left_lets_nothing_be_spent_that_day() {
    let all: [&[u8]; 4] = [b"", b"x", &[b'x'; 5_000], &[0; 3 * PAGE]];
    for bytes in all {
        let sandbox = TempAgentDb::new();
        let OpenedAgentDb { db: mut paid, recovery } = opened_of(&sandbox, bytes).unwrap();
        let recovery = recovery.unwrap();
        assert_eq!((recovery.carried_over, recovery.is_ledger_short), (0, true));
        let today = today(&recovery.moved_to);
        let refused = paid.reserve(&reservation("a", 1, today), &caps()).unwrap();
        assert_eq!(refused, Err(CapExceeded::Day));
        assert!(paid.reserve(&reservation("a", 1, today + 1), &caps()).unwrap().is_ok());
    }
}

#[test]
fn an_old_file_of_which_nothing_is_left_does_not_close_today() {
    let sandbox = TempAgentDb::new();
    fs::write(sandbox.file(), "no database").unwrap();
    let file = fs::File::options().write(true).open(sandbox.file()).unwrap();
    let now = file.metadata().unwrap().modified().unwrap();
    file.set_modified(now - LONG_AGO).unwrap();
    let today = today(&sandbox.file()) + 1_000;
    let mut paid = AgentDb::open(&sandbox.file()).unwrap().db;
    assert!(paid.reserve(&reservation("a", 1, today), &caps()).unwrap().is_ok());
}

#[test]
fn every_damaged_file_is_kept() {
    let sandbox = TempAgentDb::new();
    for text in ["first", "second", "third"] {
        opened_of(&sandbox, text.as_bytes()).unwrap();
    }
    let kept = |number| fs::read(sandbox.path(&format!("agent.db.corrupt-{number}"))).unwrap();
    assert_eq!(
        [kept(1), kept(2), kept(3)],
        ["first", "second", "third"].map(|text| text.as_bytes().to_vec())
    );
}

#[test]
fn another_programs_database_and_what_is_no_file_are_put_aside_unchanged() {
    let sandbox = TempAgentDb::new();
    sandbox
        .raw_connection()
        .execute_batch("CREATE TABLE summary (x); INSERT INTO summary VALUES (1)")
        .unwrap();
    let before = fs::read(sandbox.file()).unwrap();
    let recovery = AgentDb::open(&sandbox.file()).unwrap().recovery.unwrap();
    assert!(recovery.reason.contains("another program"), "{}", recovery.reason);
    assert_eq!(fs::read(recovery.moved_to).unwrap(), before);
    let sandbox = TempAgentDb::new();
    std::os::unix::fs::symlink(sandbox.path("elsewhere"), sandbox.file()).unwrap();
    assert!(AgentDb::open(&sandbox.file()).unwrap().recovery.is_some());
    assert!(!sandbox.path("elsewhere").exists());
    let sandbox = TempAgentDb::new();
    fs::create_dir(sandbox.file()).unwrap();
    assert!(AgentDb::open(&sandbox.file()).unwrap().recovery.is_some());
}

#[test]
fn a_salvage_that_was_broken_off_is_taken_up_again() {
    let bytes = sound_bytes();
    // The file has been put aside; a part of the new one is there.
    let sandbox = TempAgentDb::new();
    fs::write(sandbox.path("agent.db.salvage"), &bytes).unwrap();
    fs::write(sandbox.path("agent.db.new"), &bytes[..PAGE]).unwrap();
    assert!(AgentDb::open_reader(&sandbox.file()).unwrap().is_none());
    let OpenedAgentDb { db: paid, recovery } = AgentDb::open(&sandbox.file()).unwrap();
    assert_eq!(recovery.unwrap().carried_over, 3 * PARTS as u64);
    assert_eq!(paid.spend_totals(5).unwrap().total, nanos(2_400));
    drop(paid);
    assert_eq!(sandbox.file_names(), ["agent.db", "agent.db.corrupt-1"]);
    // The new one has taken its place. Its next damage finds the name of before free again.
    fs::rename(sandbox.path("agent.db.corrupt-1"), sandbox.path("agent.db.salvage")).unwrap();
    let mut harmed = fs::read(sandbox.file()).unwrap();
    harmed[..PAGE].fill(0);
    let recovery = opened_of(&sandbox, &harmed).unwrap().recovery.unwrap();
    assert_eq!(recovery.carried_over, 3 * PARTS as u64);
    assert_eq!(fs::read(sandbox.path("agent.db.corrupt-1")).unwrap(), bytes);
    assert_eq!(fs::read(sandbox.path("agent.db.corrupt-2")).unwrap(), harmed);
}

#[test]
fn whoever_has_the_damaged_file_open_finds_it_gone() {
    let sandbox = TempAgentDb::new();
    fill_database(&sandbox, 1);
    let mut slow = sandbox.open();
    sandbox.raw_connection().execute_batch("DROP TABLE lease").unwrap();
    let mut paid = AgentDb::open(&sandbox.file()).unwrap().db;
    assert!(matches!(slow.reserve(&reservation("a", 1, 5), &caps()), Err(Error::Gone)));
    reserve(&mut paid, "b", 1, 5);
    let OpenedAgentDb { db: again, recovery } = slow.reopen().unwrap();
    assert_eq!(recovery, None);
    assert_eq!(again.spend_totals(5).unwrap().total, nanos(41));
    drop(again);
    drop(paid);
    assert_eq!(sandbox.open().spend_totals(5).unwrap().total, nanos(41));
}

#[test]
fn many_may_find_the_same_damage_and_one_salvages_it() {
    let sandbox = TempAgentDb::new();
    let mut bytes = sound_bytes();
    bytes[..PAGE].fill(0);
    fs::write(sandbox.file(), bytes).unwrap();
    let salvages = std::thread::scope(|scope| {
        let open = |_| scope.spawn(|| AgentDb::open(&sandbox.file()).unwrap());
        let threads: Vec<_> = (0..6).map(open).collect();
        let opened: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(opened.iter().all(|opened| opened.db.summaries().unwrap().len() == PARTS));
        opened.iter().filter(|opened| opened.recovery.is_some()).count()
    });
    assert_eq!(salvages, 1);
}

#[test]
fn a_flipped_bit_anywhere_serves_nothing_wrong_and_opens_no_cap() {
    let sound = sound_bytes();
    let sandbox = TempAgentDb::new();
    // A prime step, so that every kind of place is hit.
    for place in (0..sound.len() * 8).step_by(4_999) {
        let mut bytes = sound.clone();
        bytes[place / 8] ^= 1 << (place % 8);
        match opened_of(&sandbox, &bytes) {
            Ok(opened) => {
                let left = check_harmless(opened, today(&sandbox.file()));
                // A bit is in one row, or in the head of one page.
                assert!(PARTS * 3 / 4 <= left, "{left} are left after {place}");
            }
            Err(Error::TooNew { .. }) => {}
            Err(error) => panic!("{place}: {error:?}"),
        }
    }
}

#[test]
fn zeroed_swapped_and_missing_pages_serve_nothing_wrong_and_open_no_cap() {
    let sound = sound_bytes();
    let pages = sound.len() / PAGE;
    let sandbox = TempAgentDb::new();
    let check = |bytes: &[u8], least: usize| {
        let opened = opened_of(&sandbox, bytes).unwrap();
        let left = check_harmless(opened, today(&sandbox.file()));
        assert!(least <= left, "{left} are left");
    };
    for page in 0..pages {
        let mut bytes = sound.clone();
        bytes[page * PAGE..(page + 1) * PAGE].fill(0);
        check(&bytes, PARTS / 2);
        let other = (page + 3) % pages;
        let mut bytes = sound.clone();
        bytes[page * PAGE..(page + 1) * PAGE].copy_from_slice(&sound[other * PAGE..(other + 1) * PAGE]);
        bytes[other * PAGE..(other + 1) * PAGE].copy_from_slice(&sound[page * PAGE..(page + 1) * PAGE]);
        // All pages are there: in place of the first one they are not read at its offset alone.
        check(&bytes, if page == 0 || other == 0 { 0 } else { PARTS });
        check(&sound[..page * PAGE + PAGE / 2], 0);
    }
}

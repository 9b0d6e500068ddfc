//! Backups, and recovery from every kind of damage.

#![expect(clippy::disallowed_methods, reason = "a test does to the file what the database must withstand")]

use std::fs;
use std::path::Path;

use super::recovery::ANSWERS_PER_BACKUP;
use super::testing::{
    ME, TempAgentDb, answered_settlement, caps, fill_database, key, model, question, record_paid_summary,
    reservation, reserve, summary, task_keys,
};
use super::*;
use crate::model::{Money, Tier};
use crate::store::Error;

/// Enough for several pages of each table.
const PARTS: usize = 60;
/// The age of old files in tests: a thousand days.
const LONG_AGO: std::time::Duration = std::time::Duration::from_hours(24 * 1_000);

const PAGE: usize = 4096;
const WAL_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

fn nanos(nanos: u64) -> Money {
    Money::from_nanos(nanos)
}

fn backup(sandbox: &TempAgentDb) -> std::path::PathBuf {
    sandbox.path("agent.db.backup")
}

/// Returns the day on which a file was written.
fn day_of(file: &Path) -> i64 {
    let modified = fs::metadata(file).unwrap().modified().unwrap();
    let since = modified.duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_secs() / 86_400).unwrap()
}

/// The bytes of a database with [`PARTS`] summaries, each call on day 5 for 40, and those of its backup.
fn intact_bytes() -> (Vec<u8>, Vec<u8>) {
    let sandbox = TempAgentDb::new();
    fill_database(&sandbox, PARTS);
    (fs::read(sandbox.file()).unwrap(), fs::read(backup(&sandbox)).unwrap())
}

/// Replaces the database and its backup, and opens it.
fn open_bytes(
    sandbox: &TempAgentDb,
    bytes: &[u8],
    backup_bytes: Option<&[u8]>,
) -> Result<OpenedAgentDb, Error> {
    for name in ["agent.db-wal", "agent.db-shm", "agent.db.backup"] {
        let _ = fs::remove_file(sandbox.path(name));
    }
    fs::write(sandbox.file(), bytes).unwrap();
    if let Some(bytes) = backup_bytes {
        fs::write(backup(sandbox), bytes).unwrap();
    }
    AgentDb::open(&sandbox.file())
}

/// A database with `old` summaries in its backup and `new` additional ones, as a killed process leaves it.
fn killed(old: usize, new: usize) -> TempAgentDb {
    let sandbox = TempAgentDb::new();
    fill_database(&sandbox, old);
    let mut db = sandbox.open();
    for number in old..old + new {
        record_paid_summary(&mut db, &format!("part {number}"), 5);
    }
    let other = TempAgentDb::new();
    for name in ["agent.db.backup", "agent.db", "agent.db-wal"] {
        fs::copy(sandbox.path(name), other.path(name)).unwrap();
    }
    other
}

/// Checks that only written data is returned, and that no more may be spent than before; returns how many summaries are
/// left.
#[track_caller]
fn check_harmless(opened: OpenedAgentDb, today: i64) -> usize {
    let OpenedAgentDb { mut db, recovery } = opened;
    let mut left = 0;
    let summaries = db.summaries();
    for found in summaries.unwrap_or_default() {
        let name = found.text.trim_start_matches("It does ").trim_end_matches('.').to_owned();
        assert_eq!(found, summary(&name, 5 * 86_400_000));
        left += 1;
    }
    let tight = SpendCaps { day: nanos(10), ..caps() };
    let spent = db.spend_totals(5).map(|spent| spent.day);
    let is_known = spent.as_ref().is_ok_and(|day| nanos(40 * PARTS as u64) <= *day);
    let is_closed = [5, today]
        .into_iter()
        .all(|day| !matches!(db.reserve(&reservation("new", 1, day), &caps()), Ok(Ok(_))));
    // Either each call is known, or nothing may be spent.
    assert!(is_known || is_closed, "{spent:?} {recovery:?}");
    assert!(!matches!(db.reserve(&reservation("new", 1, 5), &tight), Ok(Ok(_))), "{recovery:?}");
    left
}

#[test]
fn a_backup_is_written_when_a_writer_is_closed_and_after_a_number_of_answers() {
    let sandbox = TempAgentDb::new();
    let mut db = sandbox.open();
    record_paid_summary(&mut db, "first", 5);
    assert!(!backup(&sandbox).exists());
    drop(db);
    let count = || {
        let copy = TempAgentDb::new();
        fs::copy(backup(&sandbox), copy.file()).unwrap();
        copy.open().summaries().unwrap().len()
    };
    assert_eq!(count(), 1);
    let mut db = sandbox.open();
    for number in 1..=ANSWERS_PER_BACKUP {
        assert_eq!(count(), 1);
        record_paid_summary(&mut db, &format!("part {number}"), 5);
    }
    assert_eq!(count(), 1 + ANSWERS_PER_BACKUP as usize);
    record_paid_summary(&mut db, "last", 5);
    drop(db);
    assert_eq!(count(), 2 + ANSWERS_PER_BACKUP as usize);
    assert_eq!(sandbox.file_names(), ["agent.db", "agent.db.backup"]);
}

#[test]
fn a_reader_and_an_idle_writer_leave_the_backup_unchanged() {
    let sandbox = TempAgentDb::new();
    fill_database(&sandbox, 1);
    let written = fs::metadata(backup(&sandbox)).unwrap().modified().unwrap();
    drop(AgentDb::open_reader(&sandbox.file()).unwrap());
    // If the clock has not advanced, the backup looks outdated once.
    drop(sandbox.open());
    let again = fs::metadata(backup(&sandbox)).unwrap().modified().unwrap();
    drop(sandbox.open());
    assert_eq!(fs::metadata(backup(&sandbox)).unwrap().modified().unwrap(), again);
    assert!(written <= again);
}

#[test]
fn the_backup_of_a_process_that_was_killed_is_completed_by_the_next_writer() {
    let sandbox = killed(1, 3);
    drop(sandbox.open());
    fs::remove_file(sandbox.file()).unwrap();
    assert_eq!(AgentDb::open(&sandbox.file()).unwrap().db.summaries().unwrap().len(), 4);
}

#[test]
fn an_interrupted_backup_leaves_the_previous_one() {
    let sandbox = TempAgentDb::new();
    fill_database(&sandbox, 1);
    let before = fs::read(backup(&sandbox)).unwrap();
    // As left by a process that died while writing one.
    fs::write(sandbox.path("agent.db.backup-new"), &before[..PAGE + 7]).unwrap();
    let mut db = sandbox.open();
    record_paid_summary(&mut db, "a", 5);
    assert_eq!(fs::read(backup(&sandbox)).unwrap(), before);
    drop(db);
    assert_ne!(fs::read(backup(&sandbox)).unwrap(), before);
    assert_eq!(sandbox.file_names(), ["agent.db", "agent.db.backup"]);
    // A failed backup is not an error.
    let before = fs::read(backup(&sandbox)).unwrap();
    fs::create_dir(sandbox.path("agent.db.backup-new")).unwrap();
    fill_database(&sandbox, 2);
    assert_eq!(fs::read(backup(&sandbox)).unwrap(), before);
    assert_eq!(sandbox.open().summaries().unwrap().len(), 3);
}

#[test]
fn a_damaged_database_does_not_replace_its_backup() {
    for harm in ["DROP TABLE lease", "DROP INDEX summary_by_subject", "PRAGMA user_version = 0"] {
        let sandbox = TempAgentDb::new();
        fill_database(&sandbox, 1);
        let before = fs::read(backup(&sandbox)).unwrap();
        let mut db = sandbox.open();
        sandbox.raw_connection().execute_batch(harm).unwrap();
        let _ = db.reserve(&reservation("a", 1, 5), &caps());
        drop(db);
        assert_eq!(fs::read(backup(&sandbox)).unwrap(), before, "{harm}");
    }
}

#[test]
fn deleted_summaries_are_not_in_the_backup() {
    let sandbox = TempAgentDb::new();
    fill_database(&sandbox, 3);
    let has_text = || fs::read(backup(&sandbox)).unwrap().windows(7).any(|window| window == b"It does");
    assert!(has_text());
    let mut db = sandbox.open();
    db.clear_summaries(None).unwrap();
    assert!(!has_text());
}

#[test]
fn a_process_killed_while_creating_the_database_closes_no_day() {
    let sandbox = TempAgentDb::new();
    fs::write(sandbox.path("agent.db.new"), "").unwrap();
    fs::write(sandbox.path("agent.db.new-journal"), [0xd9; 512]).unwrap();
    let OpenedAgentDb { mut db, recovery } = AgentDb::open(&sandbox.file()).unwrap();
    assert_eq!(recovery, None);
    let today = day_of(&sandbox.file());
    assert!(db.reserve(&reservation("a", 1, today), &caps()).unwrap().is_ok());
    drop(db);
    assert_eq!(sandbox.file_names(), ["agent.db", "agent.db.backup"]);
}

#[test]
fn a_missing_database_is_restored_and_its_last_day_is_closed() {
    let sandbox = TempAgentDb::new();
    fill_database(&sandbox, 3);
    fs::remove_file(sandbox.file()).unwrap();
    let today = day_of(&backup(&sandbox));
    let OpenedAgentDb { mut db, recovery } = AgentDb::open_if_exists(&sandbox.file()).unwrap().unwrap();
    let recovery = recovery.unwrap();
    assert_eq!((recovery.moved_to, recovery.restored, recovery.is_ledger_short), (None, 9, true));
    assert_eq!(db.summaries().unwrap().len(), 3);
    let refused = db.reserve(&reservation("a", 1, today), &caps()).unwrap();
    assert_eq!(refused, Err(CapExceeded::DayClosed));
    assert!(db.reserve(&reservation("a", 1, today + 1), &caps()).unwrap().is_ok());
    let sandbox = TempAgentDb::new();
    assert!(AgentDb::open_if_exists(&sandbox.file()).unwrap().is_none());
    assert_eq!(sandbox.file_names(), [""; 0]);
}

#[test]
fn a_database_without_its_header_is_restored_from_its_backup() {
    let sandbox = TempAgentDb::new();
    let (mut bytes, backup_bytes) = intact_bytes();
    // The header and the schema are gone.
    bytes[..PAGE].fill(0);
    let OpenedAgentDb { db, recovery } = open_bytes(&sandbox, &bytes, Some(&backup_bytes)).unwrap();
    let recovery = recovery.unwrap();
    let kept = sandbox.path("agent.db.corrupt-1");
    assert_eq!(fs::read(&kept).unwrap(), bytes);
    assert_eq!(recovery.moved_to, Some(kept));
    // Calls may have been made since the backup.
    assert_eq!((recovery.restored, recovery.lost, recovery.is_ledger_short), (3 * PARTS as u64, 0, true));
    assert_eq!(db.summaries().unwrap().len(), PARTS);
    assert_eq!(db.latest_summaries(Tier::Orchestrator).unwrap().len(), PARTS);
    let expected = SpendTotals { day: nanos(2_400), total: nanos(2_400), calls: 60, reserved: nanos(0) };
    assert_eq!(db.spend_totals(5).unwrap(), expected);
    drop(db);
    assert_eq!(sandbox.file_names(), ["agent.db", "agent.db.backup", "agent.db.corrupt-1"]);
    drop(sandbox.open());
}

#[test]
fn everything_is_restored_with_and_without_a_backup() {
    for has_backup in [true, false] {
        let sandbox = TempAgentDb::new();
        let mut db = sandbox.open();
        record_paid_summary(&mut db, "a", 5);
        reserve(&mut db, "b", 100, 5);
        db.record_refusal(task_keys("c"), ME, "declined", None, 1).unwrap();
        let calls = ["d", "e"].map(|name| (reservation(name, 10, 6), question(name))).into();
        let new = NewBatch { model: model(), calls, at_ms: 1 };
        let batch = db.reserve_batch(&new, &caps()).unwrap().unwrap();
        db.mark_batch_submitted(batch, "remote-1", 2).unwrap();
        // More than a page holds, and more than two.
        let long = StoredSummary { text: "long ".repeat(3_000), ..summary("long", 7) };
        let spend = reserve(&mut db, "long", 100, 6);
        let path = vec![b'p'; 4_090];
        db.record_answer(spend, &answered_settlement(None), &key("long"), ME, &[long], &[path]).unwrap();
        let all = |db: &AgentDb| {
            (
                db.summaries().unwrap(),
                db.latest_summaries(Tier::Orchestrator).unwrap(),
                db.refusals().unwrap(),
                db.open_batches().unwrap(),
                db.usage().unwrap(),
                db.spend_totals(6).unwrap(),
            )
        };
        let before = all(&db);
        drop(db);
        if !has_backup {
            fs::remove_file(backup(&sandbox)).unwrap();
        }
        sandbox.raw_connection().execute_batch("DROP INDEX summary_by_subject").unwrap();
        let opened = AgentDb::open(&sandbox.file()).unwrap();
        assert!(!opened.recovery.unwrap().is_ledger_short);
        assert_eq!(all(&opened.db), before);
    }
}

#[test]
fn rows_newer_than_the_backup_are_read_from_the_damaged_file() {
    let sandbox = killed(PARTS, 10);
    sandbox.raw_connection().execute_batch("DROP TABLE lease").unwrap();
    let OpenedAgentDb { db, recovery } = AgentDb::open(&sandbox.file()).unwrap();
    let recovery = recovery.unwrap();
    assert_eq!((recovery.lost, recovery.is_ledger_short), (0, false), "{recovery:?}");
    assert_eq!(db.summaries().unwrap().len(), PARTS + 10);
    assert_eq!(db.spend_totals(5).unwrap().total, nanos(2_800));
}

#[test]
fn rows_lost_from_both_files_close_the_day() {
    let sandbox = killed(PARTS, 10);
    // The log is checkpointed into the database, whose header is then lost.
    drop(sandbox.raw_connection().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())));
    let today = day_of(&sandbox.file());
    let mut bytes = fs::read(sandbox.file()).unwrap();
    bytes[..PAGE].fill(0);
    fs::write(sandbox.file(), bytes).unwrap();
    let OpenedAgentDb { mut db, recovery } = AgentDb::open(&sandbox.file()).unwrap();
    assert!(recovery.unwrap().is_ledger_short);
    assert_eq!(db.summaries().unwrap().len(), PARTS);
    for day in [5, today] {
        let refused = db.reserve(&reservation("a", 1, day), &caps()).unwrap();
        assert_eq!(refused, Err(CapExceeded::DayClosed));
    }
    assert!(db.reserve(&reservation("a", 1, today + 1), &caps()).unwrap().is_ok());
}

#[test]
fn commits_after_a_hole_in_the_log_close_the_day() {
    // In the page of a frame, in the salts of a frame, in the salts of the log, in the log's magic number.
    for place in [WAL_HEADER + FRAME_HEADER + 4_000, WAL_HEADER + FRAME_HEADER + PAGE + 9, 17, 1] {
        let sandbox = killed(3, 10);
        let mut log = fs::read(sandbox.path("agent.db-wal")).unwrap();
        log[place] ^= 4;
        fs::write(sandbox.path("agent.db-wal"), log).unwrap();
        let today = day_of(&sandbox.file());
        // An earlier reader does not cause the log to be deleted.
        drop(AgentDb::open_reader(&sandbox.file()));
        let OpenedAgentDb { mut db, recovery } = AgentDb::open(&sandbox.file()).unwrap();
        assert!(recovery.is_some_and(|recovery| recovery.is_ledger_short), "{place}");
        assert!(3 <= db.summaries().unwrap().len(), "{place}");
        for day in [5, today] {
            let refused = db.reserve(&reservation("a", 1, day), &caps()).unwrap();
            assert_eq!(refused, Err(CapExceeded::DayClosed), "{place}");
        }
    }
}

#[test]
fn a_torn_end_of_the_log_is_not_damage() {
    let harmed = |harm: &dyn Fn(&mut Vec<u8>)| {
        let sandbox = killed(1, 10);
        let mut log = fs::read(sandbox.path("agent.db-wal")).unwrap();
        harm(&mut log);
        fs::write(sandbox.path("agent.db-wal"), log).unwrap();
        sandbox.open().spend_totals(5).unwrap().total
    };
    for cut in [1, PAGE, PAGE + FRAME_HEADER] {
        // The last transaction is open again; it counts as the most that it may cost.
        assert_eq!(harmed(&|log| log.truncate(log.len() - cut)), nanos(500), "{cut}");
    }
    let flip = |log: &mut Vec<u8>| {
        let end = log.len();
        log[end - 9] ^= 1;
    };
    assert_eq!(harmed(&flip), nanos(500));
}

#[test]
fn a_ledger_that_lacks_calls_closes_the_day_and_counts_them_as_the_most_expensive() {
    let sandbox = TempAgentDb::new();
    let mut db = sandbox.open();
    for (name, max_cost) in [("a", 100), ("b", 700), ("c", 50)] {
        reserve(&mut db, name, max_cost, 5);
    }
    drop(db);
    fs::remove_file(backup(&sandbox)).unwrap();
    sandbox.raw_connection().execute_batch("DELETE FROM spend WHERE id = 3; DROP TABLE lease").unwrap();
    let today = day_of(&sandbox.file());
    let OpenedAgentDb { mut db, recovery } = AgentDb::open(&sandbox.file()).unwrap();
    let recovery = recovery.unwrap();
    assert_eq!((recovery.lost, recovery.is_ledger_short), (1, true));
    assert_eq!(db.spend_totals(5).unwrap().total, nanos(1_500));
    for day in [5, today] {
        assert_eq!(db.reserve(&reservation("d", 1, day), &caps()).unwrap(), Err(CapExceeded::DayClosed));
    }
    // Free calls are still allowed, and so is everything on the next day.
    assert!(db.reserve(&reservation("d", 0, today), &caps()).unwrap().is_ok());
    assert!(db.reserve(&reservation("d", 1, today + 1), &caps()).unwrap().is_ok());
    drop(db);
    // The day stays closed, however often the file is damaged.
    sandbox.raw_connection().execute_batch("DROP TABLE lease").unwrap();
    let OpenedAgentDb { mut db, recovery } = AgentDb::open(&sandbox.file()).unwrap();
    assert!(!recovery.unwrap().is_ledger_short);
    assert_eq!(db.reserve(&reservation("d", 1, today), &caps()).unwrap(), Err(CapExceeded::DayClosed));
}

#[test]
fn the_cost_of_summaries_is_known_even_without_the_ledger() {
    let sandbox = TempAgentDb::new();
    fill_database(&sandbox, 3);
    fs::remove_file(backup(&sandbox)).unwrap();
    sandbox.raw_connection().execute_batch("DROP TABLE spend; DROP TABLE counter").unwrap();
    let OpenedAgentDb { db, recovery } = AgentDb::open(&sandbox.file()).unwrap();
    assert!(recovery.unwrap().is_ledger_short);
    assert_eq!(db.spend_totals(0).unwrap().total, nanos(120));
}

#[test]
fn after_a_total_loss_nothing_may_be_spent_that_day() {
    let all: [&[u8]; 4] = [b"", b"x", &[b'x'; 5_000], &[0; 3 * PAGE]];
    for bytes in all {
        // A damaged backup counts as missing.
        for backup_bytes in [None, Some(bytes)] {
            let sandbox = TempAgentDb::new();
            let OpenedAgentDb { mut db, recovery } = open_bytes(&sandbox, bytes, backup_bytes).unwrap();
            let recovery = recovery.unwrap();
            assert_eq!((recovery.restored, recovery.is_ledger_short), (0, true));
            let today = day_of(&recovery.moved_to.unwrap());
            let refused = db.reserve(&reservation("a", 1, today), &caps()).unwrap();
            assert_eq!(refused, Err(CapExceeded::DayClosed));
            assert!(db.reserve(&reservation("a", 1, today + 1), &caps()).unwrap().is_ok());
        }
    }
}

#[test]
fn the_total_loss_of_an_old_file_does_not_close_today() {
    let sandbox = TempAgentDb::new();
    fs::write(sandbox.file(), "no database").unwrap();
    let file = fs::File::options().write(true).open(sandbox.file()).unwrap();
    let now = file.metadata().unwrap().modified().unwrap();
    file.set_modified(now - LONG_AGO).unwrap();
    let today = day_of(&sandbox.file()) + 1_000;
    let mut db = AgentDb::open(&sandbox.file()).unwrap().db;
    assert!(db.reserve(&reservation("a", 1, today), &caps()).unwrap().is_ok());
}

#[test]
fn every_damaged_file_is_kept() {
    let sandbox = TempAgentDb::new();
    for text in ["first", "second", "third"] {
        open_bytes(&sandbox, text.as_bytes(), None).unwrap();
    }
    let kept = |number| fs::read(sandbox.path(&format!("agent.db.corrupt-{number}"))).unwrap();
    assert_eq!(
        [kept(1), kept(2), kept(3)],
        ["first", "second", "third"].map(|text| text.as_bytes().to_vec())
    );
}

#[test]
fn foreign_databases_and_non_files_are_set_aside_unchanged() {
    let sandbox = TempAgentDb::new();
    sandbox
        .raw_connection()
        .execute_batch("CREATE TABLE summary (x); INSERT INTO summary VALUES (1)")
        .unwrap();
    let before = fs::read(sandbox.file()).unwrap();
    let recovery = AgentDb::open(&sandbox.file()).unwrap().recovery.unwrap();
    assert!(recovery.reason.contains("another program"), "{}", recovery.reason);
    assert_eq!(fs::read(recovery.moved_to.unwrap()).unwrap(), before);
    // Links and folders are neither followed nor written to, as the database or as its backup.
    for name in ["agent.db", "agent.db.backup", "agent.db.backup-new"] {
        let sandbox = TempAgentDb::new();
        std::os::unix::fs::symlink(sandbox.path("elsewhere"), sandbox.path(name)).unwrap();
        let opened = AgentDb::open(&sandbox.file()).unwrap();
        assert_eq!(opened.recovery.is_some(), name != "agent.db.backup-new", "{name}");
        drop(opened);
        assert!(!sandbox.path("elsewhere").exists(), "{name}");
    }
    let sandbox = TempAgentDb::new();
    fs::create_dir(sandbox.file()).unwrap();
    assert!(AgentDb::open(&sandbox.file()).unwrap().recovery.is_some());
}

#[test]
fn an_interrupted_restore_is_finished() {
    let (bytes, backup_bytes) = intact_bytes();
    // The damaged file has been set aside; part of the new one exists.
    let sandbox = TempAgentDb::new();
    fs::write(sandbox.path("agent.db.salvage"), &bytes).unwrap();
    fs::write(sandbox.path("agent.db.new"), &bytes[..PAGE]).unwrap();
    assert!(AgentDb::open_reader(&sandbox.file()).unwrap().is_none());
    let OpenedAgentDb { db, recovery } = AgentDb::open(&sandbox.file()).unwrap();
    assert_eq!(recovery.unwrap().restored, 3 * PARTS as u64);
    assert_eq!(db.spend_totals(5).unwrap().total, nanos(2_400));
    drop(db);
    assert_eq!(sandbox.file_names(), ["agent.db", "agent.db.backup", "agent.db.corrupt-1"]);
    // The new one is in place, and the damaged one still has its temporary name, which has to be free for the next
    // damage.
    fs::rename(sandbox.path("agent.db.corrupt-1"), sandbox.path("agent.db.salvage")).unwrap();
    let mut harmed = fs::read(sandbox.file()).unwrap();
    harmed[..PAGE].fill(0);
    let recovery = open_bytes(&sandbox, &harmed, Some(&backup_bytes)).unwrap().recovery.unwrap();
    assert_eq!(recovery.restored, 3 * PARTS as u64);
    assert_eq!(fs::read(sandbox.path("agent.db.corrupt-1")).unwrap(), bytes);
    assert_eq!(fs::read(sandbox.path("agent.db.corrupt-2")).unwrap(), harmed);
}

#[test]
fn a_process_with_the_damaged_file_open_finds_it_gone() {
    let sandbox = TempAgentDb::new();
    fill_database(&sandbox, 1);
    let mut slow = sandbox.open();
    sandbox.raw_connection().execute_batch("DROP TABLE lease").unwrap();
    let mut db = AgentDb::open(&sandbox.file()).unwrap().db;
    assert!(matches!(slow.reserve(&reservation("a", 1, 5), &caps()), Err(Error::Gone)));
    reserve(&mut db, "b", 1, 5);
    drop(slow);
    drop(db);
    assert_eq!(sandbox.open().spend_totals(5).unwrap().total, nanos(41));
}

#[test]
fn of_many_processes_that_find_damage_one_restores_it() {
    let sandbox = TempAgentDb::new();
    let (mut bytes, backup_bytes) = intact_bytes();
    bytes[..PAGE].fill(0);
    fs::write(sandbox.file(), bytes).unwrap();
    fs::write(backup(&sandbox), backup_bytes).unwrap();
    let restores = std::thread::scope(|scope| {
        let open = |_| scope.spawn(|| AgentDb::open(&sandbox.file()).unwrap());
        let threads: Vec<_> = (0..6).map(open).collect();
        let opened: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(opened.iter().all(|opened| opened.db.summaries().unwrap().len() == PARTS));
        opened.iter().filter(|opened| opened.recovery.is_some()).count()
    });
    assert_eq!(restores, 1);
}

#[test]
fn simultaneous_backups_leave_one_of_them() {
    let sandbox = TempAgentDb::new();
    fill_database(&sandbox, 1);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let sandbox = &sandbox;
            scope.spawn(move || {
                for number in 0..5 {
                    record_paid_summary(&mut sandbox.open(), &format!("{thread} {number}"), 5);
                }
            });
        }
    });
    drop(sandbox.open());
    fs::remove_file(sandbox.file()).unwrap();
    assert_eq!(AgentDb::open(&sandbox.file()).unwrap().db.summaries().unwrap().len(), 21);
}

#[test]
fn a_flipped_bit_anywhere_returns_no_wrong_data_and_raises_no_cap() {
    let (intact, backup_bytes) = intact_bytes();
    let sandbox = TempAgentDb::new();
    // A prime step, so that every kind of position is hit.
    for place in (0..intact.len() * 8).step_by(9_973) {
        let mut bytes = intact.clone();
        bytes[place / 8] ^= 1 << (place % 8);
        // With a backup, a flipped bit costs no more than its row.
        for (backup_bytes, least) in [(Some(backup_bytes.as_slice()), PARTS - 1), (None, 0)] {
            match open_bytes(&sandbox, &bytes, backup_bytes) {
                Ok(opened) => {
                    let left = check_harmless(opened, day_of(&sandbox.file()));
                    assert!(least <= left, "{left} are left after {place}");
                }
                Err(Error::TooNew { .. }) => {}
                Err(error) => panic!("{place}: {error:?}"),
            }
        }
    }
}

#[test]
fn zeroed_swapped_and_missing_pages_lose_nothing_in_the_backup() {
    let (intact, backup_bytes) = intact_bytes();
    let pages = intact.len() / PAGE;
    let sandbox = TempAgentDb::new();
    let check = |bytes: &[u8]| {
        for (backup_bytes, least) in [(Some(backup_bytes.as_slice()), PARTS), (None, 0)] {
            let opened = open_bytes(&sandbox, bytes, backup_bytes).unwrap();
            let left = check_harmless(opened, day_of(&sandbox.file()));
            assert!(least <= left, "{left} are left");
        }
    };
    for page in 0..pages {
        let mut bytes = intact.clone();
        bytes[page * PAGE..(page + 1) * PAGE].fill(0);
        check(&bytes);
        let other = (page + 3) % pages;
        let mut bytes = intact.clone();
        bytes[page * PAGE..(page + 1) * PAGE].copy_from_slice(&intact[other * PAGE..(other + 1) * PAGE]);
        bytes[other * PAGE..(other + 1) * PAGE].copy_from_slice(&intact[page * PAGE..(page + 1) * PAGE]);
        check(&bytes);
        check(&intact[..page * PAGE + PAGE / 2]);
    }
}

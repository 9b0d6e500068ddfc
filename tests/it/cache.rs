//! `slop cache`: its size, deleting it, checking it, exporting it; and the part of it that was paid for.

use rusqlite::Connection;
use serde_json::{Value, json};
use slop::internals::model::{ContentHash, ModelName, Money, SummaryKey, SummaryScope, Tier, TokenUsage};
use slop::internals::store::agent::{
    AgentDb, SpendCaps, SpendOutcome, SpendReservation, SpendSettlement, StoredSummary,
};
use slop::internals::store::authenticate_rows;

use super::samples::{ENGINE, sample_project};
use super::sandbox::{CACHE_KEY, Sandbox, list, number, text, texts};

/// Returns an indexed project with five text files.
fn indexed_project() -> Sandbox {
    let sandbox = sample_project();
    sandbox.stdout_of(&["index"]);
    sandbox
}

#[track_caller]
fn parse_count(sandbox: &Sandbox) -> u64 {
    number(&sandbox.json(&["index"])["parsed"])
}

/// Checks that the cache contains what a scan derives from five texts. Other artifacts are derived on demand.
#[track_caller]
fn assert_indexed(sandbox: &Sandbox) {
    let status = sandbox.json(&["cache", "status"]);
    let counts: Vec<(&str, u64)> = list(&status["artifacts"])
        .map(|kind| (kind["artifact"].as_str().unwrap(), number(&kind["rows"])))
        .collect();
    let scanned = [("outline", 5), ("skeleton", 5), ("summary", 5), ("references", 0), ("terms", 5)];
    assert_eq!(counts, [&scanned[..], &[("facts", 0), ("symbols", 0)]].concat());
}

#[test]
fn status_reports_how_much_is_cached() {
    let sandbox = indexed_project();
    let status = sandbox.json(&["cache", "status"]);
    assert_eq!((number(&status["files"]), number(&status["contents"])), (6, 5));
    assert_indexed(&sandbox);
    assert!(0 < number(&status["bytes_on_disk"]));
    assert!(sandbox.stdout_of(&["cache", "status"]).starts_with("files      6\n"));
}

#[test]
fn clear_empties_the_cache_and_reports_how_much_it_freed() {
    let sandbox = indexed_project();
    let freed = sandbox.json(&["cache", "clear"]);
    assert_eq!((number(&freed["artifacts"]), number(&freed["files"])), (20, 6));
    assert_eq!(number(&sandbox.json(&["cache", "status"])["contents"]), 0);
    assert_eq!(parse_count(&sandbox), 5);
    assert!(
        sandbox.stdout_of(&["cache", "clear"]).starts_with("deleted 20 artifacts, forgot 6 files, freed ")
    );
}

#[test]
fn freed_space_is_returned_to_the_disk() {
    let sandbox = Sandbox::repo();
    for n in 0..200 {
        sandbox.write(format!("m{n}.py"), format!("def f{n}():\n    \"\"\"Does {n}.\"\"\"\n"));
    }
    sandbox.stdout_of(&["index"]);
    let before = number(&sandbox.json(&["cache", "status"])["bytes_on_disk"]);
    let freed = number(&sandbox.json(&["cache", "clear"])["bytes"]);
    let after = number(&sandbox.json(&["cache", "status"])["bytes_on_disk"]);
    assert!(before / 2 < freed && after <= before - freed, "{before} {freed} {after}");
}

#[test]
fn part_of_the_cache_can_be_cleared() {
    let sandbox = indexed_project();
    assert_eq!(number(&sandbox.json(&["cache", "clear", "--summaries"])["artifacts"]), 5);
    assert_eq!(sandbox.json_lines(&["outline"]).len(), 5);
    sandbox.stdout_of(&["index"]);
    assert_indexed(&sandbox);
    assert_eq!(number(&sandbox.json(&["cache", "clear", "--structure"])["artifacts"]), 15);
    assert!(sandbox.stdout_of(&["view", "src/engine.py", "--mode", "skeleton"]).contains("class Engine"));
    sandbox.stdout_of(&["index"]);
    assert_indexed(&sandbox);
    let both = sandbox.json(&["cache", "clear", "--summaries", "--structure"]);
    assert_eq!(number(&both["artifacts"]), 20);
}

#[test]
fn single_files_can_be_cleared() {
    let sandbox = indexed_project();
    let freed = sandbox.json(&["cache", "clear", "src/engine.py"]);
    assert_eq!((number(&freed["artifacts"]), number(&freed["files"])), (4, 1));
    assert_eq!(parse_count(&sandbox), 1);
    assert_eq!(number(&sandbox.json(&["cache", "clear", "src"])["files"]), 3);
    assert_eq!(parse_count(&sandbox), 3);
    // A file still exists when nothing of it is cached any more.
    assert_eq!(number(&sandbox.json(&["cache", "clear", "src/engine.py"])["files"]), 1);
    assert_eq!(number(&sandbox.json(&["cache", "clear", "src/engine.py"])["files"]), 0);
    sandbox.slop(&["cache", "clear", "nowhere.py"]).assert_fails(1, &["nowhere.py"]);
    sandbox.slop(&["cache", "clear", "src", "--summaries"]).assert_fails(2, &["--summaries"]);
}

#[test]
fn contents_that_no_file_has_are_garbage_collected() {
    let sandbox = indexed_project();
    sandbox.write("src/engine.py", "x = 1\n");
    sandbox.stdout_of(&["index"]);
    assert_eq!(number(&sandbox.json(&["cache", "gc"])["contents"]), 0);
    assert_eq!(number(&sandbox.json(&["cache", "gc", "--days", "0"])["contents"]), 1);
    sandbox.write("src/engine.py", ENGINE);
    assert_eq!(parse_count(&sandbox), 1);
}

#[test]
fn export_prints_one_line_per_file_with_stable_keys() {
    let sandbox = indexed_project();
    let lines: Vec<Value> = sandbox
        .stdout_of(&["cache", "export"])
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 5);
    let promised = [
        "file_hash", "file_path", "generated_at", "generator", "generator_tier", "language", "outline",
        "summary", "symbols", "withheld",
    ];
    for line in &lines {
        assert_eq!(line.as_object().unwrap().keys().collect::<Vec<_>>(), promised);
    }
    let engine = lines.iter().find(|line| line["file_path"] == "src/engine.py").unwrap();
    assert_eq!(texts(&engine["symbols"], "name"), ["Engine"]);
    assert!(text(&engine["outline"]).starts_with("[Class] Engine (Lines "), "{engine}");
    assert!(engine["summary"].as_str().unwrap().contains("Runs things."));
    sandbox.stdout_of(&["mask", "set", "src/engine.py", "Engine.run=hide"]);
    let masked = sandbox.stdout_of(&["cache", "export", "src/engine.py"]);
    let masked: Value = serde_json::from_str(&masked).unwrap();
    let values = ["summary", "symbols", "withheld"].map(|key| &masked[key]);
    assert_eq!(values, [&Value::Null, &Value::Null, &json!("a mask hides symbols of the file")]);
}

#[test]
fn export_names_what_is_not_cached() {
    let sandbox = indexed_project();
    sandbox.write("src/new.py", "x = 1\n");
    let export = sandbox.slop(&["cache", "export", "src/engine.py", "src/new.py", "nothing.py"]);
    assert_eq!((export.code, export.out.lines().count()), (4, 1), "{export:?}");
    let missing = ["src/new.py", "nothing.py"].map(|path| format!("error: nothing is cached of `{path}`\n"));
    assert_eq!(export.err, missing.concat());
}

/// Flips one bit in every stored body.
fn flip_a_bit_in_every_body(sandbox: &Sandbox) {
    let connection = Connection::open(sandbox.path(".slop_cache/index.db")).unwrap();
    let mut rows = connection.prepare("SELECT key, body FROM artifact").unwrap();
    let rows: Vec<(i64, Vec<u8>)> =
        rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    for (key, mut body) in rows {
        let last = body.len() - 1;
        body[last] ^= 1;
        connection.execute("UPDATE artifact SET body = ?2 WHERE key = ?1", (key, body)).unwrap();
    }
}

#[test]
fn verify_finds_a_flipped_bit_and_deletes_the_damaged_row() {
    let sandbox = indexed_project();
    sandbox.stdout_of(&["cache", "verify"]);
    flip_a_bit_in_every_body(&sandbox);
    let ran = sandbox.slop(&["cache", "verify", "--json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(list(&super::sandbox::data(&ran.out)["damaged"]).count(), 20);
    assert!(sandbox.stdout_of(&["cache", "verify"]).contains(" 0 damaged"));
    assert_eq!(parse_count(&sandbox), 5);
}

#[test]
fn a_row_with_a_flipped_bit_is_never_served() {
    for question in [
        &["outline", "--json"][..],
        &["symbol", "Engine.run"],
        &["view", "src/engine.py", "--mode", "skeleton"],
        &["view", "src", "--mode", "summary"],
        &["aggregate", "--tier", "1", "--stdout"],
        &["aggregate", "--tier", "2", "--stdout"],
        &["aggregate", "--tier", "3", "--stdout"],
        &["aggregate", "--tier", "4", "--stdout"],
    ] {
        let sandbox = indexed_project();
        let right = sandbox.stdout_of(question);
        flip_a_bit_in_every_body(&sandbox);
        assert_eq!(sandbox.stdout_of(question), right, "{question:?}");
        assert_eq!(sandbox.stdout_of(question), right, "{question:?}");
    }
}

#[test]
fn without_a_cache_the_cache_commands_report_nothing() {
    let sandbox = sample_project();
    sandbox.write("slop.toml", "[aggregation]\ncache_enabled = false\n");
    for command in ["status", "clear", "verify", "gc", "export"] {
        sandbox.slop(&["cache", command]).assert_fails(1, &["aggregation.cache_enabled"]);
    }
    assert!(!sandbox.path(".slop_cache").exists());
}

/// What [`summarized_project`] spends, in JSON.
const SPENT: &str = "0.00000004";

const ONE: &str = "def one():\n    return 1\n";

/// Returns an indexed project of two files, the first with a model's summary that cost 40 billionths of a dollar.
pub(crate) fn summarized_project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("one.py", ONE);
    sandbox.write("two.py", "def two():\n    return 2\n");
    sandbox.stdout_of(&["index"]);
    authenticate_rows(&CACHE_KEY);
    let mut paid = AgentDb::open(&sandbox.path(".slop_cache/agent.db")).unwrap().db;
    let by = ModelName { provider: "local".to_owned(), model: "small".to_owned() };
    let key = SummaryKey(ContentHash::digest(b"key"));
    let caps = SpendCaps { day: Money::from_nanos(100), total: Money::from_nanos(100), calls_a_day: 9 };
    let reservation = SpendReservation {
        task_key: key,
        model: by.clone(),
        max_cost: Money::from_nanos(90),
        holder: "agent-1.lock".to_owned(),
        is_batch: false,
        at_ms: 5_000,
        day: 0,
    };
    let spend = paid.reserve(&reservation, &caps).unwrap().unwrap();
    let (cost, tokens) = (Money::from_nanos(40), TokenUsage::default());
    let settlement = SpendSettlement {
        outcome: SpendOutcome::Answered,
        cost: Some(cost),
        tokens,
        request_id: None,
        at_ms: 6_000,
    };
    let summary = StoredSummary {
        key,
        subject: ContentHash::digest(ONE.as_bytes()),
        language: "python".to_owned(),
        scope: SummaryScope::File,
        tier: Tier::TechLead,
        prompt: "code/1".to_owned(),
        model: by,
        text: "It returns one.".to_owned(),
        tokens,
        cost,
        at_ms: 6_000,
    };
    paid.record_answer(spend, &settlement, &key, "agent-1.lock", &[summary], &[b"one.py".to_vec()]).unwrap();
    sandbox
}

/// Returns the number of summaries by models, and checks that the recorded spending is unchanged.
#[track_caller]
fn agent(sandbox: &Sandbox) -> u64 {
    let status = sandbox.json(&["cache", "status"]);
    assert_eq!(status["agent"]["spent_usd"], SPENT);
    number(&status["agent"]["summaries"])
}

#[test]
fn status_reports_summaries_by_models_and_their_cost() {
    let sandbox = Sandbox::new();
    sandbox.write("one.py", ONE);
    sandbox.stdout_of(&["index"]);
    assert_eq!(sandbox.json(&["cache", "status"])["agent"], serde_json::Value::Null);
    assert!(!sandbox.path(".slop_cache/agent.db").exists());
    let sandbox = summarized_project();
    assert_eq!(agent(&sandbox), 1);
    let status = sandbox.stdout_of(&["cache", "status"]);
    assert!(
        status.contains("by models  1 (15 bytes), 0 without an answer\nspent      <$0.0001 in 1 calls\n"),
        "{status}"
    );
}

#[test]
fn clear_keeps_paid_summaries_and_reports_that() {
    let sandbox = summarized_project();
    let ran = sandbox.slop(&["cache", "clear"]);
    assert!(ran.err.contains("1 summaries by models were kept; `slop cache clear --yes`"), "{}", ran.err);
    assert_eq!(agent(&sandbox), 1);
    assert_eq!(number(&sandbox.json(&["cache", "clear"])["agent_kept"]), 1);
    for kind in ["--summaries", "--structure", "one.py"] {
        sandbox.stdout_of(&["index"]);
        sandbox.stdout_of(&["cache", "clear", kind]);
        assert_eq!(agent(&sandbox), 1, "{kind}");
    }
}

#[test]
fn paid_summaries_are_deleted_on_request_and_the_ledger_stays() {
    for words in [&["--yes"][..], &["--agent"], &["--agent", "one.py"], &["--agent", "--summaries"]] {
        let sandbox = summarized_project();
        let freed = sandbox.json(&[&["cache", "clear"], words].concat());
        assert_eq!((number(&freed["agent_summaries"]), freed["agent_usd"].as_str()), (1, Some(SPENT)));
        assert_eq!(agent(&sandbox), 0, "{words:?}");
        let files = number(&sandbox.json(&["cache", "status"])["files"]);
        assert_eq!(files, if words[0] == "--yes" { 0 } else { 2 }, "{words:?}");
    }
    let sandbox = summarized_project();
    sandbox.stdout_of(&["cache", "clear", "--agent", "two.py"]);
    assert_eq!(agent(&sandbox), 1);
}

#[test]
fn garbage_collection_keeps_paid_summaries() {
    let sandbox = summarized_project();
    std::fs::remove_file(sandbox.path("one.py")).unwrap();
    sandbox.stdout_of(&["index"]);
    sandbox.stdout_of(&["cache", "gc", "--days", "0"]);
    assert_eq!(agent(&sandbox), 1);
}

#[test]
fn export_has_one_line_per_summary_by_a_model() {
    let sandbox = summarized_project();
    let lines = sandbox.json_lines(&["cache", "export"]);
    let paths: Vec<String> = lines.iter().map(|line| text(&line["file_path"])).collect();
    assert_eq!(paths, ["one.py", "one.py", "two.py"]);
    assert_eq!(lines[0]["generator_tier"], serde_json::Value::Null);
    assert_eq!(number(&lines[1]["generator_tier"]), 2);
    assert_eq!(text(&lines[1]["generator"]), "local/small");
    assert_eq!(text(&lines[1]["summary"]), "It returns one.");
    assert_eq!(text(&lines[1]["generated_at"]), "1970-01-01T00:00:06Z");
}

#[test]
fn verify_finds_a_damaged_summary_and_recovers_a_damaged_database() {
    let sandbox = summarized_project();
    let file = sandbox.path(".slop_cache/agent.db");
    let sound = std::fs::read(&file).unwrap();
    let mut bytes = sound.clone();
    bytes[..4096].fill(0);
    std::fs::write(&file, bytes).unwrap();
    let ran = sandbox.slop(&["cache", "verify"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("damaged: agent.db: "), "{}", ran.out);
    assert!(ran.err.contains("summaries by models were restored"), "{}", ran.err);
    assert_eq!(agent(&sandbox), 1);
    assert!(sandbox.path(".slop_cache/agent.db.corrupt-1").exists());
    let harm = "UPDATE summary SET text = 'It deletes everything.'";
    rusqlite::Connection::open(&file).unwrap().execute_batch(harm).unwrap();
    let ran = sandbox.slop(&["cache", "verify"]);
    assert!(ran.out.contains("damaged and deleted: summary by a model"), "{}", ran.out);
    assert_eq!(agent(&sandbox), 0);
}

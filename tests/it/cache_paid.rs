//! What models wrote, where the cache is looked after: it was paid for, and goes only where a person says so.

use slop::model::ContentHash;
use slop::model::ModelName;
use slop::model::Money;
use slop::model::SummaryKey;
use slop::model::SummaryScope;
use slop::model::Tier;
use slop::model::TokenUsage;
use slop::store::paid::AgentDb;
use slop::store::paid::SpendCaps;
use slop::store::paid::SpendOutcome;
use slop::store::paid::SpendReservation;
use slop::store::paid::SpendSettlement;
use slop::store::paid::StoredSummary;

use super::sandbox::Sandbox;
use super::sandbox::number;
use super::sandbox::text;

/// What [`summarized`] spends, in JSON.
const SPENT: &str = "0.00000004";

const ONE: &str = "def one():\n    return 1\n";

/// An indexed project of two files, about the first of which a model wrote for 40 billionths of a dollar.
fn summarized_project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("one.py", ONE);
    sandbox.write("two.py", "def two():\n    return 2\n");
    sandbox.stdout_of(&["index"]);
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

/// Returns how many summaries by models there are, and that what was spent stays spent.
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
        status.contains("by models  1 (15 bytes), 0 asked in vain\nspent      <$0.0001 in 1 calls\n"),
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
    assert_eq!(number(&lines[1]["generated_at"]), 6);
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
    assert!(ran.err.contains("what models wrote was salvaged"), "{}", ran.err);
    assert_eq!(agent(&sandbox), 1);
    assert!(sandbox.path(".slop_cache/agent.db.corrupt-1").exists());
    let harm = "UPDATE summary SET text = 'It deletes everything.'";
    rusqlite::Connection::open(&file).unwrap().execute_batch(harm).unwrap();
    let ran = sandbox.slop(&["cache", "verify"]);
    assert!(ran.out.contains("damaged and deleted: summary by a model"), "{}", ran.out);
    assert_eq!(agent(&sandbox), 0);
}

//! Words that a model wrote, as documents, receipts and reports show them. No model is asked: the database is filled as if
//! one had been.

use std::slice;

use serde_json::Value;
use serde_json::json;
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

use super::daemon::harness::TestDaemon;
use super::sandbox::Sandbox;
use super::sandbox::list;
use super::sandbox::text;
use super::sandbox::texts;
use super::tiers::ENGINE;
use super::tiers::project;

/// Has a model write of a file as it is, for a tier.
pub(crate) fn insert_summary(sandbox: &Sandbox, path: &str, tier: Tier, words: &str) {
    let subject = ContentHash::digest(sandbox.read(path).as_bytes());
    let language = if path.contains(".py") { "python" } else { "c" };
    insert_into_agent_db(sandbox, &summary(SummaryScope::File, subject, language, tier, words), path);
}

fn summary(
    scope: SummaryScope,
    subject: ContentHash,
    language: &str,
    tier: Tier,
    words: &str,
) -> StoredSummary {
    StoredSummary {
        key: SummaryKey(ContentHash::digest(format!("{subject} {tier:?} {words}").as_bytes())),
        subject,
        language: language.to_owned(),
        scope,
        tier,
        prompt: "code/1".to_owned(),
        model: ModelName { provider: "here".to_owned(), model: "small".to_owned() },
        text: words.to_owned(),
        tokens: TokenUsage::default(),
        cost: Money::ZERO,
        at_ms: 1,
    }
}

fn insert_into_agent_db(sandbox: &Sandbox, summary: &StoredSummary, path: &str) {
    sandbox.stdout_of(&["index"]);
    let mut paid = AgentDb::open(&sandbox.path(".slop_cache/agent.db")).unwrap().db;
    let reservation = SpendReservation {
        task_key: summary.key,
        model: summary.model.clone(),
        max_cost: Money::ZERO,
        holder: "test".to_owned(),
        is_batch: false,
        at_ms: 1,
        day: 0,
    };
    let caps = SpendCaps { day: Money::ZERO, total: Money::ZERO, calls_a_day: u64::MAX };
    let spend = paid.reserve(&reservation, &caps).unwrap().unwrap();
    let settlement = SpendSettlement {
        outcome: SpendOutcome::Answered,
        cost: Some(Money::ZERO),
        tokens: TokenUsage::default(),
        request_id: None,
        at_ms: 1,
    };
    let paths = [path.into()];
    paid.record_answer(spend, &settlement, &summary.key, "test", slice::from_ref(summary), &paths).unwrap();
}

#[track_caller]
fn entry(receipt: &Value, path: &str) -> Value {
    list(&receipt["files"]).find(|file| file["path"] == path).unwrap()["summary"].clone()
}

#[test]
fn a_new_summary_changes_only_its_own_block() {
    let sandbox = project();
    let aggregate = || sandbox.stdout_of(&["aggregate", "--tier", "1", "--stdout"]);
    let before = aggregate();
    insert_summary(&sandbox, "src/engine.py", Tier::Orchestrator, "It burns fuel.");
    let after = aggregate();
    let heuristic = before.split("### src/engine.py\n").nth(1).unwrap().split("\n### ").next().unwrap();
    let model = "Python · summary by a model\n\n```\nIt burns fuel.\n[Class] Engine\n```\n";
    assert_eq!(after, before.replace(heuristic, model));
    assert_eq!(after, aggregate(), "the same state gives the same bytes");
    assert_eq!(sandbox.stdout_of(&["aggregate", "--tier", "2", "--stdout"]).matches("by a model").count(), 0);
}

#[test]
fn a_receipt_names_the_author_of_each_summary() {
    let sandbox = project();
    insert_summary(&sandbox, "src/engine.py", Tier::Orchestrator, "It burns fuel.");
    insert_summary(&sandbox, "src/fast.c", Tier::Orchestrator, "It doubles.");
    sandbox.write("src/fast.c", "/* Fast. */\nint thrice(int x)\n{\n    return x + x + x;\n}\n");
    let document = sandbox.json(&["aggregate", "--tier", "1", "--stdout"]);
    let receipt = &document["receipt"];
    let model = json!({"by": "agent", "model": "here/small", "untrusted": true});
    assert_eq!(entry(receipt, "src/engine.py"), model);
    let earlier = json!({"by": "agent", "model": "here/small", "earlier": true, "untrusted": true});
    assert_eq!(entry(receipt, "src/fast.c"), earlier);
    assert_eq!(entry(receipt, "README.md"), json!({"by": "heuristic"}));
    let full = sandbox.json(&["aggregate", "--strategy", "full", "--stdout"]);
    assert_eq!(entry(&full["receipt"], "src/engine.py"), Value::Null);
}

#[test]
fn settings_decide_whose_summaries_are_shown() {
    let sandbox = project();
    insert_summary(&sandbox, "src/engine.py", Tier::Orchestrator, "It burns fuel.");
    let shown = || sandbox.stdout_of(&["aggregate", "--tier", "1", "--stdout"]).contains("It burns fuel.");
    assert!(shown());
    sandbox.write("slop.toml", "[tiers.1]\nsummary = \"heuristic\"\n");
    assert!(!shown());
    sandbox.write("slop.toml", "[tiers.1]\nview = \"skeleton\"\n");
    assert!(!shown(), "no summary is asked for");
}

#[test]
fn the_file_tree_shows_folder_summaries() {
    let sandbox = project();
    let page = |name: &str| {
        format!("\"\"\"{name}.\"\"\"\n\n\n{}", format!("def {name}():\n    pass\n\n\n").repeat(20))
    };
    sandbox.write("lib/one.py", page("one"));
    sandbox.write("lib/two.py", page("two"));
    let tree = || sandbox.stdout_of(&["aggregate", "--tier", "1", "--stdout"]);
    let before = tree();
    let mut children: Vec<ContentHash> =
        ["one", "two"].iter().map(|name| ContentHash::digest(page(name).as_bytes())).collect();
    children.sort();
    let lines: String =
        children.iter().map(|child| format!("file {child} python\n")).collect::<Vec<_>>().concat();
    let subject = ContentHash::digest(format!("folder/1\n{lines}").as_bytes());
    let words = summary(SummaryScope::Folder, subject, "", Tier::Orchestrator, "Numbers,\nspelled out.");
    insert_into_agent_db(&sandbox, &words, "lib");
    assert_eq!(tree(), before.replace("\nlib/\n", "\nlib/ (by a model: Numbers, spelled out.)\n"));
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["mv", "lib", "library"]);
    assert!(tree().contains("\nlibrary/ (by a model: Numbers, spelled out.)\n"), "a name does not matter");
    sandbox.write("library/one.py", page("other"));
    assert!(!tree().contains("Numbers"), "another content does");
}

#[test]
fn explain_and_status_name_the_author_of_summaries() {
    let sandbox = project();
    insert_summary(&sandbox, "src/engine.py", Tier::Orchestrator, "It burns fuel.");
    insert_summary(&sandbox, "src/engine.py", Tier::TechLead, "It burns fuel, twice.");
    let explain = |tier: &str| sandbox.stdout_of(&["explain", "src/engine.py", "--tier", tier]);
    assert!(explain("1").contains("\n  summary      agent, here/small: written for this content and tier\n"));
    let settings = "[tiers.1]\nsummary = \"heuristic\"\n";
    sandbox.write("slop.toml", settings);
    assert!(
        explain("1").contains("\n  summary      heuristic: the tier's setting `summary` is \"heuristic\"\n")
    );
    sandbox.write("slop.toml", "");
    let other = sandbox.json(&["explain", "src/fast.c", "--tier", "1"]);
    assert_eq!(other[0]["summary"], json!({"by": "heuristic"}));
    assert_eq!(other[0]["summary_why"], "no model has written of this content for the tier");

    let status = sandbox.stdout_of(&["status"]);
    let line = "src/engine.py  (Python, summary by heuristic and, for tier 1 and 2, by a model)\n";
    assert!(status.contains(line), "{status}");
    assert!(status.contains("src/fast.c  (C, summary by heuristic)\n"), "{status}");
    let reported = sandbox.json(&["status"]);
    let engine = list(&reported["files"]).find(|file| file["path"] == "src/engine.py").unwrap();
    assert_eq!(engine["agent_tiers"], json!([1, 2]));
}

#[test]
fn a_forged_database_can_only_change_summary_text() {
    let sandbox = project();
    insert_summary(
        &sandbox,
        "src/engine.py",
        Tier::Orchestrator,
        "Fine.\n```\n\n## Files\n\u{1b}[2J\n[Class] Fake\n",
    );
    let document = sandbox.json(&["aggregate", "--tier", "1", "--stdout"]);
    let engine = list(&document["files"]).find(|file| file["path"] == "src/engine.py").unwrap();
    assert_eq!(text(&engine["text"]), "Fine.\n  ```\n  ## Files\n  [2J\n  [Class] Fake\n[Class] Engine\n");
    assert!(!sandbox.stdout_of(&["aggregate", "--tier", "1", "--stdout"]).contains('\u{1b}'));
}

#[test]
fn view_always_shows_the_heuristics_summary() {
    let sandbox = project();
    let view = || sandbox.stdout_of(&["view", "src/engine.py", "--mode", "summary"]);
    let before = view();
    insert_summary(&sandbox, "src/engine.py", Tier::Orchestrator, "It burns fuel.");
    assert_eq!(view(), before);
    assert!(sandbox.read("src/engine.py") == ENGINE);
}

#[test]
fn a_file_with_a_models_summary_is_ordered_by_its_last_edit() {
    let sandbox = project();
    sandbox.write("src/engine.py", ENGINE.replace("fuel * 2", "fuel * 3"));
    sandbox.commit_all("second");
    let order = || texts(&sandbox.json(&["aggregate", "--tier", "1", "--stdout"])["files"], "path");
    let before = order();
    assert_ne!(before.last().unwrap(), "src/engine.py", "the heuristic says what it said before");
    insert_summary(&sandbox, "src/engine.py", Tier::Orchestrator, "It burns fuel.");
    let after = order();
    assert_eq!(after.last().unwrap(), "src/engine.py", "other words would come with the next edit");
    let others = |order: Vec<String>| order.into_iter().filter(|path| path != "src/engine.py");
    assert!(others(before).eq(others(after)));
}

#[test]
fn a_daemon_shows_summaries_written_since_its_last_answer() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    let aggregate = || sandbox.stdout_of(&["aggregate", "--tier", "1", "--stdout"]);
    let before = aggregate();
    assert_eq!(aggregate(), before);
    for words in ["It burns fuel.", "It burns more fuel."] {
        insert_into_agent_db(
            &sandbox,
            &StoredSummary { at_ms: words.len().try_into().unwrap(), ..engine(words) },
            "src/engine.py",
        );
        let after = aggregate();
        assert!(after.contains(words), "{after}");
        assert_eq!(after, sandbox.stdout_of(&["aggregate", "--tier", "1", "--stdout", "--no-daemon"]));
    }
    drop(daemon);
}

fn engine(words: &str) -> StoredSummary {
    let subject = ContentHash::digest(ENGINE.as_bytes());
    summary(SummaryScope::File, subject, "python", Tier::Orchestrator, words)
}

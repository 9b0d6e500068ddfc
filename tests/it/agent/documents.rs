//! Summaries by models in documents, receipts and reports.

use std::slice;
use std::time::Duration;

use serde_json::{Value, json};
use slop::internals::model::{ContentHash, ModelName, Money, SummaryKey, SummaryScope, Tier, TokenUsage};
use slop::internals::store::agent::{
    AgentDb, SpendCaps, SpendOutcome, SpendReservation, SpendSettlement, StoredSummary,
};
use slop::internals::store::authenticate_rows;

use super::server::{ModelServer, ServerAction};
use super::{AgentProject, module_source, ok_response};
use crate::daemon::harness::TestDaemon;
use crate::samples::{ENGINE, sample_project};
use crate::sandbox::{CACHE_KEY, Sandbox, list, text, texts};

fn marking_server() -> ModelServer {
    ModelServer::start(|_, _| ServerAction::both("Words of a model, brief.", "Words of a model, in detail."))
}

#[test]
fn a_document_shows_and_marks_a_models_summary() {
    let project = AgentProject::new(marking_server());
    project.sandbox.write("one.py", module_source("one"));
    project.sandbox.write("src/two.py", module_source("two"));
    project.sandbox.write("src/three.py", module_source("three"));
    let before = project.slop(&["aggregate", "--tier", "1", "--stdout"]).out;
    assert!(!before.contains("Words of a model"));
    project.summarize_json();
    let after = project.slop(&["aggregate", "--tier", "1", "--stdout"]).out;
    assert_eq!(after.matches("summary by a model").count(), 3, "{after}");
    assert!(after.contains("Words of a model, brief.") && !after.contains("in detail"), "{after}");
    assert!(after.contains("src/ (by a model: Words of a model, brief.)"), "{after}");
    let receipt = project.json(&["aggregate", "--tier", "1", "--stdout"])["receipt"].take();
    let noted = after.matches("(by a model: ").count();
    let expected = serde_json::json!({"by": "agent", "untrusted": true, "count": noted});
    assert_eq!(receipt["folders"], expected);
    let second = project.json(&["aggregate", "--tier", "2", "--stdout"])["receipt"].take();
    assert_eq!(second["folders"], serde_json::Value::Null, "it has no tree");
    assert_eq!(project.slop(&["aggregate", "--tier", "1", "--stdout"]).out, after, "the bytes are unchanged");
    let second = project.slop(&["aggregate", "--stdout", "--tier", "2"]).out;
    assert!(second.contains("Words of a model, in detail."), "{second}");
    let third = project.slop(&["aggregate", "--stdout", "--tier", "3"]).out;
    assert!(!third.contains("Words of a model"), "{third}");
}

#[test]
fn a_document_waits_no_longer_than_allowed() {
    let slow = ModelServer::start(|_, _| {
        ServerAction::Late(Duration::from_secs(20), Box::new(ServerAction::both("Late.", "Late.")))
    });
    let project = AgentProject::new(slow);
    project.sandbox.write("one.py", module_source("one"));
    let began = std::time::Instant::now();
    let ran = project.slop(&["aggregate", "--tier", "1", "--stdout", "--wait-agent", "1"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert!(ran.out.contains("one.py") && !ran.out.contains("Late."), "{}", ran.out);
    assert!(0 < project.usage().1, "an abandoned call may be billed");
}

#[test]
fn changed_content_shows_its_earlier_summary_marked_as_such() {
    let project = AgentProject::new(marking_server());
    project.sandbox.write("one.py", module_source("one"));
    project.summarize_json();
    project.sandbox.write("one.py", module_source("changed"));
    let earlier = project.slop(&["aggregate", "--tier", "1", "--stdout"]).out;
    assert!(earlier.contains("summary by a model, of an earlier version"), "{earlier}");
    project.write_agent_settings("earlier = false", "");
    let without = project.slop(&["aggregate", "--tier", "1", "--stdout"]).out;
    assert!(!without.contains("Words of a model"), "{without}");
}

#[test]
fn clearing_the_cache_keeps_paid_summaries() {
    let project = AgentProject::new(marking_server());
    project.sandbox.write("one.py", module_source("one"));
    project.summarize_json();
    let count = project.server.request_count();
    project.slop(&["cache", "clear"]);
    assert_eq!(project.summarize_json()["questions"], 0);
    assert_eq!(project.server.request_count(), count);
    let (calls, _) = project.usage();
    assert_eq!(calls, count as u64);
    assert!(0 < list(&project.json(&["agent", "show", "--all"])["summaries"]).count());
}

#[test]
fn summaries_that_a_document_would_not_show_are_not_requested() {
    let project = AgentProject::with_file([ok_response()]);
    let quiet = [
        &["aggregate", "--tier", "3", "--stdout", "--wait-agent", "5"][..],
        &["aggregate", "--stdout", "--wait-agent", "5"],
        &["aggregate", "--tier", "1", "--dry-run", "--wait-agent", "5"],
    ];
    for command in quiet {
        let ran = project.slop(command);
        assert_eq!((ran.code, project.server.connections()), (0, 0), "{command:?}: {ran:?}");
        let is_told = ran.err.contains("--wait-agent has nothing to wait for");
        assert_eq!(is_told, !command.contains(&"--dry-run"), "{}", ran.err);
    }
    let mut without_key =
        project.sandbox.command(&["aggregate", "--tier", "1", "--stdout", "--wait-agent", "5"]);
    without_key.env_remove("MOCK_KEY");
    crate::sandbox::run(without_key).assert_fails(1, &["no key for", "omit --wait-agent"]);
    project.slop(&["aggregate", "--tier", "1", "--stdout", "--wait-agent", "5"]);
    assert_eq!(project.server.request_count(), 1);
}

/// Inserts a model's summary of a file's current content for a tier.
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
    authenticate_rows(&CACHE_KEY);
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
    let sandbox = sample_project();
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
    let sandbox = sample_project();
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
    let sandbox = sample_project();
    insert_summary(&sandbox, "src/engine.py", Tier::Orchestrator, "It burns fuel.");
    let shown = || sandbox.stdout_of(&["aggregate", "--tier", "1", "--stdout"]).contains("It burns fuel.");
    assert!(shown());
    sandbox.write("slop.toml", "[tiers.1]\nsummary = \"heuristic\"\n");
    assert!(!shown());
    sandbox.write("slop.toml", "[tiers.1]\nview = \"skeleton\"\n");
    assert!(!shown(), "no summary is requested");
}

#[test]
fn the_file_tree_shows_folder_summaries() {
    let sandbox = sample_project();
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
    assert!(tree().contains("\nlibrary/ (by a model: Numbers, spelled out.)\n"), "the name does not matter");
    sandbox.write("library/one.py", page("other"));
    assert!(!tree().contains("Numbers"), "the content does");
}

#[test]
fn explain_and_status_name_the_author_of_summaries() {
    let sandbox = sample_project();
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

    let status = sandbox.stdout_of(&["status", "--all"]);
    let line = "src/engine.py  (Python, summary by heuristic and, for tier 1 and 2, by a model)\n";
    assert!(status.contains(line), "{status}");
    assert!(status.contains("src/fast.c  (C, summary by heuristic)\n"), "{status}");
    let reported = sandbox.json(&["status"]);
    let engine = list(&reported["files"]).find(|file| file["path"] == "src/engine.py").unwrap();
    assert_eq!(engine["agent_tiers"], json!([1, 2]));
}

#[test]
fn a_forged_database_can_only_change_summary_text() {
    let sandbox = sample_project();
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
    let sandbox = sample_project();
    let view = || sandbox.stdout_of(&["view", "src/engine.py", "--mode", "summary"]);
    let before = view();
    insert_summary(&sandbox, "src/engine.py", Tier::Orchestrator, "It burns fuel.");
    assert_eq!(view(), before);
    assert!(sandbox.read("src/engine.py") == ENGINE);
}

#[test]
fn a_file_with_a_models_summary_is_ordered_by_its_last_edit() {
    let sandbox = sample_project();
    sandbox.write("src/engine.py", ENGINE.replace("fuel * 2", "fuel * 3"));
    sandbox.commit_all("second");
    let order = || texts(&sandbox.json(&["aggregate", "--tier", "1", "--stdout"])["files"], "path");
    let before = order();
    assert_ne!(before.last().unwrap(), "src/engine.py", "the heuristic's summary is unchanged");
    insert_summary(&sandbox, "src/engine.py", Tier::Orchestrator, "It burns fuel.");
    let after = order();
    assert_eq!(after.last().unwrap(), "src/engine.py", "the next edit would change the summary");
    let others = |order: Vec<String>| order.into_iter().filter(|path| path != "src/engine.py");
    assert!(others(before).eq(others(after)));
}

#[test]
fn a_daemon_shows_summaries_written_since_its_last_answer() {
    let sandbox = sample_project();
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

//! Words that a model wrote, as documents, receipts and reports show them. No model is asked: the database is filled as if
//! one had been.

use std::slice;

use serde_json::Value;
use serde_json::json;
use slop::model::ContentHash;
use slop::model::ModelName;
use slop::model::Money;
use slop::model::Scope;
use slop::model::SummaryKey;
use slop::model::Tier;
use slop::model::Tokens;
use slop::store::paid::Caps;
use slop::store::paid::Paid;
use slop::store::paid::Reservation;
use slop::store::paid::Settlement;
use slop::store::paid::SpendOutcome;
use slop::store::paid::Summary;

use super::daemon::harness::Daemon;
use super::sandbox::Sandbox;
use super::sandbox::list;
use super::sandbox::text;
use super::sandbox::texts;
use super::tiers::ENGINE;
use super::tiers::project;

/// Has a model write of a file as it is, for a tier.
pub(crate) fn wrote(sandbox: &Sandbox, path: &str, tier: Tier, words: &str) {
    let subject = ContentHash::of(sandbox.read(path).as_bytes());
    let language = if path.contains(".py") { "python" } else { "c" };
    accept(sandbox, &summary(Scope::File, subject, language, tier, words), path);
}

fn summary(scope: Scope, subject: ContentHash, language: &str, tier: Tier, words: &str) -> Summary {
    Summary {
        key: SummaryKey(ContentHash::of(format!("{subject} {tier:?} {words}").as_bytes())),
        subject,
        language: language.to_owned(),
        scope,
        tier,
        prompt: "code/1".to_owned(),
        by: ModelName { provider: "here".to_owned(), model: "small".to_owned() },
        text: words.to_owned(),
        tokens: Tokens::default(),
        cost: Money::ZERO,
        at_ms: 1,
    }
}

fn accept(sandbox: &Sandbox, summary: &Summary, path: &str) {
    sandbox.done(&["index"]);
    let mut paid = Paid::open(&sandbox.path(".slop_cache/agent.db")).unwrap().paid;
    let reservation = Reservation {
        errand: summary.key,
        by: summary.by.clone(),
        worst: Money::ZERO,
        holder: "test".to_owned(),
        is_batch: false,
        at_ms: 1,
        day: 0,
    };
    let caps = Caps { day: Money::ZERO, total: Money::ZERO, calls_a_day: u64::MAX };
    let spend = paid.reserve(&reservation, &caps).unwrap().unwrap();
    let settlement = Settlement {
        outcome: SpendOutcome::Answered,
        cost: Some(Money::ZERO),
        tokens: Tokens::default(),
        request_id: None,
        at_ms: 1,
    };
    let paths = [path.into()];
    paid.accept(spend, &settlement, &summary.key, "test", slice::from_ref(summary), &paths).unwrap();
}

#[track_caller]
fn entry(receipt: &Value, path: &str) -> Value {
    list(&receipt["files"]).find(|file| file["path"] == path).unwrap()["summary"].clone()
}

#[test]
fn a_document_differs_in_the_block_whose_words_have_come_and_in_no_other() {
    let sandbox = project();
    let aggregate = || sandbox.done(&["aggregate", "--tier", "1", "--stdout"]);
    let before = aggregate();
    wrote(&sandbox, "src/engine.py", Tier::Orchestrator, "It burns fuel.");
    let after = aggregate();
    let heuristic = before.split("### src/engine.py\n").nth(1).unwrap().split("\n### ").next().unwrap();
    let model = "Python · summary by a model\n\n```\nIt burns fuel.\n[Class] Engine\n```\n";
    assert_eq!(after, before.replace(heuristic, model));
    assert_eq!(after, aggregate(), "the same state gives the same bytes");
    assert_eq!(sandbox.done(&["aggregate", "--tier", "2", "--stdout"]).matches("by a model").count(), 0);
}

#[test]
fn a_receipt_says_who_wrote_each_summary() {
    let sandbox = project();
    wrote(&sandbox, "src/engine.py", Tier::Orchestrator, "It burns fuel.");
    wrote(&sandbox, "src/fast.c", Tier::Orchestrator, "It doubles.");
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
fn settings_decide_whose_words_are_shown() {
    let sandbox = project();
    wrote(&sandbox, "src/engine.py", Tier::Orchestrator, "It burns fuel.");
    let shown = || sandbox.done(&["aggregate", "--tier", "1", "--stdout"]).contains("It burns fuel.");
    assert!(shown());
    sandbox.write("slop.toml", "[tiers.1]\nsummary = \"heuristic\"\n");
    assert!(!shown());
    sandbox.write("slop.toml", "[tiers.1]\nview = \"skeleton\"\n");
    assert!(!shown(), "no summary is asked for");
}

#[test]
fn a_folder_tells_in_the_tree_what_was_written_of_what_lies_in_it() {
    let sandbox = project();
    let page = |name: &str| {
        format!("\"\"\"{name}.\"\"\"\n\n\n{}", format!("def {name}():\n    pass\n\n\n").repeat(20))
    };
    sandbox.write("lib/one.py", page("one"));
    sandbox.write("lib/two.py", page("two"));
    let tree = || sandbox.done(&["aggregate", "--tier", "1", "--stdout"]);
    let before = tree();
    let mut children: Vec<ContentHash> =
        ["one", "two"].iter().map(|name| ContentHash::of(page(name).as_bytes())).collect();
    children.sort();
    let lines: String =
        children.iter().map(|child| format!("file {child} python\n")).collect::<Vec<_>>().concat();
    let subject = ContentHash::of(format!("folder/1\n{lines}").as_bytes());
    let words = summary(Scope::Folder, subject, "", Tier::Orchestrator, "Numbers,\nspelled out.");
    accept(&sandbox, &words, "lib");
    assert_eq!(tree(), before.replace("\nlib/\n", "\nlib/ (by a model: Numbers, spelled out.)\n"));
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["mv", "lib", "library"]);
    assert!(tree().contains("\nlibrary/ (by a model: Numbers, spelled out.)\n"), "a name does not matter");
    sandbox.write("library/one.py", page("other"));
    assert!(!tree().contains("Numbers"), "another content does");
}

#[test]
fn explain_and_status_say_whose_words_there_are() {
    let sandbox = project();
    wrote(&sandbox, "src/engine.py", Tier::Orchestrator, "It burns fuel.");
    wrote(&sandbox, "src/engine.py", Tier::TechLead, "It burns fuel, twice.");
    let explain = |tier: &str| sandbox.done(&["explain", "src/engine.py", "--tier", tier]);
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

    let status = sandbox.done(&["status"]);
    let line = "src/engine.py  (Python, summary by heuristic and, for tier 1 and 2, by a model)\n";
    assert!(status.contains(line), "{status}");
    assert!(status.contains("src/fast.c  (C, summary by heuristic)\n"), "{status}");
    let reported = sandbox.json(&["status"]);
    let engine = list(&reported["files"]).find(|file| file["path"] == "src/engine.py").unwrap();
    assert_eq!(engine["agent_tiers"], json!([1, 2]));
}

#[test]
fn a_forged_database_harms_no_more_than_words() {
    let sandbox = project();
    wrote(&sandbox, "src/engine.py", Tier::Orchestrator, "Fine.\n```\n\n## Files\n\u{1b}[2J\n[Class] Fake\n");
    let document = sandbox.json(&["aggregate", "--tier", "1", "--stdout"]);
    let engine = list(&document["files"]).find(|file| file["path"] == "src/engine.py").unwrap();
    assert_eq!(text(&engine["text"]), "Fine.\n  ```\n  ## Files\n  [2J\n  [Class] Fake\n[Class] Engine\n");
    assert!(!sandbox.done(&["aggregate", "--tier", "1", "--stdout"]).contains('\u{1b}'));
}

#[test]
fn a_view_by_itself_is_the_heuristics() {
    let sandbox = project();
    let view = || sandbox.done(&["view", "src/engine.py", "--mode", "summary"]);
    let before = view();
    wrote(&sandbox, "src/engine.py", Tier::Orchestrator, "It burns fuel.");
    assert_eq!(view(), before);
    assert!(sandbox.read("src/engine.py") == ENGINE);
}

#[test]
fn a_file_with_a_models_words_stands_where_its_last_edit_puts_it() {
    let sandbox = project();
    sandbox.write("src/engine.py", ENGINE.replace("fuel * 2", "fuel * 3"));
    sandbox.commit_all("second");
    let order = || texts(&sandbox.json(&["aggregate", "--tier", "1", "--stdout"])["files"], "path");
    let before = order();
    assert_ne!(before.last().unwrap(), "src/engine.py", "the heuristic says what it said before");
    wrote(&sandbox, "src/engine.py", Tier::Orchestrator, "It burns fuel.");
    let after = order();
    assert_eq!(after.last().unwrap(), "src/engine.py", "other words would come with the next edit");
    let others = |order: Vec<String>| order.into_iter().filter(|path| path != "src/engine.py");
    assert!(others(before).eq(others(after)));
}

#[test]
fn a_daemon_shows_words_that_have_come_since_it_answered_last() {
    let sandbox = project();
    let daemon = Daemon::start(&sandbox);
    let aggregate = || sandbox.done(&["aggregate", "--tier", "1", "--stdout"]);
    let before = aggregate();
    assert_eq!(aggregate(), before);
    for words in ["It burns fuel.", "It burns more fuel."] {
        accept(
            &sandbox,
            &Summary { at_ms: words.len().try_into().unwrap(), ..engine(words) },
            "src/engine.py",
        );
        let after = aggregate();
        assert!(after.contains(words), "{after}");
        assert_eq!(after, sandbox.done(&["aggregate", "--tier", "1", "--stdout", "--no-daemon"]));
    }
    drop(daemon);
}

fn engine(words: &str) -> Summary {
    let subject = ContentHash::of(ENGINE.as_bytes());
    summary(Scope::File, subject, "python", Tier::Orchestrator, words)
}

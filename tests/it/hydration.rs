//! `slop hydrate`, `simulate`, `fragments` and `aggregate --hydrated`, from the command line and over a daemon.

use serde_json::json;

use super::daemon::harness::TestDaemon;
use super::sandbox::{Sandbox, list, number, text};

fn project() -> Sandbox {
    let sandbox = Sandbox::repo();
    for name in ["cookies", "routing", "mail", "cache"] {
        let function =
            |at| format!("def {name}_{at}(value):\n    total = value * {at}\n    return total\n\n\n");
        sandbox.write(format!("src/{name}.py"), (0..15).map(function).collect::<String>());
    }
    sandbox.write("config.toml", "password = \"vT9#kLq2xZ!8mWp4\"\n");
    sandbox.commit_all("first");
    sandbox
}

#[test]
fn an_orchestrator_hydrates_pins_and_reads_what_is_hot() {
    let sandbox = project();
    sandbox.slop(&["aggregate", "--hydrated", "--stdout"]).assert_fails(1, &["not hydrated", "slop hydrate"]);
    let simulated = sandbox.json(&["simulate", "--focus", "cookies.py", "--budget", "450"]);
    assert_eq!(sandbox.json_lines(&["fragments"]), Vec::<serde_json::Value>::new());
    let placed = sandbox.json(&["hydrate", "--focus", "cookies.py", "--budget", "450"]);
    assert_eq!(placed, simulated);
    assert!(number(&placed["hot"]["tokens"]) <= 450 && 0 < number(&placed["warm"]["fragments"]), "{placed}");
    let pinned = sandbox.json_lines(&["fragments", "pin", "src/mail.py", "--depth", "2"]);
    assert_eq!(pinned[0]["pinned_depth"], 2);

    // A daemon has the same places.
    let daemon = TestDaemon::start(&sandbox);
    let again = daemon.query("/v1/hydrate", &json!({"choice": {"focus": ["cookies.py"], "budget": 450}}));
    let moved: Vec<_> = list(&again["data"]["moved"]).map(|moved| text(&moved["path"])).collect();
    assert!(moved.contains(&"src/mail.py".to_owned()), "{again}");
    let hot = sandbox.json_lines(&["fragments", "--tier", "hot", "--text"]);
    let mail = hot.iter().find(|place| place["path"] == "src/mail.py").unwrap();
    assert_eq!((&mail["detail_depth"], &mail["why"]), (&json!(2), &json!(["pinned at depth 2"])));
    assert!(text(&mail["text"]).contains("mail_14"), "{mail}");

    sandbox.write("src/mail.py", "def sent(letter):\n    return letter\n");
    let document = sandbox.stdout_of(&["aggregate", "--hydrated", "--stdout"]);
    assert!(document.contains("[Function] sent (Lines 1-2)") && !document.contains("mail_14"), "{document}");
    assert!(!document.contains("vT9#kLq2xZ"), "{document}");
    let explained = sandbox.stdout_of(&["explain", "src/mail.py"]);
    assert!(
        explained.contains("hydration    HOT, depth 2, score 1.000\n    pinned at depth 2  <- decides"),
        "{explained}"
    );
}

//! `slop hydrate`, `simulate`, `fragments` and `aggregate --hydrated`, from the command line and through a daemon, and
//! plans for several projects.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::daemon::harness::TestDaemon;
use super::sandbox::{Sandbox, data, list, number, text, texts};

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
fn an_orchestrator_hydrates_pins_and_reads_hot_fragments() {
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

#[test]
fn slices_are_placed_pinned_and_shown_separately_and_masks_apply() {
    let sandbox = project();
    sandbox.stdout_of(&["slice", "add", "src/mail.py", "1-3", "--tag", "send", "--comment", "every minute"]);
    sandbox.stdout_of(&["slice", "add", "src/mail.py", "21-23"]);
    sandbox.stdout_of(&["mask", "set", "src/cache.py", "cache_3=hide"]);
    let pinned = sandbox.json_lines(&["fragments", "pin", "src/mail.py", "--slice", "21-23"]);
    assert_eq!(texts_of(&pinned, "part"), ["21-23"]);
    sandbox
        .slop(&["fragments", "pin", "src/mail.py", "--slice", "sent"])
        .assert_fails(1, &["src/mail.py has no slice `sent`; its slices are 21-23, send", "slop slice list"]);
    let placed = sandbox.json(&["hydrate", "--budget", "100"]);
    let fragments = sandbox.json_lines(&["fragments", "--text"]);
    let of_mail: Vec<_> = fragments.iter().filter(|place| place["path"] == "src/mail.py").collect();
    assert_eq!((&of_mail[0]["part"], &of_mail[0]["tier"]), (&json!("21-23"), &json!("HOT")));
    assert_eq!((&of_mail[1]["part"], &of_mail[1]["tier"]), (&json!("send"), &json!("WARM")));
    assert!(text(&of_mail[0]["text"]).contains("mail_4") && !text(&of_mail[0]["text"]).contains("mail_0"));
    assert_ne!(of_mail[0]["fragment_id"], of_mail[1]["fragment_id"]);
    // The totals are those of the listed fragments.
    let warm = fragments.iter().filter(|place| place["tier"] == "WARM");
    let (bytes, whole) = warm.fold((0, 0), |(bytes, whole), place| {
        (bytes + number(&place["shown_bytes"]), whole + number(&place["bytes"]))
    });
    assert!(number(&placed["warm"]["bytes"]) == bytes && bytes < whole, "{placed}");

    let document = sandbox.stdout_of(&["aggregate", "--hydrated", "--stdout"]);
    assert!(
        document.contains("def mail_4(value):") && !document.contains("def mail_0(value):"),
        "{document}"
    );
    assert!(document.contains("\nsrc/mail.py [send]\n"), "{document}");
    let explained = sandbox.stdout_of(&["explain", "src/mail.py"]);
    assert!(explained.contains("hydration    [21-23] HOT, depth 9, score 1.000\n    pinned  <- decides"));
    assert!(explained.contains("hydration    [send] WARM, depth 9"), "{explained}");
    sandbox.json(&["hydrate", "--budget", "5000"]);
    for shown in [
        sandbox.stdout_of(&["fragments", "--text"]),
        sandbox.stdout_of(&["aggregate", "--hydrated", "--stdout"]),
    ] {
        assert!(shown.contains("cache_4") && !shown.contains("cache_3"), "{shown}");
    }
}

fn texts_of(places: &[serde_json::Value], key: &str) -> Vec<String> {
    places.iter().map(|place| text(&place[key])).collect()
}

/// Creates a project next to the sandbox's own.
fn neighbor(sandbox: &Sandbox, name: &str, functions: usize) {
    let folder = sandbox.outside(name);
    fs::create_dir_all(&folder).unwrap();
    let function = |at: usize| format!("def {name}_{at}(value):\n    return value * {at}\n\n\n");
    fs::write(folder.join("code.py"), (0..functions).map(function).collect::<String>()).unwrap();
    sandbox.git_in(&folder, &["init", "-q"]);
    sandbox.git_in(&folder, &["add", "."]);
    sandbox.git_in(&folder, &["commit", "-qm", "first"]);
}

#[test]
fn a_plan_places_the_files_of_several_projects_within_one_budget() {
    let sandbox = project();
    neighbor(&sandbox, "api", 40);
    neighbor(&sandbox, "web", 3);
    neighbor(&sandbox, "lib", 3);
    assert_eq!(sandbox.slop_in("../api", &["link", "add", "../lib"]).code, 0);
    fs::write(sandbox.outside("api/slop.toml"), "[hydration]\nmax_file_bytes = 100\n").unwrap();
    let plan = "[plan]\nname = \"checkout\"\nbudget_tokens = 2000\n\
        [[project]]\npath = \"../api\"\nshare = 0.5\ntier = 3\n\
        [[project]]\npath = \"../web\"\nfocus = [\"code.py\"]\n[[project]]\npath = \".\"\n\
        [[project]]\npath = \"../lib\"\n[[project]]\npath = \"../web/.\"\n[[project]]\npath = \"../gone\"\n";
    sandbox.write("plan.toml", plan);
    let simulated = sandbox.slop(&["simulate", "--plan", "plan.toml", "--json"]);
    assert!(!sandbox.outside("web/.slop_cache/index.db").exists() || fragments(&sandbox, "web").is_empty());
    let ran = sandbox.slop(&["hydrate", "--plan", "plan.toml", "--json"]);
    // One of the projects does not exist.
    assert_eq!((simulated.code, ran.code), (4, 4), "{ran:?}");
    let (placed, before) = (data(&ran.out), data(&simulated.out));
    let budgets = |answer: &serde_json::Value| -> Vec<u64> {
        list(&answer["projects"]).map(|project| number(&project["hot_tokens_limit"])).collect()
    };
    let root = sandbox.root().file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(texts(&placed["projects"], "project"), ["api".to_owned(), "web".to_owned(), root]);
    assert_eq!((budgets(&placed)[0], budgets(&placed).iter().sum::<u64>()), (1000, 2000));
    assert_eq!(budgets(&placed), budgets(&before));
    let left_out = placed["left_out"].to_string();
    for reason in ["it is linked to ", "it is named twice", "cannot be opened"] {
        assert!(left_out.contains(reason), "{left_out}");
    }
    let hot: u64 = list(&placed["projects"]).map(|project| number(&project["hot"]["tokens"])).sum();
    assert!(hot <= 2000 && hot == number(&placed["hot_tokens"]), "{placed}");
    // Each has its own settings and files, and only those of its own links.
    let api = fragments(&sandbox, "api");
    assert!(api.iter().any(|row| row["path"] == "@lib/code.py"), "{api:?}");
    assert!(api.iter().all(|row| number(&row["detail_depth"]) < 9), "{api:?}");
    let explained = sandbox.slop_in("../api", &["explain", "@lib/code.py"]);
    assert!(explained.out.contains("\n  resource lib: linked by you on 20"), "{explained:?}");
    let web = fragments(&sandbox, "web");
    assert_eq!(web.iter().map(|row| text(&row["path"])).collect::<Vec<_>>(), ["code.py"]);
    assert_eq!((&web[0]["tier"], &web[0]["detail_depth"]), (&json!("HOT"), &json!(9)));
    // A repeated run moves nothing.
    let again = data(&sandbox.slop(&["hydrate", "--plan", "plan.toml", "--json"]).out);
    assert!(list(&again["projects"]).all(|project| project["moved"] == json!([])), "{again}");
    assert_eq!(budgets(&again), budgets(&placed));
    // A list of folders is a plan, too; shares that add up to more than the whole are refused.
    let folders = sandbox.slop(&["hydrate", "--plan", "../api", "../web", "--budget", "900"]);
    assert!(folders.code == 0 && folders.out.contains("2 projects, "), "{folders:?}");
    sandbox.write(
        "plan.json",
        r#"{"project": [{"path": "../api", "share": 0.7}, {"path": "../web", "share": 0.4}]}"#,
    );
    sandbox
        .slop(&["hydrate", "--plan", "plan.json"])
        .assert_fails(2, &["the shares of the projects add up to 1.1"]);
}

fn fragments(sandbox: &Sandbox, name: &str) -> Vec<serde_json::Value> {
    let listed = sandbox.slop_in(&format!("../{name}"), &["fragments", "--json"]);
    assert!(Path::new(&sandbox.outside(name)).exists());
    listed.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_prefix_before_the_first_changed_file_of_a_hydrated_document_is_unchanged() {
    let sandbox = project();
    let document = || sandbox.stdout_of(&["aggregate", "--hydrated", "--stdout"]);
    let shown = |document: &str| -> Vec<String> {
        let blocks = document.split("\n### ").skip(1);
        blocks.map(|block| block.lines().next().unwrap().to_owned()).collect()
    };
    let edit = |name: &str, function: &str| {
        let file = format!("src/{name}.py");
        let text = fs::read_to_string(sandbox.path(&file)).unwrap();
        sandbox.write(&file, text + &format!("def {function}():\n    return 0\n"));
    };
    sandbox.json(&["hydrate"]);
    let first = shown(&document());
    assert_eq!(first.len(), 5, "{first:?}");
    // The file in the middle changes: those before it stay, and it is now likely to change again.
    let middle = first[2].trim_start_matches("src/").trim_end_matches(".py").to_owned();
    edit(&middle, "added");
    sandbox.json(&["hydrate"]);
    let second = document();
    assert_eq!(shown(&second)[..2], first[..2]);
    // The following files keep their order, except that the changed one moves back; a small file is not worth an
    // earlier place.
    assert_eq!(shown(&second)[2..], [&first[3], &first[2], &first[4]].map(Clone::clone));
    // It is committed and changes once more: nothing before it changes, and another process gives the same answer.
    sandbox.commit_all("second");
    sandbox.json(&["hydrate"]);
    assert_eq!(shown(&document()), shown(&second));
    edit(&middle, "added_again");
    let third = document();
    let at = second.find(&format!("### {}", first[2])).unwrap();
    assert!(third.len() != second.len() && third[..at] == second[..at], "{third}");
    let daemon = TestDaemon::start(&sandbox);
    let answer = daemon.query("/v1/aggregate", &json!({"hydrated": true}));
    assert_eq!(shown(&text(&answer["data"]["text"])), shown(&third));
    // A pin moves no other file, and files that have changed since they were placed come last.
    let unchanged = shown(&second)[0].clone();
    let places = sandbox.json_lines(&["fragments"]);
    let depth = &places.iter().find(|place| place["path"] == unchanged).unwrap()["detail_depth"];
    sandbox.json_lines(&["fragments", "pin", &unchanged, "--depth", &depth.to_string()]);
    sandbox.json(&["hydrate"]);
    assert_eq!(shown(&document()), shown(&second));
    sandbox.write(&unchanged, "changed = 1\n");
    assert_eq!(shown(&document()).last(), Some(&unchanged));
    assert_eq!(shown(&document())[..4], shown(&second)[1..]);
}

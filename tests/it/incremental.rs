//! What has changed since the last aggregation of the same name, and plans that write nothing.

use std::fs;

use serde_json::Value;

use super::sandbox::{CommandOutput, Sandbox, list, number, text, texts};

/// Returns a class with many methods, one of which has this name.
fn engine(method: &str) -> String {
    let mut text = "\"\"\"Runs things.\"\"\"\n\n\nclass Engine:\n".to_owned();
    for number in 0..30 {
        let head = format!("    def step_{number}(self, fuel):\n");
        text.extend([head.as_str(), "        burnt = fuel\n        return burnt\n\n"]);
    }
    text + &format!("    def {method}:\n        pass\n")
}

fn project() -> Sandbox {
    let sandbox = Sandbox::repo();
    sandbox.write("engine.py", engine("last(self)"));
    sandbox.write("gone.py", "def gone():\n    return 1\n");
    sandbox.write("same.py", "def same():\n    return 1\n");
    sandbox.write("notes.md", "# Notes\n\nWords.\n");
    sandbox.commit_all("first");
    sandbox
}

fn change(sandbox: &Sandbox) {
    sandbox.write("engine.py", engine("last(self, more)"));
    sandbox.write("new.py", "def new():\n    return 1\n");
    fs::remove_file(sandbox.path("gone.py")).unwrap();
}

const SINCE: &[&str] = &["aggregate", "--tier", "3", "--since-last", "--stdout"];

#[track_caller]
fn receipt(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    sandbox.json(arguments)["receipt"].clone()
}

/// Returns the path and the view of each file in a receipt, in the order of the document.
fn views(receipt: &Value) -> Vec<(String, String)> {
    list(&receipt["files"]).map(|file| (text(&file["path"]), text(&file["view"]))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(path, view)| ((*path).to_owned(), (*view).to_owned())).collect()
}

/// Returns the files that a receipt lists as unchanged.
fn unchanged(receipt: &Value) -> Vec<String> {
    let left_out = list(&receipt["left_out"]).filter(|file| file["reason"] == "unchanged");
    left_out.map(|file| text(&file["path"])).collect()
}

#[test]
fn changed_files_are_deltas_new_ones_are_shown_and_deleted_ones_named() {
    let sandbox = project();
    sandbox.stdout_of(&["aggregate", "--tier", "3", "--stdout"]);
    change(&sandbox);
    let document = sandbox.json(SINCE);
    let receipt = &document["receipt"];
    let expected = [("engine.py", "delta"), ("gone.py", "path"), ("new.py", "full")];
    let mut found = views(receipt);
    found.sort();
    assert_eq!(found, pairs(&expected));
    assert_eq!(unchanged(receipt), ["notes.md", "same.py"]);
    assert_eq!(list(&receipt["left_out"]).count(), 2);
    let why = text(&receipt["left_out"][0]["why"]);
    assert_eq!(why, "not changed since the last aggregation named `tier-3`");
    let engine = list(&document["files"]).find(|file| file["path"] == "engine.py").unwrap();
    assert_eq!(
        text(&engine["text"]),
        "@@ changed Engine.last, signature\n-def last(self)\n+def last(self, more)\n\
         @@ slop view engine.py --mask Engine.last=def\n"
    );
    assert_eq!(text(&engine["head"]), "Python · delta · shown as skeleton before");
    // The command in the delta works as it is.
    let call = sandbox.stdout_of(&["view", "engine.py", "--mask", "Engine.last=def", "--bare"]);
    assert!(call.contains("    def last(self, more):\n        pass\n"), "{call}");
}

#[test]
fn an_incremental_document_is_marked_as_such() {
    let sandbox = project();
    sandbox.stdout_of(&["aggregate", "--tier", "3", "--stdout"]);
    change(&sandbox);
    let document = sandbox.stdout_of(SINCE);
    assert!(document.starts_with("## Files (Changed Since the Last Aggregation)\n\n### "), "{document}");
    assert!(document.contains("### gone.py\n") && document.contains("gone since the last aggregation"));
    assert!(document.contains("```diff\n") && !document.contains("same.py"), "{document}");
}

#[test]
fn a_file_that_is_no_longer_shown_is_reported() {
    let sandbox = Sandbox::repo();
    for name in ["binary.py", "folder.py", "link.py", "large.py", "ignored.py"] {
        sandbox.write(name, format!("NAME = {name:?}\n"));
    }
    sandbox.write("slop.toml", "[limits]\nstructure_max_bytes = 1000\n");
    fs::remove_file(sandbox.path("ignored.py")).unwrap();
    sandbox.commit_all("all");
    sandbox.write("ignored.py", "NAME = 'ignored.py'\n");
    sandbox.stdout_of(&["aggregate", "--tier", "3", "--stdout"]);
    sandbox.write(".git/info/exclude", "ignored.py\n");
    sandbox.write("binary.py", b"\0\x01\x02");
    for name in ["folder.py", "link.py"] {
        fs::remove_file(sandbox.root().join(name)).unwrap();
    }
    sandbox.write("folder.py/a.py", "A = 1\n");
    std::os::unix::fs::symlink("slop.toml", sandbox.root().join("link.py")).unwrap();
    sandbox.write("large.py", "#".repeat(2_000));
    let document = sandbox.stdout_of(SINCE);
    for (name, said) in [
        ("binary.py", "left out since the last aggregation: not text"),
        ("folder.py", "gone since the last aggregation"),
        ("link.py", "left out since the last aggregation: a symbolic link, which is never followed"),
        ("large.py", "left out since the last aggregation: larger than limits.structure_max_bytes"),
        (
            "ignored.py",
            "left out since the last aggregation: ignored, or no longer one of the project's files",
        ),
    ] {
        assert!(document.contains(&format!("### {name}\nText · path · {said}\n")), "{name}: {document}");
    }
    // Only once.
    assert_eq!(sandbox.stdout_of(SINCE), "## Files (No Changes Since the Last Aggregation)\n");
    sandbox.write("binary.py", "NAME = 'text'\n");
    let document = sandbox.stdout_of(SINCE);
    assert!(document.contains("### binary.py\nPython · "), "{document}");
}

#[test]
fn a_file_that_was_only_named_is_reported_when_it_is_deleted() {
    let sandbox = Sandbox::repo();
    for number in 0..12 {
        let body = "    value += 1\n".repeat(20);
        sandbox.write(format!("part_{number:02}.py"), format!("def part_{number}(value):\n{body}"));
    }
    sandbox.commit_all("parts");
    let flags = ["aggregate", "--tier", "3", "--budget", "400", "--name", "worker", "--stdout"];
    let document = sandbox.stdout_of(&flags);
    assert!(document.contains("\npart_11.py: part_11"), "{document}");
    fs::remove_file(sandbox.path("part_11.py")).unwrap();
    let changes = sandbox.stdout_of(&[&flags[..], &["--since-last"]].concat());
    assert!(changes.contains("### part_11.py\nText · path · gone since the last aggregation\n"), "{changes}");
    assert_eq!(changes.matches("### ").count(), 1, "{changes}");
}

#[test]
fn delivered_changes_are_not_shown_again() {
    let sandbox = project();
    sandbox.stdout_of(&["aggregate", "--tier", "3", "--stdout"]);
    change(&sandbox);
    sandbox.stdout_of(SINCE);
    let again = receipt(&sandbox, SINCE);
    assert_eq!(views(&again), []);
    assert_eq!(unchanged(&again), ["engine.py", "new.py", "notes.md", "same.py"]);
    // Not even the names of files are repeated.
    let document = sandbox.stdout_of(SINCE);
    assert_eq!(document, "## Files (No Changes Since the Last Aggregation)\n");
    // The next diff is based on the result of the previous one.
    sandbox.write("engine.py", engine("last(self, more, still)"));
    let diff = sandbox.stdout_of(SINCE);
    assert!(diff.contains("\n-def last(self, more)\n+def last(self, more, still)\n"), "{diff}");
}

#[test]
fn files_that_a_limit_left_out_are_not_new_later_even_if_only_changes_were_requested() {
    let sandbox = project();
    for number in 0..30 {
        sandbox.write(format!("docs/page_{number}.md"), "A page.\n".repeat(40));
        sandbox.write(format!("lib/part_{number}.py"), engine(&format!("part_{number}(self)")));
    }
    sandbox.commit_all("second");
    for flags in [["--budget", "900"], ["--budget", "none"]] {
        let since: Vec<&str> = SINCE.iter().chain(&["--name", flags[1]]).chain(&flags).copied().collect();
        assert!(sandbox.stdout_of(&since).contains("part_3.py"));
        assert_eq!(sandbox.stdout_of(&since), "## Files (No Changes Since the Last Aggregation)\n");
        sandbox.write("lib/part_3.py", engine("changed(self)"));
        let changed = sandbox.stdout_of(&since);
        assert!(changed.contains("part_3.py") && !changed.contains("part_4.py"), "{changed}");
        sandbox.write("lib/part_3.py", engine("part_3(self)"));
    }
}

#[test]
fn a_body_that_the_view_does_not_show_is_named_when_it_changes() {
    for tier in ["1", "2", "3"] {
        let sandbox = project();
        let since = ["aggregate", "--tier", tier, "--since-last", "--stdout"];
        sandbox.stdout_of(&since);
        sandbox.write("engine.py", engine("last(self)").replacen("burnt = fuel", "burnt = 2 * fuel", 1));
        let document = sandbox.json(&since);
        assert_eq!(views(&document["receipt"]), pairs(&[("engine.py", "delta")]));
        assert_eq!(unchanged(&document["receipt"]).len(), 3);
        let expected = "@@ changed Engine.step_0\n@@ slop view engine.py --mask Engine.step_0=def\n";
        assert_eq!(text(&document["files"][0]["text"]), expected, "tier {tier}");
        assert_eq!(views(&receipt(&sandbox, &since)), []);
    }
}

#[test]
fn the_changes_of_a_full_text_are_shown_by_symbol() {
    let sandbox = project();
    let since = ["aggregate", "--strategy", "full", "--since-last", "--stdout"];
    sandbox.write("data.txt", "one\n");
    sandbox.stdout_of(&since);
    let long = "        burnt = fuel * 1000 + fuel\n".repeat(9);
    let now = engine("other(self)")
        .replacen("burnt = fuel", "burnt = 2 * fuel", 1)
        .replacen("def step_1(self, fuel):\n", &format!("def step_1(self, fuel, air):\n{long}"), 1)
        .replace("\n\n\nclass", "\n\nimport os\n\n\nclass");
    sandbox.write("engine.py", now);
    sandbox.write("data.txt", "two\n");
    let document = sandbox.json(&since);
    let bodies: Vec<String> = list(&document["files"]).map(|file| text(&file["text"])).collect();
    let engine = "@@ added def Engine.other(self)\n\
        @@ changed Engine.step_0\n-        burnt = fuel\n+        burnt = 2 * fuel\n\
        @@ changed Engine.step_1 10/12, signature\n-def step_1(self, fuel)\n+def step_1(self, fuel, air)\n\
        @@ removed Engine.last\n@@ changed outside of symbols at 3\n+import os\n\
        @@ slop view engine.py --mask NAME=def\n";
    assert!(bodies.contains(&engine.to_owned()), "{bodies:?}");
    // Where the delta would be longer, the file is shown as before.
    assert!(bodies.contains(&"two\n".to_owned()), "{bodies:?}");
}

#[test]
fn a_delta_names_no_symbol_that_a_mask_hides() {
    let sandbox = project();
    let before = "def shown(a):\n    return a\n\n\ndef hidden(a):\n    return a\n";
    sandbox.write("masked.py", before);
    sandbox.write("slop.toml", "[[files]]\npath = \"masked.py\"\nast_mask = { shown = \"def\" }\n");
    sandbox.stdout_of(SINCE);
    sandbox.write("masked.py", before.replace("hidden(a)", "hidden(a, b)"));
    assert_eq!(views(&receipt(&sandbox, SINCE)), []);
    sandbox
        .write("masked.py", "def shown(a):\n    # First.\n    return a\n\n\ndef hidden():\n    return 1\n");
    let document = sandbox.stdout_of(SINCE);
    assert!(document.contains("# First.") && !document.contains("hidden"), "{document}");
}

#[test]
fn a_renamed_file_is_not_delivered_again() {
    let sandbox = project();
    sandbox.stdout_of(SINCE);
    fs::rename(sandbox.path("engine.py"), sandbox.path("motor.py")).unwrap();
    let document = sandbox.json(SINCE);
    let mut found = views(&document["receipt"]);
    found.sort();
    assert_eq!(found, pairs(&[("engine.py", "path"), ("motor.py", "delta")]));
    let motor = list(&document["files"]).find(|file| file["path"] == "motor.py").unwrap();
    assert_eq!(text(&motor["text"]), "@@ renamed from engine.py, with the same content\n");
    sandbox.write("motor.py", engine("last(self, more)"));
    assert_eq!(views(&receipt(&sandbox, SINCE)), pairs(&[("motor.py", "delta")]));
}

#[test]
fn the_first_time_everything_is_shown_with_a_note() {
    let sandbox = project();
    let first = sandbox.slop(SINCE);
    assert_eq!(first.code, 0, "{first:?}");
    assert!(first.err.contains("no earlier document named `tier-3` is recorded"), "{}", first.err);
    sandbox.stdout_of(&["cache", "clear"]);
    let full = sandbox.slop(&["aggregate", "--tier", "3", "--stdout"]);
    assert_eq!((&first.out, full.err.as_str()), (&full.out, ""));
    sandbox.stdout_of(&["cache", "clear"]);
    assert_eq!(sandbox.slop(SINCE).out, full.out);
}

#[test]
fn a_full_document_replaces_what_its_reader_has() {
    let sandbox = project();
    sandbox.stdout_of(&["aggregate", "--tier", "3", "--stdout"]);
    sandbox.stdout_of(&["aggregate", "--tier", "3", "--stdout", "same.py"]);
    let shown = views(&receipt(&sandbox, SINCE));
    assert_eq!(shown.len(), 3, "{shown:?}");
    // An incremental document adds to it, whatever the request was.
    sandbox.stdout_of(&[SINCE, &["same.py"]].concat());
    assert_eq!(views(&receipt(&sandbox, SINCE)), []);
}

#[test]
fn each_document_name_has_its_own_history() {
    let sandbox = project();
    let name_of = |arguments: &[&str]| text(&receipt(&sandbox, arguments)["name"]);
    assert_eq!(name_of(&["aggregate", "--stdout"]), "project");
    assert_eq!(name_of(&["aggregate", "--stdout", "--tier", "1"]), "tier-1");
    assert_eq!(name_of(&["aggregate", "--stdout", "--name", "x"]), "x");
    sandbox.write(
        "slop.toml",
        "[presets.core]\nfiles = [\"same.py\"]\n[personas.bot]\ntier = 3\ncontext_preset = \"core\"\n",
    );
    assert_eq!(name_of(&["aggregate", "--stdout", "--persona", "bot"]), "persona-bot/preset-core");
    let ran = sandbox.slop(&[SINCE, &["--name", "y"]].concat());
    assert!(ran.err.contains("named `y`"), "{ran:?}");
    assert_eq!(views(&receipt(&sandbox, &[SINCE, &["--name", "y"]].concat())), []);
    assert_eq!(sandbox.slop(&["aggregate", "--name", ""]).code, 2);
}

#[test]
fn a_file_whose_view_changed_is_shown_in_its_new_view() {
    let sandbox = project();
    sandbox.write("same.py", "def same():\n    first = 1\n    return first\n");
    sandbox.stdout_of(&["aggregate", "--tier", "3", "--stdout"]);
    let shown = views(&receipt(&sandbox, &[SINCE, &["--focus", "same.py"]].concat()));
    assert_eq!(shown, pairs(&[("same.py", "full")]));
}

#[test]
fn a_removed_symbol_is_named_however_small_the_file_is() {
    let sandbox = project();
    sandbox.stdout_of(&["aggregate", "--tier", "3", "--stdout"]);
    sandbox.write("same.py", "def other(a):\n    return 1\n");
    let document = sandbox.stdout_of(SINCE);
    assert!(document.contains("\n@@ added def other(a)\n@@ removed same\n"), "{document}");
}

#[test]
fn a_file_reduced_by_a_budget_is_new_only_if_more_is_requested() {
    let sandbox = project();
    let limited = [SINCE, &["--budget", "300"]].concat();
    let small = receipt(&sandbox, &["aggregate", "--tier", "3", "--stdout", "--budget", "300"]);
    assert!(views(&small).iter().any(|(path, view)| path == "engine.py" && view != "skeleton"), "{small}");
    assert_eq!(views(&receipt(&sandbox, &limited)), []);
    let shown = views(&receipt(&sandbox, SINCE));
    assert_eq!(shown, pairs(&[("engine.py", "skeleton"), ("notes.md", "full")]));
    assert_eq!(views(&receipt(&sandbox, SINCE)), []);
    assert_eq!(views(&receipt(&sandbox, &limited)), []);
}

/// Returns a module of some functions with numbered names.
fn module(name: &str) -> String {
    let function = |n: usize| {
        format!(
            "def {name}_{n}(a):\n    \"\"\"{name} number {n}.\"\"\"\n    b = a + {n}\n    c = b * 2\n    return c\n\n\n"
        )
    };
    (0..20).map(function).collect()
}

/// Returns a project whose files are so large that a small document shows only one of them.
fn letters() -> Sandbox {
    let sandbox = Sandbox::repo();
    for name in ["mail", "cookie", "cache", "router", "auth"] {
        sandbox.write(format!("{name}.py"), module(name));
    }
    sandbox.commit_all("first");
    sandbox
}

const NOTHING: &str = "## Files (No Changes Since the Last Aggregation)\n";

#[test]
fn another_request_shows_what_it_wants_beyond_what_the_reader_has() {
    let sandbox = letters();
    let mail = [SINCE, &["--task", "mail_3 loses a letter", "--budget", "600"]].concat();
    assert!(sandbox.stdout_of(&mail).contains("    \"\"\"mail number 3.\"\"\"\n"));
    let others: [(&[&str], &str); 4] = [
        (&["--task", "cookie_4 is lost", "--budget", "600"], "    \"\"\"cookie number 4.\"\"\"\n"),
        (&["--focus", "router.py"], "    \"\"\"router number 19.\"\"\"\n"),
        (&["--focus", "auth.py", "auth.py"], "    \"\"\"auth number 19.\"\"\"\n"),
        (&["--task", "mail_3 loses a letter", "--budget", "6000"], "    \"\"\"mail number 19.\"\"\"\n"),
    ];
    for (flags, expected) in others {
        let flags = [SINCE, flags].concat();
        let document = sandbox.stdout_of(&flags);
        assert!(document.contains(expected), "{flags:?}: {document}");
        assert!(!document.contains("More files"), "{flags:?}: {document}");
        assert_eq!(sandbox.stdout_of(&flags), NOTHING, "{flags:?}");
    }
    // What was shown for an earlier request is recorded, and none of it is repeated in a smaller view.
    assert_eq!([sandbox.stdout_of(SINCE), sandbox.stdout_of(SINCE)], [NOTHING, NOTHING]);
    assert_eq!(sandbox.stdout_of(&mail), NOTHING);
    assert_eq!(sandbox.stdout_of(&[SINCE, &["--focus", "router.py"]].concat()), NOTHING);
    sandbox.write("mail.py", module("mail").replace("b = a + 19", "b = a + 20"));
    let document = sandbox.json(&mail);
    assert_eq!(views(&document["receipt"]), pairs(&[("mail.py", "delta")]));
    assert!(text(&document["files"][0]["text"]).starts_with("@@ changed mail_19\n"), "{document}");
}

#[test]
fn another_request_leaves_out_the_lines_that_the_reader_has() {
    let function = |name: &str| {
        let lines = (0..40).fold(String::new(), |text, n| text + &format!("    {name}_{n} = a + {n}\n"));
        format!("def {name}(a):\n{lines}    return a\n\n\n")
    };
    let sandbox = Sandbox::repo();
    sandbox.write("post.py", function("mail") + &function("cookie"));
    sandbox.commit_all("first");
    let within = |budget: &str| {
        sandbox.stdout_of(&[SINCE, &["--task", "mail loses a letter", "--budget", budget]].concat())
    };
    let first = within("700");
    assert!(first.contains("    mail_39 = ") && !first.contains("    cookie_3"), "{first}");
    let second = within("6000");
    assert!(second.contains("    cookie_39 = ") && second.contains("# … lines shown earlier\n"), "{second}");
    assert!(second.contains("def cookie(a):\n") && !second.contains("    mail_3"), "{second}");
    assert_eq!([within("6000"), within("700")], [NOTHING, NOTHING]);
}

#[test]
fn lines_of_a_change_that_was_only_named_do_not_count_as_shown() {
    // For the full text, the delta shows the lines of the small change; for the skeleton it shows none.
    for (flags, shows_one) in [(&["--focus", "post.py"][..], true), (&[], false)] {
        let sandbox = Sandbox::repo();
        let text = |more: usize| {
            let lines = (0..14).fold(String::new(), |text, n| text + &format!("    mail_{n} = a + {more}\n"));
            format!(
                "def mail(a):\n{lines}    return a\n\n\ndef one():\n    return {more}\n\n\n{}",
                module("x")
            )
        };
        sandbox.write("post.py", text(0));
        sandbox.commit_all("first");
        let since = [SINCE, flags].concat();
        sandbox.stdout_of(&since);
        sandbox.write("post.py", text(1));
        let delta = sandbox.stdout_of(&since);
        assert!(delta.contains("@@ changed") && !delta.contains("mail_3 = a + 1"), "{delta}");
        assert_eq!(sandbox.stdout_of(&since), NOTHING);
        assert_eq!(delta.contains("+    return 1\n"), shows_one, "{delta}");
        let focused = [&since[..], &["--focus", "post.py", "post.py"]].concat();
        let document = sandbox.stdout_of(&focused);
        assert!(document.contains("    mail_13 = a + 1\n"), "{flags:?}: {document}");
        assert_eq!(document.contains("def one():\n    return 1\n"), !shows_one, "{flags:?}: {document}");
        assert_eq!(sandbox.stdout_of(&focused), NOTHING, "{flags:?}");
    }
}

#[test]
fn a_file_that_the_reader_has_is_followed_even_if_it_is_uninteresting_now() {
    let sandbox = project();
    sandbox.stdout_of(SINCE);
    sandbox.write("same.py", "");
    let document = sandbox.stdout_of(SINCE);
    assert!(document.contains("### same.py\n") && document.contains("@@ removed same\n"), "{document}");
    assert_eq!(sandbox.stdout_of(SINCE), NOTHING);
}

#[test]
fn another_request_shows_a_changed_file_with_the_names_of_its_changes() {
    let sandbox = letters();
    let task = |task: &'static str| [SINCE, &["--budget", "600", "--task", task]].concat();
    sandbox.stdout_of(&task("mail_3 loses a letter"));
    sandbox.write("cookie.py", module("cookie").replace("b = a + 11", "b = a + 12"));
    sandbox.write("auth.py", module("auth").replace("b = a + 11", "b = a + 12"));
    let document = sandbox.stdout_of(&task("cookie_4 is lost"));
    assert!(document.contains("since the last aggregation: changed cookie_11\n"), "{document}");
    assert!(document.contains("    \"\"\"cookie number 4.\"\"\"\n"), "{document}");
    assert!(document.contains("@@ changed auth_11\n") && !document.contains("mail"), "{document}");
    assert_eq!(sandbox.stdout_of(&task("cookie_4 is lost")), NOTHING);
}

#[test]
fn a_change_of_a_file_whose_names_were_shown_is_named() {
    let sandbox = letters();
    let limited = [SINCE, &["--task", "mail_3 loses a letter", "--budget", "600"]].concat();
    assert!(sandbox.stdout_of(&limited).contains("\nauth.py: auth_0, "));
    let now = module("auth").replace("b = a + 4", "b = a + 5").replace("def auth_7(", "def other(");
    sandbox.write("auth.py", now);
    let document = sandbox.json(&limited);
    assert_eq!(views(&document["receipt"]), pairs(&[("auth.py", "delta")]));
    let expected =
        "@@ added def other(a)\n@@ changed auth_4\n@@ removed auth_7\n@@ slop view auth.py --mask NAME=def\n";
    assert_eq!(text(&document["files"][0]["text"]), expected);
    assert_eq!(text(&document["files"][0]["head"]), "Python · delta · only named before");
    assert_eq!(sandbox.stdout_of(&limited), NOTHING);
    sandbox.write("auth.py", module("auth"));
    assert!(
        sandbox.stdout_of(&limited).contains("@@ added def auth_7(a)\n@@ changed auth_4\n@@ removed other\n")
    );
}

#[test]
fn an_incremental_document_stays_within_its_budget() {
    let sandbox = project();
    sandbox.stdout_of(&["aggregate", "--tier", "3", "--stdout"]);
    change(&sandbox);
    for budget in [40, 60, 80, 100, 150, 400] {
        let flags = ["--dry-run", "--budget", &budget.to_string()];
        let planned = receipt(&sandbox, &[SINCE, &flags].concat());
        assert!(number(&planned["tokens"]) <= budget, "{planned}");
    }
    let tight = receipt(&sandbox, &[SINCE, &["--budget", "70"]].concat());
    let names = [("gone.py", "path"), ("engine.py", "names"), ("new.py", "names")];
    assert_eq!(views(&tight), pairs(&names));
    // A change that did not fit is shown once there is room.
    let late = [("new.py", "full"), ("engine.py", "delta")];
    assert_eq!(views(&receipt(&sandbox, SINCE)), pairs(&late));
    assert_eq!(views(&receipt(&sandbox, SINCE)), []);
}

#[test]
fn only_delivered_documents_are_recorded() {
    let sandbox = project();
    sandbox.stdout_of(&["aggregate", "--tier", "3", "--stdout"]);
    change(&sandbox);
    let full = "\"$SLOP\" aggregate --tier 3 --since-last --stdout >/dev/full";
    assert_eq!(super::sandbox::run(sandbox.script(full)).code, 3);
    assert_ne!(sandbox.slop(&[SINCE, &["--budget", "1"]].concat()).code, 0);
    sandbox.stdout_of(&[SINCE, &["--dry-run"]].concat());
    assert_eq!(views(&receipt(&sandbox, SINCE)).len(), 3);
    assert_eq!(views(&receipt(&sandbox, SINCE)).len(), 0);
}

#[test]
fn a_document_without_files_is_not_recorded() {
    let sandbox = project();
    let talk = sandbox.outside("talk.json");
    fs::write(&talk, "[\"hello\"]").unwrap();
    let talk = talk.to_str().unwrap();
    sandbox.stdout_of(&["aggregate", "--tier", "3", "--stdout"]);
    sandbox.stdout_of(&["aggregate", "--tier", "3", "--stdout", "--history", talk, "--history-only"]);
    assert_eq!(views(&receipt(&sandbox, SINCE)), []);
}

#[test]
fn documents_written_to_files_are_recorded() {
    let sandbox = project();
    sandbox.stdout_of(&["aggregate", "--tier", "3"]);
    assert_eq!(views(&receipt(&sandbox, SINCE)), []);
    sandbox.stdout_of(&["aggregate", "--tier", "3", "-o", "out.md", "--name", "x"]);
    assert_eq!(views(&receipt(&sandbox, &[SINCE, &["--name", "x", "engine.py"]].concat())), []);
}

#[test]
fn delivery_records_are_counted_cleared_and_verified_with_the_cache() {
    let sandbox = project();
    sandbox.stdout_of(&["aggregate", "--tier", "3", "--stdout"]);
    assert_eq!(number(&sandbox.json(&["cache", "status"])["given"]["rows"]), 4);
    assert!(sandbox.stdout_of(&["cache", "status"]).contains("\ngiven      4 ("));
    sandbox.stdout_of(&["cache", "verify"]);
    sandbox.stdout_of(&["cache", "clear", "same.py"]);
    assert_eq!(views(&receipt(&sandbox, SINCE)), pairs(&[("same.py", "full")]));
    sandbox.stdout_of(&["cache", "gc"]);
    assert_eq!(views(&receipt(&sandbox, SINCE)), []);
    sandbox.stdout_of(&["cache", "clear"]);
    assert_eq!(number(&sandbox.json(&["cache", "status"])["given"]["rows"]), 0);
    let ran: CommandOutput = sandbox.slop(SINCE);
    assert!(ran.err.contains("note: no earlier document"), "{ran:?}");
}

#[test]
fn without_a_cache_everything_is_shown() {
    let sandbox = project();
    sandbox.write("slop.toml", "[aggregation]\ncache_enabled = false\n");
    for _ in 0..2 {
        let ran = sandbox.slop(SINCE);
        assert!(ran.code == 0 && ran.out.contains("### engine.py"), "{ran:?}");
        assert!(ran.err.contains("no earlier document"), "{ran:?}");
    }
}

#[test]
fn a_dry_run_predicts_the_real_run() {
    let sandbox = project();
    for flags in [
        &[][..],
        &["--budget", "120"],
        &["--max-bytes", "900"],
        &["--budget", "200", "--format", "anthropic"],
    ] {
        let arguments = [&["aggregate", "--tier", "3"], flags].concat();
        let planned = sandbox.json(&[&arguments[..], &["--dry-run"]].concat());
        assert_eq!(planned.as_object().unwrap().keys().collect::<Vec<_>>(), ["receipt"]);
        let real = receipt(&sandbox, &[&arguments[..], &["--stdout"]].concat());
        assert_eq!(planned["receipt"], real, "{flags:?}");
    }
}

#[test]
fn a_dry_run_writes_nothing_and_prints_a_table() {
    let sandbox = project();
    sandbox.write("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\0");
    let before = sandbox.tree();
    let table = sandbox.stdout_of(&["aggregate", "--tier", "3", "--budget", "120", "--dry-run"]);
    assert_eq!(sandbox.tree(), before);
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("PATH") && lines[0].ends_with("WHY"), "{table}");
    assert!(table.contains(" <- skeleton") && table.contains("to keep within the budget"), "{table}");
    assert!(table.contains("\nleft out, not text: 1\n  logo.png\n"), "{table}");
    assert!(
        lines[lines.len() - 2].starts_with("total   ") && table.ends_with("\nbudget  120 tokens\n"),
        "{table}"
    );
    sandbox.slop(&["aggregate", "--dry-run", "--budget", "1"]).assert_fails(1, &["budget is 1"]);
    sandbox.slop(&["aggregate", "--dry-run", "-o", "x.md"]).assert_fails(2, &["--dry-run"]);
}

#[test]
fn explain_shows_what_a_budget_does_to_a_file_and_why() {
    let sandbox = project();
    sandbox.write("user.py", "import engine\n\ndef use():\n    return engine.Engine().step_1(2)\n");
    let alone = sandbox.stdout_of(&["explain", "engine.py", "--tier", "3"]);
    assert!(!alone.contains("under the budget") && !alone.contains("rank"), "{alone}");
    let under = sandbox.stdout_of(&["explain", "engine.py", "--tier", "3", "--budget", "200"]);
    assert!(under.starts_with(alone.trim_end()), "{under}");
    assert!(under.contains("\n  under the budget  "), "{under}");
    assert!(under.contains(" (wanted skeleton): to keep within the budget\n"), "{under}");
    assert!(under.contains("\n  rank         1 of 5 files, score 1.000\n    changes    1.000\n"), "{under}");
    let task = ["explain", "user.py", "--tier", "3", "--budget", "200", "--task", "where is step_1 used?"];
    let for_task = sandbox.stdout_of(&task);
    assert!(
        for_task.contains("\n    text       ") && for_task.contains("\n  symbol       use ("),
        "{for_task}"
    );
    let focus = ["explain", "user.py", "--tier", "3", "--max-bytes", "5000", "--focus", "user.py"];
    assert!(sandbox.stdout_of(&focus).contains("\n  under the budget  full\n  rank         "));
    let data = sandbox.json(&["explain", "engine.py", "--tier", "3", "--budget", "200"]);
    let planned = receipt(&sandbox, &["aggregate", "--tier", "3", "--budget", "200", "--dry-run"]);
    let entry = list(&planned["files"]).find(|file| file["path"] == "engine.py").unwrap();
    assert_eq!(data[0]["under_limits"]["view"], entry["view"]);
    assert_eq!(data[0]["under_limits"]["score"]["parts"][0]["part"], "changes");
    assert!(texts(&planned["files"], "path").contains(&"user.py".to_owned()));
    sandbox.slop(&["explain", "engine.py", "--tier", "3", "--budget", "1"]).assert_fails(1, &["budget is 1"]);
}

#[test]
fn files_keep_the_order_of_the_full_document() {
    let sandbox = project();
    for file in ["same.py", "engine.py", "same.py"] {
        let text = sandbox.read(file);
        sandbox.write(file, text + "\n\ndef more():\n    pass\n");
        sandbox.commit_all("more");
    }
    for tier in ["1", "3"] {
        sandbox.stdout_of(&["aggregate", "--tier", tier, "--stdout"]);
    }
    for file in ["notes.md", "engine.py", "same.py"] {
        let text = sandbox.read(file);
        sandbox.write(file, text + "\n\n# Another\n\ndef another():\n    \"\"\"Words.\"\"\"\n");
    }
    sandbox.git(&["commit", "-q", "-m", "one", "same.py"]);
    for tier in ["1", "3"] {
        let order = |flags: &[&str]| {
            let document = receipt(&sandbox, &[&["aggregate", "--tier", tier, "--dry-run"], flags].concat());
            texts(&document["files"], "path")
        };
        let changed = order(&["--since-last"]);
        assert_eq!(changed.len(), 3, "{changed:?}");
        let in_full: Vec<String> = order(&[]).into_iter().filter(|path| changed.contains(path)).collect();
        assert_eq!(changed, in_full);
    }
}

#[test]
fn a_file_that_became_binary_is_not_reported_as_deleted() {
    let sandbox = project();
    sandbox.stdout_of(&["aggregate", "--tier", "3", "--stdout"]);
    sandbox.write("same.py", b"\0\0\0");
    let same = |view: &str| [("same.py".to_owned(), view.to_owned())];
    assert_eq!(views(&receipt(&sandbox, SINCE)), same("path"));
    // The reader's version is no longer recorded.
    assert_eq!(views(&receipt(&sandbox, SINCE)), []);
    sandbox.write("same.py", "def same():\n    return 1\n");
    assert_eq!(views(&receipt(&sandbox, SINCE)), same("full"));
}

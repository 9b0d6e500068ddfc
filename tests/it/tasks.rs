//! Documents for a task, and searches: which files and symbols are shown, and how.

use std::collections::HashSet;
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use super::daemon::harness::TestDaemon;
use super::sandbox::{Sandbox, list, number, run, text, texts};

/// Returns a function of some lines that contain its name.
fn function(name: &str, words: &str) -> String {
    let lines: Vec<String> =
        (0..12).map(|line| format!("    step_{line} = {words:?} + str({line})\n")).collect();
    let body = lines.concat();
    format!("def {name}(value):\n    \"\"\"Handles {words}.\"\"\"\n{body}    return step_11\n\n\n")
}

/// Returns a project of modules about different subjects, in which tests, prose and settings mention the same words.
fn project() -> Sandbox {
    let sandbox = Sandbox::repo();
    for (file, words) in [
        ("cookies", "session cookies"),
        ("routing", "url routes"),
        ("mail", "outgoing mail"),
        ("cache", "cached pages"),
    ] {
        let text =
            ["load", "store", "expire"].map(|verb| function(&format!("{verb}_{file}"), words)).concat();
        sandbox.write(format!("src/{file}.py"), format!("\"\"\"About {words}.\"\"\"\n\n\n{text}"));
    }
    sandbox.write("src/version.py", "__all__ = []\n");
    sandbox.write("tests/test_cookies.py", function("test_expire_cookies", "session cookies expire"));
    sandbox.write("docs/cookies.md", "# Cookies\n\nHow session cookies expire.\n".repeat(30));
    sandbox.write("settings.toml", "[cookies]\nexpire = 3\npassword = \"vT9#kLq2xZ!8mWp4\"\n");
    sandbox.commit_all("first");
    sandbox
}

const TASK: &str = "expire_cookies keeps a session that is over";

fn aggregate(sandbox: &Sandbox, flags: &[&str]) -> String {
    sandbox.stdout_of(&[&["aggregate", "--stdout"], flags].concat())
}

#[test]
fn a_task_shows_the_body_of_the_symbol_that_it_is_about() {
    let sandbox = project();
    let document = aggregate(&sandbox, &["--tier", "3", "--budget", "600", "--task", TASK]);
    let source = sandbox.read("src/cookies.py");
    let body = &source[source.find("def expire_cookies").unwrap()..];
    assert!(document.contains(body.trim_end()), "{document}");
    assert!(!document.contains("step_3 = 'outgoing mail'"), "{document}");
    let blind = aggregate(&sandbox, &["--tier", "3", "--budget", "600"]);
    assert_ne!(blind, document);
    assert_eq!(aggregate(&sandbox, &["--tier", "3", "--budget", "600", "--task", TASK]), document);
}

#[test]
fn a_stack_trace_selects_its_function() {
    let sandbox = project();
    let trace = "It breaks.\n\n```\nTraceback (most recent call last):\n  File \"/srv/app/src/main.py\", line 3, in <module>\n    \
                 go()\n  File \"/srv/app/src/mail.py\", line 24, in store_mail\n    step_3 = x\nValueError: bad\n```\n";
    sandbox.write("../trace.txt", trace);
    let flags = ["--tier", "4", "--budget", "500", "--task-file", "../trace.txt"];
    let document = aggregate(&sandbox, &flags);
    assert!(
        document.contains("def store_mail(value):\n    \"\"\"Handles outgoing mail.\"\"\"\n"),
        "{document}"
    );
    let mut piped =
        sandbox.script("\"$SLOP\" aggregate --stdout --tier 4 --budget 500 --task-file - <../trace.txt");
    assert_eq!(String::from_utf8(piped.output().unwrap().stdout).unwrap(), document);
    let receipt = sandbox.json(&[&["aggregate", "--dry-run"], &flags[..]].concat())["receipt"].take();
    assert_eq!(receipt["task"]["frames"][0], "/srv/app/src/mail.py:24 in store_mail");
    assert_eq!(receipt["task"]["matched"], true);
}

#[test]
fn the_receipt_lists_the_paths_of_a_task_that_are_in_the_project() {
    let sandbox = project();
    let task = "Look at `src/cookies.py:4`, mail.py, src.cache and docs/, not at src/nowhere.py, `input/output`, \
                self.cfg.value or node.js";
    let receipt = |flags: &[&str]| {
        sandbox.json(&[&["aggregate", "--dry-run", "--task", task], flags].concat())["receipt"].take()
    };
    let paths = json!(["src/cookies.py:4", "mail.py", "src.cache", "docs/"]);
    for flags in [&[][..], &["src/routing.py"], &["--name", "reader", "--since-last"]] {
        let task = receipt(flags)["task"].take();
        assert_eq!(task["paths"], paths, "{task}");
        assert_eq!(task["ignored"], json!([{"reason": "no such path", "bytes": 14 + 12 + 7}]), "{task}");
    }
}

#[test]
fn a_diagnostic_selects_its_line_in_a_function_that_is_too_long_to_be_shown() {
    let sandbox = project();
    let steps =
        (0..600).map(|at| format!("        step_{at} = next_step_of({at});\n")).collect::<Vec<_>>().concat();
    let source =
        format!("int run(int first)\n{{\n    while (first) {{\n{steps}    }}\n    return step_0;\n}}\n");
    sandbox.write("src/engine.c", source);
    let task = "src/engine.c:303:9: error: use of undeclared identifier 'step_299'";
    let document = aggregate(&sandbox, &["--tier", "3", "--budget", "2000", "--task", task]);
    for line in
        ["int run(int first)\n{\n    while (first) {\n", "        step_299 = next_step_of(299);\n", "    }\n"]
    {
        assert!(document.contains(line), "{line}{document}");
    }
    assert!(document.contains("slop view src/engine.c --lines 4-262"), "{document}");
    assert!(!document.contains(" step_200 =") && !document.contains(" step_400 ="), "{document}");
}

#[test]
fn a_diagnostic_selects_its_line_in_a_configuration_file() {
    let sandbox = project();
    let keys =
        |mark: &str| (0..400).map(|at| format!("  {mark}key_{at}{mark}: {mark}value {at}{mark}")).collect();
    let (yaml, json): (Vec<String>, Vec<String>) = (keys(""), keys("\""));
    sandbox.write("deploy.yaml", format!("services:\n{}\n", yaml.join("\n")));
    sandbox.write("package.json", format!("{{\n{}\n}}\n", json.join(",\n")));
    // A file of the same name to which the task does not refer.
    sandbox.write("web/package.json", format!("{{\n{}\n}}\n", json.join(",\n").replace("value", "other")));
    for (place, line) in [
        ("deploy.yaml:202:3", "  key_200: value 200\n"),
        ("package.json:202:3", "  \"key_200\": \"value 200\",\n"),
    ] {
        for budget in ["1000", "3000"] {
            let task = format!("{place}: error: bad value");
            let document = aggregate(&sandbox, &["--tier", "3", "--budget", budget, "--task", &task]);
            assert!(document.contains(line), "{budget} {document}");
            let has_others =
                ["value 20\n", "value 20\"", "other 200"].iter().any(|text| document.contains(text));
            assert!(budget != "1000" || !has_others, "{document}");
        }
    }
}

#[test]
fn cells_of_a_notebook_are_shown_as_code_without_their_output() {
    let sandbox = project();
    let cell = |lines: &[&str]| {
        let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
        json!({"cell_type": "code", "metadata": {}, "outputs": [{"text": "printed ".repeat(200)}], "source": lines})
    };
    let cells = [
        json!({"cell_type": "markdown", "source": ["# Training\n", "Of the model."]}),
        cell(&[
            "import numpy",
            "",
            "def train_model(x, y):",
            "    weights = numpy.linalg.inv(x) @ y",
            "    return weights",
        ]),
        cell(&["plot_everything(1)"]),
    ];
    let notebook = json!({"cells": cells, "metadata": {"language_info": {"name": "python"}}});
    sandbox.write("train.ipynb", serde_json::to_string_pretty(&notebook).unwrap());
    let flags = ["--tier", "3", "--budget", "5000", "--task", "train_model in train.ipynb returns nan"];
    let document = aggregate(&sandbox, &flags);
    let shown = "def train_model(x, y):\n    weights = numpy.linalg.inv(x) @ y\n    return weights\n";
    assert!(
        document.contains("not the file's text\n\n```python\n# %% [markdown]\n# # Training\n"),
        "{document}"
    );
    assert!(document.contains(shown), "{document}");
    assert!(!document.contains("printed") && !document.contains("cell_type"), "{document}");
    let summary = sandbox.stdout_of(&["view", "train.ipynb", "--mode", "summary"]);
    assert!(summary.contains("Training\nDefines: train_model\nImports: numpy"), "{summary}");
}

#[test]
fn parts_of_a_single_header_library_are_shown() {
    let sandbox = project();
    let parts = ["src/cookies.py", "src/routing.py", "src/mail.py", "src/cache.py"];
    sandbox.write("single/all.py", parts.map(|part| sandbox.read(part)).concat());
    let flags = ["--tier", "3", "--budget", "2000", "--task"];
    let document = aggregate(&sandbox, &[&flags[..], &[TASK]].concat());
    assert!(document.contains("### src/cookies.py\n"), "{document}");
    assert!(!document.contains("### single/all.py\n"), "{document}");
    let pointed_to = aggregate(&sandbox, &[&flags[..], &["single/all.py:30: error: bad value"]].concat());
    assert!(pointed_to.contains("### single/all.py\n"), "{pointed_to}");
}

#[test]
fn lines_are_shown_verbatim_and_each_file_once_per_part() {
    let sandbox = project();
    for tier in ["1", "2", "3", "4"] {
        for budget in [300, 900, 2_000] {
            let flags = ["--tier", tier, "--budget", &budget.to_string(), "--task", TASK];
            let document = aggregate(&sandbox, &flags);
            for part in document.split("\n## For this task\n") {
                let headings: Vec<&str> = part.lines().filter(|line| line.starts_with("### ")).collect();
                assert_eq!(headings.iter().collect::<HashSet<_>>().len(), headings.len(), "{document}");
            }
            let source = sandbox.read("src/cookies.py");
            let code: HashSet<&str> = source.lines().collect();
            let block = document.split("### src/cookies.py\n").last().unwrap_or_default();
            let block = block.split("\n### ").next().unwrap().split("\n## ").next().unwrap();
            for line in block.lines().filter(|line| line.trim_start().starts_with("step_")) {
                assert!(code.contains(line), "{line}");
            }
            // The tree is last: it changes with every new file.
            if let Some((_, tree)) = document.split_once("\n## File Tree\n") {
                assert!(!tree.contains("### ") && !tree.contains("\n## "), "{document}");
            }
            let receipt = sandbox.json(&[&["aggregate", "--dry-run"], &flags[..]].concat())["receipt"].take();
            assert!(number(&receipt["tokens"]) <= budget, "{receipt}");
        }
    }
}

#[test]
fn a_budget_is_used_up_if_there_is_more_to_show() {
    let sandbox = project();
    // A function of the project has 190 tokens: a tenth of a smaller budget may be unused because none fits.
    for budget in [1_000, 1_500, 2_500] {
        for flags in [&["--task", TASK][..], &["--focus", "src/mail.py"], &[]] {
            let words = budget.to_string();
            let flags = [&["aggregate", "--dry-run", "--tier", "3", "--budget", &words], flags].concat();
            let receipt = sandbox.json(&flags)["receipt"].take();
            let tokens = number(&receipt["tokens"]);
            assert!(tokens <= budget && budget * 9 / 10 <= tokens, "{flags:?}: {tokens}");
        }
    }
}

#[test]
fn the_stable_part_is_the_same_for_every_task() {
    let sandbox = project();
    let stable = |task: &str| {
        let document = aggregate(&sandbox, &["--tier", "2", "--budget", "1500", "--task", task]);
        let (stable, rest) = document.split_once("\n## For this task\n").unwrap();
        assert!(rest.contains("### "), "{document}");
        stable.to_owned()
    };
    assert_eq!(stable(TASK), stable("mail is not delivered"));
    // What is shown of a file that was edited does not depend on the task either, even if a hundred others match.
    for number in 0..120 {
        let name = format!("part_{number}");
        sandbox.write(format!("src/parts/{name}.py"), function(&name, "parts"));
    }
    for file in ["src/cookies.py", "src/routing.py"] {
        sandbox.write(file, sandbox.read(file).replace("return step_11", "return step_10"));
    }
    let edited = stable(TASK);
    assert!(edited.contains("### src/routing.py\n"), "{edited}");
    assert_eq!(edited, stable("too many parts in a part"));
    sandbox.write("slop.toml", "[tiers.2]\nstable_share = 0\n");
    let document = aggregate(&sandbox, &["--tier", "2", "--budget", "1500", "--task", TASK]);
    assert!(!document.contains("## For this task"), "{document}");
    sandbox.write("slop.toml", "[tiers.2]\nstable_share = 1.5\n");
    sandbox.slop(&["status"]).assert_fails(1, &["tiers.2.stable_share", "a number from 0 to 1"]);
}

#[test]
fn a_file_of_the_stable_part_is_shown_again_with_the_lines_for_the_task() {
    let sandbox = project();
    sandbox.write("slop.toml", "[tiers.2]\nstable_share = 0.5\n");
    let flags = ["--tier", "2", "--budget", "1500", "--task", TASK];
    let document = aggregate(&sandbox, &flags);
    let (stable, rest) = document.split_once("\n## For this task\n").unwrap();
    let source = sandbox.read("src/cookies.py");
    let body = source[source.find("def expire_cookies").unwrap()..].trim_end();
    assert!(stable.contains("### src/cookies.py\n") && !stable.contains(body), "{document}");
    assert!(rest.contains("### src/cookies.py\n") && rest.contains(body), "{document}");
    // It does not match the task.
    assert!(stable.contains("### src/routing.py\n") && !rest.contains("### src/routing.py\n"), "{document}");
    let receipt = sandbox.json(&[&["aggregate", "--dry-run"], &flags[..]].concat())["receipt"].take();
    let entries: Vec<&Value> =
        list(&receipt["files"]).filter(|file| file["path"] == "src/cookies.py").collect();
    assert_eq!(entries.iter().map(|file| &file["view"]).collect::<Vec<_>>(), ["excerpt", "excerpt"]);
    assert_eq!((&entries[0]["repeated"], &entries[1]["repeated"]), (&Value::Null, &json!(true)));
    let paths: HashSet<String> = list(&receipt["files"]).map(|file| text(&file["path"])).collect();
    assert_eq!(number(&receipt["totals"]["files"]), paths.len() as u64, "{receipt}");
    // A reader who has both is shown the change.
    let named = [&["aggregate", "--stdout", "--name", "lead"], &flags[..]].concat();
    sandbox.stdout_of(&named);
    assert!(!sandbox.stdout_of(&[&named[..], &["--since-last"]].concat()).contains("### "));
    sandbox.write("src/cookies.py", source.replacen("return step_11", "return step_10", 1));
    let changes = sandbox.stdout_of(&[&named[..], &["--since-last"]].concat());
    assert_eq!(changes.matches("### src/cookies.py\n").count(), 1, "{changes}");
    assert!(changes.contains("load_cookies") && !changes.contains("store_cookies"), "{changes}");
}

/// Returns the document of a process without knowledge of earlier ones.
fn aggregate_alone(sandbox: &Sandbox, flags: &[&str]) -> String {
    let mut command = sandbox.command(&[&["aggregate", "--stdout"], flags].concat());
    command.env("SLOP_NO_DAEMON", "1");
    let ran = run(command);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.out
}

#[test]
fn cached_parts_of_earlier_documents_do_not_change_a_daemons_documents() {
    let sandbox = project();
    for number in 0..30 {
        let name = format!("part_{number}");
        sandbox.write(format!("src/parts/{name}.py"), function(&name, "parts"));
    }
    sandbox.commit_all("parts");
    let daemon = TestDaemon::start(&sandbox);
    let edit = |file: &str, from: &str, to: &str| {
        sandbox.write(file, sandbox.read(file).replacen(from, to, 1));
    };
    let mask = "[[files]]\npath = \"src/mail.py\"\nast_mask = {load_mail = \"hide\"}\n";
    let steps: [&dyn Fn(); 10] = [
        &|| {},
        &|| edit("src/mail.py", "return step_11", "return step_10"),
        &|| edit("src/cache.py", "def load_cache(value)", "def load_cache(value, again)"),
        &|| edit("src/parts/part_7.py", "def part_7", "def seventh"),
        &|| sandbox.write("src/added.py", function("added", "something new")),
        &|| edit("src/cookies.py", "def store_cookies", "def keep_cookies"),
        &|| sandbox.commit_all("edits"),
        &|| std::fs::remove_file(sandbox.path("src/parts/part_3.py")).unwrap(),
        &|| sandbox.write(".gitattributes", "src/parts/* linguist-generated\n"),
        &|| sandbox.write("slop.toml", mask),
    ];
    let flags = ["--budget", "1800", "--tier"];
    for (at, step) in steps.iter().enumerate() {
        step();
        for asked in [&["2"][..], &["3"], &["2", "--task", TASK], &["3", "--task", TASK]] {
            let flags = [&flags[..], asked].concat();
            let before = daemon.status()["answers"].as_u64();
            assert_eq!(
                aggregate(&sandbox, &flags),
                aggregate_alone(&sandbox, &flags),
                "step {at}, {asked:?}"
            );
            assert!(before < daemon.status()["answers"].as_u64());
        }
    }
}

#[test]
fn curated_views_take_precedence_over_ranking() {
    let sandbox = project();
    sandbox.stdout_of(&["slice", "add", "src/mail.py", "5-7", "--tag", "mine"]);
    let document = aggregate(&sandbox, &["--tier", "3", "--budget", "400", "--task", TASK]);
    assert!(document.contains("[Slice: mine]"), "{document}");
    let document =
        aggregate(&sandbox, &["--tier", "3", "--budget", "1200", "--focus", "src/cache.py", "--task", TASK]);
    assert!(document.contains("### src/cache.py\nPython · full\n"), "{document}");
}

#[test]
fn a_curated_view_that_does_not_fit_is_replaced_by_what_the_task_needs() {
    let sandbox = project();
    let flags = ["--tier", "3", "--budget", "500", "--task", TASK];
    let ranked = aggregate(&sandbox, &flags);
    assert!(ranked.contains("### src/cookies.py\nPython · excerpt"), "{ranked}");
    sandbox.write("slop.toml", "[[files]]\npath = \"src/cookies.py\"\nview_mode = \"full\"\n");
    let curated = aggregate(&sandbox, &flags);
    assert!(curated.contains("### src/cookies.py\nPython · excerpt"), "{curated}");
    assert!(curated.contains("def expire_cookies"), "{curated}");
}

#[test]
fn configuration_is_shown_without_passwords() {
    let sandbox = project();
    let task = "the password of cookies in settings.toml";
    let document = aggregate(&sandbox, &["--tier", "3", "--budget", "3000", "--task", task]);
    assert!(document.contains("### settings.toml\n"), "{document}");
    assert!(!document.contains("vT9"), "{document}");
}

#[test]
fn the_output_of_a_test_run_can_be_used_as_a_task() {
    let sandbox = project();
    let task = "--- FAIL: TestParser (0.00s)";
    for command in [["aggregate", "--stdout"].as_slice(), &["explain", "src/cookies.py"]] {
        sandbox.stdout_of(&[command, &["--task", task]].concat());
    }
    sandbox.stdout_of(&["search", task, "--limit", "3"]);
}

#[test]
fn invalid_tasks_are_refused_and_unusual_ones_reported() {
    let sandbox = project();
    let ask = |flags: &[&str]| sandbox.slop(&[&["aggregate", "--stdout", "--tier", "3"], flags].concat());
    ask(&["--task", " \n"]).assert_fails(1, &["task cannot be read", "task text is empty", "hint:"]);
    ask(&["--task", ""]).assert_fails(2, &["--task"]);
    ask(&["--task", "a", "--task-file", "b"]).assert_fails(2, &["--task-file"]);
    ask(&["--task-file", "nowhere.txt"]).assert_fails(1, &["task nowhere.txt cannot be read", "--task TEXT"]);
    let ran = ask(&["--budget", "500", "--task", "xyzzyplugh"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("task: nothing in the project matches"), "{ran:?}");
    sandbox.write("../long.txt", format!("expire_cookies\n{}", "word of a log\n".repeat(30_000)));
    let ran = ask(&["--budget", "500", "--task-file", "../long.txt"]);
    assert!(ran.code == 0 && ran.err.contains("task: text is too long"), "{}", ran.err);
    assert!(ran.out.contains("expire_cookies"), "{}", ran.out);
    // The failure is at the end of a log.
    sandbox
        .write("../longer.txt", format!("CI fails\n{}expire_cookies\n", "word of a log\n".repeat(300_000)));
    let ran = ask(&["--budget", "500", "--task-file", "../longer.txt"]);
    assert!(ran.code == 0 && ran.out.contains("expire_cookies"), "{ran:?}");
    let utf_16: Vec<u8> = "\u{feff}expire_cookies fails".encode_utf16().flat_map(u16::to_le_bytes).collect();
    sandbox.write("../windows.txt", utf_16);
    let ran = ask(&["--budget", "500", "--task-file", "../windows.txt"]);
    assert!(ran.code == 0 && ran.out.contains("expire_cookies"), "{ran:?}");
    // Bytes that are not UTF-8 are decoded as far as possible.
    sandbox.write("../bytes.txt", b"expire_cookies \xff\xfe fails\n");
    assert_eq!(ask(&["--task-file", "../bytes.txt"]).code, 0);
}

#[test]
fn a_task_is_read_from_a_pipe() {
    let sandbox = project();
    let flags = ["aggregate", "--stdout", "--tier", "3", "--budget", "500", "--task-file", "/dev/stdin"];
    let mut child = sandbox.command(&flags).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"expire_cookies fails").unwrap();
    let ran = child.wait_with_output().unwrap();
    assert!(
        ran.status.success() && String::from_utf8_lossy(&ran.stdout).contains("expire_cookies"),
        "{ran:?}"
    );
}

#[test]
fn a_task_without_a_budget_gets_a_default_budget() {
    let sandbox = project();
    let receipt = sandbox.json(&["aggregate", "--dry-run", "--tier", "3", "--task", TASK])["receipt"].take();
    assert_eq!(number(&receipt["budget_tokens"]), 20_000);
    let score = list(&receipt["files"]).find(|file| file["path"] == "src/cookies.py").unwrap();
    assert!(0 < number(&score["score"]["thousandths"]), "{score}");
    assert_eq!(texts(&score["score"]["parts"], "part")[0], "text");
}

#[test]
fn a_search_lists_symbols_and_files_with_reasons() {
    let sandbox = project();
    let hits = |flags: &[&str]| -> Vec<Value> {
        list(&sandbox.json(&[&["search"], flags].concat())["hits"]).cloned().collect()
    };
    let found = hits(&[TASK, "--limit", "3"]);
    assert_eq!(found.len(), 3);
    assert_eq!((&found[0]["path"], &found[0]["name"]), (&json!("src/cookies.py"), &json!("expire_cookies")));
    assert!(texts(&found[0]["score"]["parts"], "part").contains(&"exact".to_owned()), "{found:?}");
    // All kinds of hits have the same keys.
    let all = [hits(&[TASK, "--limit", "100"]), hits(&[TASK, "--kind", "file"])].concat();
    assert!(["file", "lines", "function"].iter().all(|kind| all.iter().any(|hit| hit["kind"] == *kind)));
    let keys = ["end_line", "kind", "name", "path", "score", "start_line"];
    assert!(all.iter().all(|hit| hit.as_object().unwrap().keys().eq(keys)), "{all:?}");
    assert!(hits(&[TASK, "--kind", "file"]).iter().all(|hit| hit["kind"] == "file"));
    assert!(hits(&[TASK, "--kind", "function"]).iter().all(|hit| hit["kind"] == "function"));
    assert_eq!(hits(&["xyzzyplugh"]), Vec::<Value>::new());
    sandbox
        .slop(&["search", TASK, "--kind", "foo"])
        .assert_fails(1, &["no kind of hit is named `foo`", "hint:"]);
    sandbox.slop(&["search", "  "]).assert_fails(1, &["task text is empty"]);
}

#[test]
fn a_search_finds_an_edit_and_a_daemon_gives_the_same_answer() {
    let sandbox = project();
    let command =
        ["aggregate", "--stdout", "--tier", "3", "--budget", "700", "--task", "where is a quokka fed?"];
    let search = ["search", "quokka"];
    let before = sandbox.stdout_of(&command);
    assert!(!before.contains("feed_quokka"), "{before}");
    sandbox.write("src/zoo.py", function("feed_quokka", "quokka food"));
    let alone = sandbox.stdout_of(&command);
    let found = sandbox.stdout_of(&search);
    assert!(alone.contains("def feed_quokka(value):"), "{alone}");
    let daemon = TestDaemon::start(&sandbox);
    for _ in 0..2 {
        assert_eq!(sandbox.stdout_of(&command), alone);
        assert_eq!(sandbox.stdout_of(&search), found);
    }
    let answer = daemon.query("/v1/search", &json!({"query": "quokka", "limit": 1}));
    assert_eq!(text(&answer["data"]["hits"][0]["name"]), "feed_quokka");
}

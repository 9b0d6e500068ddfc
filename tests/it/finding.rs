//! Finding files and symbols: names, patterns, nearest matches, focus, and the totals of a project.

use super::samples::sample_project;
use super::sandbox::{Sandbox, list, text, texts};

/// Returns a project in which one name has several meanings.
fn project() -> Sandbox {
    let sandbox = sample_project();
    sandbox.write("src/flask/app.py", "class Flask:\n    def run(self):\n        return 1\n");
    sandbox.write("src/flask/sansio/app.py", "class App:\n    def setup(self):\n        return 1\n");
    sandbox.write("tests/test_flask.py", "class Flask:\n    def test(self):\n        return 1\n");
    sandbox.write("CHANGES.md", "# Flask\n\nIt changed.\n");
    sandbox.commit_all("more");
    sandbox
}

#[test]
fn a_unique_file_name_needs_no_folder_and_a_typo_is_corrected() {
    let sandbox = project();
    assert!(sandbox.stdout_of(&["view", "engine.py"]).starts_with("src/engine.py · "));
    assert!(sandbox.stdout_of(&["outline", "sansio/app.py"]).starts_with("src/flask/sansio/app.py · "));
    assert!(sandbox.stdout_of(&["explain", "fast.c"]).starts_with("src/fast.c\n"));
    sandbox.slop(&["view", "app.py"]).assert_fails(1, &["several files: src/flask/app.py, src/flask/sansio"]);
    sandbox.slop(&["view", "src/enigne.py"]).assert_fails(1, &["no such file", "nearest is src/engine.py"]);
    let ran = sandbox.slop(&["aggregate", "--stdout", "enigne.py"]);
    assert!(ran.code == 4 && ran.err.contains("the nearest is src/engine.py"), "{ran:?}");
}

#[test]
fn symbols_are_found_by_module_pattern_kind_and_in_any_case() {
    let sandbox = project();
    let places = |flags: &[&str]| -> Vec<String> {
        let found = sandbox.json(&[&["symbol"], flags].concat());
        list(&found).map(|symbol| format!("{} {}", text(&symbol["path"]), text(&symbol["kind"]))).collect()
    };
    let (class, test) = ("src/flask/app.py class", "tests/test_flask.py class");
    assert_eq!(places(&["Flask"]), [class, test, "CHANGES.md heading"]);
    assert_eq!(places(&["Flask", "--kind", "heading"]), ["CHANGES.md heading"]);
    assert_eq!(places(&["flask.app.Flask"]), [class]);
    assert_eq!(places(&["-i", "flask", "--kind", "class"]), [class, test]);
    assert_eq!(places(&["set*"]), ["src/flask/sansio/app.py method"]);
    assert_eq!(places(&["Flask.*"]), ["src/flask/app.py method", "tests/test_flask.py method"]);
    let missed = sandbox.slop(&["symbol", "Flaskk"]);
    missed.assert_fails(1, &["nearest names: `Flask`", "no symbol named `Flaskk`"]);
    let missed = sandbox.slop(&["search", "Flaskk"]);
    assert!(missed.out.is_empty() && missed.err.contains("nearest names: `Flask`"), "{missed:?}");
    let other = sandbox.slop(&["search", "Flask", "--kind", "enum"]);
    assert!(other.err.contains("nothing of that kind matches"), "{other:?}");
    sandbox.slop(&["symbol", "x", "--kind", "clas"]).assert_fails(1, &["nearest known is `class`"]);
}

#[test]
fn files_and_symbols_are_found_by_some_of_their_characters() {
    let sandbox = project();
    let found = sandbox.stdout_of(&["find", "sansapp", "--limit", "1"]);
    assert_eq!(found, "src/flask/sansio/app.py [file]\n");
    let symbols = sandbox.stdout_of(&["find", "flsk", "--symbols"]);
    assert!(
        symbols.contains("src/flask/app.py:1 [class] Flask\n") && !symbols.contains("[file]"),
        "{symbols}"
    );
    let none = sandbox.slop(&["find", "zzzz"]);
    assert!(none.code == 0 && none.out.is_empty() && none.err.contains("no name has"), "{none:?}");
}

#[test]
fn a_focus_that_matches_several_files_takes_the_best_and_names_the_others() {
    let sandbox = project();
    let aggregate = |word: &str| sandbox.slop(&["aggregate", "--tier", "3", "--stdout", "--focus", word]);
    let ran = aggregate("app.py");
    assert!(ran.out.contains("### src/flask/app.py\nPython · full"), "{ran:?}");
    assert!(
        ran.err.contains("`app.py` is src/flask/app.py; it also matches src/flask/sansio/app.py ("),
        "{ran:?}"
    );
    assert!(ran.err.contains(" tokens)"), "{ran:?}");
    assert!(aggregate("flask/app").out.contains("### src/flask/app.py\nPython · full"));
    aggregate("flask/apq.py").assert_fails(1, &["no file matches the focus", "src/flask/app.py"]);
    // Git lists deleted files until the deletion is committed.
    std::fs::remove_file(sandbox.path("src/flask/app.py")).unwrap();
    let gone = aggregate("src/flask/app.py");
    gone.assert_fails(1, &["no file matches the focus"]);
    assert!(!gone.err.contains("the nearest is src/flask/app.py"), "{gone:?}");
    sandbox.slop(&["explain", "engine.py", "--focus", "nowhere"]).assert_fails(1, &["focus `nowhere`"]);
}

#[test]
fn a_default_limit_reduces_the_second_file_in_focus() {
    let sandbox = Sandbox::repo();
    for name in ["one", "two"] {
        let functions =
            |n| format!("def {name}_{n}(value):\n    total = value + {n}\n    return [total] * 3\n\n\n");
        sandbox.write(format!("{name}.py"), (0..520).map(functions).collect::<String>());
    }
    sandbox.commit_all("both");
    let focus = ["--tier", "3", "--task", "Fix one_1", "--focus", "one.py", "--focus", "two.py"];
    let document = sandbox.aggregate_json(&focus);
    let files: Vec<(String, String)> =
        list(&document["receipt"]["files"]).map(|file| (text(&file["path"]), text(&file["view"]))).collect();
    assert!(files.contains(&("one.py".to_owned(), "full".to_owned())), "{files:?}");
    assert!(files.iter().any(|(path, view)| path == "two.py" && view != "full"), "{files:?}");
    let asked = [&["aggregate", "--stdout", "--budget", "20000"], &focus[..]].concat();
    sandbox.slop(&asked).assert_fails(1, &["budget is 20000"]);
}

#[test]
fn patterns_include_and_exclude_files() {
    let sandbox = project();
    let paths = |flags: &[&str]| {
        let mut paths = texts(&sandbox.aggregate_json(&[&["--tier", "1"], flags].concat())["files"], "path");
        paths.sort();
        paths
    };
    assert_eq!(paths(&["--include", "*.c"]), ["src/fast.c"]);
    assert_eq!(
        paths(&["src", "--exclude", "flask/", "--exclude", "*.c"]),
        ["src/engine.py", "src/util/text.py"]
    );
    sandbox.slop(&["aggregate", "--stdout", "--include", "*.rs"]).assert_fails(1, &["*.rs"]);
}

#[test]
fn status_shows_stale_files_totals_and_folders() {
    let sandbox = sample_project();
    let before = sandbox.slop(&["status"]);
    assert_eq!(before.out, "6 files: 0 fresh, 0 stale, 6 new, 0 left out\n");
    assert!(before.err.contains("nothing is indexed yet"), "{}", before.err);
    sandbox.slop(&["index"]);
    assert_eq!(sandbox.stdout_of(&["status"]), "6 files: 5 fresh, 0 stale, 0 new, 1 left out (binary 1)\n");
    sandbox.write("src/new.py", "A = 1\n");
    let status = sandbox.stdout_of(&["status"]);
    assert!(status.starts_with("new       src/new.py\n7 files: 5 fresh"), "{status}");
    assert!(sandbox.stdout_of(&["status", "--all"]).contains("fresh     src/engine.py"));
    let folders = sandbox.stdout_of(&["status", "--by", "folder"]);
    let words = |folder: &str| {
        let line = folders.lines().find(|line| line.trim_end().ends_with(folder));
        line.unwrap_or_default().split_whitespace().nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!((words("  util/"), words("  tests/")), ("1".to_owned(), "1".to_owned()), "{folders}");
}

#[test]
fn an_audit_of_an_empty_index_says_so() {
    let sandbox = sample_project();
    sandbox.slop(&["index"]);
    sandbox.slop(&["cache", "clear"]);
    let ran = sandbox.slop(&["audit"]);
    assert_eq!((ran.code, ran.out.lines().count()), (1, 1), "{ran:?}");
    assert!(ran.out.contains("nothing is indexed"), "{ran:?}");
}

#[test]
fn the_numbers_of_an_index_run_add_up() {
    let sandbox = sample_project();
    let ran = sandbox.slop(&["index"]);
    assert!(
        ran.out.starts_with("6 files: 5 derived, 0 already known, 1 left out (binary 1); 6 read, 0 gone; "),
        "{ran:?}"
    );
}

#[test]
fn help_is_a_command_and_colors_are_for_terminals() {
    let sandbox = sample_project();
    assert_eq!(sandbox.stdout_of(&["help", "view"]), sandbox.stdout_of(&["view", "--help"]));
    for command in [&["status", "--all"][..], &["outline"], &["explain", "src/engine.py"], &["symbol", "run"]]
    {
        assert!(!sandbox.stdout_of(command).contains('\u{1b}'), "{command:?}");
        let colored = [command, &["--color", "always"]].concat();
        assert!(sandbox.stdout_of(&colored).contains('\u{1b}'), "{command:?}");
    }
}

#[test]
fn a_skeleton_shows_the_requested_amount_of_documentation() {
    let sandbox = Sandbox::repo();
    let module = "\"\"\"Reads frames.\n\nSlowly.\n\"\"\"\n\n\ndef read(wire):\n    \"\"\"Read one.\n\n    Of them.\n    \"\"\"\n    frame = wire.next()\n    return frame\n";
    sandbox.write("frames.py", module);
    sandbox.write("names.py", "A = 1\n");
    sandbox.commit_all("all");
    let document =
        |flags: &[&str]| sandbox.stdout_of(&[&["aggregate", "--tier", "3", "--stdout"], flags].concat());
    let brief = document(&[]);
    assert!(
        brief.contains("\"\"\"Read one. [...]\"\"\"\n    ...  # 2 lines") && !brief.contains("Slowly"),
        "{brief}"
    );
    assert!(document(&["--docs", "full"]).contains("Slowly."));
    assert!(!document(&["--docs", "none"]).contains("Read one"));
    assert!(sandbox.stdout_of(&["view", "frames.py", "-m", "skeleton"]).contains("Slowly."));
    assert!(
        !sandbox.stdout_of(&["view", "frames.py", "-m", "skeleton", "--docs", "brief"]).contains("Slowly.")
    );
    assert!(brief.contains("### names.py\nPython · full\n"), "{brief}");
    sandbox.write("slop.toml", "[aggregation]\ndocs = \"full\"\n\n[limits]\nmax_bytes = 100\n\n[tiers.2]\nview = \"ast_signatures\"\n");
    assert!(document(&[]).contains("### frames.py\nPython · outline"), "{}", document(&[]));
    let signatures = sandbox.stdout_of(&["aggregate", "--tier", "2", "--stdout", "frames.py"]);
    assert!(signatures.contains("ast_signatures") && signatures.contains("def read(wire)"), "{signatures}");
}

//! Usage errors, and the smaller commands.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use super::samples::sample_project;
use super::sandbox::{CommandOutput, Sandbox, list, run};

#[test]
fn init_writes_settings_without_effect_and_never_overwrites() {
    let sandbox = sample_project();
    let before = sandbox.stdout_of(&["config", "show"]);
    let said = sandbox.stdout_of(&["init"]);
    assert!(said.ends_with("slop.toml\n"), "{said}");
    assert_eq!(sandbox.stdout_of(&["config", "show"]), before);
    let written = sandbox.read("slop.toml");
    assert!(written.contains("default_mode"));
    sandbox.slop(&["init"]).assert_fails(1, &["slop.toml", "hint: edit the existing file"]);
    assert_eq!(sandbox.read("slop.toml"), written);
}

#[test]
fn config_show_reports_the_origin_of_each_setting() {
    let sandbox = sample_project();
    sandbox.write("slop.toml", "[aggregation]\n\norder = \"path\"\n");
    fs::create_dir_all(sandbox.outside("config/slop")).unwrap();
    fs::write(sandbox.outside("config/slop/config.toml"), "[limits]\nmax_bytes = 7\n").unwrap();
    let mut command = sandbox.command(&["config", "show", "--origin"]);
    command.env("SLOP_PROJECT_NAME", "app").env("SLOP_AGGREGATION_ORDER", "given");
    let said = run(command).out;
    let line = |key: &str| said.lines().find(|line| line.starts_with(key)).unwrap_or_default().to_owned();
    assert!(line("limits.max_bytes").starts_with("limits.max_bytes = 7  # "), "{said}");
    assert!(line("limits.max_bytes").ends_with("config.toml:2"), "{said}");
    assert!(
        line("project.name").contains("\"app\"  # ") && line("project.name").contains("SLOP_PROJECT_NAME")
    );
    assert!(line("aggregation.order").contains("\"given\"") && line("aggregation.order").contains("SLOP_"));
    let said = sandbox.stdout_of(&["config", "show", "--origin"]);
    assert!(said.contains("order = \"path\"  # ") && said.contains("slop.toml:3"), "{said}");
    let values = sandbox.json(&["config", "show"])["values"].take();
    assert!(list(&values).all(|value| !value["help"].as_str().unwrap().is_empty()));
}

#[test]
fn an_invalid_setting_is_reported_with_file_line_and_similar_key() {
    let sandbox = sample_project();
    sandbox.write("slop.toml", "[aggregation]\norder = \"path\"\ndefualt_mode = \"full\"\n");
    let near = ["slop.toml:3", "defualt_mode", "default_mode", "hint:"];
    for command in [&["index"][..], &["config", "show"], &["aggregate"]] {
        sandbox.slop(command).assert_fails(1, &near);
    }
    sandbox.write("slop.toml", "[aggregation]\norder = \"upwards\"\n");
    sandbox.slop(&["index"]).assert_fails(1, &["slop.toml:2", "upwards", "stable"]);
    sandbox.write("slop.toml", "[aggregation\n");
    sandbox.slop(&["index"]).assert_fails(1, &["slop.toml:1"]);
    fs::remove_file(sandbox.path("slop.toml")).unwrap();
    let mut command = sandbox.command(&["index"]);
    command.env("SLOP_AGGREGATION_ORDER", "upwards");
    run(command).assert_fails(1, &["SLOP_AGGREGATION_ORDER", "upwards"]);
}

#[test]
fn completions_for_each_shell_and_man_pages_for_each_command_are_printed() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(sandbox.stdout_of(&["completions", shell]).contains("aggregate"), "{shell}");
    }
    assert!(sandbox.stdout_of(&["man"]).contains(".TH slop 1"));
    assert!(sandbox.stdout_of(&["man", "aggregate"]).contains("\\-\\-focus"));
    sandbox.slop(&["man", "nothing"]).assert_fails(1, &["nothing", "hint:"]);
    assert!(!sandbox.path(".slop_cache").exists());
}

#[test]
fn usage_errors_have_their_own_exit_code() {
    let sandbox = sample_project();
    for wrong in [
        &["frobnicate"][..],
        &[],
        &["aggregate", "--tier", "5"],
        &["aggregate", "--tier", "one"],
        &["aggregate", "--order", "upwards"],
        &["aggregate", "--stdout", "-o", "x.md"],
        &["view"],
        &["view", "README.md", "--mode", "window"],
        &["symbol", "x", "--definition", "--signature"],
        &["completions", "tcsh"],
    ] {
        let ran = sandbox.slop(wrong);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{wrong:?} {ran:?}");
        assert!(!ran.err.is_empty());
    }
}

#[cfg(unix)]
#[test]
fn a_missing_or_invalid_folder_is_named_in_the_error() {
    let sandbox = sample_project();
    let ran = sandbox.slop(&["status", "--project", "README.md"]);
    ran.assert_fails(1, &["project folder `README.md` cannot be opened: Not a directory"]);
    let script = "mkdir gone && cd gone && rmdir ../gone && exec \"$SLOP\" status";
    super::sandbox::run(sandbox.script(script))
        .assert_fails(3, &["current folder cannot be opened", "change to an existing folder"]);
}

#[test]
fn a_missing_or_foreign_file_is_the_users_error() {
    let sandbox = sample_project();
    fs::write(sandbox.outside("outside.py"), "hunter2 = 1\n").unwrap();
    let outside = sandbox.outside("outside.py");
    for command in ["view", "outline", "explain"] {
        sandbox.slop(&[command, "nowhere.py"]).assert_fails(1, &["nowhere.py", "hint: `slop status --all`"]);
        sandbox.slop(&[command, "../outside.py"]).assert_fails(1, &["../outside.py", "--project"]);
        sandbox.slop(&[command, outside.to_str().unwrap()]).assert_fails(1, &["outside.py", "--project"]);
        sandbox.slop(&[command, "src/../../outside.py"]).assert_fails(1, &["outside.py"]);
        sandbox.slop(&[command, ".git/config"]).assert_fails(1, &["not part of the project"]);
    }
    sandbox.write("notes.txt", "Words.\n");
    sandbox.slop(&["outline", "notes.txt"]).assert_fails(1, &["notes.txt", "Plain text"]);
    sandbox.slop(&["view", "a[.py"]).assert_fails(1, &["a[.py", "hint:"]);
}

#[test]
fn errors_are_reported_as_json_with_the_json_flag() {
    let sandbox = sample_project();
    sandbox.write("notes.txt", "Words.\n");
    for (command, code) in [
        (&["view", "nowhere.py", "--json"][..], "not_found"),
        (&["view", "../x", "--json"], "outside_project"),
        (&["outline", "notes.txt", "--json"], "no_such_view"),
        (&["aggregate", "--stdout", "--history", "nope.json", "--json"], "history_not_found"),
        // Errors of the command-line parser are reported in the same way.
        (&["aggregate", "--stdout", "--preset", "nobody", "--json"], "no_such_preset"),
        (&["preset", "show", "nobody", "--json"], "no_such_preset"),
        (&["slice", "remove", "README.md", "nothing", "--json"], "not_found"),
        (&["slice", "resolve", "README.md", "--json"], "bad_slice"),
    ] {
        let ran = sandbox.slop(command);
        assert_eq!(ran.code, 1, "{ran:?}");
        let envelope: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!((&envelope["schema_version"], &envelope["error"]["code"]), (&1.into(), &code.into()));
        assert_eq!(envelope["command"], command[0]);
        assert!(envelope["error"]["hint"].is_string());
    }
}

#[test]
fn with_json_exactly_one_object_is_printed_even_on_failure() {
    let ran = sample_project().slop(&["symbol", "nobody", "--json"]);
    assert_eq!((ran.code, ran.out.lines().count()), (1, 1), "{ran:?}");
    assert!(ran.err.contains("`nobody`"), "{ran:?}");
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let sandbox = Sandbox::repo();
    for file in 0..50 {
        let function = |n| format!("def f{n}(x):\n    return x + {n}\n\n\n");
        sandbox.write(format!("m{file}.py"), (0..200).map(function).collect::<String>());
    }
    for command in [
        &["outline", "--json"][..],
        &["outline"],
        &["aggregate", "--strategy", "full", "--stdout"],
        &["cache", "export"],
        &["man"],
        &["completions", "zsh"],
        &["status"],
        &["--help"],
    ] {
        let mut run = sandbox.command(command);
        let mut run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(run.stdout.take());
        let ran = CommandOutput::from_output(&run.wait_with_output().unwrap());
        assert_eq!(ran.code, 0, "{command:?}");
        assert!(!ran.err.contains("error"), "{command:?}: {}", ran.err);
    }
}

#[test]
fn failing_to_write_to_standard_output_is_an_error() {
    let sandbox = sample_project();
    let ran = run(sandbox.script("$SLOP outline --json > /dev/full"));
    ran.assert_fails(3, &["error: standard output cannot be written"]);
}

#[test]
fn paths_are_relative_to_the_current_subfolder() {
    let sandbox = sample_project();
    sandbox.stdout_of(&["index"]);
    assert!(
        sandbox.slop_in("src", &["view", "engine.py"]).out.starts_with("src/engine.py · Python · full\n")
    );
    assert!(sandbox.slop_in("src/util", &["view", "../engine.py"]).out.starts_with("src/engine.py"));
    assert!(sandbox.slop_in("src", &["view", "../README.md"]).out.starts_with("README.md"));
    let said = sandbox.slop_in("src", &["outline", "."]).out;
    assert!(said.contains("src/engine.py") && !said.contains("tests/"), "{said}");
    let said = sandbox.slop_in("src", &["outline"]).out;
    assert!(said.contains("tests/test_engine.py"), "{said}");
    let said = sandbox.slop_in("src", &["aggregate", "--tier", "3", "--focus", "engine.py", "--stdout"]).out;
    assert!(said.contains("### src/engine.py\nPython · full"), "{said}");
    assert!(!sandbox.path("src/.slop_cache").exists());
}

#[test]
fn the_project_flag_selects_the_project() {
    let sandbox = sample_project();
    let root = sandbox.root();
    let mut command = sandbox.command(&["--project", root.to_str().unwrap(), "view", "src/engine.py"]);
    command.current_dir(sandbox.outside("home"));
    assert!(run(command).out.starts_with("src/engine.py · "));
    sandbox.slop(&["--project", "nowhere", "index"]).assert_fails(1, &["nowhere", "hint:"]);
    sandbox.slop(&["--project", "README.md", "index"]).assert_fails(1, &["README.md", "hint:"]);
}

#[test]
fn paths_may_be_spelled_as_shells_and_scripts_spell_them() {
    let sandbox = sample_project();
    let absolute = sandbox.path("src/engine.py");
    for word in
        ["src/engine.py", "./src/engine.py", "src//engine.py", "src/./engine.py", "src/util/../engine.py"]
    {
        assert!(sandbox.stdout_of(&["view", word]).starts_with("src/engine.py · "), "{word}");
    }
    assert!(sandbox.stdout_of(&["view", absolute.to_str().unwrap()]).starts_with("src/engine.py · "));
    assert!(sandbox.stdout_of(&["view", "src/util/"]).starts_with("src/util/text.py · "));
}

#[test]
fn quiet_prints_only_results() {
    let sandbox = sample_project();
    let ran = sandbox.slop(&["status", "--by", "folder", "-q"]);
    assert_eq!(ran.err, "");
    assert!(!sandbox.slop(&["status", "--by", "folder"]).err.is_empty());
    sandbox.slop(&["view", "nowhere.py", "-q"]).assert_fails(1, &["error:"]);
}

#[test]
fn colors_are_used_only_on_terminals() {
    let sandbox = sample_project();
    assert!(!sandbox.slop(&["view", "nowhere.py"]).err.contains('\u{1b}'));
    assert!(sandbox.slop(&["view", "nowhere.py", "--color", "always"]).err.contains('\u{1b}'));
}

#[test]
fn a_checkout_where_git_fails_is_walked_with_a_note() {
    let sandbox = sample_project();
    sandbox.write("ignored.log", "x\n");
    sandbox.write(".gitignore", "*.log\n");
    let mut command = sandbox.command(&["status", "--all"]);
    command.env("PATH", "/nowhere");
    let ran = run(command);
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("note: the tree was walked"), "{}", ran.err);
    assert!(ran.out.contains("src/engine.py") && !ran.out.contains("ignored.log"), "{}", ran.out);
}

#[test]
fn viewing_a_folder_skips_files_without_text_and_reports_failures() {
    let sandbox = sample_project();
    sandbox.write("pictures/a.txt", "words\n");
    sandbox.write("pictures/b.png", b"\x89PNG\0\0");
    let shown = sandbox.slop(&["view", "pictures"]);
    assert_eq!((shown.code, shown.out.as_str()), (0, "pictures/a.txt · Plain text · full\nwords\n"));
    assert!(shown.err.contains("files that have no text to show: 1"), "{}", shown.err);
    // A UTF-16 byte order mark followed by half of a surrogate pair.
    sandbox.write("pictures/c.txt", b"\xff\xfe\x00\xd8");
    let failed = sandbox.slop(&["view", "pictures"]);
    assert_eq!(failed.code, 4);
    assert!(failed.out.contains("ERROR in full view mode for pictures/c.txt: "), "{}", failed.out);
}

#[test]
fn an_empty_argument_selects_no_file_and_the_root_selects_all() {
    let sandbox = sample_project();
    sandbox.slop(&["view", ""]).assert_fails(1, &["path is empty"]);
    let root = sandbox.path("").canonicalize().unwrap();
    let all = sandbox.stdout_of(&["view", root.to_str().unwrap(), "-m", "summary"]);
    assert_eq!(all, sandbox.stdout_of(&["view", ".", "-m", "summary"]));
}

#[test]
fn an_invalid_number_is_refused_with_the_valid_range() {
    let sandbox = Sandbox::repo();
    for (arguments, expected) in [
        (&["aggregate", "--budget", "-1"][..], "expected a number of tokens from 1 up, or `none`"),
        (&["aggregate", "--max-bytes", "-1"], "expected a number from 1 up"),
        (&["aggregate", "--tier", "5"], "expected a number from 1 to 4"),
        (&["search", "x", "--limit", "-1"], "expected a number from 1 to 1000"),
        (&["search", "x", "--limit", "1.5"], "expected a number from 1 to 1000"),
        (&["callees", "x", "--depth", "-1"], "expected a number from 1 up"),
        (&["jump", "x"], "expected a number from 1 up"),
        (&["impact", "x", "--depth", "0"], "expected a number from 1 up"),
        (&["cache", "gc", "--days", "-1"], "expected a number from 0 up"),
        (&["view", "x", "--lines", "-1"], "`` is not a line number"),
    ] {
        let ran = sandbox.slop(arguments);
        ran.assert_fails(2, &[expected]);
    }
}

#[test]
fn an_error_in_the_arguments_is_json_too() {
    let sandbox = Sandbox::repo();
    let ran = sandbox.slop(&["--json", "aggregate", "--tier", "9"]);
    assert!(ran.code == 2 && ran.err.contains("expected a number from 1 to 4"), "{ran:?}");
    let answer: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&answer["command"], &answer["error"]["code"]), (&json!("aggregate"), &json!("usage")));
    assert!(
        answer["error"]["message"].as_str().unwrap().contains("expected a number from 1 to 4"),
        "{answer}"
    );
    assert_eq!(sandbox.slop(&["--json", "--version"]).code, 0);
}

#[test]
fn documents_are_composed_although_no_thread_can_be_started() {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "def first():\n    return 1\n");
    sandbox.commit_all("first");
    let mut command = sandbox.command(&["aggregate", "--stdout"]);
    // No stack is as large as this.
    command.env("RUST_MIN_STACK", (1_u64 << 46).to_string());
    let ran = run(command);
    assert!(ran.code == 0 && ran.out.contains("def first()"), "{ran:?}");
    // Git cannot be run.
    assert!(ran.err.contains("the tree was walked"), "{}", ran.err);
}

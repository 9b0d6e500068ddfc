//! How entries, slices, masks, presets and personas affect documents.

use std::fs;

use serde_json::{Value, json};

use super::samples::sample_project;
use super::sandbox::{list, text, texts};

/// Returns a file's view, the rule that chose it, and the reason if another view was used.
#[track_caller]
fn outcome_of(document: &Value, path: &str) -> (String, String, Value) {
    let entry = list(&document["receipt"]["files"]).find(|file| file["path"] == path);
    let entry = entry.unwrap_or_else(|| panic!("{path} is not in the receipt"));
    (text(&entry["view"]), text(&entry["rule"]), entry["why"].clone())
}

#[track_caller]
fn block_of(document: &Value, path: &str) -> String {
    let file = list(&document["files"]).find(|file| file["path"] == path);
    text(&file.unwrap_or_else(|| panic!("{path} is not shown"))["text"])
}

#[test]
fn each_entry_decides_how_its_files_are_shown() {
    let sandbox = sample_project();
    sandbox.write(
        "slop.toml",
        r#"
        [[files]]
        path = "src/*"
        view_mode = "outline"
        [[files]]
        path = "src/fast.c"
        force_full = true
        [[files]]
        path = "README.md"
        auto_aggregate = false
        [[files]]
        path = "src/util"
        ast_signatures = true
        [[files]]
        path = "tests/test_engine.py"
        view_mode = "none"
        "#,
    );
    let document = sandbox.aggregate_json(&["--tier", "3"]);
    let rule = |path: &str| outcome_of(&document, path);
    assert_eq!(rule("src/engine.py"), ("outline".into(), "view_mode".into(), Value::Null));
    assert_eq!(rule("src/fast.c"), ("full".into(), "force_full".into(), Value::Null));
    assert_eq!(rule("src/util/text.py"), ("ast_signatures".into(), "ast".into(), Value::Null));
    assert_eq!(rule("tests/test_engine.py"), ("none".into(), "excluded".into(), Value::Null));
    assert_eq!(block_of(&document, "tests/test_engine.py"), "(context excluded)");
    assert_eq!(block_of(&document, "src/util/text.py"), "def shorten(text): ...\n");
    let omitted = list(&document["receipt"]["left_out"]).find(|file| file["path"] == "README.md");
    assert_eq!(omitted.unwrap()["reason"], "auto_aggregate");
    assert!(!texts(&document["files"], "path").contains(&"README.md".to_owned()));
    // A file with auto_aggregate = false can still be requested by name.
    assert!(sandbox.stdout_of(&["view", "README.md"]).contains("A project of things."));
}

#[test]
fn a_slice_is_shown_at_its_current_lines_and_reported_when_lost() {
    let sandbox = sample_project();
    sandbox.stdout_of(&["slice", "add", "src/fast.c", "2-5", "--tag", "hot loop", "--comment", "why"]);
    let shown = "---\n[Slice: hot loop] (why)\nLines 2-5:\nint twice(int x)\n{\n    return x + x;\n}\n";
    let of = |document: &Value| (outcome_of(document, "src/fast.c"), block_of(document, "src/fast.c"));
    let slices = |why: Value| ("custom".to_owned(), "slices".to_owned(), why);
    assert_eq!(of(&sandbox.aggregate_json(&["--tier", "3"])), (slices(Value::Null), shown.to_owned()));

    let source = sandbox.read("src/fast.c");
    sandbox.write("src/fast.c", format!("#include <stdio.h>\n\n{source}"));
    let moved = shown.replace("2-5", "4-7");
    assert_eq!(of(&sandbox.aggregate_json(&["--tier", "3"])), (slices(Value::Null), moved.clone()));
    assert_eq!(sandbox.stdout_of(&["view", "src/fast.c", "--mode", "custom", "--bare"]), moved);

    sandbox.write("src/fast.c", "int other;\n");
    let (became, body) = of(&sandbox.aggregate_json(&["--tier", "3"]));
    assert!(text(&became.2).contains("\"hot loop\" of lines 2-5 is lost"), "{became:?}");
    assert!(body.contains("[Slice: hot loop] (why)\nLines 2-5 (lost"), "{body}");
    assert!(!body.contains("int other"), "{body}");

    sandbox.write("src/fast.c", b"\0\x01\x02");
    let document = sandbox.aggregate_json(&["--tier", "3"]);
    let omitted = list(&document["receipt"]["left_out"]).find(|file| file["path"] == "src/fast.c");
    assert_eq!(omitted.unwrap()["reason"], "binary");
}

#[test]
fn a_mask_shows_the_named_symbols_and_reports_missing_ones() {
    let sandbox = sample_project();
    sandbox.stdout_of(&["mask", "set", "src/engine.py", "Engine.run=def"]);
    let document = sandbox.aggregate_json(&["--tier", "3"]);
    assert_eq!(outcome_of(&document, "src/engine.py"), ("masked".into(), "mask".into(), Value::Null));
    assert!(block_of(&document, "src/engine.py").contains("burnt = fuel * 2"));
    sandbox.write("src/engine.py", sandbox.read("src/engine.py").replace("run(", "go("));
    let document = sandbox.aggregate_json(&["--tier", "3"]);
    let (view, _, why) = outcome_of(&document, "src/engine.py");
    assert_eq!(view, "skeleton", "the tier's view");
    assert!(text(&why).contains("Engine.run") && text(&why).contains("Engine.go"), "{why}");
}

#[test]
fn diffs_are_based_on_the_last_commit_or_the_given_revision() {
    let sandbox = sample_project();
    sandbox.write("slop.toml", "[[files]]\npath = \"src\"\nview_mode = \"diff\"\n");
    sandbox.write("src/fast.c", sandbox.read("src/fast.c").replace("x + x", "2 * x"));
    sandbox.commit_all("second");
    sandbox.write("src/fast.c", sandbox.read("src/fast.c").replace("2 * x", "x << 1"));
    let document = sandbox.aggregate_json(&["--tier", "3"]);
    assert_eq!(outcome_of(&document, "src/fast.c"), ("diff".into(), "view_mode".into(), Value::Null));
    assert!(block_of(&document, "src/fast.c").contains("-    return 2 * x;\n+    return x << 1;\n"));
    assert_eq!(block_of(&document, "src/engine.py"), "(no changes since HEAD)\n");
    let document = sandbox.aggregate_json(&["--tier", "3", "--base", "HEAD~1"]);
    assert!(block_of(&document, "src/fast.c").contains("-    return x + x;\n+    return x << 1;\n"));
    sandbox.slop(&["aggregate", "--base", "nowhere"]).assert_fails(1, &["`nowhere`", "hint:"]);
}

#[test]
fn an_entry_for_a_file_outside_of_the_project_is_reported_and_the_rest_is_shown() {
    let sandbox = sample_project();
    let outside = ["../other.py", "/etc/passwd", "../*.py", "src/../../other.py"];
    let items = outside.map(|path| format!("[[files]]\npath = \"{path}\"\n"));
    sandbox.write("slop.toml", items.concat());
    for files in [&[][..], &["src/engine.py"], &["--budget", "4000"]] {
        let document = sandbox.aggregate_json(files);
        let missing: Vec<&Value> = list(&document["receipt"]["missing"]).collect();
        assert_eq!(missing.iter().map(|one| text(&one["word"])).collect::<Vec<_>>(), outside, "{files:?}");
        let is_said = |one: &&Value| text(&one["why"]).ends_with("is outside of the project");
        assert!(missing.iter().all(is_said), "{missing:?}");
        assert!(document["files"].to_string().contains("src/engine.py"));
    }
}

#[test]
fn a_preset_shows_its_files_as_saved_and_reports_missing_ones() {
    let sandbox = sample_project();
    sandbox.write(
        "slop.toml",
        r#"
        [[files]]
        path = "src/engine.py"
        view_mode = "summary"
        [presets.review]
        files = ["README.md", { path = "src/engine.py", view_mode = "outline" }, "src/util/*.py"]
        [presets.empty]
        files = []
        "#,
    );
    let document = sandbox.aggregate_json(&["--preset", "review", "--order", "given"]);
    assert_eq!(texts(&document["files"], "path"), ["README.md", "src/engine.py", "src/util/text.py"]);
    assert_eq!(outcome_of(&document, "src/engine.py").0, "outline");
    assert_eq!(document["receipt"]["missing"], json!([]));
    assert_eq!(list(&sandbox.aggregate_json(&["--preset", "empty"])["files"]).count(), 0);
    let more = sandbox.aggregate_json(&["--preset", "review", "src/fast.c", "--order", "path"]);
    assert_eq!(list(&more["files"]).count(), 4);

    fs::remove_dir_all(sandbox.path("src/util")).unwrap();
    fs::remove_file(sandbox.path("README.md")).unwrap();
    sandbox.commit_all("gone");
    let ran = sandbox.slop(&["aggregate", "--preset", "review", "--stdout", "--order", "path"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.out.contains("ERROR: file not found: README.md"), "{}", ran.out);
    assert!(ran.out.contains("[Class] Engine"), "{}", ran.out);
    assert!(ran.err.contains("src/util/*.py"), "{}", ran.err);

    sandbox.slop(&["aggregate", "--preset", "revue"]).assert_fails(1, &["`revue`", "`review`", "hint:"]);
    assert!(!sandbox.path("slop_out").exists());
}

#[test]
fn a_plain_preset_entry_does_not_override_an_entry_with_settings() {
    let sandbox = sample_project();
    sandbox.write(
        "slop.toml",
        r#"
        [[files]]
        path = "src/engine.py"
        view_mode = "outline"
        [[files]]
        path = "README.md"
        auto_aggregate = false
        [presets.all]
        files = ["src", "README.md"]
        "#,
    );
    let document = sandbox.aggregate_json(&["--preset", "all"]);
    assert_eq!(outcome_of(&document, "src/engine.py").0, "outline");
    assert!(!texts(&document["files"], "path").contains(&"README.md".to_owned()));
}

#[test]
fn a_file_name_that_is_an_invalid_pattern_is_not_an_error() {
    let sandbox = sample_project();
    sandbox.write("src/[x/b.py", "b = 1\n");
    sandbox.stdout_of(&["slice", "add", "src/[x/b.py", "1-1"]);
    sandbox.stdout_of(&["preset", "save", "odd", "src/[x/b.py"]);
    let document = sandbox.aggregate_json(&["--tier", "3"]);
    assert_eq!(outcome_of(&document, "src/[x/b.py").0, "custom");
    assert_eq!(list(&sandbox.aggregate_json(&["src/[x/b.py"])["files"]).count(), 1);
    fs::remove_dir_all(sandbox.path("src/[x")).unwrap();
    let ran = sandbox.slop(&["aggregate", "--preset", "odd", "--stdout"]);
    assert!(ran.err.contains("src/[x/b.py: no file of the project matches it"), "{}", ran.err);
    sandbox.slop(&["view", "src/[y"]).assert_fails(1, &["src/[y"]);
}

#[test]
fn a_persona_sets_tier_strategy_preset_and_model() {
    let sandbox = sample_project();
    sandbox.write(
        "slop.toml",
        r#"
        [presets.core]
        files = ["src"]
        [personas.reviewer]
        tier = 2
        aggregation_strategy = "summarize"
        context_preset = "core"
        system_prompt = "You review."
        [[personas.reviewer.preferred_models]]
        provider = "openai"
        model = "gpt-x"
        [[personas.reviewer.preferred_models]]
        provider = "anthropic"
        model = "claude-x"
        temperature = 0.5
        max_output_tokens = 77
        "#,
    );
    let document = sandbox.aggregate_json(&["--persona", "reviewer"]);
    assert_eq!(
        (&document["receipt"]["tier"], &document["receipt"]["strategy"]),
        (&json!(2), &json!("summarize"))
    );
    assert_eq!(list(&document["files"]).count(), 3);
    let full = sandbox.aggregate_json(&["--persona", "reviewer", "--strategy", "full"]);
    assert_eq!(full["receipt"]["strategy"], "full");
    let sent = |format: &str| -> Value {
        serde_json::from_str(
            &sandbox.stdout_of(&["aggregate", "--persona", "reviewer", "--stdout", "--format", format]),
        )
        .unwrap()
    };
    let body = sent("anthropic");
    assert_eq!((&body["model"], &body["max_tokens"]), (&json!("claude-x"), &json!(77)));
    assert_eq!(body["temperature"], 0.5);
    assert!(body["system"].to_string().contains("You review."), "{}", body["system"]);
    let body = sent("openai");
    assert_eq!((&body["model"], &body["temperature"]), (&json!("gpt-x"), &Value::Null));
    assert_eq!(sandbox.slop(&["aggregate", "--persona", "reviewer", "--tier", "1"]).code, 2);
    sandbox.write("slop.toml", "[personas.lost]\ncontext_preset = \"gone\"\n");
    sandbox
        .slop(&["aggregate", "--persona", "lost"])
        .assert_fails(1, &["`gone`", "the persona `lost`", "--preset"]);
    sandbox.write("slop.toml", "[personas.reviewer]\n");
    sandbox
        .slop(&["aggregate", "--persona", "revuer"])
        .assert_fails(1, &["persona", "`revuer`", "`reviewer`"]);
}

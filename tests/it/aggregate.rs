//! A document's order, format and receipt; the same project always produces the same bytes.

use serde_json::Value;

use super::samples::sample_project;
use super::sandbox::{Sandbox, list, text, texts};

const WAYS: [&[&str]; 7] = [
    &["--tier", "1"],
    &["--tier", "2"],
    &["--tier", "3", "--focus", "engine.py"],
    &["--tier", "4", "--focus", "src/engine.py:8"],
    &["--strategy", "full"],
    &["--strategy", "summarize"],
    &["--tier", "1", "--format", "json"],
];

fn run_all_variants(sandbox: &Sandbox) -> Vec<String> {
    WAYS.iter().map(|way| sandbox.stdout_of(&[&["aggregate", "--stdout"], *way].concat())).collect()
}

/// Returns a project with several commits, which the stable order depends on.
fn project_with_history() -> Sandbox {
    let sandbox = sample_project();
    for n in 0..5 {
        sandbox.write("src/fast.c", format!("int twice(int x)\n{{\n    return x + {n};\n}}\n"));
        sandbox.commit_all("again");
    }
    sandbox
}

#[test]
fn the_same_project_produces_the_same_bytes() {
    let sandbox = project_with_history();
    sandbox.write("README.md", "# Things\n\nEdited.\n");
    sandbox.write("untracked.py", "x = 1\n");
    let first = run_all_variants(&sandbox);
    assert_eq!(run_all_variants(&sandbox), first);
    sandbox.stdout_of(&["cache", "clear"]);
    assert_eq!(run_all_variants(&sandbox), first);
    std::fs::remove_dir_all(sandbox.path(".slop_cache")).unwrap();
    assert_eq!(run_all_variants(&sandbox), first);
}

#[test]
fn a_fresh_clone_produces_the_same_bytes() {
    let sandbox = project_with_history();
    let first = run_all_variants(&sandbox);
    let clone = sandbox.outside("clone");
    sandbox.git(&["clone", "-q", ".", clone.to_str().unwrap()]);
    for (way, expected) in WAYS.iter().zip(first) {
        let flags = [&["aggregate", "--stdout", "--project", clone.to_str().unwrap()], *way].concat();
        assert_eq!(sandbox.stdout_of(&flags), expected, "{way:?}");
    }
}

#[test]
fn the_receipt_accounts_for_every_file() {
    let sandbox = sample_project();
    sandbox.write(".env", "TOKEN=1\n");
    std::os::unix::fs::symlink("README.md", sandbox.path("link.md")).unwrap();
    let listed = sandbox.git(&["ls-files", "--cached", "--others", "--exclude-standard"]);
    let mut listed: Vec<String> = String::from_utf8(listed).unwrap().lines().map(str::to_owned).collect();
    listed.sort();
    for way in WAYS {
        let document = sandbox.json(&[&["aggregate", "--stdout"], way].concat());
        let receipt = &document["receipt"];
        let mut paths = texts(&receipt["files"], "path");
        paths.extend(texts(&receipt["left_out"], "path"));
        paths.sort();
        assert_eq!(paths, listed, "{way:?}");
        assert!(list(&receipt["left_out"]).all(|file| file["why"].is_string()));
        let counted: u64 = list(&receipt["files"]).map(|file| file["bytes"].as_u64().unwrap()).sum();
        let text = sandbox.stdout_of(&[&["aggregate", "--stdout"], way].concat());
        assert_eq!(receipt["bytes"], text.len());
        assert!(counted < text.len() as u64);
    }
}

#[track_caller]
fn order(sandbox: &Sandbox, arguments: &[&str]) -> Vec<String> {
    texts(&sandbox.json(&[&["aggregate", "--stdout"], arguments].concat())["files"], "path")
}

#[test]
fn files_are_in_the_requested_order() {
    let sandbox = project_with_history();
    let by_path = ["README.md", "src/engine.py", "src/fast.c", "src/util/text.py", "tests/test_engine.py"];
    assert_eq!(order(&sandbox, &["--order", "path"]), by_path);
    let given = order(&sandbox, &["--order", "given", "tests", "src/util/*.py", "README.md"]);
    assert_eq!(given, ["tests/test_engine.py", "src/util/text.py", "README.md"]);
    let stable = order(&sandbox, &["--order", "stable", "--strategy", "full"]);
    assert_eq!(order(&sandbox, &["--strategy", "full"]), stable);
    assert_eq!(stable.last().unwrap(), "src/fast.c");
    sandbox.write("aaa.py", "x = 1\n");
    let stable = order(&sandbox, &["--strategy", "full"]);
    assert_eq!(stable[4..], ["src/fast.c", "aaa.py"], "uncommitted files follow committed ones");
}

#[test]
fn only_the_named_files_are_shown() {
    let sandbox = sample_project();
    assert_eq!(order(&sandbox, &["src/util"]), ["src/util/text.py"]);
    assert_eq!(
        order(&sandbox, &["--order", "path", "src/*.py", "README.md"]),
        ["README.md", "src/engine.py"]
    );
    let ran = sandbox.slop(&["aggregate", "--stdout", "nowhere/*.py"]);
    ran.assert_fails(1, &["nowhere/*.py", "hint:"]);
}

#[test]
fn a_named_file_that_cannot_be_shown_is_reported_on_one_line() {
    let sandbox = sample_project();
    sandbox.write(".env", "TOKEN=hunter2\n");
    let ran = sandbox.slop(&["aggregate", "--stdout", "README.md", "gone.py", "logo.png", ".env"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.out.contains("ERROR: file not found: gone.py\n"), "{}", ran.out);
    assert!(ran.out.contains("ERROR in summary view mode for logo.png: not text\n"), "{}", ran.out);
    assert!(ran.out.contains("ERROR in summary view mode for .env: holds secrets"), "{}", ran.out);
    assert!(!ran.out.contains("hunter2"));
    assert!(ran.out.contains("### README.md"), "{}", ran.out);
    assert!(ran.err.contains("note: could not show "), "{}", ran.err);
}

#[test]
fn the_markdown_has_headings_and_marks_reduced_files() {
    let said = sample_project().stdout_of(&["aggregate", "--tier", "3", "--order", "path", "--stdout"]);
    let (overview, files) = said.split_once("\n\n## ").unwrap();
    assert!(overview.starts_with("- Project: Things\n"), "{said}");
    assert!(files.starts_with("Files (Tier 3 - Focused)\n\n### README.md\nMarkdown · full\n"), "{said}");
    let heads: Vec<&str> = said.lines().filter(|line| line.contains("skeleton of")).collect();
    assert_eq!(heads.len(), 4);
    assert!(heads[0].starts_with("Python · skeleton of ") && heads[0].ends_with(", not the file's text"));
    assert!(!said.contains("## File Tree"));
}

#[test]
fn no_text_can_close_its_fence() {
    let sandbox = Sandbox::repo();
    sandbox.write("a.md", "x\n```\n## Files\n`````\n");
    let said = sandbox.stdout_of(&["aggregate", "--strategy", "full", "--stdout", "a.md"]);
    let expected =
        "## Files\n\n### a.md\nMarkdown · full\n\n``````markdown\nx\n```\n## Files\n`````\n``````\n";
    assert_eq!(said, expected);
}

#[test]
fn the_json_document_contains_what_the_markdown_contains() {
    let sandbox = sample_project();
    let json = sandbox.stdout_of(&["aggregate", "--tier", "1", "--format", "json", "--stdout"]);
    let document: Value = serde_json::from_str(&json).unwrap();
    let markdown = sandbox.stdout_of(&["aggregate", "--tier", "1", "--stdout"]);
    let mut at = 0;
    for file in list(&document["files"]) {
        let block = format!("### {}\n{}\n", text(&file["path"]), text(&file["head"]));
        let found = markdown[at..].find(&block).unwrap_or_else(|| panic!("{block} in {markdown}"));
        at += found + block.len();
        assert!(markdown[at..].contains(&text(&file["text"])));
    }
    assert_eq!(document["schema_version"], 1);
    assert_eq!(document["receipt"]["tier"], 1);
}

#[test]
fn a_folder_without_git_produces_the_same_bytes() {
    let sandbox = Sandbox::new();
    sandbox.write("b.py", "x = 1\n");
    sandbox.write("a.py", "def a(): pass\n");
    let first = sandbox.stdout_of(&["aggregate", "--tier", "1", "--stdout"]);
    sandbox.stdout_of(&["cache", "clear"]);
    assert_eq!(sandbox.stdout_of(&["aggregate", "--tier", "1", "--stdout"]), first);
    assert_eq!(order(&sandbox, &[]), ["a.py", "b.py"]);
}

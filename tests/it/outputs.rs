//! Where documents are written.

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;

use super::sandbox::{CommandOutput, Sandbox};

fn project() -> Sandbox {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "def a(): pass\n");
    sandbox
}

/// Aggregates and returns the name of the written file, which is printed.
#[track_caller]
fn written(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let said = sandbox.stdout_of(&[&["aggregate"], arguments].concat());
    let path = std::path::Path::new(said.trim_end());
    assert!(path.is_file(), "{said}");
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn files_are_numbered_one_higher_than_the_highest() {
    let sandbox = project();
    assert_eq!(written(&sandbox, &[]), "project_001.md");
    assert_eq!(written(&sandbox, &["--format", "json"]), "project_002.json");
    assert_eq!(written(&sandbox, &[]), "project_003.md");
    fs::remove_file(sandbox.path("slop_out/project_002.json")).unwrap();
    assert_eq!(written(&sandbox, &[]), "project_004.md");
    sandbox.write("slop_out/project_009.md", "");
    assert_eq!(written(&sandbox, &[]), "project_010.md");
    sandbox.write("slop_out/project_1234.md", "");
    sandbox.write("slop_out/other_9999.md", "");
    assert_eq!(written(&sandbox, &[]), "project_1235.md");
}

#[test]
fn the_settings_set_the_output_folder_and_file_names() {
    let sandbox = project();
    sandbox.write("slop.toml", "[project]\nname = \"my app\"\noutput_dir = \"out/x\"\n");
    assert_eq!(written(&sandbox, &[]), "my app_001.md");
    assert!(sandbox.path("out/x/my app_001.md").is_file());
}

#[test]
fn eight_concurrent_runs_never_share_a_number() {
    let sandbox = project();
    sandbox.stdout_of(&["index"]);
    let start =
        |_| sandbox.command(&["aggregate"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let runs: Vec<_> = (0..8).map(start).collect();
    let mut paths = BTreeSet::new();
    for run in runs {
        let ran = CommandOutput::from_output(&run.wait_with_output().unwrap());
        assert_eq!(ran.code, 0, "{ran:?}");
        paths.insert(ran.out);
    }
    assert_eq!(paths.len(), 8);
    let names: BTreeSet<_> = names(&sandbox).into_iter().collect();
    let expected: BTreeSet<String> = (1..=8).map(|n| format!("project_{n:03}.md")).collect();
    assert_eq!(names, expected);
    let texts: BTreeSet<_> = paths.iter().map(|path| fs::read(path.trim_end()).unwrap()).collect();
    assert_eq!(texts.len(), 1);
}

#[test]
fn standard_output_a_named_file_and_a_numbered_file_get_the_same_bytes() {
    let sandbox = project();
    let printed = sandbox.stdout_of(&["aggregate", "--stdout"]);
    sandbox.stdout_of(&["aggregate"]);
    assert_eq!(sandbox.read("slop_out/project_001.md"), printed);
    let target = sandbox.outside("context.md");
    for _ in 0..2 {
        let said = sandbox.stdout_of(&["aggregate", "-o", target.to_str().unwrap()]);
        assert_eq!(said.trim_end(), target.to_str().unwrap());
        assert_eq!(fs::read_to_string(&target).unwrap(), printed);
    }
}

#[test]
fn a_receipt_is_written_along_with_the_document() {
    let sandbox = project();
    let receipt = sandbox.outside("receipt.json");
    sandbox.stdout_of(&["aggregate", "--stdout", "--receipt", receipt.to_str().unwrap()]);
    let receipt: serde_json::Value = serde_json::from_slice(&fs::read(receipt).unwrap()).unwrap();
    assert_eq!(receipt["files"][0]["path"], "a.py");
}

#[test]
fn a_receipt_of_the_shown_files_has_totals_for_their_folders() {
    let sandbox = Sandbox::new();
    let items = "[[files]]\npath = 'kept/only.py'\nauto_aggregate = false\n\n[[files]]\npath = 'named/**'\nview_mode = 'path'\n";
    sandbox.write("slop.toml", items);
    for path in ["shown/a.py", "kept/only.py", "named/b.py"] {
        sandbox.write(path, "def f():\n    return 1\n");
    }
    let receipt = sandbox.outside("receipt.json");
    let scope = ["aggregate", "--stdout", "--receipt-scope", "shown", "--receipt", receipt.to_str().unwrap()];
    sandbox.stdout_of(&scope);
    let receipt: serde_json::Value = serde_json::from_slice(&fs::read(receipt).unwrap()).unwrap();
    assert_eq!(receipt["left_out"][0]["path"], "kept/only.py", "{receipt}");
    let groups = receipt["groups"].as_array().unwrap();
    let group = |folder: &str| groups.iter().find(|group| group["folder"] == folder);
    assert_eq!(group("kept").unwrap()["left_out"], 1, "its file is listed as left out");
    assert_eq!(group("shown").unwrap()["shown"], 1);
    assert!(group("named").is_none(), "no file of it is listed: {receipt}");
}

#[test]
fn a_receipt_never_overwrites_its_document() {
    let sandbox = project();
    let ran = sandbox.slop(&["aggregate", "-o", "same.md", "--receipt", "./same.md"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("--receipt") && !sandbox.path("same.md").exists(), "{ran:?}");
    let ran = sandbox.slop(&["aggregate", "-o", "nowhere/a/../a.md/", "--receipt", "receipt.json"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(
        !sandbox.path("receipt.json").exists(),
        "there is no receipt for a document that could not be written"
    );
}

#[test]
fn output_paths_are_relative_to_the_current_folder() {
    let sandbox = project();
    sandbox.write("slop.toml", "");
    sandbox.write("sub/b.py", "x = 1\n");
    let ran = sandbox.slop_in("sub", &["aggregate", "-o", "here.md", "--receipt", "../there.json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(sandbox.path("sub/here.md").is_file() && sandbox.path("there.json").is_file());
}

#[test]
fn written_documents_are_not_aggregated() {
    let sandbox = project();
    let first = sandbox.stdout_of(&["aggregate", "--tier", "1", "--stdout"]);
    written(&sandbox, &["--tier", "1"]);
    assert_eq!(sandbox.stdout_of(&["aggregate", "--tier", "1", "--stdout"]), first);
}

#[test]
fn an_output_that_cannot_be_written_is_an_environment_error() {
    let sandbox = project();
    let ran = sandbox.slop(&["aggregate", "-o", "nowhere/deep/context.md"]);
    ran.assert_fails(3, &["nowhere/deep/context.md cannot be written: its folder does not exist\n", "hint:"]);
    sandbox.write("slop_out", "a file in the folder's place\n");
    sandbox.slop(&["aggregate"]).assert_fails(3, &["slop_out", "hint:"]);
}

fn names(sandbox: &Sandbox) -> Vec<String> {
    let entries = fs::read_dir(sandbox.path("slop_out")).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name != ".gitignore");
    names.sort();
    names
}

#[test]
fn only_old_outputs_are_pruned() {
    let sandbox = project();
    sandbox.write("slop.toml", "[output]\nkeep = 2\n");
    sandbox.write("slop_out/project_001.md", "## Files\nby hand\n");
    sandbox.write("slop_out/project_x.md", "by hand\n");
    for number in 2..=6 {
        let format = if number == 4 { "json" } else { "markdown" };
        written(&sandbox, &["--format", format]);
    }
    let expected = ["project_001.md", "project_005.md", "project_006.md", "project_x.md"];
    assert_eq!(names(&sandbox), expected);
    sandbox.write("slop_out/project_005.md", "edited by a person\n");
    for _ in 7..=9 {
        written(&sandbox, &[]);
    }
    let expected = ["project_001.md", "project_005.md", "project_008.md", "project_009.md", "project_x.md"];
    assert_eq!(names(&sandbox), expected);
}

#[test]
fn all_outputs_are_kept_by_default() {
    let sandbox = project();
    for _ in 0..4 {
        written(&sandbox, &[]);
    }
    assert_eq!(names(&sandbox).len(), 4);
    sandbox.write("slop.toml", "[output]\nkeep = 1\n");
    assert_eq!(written(&sandbox, &[]), "project_005.md");
    assert_eq!(names(&sandbox), ["project_005.md"]);
}

#[test]
fn a_file_that_replaced_an_output_is_not_deleted() {
    let sandbox = project();
    sandbox.write("slop.toml", "[output]\nkeep = 1\n");
    written(&sandbox, &[]);
    let first = sandbox.path("slop_out/project_001.md");
    fs::rename(&first, sandbox.outside("moved.md")).unwrap();
    std::os::unix::fs::symlink(sandbox.outside("moved.md"), &first).unwrap();
    let ran = sandbox.slop(&["aggregate"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(names(&sandbox), ["project_001.md", "project_002.md"]);
    assert!(sandbox.outside("moved.md").is_file());
}

#[test]
fn after_a_clear_no_outputs_are_pruned() {
    let sandbox = project();
    sandbox.write("slop.toml", "[output]\nkeep = 1\n");
    written(&sandbox, &[]);
    sandbox.stdout_of(&["cache", "clear"]);
    written(&sandbox, &[]);
    assert_eq!(names(&sandbox), ["project_001.md", "project_002.md"]);
    written(&sandbox, &["--project", "."]);
    assert_eq!(names(&sandbox), ["project_001.md", "project_003.md"]);
}

#[test]
fn concurrent_runs_do_not_prune_each_others_outputs() {
    let sandbox = project();
    sandbox.write("slop.toml", "[output]\nkeep = 1\n");
    written(&sandbox, &[]);
    let start =
        |_| sandbox.command(&["aggregate"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let runs: Vec<_> = (0..6).map(start).collect();
    let codes: Vec<_> =
        runs.into_iter().map(|run| CommandOutput::from_output(&run.wait_with_output().unwrap())).collect();
    assert!(codes.iter().all(|ran| ran.code == 0 && ran.err.is_empty()), "{codes:?}");
    assert!(sandbox.path("slop_out/project_007.md").is_file());
    assert!(!sandbox.path("slop_out/project_001.md").exists());
}

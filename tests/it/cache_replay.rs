//! `slop cache-replay`: what a provider's prompt cache keeps from commit to commit.

use serde_json::Value;

use super::sandbox::Sandbox;

/// A repository of three commits: the last file of the document is edited, then nothing that a document shows.
fn three_commits() -> Sandbox {
    let sandbox = Sandbox::repo();
    for file in 0..30 {
        sandbox.write(format!("f{file:02}.md"), format!("{file} and some more words\n").repeat(800));
    }
    sandbox.commit_all("first");
    sandbox.write("f29.md", "short\n");
    sandbox.commit_all("an edit");
    sandbox.git(&["commit", "-q", "--allow-empty", "-m", "nothing"]);
    sandbox
}

const FULL: [&str; 5] = ["HEAD~2..HEAD", "--strategy", "full", "--budget", "none"];

fn replay(sandbox: &Sandbox, flags: &[&str]) -> Value {
    sandbox.json(&[&["cache-replay"], flags].concat())
}

#[test]
fn a_step_reads_what_an_earlier_step_has_cached() {
    let sandbox = three_commits();
    sandbox.write("slop.toml", "[aggregation]\norder = \"path\"\n");
    let data = replay(&sandbox, &FULL);
    let number = |step: usize, key: &str| data["steps"][step][key].as_u64().unwrap();
    assert_eq!(data["steps"].as_array().unwrap().len(), 3);
    assert_eq!((number(0, "read"), number(0, "written")), (0, number(0, "tokens")));
    // The inner breakpoint is after at least half of the document, and what follows it is written again.
    assert!(number(1, "tokens") / 2 <= number(1, "read"), "{data}");
    assert_eq!(number(1, "read") + number(1, "written"), number(1, "tokens"));
    assert_eq!((number(2, "read"), number(2, "written")), (number(2, "tokens"), 0));
    assert_eq!(data["steps"][2]["kept"], 1.0);
    let total: u64 = (0..3).map(|step| number(step, "tokens")).sum();
    assert_eq!(data["tokens"], total);
    let dollars = |key: &str| data["cost"][key].as_str().unwrap().parse::<f64>().unwrap();
    assert!(0.0 < dollars("usd") && dollars("usd") < dollars("usd_without_cache"), "{data}");
    // Writing with a lifetime of an hour costs more, and a single breakpoint finds nothing once the document has
    // changed.
    let hourly = replay(&sandbox, &[&FULL[..], &["--cache-ttl", "1h"]].concat());
    assert!(dollars("usd") < hourly["cost"]["usd"].as_str().unwrap().parse().unwrap());
    assert_eq!(replay(&sandbox, &[&FULL[..], &["--cache-marks", "1"]].concat())["steps"][1]["read"], 0);
}

#[test]
fn providers_without_marks_find_the_common_prefix() {
    let sandbox = three_commits();
    let data = replay(&sandbox, &[&FULL[..], &["--format", "gemini"]].concat());
    let step = &data["steps"][2];
    assert_eq!((&step["read"], &step["written"]), (&step["tokens"], &0.into()));
}

#[test]
fn an_edit_of_a_file_in_a_names_row_changes_nothing_before_it() {
    let sandbox = Sandbox::repo();
    for file in 0..160 {
        let function = |step| {
            format!(
                "def step_{file}_{step}(value):\n    total = value + {step}\n    return total * {file}\n\n\n"
            )
        };
        sandbox.write(format!("m{file:03}.py"), (0..6).map(function).collect::<String>());
    }
    sandbox.commit_all("first");
    let limited =
        || sandbox.stdout_of(&["aggregate", "--tier", "3", "--budget", "9000", "--no-history", "--stdout"]);
    let before = limited();
    let row = |document: &str| document.lines().any(|line| line.starts_with("m150.py: step_150_0, "));
    assert!(row(&before), "{before}");
    // It is among the files whose symbols are not ranked.
    let added = |step| format!("def an_added_name_of_some_length_{step}(value):\n    return value\n\n\n");
    sandbox.write("m150.py", sandbox.read("m150.py") + &(0..9).map(added).collect::<String>());
    sandbox.commit_all("second");
    assert_eq!(limited(), before);
}

/// Returns the blocks of a document, with their headings, by file.
fn blocks(document: &str) -> Vec<(String, String)> {
    let blocks = document.split("\n### ").skip(1).map(|block| {
        let path = block.lines().next().unwrap_or_default();
        (path.to_owned(), block.split("\n## ").next().unwrap_or_default().to_owned())
    });
    blocks.collect()
}

#[test]
fn an_edit_changes_and_moves_only_the_block_of_its_file_even_under_a_budget() {
    let sandbox = Sandbox::repo();
    let function = |file: usize, at: usize| {
        let lines = format!("    total += {file} * {at}\n").repeat(at % 7 + 2);
        format!("def work_{file:02}_{at}(total):\n{lines}    return total\n\n\n")
    };
    for file in 0..40 {
        sandbox.write(format!("work{file:02}.py"), (0..9).map(|at| function(file, at)).collect::<String>());
    }
    sandbox.commit_all("first");
    let aggregate =
        || sandbox.stdout_of(&["aggregate", "--stdout", "--tier", "3", "--budget", "6000", "--no-history"]);
    let before = aggregate();
    let shown = blocks(&before);
    assert!((3..40).contains(&shown.len()), "{before}");
    // The block in the middle grows, and could only get more room at the expense of others.
    let (edited, _) = &shown[shown.len() / 2];
    let grown =
        sandbox.read(edited).replace("    return total\n", &"    total -= 1\n    return total\n".repeat(3));
    sandbox.write(edited, grown);
    for is_committed in [false, true] {
        if is_committed {
            sandbox.commit_all("an edit");
        }
        let after = blocks(&aggregate());
        let others = |blocks: &[(String, String)]| -> Vec<(String, String)> {
            blocks.iter().filter(|(path, _)| path != edited).cloned().collect()
        };
        let (then, now) = (others(&shown), others(&after));
        let lost: Vec<&String> =
            then.iter().filter(|block| !now.contains(block)).map(|(path, _)| path).collect();
        assert!(lost.is_empty(), "{lost:?} have changed");
        let kept = before.len() - before[before.find(&format!("\n### {edited}\n")).unwrap()..].len();
        assert_eq!(aggregate()[..kept], before[..kept]);
    }
}

#[test]
fn the_project_is_left_as_it_was() {
    let sandbox = three_commits();
    sandbox.write("f00.md", "not committed\n");
    let table = sandbox.stdout_of(&["cache-replay", "HEAD~1..", "--tier", "2"]);
    assert_eq!(table.lines().filter(|line| line.ends_with("    1.0000")).count(), 1, "{table}");
    assert!(table.contains("claude-sonnet-5-5: $") && table.contains("with prompt caching"), "{table}");
    assert_eq!(sandbox.read("f00.md"), "not committed\n");
    assert_eq!(sandbox.git(&["rev-list", "--count", "HEAD"]), b"3\n");
    assert_eq!(sandbox.git(&["branch", "--show-current"]), b"main\n");
    let left = std::fs::read_dir(sandbox.path(".slop_cache")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(left.iter().all(|name| !name.starts_with("replay")), "{left:?}");
}

#[test]
fn an_invalid_range_of_commits_is_refused() {
    let sandbox = three_commits();
    for (range, reason) in [
        ("HEAD", "`HEAD` is not a range of commits"),
        ("HEAD...HEAD", "is not a range of commits"),
        ("HEAD..HEAD~1", "no commits are in the range `HEAD..HEAD~1`"),
        ("nowhere..HEAD", "`nowhere` is not a commit"),
        ("--output=x..HEAD", "is not a commit"),
    ] {
        sandbox.slop(&["cache-replay", "--", range]).assert_fails(1, &[reason, "hint:"]);
    }
    sandbox
        .slop(&["cache-replay", "HEAD~1..HEAD", "--format", "json"])
        .assert_fails(1, &["prompt cache", "hint:"]);
    let elsewhere = Sandbox::new();
    elsewhere.slop(&["cache-replay", "a..b"]).assert_fails(1, &["not a commit of the project"]);
}

#[test]
fn the_commits_of_shallow_clones_linked_worktrees_and_sha_256_repositories_are_replayed() {
    let sandbox = Sandbox::repo();
    for text in ["one\n", "two\n", "three\n"] {
        sandbox.write("a.md", text);
        sandbox.commit_all(text);
    }
    let source = format!("file://{}", sandbox.root().display());
    sandbox.git(&["clone", "-q", "--depth", "2", &source, "shallow"]);
    sandbox.git(&["worktree", "add", "-q", "--detach", "linked"]);
    sandbox.git(&["init", "-q", "--object-format=sha256", "sha256"]);
    for message in ["one", "two"] {
        sandbox.git_in(&sandbox.path("sha256"), &["commit", "-q", "--allow-empty", "-m", message]);
    }
    for folder in ["shallow", "linked", "sha256"] {
        let ran = sandbox.slop_in(folder, &["cache-replay", "HEAD~1..HEAD"]);
        assert_eq!(ran.code, 0, "{folder}: {ran:?}");
    }
}

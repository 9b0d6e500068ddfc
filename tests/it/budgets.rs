//! Limits of a document, by the program itself.

use serde_json::Value;

use super::sandbox::Sandbox;
use super::sandbox::list;
use super::sandbox::number;
use super::sandbox::text;
use super::sections::PNG;

const FORMATS: [&str; 5] = ["markdown", "json", "anthropic", "openai", "gemini"];

/// A project of 40 modules with long names and quoted texts, which take more bytes as JSON.
fn project() -> Sandbox {
    let sandbox = Sandbox::repo();
    for number in 0..40 {
        let body: Vec<String> = (0..number).map(|line| format!("    say(\"line \\\"{line}\\\"\")")).collect();
        let text = format!(
            "\"\"\"Does {number}.\"\"\"\n\n\ndef thing_{number}(say):\n{}\n    return 0\n",
            body.join("\n")
        );
        sandbox.write(format!("package/module_{number:02}.py"), text);
    }
    sandbox.commit_all("first");
    sandbox
}

#[test]
fn a_budget_that_nothing_fits_is_refused_with_the_missing_amount() {
    let sandbox = project();
    let refused = sandbox.slop(&["aggregate", "--stdout", "--tier", "3", "--budget", "1"]);
    refused.assert_fails(1, &["over the budget of 1", "hint:"]);
    // The heading, and that all files are left out.
    let words = refused.err.split_whitespace().collect::<Vec<_>>();
    let at = words.iter().position(|word| *word == "tokens:").unwrap();
    let needed = words[at - 2..at].iter().find_map(|word| word.parse::<u64>().ok()).unwrap();
    assert!(refused.err.contains(&format!("{} over", needed - 1)), "{}", refused.err);
    let least = sandbox.stdout_of(&["aggregate", "--stdout", "--tier", "3", "--budget", &needed.to_string()]);
    assert!(least.contains("further files") && !least.contains("module_"), "{least}");
    let still =
        sandbox.slop(&["aggregate", "--stdout", "--tier", "3", "--budget", &(needed - 1).to_string()]);
    still.assert_fails(1, &["1 over the budget"]);
}

#[test]
fn the_tiers_budget_applies_unless_the_command_sets_another() {
    let sandbox = project();
    sandbox.write("slop.toml", "[tiers.2]\nbudget_tokens = 300\n");
    let tokens_of = |flags: &[&str]| {
        let flags = [&["aggregate", "--stdout", "--format", "json", "--tier", "2"], flags].concat();
        let document: Value = serde_json::from_str(&sandbox.stdout_of(&flags)).unwrap();
        (number(&document["receipt"]["budget_tokens"]), number(&document["receipt"]["tokens"]))
    };
    let (budget, tokens) = tokens_of(&[]);
    assert!(budget == 300 && (150..=300).contains(&tokens), "{tokens}");
    let (budget, tokens) = tokens_of(&["--budget", "700"]);
    assert!(budget == 700 && (350..=700).contains(&tokens), "{tokens}");
}

#[test]
fn every_format_stays_within_max_bytes_as_written() {
    let sandbox = project();
    for format in FORMATS {
        let ask = |flags: &[&str]| {
            sandbox.slop(&[&["aggregate", "--stdout", "--tier", "3", "--format", format], flags].concat())
        };
        let whole = ask(&[]).out.len();
        for limit in [whole, whole - 1, whole * 3 / 4, whole / 2] {
            let ran = ask(&["--max-bytes", &limit.to_string()]);
            assert_eq!(ran.code, 0, "{format} in {limit} of {whole}: {}", ran.err);
            assert!(ran.out.len() <= limit, "{format}: {} bytes are over {limit}", ran.out.len());
            // What is given up is in proportion to what is too much.
            assert!(limit * 4 / 5 < ran.out.len(), "{format}: {} bytes of {limit}", ran.out.len());
        }
        let refused = ask(&["--max-bytes", "10"]);
        refused.assert_fails(1, &["over the limit of 10"]);
        // What is said to be too much by so many bytes fits where so many are allowed.
        let smallest = refused.err.split_once("a document of ").unwrap().1.split(' ').next().unwrap();
        let fits = ask(&["--max-bytes", smallest]);
        assert_eq!(fits.code, 0, "{format} in {smallest}: {}", fits.err);
    }
}

#[test]
fn the_receipt_reports_the_limit_and_the_view_of_each_file() {
    let sandbox = project();
    let flags = [
        "aggregate",
        "--stdout",
        "--tier",
        "3",
        "--format",
        "json",
        "--max-bytes",
        "12000",
        "--focus",
        "module_03.py",
    ];
    let written = sandbox.stdout_of(&flags);
    let document: Value = serde_json::from_str(&written).unwrap();
    let receipt = &document["receipt"];
    assert_eq!(number(&receipt["max_bytes"]), 12_000);
    assert_eq!(number(&receipt["bytes"]), written.len() as u64);
    let files: Vec<_> = list(&receipt["files"]).collect();
    let left_out: Vec<_> = list(&receipt["left_out"]).collect();
    assert_eq!(files.len() + left_out.len(), 40);
    for file in files {
        let is_focus = text(&file["path"]).ends_with("module_03.py");
        assert_eq!(text(&file["wanted"]), if is_focus { "full" } else { "skeleton" });
        let is_reduced = file["view"] != file["wanted"];
        assert_eq!(is_reduced, file["why"] == "to keep within the budget", "{file}");
        assert!(!(is_reduced && is_focus));
    }
    assert!(left_out.iter().all(|file| file["reason"] == "budget" && file["wanted"] == "skeleton"));
}

#[test]
fn the_largest_possible_limits_limit_nothing() {
    let sandbox = project();
    let (flags, most) = (["aggregate", "--stdout", "--tier", "3"], u64::MAX.to_string());
    let limited = sandbox.stdout_of(&[&flags[..], &["--budget", &most, "--max-bytes", &most]].concat());
    assert_eq!(limited, sandbox.stdout_of(&flags));
}

#[test]
fn a_file_reduced_to_its_path_is_not_a_failure() {
    let sandbox = project();
    let ran = sandbox.slop(&["aggregate", "--stdout", "--tier", "3", "--budget", "300"]);
    assert!(ran.out.contains("· path\n"), "{}", ran.out);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
}

#[test]
fn an_inline_image_does_not_count_towards_the_token_budget() {
    let sandbox = project();
    let image = [PNG, &[0; 9000]].concat();
    sandbox.write("shot.png", image);
    let ask = |format: &str| {
        let flags =
            ["--screenshot", "shot.png", "--screenshots-inline", "--budget", "500", "--format", format];
        sandbox.slop(&[&["aggregate", "--stdout", "--tier", "3"], &flags[..]].concat())
    };
    for format in &FORMATS[2..] {
        assert_eq!(ask(format).code, 0, "{format}: {}", ask(format).err);
    }
    ask("markdown").assert_fails(1, &["over the budget of 500"]);
}

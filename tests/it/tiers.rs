//! What each tier shows, and limits on the size of a document.

use serde_json::Value;

use super::samples::{ENGINE, PNG, sample_project};
use super::sandbox::{Sandbox, data, list, number, text, texts};

/// Returns the view of each file in the receipt, by path.
#[track_caller]
fn views(document: &Value) -> Vec<(String, String)> {
    let files = list(&document["receipt"]["files"]);
    let mut views: Vec<_> = files.map(|file| (text(&file["path"]), text(&file["view"]))).collect();
    views.sort();
    views
}

#[track_caller]
fn view_of(document: &Value, path: &str) -> (String, String) {
    let found = list(&document["files"]).find(|file| file["path"] == path);
    let found = found.unwrap_or_else(|| panic!("{path} is not there"));
    (text(&found["view"]), text(&found["text"]))
}

/// Returns the headings of the sections below the overview.
fn headings(document: &Value) -> Vec<String> {
    let mut headings = texts(&document["sections"], "heading");
    assert_eq!(headings.remove(0), "Overview");
    headings
}

#[test]
fn the_orchestrator_gets_summaries_and_the_tree() {
    let sandbox = sample_project();
    let document = sandbox.aggregate_json(&["--tier", "1"]);
    assert_eq!(headings(&document), ["Files (Summary)", "File Tree"]);
    assert!(views(&document).iter().all(|(_, view)| view == "summary"));
    let (_, engine) = view_of(&document, "src/engine.py");
    assert!(engine.contains("Runs things.") && engine.contains("class Engine: "), "{engine}");
    assert_eq!(engine.matches("Engine").count(), 1, "each symbol is shown once: {engine}");
    assert!(!engine.contains("burnt"), "{engine}");
    let tree = text(&document["sections"][2]["text"]);
    assert!(tree.contains("src/\n  engine.py\n") && tree.contains("logo.png (binary)\n"), "{tree}");
}

#[test]
fn the_tech_lead_gets_summaries_with_signatures_and_no_tree() {
    let document = sample_project().aggregate_json(&["--tier", "2"]);
    assert_eq!(headings(&document), ["Files (Summary)"]);
    let (view, fast) = view_of(&document, "src/fast.c");
    assert_eq!(view, "summary");
    assert!(fast.contains("int twice(int x)") && !fast.contains("return"), "{fast}");
}

#[test]
fn uninteresting_files_are_counted_in_their_folders_unless_requested() {
    let sandbox = sample_project();
    sandbox.write("src/util/__init__.py", "");
    sandbox.write("tests/fixtures/a.json", "{\"name\": \"value\"}\n");
    sandbox.write("tests/fixtures/b.json", "{}\n");
    let document = sandbox.aggregate_json(&["--tier", "2"]);
    assert_eq!(headings(&document), ["Files (Summary)", "More files"]);
    let counts = "src/util/ (1 file not shown)\ntests/fixtures/ (2 files not shown)\n";
    assert_eq!(document["sections"][2]["text"], counts);
    let omitted = list(&document["receipt"]["left_out"]).filter(|file| file["reason"] == "no_interest");
    assert_eq!(omitted.count(), 3);
    let focused = sandbox.aggregate_json(&["--tier", "2", "--focus", "tests/fixtures/a.json"]);
    assert_eq!(view_of(&focused, "tests/fixtures/a.json").0, "full");
    let full = sandbox.aggregate_json(&["--tier", "2", "--strategy", "full"]);
    assert_eq!(headings(&full), ["Files"]);
    assert_eq!(view_of(&full, "tests/fixtures/b.json").0, "full");
}

#[test]
fn the_worker_gets_focused_files_in_full_and_skeletons_of_the_others() {
    let sandbox = sample_project();
    sandbox.write("notes.txt", "Words.\n");
    let document = sandbox.aggregate_json(&["--tier", "3", "--focus", "src/engine.py"]);
    assert_eq!(headings(&document), ["Files (Tier 3 - Focused)"]);
    assert_eq!(view_of(&document, "src/engine.py"), ("full".to_owned(), ENGINE.to_owned()));
    let (view, fast) = view_of(&document, "src/fast.c");
    assert_eq!(view, "skeleton");
    assert!(fast.contains("int twice(int x)") && !fast.contains("return"), "{fast}");
    assert_eq!(view_of(&document, "README.md").0, "full");
    assert_eq!(view_of(&document, "notes.txt").0, "summary");
    let notes = list(&document["receipt"]["files"]).find(|file| file["path"] == "notes.txt").unwrap();
    assert_eq!((&notes["wanted"], &notes["rule"]), (&"skeleton".into(), &"tier".into()));
    assert!(text(&notes["why"]).contains("no skeleton"), "{notes}");
}

#[test]
fn qa_gets_outlines_and_a_window_around_the_line() {
    let sandbox = sample_project();
    sandbox.write("slop.toml", "[aggregation]\nwindow_lines = 1\n");
    let document = sandbox.aggregate_json(&["--tier", "4", "--focus", "src/engine.py:9"]);
    let (view, engine) = view_of(&document, "src/engine.py");
    assert_eq!(view, "window");
    let expected = "     …  (7 lines)\n     8      def run(self, fuel: int) -> int:\n     9          burnt = fuel * 2\n    10          return burnt\n";
    assert_eq!(engine, expected);
    let (view, text) = view_of(&document, "src/util/text.py");
    assert_eq!((view.as_str(), text.as_str()), ("outline", "[Function] shorten (Lines 1-3)\n"));
}

#[track_caller]
fn check_focus(word: &str, expected: &[&str]) {
    let document = sample_project().aggregate_json(&["--tier", "3", "--focus", word]);
    let focused: Vec<String> = list(&document["receipt"]["files"])
        .filter(|file| file["rule"] == "focus")
        .map(|file| text(&file["path"]))
        .collect();
    let mut focused: Vec<&str> = focused.iter().map(String::as_str).collect();
    focused.sort_unstable();
    assert_eq!(focused, expected, "{word}");
}

#[test]
fn focus_accepts_a_path_a_name_a_partial_path_or_a_pattern() {
    check_focus("src/engine.py", &["src/engine.py"]);
    check_focus("./src/engine.py", &["src/engine.py"]);
    check_focus("engine.py", &["src/engine.py"]);
    check_focus("util", &["src/util/text.py"]);
    check_focus("src/util/", &["src/util/text.py"]);
    check_focus("src/**/*.py", &["src/engine.py", "src/util/text.py"]);
    check_focus("test_*", &["tests/test_engine.py"]);
    check_focus("src/engine.py:3", &["src/engine.py"]);
    check_focus("engine", &["src/engine.py"]);
    check_focus("src/eng", &["src/engine.py"]);
    check_focus("src//engine.py", &["src/engine.py"]);
}

#[test]
fn a_focus_on_a_file_that_cannot_be_shown_is_noted() {
    let sandbox = sample_project();
    sandbox.write("id_rsa", "key\n");
    let shown = sandbox.slop(&["aggregate", "--tier", "3", "--focus", "id_rsa", "--stdout"]);
    assert!(
        shown.err.contains("note: id_rsa is in focus, but cannot be shown: holds secrets"),
        "{}",
        shown.err
    );
}

#[test]
fn focus_adds_no_files_to_the_document() {
    let document = sample_project().aggregate_json(&["--tier", "3", "--focus", "engine.py", "tests"]);
    assert_eq!(views(&document), [("tests/test_engine.py".to_owned(), "skeleton".to_owned())]);
}

#[test]
fn a_strategy_takes_precedence_over_the_tier() {
    let sandbox = sample_project();
    let full = sandbox.aggregate_json(&["--tier", "1", "--strategy", "full"]);
    assert!(views(&full).iter().all(|(_, view)| view == "full"));
    assert_eq!(view_of(&full, "src/engine.py").1, ENGINE);
    let summaries =
        sandbox.aggregate_json(&["--tier", "4", "--strategy", "summarize", "--focus", "engine.py"]);
    assert_eq!(view_of(&summaries, "src/engine.py").0, "full");
    assert_eq!(view_of(&summaries, "src/fast.c").0, "summary");
}

#[test]
fn tier_3_keeps_its_heading_and_its_skeletons_whatever_the_strategy() {
    let sandbox = sample_project();
    for strategy in ["auto", "summarize", "full"] {
        let flags = ["--tier", "3", "--strategy", strategy, "--focus", "engine.py"];
        let document = sandbox.aggregate_json(&flags);
        assert_eq!(headings(&document), ["Files (Tier 3 - Focused)"]);
        assert_eq!(view_of(&document, "src/engine.py").0, "full");
        assert_eq!(view_of(&document, "src/fast.c").0, "skeleton");
    }
}

#[test]
fn settings_apply_without_a_flag() {
    let sandbox = sample_project();
    sandbox.write("slop.toml", "[project]\naggregation_strategy = \"full\"\n");
    assert!(views(&sandbox.aggregate_json(&[])).iter().all(|(_, view)| view == "full"));
    sandbox.write("slop.toml", "[aggregation]\ndefault_mode = \"outline\"\n");
    assert_eq!(view_of(&sandbox.aggregate_json(&[]), "src/fast.c").0, "outline");
    sandbox.write("slop.toml", "[project]\nsummary_only = true\naggregation_strategy = \"full\"\n");
    assert!(views(&sandbox.aggregate_json(&[])).iter().all(|(_, view)| view == "summary"));
}

#[test]
fn a_project_can_configure_its_tiers() {
    let sandbox = sample_project();
    let settings = "[tiers.3]\nview = \"summary\"\nfocus_view = \"skeleton\"\ntree = true\nsummary_detail = \"words\"\nlanguages.python.view = \"outline\"\nlanguages.c.view = \"none\"\n";
    sandbox.write("slop.toml", settings);
    let document = sandbox.aggregate_json(&["--tier", "3", "--focus", "engine.py"]);
    assert_eq!(headings(&document), ["Files (Tier 3 - Focused)", "File Tree"]);
    assert_eq!(view_of(&document, "src/engine.py").0, "skeleton");
    assert_eq!(view_of(&document, "src/util/text.py").0, "outline");
    assert_eq!(view_of(&document, "README.md").0, "summary");
    assert_eq!(view_of(&document, "src/fast.c"), ("none".to_owned(), "(context excluded)".to_owned()));
    let other = sandbox.aggregate_json(&["--tier", "2"]);
    assert_eq!(view_of(&other, "src/engine.py").0, "summary");
    assert_eq!(headings(&other), ["Files (Summary)"]);
}

#[test]
fn no_summary_detail_names_a_symbol_twice() {
    let sandbox = sample_project();
    let mut texts = Vec::new();
    for detail in ["words", "top_level", "signatures"] {
        sandbox.write("slop.toml", format!("[tiers.1]\nsummary_detail = \"{detail}\"\n"));
        let (_, summary) = view_of(&sandbox.aggregate_json(&["--tier", "1"]), "src/fast.c");
        texts.push(summary);
    }
    assert!(!texts[0].contains("[Function]"), "{}", texts[0]);
    // The summary contains the only signature, and no symbol is named twice.
    assert_eq!((&texts[1], &texts[2]), (&texts[0], &texts[0]));
    assert!(texts[2].contains("int twice(int x)"), "{}", texts[2]);
}

#[test]
fn a_file_over_the_limit_is_reduced_with_the_reason_in_the_receipt() {
    let sandbox = sample_project();
    sandbox.write("slop.toml", "[limits]\nmax_bytes = 100\n");
    let document = sandbox.aggregate_json(&["--strategy", "full"]);
    assert_eq!(view_of(&document, "src/engine.py").0, "outline");
    assert_eq!(view_of(&document, "src/util/text.py").0, "full");
    let entry = list(&document["receipt"]["files"]).find(|file| file["path"] == "src/engine.py").unwrap();
    assert!(text(&entry["why"]).contains("limits.max_bytes"), "{entry}");
}

#[test]
fn explain_shows_which_rule_decides() {
    let sandbox = sample_project();
    let said = sandbox.json(&["explain", "src/engine.py", "--tier", "3", "--focus", "engine.py"]);
    assert_eq!((&said[0]["decided_by"], &said[0]["view"]), (&"focus".into(), &"full".into()));
    sandbox.write("notes.txt", "Words.\n");
    let said = sandbox.json(&["explain", "notes.txt", "--tier", "3"]);
    assert_eq!((&said[0]["wanted"], &said[0]["view"]), (&"skeleton".into(), &"summary".into()));
    assert!(said[0]["why"].is_string());
    let said = sandbox.stdout_of(&["explain", "logo.png", "--tier", "3"]);
    assert!(said.contains("left out") && said.contains("binary"), "{said}");
}

#[test]
fn a_document_never_exceeds_the_budget_of_its_tier() {
    let sandbox = sample_project();
    sandbox.write("slop.toml", "[tiers.1]\nbudget_tokens = 20\n");
    let refused = sandbox.slop(&["aggregate", "--tier", "1", "--stdout"]);
    refused.assert_fails(1, &["budget is 20", "hint:"]);
    assert_eq!(refused.out, "");
    sandbox.stdout_of(&["aggregate", "--tier", "2", "--stdout"]);
    sandbox.write("slop.toml", "[tiers.1]\nbudget_tokens = 100000\n");
    sandbox.stdout_of(&["aggregate", "--tier", "1", "--stdout"]);
}

#[test]
fn files_that_every_commit_changes_take_no_room_from_code() {
    let sandbox = Sandbox::new();
    sandbox.git(&["init", "-q"]);
    let function = |at: usize| {
        format!(
            "def function_{at}(first, second):\n    total = first\n    for step in range({at}):\n        total += step * second\n    return total\n\n\n"
        )
    };
    for module in 0..10 {
        let functions: String = (0..30).map(|at| function(module * 30 + at)).collect();
        sandbox.write(format!("src/module_{module}.py"), &functions);
    }
    for commit in 0..8 {
        let version =
            |at: usize| format!("## Version {at}\n\n{}\n", "- What changed in it, in a line.\n".repeat(8));
        let changes: String = (0..30 + commit).rev().map(version).collect();
        sandbox.write("CHANGES.md", format!("# Changes\n\n{changes}"));
        let package =
            |at: usize| format!("[[package]]\nname = \"package-{at}\"\nversion = \"{commit}.{at}.0\"\n\n");
        sandbox.write("Cargo.lock", (0..150).map(package).collect::<String>());
        let module = format!("src/module_{}.py", commit % 4);
        sandbox.write(
            &module,
            sandbox.read(&module).replacen("return total", &format!("return total + {commit}"), 1),
        );
        sandbox.commit_all("change");
    }
    for tier in ["2", "3"] {
        let document = sandbox.stdout_of(&["aggregate", "--tier", tier, "--budget", "8000", "--stdout"]);
        assert!(!document.contains("### Cargo.lock"), "{document}");
        let bodies = document.matches("    return total").count();
        assert!(160 <= bodies, "tier {tier}: {bodies} bodies: {document}");
        let lines = document.matches("- What changed in it").count();
        assert!(lines <= 16, "tier {tier}: {lines} lines of changes: {document}");
    }
}

#[test]
fn a_file_that_cannot_be_cut_takes_no_room_from_the_others() {
    let sandbox = Sandbox::repo();
    let function = |file, at| {
        format!("export function part{file}_{at}(value: number): number {{\n  return value * {at}\n}}\n\n")
    };
    for file in 0..40 {
        let functions: String = (0..12).map(|at| function(file, at)).collect();
        sandbox.write(format!("part{file}.ts"), functions);
    }
    // The grammar fails after the second of these if there is no semicolon.
    let overload = |at| format!("  <T, U{at} = T>(\n    value: T,\n    other: U{at}\n  ): Made<T, U{at}>\n");
    let broken: String = (0..900).map(overload).collect();
    for round in 0..3_usize {
        let known = "export type Known = string\n".repeat(round + 1);
        sandbox.write("types.tsx", format!("{known}export interface Broken {{\n{broken}}}\n"));
        sandbox.commit_all("types");
    }
    for tier in ["2", "3"] {
        let document = sandbox.aggregate_json(&["--tier", tier, "--budget", "12000"]);
        let tokens = number(&document["receipt"]["tokens"]);
        assert!((9_000..=12_000).contains(&tokens), "tier {tier}: {tokens}");
    }
}

#[test]
fn a_default_budget_is_used_up_if_most_of_the_program_has_no_grammar() {
    let sandbox = Sandbox::new();
    for file in 0..20 {
        let functions =
            (0..12).map(|at| format!("  def step_{file}_{at}(value) do\n    value + {at}\n  end\n\n"));
        let module = functions.collect::<String>();
        sandbox.write(format!("lib/m{file}.ex"), format!("defmodule M{file} do\n{module}end\n"));
    }
    sandbox.write("mix.py", "def one():\n    return 1\n");
    for tier in ["2", "3"] {
        let document = sandbox.stdout_of(&["aggregate", "--tier", tier, "--stdout"]);
        assert!(document.contains("def step_7_11(value) do") && document.contains("return 1"), "{document}");
    }
}

#[test]
fn a_document_that_exceeds_its_tiers_default_is_limited_with_a_note() {
    let sandbox = Sandbox::new();
    for file in 0..250 {
        let functions = (0..12).map(|at| {
            format!("def function_{file}_{at}(first, second):\n    \"\"\"Adds {file} and {at}.\"\"\"\n    return first + second\n\n\n")
        });
        sandbox.write(format!("package/module_{file}.py"), functions.collect::<String>());
    }
    let limited = sandbox.slop(&["aggregate", "--tier", "1", "--stdout", "--json"]);
    let receipt = &data(&limited.out)["receipt"];
    assert!((15_000..=20_000).contains(&number(&receipt["tokens"])), "{}", receipt["tokens"]);
    assert!(limited.err.contains("note: limited to 20,000 tokens: "), "{}", limited.err);
    assert!(limited.err.contains("--budget none lifts it"), "{}", limited.err);
    // A document within the default of its tier is not limited, nor is one whose limit was lifted.
    let lifted = sandbox.slop(&["aggregate", "--tier", "1", "--stdout", "--json", "--budget", "none"]);
    assert!(20_000 < number(&data(&lifted.out)["receipt"]["tokens"]) && !lifted.err.contains("limited to"));
    sandbox.write("slop.toml", "[tiers.1]\nbudget_tokens = 0\n");
    assert_eq!(
        sandbox.json(&["aggregate", "--tier", "1", "--stdout"])["receipt"]["budget_tokens"],
        Value::Null
    );
    let few = sandbox.slop(&["aggregate", "--tier", "2", "--stdout", "--json", "package/module_7.py"]);
    assert_eq!((&data(&few.out)["receipt"]["budget_tokens"], few.code), (&Value::Null, 0));
    sandbox
        .slop(&["aggregate", "--tier", "1", "--stdout", "--budget", "0"])
        .assert_fails(2, &["`none` lifts the limit"]);
}

#[test]
fn no_document_exceeds_any_limit() {
    let sandbox = sample_project();
    sandbox.write("slop.toml", "[[files]]\npath = \"src/fast.c\"\nast_mask = { twice = \"def\" }\n");
    let (mut kept, mut refused) = (0, 0);
    for limit in (0..12).map(|power| 3 << power) {
        for (flag, key) in [("--budget", "tokens"), ("--max-bytes", "bytes")] {
            let limit_word = limit.to_string();
            let flags = ["aggregate", "--tier", "1", "--focus", "text.py", "--stdout", flag, &limit_word];
            let ran = sandbox.slop(&[&flags[..], &["--json"]].concat());
            if ran.code != 0 {
                assert_eq!(ran.code, 1, "{ran:?}");
                refused += 1;
                continue;
            }
            let receipt = super::sandbox::data(&ran.out)["receipt"].take();
            assert!(super::sandbox::number(&receipt[key]) <= limit, "{flag} {limit}: {receipt}");
            let document = sandbox.stdout_of(&flags);
            assert!(key == "tokens" || document.len() as u64 <= limit, "{limit}: {document}");
            kept += 1;
        }
    }
    assert!(0 < kept && 0 < refused, "{kept} kept, {refused} refused");
}

#[test]
fn the_skeleton_of_a_configuration_file_shows_no_password() {
    let sandbox = Sandbox::repo();
    sandbox.write("station.toml", "[database]\nuser = \"reader\"\npassword = \"vT9#kLq2xZ!8mWp4\"\n");
    let document = sandbox.stdout_of(&["aggregate", "--tier", "3", "--stdout"]);
    assert!(document.contains("TOML · skeleton of ") && document.contains("user = \"reader\""), "{document}");
    assert!(document.contains("password = \"(redacted:"), "{document}");
    assert!(!document.contains("vT9"), "{document}");
}

const FORMATS: [&str; 5] = ["markdown", "json", "anthropic", "openai", "gemini"];

/// Returns a project of 40 modules with long names and quoted text, which is larger in JSON.
fn module_project() -> Sandbox {
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
    let sandbox = module_project();
    let refused = sandbox.slop(&["aggregate", "--stdout", "--tier", "3", "--budget", "1"]);
    refused.assert_fails(1, &["budget is 1", "hint:"]);
    // The heading and the note that all files are left out.
    let (_, rest) = refused.err.split_once("document needs ").unwrap();
    let needed: u64 = rest.split_whitespace().next().unwrap().parse().unwrap();
    assert!(rest.starts_with(&format!("{needed} tokens, budget is 1\n")), "{}", refused.err);
    let least = sandbox.stdout_of(&["aggregate", "--stdout", "--tier", "3", "--budget", &needed.to_string()]);
    assert!(least.contains("further files") && !least.contains("module_"), "{least}");
    let still =
        sandbox.slop(&["aggregate", "--stdout", "--tier", "3", "--budget", &(needed - 1).to_string()]);
    let message = format!("needs {needed} tokens, budget is {}", needed - 1);
    still.assert_fails(1, &[&message]);
}

#[test]
fn the_tiers_budget_applies_unless_the_command_sets_another() {
    let sandbox = module_project();
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
    let sandbox = module_project();
    for format in FORMATS {
        let ask = |flags: &[&str]| {
            sandbox.slop(&[&["aggregate", "--stdout", "--tier", "3", "--format", format], flags].concat())
        };
        let whole = ask(&[]).out.len();
        for limit in [whole, whole - 1, whole * 3 / 4, whole / 2] {
            let ran = ask(&["--max-bytes", &limit.to_string()]);
            assert_eq!(ran.code, 0, "{format} in {limit} of {whole}: {}", ran.err);
            assert!(ran.out.len() <= limit, "{format}: {} bytes are over {limit}", ran.out.len());
            // The reduction is proportionate to the excess.
            assert!(limit * 4 / 5 < ran.out.len(), "{format}: {} bytes of {limit}", ran.out.len());
        }
        let refused = ask(&["--max-bytes", "10"]);
        refused.assert_fails(1, &["limit is 10"]);
        // The document fits once the limit is raised by the reported excess.
        let smallest = refused.err.split_once("document needs ").unwrap().1.split(' ').next().unwrap();
        let fits = ask(&["--max-bytes", smallest]);
        assert_eq!(fits.code, 0, "{format} in {smallest}: {}", fits.err);
    }
}

#[test]
fn the_receipt_reports_the_limit_and_the_view_of_each_file() {
    let sandbox = module_project();
    let flags = [
        "aggregate", "--stdout", "--tier", "3", "--format", "json", "--max-bytes", "12000", "--focus",
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
fn the_largest_possible_limits_leave_nothing_out() {
    let sandbox = module_project();
    let (flags, most) = (["aggregate", "--stdout", "--tier", "4", "--order", "path"], u64::MAX.to_string());
    let limited = sandbox.stdout_of(&[&flags[..], &["--budget", &most, "--max-bytes", &most]].concat());
    let full = sandbox.stdout_of(&[&flags[..], &["--strategy", "full"]].concat());
    let files = |document: &str| document.split_once('\n').unwrap().1.to_owned();
    assert_eq!(files(&limited), files(&full));
}

#[test]
fn a_file_reduced_to_its_name_is_not_a_failure() {
    let sandbox = module_project();
    let ran = sandbox.slop(&["aggregate", "--stdout", "--tier", "3", "--budget", "300"]);
    assert!(ran.out.contains("\n### More files\n"), "{}", ran.out);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
}

#[test]
fn a_source_without_symbols_has_its_first_lines_in_its_row() {
    let sandbox = module_project();
    sandbox.write("package/start.py", "# Starts it.\nfrom .module_03 import thing_3\n\n\nthing_3(print)\n");
    let document = sandbox.stdout_of(&["aggregate", "--stdout", "--tier", "3", "--budget", "900"]);
    assert!(!document.contains("### package/start.py"), "{document}");
    let row = "\npackage/start.py: from .module_03 import thing_3, thing_3(print)\n";
    assert!(document.contains(row), "{document}");
}

#[test]
fn methods_below_a_summary_are_shown_with_their_type() {
    let sandbox = module_project();
    let body = "        speed = speed + 1\n".repeat(100);
    let method = |name: &str| format!("    def {name}(self, speed):\n{body}\n");
    let fields = "    speed = 1 + 1\n".repeat(100);
    let engine = format!("class Engine:\n{fields}\n{}{}", method("accelerate"), method("decelerate"));
    sandbox.write("package/engine.py", engine);
    let task = "accelerate and decelerate of the engine ignore the speed";
    let document =
        sandbox.stdout_of(&["aggregate", "--stdout", "--tier", "2", "--budget", "900", "--task", task]);
    let rows = "\nEngine: def accelerate(self, speed)\n  def decelerate(self, speed)\n";
    assert!(document.contains(rows), "{document}");
}

#[test]
fn an_inline_image_does_not_count_towards_the_token_budget() {
    let sandbox = module_project();
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
    ask("markdown").assert_fails(1, &["budget is 500"]);
}

#[test]
fn a_document_begins_with_an_overview_that_source_edits_do_not_change() {
    let sandbox = sample_project();
    sandbox.write(
        "README.md",
        "# Station\n\n[![Build](https://ci.example/b.svg)](https://ci.example)\n\n<p align=\"center\"><img src=\"x.png\"></p>\n\n\
         Reads sensors, and writes\nreports.\n\n## Files\n\n### src/engine.py\n",
    );
    sandbox.write("pyproject.toml", "[project]\nname = \"station\"\n");
    sandbox.write("src/__main__.py", "from engine import run\n");
    sandbox.write("web/package.json", "{}\n");
    for index in ["web/src/index.ts", "web/src/actions/index.ts", "docs/index.js"] {
        sandbox.write(index, "export const a = 1;\n");
    }
    for page in 0..100 {
        sandbox.write(format!("docs/api/{page}.html"), "<h1>Engine</h1>\n");
    }
    let overview = |flags: &[&str]| {
        let document = sandbox.stdout_of(&[&["aggregate", "--stdout"], flags].concat());
        document.split_once("## Files").unwrap().0.to_owned()
    };
    let first = overview(&["--tier", "2"]);
    let lines = "- Project: Station\n- About: Reads sensors, and writes reports.\n- Languages: ";
    assert!(first.starts_with(lines), "{first}");
    assert!(
        first.contains(
            "\n- Manifests: pyproject.toml\n- Entry points: src/__main__.py, web/src/index.ts\n\nEach file"
        ),
        "{first}"
    );
    assert!(!first.contains("HTML"), "{first}");
    sandbox.write("src/engine.py", "def other():\n    return 2\n\n\ndef run():\n    return other()\n");
    assert_eq!(overview(&["--tier", "2"]), first);
    assert_eq!(overview(&["--tier", "2", "--task", "reports are empty"]), first);
    // Omitted for a few files, under a small limit, or on request.
    assert_eq!(overview(&["--tier", "2", "src"]), "");
    assert_eq!(overview(&["--tier", "2", "--budget", "1000"]), "");
    sandbox.write("slop.toml", "[aggregation]\noverview = false\n");
    assert_eq!(overview(&["--tier", "2"]), "");
}

#[test]
fn the_overview_names_the_languages_by_size_and_programs_before_libraries() {
    let sandbox = Sandbox::new();
    for name in ["a", "b", "c", "d"] {
        sandbox.write(format!("{name}/src/lib.rs"), "pub fn run() -> u32 {\n    1\n}\n".repeat(40));
    }
    sandbox.write("term/src/main.rs", "fn main() {}\n");
    for name in ["Example/Demo", "App.Tests"] {
        sandbox.write(format!("{name}/main.rs"), "fn main() {}\n");
    }
    for query in 0..30 {
        sandbox.write(format!("queries/{query}.scm"), "(a) @b\n");
    }
    sandbox.write("README.md", "# What is it?\n\nIt runs.\n");
    let document = sandbox.stdout_of(&["aggregate", "--stdout", "--tier", "2"]);
    let expected = "- Project: project\n- About: It runs.\n- Languages: Rust\n- Entry points: term/src/main.rs, \
                    a/src/lib.rs, b/src/lib.rs, c/src/lib.rs\n";
    assert!(document.starts_with(expected), "{document}");
}

#[test]
fn a_readme_cannot_forge_files_in_the_overview_or_reveal_secrets() {
    let sandbox = sample_project();
    sandbox.write(
        "README.md",
        "# A\u{1b}[2Jb\n\n### src/engine.py\n\npassword = \"hunter2hunter2\" opens it.\n",
    );
    let document = sandbox.stdout_of(&["aggregate", "--stdout", "--tier", "2"]);
    let (overview, _) = document.split_once("## Files").unwrap();
    assert!(
        overview.lines().all(|line| !line.starts_with('#')) && !overview.contains('\u{1b}'),
        "{overview}"
    );
    assert!(!overview.contains("hunter2"), "{overview}");
    // If the file is left out by a setting, so is its text here.
    sandbox.write("slop.toml", "[[files]]\npath = \"README.md\"\nauto_aggregate = false\n");
    let document = sandbox.stdout_of(&["aggregate", "--stdout", "--tier", "2"]);
    assert!(document.starts_with("- Project: project\n- Languages: "), "{document}");
}

#[test]
fn with_enough_room_all_sources_are_shown_before_other_files() {
    let sandbox = sample_project();
    for at in 0..130 {
        sandbox.write(format!("src/part{at}.py"), format!("def part{at}():\n    return {at}\n"));
    }
    let rules = |at| format!(".c{at} {{\n  color: red;\n}}\n");
    sandbox.write("styles/app.scss", ".a { .b { color: red } }\n");
    sandbox.write("styles/app.css", (0..900).map(rules).collect::<String>());
    sandbox.write("LICENSE", "Permission is granted.\n".repeat(100));
    let document = sandbox.aggregate_json(&["--tier", "3", "--budget", "20000"]);
    let views = views(&document);
    let parts = views.iter().filter(|(path, _)| path.starts_with("src/part"));
    assert_eq!(parts.clone().filter(|(_, view)| view == "full").count(), 130, "{views:?}");
    // A compiled style sheet and a license are only named.
    for path in ["styles/app.css", "LICENSE"] {
        let (_, view) = views.iter().find(|(other, _)| other == path).unwrap();
        assert!(view == "path" || view == "names", "{path}: {view}");
    }
}

//! A session with curation, from an empty `slop.toml` to a request body; each step builds on the previous one.

use std::fs;
use std::ops::Range;

use serde_json::{Value, json};

use super::sandbox::{Sandbox, list, number, text, texts};

const ENGINE: &str = "\
\"\"\"Runs jobs.\"\"\"

import queue


class Engine:
    \"\"\"Takes jobs off a queue.\"\"\"

    def run(self, job):
        \"\"\"Runs one job.\"\"\"
        for attempt in range(3):
            if self.try_once(job, attempt):
                return True
        return False

    def try_once(self, job, attempt):
        return job(attempt)

    def _debug(self):
        print(self)
";

const RETRY: &str = "\
def delays(limit):
    delay = 1
    while delay < limit:
        yield delay
        delay = delay * 2


def give_up(job):
    return f\"{job} gave up\"
";

const LOOP: &str = "    while delay < limit:\n        yield delay\n        delay = delay * 2\n";

fn project() -> Sandbox {
    let sandbox = Sandbox::repo();
    sandbox.write("README.md", "# Jobs\n\nRuns jobs, and tries them again.\n");
    sandbox.write("src/engine.py", ENGINE);
    sandbox.write("src/retry.py", RETRY);
    sandbox.write("tests/test_retry.py", "from src import retry\n\n\ndef test_delays():\n    assert retry\n");
    sandbox.commit_all("Run jobs");
    sandbox
}

#[test]
fn a_session_curates_saves_budgets_and_formats_a_project() {
    let sandbox = project();
    let said = sandbox.stdout_of(&["init"]);
    assert!(said.ends_with("slop.toml\n"), "{said}");
    mark_lines_that_move(&sandbox);
    set_a_mask(&sandbox);
    save_a_preset(&sandbox);
    let whole = aggregate_the_preset(&sandbox);
    keep_within_a_budget(&sandbox, &whole);
    ask_anthropic(&sandbox);
    lose_half_of_it(&sandbox);
}

fn mark_lines_that_move(sandbox: &Sandbox) {
    let args = ["slice", "add", "src/retry.py", "3-5", "--tag", "back off", "--comment", "doubles each time"];
    assert_eq!(sandbox.stdout_of(&args), "src/retry.py:3-5 [back off] (doubles each time)\n");
    sandbox.write("src/retry.py", format!("import math\n\n\n{RETRY}"));
    let said = sandbox.stdout_of(&["slice", "list"]);
    assert_eq!(said, "src/retry.py:6-8 moved, was 3-5 [back off] (doubles each time)\n");
}

fn set_a_mask(sandbox: &Sandbox) {
    let refused = sandbox.slop(&["mask", "set", "src/engine.py", "Engine.rnu=def"]);
    refused.assert_fails(1, &["`Engine.rnu`", "`Engine.run`"]);
    let said = sandbox
        .stdout_of(&["mask", "set", "src/engine.py", "Engine=sig", "Engine.run=def", "Engine._debug=hide"]);
    assert_eq!(said.lines().count(), 3, "{said}");
    // The text that `slop init` wrote is unchanged, and curation is appended to it.
    let written = sandbox.read("slop.toml");
    let (before, after) = written.split_at(written.find("\n[[files]]\n").unwrap());
    assert!(before.starts_with("# The settings of slop"), "{before}");
    assert!(after.contains("\"Engine.run\" = \"def\""), "{after}");
}

fn save_a_preset(sandbox: &Sandbox) {
    let files = ["src", "README.md", "src/engine.py", "src/retry.py"];
    sandbox.stdout_of(
        &[&["preset", "save", "retry", "--description", "how jobs are tried"], &files[..]].concat(),
    );
    let saved = sandbox.read("slop.toml");
    sandbox.write("slop.toml", format!("{saved}\n[personas.worker]\ntier = 3\ncontext_preset = \"retry\"\n"));
    let listed = sandbox.stdout_of(&["persona", "list"]);
    assert!(listed.starts_with("worker (tier 3, preset retry, "), "{listed}");
}

/// Aggregates the preset and returns the receipt of the unlimited document.
fn aggregate_the_preset(sandbox: &Sandbox) -> Value {
    let args = ["aggregate", "--tier", "3", "--preset", "retry", "--order", "path"];
    let document = sandbox.stdout_of(&[&args[..], &["--stdout"]].concat());
    assert!(document.starts_with("## Files (Tier 3 - Focused)\n\n### README.md\n"), "{document}");
    let engine = part(&document, "### src/engine.py", "### src/retry.py");
    assert!(engine.contains("for attempt in range(3):"), "{engine}");
    assert!(!engine.contains("_debug"), "{engine}");
    let retry = &document[document.find("### src/retry.py").unwrap()..];
    let slice = format!("---\n[Slice: back off] (doubles each time)\nLines 6-8:\n{LOOP}```\n");
    assert!(retry.ends_with(&slice), "{retry}");
    assert!(!retry.contains("gave up"), "{retry}");
    assert!(!document.contains("test_retry.py"), "{document}");
    // A persona selects the same.
    let by_persona = sandbox.stdout_of(&["aggregate", "--persona", "worker", "--order", "path", "--stdout"]);
    assert_eq!(by_persona, document);
    receipt(sandbox, &args)
}

fn keep_within_a_budget(sandbox: &Sandbox, whole: &Value) {
    let args = ["aggregate", "--tier", "3", "--preset", "retry", "--order", "path"];
    let tokens = number(&whole["tokens"]);
    let budget = (tokens - 1).to_string();
    let smaller = receipt(sandbox, &[&args[..], &["--budget", &budget]].concat());
    assert!(number(&smaller["tokens"]) < tokens, "{smaller}");
    assert_eq!(smaller["budget_tokens"], tokens - 1);
    let reduced: Vec<&Value> =
        list(&smaller["files"]).filter(|file| file["why"] == "to keep within the budget").collect();
    assert!(!reduced.is_empty(), "{smaller}");
    assert!(reduced.iter().all(|file| file["view"] != file["wanted"]), "{smaller}");
    // A file reduced to its name is not a failure.
    let scarce = receipt(sandbox, &[&args[..], &["--budget", "80"]].concat());
    assert!(list(&scarce["files"]).any(|file| file["view"] == "names"), "{scarce}");
    let refused = sandbox.slop(&[&args[..], &["--budget", "1", "--stdout"]].concat());
    refused.assert_fails(1, &["budget is 1", "hint:"]);
}

fn ask_anthropic(sandbox: &Sandbox) {
    sandbox.write("talk.json", r#"[{"role": "user", "content": "Why does it wait for so long?"}]"#);
    let args = ["aggregate", "--persona", "worker", "--format", "anthropic", "--stdout"];
    // For a model that is not listed, any prompt is assumed to be long enough to be cached.
    let args = [&args[..], &["--model", "unlisted"]].concat();
    let body = sandbox.stdout_of(&[&args[..], &["--history", "talk.json"]].concat());
    let body: Value = serde_json::from_str(&body).unwrap();
    let blocks: Vec<&Value> = list(&body["messages"][0]["content"]).collect();
    let (last, prefix) = blocks.split_last().unwrap();
    assert!(text(&last["text"]).contains("Why does it wait for so long?"), "{last}");
    assert!(last["cache_control"].is_null(), "{last}");
    assert!(text(&prefix[0]["text"]).starts_with("## Files (Tier 3 - Focused)\n"), "{body}");
    assert_eq!(prefix.last().unwrap()["cache_control"], json!({"type": "ephemeral"}));
}

fn lose_half_of_it(sandbox: &Sandbox) {
    fs::remove_file(sandbox.path("README.md")).unwrap();
    sandbox.write("src/retry.py", b"\0\x01\x02\xff");
    let listed = sandbox.stdout_of(&["slice", "list"]);
    assert_eq!(listed, "src/retry.py:3-5 stale [back off] (doubles each time): not text\n");
    let ran = sandbox.slop(&["aggregate", "--preset", "retry", "--order", "path", "--stdout"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.out.contains("ERROR: file not found: README.md\n"), "{}", ran.out);
    assert!(ran.out.contains("ERROR in custom view mode for src/retry.py: not text\n"), "{}", ran.out);
    assert!(ran.out.contains("for attempt in range(3):"), "{}", ran.out);
    assert!(ran.err.contains("note: could not show src/retry.py: not text\n"), "{}", ran.err);
}

/// Aggregates into a file with a receipt next to it, checks that the receipt has the document's size, and returns it.
#[track_caller]
fn receipt(sandbox: &Sandbox, args: &[&str]) -> Value {
    sandbox.stdout_of(&[args, &["-o", "../context.md", "--receipt", "../receipt.json"]].concat());
    let receipt: Value = serde_json::from_slice(&fs::read(sandbox.outside("receipt.json")).unwrap()).unwrap();
    let document = fs::read(sandbox.outside("context.md")).unwrap();
    assert_eq!(number(&receipt["bytes"]), document.len() as u64);
    assert_eq!(receipt["tokens_counted_by"], "o200k_base");
    assert!(texts(&receipt["files"], "path").contains(&"src/engine.py".to_owned()), "{receipt}");
    receipt
}

/// Returns the part of a text from one heading to another.
#[track_caller]
fn part<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let range: Range<usize> = text.find(from).unwrap()..text.find(to).unwrap();
    &text[range]
}

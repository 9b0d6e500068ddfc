//! Request bodies for providers: exact bytes and cacheable prefixes. `tests/providers/check.sh` validates
//! them with the providers' own libraries.

use expect_test::expect_file;
use serde_json::Value;

use super::samples::PNG;
use super::sandbox::{Sandbox, list, text};

const FORMATS: [&str; 3] = ["anthropic", "openai", "gemini"];

fn project() -> Sandbox {
    let sandbox = Sandbox::repo();
    // Long enough to be cached by each provider.
    let doc = "Returns a letter that is not in ASCII. ".repeat(80);
    sandbox.write("a.py", format!("def a():\n    \"\"\"{doc}\"\"\"\n    return \"é\"\n"));
    sandbox.write("shot.png", PNG);
    sandbox.write("talk.json", r#"["User: hello", {"role": "assistant", "content": "hi"}]"#);
    sandbox.commit_all("first");
    sandbox
}

const FLAGS: [&str; 7] =
    ["--tier", "3", "--history", "talk.json", "--screenshot", "shot.png", "--screenshots-inline"];

#[track_caller]
fn body_of(sandbox: &Sandbox, format: &str, arguments: &[&str]) -> Value {
    let flags = [&["aggregate", "--stdout", "--format", format], arguments].concat();
    serde_json::from_str(&sandbox.stdout_of(&flags)).unwrap()
}

/// Returns the blocks of the only message.
fn blocks(body: &Value) -> &Value {
    let message = body.get("messages").or(body.get("contents")).map(|messages| &messages[0]).unwrap();
    message.get("content").or(message.get("parts")).unwrap()
}

fn breakpoints(body: &Value, key: &str) -> Vec<usize> {
    let blocks = list(blocks(body)).enumerate();
    blocks.filter(|(_, block)| block.get(key).is_some()).map(|(at, _)| at).collect()
}

#[test]
fn the_request_bodies_match_exactly() {
    let sandbox = project();
    for format in FORMATS {
        let flags = [&["aggregate", "--stdout", "--format", format], &FLAGS[..]].concat();
        let body = sandbox.stdout_of(&flags);
        let golden = format!("{}/tests/fixtures/providers/{format}.json", env!("CARGO_MANIFEST_DIR"));
        expect_file![golden].assert_eq(&body);
        assert_eq!(sandbox.stdout_of(&flags), body);
    }
}

#[test]
fn the_texts_of_a_body_concatenate_to_the_document() {
    let sandbox = project();
    sandbox.write("large.md", "A line of words.\n".repeat(10_000));
    for flags in [&["--tier", "3", "--history", "talk.json"][..], &["--strategy", "full"]] {
        let markdown = sandbox.stdout_of(&[&["aggregate", "--stdout"], flags].concat());
        for format in FORMATS {
            let body = body_of(&sandbox, format, flags);
            let texts: String = list(blocks(&body)).map(|block| text(&block["text"])).collect();
            assert_eq!(texts, markdown, "{format}");
        }
    }
}

#[test]
fn there_is_one_breakpoint_at_the_end_of_the_prefix() {
    let sandbox = project();
    let body = body_of(&sandbox, "anthropic", &FLAGS);
    let blocks = list(blocks(&body)).count();
    assert_eq!(breakpoints(&body, "cache_control"), [blocks - 2]);
    let body = body_of(&sandbox, "anthropic", &["--history", "talk.json", "--history-only"]);
    assert_eq!(breakpoints(&body, "cache_control"), [0; 0]);
    let body = body_of(&sandbox, "anthropic", &["--tier", "3", "--no-history"]);
    assert_eq!(breakpoints(&body, "cache_control"), [0]);
}

#[test]
fn a_long_prefix_is_split_between_files_and_later_edits_move_no_split() {
    let sandbox = Sandbox::repo();
    for number in 0..60 {
        sandbox.write(format!("f{number:02}.md"), format!("{number}\n").repeat(3000));
    }
    let flags = ["--strategy", "full", "--order", "path", "--budget", "none", "--cache-marks", "3"];
    let before = body_of(&sandbox, "anthropic", &flags);
    let places = breakpoints(&before, "cache_control");
    assert_eq!(places.len(), 3, "one breakpoint is left to the caller");
    assert_eq!(places[2], list(blocks(&before)).count() - 1);
    sandbox.write("f59.md", "short\n");
    let after = body_of(&sandbox, "anthropic", &flags);
    assert_eq!(breakpoints(&after, "cache_control"), places);
    for place in &places[..2] {
        assert_eq!(blocks(&after)[place], blocks(&before)[place]);
    }
    assert_ne!(blocks(&after)[places[2]], blocks(&before)[places[2]]);
    assert!(list(blocks(&before)).skip(1).all(|block| text(&block["text"]).starts_with("\n### f")));
}

#[test]
fn a_second_breakpoint_precedes_the_part_for_a_task() {
    let sandbox = Sandbox::repo();
    for number in 0..60 {
        sandbox.write(
            format!("f{number:02}.py"),
            format!("def lookup_{number}():\n    return {number}\n").repeat(60),
        );
    }
    sandbox.commit_all("all");
    let flags = |task| ["--tier", "2", "--task", task, "--budget", "12000"];
    let [one, other] =
        ["lookup_41 fails", "lookup_7 is slow"].map(|task| body_of(&sandbox, "anthropic", &flags(task)));
    let places = breakpoints(&one, "cache_control");
    assert_eq!(places.len(), 2);
    assert_eq!(blocks(&one)[places[0]], blocks(&other)[places[0]], "it is the same for both tasks");
    assert!(text(&blocks(&one)[places[0] + 1]["text"]).starts_with("\n## For this task"));
}

#[test]
fn cached_parts_and_their_lifetime_are_configurable() {
    let sandbox = project();
    let body = |flags: &[&str]| body_of(&sandbox, "anthropic", &[&["--tier", "3"], flags].concat());
    let marks = |flags: &[&str]| breakpoints(&body(flags), "cache_control").len();
    assert_eq!(marks(&["--cache-marks", "0"]), 0);
    assert_eq!(blocks(&body(&["--no-history", "--cache-ttl", "1h"]))[0]["cache_control"]["ttl"], "1h");
    sandbox.write("slop.toml", "[formats]\ncache_marks = 0\ncache_ttl = \"1h\"\n");
    assert_eq!((marks(&[]), marks(&["--cache-marks", "1"])), (0, 1));
    sandbox
        .slop(&["aggregate", "--stdout", "--cache-marks", "1"])
        .assert_fails(1, &["not a request", "hint:"]);
    sandbox.slop(&["aggregate", "--stdout", "--cache-marks", "4"]).assert_fails(2, &["--cache-marks"]);
    // Text that is too short for the provider to cache is not marked.
    sandbox.write("a.py", "def a():\n    pass\n");
    assert_eq!(marks(&["--cache-marks", "2"]), 0);
    assert_eq!(marks(&["--cache-marks", "2", "--model", "unlisted"]), 1);
}

#[test]
fn openai_bodies_use_only_features_of_the_model() {
    let sandbox = project();
    let new = body_of(&sandbox, "openai", &[&FLAGS[..], &["--model", "gpt-5.6-luna"]].concat());
    assert_eq!(breakpoints(&new, "prompt_cache_breakpoint").len(), 1);
    assert_eq!(new["prompt_cache_options"]["mode"], "explicit");
    for model in ["gpt-5.5", "gpt-4o", "local/gpt-6"] {
        let old = body_of(&sandbox, "openai", &[&FLAGS[..], &["--model", model]].concat());
        assert_eq!(old["model"], model);
        assert_eq!(breakpoints(&old, "prompt_cache_breakpoint").len(), 0);
        assert_eq!(old.get("prompt_cache_options"), None);
        let is_of_openai = model.starts_with("gpt-");
        assert_eq!(old.get("prompt_cache_key"), new.get("prompt_cache_key").filter(|_| is_of_openai));
    }
    assert!(new["prompt_cache_key"].is_string());
    let other_tier = body_of(&sandbox, "openai", &["--tier", "1"]);
    assert_ne!(other_tier["prompt_cache_key"], new["prompt_cache_key"]);
}

#[test]
fn the_settings_or_the_flag_set_the_model() {
    let sandbox = project();
    sandbox.write("slop.toml", "[formats]\nanthropic_model = \"m\"\nmax_output_tokens = 7\n");
    let body = body_of(&sandbox, "anthropic", &[]);
    assert_eq!((&body["model"], &body["max_tokens"]), (&"m".into(), &7.into()));
    assert_eq!(body_of(&sandbox, "anthropic", &["--model", "n"])["model"], "n");
    assert_eq!(body_of(&sandbox, "gemini", &[])["generationConfig"]["maxOutputTokens"], 7);
    assert_eq!(body_of(&sandbox, "openai", &[])["max_completion_tokens"], 7);
    let ran = sandbox.slop(&["aggregate", "--stdout", "--model", "n"]);
    ran.assert_fails(1, &["model `n`", "hint:"]);
}

#[test]
fn sampling_parameters_are_omitted_unless_configured() {
    let sandbox = project();
    for format in FORMATS {
        let body = body_of(&sandbox, format, &[]).to_string();
        assert!(!body.contains("temperature") && !body.contains("top_p") && !body.contains("topP"), "{body}");
    }
}

#[test]
fn an_empty_body_is_refused() {
    let sandbox = project();
    sandbox.write("talk.json", "[]");
    for format in FORMATS {
        let flags = ["aggregate", "--stdout", "--format", format, "--history", "talk.json", "--history-only"];
        sandbox.slop(&flags).assert_fails(1, &["request body would be empty", "hint:"]);
    }
}

#[test]
fn a_body_is_written_to_a_json_file() {
    let sandbox = project();
    let said = sandbox.stdout_of(&["aggregate", "--format", "gemini"]);
    assert!(said.ends_with("slop_out/project_001.json\n"), "{said}");
}

//! Attachments: screenshots, tracked work, discussion; and the boundary between prefix and suffix.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::samples::{PNG, sample_project};
use super::sandbox::{CommandOutput, Sandbox, data, list, run, texts};

const TALK: &str = r#"["User: fix it", {"role": "assistant", "content": "done"}]"#;
const TALK_RENDERED: &str = "\n## Discussion History\n\n### Discussion Excerpt 1\n\nUser: fix it\n\n---\n\n\
    ### Discussion Excerpt 2\n\nassistant: done\n";

#[track_caller]
fn aggregate(sandbox: &Sandbox, arguments: &[&str]) -> String {
    sandbox.stdout_of(&[&["aggregate", "--stdout"], arguments].concat())
}

/// Returns the rest of the document from a heading on.
#[track_caller]
fn from<'a>(document: &'a str, heading: &str) -> &'a str {
    let at = document.find(heading).unwrap_or_else(|| panic!("no {heading} in {document}"));
    &document[at..]
}

fn in_beads_mode() -> Sandbox {
    let sandbox = sample_project();
    sandbox.write_user_settings("project.execution_mode = \"beads\"\ntiers.1.history = true\n");
    sandbox
}

/// The sample project, which the user trusts.
fn trusted_project() -> Sandbox {
    let sandbox = sample_project();
    sandbox.write_user_settings(&format!("trust.projects = ['{}']\n", sandbox.root().display()));
    sandbox
}

#[test]
fn the_discussion_is_last_in_each_of_its_formats() {
    let sandbox = sample_project();
    sandbox.write("talk.json", TALK);
    sandbox.write("talk.jsonl", "\"User: fix it\"\n{\"role\":\"assistant\",\"content\":\"done\"}\n");
    sandbox.write("talk.toml", "history = ['User: fix it', { role = 'assistant', content = 'done' }]\n");
    sandbox.write("talk", format!("{{\"messages\": {TALK}}}"));
    for file in ["talk.json", "talk.jsonl", "talk.toml", "talk"] {
        let document = aggregate(&sandbox, &["--tier", "1", "--history", file]);
        assert!(document.ends_with(TALK_RENDERED), "{file}: {document}");
        assert!(document.contains("## File Tree\n"));
        assert!(!document.contains(&format!("### {file}\n")), "{file} is shown twice");
    }
}

#[test]
fn no_history_and_history_only_concatenate_to_the_whole() {
    let sandbox = in_beads_mode();
    sandbox.write("talk.json", TALK);
    sandbox.write(".beads/issues.jsonl", "{\"id\":\"a\",\"title\":\"A\"}\n");
    sandbox.write("shot.png", PNG);
    let flags = ["--tier", "1", "--history", "talk.json", "--screenshot", "shot.png"];
    let whole = aggregate(&sandbox, &flags);
    let prefix = aggregate(&sandbox, &[&flags[..], &["--no-history"]].concat());
    let suffix = aggregate(&sandbox, &[&flags[..], &["--history-only"]].concat());
    assert_eq!(format!("{prefix}{suffix}"), whole);
    assert_eq!(suffix, TALK_RENDERED);
    sandbox.write("talk.json", "[\"more\"]");
    assert_eq!(aggregate(&sandbox, &[&flags[..], &["--no-history"]].concat()), prefix);
    assert!(aggregate(&sandbox, &flags).starts_with(&prefix));
}

#[test]
fn the_sections_are_in_order() {
    let sandbox = in_beads_mode();
    sandbox.write("history.toml", "history = ['x']\n");
    sandbox.write(".beads/issues.jsonl", "{\"id\":\"a\",\"title\":\"A\"}\n");
    sandbox.write("shot.png", PNG);
    let flags = ["aggregate", "--tier", "1", "--screenshot", "shot.png"];
    let document = sandbox.stdout_of(&[&flags[..], &["--stdout"]].concat());
    let headings: Vec<&str> = document.lines().filter(|line| line.starts_with("## ")).collect();
    let expected = [
        "## Files (Summary)",
        "## File Tree",
        "## Screenshots",
        "## Beads Mode: Progress Track",
        "## Discussion History",
    ];
    assert_eq!(headings, expected);
    let json = sandbox.json(&[&flags[..], &["--stdout"]].concat());
    let headings = texts(&json["sections"], "heading");
    assert_eq!(headings[0], "Overview");
    assert_eq!(headings[1..], expected.map(|heading| heading[3..].to_owned()));
    assert_eq!(json["sections"][5]["entries"][0]["content"], "x");
}

#[test]
fn history_only_reads_no_project_file() {
    let sandbox = sample_project();
    sandbox.write("talk.json", TALK);
    let ran = sandbox.slop(&["aggregate", "--stdout", "--history", "talk.json", "--history-only", "-v"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, TALK_RENDERED));
    assert!(ran.err.contains("checked only the named files"), "{}", ran.err);
}

#[test]
fn the_projects_discussion_is_shown_if_the_tier_includes_it() {
    let sandbox = trusted_project();
    let without = aggregate(&sandbox, &["--tier", "2"]);
    sandbox.write("history.toml", "history = ['x']\n");
    assert_eq!(aggregate(&sandbox, &["--tier", "2"]), format!("{without}{}", rendered("x")));
    assert_eq!(aggregate(&sandbox, &["--tier", "2", "--no-history"]), without);
    assert!(!aggregate(&sandbox, &[]).contains("Discussion"));
    sandbox.write("slop.toml", "[tiers.2]\nhistory = false\n");
    assert!(!aggregate(&sandbox, &["--tier", "2"]).contains("Discussion"));
    assert!(aggregate(&sandbox, &["--tier", "2", "--history", "history.toml"]).contains("Discussion"));
    assert!(aggregate(&sandbox, &["--tier", "3"]).contains("Discussion"));
}

fn rendered(said: &str) -> String {
    format!("\n## Discussion History\n\n### Discussion Excerpt 1\n\n{said}\n")
}

#[test]
fn a_history_file_of_another_kind_is_ignored() {
    let sandbox = trusted_project();
    sandbox.write("history.toml", "[window]\nwidth = 3\n");
    let ran = sandbox.slop(&["aggregate", "--tier", "1", "--stdout"]);
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("history.toml: no entries: expected"), "{}", ran.err);
    sandbox
        .slop(&["aggregate", "--history", "history.toml", "--stdout"])
        .assert_fails(1, &["no entries: expected"]);
}

#[test]
fn an_invalid_default_discussion_does_not_stop_the_run() {
    let sandbox = trusted_project();
    let own = sandbox.path("history.toml");
    let goes_on = |words: &str| {
        let ran = sandbox.slop(&["aggregate", "--tier", "1", "--stdout"]);
        assert_eq!(ran.code, 4, "{}", ran.err);
        assert!(ran.out.contains("### src/engine.py") && !ran.out.contains("Discussion"), "{}", ran.out);
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
        sandbox
            .slop(&["aggregate", "--history-only", "--stdout"])
            .assert_fails(1, &["history.toml", "hint:"]);
    };
    sandbox.write("history.toml", "history = [");
    goes_on("history.toml: not valid TOML");
    sandbox.write("history.toml", "[takes.a]\nhistory = ['1']\n[takes.b]\nhistory = ['2']\n");
    goes_on("history.toml: several takes, and none is chosen: `a`, `b`");
    std::fs::File::create(&own).unwrap().set_len(100 << 20).unwrap();
    goes_on("larger than limits.section_bytes (16777216 bytes)");
    std::fs::remove_file(&own).unwrap();
    std::fs::create_dir(&own).unwrap();
    goes_on("history.toml: not a regular file");
    std::fs::remove_dir(&own).unwrap();
    assert!(Command::new("mkfifo").arg(&own).status().unwrap().success());
    goes_on("history.toml: not a regular file");
}

#[test]
fn a_discussion_is_read_through_a_link_only_if_named() {
    let sandbox = trusted_project();
    std::fs::write(sandbox.outside("h.toml"), "history = ['of somebody else']\n").unwrap();
    std::os::unix::fs::symlink("../h.toml", sandbox.path("history.toml")).unwrap();
    let ran = sandbox.slop(&["aggregate", "--tier", "1", "--stdout"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(!ran.out.contains("somebody else"), "{}", ran.out);
    let ran = sandbox.slop(&["aggregate", "--history-only", "--stdout"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    let named = aggregate(&sandbox, &["--history", "history.toml", "--history-only"]);
    assert_eq!(named, rendered("of somebody else"));
}

#[test]
fn a_take_is_selected_by_name() {
    let sandbox = sample_project();
    let takes = "active = 'b'\n[takes.a]\nhistory = ['1']\n[takes.b]\nhistory = ['2']\n";
    sandbox.write("history.toml", takes);
    assert_eq!(aggregate(&sandbox, &["--history-only"]), rendered("2"));
    assert_eq!(aggregate(&sandbox, &["--history-only", "--take", "a"]), rendered("1"));
    let ran = sandbox.slop(&["aggregate", "--stdout", "--take", "c"]);
    ran.assert_fails(1, &["history.toml", "no take `c`, the takes are: `a`, `b`", "hint:"]);
}

#[test]
fn an_invalid_discussion_is_refused_with_its_position() {
    let sandbox = sample_project();
    let refuses = |bytes: &[u8], name: &str, words: &[&str]| {
        sandbox.write(name, bytes);
        let ran = sandbox.slop(&["aggregate", "--history", name]);
        ran.assert_fails(1, &[&[name, "hint:"], words].concat());
    };
    refuses(b"[1]", "a.json", &["entry 1: neither"]);
    refuses(b"[", "b.json", &["not valid JSON"]);
    refuses(b"\"a\"\n\xff\n", "c.jsonl", &["line 2 is not UTF-8"]);
    refuses("[".repeat(1 << 20).as_bytes(), "d.json", &["recursion limit"]);
    refuses(format!("a = {}", "[".repeat(1 << 20)).as_bytes(), "e.toml", &["not valid TOML"]);
    sandbox.slop(&["aggregate", "--history", "gone.json"]).assert_fails(1, &["gone.json", "hint:"]);
    assert!(!sandbox.path("slop_out").exists(), "nothing is written");
}

#[test]
fn a_huge_discussion_is_refused_without_reading_it() {
    let sandbox = sample_project();
    let file = std::fs::File::create(sandbox.path("huge.json")).unwrap();
    file.set_len(100 << 20).unwrap();
    let ran = sandbox.slop(&["aggregate", "--stdout", "--history", "huge.json"]);
    ran.assert_fails(1, &["huge.json", "larger than limits.section_bytes (16777216 bytes)"]);
    sandbox.slop(&["aggregate", "--stdout", "--history", "/dev/zero"]).assert_fails(1, &["/dev/zero"]);
}

#[test]
fn a_discussion_path_is_relative_to_the_current_folder() {
    let sandbox = sample_project();
    sandbox.write("slop.toml", "");
    sandbox.write("src/talk.json", TALK);
    std::fs::write(sandbox.outside("talk.json"), TALK).unwrap();
    for file in ["talk.json", "../../talk.json", sandbox.outside("talk.json").to_str().unwrap()] {
        let ran = sandbox.slop_in("src", &["aggregate", "--stdout", "--history-only", "--history", file]);
        assert_eq!((ran.code, ran.out.as_str()), (0, TALK_RENDERED), "{file}: {}", ran.err);
    }
}

#[test]
fn screenshots_are_links_unless_inlined() {
    let sandbox = sample_project();
    sandbox.write("slop.toml", "");
    sandbox.write("doc/shot one.png", PNG);
    std::fs::write(sandbox.outside("b.gif"), b"GIF89a...").unwrap();
    let outside = sandbox.outside("b.gif");
    let flags = ["--screenshot", "doc/shot one.png", "--screenshot", outside.to_str().unwrap()];
    let links = aggregate(&sandbox, &flags);
    let expected =
        format!("## Screenshots\n\n![shot one.png](<doc/shot one.png>)\n![b.gif]({})\n", outside.display());
    assert_eq!(from(&links, "## Screenshots"), expected);
    let inline = aggregate(&sandbox, &[&flags[..], &["--screenshots-inline"]].concat());
    let expected = "## Screenshots\n\n![shot one.png](data:image/png;base64,iVBORw0KGgoAAAANSUhEUg==)\n\
        ![b.gif](data:image/gif;base64,R0lGODlhLi4u)\n";
    assert_eq!(from(&inline, "## Screenshots"), expected);
    let ran = sandbox.slop_in("doc", &["aggregate", "--stdout", "--screenshot", "shot one.png"]);
    assert!(ran.out.contains("(<doc/shot one.png>)"), "{ran:?}");
}

#[test]
fn an_image_that_cannot_be_shown_is_reported_on_one_line() {
    let sandbox = sample_project();
    sandbox.write("slop.toml", "[limits]\nscreenshot_bytes = 16\n");
    sandbox.write("ok.png", PNG);
    sandbox.write("large.png", [PNG, b"x"].concat());
    sandbox.write("text.png", "not an image");
    let mut flags = vec!["aggregate", "--stdout", "--screenshots-inline"];
    for file in ["gone\n## x.png", "large.png", "ok.png", "src", "text.png"] {
        flags.extend(["--screenshot", file]);
    }
    let ran = sandbox.slop(&flags);
    assert_eq!(ran.code, 4, "{ran:?}");
    let expected = "## Screenshots\n\n\
        ERROR: screenshot gone\\u{a}## x.png: file not found\n\
        ERROR: screenshot large.png: larger than limits.screenshot_bytes (16 bytes)\n\
        ![ok.png](data:image/png;base64,iVBORw0KGgoAAAANSUhEUg==)\n\
        ERROR: screenshot src: not a regular file\n\
        ERROR: screenshot text.png: not a PNG, JPEG, GIF or WebP\n";
    assert_eq!(from(&ran.out, "## Screenshots"), expected);
    assert!(ran.out.contains("### README.md"));
    assert!(ran.err.contains("text.png: not a PNG"), "{}", ran.err);
    let ran = sandbox.slop(&[&flags[..], &["--json"]].concat());
    let problems = data(&ran.out)["receipt"]["problems"].take();
    assert_eq!(list(&problems).filter(|problem| problem["section"] == "screenshots").count(), 4);
}

#[test]
fn gemini_bodies_contain_no_unsupported_image() {
    let sandbox = sample_project();
    sandbox.write("a.gif", b"GIF89a...");
    sandbox.write("b.png", PNG);
    let flags =
        ["aggregate", "--stdout", "--screenshots-inline", "--screenshot", "a.gif", "--screenshot", "b.png"];
    let ask = |format| sandbox.slop(&[&flags[..], &["--format", format]].concat());
    let ran = ask("gemini");
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.out.contains("ERROR: screenshot a.gif: image/gif is not accepted by the model"));
    assert!(ran.out.contains("image/png") && !ran.out.contains("\"image/gif\""));
    for format in ["anthropic", "openai", "markdown"] {
        assert_eq!(ask(format).code, 0, "{format}");
    }
}

const ISSUES: &str = concat!(
    r#"{"id":"p-3","title":"Third","description":"one\ntwo","status":"in_progress"}"#,
    "\n",
    r#"{"id":"p-1","title":"First","status":"closed"}"#,
    "\n",
    r#"{"id":"p-2","title":"Second","status":"closed","close_reason":"x"}"#,
    "\n",
);
const ISSUES_RENDERED: &str = "## Beads Mode: Progress Track\n\n\
    Completed: First (p-1), Second (p-2)\n\nActive:\n\n- Third (p-3) [in_progress]: one\n  two\n";

#[test]
fn beads_issues_are_read_from_the_project() {
    let sandbox = in_beads_mode();
    sandbox.write(".beads/issues.jsonl", ISSUES);
    assert_eq!(from(&aggregate(&sandbox, &[]), "## Beads"), ISSUES_RENDERED);
    sandbox.write(".beads/issues.jsonl", format!("<<<<<<<\n{ISSUES}\n[]\n"));
    let ran = sandbox.slop(&["aggregate", "--stdout"]);
    assert_eq!((ran.code, from(&ran.out, "## Beads")), (0, ISSUES_RENDERED));
    assert!(ran.err.contains("2 issues could not be understood"), "{}", ran.err);
    sandbox.write_user_settings("");
    assert!(!aggregate(&sandbox, &[]).contains("Beads"));
}

/// Runs the program with this script as `bd`, or without `bd`.
fn run_with_bd(sandbox: &Sandbox, script: Option<&str>) -> CommandOutput {
    let programs = sandbox.outside("programs");
    std::fs::create_dir_all(&programs).unwrap();
    let git = String::from_utf8(Command::new("sh").args(["-c", "command -v git"]).output().unwrap().stdout);
    let _ = std::os::unix::fs::symlink(git.unwrap().trim_end(), programs.join("git"));
    let bd = programs.join("bd");
    let _ = std::fs::remove_file(&bd);
    if let Some(script) = script {
        std::fs::write(&bd, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&bd, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = sandbox.command(&["aggregate", "--stdout"]);
    command.env("PATH", programs);
    run(command)
}

#[test]
fn without_the_issues_file_bd_is_run() {
    let sandbox = in_beads_mode();
    let listed = format!("[{}]", ISSUES.trim_end().replace('\n', ","));
    let ran = run_with_bd(&sandbox, Some(&format!("echo '{}'", listed.replace("\\n", "\\\\n"))));
    assert_eq!((ran.code, from(&ran.out, "## Beads")), (0, ISSUES_RENDERED), "{ran:?}");
    let old = format!("test $# = 2 || exit 1; echo '{{\"issues\": {}}}'", listed.replace("\\n", "\\\\n"));
    let ran = run_with_bd(&sandbox, Some(&old));
    assert_eq!((ran.code, from(&ran.out, "## Beads")), (0, ISSUES_RENDERED), "{ran:?}");
}

#[test]
fn the_mock_issues_file_is_the_last_resort() {
    let sandbox = in_beads_mode();
    sandbox.write(".beads_mock/beads.json", format!("[{}]", ISSUES.trim_end().replace('\n', ",")));
    let ran = run_with_bd(&sandbox, None);
    assert_eq!((ran.code, from(&ran.out, "## Beads")), (0, ISSUES_RENDERED));
    let ran = run_with_bd(&sandbox, Some("echo no database >&2; exit 1"));
    assert_eq!((ran.code, from(&ran.out, "## Beads")), (0, ISSUES_RENDERED));
    assert!(ran.err.contains("`bd list` failed: no database"), "{}", ran.err);
    sandbox.write(".beads_mock/beads.json", "{");
    let ran = run_with_bd(&sandbox, Some("echo nonsense"));
    assert_eq!(ran.code, 4);
    assert!(from(&ran.out, "## Beads").contains(".beads_mock/beads.json: not valid JSON"), "{ran:?}");
}

#[test]
fn a_project_without_beads_has_no_section_and_no_error() {
    let sandbox = in_beads_mode();
    for bd in [None, Some("echo 'no beads database found' >&2; exit 1")] {
        let ran = run_with_bd(&sandbox, bd);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(!ran.out.contains("Beads") && !ran.out.contains("ERROR"), "{}", ran.out);
        assert!(ran.err.contains("note: beads: no issues found in .beads/issues.jsonl"), "{}", ran.err);
    }
    sandbox.write(".beads/issues.jsonl/no-file", "");
    let ran = run_with_bd(&sandbox, None);
    assert_eq!(ran.code, 4);
    assert!(from(&ran.out, "## Beads").contains("\nERROR: no issues found in .beads/issues.jsonl"));
}

#[test]
fn screenshots_are_named_by_patterns_too() {
    let sandbox = sample_project();
    for name in ["b.png", "a.png", "x[1].png", "sub/c.png", ".hidden.png", "notes.txt"] {
        sandbox.write(format!("shots/{name}"), PNG);
    }
    std::fs::write(sandbox.outside("out.png"), PNG).unwrap();
    let links = |flags: &[&str]| {
        let document = aggregate(&sandbox, flags);
        let section = from(&document, "## Screenshots").lines().filter(|line| line.starts_with("!["));
        section.map(|line| line.rsplit(['(', ')']).nth(1).unwrap().to_owned()).collect::<Vec<_>>()
    };
    let here = ["shots/a.png", "shots/b.png", "shots/x[1].png"];
    assert_eq!(links(&["--screenshot", "shots/*.png"]), here);
    assert_eq!(links(&["--screenshot", "shots/b.png", "--screenshot", "shots/?.png"]), [here[1], here[0]]);
    assert_eq!(links(&["--screenshot", "shots/x[1].png"]), ["shots/x[1].png"]);
    assert_eq!(links(&["--screenshot", "shots/**/c.png"]), ["shots/sub/c.png"]);
    assert!(links(&["--screenshot", "../o*.png"])[0].ends_with("out.png"));
    // A preset came with the project and shows nothing from outside of it.
    sandbox.write("slop.toml", "[presets.p]\nfiles = []\nscreenshots = ['shots/[ab].png', '../o*.png']\n");
    let ran = sandbox.slop(&["aggregate", "--stdout", "--preset", "p"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.out.contains("shots/a.png") && !ran.out.contains("out.png"), "{}", ran.out);
    let gone = sandbox.slop(&["aggregate", "--stdout", "--screenshot", "shots/*.gif"]);
    assert!(gone.code == 4 && gone.err.contains("shots/*.gif: file not found"), "{gone:?}");
}

#[test]
fn messages_are_stripped_and_have_a_role() {
    let sandbox = sample_project();
    let entries = r#"["  plain \n\n", {"content": "\n no role "}, {"role": "", "content": "empty"}]"#;
    sandbox.write("talk.json", entries);
    let rendered = aggregate(&sandbox, &["--history", "talk.json", "--history-only"]);
    let said: Vec<&str> =
        rendered.lines().filter(|line| !line.is_empty() && !line.starts_with(['#', '-'])).collect();
    assert_eq!(said, ["plain", "Unknown: no role", "Unknown: empty"]);
}

#[test]
fn a_discussion_in_the_project_is_not_shown_as_a_file() {
    let sandbox = sample_project();
    sandbox.write("talk.json", TALK);
    let absolute = sandbox.path("talk.json");
    for named in ["talk.json", "./talk.json", "src/../talk.json", absolute.to_str().unwrap()] {
        for part in [&[][..], &["--no-history"]] {
            let flags = [&["--tier", "1", "--budget", "none", "--history", named], part].concat();
            assert!(!aggregate(&sandbox, &flags).contains("talk.json"), "{named} {part:?}");
        }
    }
}

#[test]
fn issues_are_not_read_through_an_outside_link() {
    let sandbox = in_beads_mode();
    std::fs::write(sandbox.outside("issues.jsonl"), ISSUES).unwrap();
    std::fs::create_dir(sandbox.path(".beads")).unwrap();
    std::os::unix::fs::symlink("../../issues.jsonl", sandbox.path(".beads/issues.jsonl")).unwrap();
    let ran = run_with_bd(&sandbox, None);
    assert_eq!(ran.code, 4);
    assert!(!ran.out.contains("Third"), "{}", ran.out);
}

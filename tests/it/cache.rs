//! `slop cache`: how much there is, deleting it, checking it, printing it.

use rusqlite::Connection;
use serde_json::Value;

use super::sandbox::Sandbox;
use super::sandbox::list;
use super::sandbox::number;
use super::sandbox::texts;
use super::tiers::ENGINE;
use super::tiers::project;

/// A project of five files with text that is in the cache.
fn indexed_project() -> Sandbox {
    let sandbox = project();
    sandbox.stdout_of(&["index"]);
    sandbox
}

#[track_caller]
fn parse_count(sandbox: &Sandbox) -> u64 {
    number(&sandbox.json(&["index"])["parsed"])
}

/// Returns how many outlines, skeletons and summaries there are.
#[track_caller]
fn artifact_counts(sandbox: &Sandbox) -> Vec<(String, u64)> {
    let status = sandbox.json(&["cache", "status"]);
    let kinds = list(&status["artifacts"]);
    kinds.map(|kind| (kind["artifact"].as_str().unwrap().to_owned(), number(&kind["rows"]))).collect()
}

fn kinds(outlines: u64, skeletons: u64, summaries: u64) -> Vec<(String, u64)> {
    // Names are looked for when a budget asks for them, not by an index.
    let all = [("outline", outlines), ("skeleton", skeletons), ("summary", summaries), ("references", 0)];
    all.map(|(kind, rows)| (kind.to_owned(), rows)).into()
}

#[test]
fn status_reports_how_much_is_cached() {
    let sandbox = indexed_project();
    let status = sandbox.json(&["cache", "status"]);
    assert_eq!((number(&status["files"]), number(&status["contents"])), (6, 5));
    assert_eq!(artifact_counts(&sandbox), kinds(5, 5, 5));
    assert!(0 < number(&status["bytes_on_disk"]));
    assert!(sandbox.stdout_of(&["cache", "status"]).starts_with("files      6\n"));
}

#[test]
fn clear_empties_the_cache_and_reports_how_much_it_freed() {
    let sandbox = indexed_project();
    let freed = sandbox.json(&["cache", "clear"]);
    assert_eq!((number(&freed["artifacts"]), number(&freed["files"])), (15, 6));
    assert_eq!(number(&sandbox.json(&["cache", "status"])["contents"]), 0);
    assert_eq!(parse_count(&sandbox), 5);
    assert!(
        sandbox.stdout_of(&["cache", "clear"]).starts_with("deleted 15 artifacts, forgot 6 files, freed ")
    );
}

#[test]
fn freed_space_is_returned_to_the_disk() {
    let sandbox = Sandbox::repo();
    for n in 0..200 {
        sandbox.write(format!("m{n}.py"), format!("def f{n}():\n    \"\"\"Does {n}.\"\"\"\n"));
    }
    sandbox.stdout_of(&["index"]);
    let before = number(&sandbox.json(&["cache", "status"])["bytes_on_disk"]);
    let freed = number(&sandbox.json(&["cache", "clear"])["bytes"]);
    let after = number(&sandbox.json(&["cache", "status"])["bytes_on_disk"]);
    assert!(before / 2 < freed && after <= before - freed, "{before} {freed} {after}");
}

#[test]
fn part_of_the_cache_can_be_cleared() {
    let sandbox = indexed_project();
    assert_eq!(number(&sandbox.json(&["cache", "clear", "--summaries"])["artifacts"]), 5);
    assert_eq!(sandbox.json_lines(&["outline"]).len(), 5);
    sandbox.stdout_of(&["index"]);
    assert_eq!(artifact_counts(&sandbox), kinds(5, 5, 5));
    assert_eq!(number(&sandbox.json(&["cache", "clear", "--structure"])["artifacts"]), 10);
    assert!(sandbox.stdout_of(&["view", "src/engine.py", "--mode", "skeleton"]).contains("class Engine"));
    sandbox.stdout_of(&["index"]);
    assert_eq!(artifact_counts(&sandbox), kinds(5, 5, 5));
    let both = sandbox.json(&["cache", "clear", "--summaries", "--structure"]);
    assert_eq!(number(&both["artifacts"]), 15);
}

#[test]
fn single_files_can_be_cleared() {
    let sandbox = indexed_project();
    let freed = sandbox.json(&["cache", "clear", "src/engine.py"]);
    assert_eq!((number(&freed["artifacts"]), number(&freed["files"])), (3, 1));
    assert_eq!(parse_count(&sandbox), 1);
    assert_eq!(number(&sandbox.json(&["cache", "clear", "src"])["files"]), 3);
    assert_eq!(parse_count(&sandbox), 3);
    sandbox.slop(&["cache", "clear", "nowhere.py"]).assert_fails(1, &["nowhere.py"]);
    sandbox.slop(&["cache", "clear", "src", "--summaries"]).assert_fails(2, &["--summaries"]);
}

#[test]
fn contents_that_no_file_has_are_garbage_collected() {
    let sandbox = indexed_project();
    sandbox.write("src/engine.py", "x = 1\n");
    sandbox.stdout_of(&["index"]);
    assert_eq!(number(&sandbox.json(&["cache", "gc"])["contents"]), 0);
    assert_eq!(number(&sandbox.json(&["cache", "gc", "--days", "0"])["contents"]), 1);
    sandbox.write("src/engine.py", ENGINE);
    assert_eq!(parse_count(&sandbox), 1);
}

#[test]
fn export_prints_one_line_per_file_with_stable_keys() {
    let sandbox = indexed_project();
    let lines: Vec<Value> = sandbox
        .stdout_of(&["cache", "export"])
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 5);
    let promised = ["file_hash", "file_path", "generated_at", "generator_tier", "outline", "summary"];
    for line in &lines {
        assert_eq!(line.as_object().unwrap().keys().collect::<Vec<_>>(), promised);
    }
    let engine = lines.iter().find(|line| line["file_path"] == "src/engine.py").unwrap();
    assert_eq!(texts(&engine["outline"], "name"), ["Engine"]);
    assert!(engine["summary"].as_str().unwrap().contains("Runs things."));
}

/// Flips one bit in every stored body.
fn flip_a_bit_in_every_body(sandbox: &Sandbox) {
    let connection = Connection::open(sandbox.path(".slop_cache/index.db")).unwrap();
    let mut rows = connection.prepare("SELECT key, body FROM artifact").unwrap();
    let rows: Vec<(i64, Vec<u8>)> =
        rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    for (key, mut body) in rows {
        let last = body.len() - 1;
        body[last] ^= 1;
        connection.execute("UPDATE artifact SET body = ?2 WHERE key = ?1", (key, body)).unwrap();
    }
}

#[test]
fn verify_finds_a_flipped_bit_and_deletes_the_damaged_row() {
    let sandbox = indexed_project();
    sandbox.stdout_of(&["cache", "verify"]);
    flip_a_bit_in_every_body(&sandbox);
    let ran = sandbox.slop(&["cache", "verify", "--json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(list(&super::sandbox::data(&ran.out)["damaged"]).count(), 15);
    assert!(sandbox.stdout_of(&["cache", "verify"]).contains(" 0 damaged"));
    assert_eq!(parse_count(&sandbox), 5);
}

#[test]
fn a_row_with_a_flipped_bit_is_never_served() {
    for question in [
        &["outline", "--json"][..],
        &["symbol", "Engine.run"],
        &["view", "src/engine.py", "--mode", "skeleton"],
        &["view", "src", "--mode", "summary"],
        &["aggregate", "--tier", "1", "--stdout"],
        &["aggregate", "--tier", "2", "--stdout"],
        &["aggregate", "--tier", "3", "--stdout"],
        &["aggregate", "--tier", "4", "--stdout"],
    ] {
        let sandbox = indexed_project();
        let right = sandbox.stdout_of(question);
        flip_a_bit_in_every_body(&sandbox);
        assert_eq!(sandbox.stdout_of(question), right, "{question:?}");
        assert_eq!(sandbox.stdout_of(question), right, "{question:?}");
    }
}

#[test]
fn without_a_cache_the_cache_commands_report_nothing() {
    let sandbox = project();
    sandbox.write("slop.toml", "[aggregation]\ncache_enabled = false\n");
    for command in ["status", "clear", "verify", "gc", "export"] {
        sandbox.slop(&["cache", command]).assert_fails(1, &["aggregation.cache_enabled"]);
    }
    assert!(!sandbox.path(".slop_cache").exists());
}

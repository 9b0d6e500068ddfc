//! A team's cache while processes are killed, and while two versions of slop use it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use super::project::{AgentProject, module_source};
use super::server::{ModelServer, ServerAction};
use super::sharing::{configure, keys, project};
use crate::daemon::harness::{TestRng, rounds};
use crate::sandbox::data;

/// Returns the files of entries below the folder, with their bytes.
fn entries(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let Ok(below) = fs::read_dir(folder.join("slop-share-v1")) else { return found };
    for entry in below.flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap()) {
        let path = entry.unwrap().path();
        // Incomplete files have other names.
        if path.file_name().is_some_and(|name| name.len() == 64) {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn after_a_kill_nothing_is_lost_and_nothing_is_stored_twice() {
    let kills = rounds(12, 1_000);
    let folder = tempfile::tempdir().unwrap();
    let answers = [ServerAction::both("Runs jobs.", "Detail.")];
    let project = AgentProject::new(ModelServer::with_responses(answers));
    let team = keys(&project, &[])["team_key"].as_str().unwrap().to_owned();
    let pair = keys(&project, &["--writer", "us"]);
    let writer = pair["writer"].as_str().unwrap();
    let rest = format!("mode = \"read-write\"\nsigning_key_file = \"us.key\"\nwriters = [\"{writer}\"]");
    configure(&project, folder.path(), &team, &rest);
    fs::write(project.sandbox.outside("config/slop/us.key"), pair["signing_key"].as_str().unwrap()).unwrap();
    let (mut random, mut before) = (TestRng::new(19), BTreeMap::new());
    for kill in 0..kills {
        project.sandbox.write(format!("m{kill}.py"), module_source(&format!("m{kill}")));
        let mut command = project.command(&["summarize", "--yes"]);
        let mut process =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // From before the first question to after the last entry, depending on the duration of the run: any moment is
        // fine.
        thread::sleep(Duration::from_millis(random.next_below(400) as u64));
        process.kill().unwrap();
        process.wait().unwrap();
        let after = entries(folder.path());
        for (path, bytes) in &before {
            assert_eq!(after.get(path), Some(bytes), "a stored entry is never changed");
        }
        before = after;
    }
    let run = project.summarize();
    assert_eq!(run.code, 0, "{run:?}");
    let status = project.json(&["share", "status"]);
    let own = status["own"].as_u64().unwrap();
    assert_eq!((status["lacking"].as_u64(), status["outbox"].as_u64()), (Some(0), Some(0)), "{status}");
    assert!(kills as u64 * 2 <= own, "{status}");
    assert_eq!(entries(folder.path()).len() as u64, own);
    let verified = project.slop(&["share", "verify"]).out;
    assert!(verified.starts_with(&format!("{own} valid, 0 missing")) || own > 999, "{verified}");
    // Only the calls in flight of each killed process are repeated.
    let (asked, calls) = (project.server.request_count() as u64, own / 2);
    assert!(asked <= calls + 4 * kills as u64, "{asked} for {calls}");
    // Another process has nothing more to store.
    let pushed = project.slop(&["share", "push"]).out;
    assert!(pushed.starts_with("0 summaries stored"), "{pushed}");
}

#[test]
fn entries_of_a_newer_version_are_kept_and_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let (newer, older) = (project(&["Newer words."]), project(&["Runs jobs."]));
    let team = keys(&newer, &[])["team_key"].as_str().unwrap().to_owned();
    let pair = keys(&newer, &["--writer", "us"]);
    let writer = pair["writer"].as_str().unwrap();
    let rest = format!("mode = \"read-write\"\nsigning_key_file = \"us.key\"\nwriters = [\"{writer}\"]");
    for project in [&newer, &older] {
        configure(project, folder.path(), &team, &rest);
        fs::write(project.sandbox.outside("config/slop/us.key"), pair["signing_key"].as_str().unwrap())
            .unwrap();
    }
    assert_eq!(newer.summarize().code, 0);
    // Simulates a version with another format of entries that uses the same folder.
    for (path, bytes) in entries(folder.path()) {
        fs::write(path, [&[bytes[0] + 1], &bytes[1..]].concat()).unwrap();
    }
    let stored = entries(folder.path());
    let run = older.summarize();
    assert_eq!((run.code, older.server.request_count()), (0, 1), "{run:?}");
    assert!(run.err.contains("2 entries of the team's cache rejected: 2 of another format"), "{run:?}");
    assert_eq!(entries(folder.path()), stored);
    let status = data(&older.slop(&["share", "status", "--json"]).out);
    assert_eq!(status["refused"]["of another format"].as_u64(), Some(2), "{status}");
    assert_eq!(status["outbox"].as_u64(), Some(0), "{status}");
}

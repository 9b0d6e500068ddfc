//! Summaries shared by a team over a folder, with the real program.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::project::{AgentProject, module_source};
use super::server::{ModelServer, ServerAction};
use crate::sandbox::data;

/// What `slop share keygen` prints.
fn keys(project: &AgentProject, arguments: &[&str]) -> Value {
    data(&project.slop(&[&["share", "keygen", "--json"], arguments].concat()).out)
}

fn configure(project: &AgentProject, folder: &Path, team: &str, rest: &str) {
    let team_file = project.sandbox.outside("config/slop/team.key");
    fs::create_dir_all(team_file.parent().unwrap()).unwrap();
    fs::write(team_file, team).unwrap();
    let url = folder.display();
    let share = format!("[share]\nurl = \"file://{url}\"\nteam_key_file = \"team.key\"\n{rest}\n");
    project.write_agent_settings("", &share);
}

fn project(answers: &[&str]) -> AgentProject {
    let actions: Vec<_> = answers.iter().map(|words| ServerAction::both(words, "Detail.")).collect();
    let project = AgentProject::new(ModelServer::with_responses(actions));
    project.sandbox.write("one.py", module_source("one"));
    project
}

#[test]
fn one_pays_and_the_others_fetch_as_long_as_they_believe_the_writer() {
    let folder = tempfile::tempdir().unwrap();
    let (payer, reader) = (project(&["Runs jobs."]), project(&["Asked again."]));
    let team = keys(&payer, &[])["team_key"].as_str().unwrap().to_owned();
    let pair = keys(&payer, &["--writer", "ci"]);
    let writer = pair["writer"].as_str().unwrap();
    configure(&payer, folder.path(), &team, "mode = \"read-write\"\nsigning_key_file = \"ci.key\"");
    fs::write(payer.sandbox.outside("config/slop/ci.key"), pair["signing_key"].as_str().unwrap()).unwrap();
    assert_eq!(payer.summarize().code, 0);
    let status = data(&payer.slop(&["share", "status", "--json"]).out);
    assert_eq!((status["own"].as_u64(), status["outbox"].as_u64()), (Some(2), Some(0)));
    assert_eq!(
        payer.slop(&["share", "verify"]).out.trim(),
        "2 hold, 0 not there or by another writer, 0 broken"
    );
    // The other one has the same content under another name, and asks nobody.
    fs::rename(reader.sandbox.path("one.py"), reader.sandbox.path("other.py")).unwrap();
    configure(&reader, folder.path(), &team, &format!("writers = [\"{writer}\"]"));
    assert_eq!(reader.summarize().code, 0);
    assert_eq!(reader.server.request_count(), 0);
    let shown = |project: &AgentProject| project.slop(&["agent", "show", "other.py", "--tier", "1"]).out;
    assert!(shown(&reader).contains("Runs jobs."), "{}", shown(&reader));
    // Without the writer nothing of it is shown, and the model is asked.
    configure(&reader, folder.path(), &team, "");
    assert!(!shown(&reader).contains("Runs jobs."), "{}", shown(&reader));
    let run = reader.summarize();
    assert!(run.err.contains("by nobody in share.writers"), "{}", run.err);
    assert_eq!(reader.server.request_count(), 1);
    assert!(shown(&reader).contains("Asked again."));
}

#[test]
fn a_cache_that_is_missing_stops_nobody_from_asking() {
    let (folder, project) = (tempfile::tempdir().unwrap(), project(&["Runs jobs."]));
    let gone = folder.path().join("not mounted");
    let team = keys(&project, &[])["team_key"].as_str().unwrap().to_owned();
    configure(&project, &gone, &team, "");
    let run = project.summarize();
    assert_eq!((run.code, project.server.request_count()), (0, 1), "{}", run.err);
    assert!(run.err.contains("folder of the team's cache is missing"), "{}", run.err);
    assert_eq!(project.slop(&["share", "pull"]).code, 0, "nothing is missing, so that nobody is asked");
    project.sandbox.write("two.py", module_source("two"));
    assert_eq!(project.slop(&["share", "pull"]).code, 3);
    configure(&project, folder.path(), "too short", "");
    let run = project.slop(&["share", "pull"]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("team.key") && !run.err.contains("too short"), "{}", run.err);
}

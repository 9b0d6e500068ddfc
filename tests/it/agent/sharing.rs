//! Summaries shared by a team, with the real program.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::Value;

use super::project::{AgentProject, module_source};
use super::server::{ModelServer, ServerAction};
use crate::daemon::harness::TestDaemon;
use crate::sandbox::{data, report_skipped, run, wait_until};

/// What `slop share keygen` prints.
pub(super) fn keys(project: &AgentProject, arguments: &[&str]) -> Value {
    data(&project.slop(&[&["share", "keygen", "--json"], arguments].concat()).out)
}

pub(super) fn configure(project: &AgentProject, folder: &Path, team: &str, rest: &str) {
    configure_url(project, &format!("file://{}", folder.display()), team, rest);
}

pub(super) fn configure_url(project: &AgentProject, url: &str, team: &str, rest: &str) {
    let team_file = project.sandbox.outside("config/slop/team.key");
    fs::create_dir_all(team_file.parent().unwrap()).unwrap();
    fs::write(team_file, team).unwrap();
    let share = format!("[share]\nurl = \"{url}\"\nteam_key_file = \"team.key\"\n{rest}\n");
    // The reservations of killed processes count as spent.
    let limits = "budget_day_usd = \"100\"\nbudget_total_usd = \"100\"\ncalls_per_day = 100000";
    project.write_agent_settings(limits, &share);
}

pub(super) fn project(answers: &[&str]) -> AgentProject {
    let actions: Vec<_> = answers.iter().map(|words| ServerAction::both(words, "Detail.")).collect();
    let project = AgentProject::new(ModelServer::with_responses(actions));
    project.sandbox.write("one.py", module_source("one"));
    project
}

#[test]
fn one_member_pays_and_the_others_fetch_if_they_trust_the_writer() {
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
        "2 valid, 0 missing or by another writer, 0 invalid"
    );
    // The other project has the same content under another name, and calls no model.
    fs::rename(reader.sandbox.path("one.py"), reader.sandbox.path("other.py")).unwrap();
    configure(&reader, folder.path(), &team, &format!("writers = [\"{writer}\"]"));
    assert_eq!(reader.summarize().code, 0);
    assert_eq!(reader.server.request_count(), 0);
    let shown = |project: &AgentProject| project.slop(&["agent", "show", "other.py", "--tier", "1"]).out;
    assert!(shown(&reader).contains("Runs jobs."), "{}", shown(&reader));
    // Unless the writer is trusted, none of its summaries are shown, and the model is called.
    configure(&reader, folder.path(), &team, "");
    assert!(!shown(&reader).contains("Runs jobs."), "{}", shown(&reader));
    let run = reader.summarize();
    assert!(run.err.contains("by nobody in share.writers"), "{}", run.err);
    assert_eq!(reader.server.request_count(), 1);
    assert!(shown(&reader).contains("Asked again."));
}

#[test]
fn a_missing_team_cache_does_not_prevent_calls() {
    let (folder, project) = (tempfile::tempdir().unwrap(), project(&["Runs jobs."]));
    let gone = folder.path().join("not mounted");
    let team = keys(&project, &[])["team_key"].as_str().unwrap().to_owned();
    configure(&project, &gone, &team, "");
    let run = project.summarize();
    assert_eq!((run.code, project.server.request_count()), (0, 1), "{}", run.err);
    assert!(run.err.contains("folder of the team's cache does not exist: "), "{}", run.err);
    assert_eq!(project.slop(&["share", "pull"]).code, 0, "nothing is missing, so no request is sent");
    project.sandbox.write("two.py", module_source("two"));
    assert_eq!(project.slop(&["share", "pull"]).code, 3);
    configure(&project, folder.path(), "too short", "");
    let run = project.slop(&["share", "pull"]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("team.key") && !run.err.contains("too short"), "{}", run.err);
}

/// Lets the daemon call models, which need no key.
fn ask_in_background(project: &AgentProject) {
    let settings = project.sandbox.outside("config/slop/config.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let text = text.replacen("[agent]\n", "[agent]\nbackground = true\n", 1);
    fs::write(&settings, text.replace("needs_key = true", "needs_key = false")).unwrap();
}

/// A Redis server, which is stopped when the test ends.
struct RedisServer {
    process: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl RedisServer {
    /// Starts a server with a password; `None` if Redis is not installed.
    fn start() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("redis-server");
        command.args([
            "--port",
            &port.to_string(),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--requirepass",
            "hunter2",
        ]);
        command.current_dir(folder.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(process) = command.spawn() else {
            report_skipped("no redis-server to share summaries with");
            return None;
        };
        wait_until("the server listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Some(Self { process, port, _folder: folder })
    }

    fn url(&self) -> String {
        format!("redis://:hunter2@127.0.0.1:{}", self.port)
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn concurrent_members_of_a_team_send_each_request_once() {
    let Some(redis) = RedisServer::start() else { return };
    let members: Vec<AgentProject> = (0..4).map(|_| project(&["Runs jobs."])).collect();
    let team = keys(&members[0], &[])["team_key"].as_str().unwrap().to_owned();
    let pair = keys(&members[0], &["--writer", "us"]);
    let writer = pair["writer"].as_str().unwrap();
    for member in &members {
        let rest = format!("mode = \"read-write\"\nsigning_key_file = \"us.key\"\nwriters = [\"{writer}\"]");
        configure_url(member, &redis.url(), &team, &rest);
        fs::write(member.sandbox.outside("config/slop/us.key"), pair["signing_key"].as_str().unwrap())
            .unwrap();
        for number in 0..20 {
            member.sandbox.write(format!("part_{number}.py"), module_source(&format!("part_{number}")));
        }
    }
    let runs: Vec<_> = thread::scope(|scope| {
        let started: Vec<_> = members.iter().map(|member| scope.spawn(|| member.summarize())).collect();
        started.into_iter().map(|run| run.join().unwrap()).collect()
    });
    for (run, member) in runs.iter().zip(&members) {
        assert_eq!(run.code, 0, "{run:?}");
        assert!(!run.err.contains("hunter2"), "{}", run.err);
        let plan = member.json(&["summarize", "--estimate"]);
        assert_eq!((plan["questions"].as_u64(), plan["done"].as_u64()), (Some(0), Some(22)), "{plan}");
    }
    // 21 files and the project.
    let asked: Vec<usize> = members.iter().map(|member| member.server.request_count()).collect();
    assert_eq!(asked.iter().sum::<usize>(), 22, "{asked:?}");
    let status = members[0].json(&["share", "status"]);
    assert_eq!(status["url"].as_str(), Some(&*format!("redis://127.0.0.1:{}", redis.port)), "{status}");
    assert_eq!(status["own"].as_u64().unwrap() + status["fetched"].as_u64().unwrap(), 44, "{status}");
}

#[test]
fn a_hanging_cache_server_does_not_prevent_calls() {
    // It accepts connections, and never answers.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://127.0.0.1:{}", listener.local_addr().unwrap().port());
    let project = project(&["Runs jobs."]);
    let team = keys(&project, &[])["team_key"].as_str().unwrap().to_owned();
    let pair = keys(&project, &["--writer", "us"]);
    let rest = "mode = \"read-write\"\nsigning_key_file = \"us.key\"\ntimeout_ms = 100";
    configure_url(&project, &url, &team, rest);
    fs::write(project.sandbox.outside("config/slop/us.key"), pair["signing_key"].as_str().unwrap()).unwrap();
    let run = project.summarize();
    assert_eq!((run.code, project.server.request_count()), (0, 1), "{run:?}");
    assert!(run.err.contains("did not answer within 100 ms"), "{}", run.err);
    assert_eq!(project.json(&["share", "status"])["outbox"].as_u64(), Some(2));
    let pushed = project.slop(&["share", "push"]);
    assert_eq!(pushed.code, 3, "{pushed:?}");
    assert!(pushed.err.contains("share.timeout_ms"), "{pushed:?}");
}

#[test]
fn a_daemon_fetches_missing_summaries_and_stores_paid_ones() {
    let folder = tempfile::tempdir().unwrap();
    let (payer, reader) = (project(&["Runs jobs."]), project(&["Asked again."]));
    let team = keys(&payer, &[])["team_key"].as_str().unwrap().to_owned();
    let pair = keys(&payer, &["--writer", "ci"]);
    let writer = pair["writer"].as_str().unwrap();
    let rest = "mode = \"read-write\"\nsigning_key_file = \"ci.key\"";
    let rest = format!("{rest}\nwriters = [\"{writer}\"]");
    configure(&payer, folder.path(), &team, &rest);
    fs::write(payer.sandbox.outside("config/slop/ci.key"), pair["signing_key"].as_str().unwrap()).unwrap();
    assert_eq!(payer.summarize().code, 0);
    configure(&reader, folder.path(), &team, &format!("writers = [\"{writer}\"]"));
    let daemon = TestDaemon::start(&reader.sandbox);
    let shows =
        |file: &str, words: &str| reader.slop(&["agent", "show", file, "--tier", "1"]).out.contains(words);
    wait_until("the daemon has fetched", || shows("one.py", "Runs jobs."));
    assert_eq!(reader.server.request_count(), 0);
    // Without models it does not know which answers to fetch, and says so.
    let settings = reader.sandbox.outside("config/slop/config.toml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, &text[text.find("[share]").unwrap()..]).unwrap();
    let reason = "nothing is fetched from the team's cache, because no language model is configured";
    wait_until("the daemon's status has the reason", || {
        reader.slop(&["daemon", "status"]).out.contains(reason)
    });
    drop(daemon);
    // A daemon with models fetches first, and stores the rest.
    let second = project(&["Runs jobs."]);
    second.sandbox.write("two.py", module_source("two"));
    configure(&second, folder.path(), &team, &rest);
    fs::write(second.sandbox.outside("config/slop/ci.key"), pair["signing_key"].as_str().unwrap()).unwrap();
    ask_in_background(&second);
    let daemon = TestDaemon::start(&second.sandbox);
    payer.sandbox.write("two.py", module_source("two"));
    wait_until("the daemon's summaries are stored", || {
        payer.slop(&["share", "pull"]);
        payer.slop(&["agent", "show", "two.py", "--tier", "1"]).out.contains("Runs jobs.")
    });
    // It was asked about two.py and the project, but not about one.py.
    assert_eq!((second.server.request_count(), payer.server.request_count()), (2, 1));
    drop(daemon);
}

/// An S3 server, which is stopped when the test ends.
struct S3Server {
    process: Child,
    port: u16,
}

impl S3Server {
    /// Starts moto with the bucket `team`; `None` if it is not installed.
    fn start() -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("moto_server");
        command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(process) = command.spawn() else {
            report_skipped("no moto_server to share summaries with");
            return None;
        };
        let server = Self { process, port };
        wait_until("the server listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        assert!(server.send("PUT /team HTTP/1.1").starts_with("HTTP/1.1 200"));
        Some(server)
    }

    /// Sends an unsigned request and returns the response.
    fn send(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(stream, "{request}\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_team_shares_through_a_bucket_and_a_pack_is_enough() {
    let Some(s3) = S3Server::start() else { return };
    let (payer, reader) = (project(&["Runs jobs."]), project(&["Asked again."]));
    for project in [&payer, &reader] {
        (0..110).for_each(|n| project.sandbox.write(format!("m{n}.py"), module_source(&format!("m{n}"))));
    }
    let team = keys(&payer, &[])["team_key"].as_str().unwrap().to_owned();
    let pair = keys(&payer, &["--writer", "ci"]);
    let writer = pair["writer"].as_str().unwrap();
    let bucket = |name: &str| format!("s3://{name}/cache\"\nendpoint = \"http://127.0.0.1:{}", s3.port);
    let bucket_keys = [("AWS_ACCESS_KEY_ID", "access"), ("AWS_SECRET_ACCESS_KEY", "hunter2-of-s3")];
    let slop = |project: &AgentProject, arguments: &[&str]| {
        let mut command = project.command(arguments);
        command.envs(bucket_keys);
        run(command)
    };
    let storing = "mode = \"read-write\"\nsigning_key_file = \"ci.key\"\ntimeout_ms = 20000";
    configure_url(&payer, &bucket("team"), &team, storing);
    fs::write(payer.sandbox.outside("config/slop/ci.key"), pair["signing_key"].as_str().unwrap()).unwrap();
    let run_without = payer.slop(&["share", "pull"]);
    assert_eq!(run_without.code, 1, "{run_without:?}");
    assert!(run_without.err.contains("AWS_ACCESS_KEY_ID"), "{run_without:?}");
    assert_eq!(payer.server.request_count(), 0);
    let asked = slop(&payer, &["summarize", "--yes"]);
    assert_eq!((asked.code, payer.server.request_count()), (0, 112), "{asked:?}");
    let verified = slop(&payer, &["share", "verify"]);
    assert_eq!(verified.out.trim(), "224 valid, 0 missing or by another writer, 0 invalid", "{verified:?}");
    let packed = slop(&payer, &["share", "push", "--pack"]);
    assert_eq!(packed.out.trim(), "224 summaries stored, 0 already there", "{packed:?}");
    let packed = slop(&payer, &["share", "push", "--pack"]);
    assert_eq!(packed.out.trim(), "0 summaries stored, 224 already there", "{packed:?}");
    // The individual objects are gone: the pack is enough.
    let listed = s3.send("GET /team?list-type=2&prefix=cache/slop-share-v1/ HTTP/1.1");
    let objects: Vec<&str> =
        listed.split("<Key>").skip(1).map(|rest| rest.split("</Key>").next().unwrap()).collect();
    assert_eq!(objects.len(), 224);
    for object in objects {
        s3.send(&format!("DELETE /team/{object} HTTP/1.1"));
    }
    let believing = format!("writers = [\"{writer}\"]\ntimeout_ms = 20000");
    configure_url(&reader, &bucket("team"), &team, &believing);
    let pulled = slop(&reader, &["share", "pull"]);
    assert!(pulled.out.starts_with("fetched 224 of 224 summaries"), "{pulled:?}");
    assert_eq!(slop(&reader, &["summarize", "--yes"]).code, 0);
    assert_eq!(reader.server.request_count(), 0);
    let shown = slop(&reader, &["agent", "show", "one.py", "--tier", "1"]);
    assert!(shown.out.contains("fetched from the team's cache, where ci stored it"), "{shown:?}");
    // A bucket that does not exist.
    configure_url(&reader, &bucket("nobody"), &team, &believing);
    reader.sandbox.write("new.py", module_source("new"));
    let missing = slop(&reader, &["share", "pull"]);
    assert_eq!(missing.code, 3, "{missing:?}");
    assert!(missing.err.contains("NoSuchBucket") && missing.err.contains("share.url"), "{missing:?}");
    assert!(!missing.err.contains("hunter2-of-s3"), "{missing:?}");
}

#[test]
fn daemons_of_a_team_send_each_request_once() {
    let Some(redis) = RedisServer::start() else { return };
    let members = [project(&["Runs jobs."]), project(&["Runs jobs."])];
    let team = keys(&members[0], &[])["team_key"].as_str().unwrap().to_owned();
    let pair = keys(&members[0], &["--writer", "us"]);
    let writer = pair["writer"].as_str().unwrap();
    for member in &members {
        let rest = format!("mode = \"read-write\"\nsigning_key_file = \"us.key\"\nwriters = [\"{writer}\"]");
        configure_url(member, &redis.url(), &team, &rest);
        fs::write(member.sandbox.outside("config/slop/us.key"), pair["signing_key"].as_str().unwrap())
            .unwrap();
        (0..20).for_each(|n| member.sandbox.write(format!("m{n}.py"), module_source(&format!("m{n}"))));
        ask_in_background(member);
    }
    let daemons = members.each_ref().map(|member| TestDaemon::start(&member.sandbox));
    for member in &members {
        wait_until("a daemon has all summaries", || {
            member.json(&["share", "status"])["lacking"].as_u64() == Some(0)
        });
    }
    drop(daemons);
    // 21 files and the project.
    let asked: Vec<usize> = members.iter().map(|member| member.server.request_count()).collect();
    assert_eq!(asked.iter().sum::<usize>(), 22, "{asked:?}");
}

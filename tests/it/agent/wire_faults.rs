//! Answers that never end, never begin, or are no answers.

use std::process::Command;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use serde_json::json;

use super::AgentProject;
use super::ok_response;
use super::server::ModelServer;
use super::server::ServerAction;

/// One call may take so long, and waiting for the machine is not counted.
const LIMIT: &str = "timeout_seconds = 5";

/// Checks that the first answer is not taken, that it is given up in time, and that the next answer is taken.
fn assert_given_up(fault: ServerAction, longest: Duration) -> u64 {
    let desk = AgentProject::with_file([fault, ok_response()]);
    desk.write_agent_settings(LIMIT, "");
    let began = Instant::now();
    assert_eq!(desk.summarize_json()["outcome"]["answered"], 1);
    assert!(began.elapsed() < longest, "{:?}", began.elapsed());
    assert_eq!(desk.server.request_count(), 2);
    let (calls, spent) = desk.usage();
    assert_eq!(calls, 2);
    spent
}

#[test]
fn an_endless_response_times_out() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n";
    let informing = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(40);
    let faults = [
        ("nothing", ServerAction::Silence),
        ("a byte now and then", ServerAction::Drip(head.to_vec(), b" ".to_vec(), Duration::from_millis(300))),
        (
            "half a head",
            ServerAction::Drip(
                b"HTTP/1.1 200 OK\r\n".to_vec(),
                b"x: y\r\n".to_vec(),
                Duration::from_millis(300),
            ),
        ),
        ("nothing but news", ServerAction::Drip(Vec::new(), informing, Duration::ZERO)),
    ];
    thread::scope(|scope| {
        for (what, fault) in faults {
            let spent = scope.spawn(move || assert_given_up(fault, Duration::from_secs(20)));
            // Nobody knows whether it was charged, so that it counts as its worst.
            scope.spawn(move || assert!(1_000_000 < spent.join().expect(what), "{what}"));
        }
    });
}

#[test]
fn an_oversized_response_is_not_read_completely() {
    let bomb = Command::new("sh").args(["-c", "head -c 256M /dev/zero | gzip -1"]).output().unwrap().stdout;
    assert!(100_000 < bomb.len() && bomb.len() < 2_000_000, "{}", bomb.len());
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n".to_vec();
    let faults = [
        ("two megabytes", ServerAction::json(200, &json!({"type": "message", "text": "x".repeat(2 << 20)}))),
        ("a bomb", ServerAction::Answer(200, vec![("content-encoding".to_owned(), "gzip".to_owned())], bomb)),
        ("without end", ServerAction::Drip(head, vec![b'x'; 64 << 10], Duration::ZERO)),
    ];
    thread::scope(|scope| {
        for (what, fault) in faults {
            scope.spawn(move || {
                assert_given_up(fault, Duration::from_secs(20));
                what
            });
        }
    });
}

#[test]
fn a_malformed_response_is_retried_once() {
    let whole = json!({"type": "message", "content": [{"type": "text", "text": "Half."}]}).to_string();
    let half = &whole[..whole.len() / 2];
    let length = whole.len();
    let faults = [
        ("hangs up", ServerAction::HangUp),
        ("a head alone", ServerAction::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n".to_vec())),
        ("no HTTP", ServerAction::Raw(b"SSH-2.0-OpenSSH_9.6\r\n".to_vec())),
        (
            "cut",
            ServerAction::Raw(
                format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{half}").into_bytes(),
            ),
        ),
        ("half of it", ServerAction::Answer(200, Vec::new(), half.as_bytes().to_vec())),
        ("a page", ServerAction::Answer(200, Vec::new(), b"<html><body>Log in</body></html>".to_vec())),
        ("nothing", ServerAction::Answer(200, Vec::new(), Vec::new())),
        ("another shape", ServerAction::json(200, &json!(["ok"]))),
        ("bytes", ServerAction::Answer(200, Vec::new(), vec![0xff, 0xfe, 0, 1])),
        (
            "false gzip",
            ServerAction::Answer(200, vec![("content-encoding".to_owned(), "gzip".to_owned())], vec![1; 99]),
        ),
    ];
    for (what, fault) in faults {
        let spent = assert_given_up(fault, Duration::from_secs(20));
        assert!(1_000_000 < spent, "{what}: it may have been charged, and counts as its worst, not {spent}");
    }
}

#[test]
fn an_unreachable_server_costs_nothing() {
    let desk = AgentProject::with_file([ok_response()]);
    // A port that nothing listens at any more.
    let gone = ModelServer::with_responses([ok_response()]).url();
    desk.write_agent_settings(
        "",
        &format!(
            "[providers.gone]\nwire = \"anthropic\"\nbase_url = \"{gone}\"\nfree = false\n\
                              [prices.\"gone/m\"]\ninput = \"1.00\"\noutput = \"1.00\"\n"
        ),
    );
    let file = desk.sandbox.outside("config/slop/config.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    desk.write_settings(&text.replace("\"mock/m\"]\nstill", "\"gone/m\"]\nstill"));
    let ran = desk.summarize();
    assert_eq!((ran.code, desk.server.connections()), (3, 0), "{ran:?}");
    assert_eq!(desk.usage().1, 0);
}

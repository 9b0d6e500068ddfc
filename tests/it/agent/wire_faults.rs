//! Answers that never end, never begin, or are no answers.

use std::process::Command;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use serde_json::json;

use super::Desk;
use super::server::Act;
use super::server::Server;
use super::words;

/// One call may take so long, and waiting for the machine is not counted.
const LIMIT: &str = "timeout_seconds = 5";

/// Checks that the first answer is not taken, that it is given up in time, and that the next answer is taken.
fn is_given_up(fault: Act, longest: Duration) -> u64 {
    let desk = Desk::with_file([fault, words()]);
    desk.settle(LIMIT, "");
    let began = Instant::now();
    assert_eq!(desk.asked()["outcome"]["answered"], 1);
    assert!(began.elapsed() < longest, "{:?}", began.elapsed());
    assert_eq!(desk.server.count(), 2);
    let (calls, spent) = desk.usage();
    assert_eq!(calls, 2);
    spent
}

#[test]
fn an_answer_that_does_not_end_is_given_up_in_time() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n";
    let informing = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(40);
    let faults = [
        ("nothing", Act::Silence),
        ("a byte now and then", Act::Drip(head.to_vec(), b" ".to_vec(), Duration::from_millis(300))),
        (
            "half a head",
            Act::Drip(b"HTTP/1.1 200 OK\r\n".to_vec(), b"x: y\r\n".to_vec(), Duration::from_millis(300)),
        ),
        ("nothing but news", Act::Drip(Vec::new(), informing, Duration::ZERO)),
    ];
    thread::scope(|scope| {
        for (what, fault) in faults {
            let spent = scope.spawn(move || is_given_up(fault, Duration::from_secs(20)));
            // Nobody knows whether it was charged, so that it counts as its worst.
            scope.spawn(move || assert!(1_000_000 < spent.join().expect(what), "{what}"));
        }
    });
}

#[test]
fn an_answer_larger_than_any_summary_is_not_read_to_its_end() {
    let bomb = Command::new("sh").args(["-c", "head -c 256M /dev/zero | gzip -1"]).output().unwrap().stdout;
    assert!(100_000 < bomb.len() && bomb.len() < 2_000_000, "{}", bomb.len());
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n".to_vec();
    let faults = [
        ("two megabytes", Act::json(200, &json!({"type": "message", "text": "x".repeat(2 << 20)}))),
        ("a bomb", Act::Answer(200, vec![("content-encoding".to_owned(), "gzip".to_owned())], bomb)),
        ("without end", Act::Drip(head, vec![b'x'; 64 << 10], Duration::ZERO)),
    ];
    thread::scope(|scope| {
        for (what, fault) in faults {
            scope.spawn(move || {
                is_given_up(fault, Duration::from_secs(20));
                what
            });
        }
    });
}

#[test]
fn what_is_no_answer_is_asked_for_once_more() {
    let whole = json!({"type": "message", "content": [{"type": "text", "text": "Half."}]}).to_string();
    let half = &whole[..whole.len() / 2];
    let length = whole.len();
    let faults = [
        ("hangs up", Act::HangUp),
        ("a head alone", Act::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n".to_vec())),
        ("no HTTP", Act::Raw(b"SSH-2.0-OpenSSH_9.6\r\n".to_vec())),
        ("cut", Act::Raw(format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{half}").into_bytes())),
        ("half of it", Act::Answer(200, Vec::new(), half.as_bytes().to_vec())),
        ("a page", Act::Answer(200, Vec::new(), b"<html><body>Log in</body></html>".to_vec())),
        ("nothing", Act::Answer(200, Vec::new(), Vec::new())),
        ("another shape", Act::json(200, &json!(["ok"]))),
        ("bytes", Act::Answer(200, Vec::new(), vec![0xff, 0xfe, 0, 1])),
        (
            "false gzip",
            Act::Answer(200, vec![("content-encoding".to_owned(), "gzip".to_owned())], vec![1; 99]),
        ),
    ];
    for (what, fault) in faults {
        let spent = is_given_up(fault, Duration::from_secs(20));
        assert!(1_000_000 < spent, "{what}: it may have been charged, and counts as its worst, not {spent}");
    }
}

#[test]
fn a_server_that_is_not_there_costs_nothing() {
    let desk = Desk::with_file([words()]);
    // A port that nothing listens at any more.
    let gone = Server::answering([words()]).url();
    desk.settle(
        "",
        &format!(
            "[providers.gone]\nwire = \"anthropic\"\nbase_url = \"{gone}\"\nfree = false\n\
                              [prices.\"gone/m\"]\ninput = \"1.00\"\noutput = \"1.00\"\n"
        ),
    );
    let file = desk.sandbox.beside("config/slop/config.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    desk.write_settings(&text.replace("\"mock/m\"]\nstill", "\"gone/m\"]\nstill"));
    let ran = desk.ask();
    assert_eq!((ran.code, desk.server.connections()), (3, 0), "{ran:?}");
    assert_eq!(desk.usage().1, 0);
}

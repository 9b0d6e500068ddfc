//! Streamed answers: progress, documents, events.

use super::*;

#[test]
fn lines_report_progress_and_end_with_the_answer() {
    let quick = Duration::from_millis(5);
    for (name, last) in [
        ("slow", json!({"data": {"was": "slow"}, "error": null, "status": null})),
        ("slow fault", json!({"data": null, "error": "list_failed", "status": 503})),
    ] {
        let house = ApiTestServer::with(Timeouts { progress: quick, sign: quick, ..TIMEOUTS });
        let mut stream = house.connect();
        let headers = "content-type: application/json\r\naccept: application/x-ndjson\r\n";
        let request = post("/v1/symbols", headers, &json!({"name": name}).to_string());
        stream.write_all(request.as_bytes()).unwrap();
        let begun = read_until(&mut stream, "{\"progress\":{\"done\":1,\"total\":2}}\n");
        assert!(begun.contains("content-type: application/x-ndjson"), "{begun}");
        assert!(!begun.contains("schema_version"), "{begun}");
        house.fake.sees("released");
        let heard = heard(begun.as_bytes().chain(stream));
        let line: Value = serde_json::from_str(heard.body.lines().last().unwrap()).unwrap();
        let outcome = json!({"data": line["data"], "error": line["error"]["code"], "status": line["status"]});
        assert_eq!(outcome, last);
    }
}

#[test]
fn pending_questions_are_answered_when_the_server_stops() {
    let house = ApiTestServer::with(Timeouts { stop: DEADLINE, ..TIMEOUTS });
    let mut asking = house.connect();
    let request = post("/v1/symbols", "content-type: application/json\r\n", "{\"name\":\"slow\"}");
    asking.write_all(request.as_bytes()).unwrap();
    while house.fake.asked.lock().unwrap().is_empty() {
        std::thread::yield_now();
    }
    let mut idle = house.connect();
    house.server.stop();
    assert_eq!(idle.read(&mut [0]).unwrap_or(0), 0);
    house.fake.sees("released");
    assert_eq!(heard(asking).json()["data"], json!({"was": "slow"}));
}

#[test]
fn a_document_is_returned_without_an_envelope_if_accepted() {
    let house = ApiTestServer::new();
    let heard = house.post("/v1/aggregate", "accept: text/markdown\r\n", "{}");
    assert_eq!(heard.body, "# A \"document\"\n");
    let notes = "slop-notes: [\"a note\",\"b.py: it is gone\",\"beads: no project\"]";
    for header in ["content-type: text/markdown", "slop-freshness: fresh", "slop-clock: 1:7", notes] {
        assert!(heard.head.contains(header), "{header} in {}", heard.head);
    }
}

#[test]
fn events_are_streamed_and_resumed_where_a_stream_ended() {
    let house = ApiTestServer::new();
    (1..=3).for_each(|sequence| house.fake.feed.publish(event(sequence, "a.py")));
    let expected = "id: 1:3\nevent: changed\n\
                data: {\"clock\":\"1:3\",\"changes\":[{\"path\":\"a.py\",\"kind\":\"modified\",\"sha256\":\"ab\"}]}\n\n";
    let heard = house.raw(&get("/v1/events?since=1:2&limit=1", ""));
    assert!(heard.head.contains("content-type: text/event-stream"));
    assert_eq!(heard.body, format!(": watching\n\n{expected}"));
    for (since, last) in [("", "1:2"), ("since=1:1&", "1:2"), ("since=1:2&", "")] {
        let request = get(&format!("/v1/events?{since}limit=1"), &format!("last-event-id: {last}\r\n"));
        assert_eq!(house.raw(&request).body, heard.body, "{since} {last}");
    }
    let wrong = get("/v1/events?since=1:2&wait_ms=0", "last-event-id: {}\r\n");
    assert_eq!((house.raw(&wrong).status, &*house.raw(&wrong).code()), (400, "bad_query"));
    let heard = house.raw(&get("/v1/events?since=9:2&limit=1", ""));
    assert!(
        heard.body.ends_with("id: 1:3\nevent: fresh_instance\ndata: {\"clock\":\"1:3\",\"changes\":[]}\n\n")
    );
    assert_eq!(house.raw(&get("/v1/events?wait_ms=0", "")).body, ": watching\n\n");
    assert_eq!(house.raw(&get("/v1/events?limit=0", "")).body, ": watching\n\n");
}

#[test]
fn a_stream_sends_requested_kinds_and_at_most_ten_events_a_second() {
    let house = ApiTestServer::new();
    let mut stream = house.connect();
    stream.write_all(get("/v1/events?kinds=changed,lost_track", "").as_bytes()).unwrap();
    read_until(&mut stream, ": watching\n\n");
    let began = std::time::Instant::now();
    for sequence in 1..=3 {
        house.fake.feed.publish(event(sequence, "a.py"));
        read_until(&mut stream, &format!("id: 1:{sequence}\n"));
    }
    assert!(Duration::from_millis(200) <= began.elapsed());
    for kinds in ["", "other", "changed,", "Changed"] {
        let heard = house.raw(&get(&format!("/v1/events?wait_ms=0&kinds={kinds}"), ""));
        assert_eq!((heard.status, &*heard.code()), (400, "bad_query"), "{kinds}");
    }
    house.fake.feed.publish(event(4, "a.py"));
    let heard = house.raw(&get("/v1/events?since=1:3&wait_ms=50&kinds=lost_track", ""));
    assert!(!heard.body.contains("event:"), "{}", heard.body);
}

#[test]
fn a_client_can_request_fewer_events() {
    let house = ApiTestServer::new();
    let mut stream = house.connect();
    stream.write_all(get("/v1/events?every_ms=60000&wait_ms=1000", "").as_bytes()).unwrap();
    read_until(&mut stream, ": watching\n\n");
    house.fake.feed.publish(event(1, "a.py"));
    read_until(&mut stream, "id: 1:1\n");
    house.fake.feed.publish(event(2, "a.py"));
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(!rest.contains("id: 1:2"), "{rest}");
    // Never more than ten a second, whatever is requested.
    let heard = house.raw(&get("/v1/events?since=1:1&every_ms=0&limit=1", ""));
    assert!(heard.body.contains("id: 1:2\n"), "{}", heard.body);
}

#[test]
fn a_stream_has_heartbeats_and_ends_when_the_server_stops() {
    let house = ApiTestServer::with(Timeouts { heartbeat: Duration::from_millis(5), ..TIMEOUTS });
    let mut stream = house.connect();
    stream.write_all(get("/v1/events", "").as_bytes()).unwrap();
    read_until(&mut stream, "\n:\n");
    house.server.stop();
    assert!(stream.read_to_end(&mut Vec::new()).is_ok());
}

#[test]
fn subscribers_leave_some_connections_for_questions() {
    let house = ApiTestServer::new();
    let waiting: Vec<_> = (0..super::super::limits::SUBSCRIBERS)
        .map(|_| {
            let mut stream = house.connect();
            stream.write_all(get("/v1/events", "").as_bytes()).unwrap();
            let mut first = [0; 8];
            stream.read_exact(&mut first).unwrap();
            stream
        })
        .collect();
    let heard = house.raw(&get("/v1/events", ""));
    assert_eq!((heard.status, &*heard.code()), (503, "busy"));
    assert_eq!(house.raw(&get("/v1/status", "")).status, 200);
    drop(waiting);
}

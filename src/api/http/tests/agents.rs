//! The Model Context Protocol over HTTP, and the limits that it shares with the API.

use super::*;

const ACCEPT: &str = "content-type: application/json\r\naccept: application/json, text/event-stream\r\n";

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
    })
}

/// Returns a request in the version without sessions.
fn message(method: &str, name: &str, mut params: Value) -> String {
    params["_meta"] = meta();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let name = if name.is_empty() { String::new() } else { format!("mcp-name: {name}\r\n") };
    let headers = format!("{ACCEPT}mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n{name}");
    post("/mcp", &headers, &body)
}

/// Returns a request in an older version.
fn old_message(method: &str, params: &Value) -> String {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    post("/mcp", &format!("{ACCEPT}mcp-protocol-version: 2025-11-25\r\n"), &body)
}

#[test]
fn agents_are_answered_over_http_in_old_and_new_versions() {
    let house = ApiTestServer::new();
    let call = json!({"name": "slop_status", "arguments": {}});
    let client = json!({"name": "test", "version": "0"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let heard = house.raw(&old_message("initialize", &hello));
    // Without a session, no state is kept between requests.
    assert_eq!(heard.json()["result"]["capabilities"]["resources"], json!({}), "{heard:?}");
    assert!(!heard.head.contains("mcp-session-id") && heard.head.contains("slop-version: "), "{heard:?}");
    for request in [message("tools/list", "", json!({})), old_message("tools/list", &json!({}))] {
        let tools = house.raw(&request).json();
        assert_eq!(tools["result"]["tools"][6]["name"], "slop_status", "{tools}");
    }
    for request in [message("tools/call", "slop_status", call.clone()), old_message("tools/call", &call)] {
        // The fake service does not return a list of files, which is reported to the agent.
        let answer = house.raw(&request).json();
        assert_eq!(answer["result"]["isError"], true, "{answer}");
    }
    assert_eq!(house.fake.asked(), [AnyQuery::Files(FilesQuery {}), AnyQuery::Files(FilesQuery {})]);
    let refused = house.raw(&old_message("resources/subscribe", &json!({"uri": "slop://view/full/a.py"})));
    assert_eq!(refused.json()["error"]["data"]["code"], "no_session", "{refused:?}");
}

#[test]
fn agents_need_the_token_and_web_pages_are_rejected() {
    let house = ApiTestServer::new();
    let port = house.port;
    let request = |host: &str, rest: &str| {
        let request = old_message("ping", &json!({}));
        request.replace("host: localhost\r\n", &format!("host: {host}\r\n{rest}"))
    };
    let (ours, token) = (format!("127.0.0.1:{port}"), format!("authorization: Bearer {TOKEN}\r\n"));
    assert_eq!(house.raw_tcp(&request(&ours, &token)).json()["result"], json!({}));
    for (host, rest, status) in [
        (&*ours, String::new(), 401),
        (&ours, "authorization: Bearer x\r\n".to_owned(), 401),
        (&format!("evil.example:{port}"), token.clone(), 421),
        (&ours, format!("{token}origin: http://{ours}\r\n"), 403),
        (&ours, format!("{token}sec-fetch-site: cross-site\r\n"), 403),
    ] {
        let heard = house.raw_tcp(&request(host, &rest));
        assert_eq!(heard.status, status, "{host} {rest}: {heard:?}");
    }
    let with_token =
        |method: &str| format!("{method} /mcp HTTP/1.1\r\nhost: {ours}\r\nconnection: close\r\n{token}\r\n");
    // There are no sessions to resume or end.
    for (method, status) in [("GET", 405), ("DELETE", 405), ("OPTIONS", 403)] {
        assert_eq!(house.raw_tcp(&with_token(method)).status, status, "{method}");
    }
    let large = post("/mcp", ACCEPT, &"x".repeat(8 << 20));
    assert_eq!(house.raw(&large).status, 413);
    assert_eq!(house.raw(&post("/mcp", ACCEPT, "not json")).status, 415);
}

#[test]
fn a_stream_of_notifications_counts_as_one_and_ends_with_the_daemon() {
    let house = ApiTestServer::with(Timeouts { stop: DEADLINE, ..TIMEOUTS });
    let address = "slop://view/full/a.py";
    let listen = |wanted: Value| message("subscriptions/listen", "", json!({"notifications": wanted}));
    let request = listen(json!({"resourceSubscriptions": [address], "resourcesListChanged": true}));
    let mut streams: Vec<UnixStream> = (0..super::super::limits::SUBSCRIBERS)
        .map(|_| {
            let mut stream = house.connect();
            stream.write_all(request.as_bytes()).unwrap();
            read_until(&mut stream, "notifications/subscriptions/acknowledged");
            stream
        })
        .collect();
    // The acknowledgment comes before the stream of changes is opened: once it is, events arrive.
    let mut sequence = 0;
    for stream in &mut streams {
        stream.set_nonblocking(true).unwrap();
    }
    let mut received = vec![String::new(); streams.len()];
    let deadline = std::time::Instant::now() + DEADLINE;
    while received.iter().any(|text| !text.contains("notifications/resources/updated")) {
        assert!(std::time::Instant::now() < deadline, "{received:?}");
        sequence += 1;
        house.fake.feed.publish(event(sequence, "a.py"));
        for (stream, text) in streams.iter_mut().zip(&mut received) {
            let mut buffer = [0; 4096];
            if let Ok(read) = stream.read(&mut buffer) {
                text.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
            }
        }
        std::thread::yield_now();
    }
    assert!(received.iter().all(|text| !text.contains("list_changed")), "{received:?}");
    let refused = house.raw(&request);
    assert!(refused.body.contains("limit of event streams reached"), "{refused:?}");
    house.server.stop();
    for mut stream in streams {
        stream.set_nonblocking(false).unwrap();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    }
}

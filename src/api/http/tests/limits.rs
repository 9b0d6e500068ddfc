//! Limits that protect clients from each other.

use super::*;

#[test]
fn thousands_that_never_finish_a_request_do_not_keep_out_one_that_does() {
    let house = ApiTestServer::new();
    let mut slow = Vec::new();
    for number in 0..1000 {
        let mut stream = house.connect();
        let _ = match number % 3 {
            0 => stream.write_all(b"GET /v1/status HTTP/1.1\r\nhost: "),
            1 => stream.write_all(b"POST /v1/index HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{"),
            _ => Ok(()),
        };
        // The system limits the files of a process, and this number suffices to occupy every slot.
        if 200 < slow.len() {
            slow.remove(0);
        }
        slow.push(stream);
        if number % 50 == 0 {
            let heard = house.raw(&get("/v1/status", ""));
            assert_eq!(heard.status, 200, "after {number}: {heard:?}");
        }
    }
    assert_eq!(house.symbols("found").status, 200);
}

#[test]
fn with_all_slots_busy_the_next_client_is_asked_to_retry() {
    let house = ApiTestServer::new();
    let asking: Vec<_> = (0..super::super::limits::CONNECTIONS)
        .map(|_| {
            let mut stream = house.connect();
            let body = json!({"name": "wait"}).to_string();
            stream
                .write_all(post("/v1/symbols", "content-type: application/json\r\n", &body).as_bytes())
                .unwrap();
            stream
        })
        .collect();
    let begun = || house.fake.seen.0.lock().unwrap().iter().filter(|seen| **seen == "begun").count();
    while begun() < asking.len() {
        std::thread::yield_now();
    }
    let heard = house.raw(&get("/v1/status", ""));
    assert_eq!((heard.status, &*heard.code()), (503, "busy"));
    assert!(heard.head.contains("retry-after: 1"));
    drop(asking);
    house.fake.wait_for("cancelled");
    while house.raw(&get("/v1/status", "")).status != 200 {
        std::thread::yield_now();
    }
}

#[test]
fn a_head_or_a_body_that_does_not_come_is_not_waited_for() {
    let quick = Duration::from_millis(50);
    let house = ApiTestServer::with(Timeouts { head: quick, body: quick, ..TIMEOUTS });
    for begun in ["", "GET /v1/status HTTP/1.1\r\nhost: x\r\n"] {
        let mut stream = house.connect();
        stream.write_all(begun.as_bytes()).unwrap();
        assert_ne!(heard(stream).status, 200, "{begun}");
    }
    let mut stream = house.connect();
    stream.write_all(b"POST /v1/index HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{").unwrap();
    assert_eq!(heard(stream).status, 408);
    assert_eq!(house.fake.asked(), []);
}

#[test]
fn a_line_without_an_end_and_a_head_without_an_end_are_cut() {
    let house = ApiTestServer::new();
    let chunk = "x".repeat(1 << 20);
    for begun in ["", "GET /v1/status HTTP/1.1\r\nhost: ", "GET /"] {
        let mut stream = house.connect();
        let mut sent = stream.write_all(begun.as_bytes()).is_ok();
        let mut megabytes = 0;
        while sent && megabytes < 1024 {
            sent = stream.write_all(chunk.as_bytes()).is_ok();
            megabytes += 1;
        }
        assert!(megabytes < 16, "{begun}: {megabytes} MiB were taken");
    }
    assert_eq!(house.raw(&get("/v1/status", "")).status, 200);
}

#[test]
fn who_does_not_read_is_not_waited_for() {
    let house = ApiTestServer::with(Timeouts { read: Duration::from_millis(50), ..TIMEOUTS });
    let mut stream = house.connect();
    let body = json!({"name": "large"}).to_string();
    stream.write_all(post("/v1/symbols", "content-type: application/json\r\n", &body).as_bytes()).unwrap();
    stream.set_write_timeout(Some(DEADLINE)).unwrap();
    // This is not read, so it blocks until the server closes the connection.
    while stream.write_all(b"x").is_ok() {}
    assert_eq!(house.symbols("found").status, 200);
    assert!(heard(stream).body.len() < 32 << 20);
}

#[test]
fn a_client_that_goes_is_not_worked_for() {
    let house = ApiTestServer::new();
    for accept in ["", "accept: application/x-ndjson\r\n"] {
        let mut stream = house.connect();
        let (headers, body) =
            (format!("content-type: application/json\r\n{accept}"), json!({"name": "wait"}));
        stream.write_all(post("/v1/symbols", &headers, &body.to_string()).as_bytes()).unwrap();
        house.fake.wait_for("begun");
        assert!(!house.fake.seen.0.lock().unwrap().contains(&"cancelled"));
        stream.shutdown(Shutdown::Both).unwrap();
        drop(stream);
        house.fake.wait_for("cancelled");
        house.fake.seen.0.lock().unwrap().clear();
    }
}

#[test]
fn a_panic_is_told_as_a_bug_and_others_are_served() {
    let house = ApiTestServer::new();
    for _ in 0..100 {
        assert_eq!(house.symbols("panic").status, 500);
    }
    assert_eq!(house.symbols("found").status, 200);
}

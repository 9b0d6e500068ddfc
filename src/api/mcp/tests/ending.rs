//! Cancellation, progress, and the end of a server.

use super::*;
use crate::engine::ScanProgress;

#[test]
fn cancelling_a_request_cancels_its_work() {
    let (at_work, mut is_at_work) = tokio::sync::mpsc::unbounded_channel();
    let (ended, end) = mpsc::channel();
    let ended = Mutex::new(ended);
    let service = fake(move |_, call| {
        at_work.send(()).unwrap();
        ended.lock().unwrap().send(is_cancelled_in_time(call)).unwrap();
        Ok(json!([]))
    });
    serve_ready(&service, async |client| {
        let id = client.begin("tools/call", json!({"name": "slop_status"})).await;
        is_at_work.recv().await.unwrap();
        let params = json!({"requestId": id, "reason": "no need"});
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})).await;
        // The next message answers the next request: the cancelled one gets no answer.
        client.request("ping", json!({})).await;
    });
    assert!(end.recv().unwrap());
}

#[test]
fn progress_is_reported_on_request() {
    let (go, gone) = mpsc::channel();
    let gone = Mutex::new(gone);
    let service = fake(move |_, call| {
        call.job.begin(9);
        call.job.advance();
        gone.lock().unwrap().recv().unwrap();
        Ok(json!([]))
    });
    serve_ready(&service, async |client| {
        let params =
            json!({"name": "slop_outline", "arguments": {"files": ["a"]}, "_meta": {"progressToken": "t"}});
        let id = client.begin("tools/call", params).await;
        let received = client.receive().await;
        assert_eq!(received["method"], "notifications/progress");
        let expected =
            json!({"progressToken": "t", "progress": 1.0, "total": 9.0, "message": "reading files"});
        assert_eq!(received["params"], expected);
        go.send(()).unwrap();
        assert_eq!(client.receive().await["id"], id);
    });
}

#[test]
fn pending_requests_are_answered_after_the_input_ends() {
    let (go, gone) = mpsc::channel();
    let gone = Mutex::new(gone);
    let service = fake(move |_, _| {
        gone.lock().unwrap().recv().unwrap();
        Ok(json!({"files": []}))
    });
    serve_ready(&service, async |client| {
        let id = client.begin("tools/call", json!({"name": "slop_status"})).await;
        client.output.shutdown().await.unwrap();
        go.send(()).unwrap();
        assert_eq!(client.receive().await["id"], id);
    });
}

#[test]
fn long_work_is_cancelled_after_the_client_disconnects() {
    let (at_work, mut is_at_work) = tokio::sync::mpsc::unbounded_channel();
    let (ended, end) = mpsc::channel();
    let ended = Mutex::new(ended);
    let service = fake(move |_, call| {
        at_work.send(()).unwrap();
        ended.lock().unwrap().send(is_cancelled_in_time(call)).unwrap();
        Ok(json!([]))
    });
    serve_patiently(&service, Duration::from_millis(1), async |client| {
        client.initialize("2025-11-25").await;
        client.begin("tools/call", json!({"name": "slop_status"})).await;
        is_at_work.recv().await.unwrap();
    });
    assert!(end.recv().unwrap());
}

#[test]
fn a_stopped_server_cancels_its_work_and_ends() {
    let (at_work, mut is_at_work) = tokio::sync::mpsc::unbounded_channel();
    let (ended, end) = mpsc::channel();
    let ended = Mutex::new(ended);
    let service = fake(move |_, call| {
        at_work.send(()).unwrap();
        ended.lock().unwrap().send(is_cancelled_in_time(call)).unwrap();
        Ok(json!([]))
    });
    serve_ready(&service, async |client| {
        client.begin("tools/call", json!({"name": "slop_status"})).await;
        is_at_work.recv().await.unwrap();
        client.stop.send(()).await.unwrap();
        // The stream ends although the client has not disconnected.
        let mut rest = String::new();
        while client.input.read_line(&mut rest).await.unwrap() != 0 {}
    });
    assert!(end.recv().unwrap());
}

#[test]
fn disconnecting_at_once_is_not_an_error() {
    serve(&always(json!([])), async |_| {});
}

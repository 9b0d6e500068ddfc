//! Long calls as tasks, for clients that support them.

use super::*;
use crate::engine::ScanProgress;

/// Returns the metadata of a client that has declared the extension.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
    })
}

/// Polls a task until its state is no longer this one.
async fn task_after(client: &mut TestClient, id: &Value, state: &str) -> Value {
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let answer = client.request("tasks/get", json!({"taskId": id, "_meta": meta()})).await;
        let task = answer["result"].clone();
        if task["status"] != state {
            return task;
        }
        assert!(Instant::now() < deadline, "{task}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[test]
fn a_long_call_becomes_a_task_with_its_answer_as_the_result() {
    let (go, gone) = mpsc::channel();
    let gone = Mutex::new(gone);
    let service = fake(move |ask, call| {
        if matches!(ask, AnyQuery::Outline(_)) {
            call.job.begin(9);
            call.job.advance();
            gone.lock().unwrap().recv().unwrap();
        }
        Ok(json!([]))
    });
    serve(&service, async |client| {
        // Not a call that is answered at once.
        let call = json!({"name": "slop_search", "arguments": {"query": "a"}, "_meta": meta()});
        let answer = client.request("tools/call", call).await;
        assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
        let call = json!({"name": "slop_outline", "arguments": {"files": ["a"]}, "_meta": meta()});
        let answer = client.request("tools/call", call).await;
        let task = &answer["result"];
        assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")), "{answer}");
        // The client's other calls are answered meanwhile.
        let state = client.request("tasks/get", json!({"taskId": task["taskId"], "_meta": meta()})).await;
        assert_eq!(state["result"]["statusMessage"], "1 of 9 files are read", "{state}");
        go.send(()).unwrap();
        let done = task_after(client, &task["taskId"], "working").await;
        assert_eq!(done["status"], "completed");
        let words = done["result"]["content"][0]["text"].as_str().unwrap();
        assert!(words.starts_with("[none of these files has an outline"), "{done}");
        let unknown = client.request("tasks/get", json!({"taskId": "other", "_meta": meta()})).await;
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    });
}

/// Returns a service that answers when its call is cancelled, and a receiver that reports whether it was.
fn until_cancelled() -> (Arc<FakeService>, mpsc::Receiver<bool>) {
    let (ended, end) = mpsc::channel();
    let ended = Mutex::new(ended);
    let service = fake(move |_, call| {
        ended.lock().unwrap().send(is_cancelled_in_time(call)).unwrap();
        Ok(json!([]))
    });
    (service, end)
}

#[test]
fn cancelling_a_task_cancels_its_work() {
    let (service, end) = until_cancelled();
    serve(&service, async |client| {
        let call = json!({"name": "slop_outline", "arguments": {"files": ["a"]}, "_meta": meta()});
        let id = client.request("tools/call", call).await["result"]["taskId"].clone();
        let answer = client.request("tasks/cancel", json!({"taskId": id, "_meta": meta()})).await;
        assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
        assert_eq!(task_after(client, &id, "working").await["status"], "cancelled");
    });
    assert!(end.recv().unwrap());
}

#[test]
fn a_task_ends_with_its_client() {
    let (service, end) = until_cancelled();
    serve(&service, async |client| {
        let call = json!({"name": "slop_outline", "arguments": {"files": ["a"]}, "_meta": meta()});
        assert_eq!(client.request("tools/call", call).await["result"]["status"], "working");
    });
    assert!(end.recv().unwrap());
}

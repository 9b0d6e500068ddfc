//! Notifications of changes, from a daemon that sends known events.

use tempfile::TempDir;
use tokio::net::{UnixListener, UnixStream};

use super::*;

/// A fake daemon that answers each request with an endless stream.
struct FakeDaemon {
    listener: UnixListener,
    _folder: TempDir,
}

/// Returns a service whose daemon does not listen yet, and the folder of its socket.
fn service_with_feed() -> (Arc<FakeService>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let service = FakeService {
        answer: Box::new(|_, _| Ok(json!({"files": []}))),
        asked: Mutex::default(),
        feed_socket: folder.path().join("daemon.sock"),
    };
    (Arc::new(service), folder)
}

impl FakeDaemon {
    fn listen(folder: TempDir) -> Self {
        Self { listener: UnixListener::bind(folder.path().join("daemon.sock")).unwrap(), _folder: folder }
    }

    async fn accept(&self) -> UnixStream {
        let (mut stream, _) = self.listener.accept().await.unwrap();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: watching\n\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    }
}

async fn send_event(stream: &mut UnixStream, kind: &str, paths: &[&str]) {
    send_changes(stream, kind, "modified", paths).await;
}

async fn send_changes(stream: &mut UnixStream, kind: &str, what: &str, paths: &[&str]) {
    let change = |path: &&str| json!({"path": path, "kind": what, "sha256": "ab"});
    let data = json!({"clock": "1:2", "changes": paths.iter().map(change).collect::<Vec<_>>()});
    let event = format!(":\n\nid: 1:2\nevent: {kind}\ndata: {data}\n\n");
    // In two pieces, split within the empty line that ends the event.
    let (head, tail) = event.split_at(event.len() - 1);
    for piece in [head, tail] {
        stream.write_all(piece.as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
    }
}

/// Returns the address of the next notification.
async fn updated(client: &mut TestClient) -> String {
    let received = client.receive().await;
    assert_eq!(received["method"], "notifications/resources/updated", "{received}");
    received["params"]["uri"].as_str().unwrap().to_owned()
}

const A: &str = "slop://view/full/a%20b.py";
const B: &str = "slop://view/outline/b.py";

async fn subscribe(client: &mut TestClient, address: &str) {
    let answer = client.request("resources/subscribe", json!({"uri": address})).await;
    assert_eq!(answer["result"], json!({}), "{answer}");
}

#[test]
fn a_session_is_notified_only_of_its_subscriptions() {
    let (service, folder) = service_with_feed();
    serve_ready(&service, async |client| {
        let refused = client.request("resources/subscribe", json!({"uri": A})).await;
        assert_eq!(refused["error"]["data"]["code"], "no_daemon", "{refused}");
        let refused = client.request("resources/subscribe", json!({"uri": "file:///a"})).await;
        assert_eq!(refused["error"]["code"], -32002, "{refused}");
        let daemon = FakeDaemon::listen(folder);
        let mut stream = {
            let (stream, ()) = tokio::join!(daemon.accept(), subscribe(client, A));
            stream
        };
        // The second subscription shares the stream.
        subscribe(client, B).await;
        send_event(&mut stream, "changed", &["c.py", "a b.py"]).await;
        assert_eq!(updated(client).await, A);
        send_event(&mut stream, "lost_track", &[]).await;
        assert_eq!([updated(client).await, updated(client).await], [A, B]);
        client.request("resources/unsubscribe", json!({"uri": A})).await;
        send_event(&mut stream, "changed", &["a b.py", "b.py"]).await;
        assert_eq!(updated(client).await, B);
        // Changes while the daemon was not running are unknown.
        drop(stream);
        let _stream = daemon.accept().await;
        assert_eq!(updated(client).await, B);
    });
}

#[test]
fn a_listening_request_is_notified_until_the_client_disconnects() {
    let (service, folder) = service_with_feed();
    // Longer than the test may take: an open subscription must not delay the end.
    serve_patiently(&service, Duration::from_mins(10), async |client| {
        let daemon = FakeDaemon::listen(folder);
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
        });
        let found = client.request("server/discover", json!({"_meta": meta})).await;
        let expected = json!({"subscribe": true, "listChanged": true});
        assert_eq!(found["result"]["capabilities"]["resources"], expected, "{found}");
        let tools = client.request("tools/list", json!({"_meta": meta})).await;
        assert_eq!(tools["result"]["ttlMs"], 86_400_000);
        let addresses = json!([A, "file:///a"]);
        let wanted = json!({
            "resourceSubscriptions": addresses, "toolsListChanged": true, "resourcesListChanged": true,
        });
        let id = client.begin("subscriptions/listen", json!({"_meta": meta, "notifications": wanted})).await;
        let acknowledged = client.receive().await;
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
        let accepted = json!({"resourceSubscriptions": [A], "resourcesListChanged": true});
        assert_eq!(acknowledged["params"]["notifications"], accepted);
        let mut stream = daemon.accept().await;
        send_event(&mut stream, "changed", &["c.py"]).await;
        send_event(&mut stream, "changed", &["a b.py"]).await;
        let received = client.receive().await;
        assert_eq!(received["params"]["uri"], A, "{received}");
        assert_eq!(received["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id, "{received}");
        send_changes(&mut stream, "changed", "removed", &["c.py"]).await;
        assert_eq!(client.receive().await["method"], "notifications/resources/list_changed");
        client.output.shutdown().await.unwrap();
        let last = client.receive().await;
        assert_eq!((&last["id"], &last["result"]["resultType"]), (&json!(id), &json!("complete")), "{last}");
    });
}

#[test]
fn a_session_that_has_listed_files_is_notified_when_the_list_changes() {
    let (service, folder) = service_with_feed();
    serve_ready(&service, async |client| {
        // Without a daemon, the list is returned all the same.
        let listed = client.request("resources/list", json!({})).await;
        assert_eq!(listed["result"]["resources"], json!([]), "{listed}");
        let daemon = FakeDaemon::listen(folder);
        let (mut stream, _) = tokio::join!(daemon.accept(), client.request("resources/list", json!({})));
        send_changes(&mut stream, "changed", "modified", &["a.py"]).await;
        send_changes(&mut stream, "changed", "added", &["b.py"]).await;
        assert_eq!(client.receive().await["method"], "notifications/resources/list_changed");
        send_event(&mut stream, "lost_track", &[]).await;
        assert_eq!(client.receive().await["method"], "notifications/resources/list_changed");
    });
}

//! Files as resources.

use super::*;
use crate::api::queries::WarmthName;

#[test]
fn files_are_resources_in_pages() {
    let mut files: Vec<Value> =
        (0..450).map(|number| file(&format!("a b/{number:03}.py"), "fresh")).collect();
    files.push(file("z.png", "left_out"));
    let mut odd = file("\u{fffd}.py", "fresh");
    odd["path_hex"] = json!("ff2e7079");
    files.push(odd);
    let service = always(json!({"files": files}));
    serve_ready(&service, async |client| {
        let (mut found, mut cursor) = (Vec::new(), None);
        loop {
            let params = cursor.map_or(json!({}), |cursor: String| json!({"cursor": cursor}));
            let answer = client.request("resources/list", params).await;
            let page = &answer["result"];
            found.extend(page["resources"].as_array().unwrap().clone());
            let Some(next) = page["nextCursor"].as_str() else { break };
            cursor = Some(next.to_owned());
        }
        assert_eq!(found.len(), 451);
        // A name that is not UTF-8 is written with escapes, as it is printed.
        assert_eq!(found[0]["uri"], "slop://view/full/%5Cxff.py");
        let last = json!({
            "uri": "slop://view/full/a%20b/449.py", "name": "449.py", "title": "a b/449.py",
            "mimeType": "text/plain",
        });
        assert_eq!(found[450], last);
    });
}

#[test]
fn a_resource_is_a_view_of_one_file() {
    let service = fake(|ask, _| match ask {
        AnyQuery::View(ask) if ask.files == ["a b.py"] => {
            Ok(json!([view("a b.py", "outline", "[Class] A\n")]))
        }
        AnyQuery::View(ask) if ask.files == ["src"] => Ok(json!([view("src/a.py", "full", "")])),
        _ => Err(ApiError::environment("store_unusable", "open", "")),
    });
    serve_ready(&service, async |client| {
        let read = async |client: &mut TestClient, uri: &str| {
            client.request("resources/read", json!({"uri": uri})).await
        };
        let answer = read(client, "slop://view/outline/a%20b.py").await;
        let contents = &answer["result"]["contents"][0];
        assert_eq!(contents["text"], "[Class] A\n");
        assert_eq!(contents["_meta"]["slop/freshness"]["clock"], "7:9");
        // A folder is not a resource, and invalid paths are rejected without a question.
        for uri in ["slop://view/full/src", "slop://view/full/../x", "file:///etc/passwd"] {
            let answer = read(client, uri).await;
            assert_eq!(answer["error"]["code"], -32002, "{answer}");
            assert_eq!(answer["error"]["data"]["uri"], uri);
        }
        let answer = read(client, "slop://view/full/c.py").await;
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
    });
    assert_eq!(service.asked.lock().unwrap().len(), 3);
}

#[test]
fn placements_and_the_hydrated_document_are_resources() {
    let service = fake(|ask, _| match ask {
        AnyQuery::Fragments(ask) if ask.tier == Some(WarmthName::Warm) => Ok(json!([{
            "fragment_id": "0123456789abcdef", "path": "a.py", "part": null, "content_hash": "00", "bytes": 9,
            "tokens": 3, "shown_bytes": 7, "tier": "WARM", "detail_depth": 2, "relevance_score": 0.5, "pinned": false, "uses": 0,
            "used_at": null, "since": null, "why": ["rank 1 of 2, score 0.500"],
        }])),
        AnyQuery::Simulate(ask) => {
            assert_eq!(ask.0.choice.task.as_deref(), Some("Cookies & paths"));
            assert_eq!(
                (&ask.0.choice.focus[..], ask.0.choice.budget),
                (&["a.py".into(), "b c".into()][..], Some(900))
            );
            let tier = json!({"fragments": 1, "tokens": 2, "bytes": 3});
            Ok(json!({
                "hot": tier, "warm": tier, "cold": tier, "hot_tokens_limit": 900, "placed": 2, "promoted": 0,
                "demoted": 0, "skipped": 0, "beyond": {}, "moved": [{"path": "a.py", "part": null, "from": null, "to": "HOT"}],
            }))
        }
        AnyQuery::Aggregate(ask) if ask.hydrated => {
            Err(ApiError::user("not_hydrated", "the project is not hydrated".to_owned(), ""))
        }
        _ => Err(ApiError::environment("store_unusable", "open", "")),
    });
    serve_ready(&service, async |client| {
        let read = async |client: &mut TestClient, uri: &str| {
            client.request("resources/read", json!({"uri": uri})).await
        };
        let answer = read(client, "slop://fragments/WARM").await;
        let contents = &answer["result"]["contents"][0];
        let place: Value = serde_json::from_str(contents["text"].as_str().unwrap()).unwrap();
        assert_eq!((&place["path"], &place["tier"]), (&json!("a.py"), &json!("WARM")), "{answer}");
        assert_eq!(contents["mimeType"], "application/x-ndjson");
        let answer = read(client, "slop://hydrated").await;
        assert_eq!(answer["error"]["code"], -32002, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("not hydrated"), "{answer}");
        let uri = "slop://simulate?task=Cookies%20%26%20paths&focus=a.py&focus=b%20c&budget=900";
        let answer = read(client, uri).await;
        let placed: Value =
            serde_json::from_str(answer["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!((&placed["hot"]["tokens"], &placed["moved"]), (&json!(2), &json!([])), "{answer}");
        for uri in [
            "slop://simulate?budget=x",
            "slop://simulate?other=1",
            "slop://simulated",
            "slop://fragments/",
            "slop://fragments/hot",
            "slop://hydrated/x",
        ] {
            assert_eq!(read(client, uri).await["error"]["code"], -32002, "{uri}");
        }
    });
}

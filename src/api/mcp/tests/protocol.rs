//! The requirements of the protocol.

use super::*;
use crate::api::queries::ImpactQuery;

#[test]
fn initialization_does_not_read_the_project() {
    let service = fake(|_, _| panic!("asked"));
    serve(&service, async |client| {
        let info = client.initialize("2025-06-18").await;
        assert_eq!(info["serverInfo"]["name"], "slop");
        assert_eq!(info["serverInfo"]["version"], "1.2.3");
        let extensions = json!({"io.modelcontextprotocol/tasks": {}});
        let resources = json!({"subscribe": true, "listChanged": true});
        let capabilities = json!({"tools": {}, "resources": resources, "extensions": extensions});
        assert_eq!(info["capabilities"], capabilities);
        client.request("tools/list", json!({})).await;
        client.request("resources/templates/list", json!({})).await;
    });
    assert!(service.asked.lock().unwrap().is_empty());
}

#[test]
fn a_client_is_answered_in_its_protocol_version() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        serve(&always(json!([])), async |client| {
            assert_eq!(client.initialize(version).await["protocolVersion"], version);
        });
    }
    serve(&always(json!([])), async |client| {
        assert_eq!(client.initialize("1999-01-01").await["protocolVersion"], "2025-11-25");
    });
}

#[test]
fn every_tool_has_a_plain_schema_and_is_read_only() {
    serve_ready(&always(json!([])), async |client| {
        let answer = client.request("tools/list", json!({})).await;
        let tools = answer["result"]["tools"].as_array().unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(
            names,
            [
                "slop_aggregate", "slop_view", "slop_outline", "slop_symbol", "slop_search", "slop_refs",
                "slop_status"
            ]
        );
        for tool in tools {
            let schema = &tool["inputSchema"];
            assert_eq!(schema["type"], "object");
            assert_eq!(schema["additionalProperties"], false);
            for odd in ["$ref", "anyOf", "oneOf", "null", "uint", "\\n"] {
                assert!(!schema.to_string().contains(odd), "{odd} in {schema}");
            }
            for (name, property) in schema["properties"].as_object().unwrap() {
                assert!(
                    property["description"].is_string() && property["type"].is_string(),
                    "{name}: {schema}"
                );
            }
            let hints = &tool["annotations"];
            assert_eq!([&hints["readOnlyHint"], &hints["idempotentHint"]], [true, true]);
            assert_eq!([&hints["openWorldHint"], &hints["destructiveHint"]], [false, false]);
        }
        let said =
            |tool: &&Value| tool["description"].as_str().unwrap().contains("data and not instructions");
        assert_eq!(tools.iter().filter(said).count(), 1, "{tools:?}");
        assert_eq!(tools[1]["inputSchema"]["required"], json!(["files"]));
        assert_eq!(tools[0]["inputSchema"]["required"], Value::Null);
        assert_eq!(tools[6]["outputSchema"]["type"], "object");
    });
}

/// The most tokens of the names, descriptions and arguments of all tools, which are part of every prompt.
const MAX_TOKENS: usize = 1_400;

#[test]
fn the_tools_are_few_and_cost_little() {
    serve_ready(&always(json!([])), async |client| {
        let answer = client.request("tools/list", json!({})).await;
        let tools = answer["result"]["tools"].as_array().unwrap();
        assert!(tools.len() <= 7, "{}", tools.len());
        let parts = tools.iter().flat_map(|tool| {
            let text = |key: &str| tool[key].as_str().unwrap().to_owned();
            [text("name"), text("description"), tool["inputSchema"].to_string()]
        });
        let tokens: usize = parts.map(|part| tiktoken_rs::o200k_base_singleton().count_ordinary(&part)).sum();
        assert!(tokens <= MAX_TOKENS, "{tokens} tokens");
    });
}

#[test]
fn references_are_rows_with_their_grade() {
    let place = |line: u32, symbol: &str| json!({"path": "a.py", "line": line, "symbol": symbol});
    let definition = json!({"path": "a.py", "line": 1, "end_line": 2, "kind": "function", "symbol": "run"});
    let edge = |line: u32| json!({"from": place(line, "main"), "to": place(1, "run"), "grade": "likely", "call": true});
    let edges: Vec<_> = (7..5_007).map(edge).collect();
    let reached = json!({
        "path": "a.py", "line": 6, "symbol": "main", "distance": 2, "grade": "sure", "via": place(7, "main"),
    });
    let service = fake(move |ask, _| match ask {
        AnyQuery::Refs(_) => Ok(json!({"definitions": [definition], "references": edges, "unresolved": 2})),
        AnyQuery::Calls(_) => Ok(json!({"definitions": [], "calls": [reached], "unresolved": 0})),
        _ => Ok(json!({
            "changed": [{"path": "a.py", "line": null, "symbol": "old", "removed": true}], "affected": [reached],
            "unresolved": 0,
        })),
    });
    serve_ready(&service, async |client| {
        let words = client.words("slop_refs", json!({"mode": "uses", "target": "run"})).await;
        assert!(words.starts_with("a.py:1-2 [function] run\n  a.py:7 main · likely\n"), "{words}");
        assert!(words.contains(" of 5001 rows are shown; "), "{}", words.len());
        assert!(words.contains("\n[5,000 uses; 2 uses of the same name could not be resolved]\n"));
        let words = client.words("slop_refs", json!({"mode": "callers", "target": "run", "depth": 2})).await;
        assert!(words.starts_with("  a.py:7 main · sure · 2 steps\n[1 caller]\n"), "{words}");
        let words = client.words("slop_refs", json!({"mode": "tests", "base": "HEAD"})).await;
        let expected =
            "[old of a.py was removed, and its former uses are not followed]\na.py:6 main · sure · 2 steps\n";
        assert!(words.starts_with(expected), "{words}");
    });
    let asked = service.asked.lock().unwrap();
    let impact = ImpactQuery { base: Some("HEAD".to_owned()), tests: true, ..ImpactQuery::default() };
    assert_eq!(asked[2], AnyQuery::Impact(impact));
}

#[test]
fn invalid_arguments_are_rejected_without_a_question() {
    let service = fake(|_, _| panic!("asked"));
    serve_ready(&service, async |client| {
        for (tool, arguments) in [
            ("slop_view", json!({})),
            ("slop_view", json!({"files": []})),
            ("slop_view", json!({"files": "a.py"})),
            ("slop_view", json!({"files": ["a.py"], "mode": "window"})),
            ("slop_view", json!({"files": ["a.py"], "mode": "full", "lines": [{"start": 1, "end": 2}]})),
            ("slop_view", json!({"files": ["a.py"], "symbols": ["a"], "lines": [{"start": 1, "end": 2}]})),
            ("slop_view", json!({"files": ["a.py"], "lines": [{"start": 0, "end": 2}]})),
            ("slop_view", json!({"files": ["a.py"], "lines": [{"start": 3, "end": 2}]})),
            ("slop_view", json!({"files": ["a.py"], "lines": [{"start": 1, "end": 99_999_999_999_u64}]})),
            ("slop_outline", json!({"files": [], "x": 1})),
            ("slop_symbol", json!({"names": "a"})),
            ("slop_refs", json!({"target": "run"})),
            ("slop_refs", json!({"mode": "uses"})),
            ("slop_refs", json!({"mode": "uses", "base": "HEAD"})),
            ("slop_refs", json!({"mode": "impact", "target": "run", "base": "HEAD"})),
            ("slop_refs", json!({"mode": "callers", "target": "run", "depth": 0})),
            ("slop_status", json!({"state": "old"})),
            ("slop_aggregate", json!({"tier": 5})),
            ("slop_aggregate", json!({"budget": 0})),
            ("slop_aggregate", json!({"budget": -1})),
            ("slop_aggregate", json!({"tier": 1, "persona": "reviewer"})),
        ] {
            let (code, words) = client.refusal(tool, arguments.clone()).await;
            assert_eq!(code, "bad_arguments", "{arguments}");
            assert!(words.starts_with("error: invalid arguments: "), "{words}");
        }
        for (arguments, hint) in [
            (json!({"tier": "3"}), "hint: `tier` is an integer from 1 to 4, as in {\"tier\":1}"),
            (json!({"files": "src"}), "hint: `files` is a list, as in {\"files\":[\"text\"]}"),
            (
                json!({"items": [{"path": "a", "view_mode": "x"}]}),
                "as in {\"items\":[{\"path\":\"text\",\"view_mode\":\"full\"}]}",
            ),
            (json!({"persona": "{\"tier\": 9}"}), "hint: `persona.tier` is an integer from 1 to 4"),
            (json!({"budgt": 5}), "hint: did you mean `budget`? "),
        ] {
            let (_, words) = client.refusal("slop_aggregate", arguments.clone()).await;
            assert!(words.contains(hint), "{arguments}: {words}");
            assert!(!words.contains("expected u8") && !words.contains("a sequence"), "{words}");
        }
    });
    assert!(service.asked.lock().unwrap().is_empty());
}

#[test]
fn protocol_violations_are_protocol_errors() {
    serve_ready(&always(json!([])), async |client| {
        let answer = client.request("tools/call", json!({"name": "rm", "arguments": {}})).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        let answer = client.request("no/such/method", json!({})).await;
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
        // Invalid JSON is skipped, however deeply nested.
        client.output.write_all(b"garbage\n\xff\xfe\n\n").await.unwrap();
        client.output.write_all(("[".repeat(5_000) + "\n").as_bytes()).await.unwrap();
        assert_eq!(client.request("ping", json!({})).await["result"], json!({}));
    });
}

#[test]
fn an_error_has_a_hint_for_agents() {
    let service = fake(|ask, _| match ask {
        AnyQuery::View(_) => {
            Err(ApiError::user("not_found", "no such file: b.py", "`slop status` lists the files"))
        }
        _ => panic!("the panic of this test"),
    });
    serve_ready(&service, async |client| {
        let (code, words) = client.refusal("slop_view", json!({"files": ["b.py"]})).await;
        assert_eq!(code, "not_found");
        assert!(words.contains("no such file: b.py\ncode: not_found\nhint: slop_status"), "{words}");
        // A long text of an agent is not repeated completely.
        let long = "x".repeat(100_000);
        let answers = [
            client.request("tools/call", json!({"name": &long})).await,
            client.request("tools/call", json!({"name": "slop_view", "arguments": {&long: 1}})).await,
            client.request("resources/read", json!({"uri": &long})).await,
        ];
        assert!(answers.iter().all(|answer| answer.to_string().len() < 5_000), "{answers:?}");
        // The server survives a panic.
        let (code, _) = client.refusal("slop_outline", json!({"files": ["b.py"]})).await;
        assert_eq!(code, "bug");
        assert_eq!(client.request("ping", json!({})).await["result"], json!({}));
    });
}

//! Questions, and how they are answered or rejected.

use super::*;

#[test]
fn a_question_is_answered_in_an_envelope_with_its_freshness() {
    let house = ApiTestServer::new();
    let heard =
        house.post("/v1/index?require_fresh=true", "slop-settings: ours\r\nslop-protocol: 1\r\n", "{}");
    assert_eq!(heard.status, 200, "{heard:?}");
    assert_eq!(
        heard.body,
        "{\"schema_version\":1,\"command\":\"index\",\"freshness\":\"fresh\",\"reason\":null,\"clock\":\"1:7\",\
         \"as_of_ms\":12,\"pending\":0,\"notes\":[\"a note\"],\"data\":{\"fresh\":true,\"settings\":\"ours\"}}\n"
    );
    for header in
        ["slop-protocol: 1", "slop-settings: ours", "content-type: application/json", "no-store", "nosniff"]
    {
        assert!(heard.head.contains(header), "{header} in {}", heard.head);
    }
    assert!(!heard.head.contains("access-control"));
    assert_eq!(house.fake.asked(), [AnyQuery::Index(IndexQuery::default())]);
}

#[test]
fn each_error_has_its_status() {
    let house = ApiTestServer::new();
    for (name, status, code) in [
        ("missing", 404, "not_found"),
        ("wrong", 422, "no_such_view"),
        ("broken", 503, "list_failed"),
        ("panic", 500, "bug"),
        ("found", 200, ""),
    ] {
        let heard = house.symbols(name);
        assert_eq!((heard.status, &*heard.code()), (status, code), "{name}: {heard:?}");
        assert_eq!(heard.json()["command"], "symbols", "{name}");
    }
}

#[test]
fn an_invalid_request_is_rejected_before_the_service_is_asked() {
    let house = ApiTestServer::new();
    let json = "content-type: application/json\r\n";
    let deep = format!("{{\"files\":{}", "[".repeat(100_000));
    let long = json!({"files": ["x".repeat(4097)]}).to_string();
    let many = json!({"files": vec!["x"; 10_001]}).to_string();
    let other = "content-type: application/json\r\nslop-settings: other\r\n";
    let newer = "content-type: application/json\r\nslop-protocol: 2\r\n";
    let version = "content-type: application/json\r\nslop-version: 0.0.0\r\n";
    let cases = [
        (get("/", ""), 404, "no_such_route"),
        (get("/v1/statu", ""), 404, "no_such_route"),
        (get("/v1/../v1/status", ""), 404, "no_such_route"),
        (get("/v1/%2e%2e/etc/passwd", ""), 404, "no_such_route"),
        (get("/v1/status%00", ""), 404, "no_such_route"),
        (get("//v1/status", ""), 404, "no_such_route"),
        (get("/v1/index", ""), 405, "no_such_method"),
        (post("/v1/events", json, "{}"), 405, "no_such_method"),
        (post("/v1/status", json, "{\"a\":1}"), 400, "bad_json"),
        (post("/v1/performance", "", "{}"), 415, "not_json"),
        (get("/v1/status?verbose=1", ""), 400, "bad_query"),
        (get("/v1/events?since=now", ""), 400, "bad_query"),
        (get("/v1/events", "last-event-id: 1\r\n"), 400, "bad_query"),
        (post("/v1/index?require_fresh=maybe", json, "{}"), 400, "bad_query"),
        (post("/v1/index", "", "{}"), 415, "not_json"),
        (post("/v1/index", "content-type: text/plain\r\n", "{}"), 415, "not_json"),
        (post("/v1/index", "content-type: application/x-www-form-urlencoded\r\n", "a=b"), 415, "not_json"),
        (post("/v1/index", json, "{"), 400, "bad_json"),
        (post("/v1/index", json, "[true]"), 400, "bad_json"),
        (post("/v1/index", json, "null"), 400, "bad_json"),
        (post("/v1/index", json, "{\"verify\":1}"), 400, "bad_json"),
        (post("/v1/index", json, "{\"verfy\":true}"), 400, "bad_json"),
        (post("/v1/index", json, "{} {}"), 400, "bad_json"),
        (post("/v1/files", json, "{\"files\":[]}"), 400, "bad_json"),
        (post("/v1/outline", json, &deep), 400, "bad_json"),
        (post("/v1/symbols", json, ""), 400, "bad_json"),
        (post("/v1/outline", json, &long), 422, "too_long"),
        (post("/v1/outline", json, &many), 422, "too_long"),
        (post("/v1/index", json, &" ".repeat((1 << 20) + 1)), 413, "too_large"),
        (post("/v1/index", other, "{}"), 409, "other_settings"),
        (post("/v1/index", newer, "{}"), 409, "other_protocol"),
        (post("/v1/index", version, "{}"), 409, "other_version"),
    ];
    for (request, status, code) in cases {
        let heard = house.raw(&request);
        let begins: String = request.chars().take(120).collect();
        assert_eq!((heard.status, &*heard.code()), (status, code), "{begins}\n{heard:?}");
        assert!(heard.body.len() < 1000, "{begins}");
    }
    assert_eq!(house.fake.asked(), []);
}

#[test]
fn invalid_json_is_reported_with_key_and_location() {
    let house = ApiTestServer::new();
    let heard = house.post("/v1/index", "", "{\"verfy\": true}");
    let message = heard.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("`verfy`") && message.contains("line 1 column 8"), "{message}");
    for (body, expected) in [
        ("{\"tier\":1} x", "trailing characters at line 1 column 12"),
        ("{\"tier\":1,\"tier\":2}", "duplicate field `tier`"),
        ("{\"tier\":1.0,\"choice\":{\"budget\":1,\"budget\":2}}", "`choice`: duplicate field `budget`"),
        ("null", "invalid type: null, expected an object"),
        ("[]", "invalid type: sequence, expected an object"),
    ] {
        let heard = house.post("/v1/aggregate", "", body);
        let message = heard.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(expected) && !message.contains("struct"), "{body}: {message}");
    }
}

#[test]
fn daemon_routes_accept_get_and_post() {
    let house = ApiTestServer::new();
    for path in ["/v1/status", "/v1/performance"] {
        let expected = house.raw(&get(path, "")).json();
        for body in ["", "{}"] {
            let heard = house.post(path, "", body);
            assert_eq!((heard.status, &heard.json()["command"]), (200, &expected["command"]), "{heard:?}");
        }
    }
}

#[test]
fn whole_numbers_are_accepted_in_any_notation() {
    let house = ApiTestServer::new();
    let status = |days: &str| house.post("/v1/cache/collect", "", &format!("{{\"days\":{days}}}")).status;
    for days in ["30", "30.0", "3e1", "0.0", "-0.0"] {
        assert_eq!(status(days), 200, "{days}");
    }
    let asked = house.fake.asked();
    let days = |ask: &AnyQuery| if let AnyQuery::CacheGc(ask) = ask { ask.days } else { u32::MAX };
    assert_eq!(asked.iter().map(days).collect::<Vec<_>>(), [30, 30, 30, 0, 0]);
    for days in ["30.5", "-1", "-1.0", "4294967296.0", "1e300", "\"30\""] {
        assert_eq!(status(days), 400, "{days}");
    }
    assert_eq!(house.fake.asked(), []);
}

#[test]
fn texts_reach_the_service_unchanged() {
    let house = ApiTestServer::new();
    for word in ["../x", "/etc/passwd", "file:///etc", "a\0b", "%2e%2e", "\u{202e}x", "a\nb", "..\\x", ""] {
        assert_eq!(house.symbols(word).status, 200, "{word:?}");
        let ask = SymbolsQuery { name: word.to_owned(), ..SymbolsQuery::default() };
        assert_eq!(house.fake.asked(), [AnyQuery::Symbols(ask)]);
    }
}

#[test]
fn a_get_is_equivalent_to_a_post_and_changes_nothing() {
    let house = ApiTestServer::new();
    let body = json!({"files": ["src", "a b.py"], "tier": 3, "budget": 8000, "choice": {"focus": ["x:3"]}});
    assert_eq!(house.post("/v1/aggregate", "", &body.to_string()).status, 200);
    let query = "files=src&files=a%20b.py&tier=3&budget=8000&choice.focus=x:3";
    assert_eq!(house.raw(&get(&format!("/v1/aggregate?{query}"), "")).status, 200);
    let asked = house.fake.asked();
    assert_eq!(asked[0], asked[1]);
    let heard = house.raw(&get("/v1/explain?file=a.py&require_fresh=true", ""));
    assert!(heard.body.contains("\"fresh\":true"), "{heard:?}");
    for (request, status, code) in [
        (get("/v1/view?fils=a", ""), 400, "bad_query"),
        (get("/v1/view?require_fresh=maybe", ""), 400, "bad_query"),
        (get("/v1/symbols?name=a&name=b", ""), 400, "bad_query"),
        (get("/v1/symbols", ""), 400, "bad_query"),
        (get("/v1/cache/clear?all=true", ""), 405, "no_such_method"),
        (get("/v1/cache/gc?days=1", ""), 405, "no_such_method"),
        (get("/v1/index?verify=true", ""), 405, "no_such_method"),
        (get("/v1/view?files=a", "origin: http://localhost\r\n"), 403, "forbidden"),
        (get("/v1/view?files=a", "slop-settings: other\r\n"), 409, "other_settings"),
    ] {
        let heard = house.raw(&request);
        assert_eq!((heard.status, &*heard.code()), (status, code), "{request}\n{heard:?}");
    }
}

/// A request with an error: the path, the body, and the location, the actual value, the expectation and the example of
/// the error.
type ShapeCase = (&'static str, Value, &'static str, Value, &'static str, Value);

#[track_caller]
fn check_shapes(cases: impl IntoIterator<Item = ShapeCase>) {
    let house = ApiTestServer::new();
    for (path, body, key, got, wanted, example) in cases {
        let heard = house.post(path, "", &body.to_string());
        let error = &heard.json()["error"];
        let shape = json!({"path": key, "got": got, "wanted": wanted, "example": example});
        assert_eq!((heard.status, &error["shape"]), (400, &shape), "{heard:?}");
        let hint = error["hint"].as_str().unwrap();
        assert!(hint.contains(wanted) && hint.contains(&example.to_string()), "{hint}");
        assert!(error["message"].as_str().unwrap().contains(key), "{heard:?}");
        let followed = house.post(path, "", &example.to_string());
        assert_ne!(followed.status, 400, "{example}: {followed:?}");
    }
}

#[test]
fn an_error_describes_the_expected_shape() {
    check_shapes([
        (
            "/v1/aggregate",
            json!({"choice": {"tier": "three"}}),
            "choice.tier",
            json!("three"),
            "an integer from 1 to 4",
            json!({"choice": {"tier": 1}}),
        ),
        ("/v1/view", json!({"files": "a.py"}), "files", json!("a.py"), "a list", json!({"files": ["text"]})),
        (
            "/v1/view",
            json!({"files": ["a"], "lines": [[1, 2]]}),
            "lines[0]",
            json!([1, 2]),
            "a string or an object with start, end",
            json!({"lines": ["10-12"]}),
        ),
        (
            "/v1/aggregate",
            json!({"receipt": "some"}),
            "receipt",
            json!("some"),
            "one of \"all\", \"shown\", \"none\"",
            json!({"receipt": "all"}),
        ),
        (
            "/v1/view",
            json!({"files": ["a"], "lines": ["6-4"]}),
            "lines[0]",
            json!("6-4"),
            "a string or an object with start, end",
            json!({"lines": ["10-12"]}),
        ),
        (
            "/v1/curation/edit",
            json!({"revision": "0", "edits": [{"set": {"files": {"paths": ["a"]}, "to": {"view_mode": "fulll"}}}]}),
            "edits[0].set.to.view_mode",
            json!("fulll"),
            "one of \"full\", \"summary\", \"outline\", \"skeleton\", \"masked\", \"custom\", \"diff\", \"none\", \
             \"ast_signatures\", \"ast_definitions\", \"path\"",
            json!({"revision": "text", "edits": [{"set": {"files": {"paths": ["text"]}, "to": {"view_mode": "full"}}}]}),
        ),
        (
            "/v1/aggregate",
            json!({"choice": {"teir": 3}}),
            "choice",
            json!({"teir": 3}),
            "an object with some of base, budget, default_budget, docs, focus, items, max_bytes, persona, preset, strategy, \
             task, tier",
            json!({"choice": {}}),
        ),
        (
            "/v1/curation/edit",
            json!({"edits": [{"put": 1}]}),
            "edits[0]",
            json!({"put": 1}),
            "an object with one of set, remove, slice_add, slice_change, slice_remove, mask, preset_save, preset_apply, \
             preset_delete, screenshots, document",
            json!({"revision": "text", "edits": [{"set": {"files": {"paths": ["text"]}}}]}),
        ),
    ]);
}

#[test]
fn a_value_of_another_type_than_that_of_a_name_has_a_shape() {
    let formats = "one of \"markdown\", \"json\", \"anthropic\", \"openai\", \"gemini\"";
    let limit = "an integer of at least 1 or \"none\"";
    let aggregate = "/v1/aggregate";
    check_shapes([
        (aggregate, json!({"format": null}), "format", json!(null), formats, json!({"format": "markdown"})),
        (aggregate, json!({"format": 5}), "format", json!(5), formats, json!({"format": "markdown"})),
        (
            aggregate,
            json!({"attachments": {"cache_ttl": -1}}),
            "attachments.cache_ttl",
            json!(-1),
            "one of \"5m\", \"1h\"",
            json!({"attachments": {"cache_ttl": "5m"}}),
        ),
        (aggregate, json!({"budget": 0}), "budget", json!(0), limit, json!({"budget": 1})),
        ("/v1/simulate", json!({"tier": 9}), "tier", json!(9), "an integer from 1 to 4", json!({"tier": 1})),
    ]);
}

#[test]
fn examples_in_errors_are_accepted() {
    let house = ApiTestServer::new();
    let model = json!({"provider": "a", "model": "b", "temperature": 9});
    for (path, body) in [
        ("/v1/aggregate", json!({"persona": {"focus_view": "x"}})),
        ("/v1/aggregate", json!({"persona": {"languages": {"a": 1}}})),
        ("/v1/aggregate", json!({"persona": {"preferred_models": [model]}})),
        ("/v1/aggregate", json!({"history": [5]})),
        ("/v1/aggregate", json!({"history": ["a", {"role": 5, "content": "x"}]})),
        ("/v1/aggregate", json!({"history": [{"foo": 1}]})),
        ("/v1/aggregate", json!({"items": [{"path": "a", "custom_slices": [{"start_line": 0}]}]})),
        ("/v1/document/compare", json!({"from": {"given": 5}, "to": "x"})),
        ("/v1/curation/edit", json!({"edits": [{"set": {}}], "dry_run": true, "revision": "text"})),
        ("/v1/calls", json!({"symbol": "x", "direction": 1})),
        ("/v1/fragments", json!({"tier": 1})),
    ] {
        let heard = house.post(path, "", &body.to_string());
        let error = &heard.json()["error"];
        assert_eq!(heard.status, 400, "{body}: {heard:?}");
        let followed = house.post(path, "", &error["shape"]["example"].to_string());
        assert_ne!(followed.status, 400, "{body}: {error}\n{followed:?}");
        let message = error["message"].as_str().unwrap();
        for internal in ["expected u", "nonzero", "untagged", "string or map"] {
            assert!(!message.contains(internal), "{message}");
        }
    }
}

#[test]
fn keys_of_groups_may_be_at_the_top_level_of_every_question() {
    let house = ApiTestServer::new();
    let body = json!({"tier": 2, "budget": "none", "task": "x"}).to_string();
    for path in ["/v1/aggregate", "/v1/table", "/v1/simulate"] {
        assert_eq!(house.raw(&get(&format!("{path}?tier=2&budget=none&task=x"), "")).status, 200, "{path}");
        assert_eq!(house.post(path, "", &body).status, 200, "{path}");
    }
    assert_eq!(house.post("/v1/hydrate", "", &body).status, 200);
    let asked = house.fake.asked();
    let AnyQuery::Hydrate(hydrate) = &asked[6] else { panic!("{asked:?}") };
    assert_eq!((hydrate.choice.tier, hydrate.choice.budget), (Some(2), Some(0)));
    assert_eq!(asked[2], asked[3]);
}

#[test]
fn an_error_describes_the_shape_of_a_nested_value() {
    check_shapes([
        ("/v1/symbols", json!({}), "", json!(null), "an object with name", json!({"name": "text"})),
        (
            "/v1/aggregate",
            json!({"items": [{"path": "a", "ast_mask": {"Engine": "hid"}}]}),
            "items[0].ast_mask.Engine",
            json!("hid"),
            "one of \"def\", \"sig\", \"agg\", \"hide\"",
            json!({"items": [{"path": "text", "ast_mask": {"Engine": "def"}}]}),
        ),
        (
            "/v1/aggregate",
            json!({"items": [{"ast_mask": {}}]}),
            "items[0]",
            json!({"ast_mask": {}}),
            "an object with path",
            json!({"items": [{"path": "text"}]}),
        ),
        (
            "/v1/aggregate",
            json!({"persona": {"tier": 7}}),
            "persona.tier",
            json!(7),
            "an integer from 1 to 4",
            json!({"persona": {"tier": 1}}),
        ),
        (
            "/v1/aggregate",
            json!({"preset": {"file": []}}),
            "preset",
            json!({"file": []}),
            "an object with some of description, files, name, screenshots",
            json!({"preset": {}}),
        ),
        ("/v1/aggregate", json!({"tier": 9}), "tier", json!(9), "an integer from 1 to 4", json!({"tier": 1})),
    ]);
}

#[test]
fn the_error_of_an_unknown_key_suggests_the_intended_one() {
    let house = ApiTestServer::new();
    // Keys of `choice` are suggested where they may be at the top level.
    let heard = house.post("/v1/aggregate", "", "{\"budgett\": 1}").json()["error"].clone();
    assert_eq!(heard["message"], "invalid body: `budgett`: unknown field `budgett`");
    assert!(heard["hint"].as_str().unwrap().starts_with("did you mean `budget`? "), "{heard}");
    let heard = house.raw(&get("/v1/aggregate?budgett=1", "")).json()["error"].clone();
    assert_eq!(heard["message"], "invalid query: no such parameter: `budgett`");
    assert!(heard["hint"].as_str().unwrap().starts_with("did you mean `budget`? there are "), "{heard}");
    let heard = house.raw(&get("/v1/view?files=a&lines=12-10", "")).json()["error"].clone();
    assert_eq!(heard["message"], "invalid query: `lines[0]`: 12-10 is not a range of lines");
    let heard = house.post("/v1/view", "", "{\"files\": [\"a\"], \"lines\": [\"10-x\"]}");
    assert!(heard.json()["error"]["message"].as_str().unwrap().contains("\"10-12\" or {"), "{heard:?}");
}

#[test]
fn lines_are_a_text_or_an_object() {
    let house = ApiTestServer::new();
    let lines = json!(["10-12", "7", {"start": 1, "end": 2}]);
    assert_eq!(house.post("/v1/view", "", &json!({"files": ["a"], "lines": lines}).to_string()).status, 200);
    let AnyQuery::View(asked) = &house.fake.asked()[0] else { panic!("not a view") };
    let asked: Vec<(u32, u32)> = asked.lines.iter().map(|range| (range.start, range.end)).collect();
    assert_eq!(asked, [(10, 12), (7, 7), (1, 2)]);
}

//! The questions and answers of the tools.

use super::*;

fn receipt() -> Value {
    json!({
        "schema_version": 1, "tier": 3, "name": "mcp", "since_last": false, "strategy": "auto", "order": "stable",
        "tokens": 12, "budget_tokens": 20000, "max_bytes": null, "bytes": 1, "tokens_counted_by": "o200k_base",
        "without_tree": false, "problems": [],
        "scope": "none", "left_out": [], "files": [], "groups": [],
        "totals": {
            "files": 3, "views": {"full": 1, "outline": 1, "names": 1}, "left_out": {"budget": 1}, "errors": 0,
            "lines": 9, "size": 90, "bytes": 1, "tokens": 12,
        },
        "missing": [{"word": "b\u{1b}", "why": "no such file"}],
    })
}

#[test]
fn a_document_has_a_budget_and_a_name_of_its_own() {
    let service = always(json!({"text": "## Files\n", "receipt": receipt()}));
    serve_ready(&service, async |client| {
        let words =
            client.words("slop_aggregate", json!({"tier": 3, "focus": ["/home/me/project/a.py"]})).await;
        let expected = "## Files\n\n[12 tokens of 20000, by o200k_base; 2 files shown, 1 more named; \
                        1 left out]\n[b\\u{1b}: no such file]\n[note: the cache was made anew]\n\
                        [partly fresh: a.py is being written]";
        assert_eq!(words, expected);
        client.words("slop_aggregate", json!({"budget": 5})).await;
        client.words("slop_aggregate", json!({"reader": "me"})).await;
    });
    let asked = service.asked.lock().unwrap();
    let [AnyQuery::Aggregate(first), AnyQuery::Aggregate(second), AnyQuery::Aggregate(third)] = &asked[..]
    else {
        panic!("{asked:?}")
    };
    assert_eq!((first.choice.budget, first.choice.default_budget), (None, Some(20_000)));
    assert_eq!((first.choice.tier, &first.choice.focus[..]), (Some(3), &["a.py".to_owned()][..]));
    assert_eq!((first.name.as_deref(), first.since_last), (Some("mcp"), false));
    assert_eq!(second.choice.budget, Some(5));
    assert_eq!((third.name.as_deref(), third.since_last), (Some("mcp/me"), true));
}

#[test]
fn a_discussion_is_a_text_or_a_list_of_messages() {
    let service = always(json!({"text": "## Files\n", "receipt": receipt()}));
    let messages = json!([{"role": "user", "content": "Fix it."}, "Now."]);
    let said =
        [json!("[1] is wrong."), messages.clone(), json!("[{\"content\": \"a\"}]"), json!({"text": "talk"})];
    serve_ready(&service, async |client| {
        for history in &said {
            client.words("slop_aggregate", json!({"history": history})).await;
        }
        let refused = client.call("slop_aggregate", json!({"history": 3})).await.to_string();
        assert!(refused.contains("expected a text, a list of messages with"), "{refused}");
        let refused = client.call("slop_aggregate", json!({"history": ["a", 3]})).await.to_string();
        assert!(
            refused.contains("invalid arguments: history[1]: it is not a message, expected"),
            "{refused}"
        );
    });
    let asked = service.asked.lock().unwrap();
    let heard = asked.iter().map(|query| {
        let AnyQuery::Aggregate(query) = query else { panic!("{query:?}") };
        String::from_utf8(query.attachments.history.as_ref().unwrap().messages().unwrap()).unwrap()
    });
    let expected = [r#"["[1] is wrong."]"#, &messages.to_string(), r#"[{"content":"a"}]"#, r#"["talk"]"#]
        .map(str::to_owned);
    assert_eq!(heard.collect::<Vec<_>>(), expected);
}

#[test]
fn a_document_can_be_read_in_parts() {
    let block = |name: &str| format!("### {name}\n\n```\n{}```\n\n", "x = 1\n".repeat(6_000));
    let document = format!("# Project\n\n## Files\n\n{}{}", block("a.py"), block("b.py"));
    let answer = json!({"text": document, "receipt": receipt()});
    serve_ready(&always(answer), async |client| {
        let result = client.call("slop_aggregate", json!({"links": true})).await;
        let words = result["content"][0]["text"].as_str().unwrap();
        assert!(words.starts_with("[12 tokens of 20000, "), "{words}");
        assert!(words.contains("\n[read as resources: slop://answer/") && words.len() < 1_000, "{words}");
        let links = &result["content"].as_array().unwrap()[1..];
        assert_eq!([&links[0]["description"], &links[1]["description"]], ["a.py", "b.py"]);
        let mut read = String::new();
        for link in links {
            assert_eq!(link["type"], "resource_link");
            let answer = client.request("resources/read", json!({"uri": link["uri"]})).await;
            read.push_str(answer["result"]["contents"][0]["text"].as_str().unwrap());
        }
        assert_eq!(read, document);
        let gone = client.request("resources/read", json!({"uri": "slop://answer/0123456789abcdef/1"})).await;
        assert_eq!(gone["error"]["code"], -32002, "{gone}");
        // A document that fits is returned at once unless parts were requested.
        assert!(client.words("slop_aggregate", json!({})).await.starts_with("# Project\n"));
    });
}

#[test]
fn arguments_select_the_view() {
    let service = always(json!([view("a.py", "custom", "x\n")]));
    serve_ready(&service, async |client| {
        let words = client.words("slop_view", json!({"files": ["./a.py"], "symbols": ["A.run"]})).await;
        assert!(words.starts_with("### a.py\nPython\n\n```python\nx\n```\n"), "{words}");
        client.words("slop_view", json!({"files": ["a.py"], "lines": [{"start": 2, "end": 3}]})).await;
        client.words("slop_view", json!({"files": ["a.py"], "mode": "diff", "base": "v1"})).await;
        client.words("slop_view", json!({"files": ["a.py"], "mode": null})).await;
    });
    let asked = serde_json::to_value(&*service.asked.lock().unwrap()).unwrap();
    let keys = |at: usize| [&asked[at]["mode"], &asked[at]["mask"], &asked[at]["lines"], &asked[at]["base"]];
    assert_eq!(asked[0]["files"], json!(["a.py"]));
    let none = json!([]);
    let mask = json!([{"symbol": "A.run", "show": "def"}]);
    assert_eq!(keys(0), [&json!("masked"), &mask, &none, &Value::Null]);
    assert_eq!(keys(1), [&json!("custom"), &none, &json!([{"start": 2, "end": 3}]), &Value::Null]);
    assert_eq!(keys(2), [&json!("diff"), &none, &none, &json!("v1")]);
    assert_eq!(keys(3), [&Value::Null, &none, &none, &Value::Null]);
}

#[test]
fn a_symbol_is_shown_as_text_and_structured_value() {
    let symbol = |path: &str| {
        json!({
            "kind": "method", "name": "run", "qualified_name": "A.run", "start_line": 3, "end_line": 4,
            "signature": "def run(self)", "doc": "Runs.", "children": [], "sha256": "ab", "path": path,
        })
    };
    let service = fake(move |ask, _| match ask {
        AnyQuery::Symbols(ask) if ask.name == "run" => Ok(json!([symbol("a.py")])),
        AnyQuery::Symbols(ask) if ask.name == "many" => Ok(json!(vec![symbol("b.py"); 80])),
        _ => Ok(json!([])),
    });
    serve_ready(&service, async |client| {
        let result = client.call("slop_symbol", json!({"name": "run"})).await;
        let words = result["content"][0]["text"].as_str().unwrap();
        assert!(words.starts_with("a.py:3-4 [method] A.run\ndef run(self)\nRuns.\n\n"), "{words}");
        let place = json!({
            "path": "a.py", "start_line": 3, "end_line": 4, "kind": "method", "qualified_name": "A.run",
            "signature": "def run(self)",
        });
        assert_eq!(result["structuredContent"], json!({"total": 1, "symbols": [place]}));
        let result = client.call("slop_symbol", json!({"name": "many"})).await;
        assert_eq!(result["structuredContent"]["symbols"].as_array().unwrap().len(), 50);
        let words = result["content"][0]["text"].as_str().unwrap();
        assert!(words.contains("[cut: 50 of 80 are shown"), "{words}");
        let (code, _) = client.refusal("slop_symbol", json!({"name": "none"})).await;
        assert_eq!(code, "not_found");
    });
}

#[test]
fn an_outline_is_a_line_for_each_symbol() {
    let run = json!({
        "kind": "method", "name": "run", "qualified_name": "A.run", "start_line": 3, "end_line": 4,
        "signature": "def run(self)", "doc": null, "children": [],
    });
    let class = json!({
        "kind": "class", "name": "A", "qualified_name": "A", "start_line": 1, "end_line": 4,
        "signature": "class A", "doc": null, "children": [run],
    });
    let outline = |symbols: Vec<Value>| {
        json!([{
            "path": "a.py", "language": "python", "sha256": "ab", "lines": 4, "health": 1.0, "symbols": symbols,
        }])
    };
    let (short, long) = (outline(vec![class.clone()]), outline(vec![class; 5_000]));
    let service = fake(move |ask, _| match ask {
        AnyQuery::Outline(ask) if ask.files == ["a.py"] => Ok(short.clone()),
        AnyQuery::Outline(ask) if ask.files == ["long"] => Ok(long.clone()),
        _ => Ok(json!([])),
    });
    serve_ready(&service, async |client| {
        let words = client.words("slop_outline", json!({"files": ["a.py"]})).await;
        let expected = "### a.py\npython · 4 lines\n1-4 [class] class A\n  3-4 [method] def run(self)\n";
        assert!(words.starts_with(expected), "{words}");
        let words = client.words("slop_outline", json!({"files": ["long"]})).await;
        assert!(words.chars().count() < 41_000 && words.contains("[cut within a.py: "), "{}", words.len());
        // The part that is cut off is kept.
        let (_, address) = words.rsplit_once("[read as resources: ").unwrap();
        let address = address.split([' ', ']']).next().unwrap();
        assert!(address.ends_with("/2"), "{address}");
        let rest = client.request("resources/read", json!({"uri": address})).await;
        assert!(rest["result"]["contents"][0]["text"].as_str().unwrap().contains("[class] class A\n"));
        let words = client.words("slop_outline", json!({"files": ["none"]})).await;
        assert!(words.starts_with("[none of these files has an outline"), "{words}");
    });
}

#[test]
fn long_views_are_cut_after_a_line_with_a_notice() {
    let lines: Vec<String> = (1..=10_000).map(|number| format!("line {number}\n")).collect();
    let lines = lines.concat();
    let answers = json!([view("a \"b\".py", "full", &lines), view("c.py", "full", "x\n")]);
    let service = fake(move |ask, _| match ask {
        AnyQuery::View(ask) if ask.files == ["one"] => Ok(json!([view("o.js", "full", &"é".repeat(90_000))])),
        AnyQuery::View(ask) if ask.files == ["ticks"] => Ok(json!([view("t.md", "full", "```\nx\n```\n")])),
        _ => Ok(answers.clone()),
    });
    serve_ready(&service, async |client| {
        let words = client.words("slop_view", json!({"files": ["."]})).await;
        assert!(words.chars().count() < 41_000, "{}", words.len());
        let (shown, rest) = words.split_once("```\n\n[cut: lines ").unwrap();
        let next: u32 = rest.split_once('-').unwrap().0.parse().unwrap();
        assert!(shown.ends_with(&format!("\nline {}\n", next - 1)), "{next}");
        let call = format!(r#"{{"files": ["a \"b\".py"], "lines": [{{"start": {next}, "end": 10000}}]}}"#);
        assert!(rest.contains(&call), "{rest}");
        assert!(rest.contains("[cut: 1 file is not shown: c.py; "), "{rest}");
        let words = client.words("slop_view", json!({"files": ["one"]})).await;
        assert!(words.contains("[cut: 40000 of 90000 characters are shown; the line is too long"), "{words}");
        // A text cannot end the fence around it.
        let words = client.words("slop_view", json!({"files": ["ticks"]})).await;
        assert!(words.contains("````python\n```\nx\n```\n````\n"), "{words}");
    });
}

#[test]
fn many_short_views_are_cut_by_what_is_written_of_each() {
    let views: Vec<Value> =
        (0..2_000).map(|number| view(&format!("src/{number}.py"), "outline", "x\n")).collect();
    let service = fake(move |_, _| Ok(json!(views)));
    serve_ready(&service, async |client| {
        let words = client.words("slop_view", json!({"files": ["src"], "mode": "outline"})).await;
        assert!(words.chars().count() < 41_000, "{}", words.len());
        assert!(words.contains(" files are not shown: src/"), "{words}");
    });
}

#[test]
fn files_are_listed_in_pages() {
    let mut files: Vec<Value> =
        (0..250).map(|number| file(&format!("src/{number:03}.py"), "fresh")).collect();
    files.push(file("docs/a.md", "stale"));
    files.push(file("srcs/b\u{1b}[31m.py", "left_out"));
    let service = always(json!({"files": files}));
    serve_ready(&service, async |client| {
        let mut found = Vec::new();
        let mut arguments = json!({"below": "/home/me/project/src/"});
        loop {
            let result = client.call("slop_status", arguments.clone()).await;
            let page = result["structuredContent"].clone();
            assert_eq!(page["counts"], json!({"fresh": 250, "stale": 1, "new": 0, "left_out": 1}));
            assert_eq!(page["matching"], 250);
            found.extend(page["files"].as_array().unwrap().iter().map(|file| file["path"].clone()));
            let Some(cursor) = page["next_cursor"].as_str() else { break };
            arguments["cursor"] = json!(cursor);
        }
        let expected: Vec<Value> = (0..250).map(|number| json!(format!("src/{number:03}.py"))).collect();
        assert_eq!(found, expected);
        let words = client.words("slop_status", json!({"state": "left_out"})).await;
        assert!(words.contains("\nleft_out srcs/b\\u{1b}[31m.py (python)\n"), "{words}");
        let words = client.words("slop_status", json!({"below": "nothing"})).await;
        assert!(words.contains("\n[no file matches]\n"), "{words}");
    });
}

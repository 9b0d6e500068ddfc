//! What a program can read from receipts, parts of documents and pages of the cache export.

#![expect(clippy::disallowed_methods, reason = "a test looks at real files")]

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{LocalService, SettingsSources};
use crate::api::{ApiError, CallOptions, ask_encoded};
use crate::sys::{Disk, RealDisk};

const SETTINGS: &str = r#"
[[files]]
path = "quiet.md"
auto_aggregate = false
[[files]]
path = "src/gone.py"
force_full = true
"#;

const TALK: &str = r#"["User: what now?", {"role": "assistant", "content": "This."}]"#;

struct ReceiptFixture {
    folder: TempDir,
    local: LocalService,
}

impl ReceiptFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let local = LocalService::new(folder.path().canonicalize().unwrap(), SettingsSources::default());
        let fixture = Self { folder, local };
        let engine = "class Engine:\n    def run(self):\n        return 1\n\n\ndef start():\n    pass\n";
        // Larger than a budget of a few hundred tokens.
        let functions: Vec<String> =
            (0..300).map(|number| format!("def step_{number}():\n    return {number}\n")).collect();
        let long = functions.concat();
        for (path, text) in [
            ("slop.toml", SETTINGS),
            ("src/engine.py", engine),
            ("src/long.py", &long),
            ("quiet.md", "# Quiet\n"),
            ("talk.json", TALK),
            ("odd.txt", "odd\n"),
        ] {
            fixture.write(path, text.as_bytes());
        }
        // Marked as UTF-16, and cut within a character.
        fixture.write("odd.txt", b"\xff\xfea\0b");
        fixture
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        RealDisk.replace(&path, bytes).unwrap();
    }

    fn ask(&self, query: &Value) -> Result<Value, ApiError> {
        let query = serde_json::from_value(query.clone()).unwrap();
        let answer = ask_encoded(&self.local, query, &CallOptions::default())?;
        Ok(serde_json::from_slice(&answer.data).unwrap())
    }

    #[track_caller]
    fn receipt(&self, scope: &str, more: &Value) -> Value {
        let mut query = json!({"ask": "aggregate", "choice": {"tier": 3}, "receipt": scope});
        query.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.ask(&query).unwrap()["receipt"].take()
    }
}

fn paths(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect()
}

fn entry<'a>(list: &'a Value, path: &str) -> &'a Value {
    list.as_array().unwrap().iter().find(|file| file["path"] == path).unwrap()
}

#[test]
fn a_receipt_describes_each_file() {
    let fixture = ReceiptFixture::new();
    let receipt = fixture.receipt("all", &json!({"choice": {"tier": 3, "budget": 3000}}));
    let engine = entry(&receipt["files"], "src/engine.py");
    let expected =
        [("error", json!(null)), ("language", json!("python")), ("size", json!(74)), ("lines", json!(7))];
    for (key, value) in expected {
        assert_eq!(engine[key], value, "{key}: {engine}");
    }
    assert!(engine["importance"].is_u64() && engine["tokens"].is_u64(), "{engine}");
    let written = std::fs::metadata(fixture.folder.path().join("src/engine.py")).unwrap().modified().unwrap();
    let written = jiff::Timestamp::try_from(written).unwrap();
    let told: jiff::Timestamp = engine["mtime"].as_str().unwrap().parse().unwrap();
    assert_eq!(told.as_millisecond(), written.as_millisecond());
    assert!(receipt.get("estimated").is_none() && engine.get("estimated").is_none(), "{receipt}");
    let unlimited = fixture.receipt("shown", &json!({"choice": {"tier": 3, "budget": "none"}}));
    assert_eq!((&unlimited["estimated"], &unlimited["files"][0]["estimated"]), (&json!(true), &json!(true)));
}

#[test]
fn missing_or_broken_files_have_a_code() {
    let fixture = ReceiptFixture::new();
    for request in
        [json!({}), json!({"files": ["src", "odd.txt"]}), json!({"choice": {"tier": 3, "budget": 3000}})]
    {
        for scope in ["all", "shown", "none"] {
            let receipt = fixture.receipt(scope, &request);
            assert_eq!(receipt["missing"][0]["word"], "src/gone.py", "{request} {receipt}");
            let problem = entry(&receipt["problems"], "odd.txt");
            assert_eq!((&problem["section"], &problem["code"]), (&json!("files"), &json!("undecodable")));
            assert_eq!(receipt["totals"]["errors"], 1, "{receipt}");
        }
        let receipt = fixture.receipt("shown", &request);
        assert_eq!(entry(&receipt["files"], "odd.txt")["error"], "undecodable", "{receipt}");
        assert_eq!(entry(&receipt["problems"], "odd.txt")["is_error"], true, "{receipt}");
    }
    fixture.write("slop.toml", b"[[files]]\npath = \"src\"\nview_mode = \"sideways\"\n[[files]]\npath = \"odd.txt\"\nforcefull = true\n");
    let receipt = fixture.receipt("none", &json!({}));
    let why = receipt["problems"].as_array().unwrap().iter().find(|problem| problem["section"] == "settings");
    assert!(why.unwrap()["why"].as_str().unwrap().contains("sideways"), "{receipt}");
    assert!(receipt["problems"].to_string().contains("forcefull"), "{receipt}");
}

#[test]
fn a_receipt_of_the_shown_files_counts_the_others() {
    let fixture = ReceiptFixture::new();
    let budget = json!({"choice": {"tier": 3, "budget": 300}});
    let [all, shown, none] = ["all", "shown", "none"].map(|scope| fixture.receipt(scope, &budget));
    assert_eq!(shown["totals"], all["totals"]);
    // Without a list, symbols are not counted.
    let mut totals = all["totals"].clone();
    totals.as_object_mut().unwrap().remove("symbols");
    assert_eq!(none["totals"], totals);
    let has_block = |file: &&Value| {
        let is_named = file["view"] == "names" || file["view"] == "path";
        !is_named || file["error"].is_string()
    };
    let listed: Vec<&Value> = all["files"].as_array().unwrap().iter().filter(has_block).collect();
    assert_eq!(shown["files"].as_array().unwrap().iter().collect::<Vec<_>>(), listed);
    assert_eq!(paths(&shown["left_out"]), ["quiet.md"], "an entry left it out");
    assert_eq!((&none["files"], &none["left_out"], &none["groups"]), (&json!([]), &json!([]), &json!([])));

    let sum = |key: &str| -> u64 {
        all["groups"].as_array().unwrap().iter().map(|group| group[key].as_u64().unwrap()).sum()
    };
    for key in ["files", "lines", "size", "bytes", "tokens"] {
        assert_eq!(sum(key), all["totals"][key].as_u64().unwrap(), "{key}");
    }
    let left_out =
        all["totals"]["left_out"].as_object().unwrap().values().map(|count| count.as_u64().unwrap());
    assert_eq!(sum("left_out"), left_out.sum::<u64>());
}

#[test]
fn symbols_are_counted_by_kind() {
    let fixture = ReceiptFixture::new();
    let receipt = fixture.receipt("shown", &json!({"files": ["src/engine.py"]}));
    assert_eq!(receipt["totals"]["symbols"], json!({"class": 1, "function": 1, "method": 1}));
    assert_eq!(fixture.receipt("none", &json!({}))["totals"].get("symbols"), None);
}

#[test]
fn the_parts_of_a_document_are_the_document() {
    let fixture = ReceiptFixture::new();
    for attachments in
        [json!({"history": "talk.json"}), json!({}), json!({"history": "talk.json", "part": "suffix"})]
    {
        let ask = |parts: bool| {
            fixture
                .ask(&json!({"ask": "aggregate", "choice": {"tier": 3}, "attachments": attachments, "parts": parts}))
                .unwrap()
        };
        let (whole, apart) = (ask(false), ask(true));
        assert!(apart.get("text").is_none() && whole.get("parts").is_none());
        let part = |key: &str| apart["parts"][key].as_str().unwrap();
        let text = whole["text"].as_str().unwrap();
        assert_eq!(format!("{}{}", part("prefix"), part("suffix")), text);
        let boundary = usize::try_from(apart["parts"]["boundary"].as_u64().unwrap()).unwrap();
        assert_eq!(&text[..boundary], part("prefix"));
        assert_eq!(part("suffix").contains("## Discussion History"), attachments.get("history").is_some());
        assert!(!part("prefix").contains("## Discussion History"));
    }
}

#[test]
fn a_document_in_json_depends_on_contents_alone() {
    let fixture = ReceiptFixture::new();
    let ask = json!({"ask": "aggregate", "format": "json"});
    let before = fixture.ask(&ask).unwrap();
    let text = std::fs::read(fixture.folder.path().join("src/engine.py")).unwrap();
    std::fs::remove_file(fixture.folder.path().join("src/engine.py")).unwrap();
    fixture.write("src/engine.py", &text);
    let after = fixture.ask(&ask).unwrap();
    assert_eq!(before["text"], after["text"]);
}

#[test]
fn the_cache_is_exported_page_by_page() {
    let fixture = ReceiptFixture::new();
    fixture.ask(&json!({"ask": "index"})).unwrap();
    let whole = fixture.ask(&json!({"ask": "cache_export"})).unwrap();
    assert_eq!(whole["next"], json!(null));
    let (mut after, mut entries) = (json!(null), Vec::new());
    loop {
        let mut page = fixture.ask(&json!({"ask": "cache_export", "after": after, "limit": 2})).unwrap();
        entries.append(page["entries"].as_array_mut().unwrap());
        after = page["next"].take();
        if after.is_null() {
            break;
        }
    }
    assert_eq!(whole["entries"], json!(entries));
    let engine = fixture.ask(&json!({"ask": "cache_export", "files": ["src/engine.py"]})).unwrap();
    let engine = &engine["entries"][0];
    assert!(
        engine["outline"].as_str().unwrap().starts_with("[Class] Engine (Lines 1-3)\n  [Method] run"),
        "{engine}"
    );
    assert_eq!(engine["symbols"][0]["children"][0]["name"], "run");
    assert!(engine["generated_at"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok(), "{engine}");
    assert_eq!((&engine["generator"], &engine["generator_tier"]), (&json!("heuristic"), &json!(null)));
    let error = fixture.ask(&json!({"ask": "cache_export", "files": ["nothing"]})).unwrap_err();
    assert_eq!((&*error.code, &*error.message), ("not_found", "nothing is cached of `nothing`"));

    let mask = "[[files]]\npath = \"src/engine.py\"\nast_mask = { \"Engine.run\" = \"hide\" }\n";
    fixture.write("slop.toml", mask.as_bytes());
    let hidden = fixture.ask(&json!({"ask": "cache_export", "files": ["src/engine.py"]})).unwrap();
    assert!(!hidden.to_string().contains("run"), "{hidden}");
}

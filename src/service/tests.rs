//! Questions are resolved and answered in real folders, and answers survive the wire unchanged.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bytes::Bytes;

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{LocalService, QueryOrigin, QuerySettings, SettingsSources, resolve, resolve_aggregate};
use crate::api::{
    AggregateQuery, AnyQuery, ApiError, AuditQuery, CacheClearQuery, CacheExportQuery, CacheGcQuery,
    CacheStatusQuery, CacheVerifyQuery, CallOptions, CallsQuery, CompareDocumentsQuery, CurationQuery,
    DocumentRequest, EditCurationQuery, EditFragmentsQuery, EditTakesQuery, EncodedAnswer, ExplainQuery,
    FilesQuery, FindQuery, FragmentsQuery, FreshnessNote, FreshnessState, GivenQuery, HistoryQuery,
    HydrateQuery, ImageQuery, ImpactQuery, IndexQuery, JumpQuery, LinksQuery, OpenDocumentQuery,
    OutlineQuery, Payload, QueryJob, ReadDocumentQuery, Receiver, RedoQuery, RefsQuery, SearchQuery, Service,
    ServiceAnswer, SimulateQuery, SymbolsQuery, TableQuery, TakesQuery, UndoQuery, ViewQuery, WireQuery, ask,
    ask_encoded,
};
use crate::config::LoadedConfig;
use crate::engine::{DiscussionSource, DiscussionText, ImageFile};
use crate::model::{DocumentPart, bytes_as_path};
use crate::sys::{Disk, RealDisk};

const SETTINGS: &str = r#"
[tiers.3]
budget_tokens = 5000

[presets.core]
screenshots = ["shot.png"]
[[presets.core.files]]
path = "engine.py"

[personas.reviewer]
tier = 2
aggregation_strategy = "summarize"
context_preset = "core"
system_prompt = "Review."
[[personas.reviewer.preferred_models]]
provider = "google"
model = "gemini-x"
temperature = 0.5

[personas.lost]
context_preset = "gone"
"#;

/// A project in a temporary folder, and its service.
struct ServiceFixture {
    folder: TempDir,
    local: LocalService,
}

impl ServiceFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let engine = "class Engine:\n    \"\"\"Runs jobs.\"\"\"\n\n    def run(self):\n        return 1\n";
        let files: [(&[u8], &str); 5] = [
            (b"engine.py", engine),
            (b"broken.py", "def f(:\n    pass\n\nclass A:\n    pass\n"),
            (b"\xff.py", "def odd():\n    pass\n"),
            (b"image.bin", "\0\0\0"),
            (b"slop.toml", SETTINGS),
        ];
        for (name, text) in files {
            RealDisk.create_new(&root.join(bytes_as_path(name)), text.as_bytes()).unwrap();
        }
        Self { folder, local: LocalService::new(root, SettingsSources::default()) }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn loaded(&self) -> LoadedConfig {
        SettingsSources::default().load(&self.root()).unwrap()
    }

    #[track_caller]
    fn aggregation(&self, query: Value, origin: QueryOrigin) -> DocumentRequest {
        let root = Path::new("/somewhere/my project");
        let AnyQuery::Aggregate(query) = serde_json::from_value(query).unwrap() else {
            panic!("no aggregation")
        };
        resolve_aggregate(*query, QuerySettings { loaded: &self.loaded(), root, origin }).unwrap()
    }

    #[track_caller]
    fn refused(&self, query: Value) -> ApiError {
        let settings =
            QuerySettings { loaded: &self.loaded(), root: &self.root(), origin: QueryOrigin::Remote };
        let resolved = resolve(serde_json::from_value(query).unwrap(), settings);
        resolved.err().expect("the question is to be refused")
    }

    fn ask(&self, query: &Value, call: &CallOptions) -> Result<EncodedAnswer, ApiError> {
        ask_encoded(&self.local, serde_json::from_value(query.clone()).unwrap(), call)
    }
}

/// Returns an answer after its way over the wire: its JSON, and its schema with all definitions.
fn over_the_wire(query: &AnyQuery, data: &Bytes) -> (Bytes, Value, Value) {
    let mut schemas = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let schema = match query {
        AnyQuery::Index(_) => IndexQuery::answer_schema(&mut schemas),
        AnyQuery::Files(_) => FilesQuery::answer_schema(&mut schemas),
        AnyQuery::Links(_) => LinksQuery::answer_schema(&mut schemas),
        AnyQuery::Outline(_) => OutlineQuery::answer_schema(&mut schemas),
        AnyQuery::View(_) => ViewQuery::answer_schema(&mut schemas),
        AnyQuery::Image(_) => ImageQuery::answer_schema(&mut schemas),
        AnyQuery::Symbols(_) => SymbolsQuery::answer_schema(&mut schemas),
        AnyQuery::Search(_) => SearchQuery::answer_schema(&mut schemas),
        AnyQuery::Find(_) => FindQuery::answer_schema(&mut schemas),
        AnyQuery::Refs(_) => RefsQuery::answer_schema(&mut schemas),
        AnyQuery::Calls(_) => CallsQuery::answer_schema(&mut schemas),
        AnyQuery::Impact(_) => ImpactQuery::answer_schema(&mut schemas),
        AnyQuery::Aggregate(_) => AggregateQuery::answer_schema(&mut schemas),
        AnyQuery::OpenDocument(_) => OpenDocumentQuery::answer_schema(&mut schemas),
        AnyQuery::ReadDocument(_) => ReadDocumentQuery::answer_schema(&mut schemas),
        AnyQuery::CompareDocuments(_) => CompareDocumentsQuery::answer_schema(&mut schemas),
        AnyQuery::Given(_) => GivenQuery::answer_schema(&mut schemas),
        AnyQuery::Hydrate(_) => HydrateQuery::answer_schema(&mut schemas),
        AnyQuery::Simulate(_) => SimulateQuery::answer_schema(&mut schemas),
        AnyQuery::Fragments(_) => FragmentsQuery::answer_schema(&mut schemas),
        AnyQuery::EditFragments(_) => EditFragmentsQuery::answer_schema(&mut schemas),
        AnyQuery::Explain(_) => ExplainQuery::answer_schema(&mut schemas),
        AnyQuery::Table(_) => TableQuery::answer_schema(&mut schemas),
        AnyQuery::Curation(_) => CurationQuery::answer_schema(&mut schemas),
        AnyQuery::EditCuration(_) => EditCurationQuery::answer_schema(&mut schemas),
        AnyQuery::History(_) => HistoryQuery::answer_schema(&mut schemas),
        AnyQuery::Undo(_) => UndoQuery::answer_schema(&mut schemas),
        AnyQuery::Redo(_) => RedoQuery::answer_schema(&mut schemas),
        AnyQuery::Jump(_) => JumpQuery::answer_schema(&mut schemas),
        AnyQuery::Takes(_) => TakesQuery::answer_schema(&mut schemas),
        AnyQuery::EditTakes(_) => EditTakesQuery::answer_schema(&mut schemas),
        AnyQuery::CacheStatus(_) => CacheStatusQuery::answer_schema(&mut schemas),
        AnyQuery::CacheClear(_) => CacheClearQuery::answer_schema(&mut schemas),
        AnyQuery::CacheExport(_) => CacheExportQuery::answer_schema(&mut schemas),
        AnyQuery::CacheVerify(_) => CacheVerifyQuery::answer_schema(&mut schemas),
        AnyQuery::CacheGc(_) => CacheGcQuery::answer_schema(&mut schemas),
        AnyQuery::Audit(_) => AuditQuery::answer_schema(&mut schemas),
        AnyQuery::Local(_) => panic!("{query:?} has no route"),
    };
    let definitions = Value::Object(schemas.take_definitions(true));
    (decoded(query, data), schema.to_value(), definitions)
}

/// Returns an answer that was read and written again.
fn decoded(query: &AnyQuery, data: &Bytes) -> Bytes {
    let payload = query.decode_answer(data).unwrap();
    let service = Canned(Mutex::new(Some(payload)));
    ask_encoded(&service, query.clone(), &CallOptions::default()).unwrap().data
}

/// A service that gives the same answer to every question.
struct Canned(Mutex<Option<Payload>>);

impl Service for Canned {
    fn answer(&self, _: AnyQuery, _: &CallOptions, receive: Receiver<'_>) -> Result<(), ApiError> {
        let payload = self.0.lock().unwrap().take().unwrap();
        receive(ServiceAnswer { freshness: FreshnessNote::at(0), missing: Vec::new(), payload });
        Ok(())
    }
}

#[test]
fn an_answer_to_a_different_question_is_an_error() {
    let service = Canned(Mutex::new(Some(Payload::value("not an index run".to_owned()))));
    let error = ask(&service, IndexQuery::default(), &CallOptions::default()).unwrap_err();
    assert_eq!(error.code, "bug");
}

#[test]
fn settings_decide_what_a_question_leaves_open() {
    let fixture = ServiceFixture::new();
    let plain = fixture.aggregation(json!({"ask": "aggregate"}), QueryOrigin::Remote);
    assert_eq!(plain.project_name, "my project");
    assert_eq!(plain.request.history.unwrap().name, "project");
    assert!(plain.request.tier.is_none() && plain.request.sections.discussion.is_none());
    assert!(!plain.request.exact_tokens && !plain.is_preview);
    // As for tier 2, and only if the document would be larger.
    assert_eq!((plain.request.limits.tokens, plain.request.limits.is_ceiling), (Some(40_000), true));

    let tier = fixture.aggregation(json!({"ask": "aggregate", "choice": {"tier": 3}}), QueryOrigin::Remote);
    assert_eq!(tier.request.limits.tokens, Some(5000));
    assert_eq!(tier.request.history.unwrap().name, "tier-3");
    let discussion = tier.request.sections.discussion.unwrap();
    assert!(discussion.is_optional && !is_named(&discussion));

    let choice = json!({"tier": 2, "budget": 70, "strategy": "full"});
    let resolved =
        fixture.aggregation(json!({"ask": "aggregate", "choice": choice, "name": "x"}), QueryOrigin::Remote);
    assert_eq!((resolved.request.limits.tokens, resolved.request.strategy.name()), (Some(70), "full"));
    assert_eq!(resolved.request.history.unwrap().name, "x");

    let worker = json!({"ask": "aggregate", "choice": {"tier": 3, "strategy": "full"}});
    assert_eq!(fixture.aggregation(worker, QueryOrigin::Remote).request.strategy.name(), "auto");
}

#[test]
fn a_persona_sets_tier_strategy_preset_model_and_prompt() {
    let fixture = ServiceFixture::new();
    let ask = json!({"ask": "aggregate", "choice": {"persona": "reviewer"}, "format": "gemini"});
    let reviewer = fixture.aggregation(ask, QueryOrigin::Remote);
    assert_eq!(reviewer.request.tier.as_ref().unwrap().tier.number(), 2);
    assert_eq!(reviewer.request.strategy.name(), "summarize");
    assert_eq!(reviewer.request.preset.unwrap()[0].path, "engine.py");
    assert_eq!(reviewer.request.sections.screenshots, [ImageFile::OfProject("shot.png".to_owned())]);
    assert_eq!(reviewer.request.history.unwrap().name, "persona-reviewer/preset-core");
    assert_eq!((reviewer.body.model.as_str(), reviewer.body.temperature), ("gemini-x", Some(0.5)));
    assert_eq!(reviewer.body.system.as_deref(), Some("Review."));

    let beside = json!({"model": "other"});
    let ask =
        json!({"ask": "aggregate", "choice": {"persona": "reviewer"}, "format": "gemini", "beside": beside});
    let other = fixture.aggregation(ask, QueryOrigin::Remote).body;
    assert_eq!((other.model.as_str(), other.temperature), ("other", None));
}

#[test]
fn the_document_table_decides_what_a_question_leaves_open() {
    let fixture = ServiceFixture::new();
    let resolve = |table: &str, mut ask: Value| {
        RealDisk.replace(&fixture.root().join("slop.toml"), format!("{SETTINGS}{table}").as_bytes()).unwrap();
        ask["ask"] = json!("aggregate");
        fixture.aggregation(ask, QueryOrigin::Remote)
    };
    let table = "[document]\ntier = 4\npreset = 'core'\nfocus = ['engine.py']\nbudget_tokens = 900\n";
    let plain = resolve(table, json!({})).request;
    assert_eq!(plain.tier.unwrap().tier.number(), 4);
    assert_eq!((plain.focus, plain.limits.tokens), (vec!["engine.py".to_owned()], Some(900)));
    assert_eq!(plain.preset.unwrap()[0].path, "engine.py");
    assert_eq!(plain.history.unwrap().name, "tier-4/preset-core");

    let asked = json!({"choice": {"tier": 1, "focus": ["x"], "budget": "none"}, "files": ["broken.py"]});
    let asked = resolve(table, asked).request;
    assert_eq!((asked.tier.unwrap().tier.number(), asked.focus[0].as_str()), (1, "x"));
    assert!(asked.limits.tokens.is_none() && asked.preset.is_none());
    let persona = resolve(table, json!({"choice": {"persona": "reviewer"}})).request;
    assert_eq!((persona.tier.unwrap().tier.number(), persona.focus.len()), (2, 0));

    // The project's own file names the persona and is not trusted, so the prompt is not sent.
    let table = "[document]\npersona = 'reviewer'\n";
    let named = resolve(table, json!({"format": "gemini"}));
    assert_eq!((named.body.model.as_str(), named.body.system), ("gemini-x", None));
    assert_eq!(named.request.tier.unwrap().tier.number(), 2);
}

fn is_named(discussion: &DiscussionSource) -> bool {
    matches!(discussion.text, DiscussionText::File { is_named: true, .. })
}

#[test]
fn only_the_command_line_may_name_files_outside_of_the_project() {
    let fixture = ServiceFixture::new();
    let beside = json!({"history": "/etc/passwd", "screenshots": ["../x.png"], "part": "suffix"});
    let ask = json!({"ask": "aggregate", "beside": beside});
    let client = fixture.aggregation(ask.clone(), QueryOrigin::Remote).request.sections;
    let discussion = client.discussion.unwrap();
    assert!(!is_named(&discussion) && !discussion.is_optional);
    assert_eq!(client.screenshots, [ImageFile::OfProject("../x.png".to_owned())]);
    assert_eq!(client.part, DocumentPart::Suffix);
    let person = fixture.aggregation(ask, QueryOrigin::CommandLine).request.sections;
    assert!(is_named(&person.discussion.unwrap()));
    assert_eq!(person.screenshots, [ImageFile::Asked(PathBuf::from("../x.png"))]);
}

#[test]
fn meaningless_questions_are_rejected_with_a_code() {
    let fixture = ServiceFixture::new();
    let aggregate = |choice: Value| json!({"ask": "aggregate", "choice": choice});
    let cases = [
        (aggregate(json!({"persona": "reviewr"})), "no_such_persona", "the nearest known is `reviewer`"),
        (aggregate(json!({"preset": "cor"})), "no_such_preset", "the nearest known is `core`"),
        (
            aggregate(json!({"persona": "lost"})),
            "no_such_preset",
            "`gone`, which the persona `lost` refers to",
        ),
        (aggregate(json!({"tier": 1, "persona": "reviewer"})), "bad_ask", "both a tier and a persona"),
        (aggregate(json!({"max_bytes": 0})), "bad_ask", "limit is 0 bytes"),
        (json!({"ask": "aggregate", "name": ""}), "bad_ask", "name is empty"),
        (json!({"ask": "aggregate", "parts": true, "format": "json"}), "bad_ask", "another format"),
        (json!({"ask": "cache_export", "limit": 0}), "bad_ask", "not between 1 and"),
        (json!({"ask": "given", "file": "a"}), "bad_ask", "no name"),
        (json!({"ask": "read_document", "id": "a", "line": 0, "lines": 1}), "bad_ask", "number of lines"),
        (json!({"ask": "read_document", "id": "a", "line": 1, "lines": 2001}), "bad_ask", "number of lines"),
        (json!({"ask": "aggregate", "beside": {"model": "m"}}), "bad_ask", "model `m`"),
        (json!({"ask": "aggregate", "beside": {"take": "a", "part": "prefix"}}), "bad_ask", "a take"),
        (json!({"ask": "view"}), "bad_ask", "no file"),
        (
            json!({"ask": "view", "files": ["a"], "mask": [{"symbol": " ", "show": "def"}]}),
            "bad_ask",
            "symbol name is empty",
        ),
        (
            json!({"ask": "view", "files": ["a"], "mode": "full", "against": "HEAD"}),
            "bad_ask",
            "several modes",
        ),
        (json!({"ask": "cache_clear", "files": ["a"], "summaries": true}), "bad_ask", "both files and kinds"),
    ];
    for (ask, code, words) in cases {
        let fault = fixture.refused(ask.clone());
        assert_eq!(fault.code, code, "{ask}");
        assert!(fault.message.contains(words), "{ask}: {}", fault.message);
    }
}

#[test]
fn hostile_names_are_rejected_and_disclose_nothing() {
    let fixture = ServiceFixture::new();
    let root = fixture.root();
    RealDisk.create_new(&root.join("inside.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    for word in ["../x", "/etc/passwd", "a\0b", "", ".slop_cache/x", &"x/".repeat(3000), &"[".repeat(500)] {
        for ask in [json!({"ask": "view", "files": [word]}), json!({"ask": "explain", "file": word})] {
            let fault = fixture.ask(&ask, &CallOptions::default()).expect_err(word);
            assert!(
                ["outside_project", "not_found", "bad_pattern"].contains(&&*fault.code),
                "{word}: {fault:?}"
            );
        }
    }
    let beside = json!({"history": "/etc/passwd"});
    let fault =
        fixture.ask(&json!({"ask": "aggregate", "beside": beside}), &CallOptions::default()).unwrap_err();
    assert!(["bad_discussion", "history_not_found"].contains(&&*fault.code), "{fault:?}");
    let beside =
        json!({"screenshots": ["/etc/passwd", "../x.png", "inside.png"], "screenshots_inline": true});
    let answered =
        fixture.ask(&json!({"ask": "aggregate", "beside": beside}), &CallOptions::default()).unwrap();
    let answer: Value = serde_json::from_slice(&answered.data).unwrap();
    let problems = answer["receipt"]["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 2, "{problems:?}");
}

#[test]
fn every_answer_matches_its_schema_and_round_trips() {
    let fixture = ServiceFixture::new();
    let aggregate = json!({"ask": "aggregate", "choice": {"tier": 1, "budget": 4000}});
    let mark = json!({"slice_add": {"path": "engine.py", "start_line": 1, "end_line": 2}});
    let revision = fixture.loaded().revision;
    let asks = [
        json!({"ask": "index"}),
        json!({"ask": "files"}),
        json!({"ask": "audit"}),
        json!({"ask": "outline"}),
        json!({"ask": "view", "files": ["engine.py", "broken.py"], "mode": "skeleton"}),
        json!({"ask": "view", "files": ["*.py"], "mode": "full"}),
        json!({"ask": "symbols", "name": "run", "definition": true}),
        json!({"ask": "symbols", "name": "nobody"}),
        json!({"ask": "refs", "symbol": "Engine.run"}),
        json!({"ask": "refs"}),
        json!({"ask": "calls", "symbol": "run", "direction": "callers", "depth": 2}),
        json!({"ask": "impact", "target": "engine.py", "tests": true}),
        aggregate,
        json!({"ask": "aggregate", "choice": {"persona": "reviewer"}, "format": "json"}),
        json!({"ask": "aggregate", "dry_run": true}),
        json!({"ask": "open_document", "choice": {"tier": 3}}),
        json!({"ask": "compare_documents", "from": {"given": "tier-1"}, "to": {"given": "tier-1", "back": 0}}),
        json!({"ask": "given"}),
        json!({"ask": "given", "name": "tier-1"}),
        json!({"ask": "given", "name": "tier-1", "file": "engine.py"}),
        json!({"ask": "explain", "file": ".", "choice": {"budget": 4000}}),
        json!({"ask": "cache_status"}),
        json!({"ask": "cache_clear", "summaries": true}),
        json!({"ask": "cache_verify"}),
        json!({"ask": "aggregate", "choice": {"tier": 3}, "parts": true, "receipt": "all"}),
        json!({"ask": "cache_export", "files": ["engine.py"]}),
        json!({"ask": "cache_gc", "days": 3}),
        json!({"ask": "curation"}),
        json!({"ask": "edit_curation", "revision": revision, "edits": [mark, {"mask": {"path": "engine.py", "set": {"Engine": "sig"}}}]}),
        json!({"ask": "curation"}),
        json!({"ask": "history"}),
    ];
    for ask in asks {
        let answered = fixture.ask(&ask, &CallOptions::default()).unwrap();
        assert_eq!(answered.freshness.freshness, FreshnessState::Fresh, "{ask}");
        let query: AnyQuery = serde_json::from_value(ask.clone()).unwrap();
        let (again, schema, definitions) = over_the_wire(&query, &answered.data);
        assert_eq!(again, answered.data, "{ask}");
        let value: Value = serde_json::from_slice(&answered.data).unwrap();
        assert_eq!(violation(&schema, &value, &definitions), None, "{ask}");
    }
}

#[test]
fn symbols_nested_to_the_limit_round_trip() {
    let fixture = ServiceFixture::new();
    let nested = "namespace n0 {\n".repeat(400);
    let text = format!("{nested}int x;\n{}", "}\n".repeat(400));
    RealDisk.create_new(&fixture.root().join("deep.cpp"), text.as_bytes()).unwrap();
    for ask in [json!({"ask": "outline", "files": ["deep.cpp"]}), json!({"ask": "symbols", "name": "n0"})] {
        let answered = fixture.ask(&ask, &CallOptions::default()).unwrap();
        assert_eq!(decoded(&serde_json::from_value(ask).unwrap(), &answered.data), answered.data);
        assert!(answered.data.windows(6).filter(|bytes| bytes == b"\"name\"").count() > 100);
    }
}

#[test]
fn a_path_that_is_not_utf_8_keeps_its_bytes() {
    let fixture = ServiceFixture::new();
    let answered = fixture.ask(&json!({"ask": "files"}), &CallOptions::default()).unwrap();
    let answer: Value = serde_json::from_slice(&answered.data).unwrap();
    let odd = answer["files"].as_array().unwrap().iter().find(|file| file.get("path_hex").is_some()).unwrap();
    assert_eq!((&odd["path"], &odd["path_hex"]), (&json!("\u{fffd}.py"), &json!("ff2e7079")));
}

#[test]
fn one_missing_path_does_not_prevent_answers_about_the_others() {
    let fixture = ServiceFixture::new();
    let files = json!(["engine.py", "nope.py", "../x", "image.bin"]);
    for query in [
        json!({"ask": "view", "files": files, "mode": "skeleton"}),
        json!({"ask": "outline", "files": files}),
    ] {
        let answered = fixture.ask(&query, &CallOptions::default()).unwrap();
        let shown: Value = serde_json::from_slice(&answered.data).unwrap();
        let shown: Vec<&Value> = shown.as_array().unwrap().iter().map(|file| &file["path"]).collect();
        assert_eq!(shown, [&json!("engine.py")], "{query}");
        let missing: Vec<(&str, &str)> =
            answered.missing.iter().map(|missing| (missing.path.as_str(), missing.code.as_str())).collect();
        let expected = [("nope.py", "not_found"), ("../x", "outside_project"), ("image.bin", "not_shown")];
        assert_eq!(missing, expected, "{query}");
    }
}

#[test]
fn only_missing_paths_are_an_error() {
    let fixture = ServiceFixture::new();
    for files in [json!(["nope.py"]), json!(["nope.py", "neither.py"])] {
        for ask in ["view", "outline"] {
            let query = json!({"ask": ask, "files": files});
            assert_eq!(
                fixture.ask(&query, &CallOptions::default()).unwrap_err().code,
                "not_found",
                "{query}"
            );
        }
    }
}

#[test]
fn an_answer_under_different_settings_is_rejected() {
    let fixture = ServiceFixture::new();
    let ask = json!({"ask": "files"});
    let same = CallOptions { settings: Some(fixture.loaded().fingerprint()), ..CallOptions::default() };
    assert!(fixture.ask(&ask, &same).is_ok());
    let other = CallOptions { settings: Some("0".repeat(64)), ..CallOptions::default() };
    assert_eq!(fixture.ask(&ask, &other).unwrap_err().code, "other_settings");
}

#[test]
fn unreadable_settings_are_reported_with_their_location() {
    let fixture = ServiceFixture::new();
    RealDisk.replace(&fixture.root().join("slop.toml"), b"[tiers.3]\nvieww = 3\n").unwrap();
    let fault = fixture.ask(&json!({"ask": "files"}), &CallOptions::default()).unwrap_err();
    assert_eq!(fault.code, "bad_settings");
    assert!(fault.message.contains("slop.toml:2"), "{}", fault.message);
}

#[test]
fn abandoned_work_is_not_done() {
    let fixture = ServiceFixture::new();
    let job = Arc::new(QueryJob::default());
    job.cancel();
    let call = CallOptions { job, ..CallOptions::default() };
    let asks = [
        json!({"ask": "index"}),
        json!({"ask": "outline"}),
        json!({"ask": "view", "files": ["engine.py"]}),
        json!({"ask": "symbols", "name": "run"}),
        json!({"ask": "refs", "symbol": "run"}),
        json!({"ask": "aggregate"}),
        json!({"ask": "aggregate", "choice": {"budget": 300}}),
        json!({"ask": "explain", "file": "engine.py"}),
    ];
    for ask in asks {
        assert_eq!(fixture.ask(&ask, &call).expect_err("nobody waits").code, "cancelled", "{ask}");
    }
    let answered = fixture.ask(&json!({"ask": "files"}), &CallOptions::default()).unwrap();
    let answer: Value = serde_json::from_slice(&answered.data).unwrap();
    assert!(answer["files"].as_array().unwrap().iter().all(|file| file["state"] != "fresh"), "{answer}");
}

#[test]
fn a_job_reports_its_progress() {
    let fixture = ServiceFixture::new();
    let call = CallOptions::default();
    fixture.ask(&json!({"ask": "index"}), &call).unwrap();
    let (done, of) = call.job.progress();
    assert_eq!((done, of), (4, 4));
}

/// Returns where a value violates a schema. Supports only what schemars generates for our types. An unknown key is a
/// violation, too.
fn violation(schema: &Value, value: &Value, definitions: &Value) -> Option<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.rsplit('/').next().unwrap();
        assert!(definitions.get(name).is_some(), "no definition of {name}");
        return violation(&definitions[name], value, definitions);
    }
    if let Some(choices) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        let whys: Option<Vec<String>> =
            choices.iter().map(|choice| violation(choice, value, definitions)).collect();
        return whys.map(|whys| whys.join("; or "));
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let is_kind = |allowed: &Value| allowed == kind || (allowed == "number" && kind == "integer");
    let allowed = schema["type"].as_array().map_or(is_kind(&schema["type"]), |all| all.iter().any(is_kind));
    if !allowed {
        return Some(format!("{kind} where {} should be: {value}", schema["type"]));
    }
    match value {
        Value::Array(items) => items.iter().find_map(|item| violation(&schema["items"], item, definitions)),
        Value::Object(object) => {
            let required = schema["required"].as_array().into_iter().flatten();
            let missing = required.filter_map(Value::as_str).find(|key| !object.contains_key(*key));
            missing.map(|key| format!("no {key} in {value}")).or_else(|| {
                object.iter().find_map(|(key, value)| {
                    let known = schema["properties"].get(key).or(schema.get("additionalProperties"));
                    known.map_or(Some(format!("unknown key {key}")), |known| {
                        violation(known, value, definitions)
                    })
                })
            })
        }
        _ => None,
    }
}

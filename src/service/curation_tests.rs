//! The curation of a real folder and edits of it, and that keys mean the same in requests and in `slop.toml`.

use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{LocalService, SettingsSources};
use crate::api::{
    AnyQuery, ApiError, CallOptions, CurationEdited, CurationQuery, CurationState, EditCurationQuery,
    EditTakesQuery, HistoryQuery, InlinePersona, InlinePreset, ItemEntry, JumpQuery, RedoQuery, TakesQuery,
    UndoQuery, ask, ask_encoded,
};
use crate::config::{ConfigInputs, LoadedConfig, load};
use crate::model::{FileItem, Persona, Preset};
use crate::sys::{Disk, RealDisk};

struct CuratedProject {
    folder: TempDir,
    service: LocalService,
}

impl CuratedProject {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let project = Self { service: LocalService::new(root, SettingsSources::default()), folder };
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        match RealDisk.read(&path).unwrap() {
            Some(_) => RealDisk.replace(&path, text.as_bytes()).unwrap(),
            None => RealDisk.create_new(&path, text.as_bytes()).unwrap(),
        }
    }

    fn state(&self) -> CurationState {
        ask(&self.service, CurationQuery {}, &CallOptions::default()).unwrap().payload
    }

    fn settings(&self) -> String {
        String::from_utf8(RealDisk.read(&self.path("slop.toml")).unwrap().unwrap_or_default()).unwrap()
    }

    fn edit(&self, edits: &Value) -> Result<CurationEdited, ApiError> {
        let query: EditCurationQuery =
            serde_json::from_value(json!({"revision": self.state().revision, "edits": edits})).unwrap();
        ask(&self.service, query, &CallOptions::default()).map(|answer| answer.payload)
    }
}

const ENGINE: &str =
    "class Engine:\n    def run(self):\n        return 1\n\n    def stop(self):\n        return 2\n";

#[test]
fn the_curation_is_compared_with_the_current_files() {
    let project = CuratedProject::new(&[("src/engine.py", ENGINE), ("src/other.py", "x = 1\n")]);
    let done = project.edit(&json!([
        {"slice_add": {"path": "src/engine.py", "start_line": 2, "end_line": 3, "tag": "hot"}},
        {"mask": {"path": "src/engine.py", "set": {"Engine.run": "sig"}}},
    ]));
    assert_eq!(done.map(|done| (done.entries_written, done.files_affected)).unwrap(), (2, 1));
    project.write("src/engine.py", &format!("# new\n{}", ENGINE.replace("def run", "def ran")));
    let state = serde_json::to_value(project.state()).unwrap();
    let item = &state["items"][0];
    assert_eq!(item["item"]["ast_mask"], json!({"Engine.run": "sig"}));
    assert_eq!(
        (&item["slices"][0]["tag"], &item["slices"][0]["resolved"]["start_line"]),
        (&json!("hot"), &json!(3))
    );
    assert_eq!(item["slices"][0]["resolved"]["status"], "changed");
    assert_eq!(
        (&item["mask"][0]["found"], &item["mask"][0]["nearest"][0]),
        (&json!(0), &json!("Engine.ran"))
    );

    let before = project.settings();
    let refused = |edits: &Value| {
        let error = project.edit(edits).unwrap_err();
        assert_eq!(project.settings(), before);
        (error.code.into_owned(), error.message)
    };
    let (code, message) =
        refused(&json!([{"mask": {"path": "src/engine.py", "set": {"Engine.rum": "def"}}}]));
    assert_eq!(code, "no_such_symbol");
    assert!(message.contains("`Engine.ran`"), "{message}");
    assert_eq!(
        refused(&json!([{"set": {"files": {"paths": ["gone.py"]}, "to": {"tier": 3}}}])).0,
        "not_found"
    );
    let both =
        json!([{"slice_remove": {"path": "src/engine.py", "index": 0}}, {"preset_delete": {"name": "x"}}]);
    assert!(refused(&both).1.contains("no preset named `x`"));
}

#[test]
fn a_selection_becomes_few_entries_or_is_refused() {
    let project =
        CuratedProject::new(&[("lib/a.py", "a = 1\n"), ("lib/b.py", "b = 1\n"), ("c.py", "c = 1\n")]);
    let full = |paths: &Value| json!([{"set": {"files": {"paths": paths}, "to": {"force_full": true}}}]);
    let done = project.edit(&full(&json!(["lib/a.py", "lib/b.py"]))).unwrap();
    assert_eq!((done.entries_written, done.files_affected), (1, 2));
    assert_eq!(project.settings(), "[[files]]\npath = \"lib/**\"\nforce_full = true\n");
    // The file that was made for the entry goes with it.
    project.edit(&json!([{"set": {"files": {"paths": ["lib"]}, "unset": ["force_full"]}}])).unwrap();
    assert!(!project.path("slop.toml").exists());

    for number in 0..502 {
        project.write(&format!("many/{number}.py"), "x = 1\n");
    }
    let most: Vec<String> = (0..501).map(|number| format!("many/{number}.py")).collect();
    let error = project.edit(&full(&json!(most))).unwrap_err();
    assert_eq!(
        (&*error.code, &*error.message),
        ("too_many_entries", "selection needs 501 entries, limit is 500")
    );
    assert!(error.hint.contains("many/** (501 of 502 files)"), "{}", error.hint);
    assert!(!project.path("slop.toml").exists());
}

#[test]
fn every_state_can_be_restored_whoever_wrote_it() {
    let project = CuratedProject::new(&[("a.py", "a = 1\n"), ("b.py", "b = 1\n")]);
    let full = |path: &str| json!([{"set": {"files": {"paths": [path]}, "to": {"force_full": true}}}]);
    let history = || {
        let state = ask(&project.service, HistoryQuery::default(), &CallOptions::default()).unwrap().payload;
        let labels = state.entries.iter().map(|entry| entry.label.clone()).collect::<Vec<_>>();
        (labels, state.current, state.can_undo, state.can_redo)
    };
    let step = |step: fn(String) -> Result<AnyQuery, ()>| {
        let query = step(project.state().revision).unwrap();
        ask_encoded(&project.service, query, &CallOptions::default()).map(|_| project.settings())
    };
    let undo = |revision| Ok(AnyQuery::Undo(UndoQuery { revision }));
    let redo = |revision| Ok(AnyQuery::Redo(RedoQuery { revision }));
    assert_eq!(step(undo).unwrap_err().code, "nothing_to_undo");
    project.edit(&full("a.py")).unwrap();
    let first = project.settings();
    let by_hand = format!("# mine\n{first}");
    project.write("slop.toml", &by_hand);
    let (labels, _, can_undo, _) = history();
    assert_eq!((labels, can_undo), (vec!["first state".to_owned(), "keys of a.py".to_owned()], true));
    // Edits by hand are recorded before they are undone.
    assert_eq!(step(undo).unwrap(), first);
    assert_eq!(step(redo).unwrap(), by_hand);
    assert_eq!(step(undo).unwrap(), first);
    assert_eq!(step(undo).unwrap(), "");
    assert!(!project.path("slop.toml").exists());
    assert_eq!(step(undo).unwrap_err().code, "nothing_to_undo");
    // An edit after an undo drops nothing.
    project.edit(&full("b.py")).unwrap();
    let branch = project.settings();
    let (labels, current, can_undo, can_redo) = history();
    assert_eq!(labels, ["first state", "keys of a.py", "edited by hand", "keys of b.py"]);
    assert_eq!((current, can_undo, can_redo), (Some(4), true, false));
    assert!(project.state().can_undo && !project.state().can_redo);
    let jump = |revision| Ok(AnyQuery::Jump(JumpQuery { revision, to: 3 }));
    assert_eq!(step(jump).unwrap(), by_hand);
    let moved = |_| Ok(AnyQuery::Jump(JumpQuery { revision: "00".to_owned(), to: 4 }));
    assert_eq!(step(moved).unwrap_err().code, "revision_moved");
    assert_eq!(project.settings(), by_hand);
    // The history survives clearing the cache.
    let clear: AnyQuery = serde_json::from_value(json!({"ask": "cache_clear", "all": true})).unwrap();
    ask_encoded(&project.service, clear, &CallOptions::default()).unwrap();
    assert_eq!(step(|revision| Ok(AnyQuery::Jump(JumpQuery { revision, to: 4 }))).unwrap(), branch);
}

#[test]
fn each_take_has_a_history_of_its_own() {
    let project = CuratedProject::new(&[("a.py", "a = 1\n"), ("b.py", "b = 1\n")]);
    let full = |path: &str| json!([{"set": {"files": {"paths": [path]}, "to": {"force_full": true}}}]);
    let takes = |body: Value| {
        let mut body = body;
        body["revision"] = project.state().revision.into();
        let query: EditTakesQuery = serde_json::from_value(body).unwrap();
        ask(&project.service, query, &CallOptions::default()).map(|answer| answer.payload.current)
    };
    let undo = || {
        let query = UndoQuery { revision: project.state().revision };
        ask(&project.service, query, &CallOptions::default()).map(|_| project.settings())
    };
    project.edit(&full("a.py")).unwrap();
    let main = project.settings();
    takes(json!({"do": "create", "name": "other"})).unwrap();
    assert_eq!(takes(json!({"do": "switch", "name": "other"})).unwrap(), "other");
    project.edit(&full("b.py")).unwrap();
    takes(json!({"do": "rename", "name": "other", "to": "second"})).unwrap();
    let state = project.state();
    assert_eq!(
        (state.take, state.takes),
        ("second".to_owned(), vec!["second".to_owned(), "main".to_owned()])
    );
    // Not beyond the switch: earlier states belong to another take.
    assert_eq!(undo().unwrap(), main);
    assert_eq!(undo().unwrap_err().code, "nothing_to_undo");
    let history = |take: &str| {
        let query = HistoryQuery { take: Some(take.to_owned()) };
        let state = ask(&project.service, query, &CallOptions::default()).unwrap().payload;
        state.entries.iter().map(|entry| entry.label.clone()).collect::<Vec<_>>()
    };
    assert_eq!(history("second"), ["switched from main", "keys of b.py"]);
    assert_eq!(history("main"), ["first state", "keys of a.py"]);
    takes(json!({"do": "switch", "name": "main"})).unwrap();
    assert_eq!(project.settings(), main);
    assert_eq!(undo().unwrap(), "");
    let delete = |force| takes(json!({"do": "delete", "name": "second", "force": force}));
    assert_eq!(delete(false).unwrap_err().code, "would_lose");
    assert_eq!(delete(true).unwrap(), "main");
    assert_eq!(project.state().takes, ["main"]);
}

#[test]
fn a_takes_file_that_links_out_of_the_project_is_neither_read_nor_written() {
    let project = CuratedProject::new(&[("a.py", "a = 1\n"), ("slop.toml", "screenshots = [\"a.png\"]\n")]);
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("slop.takes.toml");
    RealDisk.create_new(&target, b"[takes.secret]\n").unwrap();
    std::os::unix::fs::symlink(&target, project.path("slop.takes.toml")).unwrap();
    let error = ask(&project.service, TakesQuery {}, &CallOptions::default()).err().unwrap();
    assert!(error.message.contains("outside of the project"), "{}", error.message);
    let query = json!({"do": "create", "name": "other", "revision": ""});
    let query: EditTakesQuery = serde_json::from_value(query).unwrap();
    assert!(ask(&project.service, query, &CallOptions::default()).is_err());
    assert_eq!(RealDisk.read(&target).unwrap().unwrap(), b"[takes.secret]\n");
}

#[test]
fn a_failed_edit_is_not_recorded() {
    let project = CuratedProject::new(&[("a.py", "a = 1\n"), ("slop.toml", "# mine\n")]);
    assert!(project.edit(&json!([{"slice_remove": {"path": "a.py", "index": 0}}])).is_err());
    let state = ask(&project.service, HistoryQuery::default(), &CallOptions::default()).unwrap().payload;
    assert_eq!((state.entries.len(), state.current), (0, None));
}

/// Returns a value of JSON in TOML.
fn to_toml(value: &Value) -> String {
    match value {
        Value::Object(keys) => {
            let keys = keys.iter().filter(|(_, value)| !value.is_null());
            let keys: Vec<String> =
                keys.map(|(key, value)| format!("{} = {}", json!(key), to_toml(value))).collect();
            format!("{{ {} }}", keys.join(", "))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(to_toml).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

fn load_toml(text: &str) -> LoadedConfig {
    let project_file = Some(("slop.toml".into(), text.as_bytes().to_vec()));
    load(&ConfigInputs { project_file, ..ConfigInputs::default() }).unwrap()
}

/// Asserts that an entry means the same in a request and in `slop.toml`, or that both reject it. Returns whether both
/// accept it.
#[track_caller]
fn is_same_entry(entry: &Value) -> bool {
    let loaded = load_toml(&format!("files = [{}]\n", to_toml(entry)));
    let request = serde_json::from_value::<ItemEntry>(entry.clone()).map(FileItem::from);
    let settings = loaded.curation.files.first().filter(|_| loaded.problems.is_empty());
    assert_eq!(request.as_ref().ok(), settings, "{entry}: {:?}", loaded.problems);
    request.is_ok()
}

#[test]
fn an_entry_means_the_same_in_a_request_and_in_the_settings() {
    let slice = json!({
        "start_line": 2, "end_line": 3, "tag": "t", "comment": "c", "content_hash": "no hash", "anchor_lines": ["before"],
        "start_context": [], "end_context": ["x"], "line_hashes": ["1"], "copies": 2,
        "unique_lines": {"before": ["u"], "after": []},
    });
    let of_slices = |slice: &Value| json!({"path": "a", "custom_slices": [slice]});
    let accepted = [
        json!({"path": "a.py"}),
        json!({
            "path": "a.py", "auto_aggregate": false, "force_full": true, "selected": true, "ast_signatures": true,
            "ast_definitions": true, "ast_mask": {"A": "full", "A.b": "hide", "c": "agg"}, "tier": 3, "injected_at": 1.5,
        }),
        of_slices(&slice),
        of_slices(
            &json!({"start_line": 1, "end_line": 1, "anchor_lines": {"before": ["b"], "after": ["a"]}}),
        ),
    ];
    for entry in &accepted {
        assert!(is_same_entry(entry), "{entry}");
    }
    let wrong = [
        json!({"path": ""}),
        json!({"path": "a\u{0}b"}),
        json!({"path": "a", "tier": 5}),
        json!({"path": "a", "ast_mask": {"A": "show"}}),
        json!({"path": "a", "force_full": 1}),
        of_slices(&json!({"start_line": 0, "end_line": 2})),
        of_slices(&json!({"start_line": 3, "end_line": 2})),
        of_slices(&json!({"start_line": 1})),
    ];
    for entry in &wrong {
        assert!(!is_same_entry(entry), "{entry}");
    }
    let views = crate::model::ViewMode::ALL.map(|view| json!({"path": "a", "view_mode": view.name()}));
    assert_eq!(views.iter().filter(|entry| is_same_entry(entry)).count(), 11);
}

#[test]
fn presets_and_personas_mean_the_same_in_a_request_and_in_the_settings() {
    let preset = |value: &Value| {
        let loaded = load_toml(&format!("[presets]\np = {}\n", to_toml(value)));
        let settings = loaded.curation.preset("p").map(|saved| saved.value.clone());
        let settings = settings.filter(|_| loaded.problems.is_empty());
        let request = serde_json::from_value::<InlinePreset>(value.clone());
        let request = request.ok().map(|preset| Preset { name: "p".to_owned(), ..preset.into() });
        assert_eq!(request, settings, "{value}: {:?}", loaded.problems);
        request.is_some()
    };
    assert!(preset(
        &json!({"files": ["a", {"path": "b", "tier": 3}], "description": "d", "screenshots": ["s.png"]})
    ));
    assert!(!preset(&json!({"files": ["a", ""]})));
    assert!(!preset(&json!({"files": ["a\u{0}"]})));
    assert!(!preset(&json!({"screenshots": [1]})));

    let persona = |value: &Value| {
        let loaded = load_toml(&format!("[personas]\np = {}\n", to_toml(value)));
        let settings = loaded.curation.persona("p").map(|saved| saved.value.clone());
        let request = serde_json::from_value::<InlinePersona>(value.clone());
        let request = request.ok().map(|persona| Persona { name: "p".to_owned(), ..persona.into() });
        assert_eq!(request, settings, "{value}: {:?}", loaded.problems);
        request.is_some()
    };
    let model = |model: &Value| json!({"preferred_models": [model]});
    assert!(persona(&json!({
        "tier": 2, "aggregation_strategy": "summarize", "context_preset": "c", "system_prompt": "s", "budget_tokens": 7,
        "focus": ["a"], "view": "outline", "focus_view": "window", "languages": {"markdown": {"view": "full"}},
        "preferred_models": [{"provider": "p", "model": "m", "temperature": 2.0, "top_p": 0.0, "max_output_tokens": 1}],
    })));
    assert!(!persona(&json!({"budget_tokens": 1_u64 << 32})));
    assert!(!persona(&json!({"focus_view": "full"})));
    assert!(!persona(&json!({"view": "window"})));
    assert!(!persona(&model(&json!({"provider": "", "model": "m"}))));
    assert!(!persona(&model(&json!({"provider": "p", "model": ""}))));
    assert!(!persona(&model(&json!({"provider": "p", "model": "m", "max_output_tokens": 1_000_001}))));
    assert!(!persona(&model(&json!({"provider": "p", "model": "m", "top_p": 1.5}))));
}

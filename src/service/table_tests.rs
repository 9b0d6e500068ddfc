//! The table of all files as a client maintains it, by deltas and by selections of rows.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{QueryOrigin, QuerySettings, SettingsSources, resolve, with_world};
use crate::api::{
    AnyQuery, ApiError, CallOptions, FreshnessNote, FreshnessState, Receiver, Service, ServiceAnswer,
    ask_encoded,
};
use crate::engine::{NoProgress, Project, WorkspaceCache};
use crate::model::RelPath;
use crate::sys::{Disk, RealDisk};

/// A project that is queried by one long-running process, or by several.
struct TableProject {
    folder: TempDir,
    shared: Arc<WorkspaceCache>,
}

/// Answers with the current settings, with or without what is kept between answers.
struct SettingsAwareService<'p> {
    root: PathBuf,
    shared: Option<&'p Arc<WorkspaceCache>>,
}

impl Service for SettingsAwareService<'_> {
    fn answer(&self, query: AnyQuery, _: &CallOptions, receive: Receiver<'_>) -> Result<(), ApiError> {
        let loaded = SettingsSources::default().load(&self.root)?;
        let settings = QuerySettings { loaded: &loaded, root: &self.root, origin: QueryOrigin::Remote };
        let resolved = resolve(query, settings)?;
        with_world(&self.root, &NoProgress, |world| {
            let mut project = Project::open(&self.root, loaded.engine_options(&self.root), world)?;
            if let Some(shared) = self.shared {
                project.share_cache(Arc::clone(shared));
            }
            let found = resolved.answer(&mut project)?;
            let freshness = FreshnessNote::at(0).with_trusted_events(project.take_trusted_events());
            receive(ServiceAnswer { freshness, missing: found.missing, payload: found.answer });
            Ok(())
        })
    }
}

impl TableProject {
    fn new(files: &[(&str, &str)]) -> Self {
        let project = Self { folder: tempfile::tempdir().unwrap(), shared: Arc::default() };
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    /// Returns a project that is treated as a large one: only estimates at first, and after a change.
    fn large(files: &[(&str, &str)]) -> Self {
        let shared = Arc::new(WorkspaceCache::composing_tables(0));
        shared.set_trusted(true);
        Self { shared, ..Self::new(files) }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        match RealDisk.read(&path).unwrap() {
            Some(_) => RealDisk.replace(&path, text.as_bytes()).unwrap(),
            None => RealDisk.create_new(&path, text.as_bytes()).unwrap(),
        }
    }

    fn remove(&self, path: &str) {
        RealDisk.remove_file(&self.folder.path().join(path)).unwrap();
    }

    /// Records that events have reported these files.
    fn report(&self, paths: &[&str]) {
        let path = |path: &&str| RelPath::new(path.as_bytes()).unwrap();
        self.shared.touch(&paths.iter().map(path).collect::<Vec<_>>());
    }

    fn ask(&self, is_known: bool, query: &Value) -> Result<Value, ApiError> {
        Ok(self.ask_with_freshness(is_known, query)?.0)
    }

    fn ask_with_freshness(&self, is_known: bool, query: &Value) -> Result<(Value, FreshnessState), ApiError> {
        let root = self.folder.path().canonicalize().unwrap();
        let service = SettingsAwareService { root, shared: is_known.then_some(&self.shared) };
        let query = serde_json::from_value(query.clone()).unwrap();
        let answer = ask_encoded(&service, query, &CallOptions::default())?;
        Ok((serde_json::from_slice(&answer.data).unwrap(), answer.freshness.freshness))
    }

    fn table(&self, choice: &Value, since: Option<&str>) -> Value {
        self.ask(true, &json!({"ask": "table", "choice": choice, "since": since})).unwrap()
    }

    /// Returns the changes of the table of tier 3 that events have reported.
    fn table_by_events(&self, choice: &Value, since: &str) -> (Value, FreshnessState) {
        let query = json!({"ask": "table", "choice": choice, "since": since, "trust_events": true});
        self.ask_with_freshness(true, &query).unwrap()
    }
}

/// The values of a row whose numbers are positions in a list of the answer.
const LISTED: [(&str, &str); 6] = [
    ("language", "languages"),
    ("state", "states"),
    ("view", "views"),
    ("wanted", "views"),
    ("rule", "rules"),
    ("why", "whys"),
];
const PLAIN: [&str; 8] =
    ["tokens", "bytes", "lines", "symbols", "health", "summary_by", "agent_tiers", "entry"];

/// A table as a client keeps it.
#[derive(Default)]
struct ClientTable {
    clock: String,
    paths: Vec<String>,
    rows: Vec<BTreeMap<String, Value>>,
    rest: Value,
}

impl ClientTable {
    /// Applies an answer, and returns whether it was a delta.
    fn apply(&mut self, answer: &Value) -> bool {
        let list = |key: &str| answer[key].as_array().unwrap().clone();
        let is_delta = !answer["since"].is_null();
        if is_delta {
            assert_eq!(answer["since"], json!(self.clock));
        } else {
            let (folders, starts) = (list("folders"), list("starts"));
            let names: Vec<&str> = answer["names"].as_str().unwrap().lines().collect();
            let path = |(row, name): (usize, &&str)| {
                let folder = starts.iter().rposition(|start| start.as_u64().unwrap() <= row as u64).unwrap();
                format!("{}/{name}", folders[folder].as_str().unwrap())
            };
            self.paths = names.iter().enumerate().map(path).collect();
            self.rows = vec![BTreeMap::new(); self.paths.len()];
        }
        let changed: Vec<usize> = match answer["rows"].as_array() {
            Some(rows) => rows.iter().map(|row| usize::try_from(row.as_u64().unwrap()).unwrap()).collect(),
            None => (0..self.rows.len()).collect(),
        };
        for (key, values) in LISTED {
            let (column, values) = (list(key), list(values));
            assert_eq!(column.len(), changed.len(), "{key}: {answer}");
            for (row, at) in changed.iter().zip(column) {
                let value = values[usize::try_from(at.as_u64().unwrap()).unwrap()].clone();
                self.rows[*row].insert(key.to_owned(), value);
            }
        }
        for key in PLAIN {
            let column = list(key);
            assert_eq!(column.len(), changed.len(), "{key}: {answer}");
            for (row, value) in changed.iter().zip(column) {
                self.rows[*row].insert(key.to_owned(), value);
            }
        }
        self.clock = answer["clock"].as_str().unwrap().to_owned();
        self.rest = json!([answer["files"], answer["total"], answer["exact"], answer["problem"]]);
        is_delta
    }

    /// Returns the whole table in a form that does not depend on the lists of one answer.
    fn content(&self) -> (&[String], &[BTreeMap<String, Value>], &Value) {
        (&self.paths, &self.rows, &self.rest)
    }
}

/// A reproducible sequence of random numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Makes one random edit of the files or of the curation.
fn edit(project: &TableProject, files: &mut BTreeMap<String, u64>, numbers: &mut Numbers) {
    let text = |functions: u64| -> String {
        let function =
            |at| format!("def f{at}(a):\n    \"\"\"Adds.\"\"\"\n    b = a + {at}\n    return b\n\n");
        (0..functions).map(function).collect()
    };
    let place = usize::try_from(numbers.below(files.len() as u64)).unwrap();
    let path = files.keys().nth(place).unwrap().clone();
    match numbers.below(5) {
        0 if 4 < files.len() => {
            project.remove(&path);
            files.remove(&path);
        }
        0 | 1 => {
            let path = format!("{}n{}.py", ["", "src/", "src/in/"][place % 3], numbers.below(30));
            project.write(&path, &text(2));
            files.insert(path, 2);
        }
        2 => {
            let entries = [
                "force_full = true",
                "ast_signatures = true",
                "auto_aggregate = false",
                "ast_mask = { f0 = \"hide\", f1 = \"def\" }",
            ];
            let mut entry = || entries[usize::try_from(numbers.below(4)).unwrap()];
            let (first, second) = (entry(), entry());
            project.write(
                "slop.toml",
                &format!("[[files]]\npath = \"{path}\"\n{first}\n[[files]]\npath = \"src\"\n{second}\n"),
            );
        }
        _ => {
            let functions = 1 + numbers.below(20);
            project.write(&path, &text(functions));
            files.insert(path, functions);
        }
    }
}

#[test]
fn deltas_in_their_order_come_to_the_whole_table() {
    let files =
        [("a.py", "def a():\n    pass\n"), ("src/b.py", "x = 1\n"), ("src/in/c.py", "y = 2\n"), ("z.py", "")];
    let project = TableProject::new(&files);
    project.write("slop.toml", "");
    let mut paths: BTreeMap<String, u64> = files.iter().map(|(path, _)| ((*path).to_owned(), 0)).collect();
    let choice = json!({"tier": 3, "budget": 700});
    let mut numbers = Numbers(7);
    let (mut kept, mut late) = (ClientTable::default(), ClientTable::default());
    kept.apply(&project.table(&choice, None));
    late.apply(&project.table(&choice, None));
    let mut deltas = 0;
    for step in 0..60 {
        edit(&project, &mut paths, &mut numbers);
        let delta = project.table(&choice, Some(&kept.clock));
        deltas += usize::from(kept.apply(&delta));
        // A client that asks seldom gets everything that it missed.
        if step % 7 == 6 {
            late.apply(&project.table(&choice, Some(&late.clock)));
            assert_eq!(late.content(), kept.content(), "late at step {step}");
        }
        let mut whole = ClientTable::default();
        whole.apply(&project.ask(false, &json!({"ask": "table", "choice": choice})).unwrap());
        assert_eq!(kept.content(), whole.content(), "at step {step}: {delta}");
    }
    assert!(20 < deltas, "{deltas}");
}

#[test]
fn the_table_of_a_large_project_is_updated_by_changes_alone() {
    let files =
        [("a.py", "def a():\n    pass\n"), ("src/b.py", "x = 1\n"), ("src/in/c.py", "y = 2\n"), ("z.py", "")];
    let project = TableProject::large(&files);
    project.write("slop.toml", "");
    let mut paths: BTreeMap<String, u64> = files.iter().map(|(path, _)| ((*path).to_owned(), 0)).collect();
    for choice in [json!({"tier": 3, "budget": 700}), json!({"tier": 3, "focus": ["slop.toml"]})] {
        let mut numbers = Numbers(11);
        let mut kept = ClientTable::default();
        kept.apply(&project.table(&choice, None));
        let (mut deltas, mut events) = (0, 0);
        for step in 0..40 {
            edit(&project, &mut paths, &mut numbers);
            if step % 2 == 1 {
                let reported: Vec<&str> = paths.keys().map(String::as_str).chain(["slop.toml"]).collect();
                project.report(&reported);
            }
            // In half of the steps nothing reports the change: stamps alone show it.
            let (by_events, freshness) = project.table_by_events(&choice, &kept.clock);
            events += usize::from(freshness == FreshnessState::Stale);
            kept.apply(&by_events);
            let estimated = project.table(&choice, Some(&kept.clock));
            deltas +=
                usize::from([&by_events, &estimated].iter().any(|answer| answer["exact"] == json!(false)));
            kept.apply(&estimated);
            kept.apply(&project.table(&choice, Some(&kept.clock)));
            let mut whole = ClientTable::default();
            whole.apply(&project.ask(false, &json!({"ask": "table", "choice": choice})).unwrap());
            assert_eq!(kept.content(), whole.content(), "{choice} at step {step}: {estimated}");
        }
        assert!(25 < deltas && 20 < events, "{deltas} {events}");
    }
}

#[test]
fn changes_are_estimated_until_they_stop() {
    let project = TableProject::large(&[("a.py", ""), ("b.py", ""), ("slop.toml", "")]);
    let choice = json!({"tier": 3});
    let mut table = ClientTable::default();
    let ask = |table: &mut ClientTable| {
        let answer = project.table(&choice, Some(&table.clock));
        table.apply(&answer);
        (answer["rows"].clone(), answer["exact"].clone())
    };
    table.apply(&project.table(&choice, None));
    assert_eq!(ask(&mut table).1, json!(true));
    for (row, path, text) in [(0, "a.py", "x = 1\n"), (1, "b.py", "y = 2\n"), (0, "a.py", "x = 1\ny = 2\n")] {
        project.write(path, text);
        assert_eq!(ask(&mut table), (json!([row]), json!(false)), "the document is not composed");
        assert_eq!(table.rows[row]["bytes"], json!(text.len()));
    }
    assert_eq!(ask(&mut table).1, json!(true));
    assert_eq!(ask(&mut table), (json!([]), json!(true)));
}

#[test]
fn a_table_by_events_has_the_reported_changes_and_the_next_one_also_the_lost_ones() {
    let project = TableProject::large(&[("a.py", ""), ("b.py", ""), ("slop.toml", "")]);
    let choice = json!({"tier": 3});
    let mut table = ClientTable::default();
    table.apply(&project.table(&choice, None));
    table.apply(&project.table(&choice, Some(&table.clock)));
    let mut by_events = |rows: Value, what: &str| {
        let (answer, freshness) = project.table_by_events(&choice, &table.clock);
        assert_eq!((&answer["rows"], freshness), (&rows, FreshnessState::Stale), "{what}");
        table.apply(&answer);
    };
    project.write("a.py", "x = 1\n");
    project.write("b.py", "y = 2\n");
    by_events(json!([]), "no event came");
    project.report(&["a.py"]);
    by_events(json!([0]), "one event came");
    by_events(json!([]), "it was taken in");
    project.write("slop.toml", "[[files]]\npath = \"b.py\"\nforce_full = true\n");
    by_events(json!([1]), "what is curated of a file has changed, and with it the file is looked into");
    project.write("b.py", "y = 2\nz = 3\n");
    by_events(json!([]), "no event came");
    let query = json!({"ask": "table", "choice": choice, "since": table.clock});
    let (answer, freshness) = project.ask_with_freshness(true, &query).unwrap();
    assert_eq!((&answer["rows"], freshness), (&json!([1]), FreshnessState::Fresh));
}

#[test]
fn a_table_by_events_compares_all_files_if_events_do_not_suffice() {
    let project = TableProject::large(&[("a.py", ""), ("slop.toml", "")]);
    let choice = json!({"tier": 3});
    let clock = project.table(&choice, None)["clock"].clone();
    let by_events = |clock: &Value| {
        let (answer, freshness) = project.table_by_events(&choice, clock.as_str().unwrap());
        assert_eq!(freshness, FreshnessState::Fresh, "{answer}");
        answer
    };
    project.write("a.py", "x = 1\n");
    project.shared.invalidate_all();
    let answer = by_events(&clock);
    assert_eq!(answer["rows"], json!([0]), "events were lost");
    project.shared.invalidate_all();
    let answer = by_events(&answer["clock"]);
    assert_eq!(
        (&answer["rows"], &answer["exact"]),
        (&json!([]), &json!(false)),
        "nobody waits for the document"
    );
    project.write("b.py", "");
    project.shared.invalidate_listing();
    let answer = by_events(&answer["clock"]);
    assert_eq!(answer["files"], json!(3), "a file came");
    project.shared.set_trusted(false);
    project.write("b.py", "y = 2\n");
    let mut table = ClientTable::default();
    table.apply(&project.table(&choice, None));
    project.write("b.py", "y = 20\n");
    table.apply(&by_events(&json!(table.clock)));
    assert_eq!(table.rows[1]["bytes"], json!(7), "there are no events");
}

#[test]
fn an_edit_of_the_curation_returns_the_rows_that_it_changes() {
    let text = "def f(a):\n    b = a + 1\n    return b\n";
    let files = [("a.py", text), ("src/b.py", text), ("src/c.py", text), ("slop.toml", "")];
    let project = TableProject::large(&files);
    let choice = json!({"tier": 3});
    let mut table = ClientTable::default();
    table.apply(&project.table(&choice, None));
    table.apply(&project.table(&choice, Some(&table.clock)));
    let of_folder = "[[files]]\npath = \"src\"\nauto_aggregate = false\n";
    let of_file = "[[files]]\npath = \"a.py\"\nforce_full = true\n";
    let steps = [
        (of_folder.to_owned(), json!([2, 3]), ["skeleton", "left_out", "left_out"]),
        // The entry of the folder is the second one now.
        (format!("{of_file}{of_folder}"), json!([0, 2, 3]), ["full", "left_out", "left_out"]),
        (of_file.to_owned(), json!([2, 3]), ["full", "skeleton", "skeleton"]),
    ];
    for (settings, rows, views) in steps {
        project.write("slop.toml", &settings);
        let delta = project.table(&choice, Some(&table.clock));
        assert_eq!((&delta["rows"], &delta["exact"]), (&rows, &json!(false)), "{settings}");
        table.apply(&delta);
        let wanted: Vec<Value> = [0, 2, 3].map(|row| table.rows[row]["view"].clone()).to_vec();
        assert_eq!(wanted, views, "{settings}");
    }
}

#[test]
fn a_delta_belongs_to_one_choice_and_names_files_that_stepped_down() {
    let body = "def f(a):\n    \"\"\"Adds.\"\"\"\n    return a\n\n";
    let project =
        TableProject::new(&[("a.py", &body.repeat(30)), ("b.py", &body.repeat(20)), ("slop.toml", "")]);
    let small = json!({"tier": 3, "budget": 500});
    let first = project.table(&small, None);
    let clock = first["clock"].as_str().unwrap();
    assert_eq!(project.table(&small, Some(clock))["rows"], json!([]));
    assert_eq!(project.table(&json!({"tier": 3}), Some(clock))["since"], Value::Null);
    project.write("slop.toml", "[[files]]\npath = \"a.py\"\nforce_full = true\n");
    let delta = project.table(&small, Some(clock));
    assert_eq!(delta["since"], json!(clock));
    assert!(delta["rows"].as_array().unwrap().contains(&json!(1)), "b.py has less room: {delta}");
    assert!(delta.to_string().len() < 2048, "{delta}");
}

#[test]
fn rows_of_a_table_are_edited_unless_files_were_added_or_removed() {
    let project = TableProject::new(&[("b.py", ""), ("src/a.py", ""), ("src/c.py", ""), ("slop.toml", "")]);
    let clock = project.table(&json!({}), None)["clock"].clone();
    let edit = |files: Value| {
        let revision = project.ask(true, &json!({"ask": "curation"})).unwrap()["revision"].clone();
        let set = json!({"set": {"files": files, "to": {"force_full": true}}});
        let edit = json!({"ask": "edit_curation", "revision": revision, "label": "", "edits": [set]});
        project.ask(true, &edit).map_err(|error| error.code.into_owned())
    };
    // The files of the root come first, by their names: row 2 is the first one in `src`.
    let done = edit(json!({"clock": clock, "rows": [[0, 0], [2, 2]]})).unwrap();
    assert_eq!(done["files_affected"], json!(2));
    let items = project.ask(true, &json!({"ask": "curation"})).unwrap()["items"].clone();
    let paths: Vec<&Value> = items.as_array().unwrap().iter().map(|item| &item["item"]["path"]).collect();
    assert_eq!(paths, [&json!("b.py"), &json!("src/a.py")]);
    assert_eq!(edit(json!({"clock": clock, "rows": [[0, 9]]})).unwrap_err(), "table_moved");
    assert_eq!(edit(json!({"rows": [[0, 0]]})).unwrap_err(), "bad_ask");
    project.write("src/b.py", "");
    assert_eq!(edit(json!({"clock": clock, "rows": [[0, 0]]})).unwrap_err(), "table_moved");
}

#[test]
fn names_are_found_except_hidden_ones_and_those_in_omitted_files() {
    let project = TableProject::new(&[
        (
            "src/ring_buffer.py",
            "class RingBuffer:\n    def push(self):\n        pass\n\n    def peek(self):\n        pass\n",
        ),
        ("ring/other.py", "def pushed():\n    pass\n"),
        ("key.pem", "push\n"),
        (
            "slop.toml",
            "[[files]]\npath = \"src/ring_buffer.py\"\nast_mask = { \"RingBuffer.peek\" = \"hide\" }\n",
        ),
    ]);
    for is_known in [false, true] {
        let find = |query: &str, of: Value| {
            let found = project.ask(is_known, &json!({"ask": "find", "query": query, "of": of, "limit": 5}));
            let hits = found.unwrap()["hits"].as_array().unwrap().clone();
            let name = |hit: &Value| hit["name"].as_str().or(hit["path"].as_str()).unwrap().to_owned();
            hits.iter().map(name).collect::<Vec<String>>()
        };
        assert_eq!(find("ringb", json!([])), ["RingBuffer", "src/ring_buffer.py"]);
        assert_eq!(find("push", json!(["symbol"])), ["push", "pushed"]);
        assert_eq!(find("peek", json!([])), Vec::<String>::new());
        assert_eq!(find("ring", json!(["file"])), ["src/ring_buffer.py", "ring/other.py"]);
        assert_eq!(find("keypem", json!([])), ["key.pem"]);
    }
    let one =
        project.ask(true, &json!({"ask": "find", "query": "rb", "of": ["symbol"], "limit": 1})).unwrap();
    let hit = json!({"of": "symbol", "path": "src/ring_buffer.py", "name": "RingBuffer", "kind": "class", "start_line": 1});
    for (key, value) in hit.as_object().unwrap() {
        assert_eq!(one["hits"][0][key], *value);
    }
    assert_eq!((&one["hits"][0]["ranges"], &one["more"]), (&json!([[0, 1], [4, 5]]), &json!(false)));
}

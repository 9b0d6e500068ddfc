//! A query after a write is answered with what was written, whatever else happens (F01, F02, F14).

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::RwLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, io, thread};

use serde_json::json;

use super::super::sandbox::Sandbox;
use super::harness::{DaemonConnection, TestDaemon, TestRng, rounds};

const WRITERS: usize = 4;
/// The number of rounds after which a soak test continues in a new project: in one that grows for a million rounds, it
/// would spend most of the time listing folders.
const ROUNDS_OF_A_PROJECT: usize = 50_000;

/// Reports an error immediately, bypassing the test runner's capture.
fn report_progress(what: &str) {
    let _ = writeln!(io::stderr(), "{what}");
}

/// A writer with its own folder that sends a query after each change.
struct RandomWriter<'d> {
    folder: String,
    root: PathBuf,
    dice: TestRng,
    connection: DaemonConnection,
    files: BTreeMap<String, String>,
    made: usize,
    stale: &'d AtomicUsize,
}

impl RandomWriter<'_> {
    fn path(&self, file: &str) -> PathBuf {
        self.root.join(file)
    }

    fn some_file(&mut self) -> Option<String> {
        let at = self.dice.next_below(self.files.len().max(1));
        self.files.keys().nth(at).cloned()
    }

    fn new_name(&mut self) -> String {
        self.made += 1;
        match self.dice.next_below(3) {
            0 => format!("{}/f{}.py", self.folder, self.made),
            1 => format!("{}/d{}/f{}.py", self.folder, self.made % 7, self.made),
            _ => format!("{}/n{}/a/b/c/f.py", self.folder, self.made),
        }
    }

    fn new_text(&mut self) -> String {
        // Most texts have the same size.
        let tail = if self.dice.next_below(4) == 0 { "    # longer\n" } else { "" };
        format!("def f_{:08}():\n    return 1\n{tail}", self.dice.next_below(100_000_000))
    }

    fn check(&mut self, file: &str) {
        let written = self.files.get(file);
        // A text is read for each answer that shows it; an outline may be cached.
        let (answer, is_right) = if self.dice.next_below(2) == 0 {
            let answer = self.connection.text(file);
            let is_right = answer.as_ref() == written;
            (answer, is_right)
        } else {
            let answer = self.connection.outline(file);
            let name = written.map(|text| &text[4..14]);
            let is_right = answer.as_ref().map(|answer| name.is_some_and(|name| answer.contains(name)));
            (answer, is_right.unwrap_or(written.is_none()))
        };
        if !is_right {
            self.stale.fetch_add(1, Ordering::Relaxed);
            report_progress(&format!("stale: {file}: {answer:?} for {written:?}"));
        }
    }

    /// Makes a random change and queries it.
    fn write_once(&mut self) {
        match self.dice.next_below(120) {
            0 => self.list(),
            1..10 => self.add(),
            10..20 => self.delete(),
            20..30 => self.rename(),
            30..35 => self.rename_folder(),
            35..60 => self.replace(),
            _ => self.edit(),
        }
    }

    fn add(&mut self) {
        let (file, text) = (self.new_name(), self.new_text());
        let path = self.path(&file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &text).unwrap();
        self.files.insert(file.clone(), text);
        self.check(&file);
        if 40 < self.files.len() {
            self.delete();
        }
    }

    fn edit(&mut self) {
        let Some(file) = self.some_file() else { return self.add() };
        let text = self.new_text();
        fs::write(self.path(&file), &text).unwrap();
        self.files.insert(file.clone(), text);
        self.check(&file);
    }

    /// Replaces a file by renaming another one over it, as editors do.
    fn replace(&mut self) {
        let Some(file) = self.some_file() else { return self.add() };
        let (text, beside) = (self.new_text(), self.path(&format!("{file}.tmp")));
        fs::write(&beside, &text).unwrap();
        fs::rename(beside, self.path(&file)).unwrap();
        self.files.insert(file.clone(), text);
        self.check(&file);
    }

    fn delete(&mut self) {
        let Some(file) = self.some_file() else { return self.add() };
        fs::remove_file(self.path(&file)).unwrap();
        self.files.remove(&file);
        self.check(&file);
    }

    fn rename(&mut self) {
        let Some(old) = self.some_file() else { return self.add() };
        let new = self.new_name();
        fs::create_dir_all(self.path(&new).parent().unwrap()).unwrap();
        fs::rename(self.path(&old), self.path(&new)).unwrap();
        let text = self.files.remove(&old).unwrap();
        self.files.insert(new.clone(), text);
        self.check(&old);
        self.check(&new);
    }

    fn rename_folder(&mut self) {
        let old = format!("{}/d{}", self.folder, self.dice.next_below(7));
        self.made += 1;
        let new = format!("{}/moved{}", self.folder, self.made);
        if fs::rename(self.path(&old), self.path(&new)).is_err() {
            return self.edit();
        }
        let inside = format!("{old}/");
        let moved: Vec<String> =
            self.files.keys().filter(|file| file.starts_with(&inside)).cloned().collect();
        for file in moved {
            let text = self.files.remove(&file).unwrap();
            let now = file.replacen(&old, &new, 1);
            self.files.insert(now.clone(), text);
            self.check(&file);
            self.check(&now);
        }
    }

    /// Queries the list of files, including added and removed ones.
    fn list(&mut self) {
        if self.files.is_empty() {
            return self.add();
        }
        let envelope = self.connection.query("/v1/outline", &json!({"files": [self.folder]}));
        let found = envelope["data"].as_array().unwrap().iter();
        let found: Vec<&str> = found.map(|file| file["path"].as_str().unwrap()).collect();
        let wanted: Vec<&str> = self.files.keys().map(String::as_str).collect();
        if found != wanted {
            self.stale.fetch_add(1, Ordering::Relaxed);
            report_progress(&format!("stale list of {}: {found:?} for {wanted:?}", self.folder));
        }
    }
}

#[test]
fn every_answer_reflects_all_earlier_writes() {
    let mut left = rounds(2_000, 1_000_000);
    while 0 < left {
        let some = left.min(ROUNDS_OF_A_PROJECT);
        write_and_ask(some / WRITERS, left as u64);
        left -= some;
    }
}

/// Has each writer change a new project `times` times.
fn write_and_ask(times: usize, seed: u64) {
    let sandbox = Sandbox::repo();
    sandbox.write(".gitignore", "ignored/\n");
    sandbox.commit_all("root");
    for branch in ["one", "two"] {
        sandbox.git(&["checkout", "-q", "-b", branch, "main"]);
        for file in 0..40 {
            sandbox.write(format!("switched/{branch}{file}.py"), format!("{branch}_only = {file}\n"));
            sandbox.write(format!("switched/both{file}.py"), format!("{branch} = {file}\n"));
        }
        sandbox.commit_all(branch);
    }
    sandbox.git(&["checkout", "-q", "one"]);
    let daemon = TestDaemon::start(&sandbox);
    let stale = AtomicUsize::new(0);
    let tree = RwLock::new(());
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (stale, tree, daemon) = (&stale, &tree, &daemon);
            scope.spawn(move || {
                let mut writer = RandomWriter {
                    folder: format!("writer{writer}"),
                    root: daemon.sandbox.root(),
                    dice: TestRng::new(0x9e37_79b9_7f4a_7c15 ^ (seed * 16 + writer as u64 + 1)),
                    connection: daemon.connect(),
                    files: BTreeMap::new(),
                    made: 0,
                    stale,
                };
                for _ in 0..times {
                    let _quiet = tree.read().unwrap();
                    writer.write_once();
                }
            });
        }
        scope.spawn(|| switch_branches(&daemon, &tree, &stale, times / 250));
    });
    assert_eq!(stale.load(Ordering::Relaxed), 0, "stale answers");
    let status = daemon.status();
    assert_eq!(status["missed"], 0, "{status}");
    daemon.assert_audit_is_clean();
}

/// Switches between two branches and queries the contents of each.
fn switch_branches(daemon: &TestDaemon<'_>, tree: &RwLock<()>, stale: &AtomicUsize, times: usize) {
    for turn in 0..times {
        let (here, there) = if turn % 2 == 0 { ("two", "one") } else { ("one", "two") };
        let _alone = tree.write().unwrap();
        // The wait for it may be longer than the daemon keeps an idle connection.
        let mut connection = daemon.connect();
        daemon.sandbox.git(&["checkout", "-q", here]);
        let file = turn % 40;
        let is_right = connection.text(&format!("switched/both{file}.py"))
            == Some(format!("{here} = {file}\n"))
            && connection.text(&format!("switched/{there}{file}.py")).is_none()
            && connection.text(&format!("switched/{here}{file}.py")).is_some();
        if !is_right {
            stale.fetch_add(1, Ordering::Relaxed);
            report_progress(&format!("stale after a switch to {here}"));
        }
    }
}

//! Three checkouts and a folder that are linked as one project: an answer reflects every earlier write in each of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::sandbox::{Sandbox, data, text};
use super::harness::{TestDaemon, TestRng, rounds};

/// The names of the linked folders; the last one is in no repository.
const LINKED: [&str; 3] = ["lib", "web", "notes"];

/// Writes to the files of all folders at random, and records the expected text of each file.
struct LinkedWriter<'s> {
    sandbox: &'s Sandbox,
    dice: TestRng,
    /// The text of each file, by its path in answers.
    files: BTreeMap<String, String>,
    made: usize,
}

impl<'s> LinkedWriter<'s> {
    fn new(sandbox: &'s Sandbox) -> Self {
        sandbox.write("first.py", "def first():\n    return 0\n");
        sandbox.commit_all("first");
        for name in LINKED {
            let folder = sandbox.outside(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("first.py"), "def first():\n    return 0\n").unwrap();
            if name != "notes" {
                sandbox.git_in(&folder, &["init", "-q"]);
                commit(sandbox, &folder);
            }
            sandbox.stdout_of(&["link", "add", folder.to_str().unwrap()]);
        }
        let files = LINKED.iter().map(|name| format!("@{name}/first.py")).chain(["first.py".to_owned()]);
        let files = files.map(|path| (path, "def first():\n    return 0\n".to_owned())).collect();
        Self { sandbox, dice: TestRng::new(0x4cf5_ad43_2745_937f), files, made: 0 }
    }

    /// Returns the file or folder on disk for a path in answers.
    fn on_disk(&self, path: &str) -> PathBuf {
        match path.strip_prefix('@') {
            Some(linked) => self.sandbox.outside(linked),
            None => self.sandbox.path(path),
        }
    }

    fn some_file(&mut self) -> String {
        let at = self.dice.next_below(self.files.len());
        self.files.keys().nth(at).unwrap().clone()
    }

    fn new_name(&mut self) -> String {
        self.made += 1;
        let folders = ["", "@lib/", "@web/", "@notes/"];
        let folder = folders[self.dice.next_below(folders.len())];
        match self.dice.next_below(3) {
            0 => format!("{folder}new{}/a/b.py", self.made),
            1 => format!("{folder}d{}/f{}.py", self.made % 5, self.made),
            _ => format!("{folder}f{}.py", self.made),
        }
    }

    /// Makes a change, and returns the paths that it affects.
    fn change(&mut self) -> Vec<String> {
        let path = self.some_file();
        match self.dice.next_below(8) {
            0 | 1 => {
                let name = self.new_name();
                self.write(&name);
                vec![name]
            }
            2 if 20 < self.files.len() => {
                fs::remove_file(self.on_disk(&path)).unwrap();
                self.files.remove(&path);
                vec![path]
            }
            3 => {
                let name = self.new_name();
                fs::create_dir_all(self.on_disk(&name).parent().unwrap()).unwrap();
                fs::rename(self.on_disk(&path), self.on_disk(&name)).unwrap();
                let text = self.files.remove(&path).unwrap();
                self.files.insert(name.clone(), text);
                vec![path, name]
            }
            4 => {
                let checkout =
                    [self.sandbox.root(), self.sandbox.outside("lib"), self.sandbox.outside("web")];
                commit(self.sandbox, &checkout[self.dice.next_below(3)]);
                vec![path]
            }
            _ => {
                self.write(&path);
                vec![path]
            }
        }
    }

    /// Writes a text, all of which have the same size.
    fn write(&mut self, path: &str) {
        let text = format!("def f_{:08}():\n    return 1\n", self.dice.next_below(100_000_000));
        let file = self.on_disk(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, &text).unwrap();
        self.files.insert(path.to_owned(), text);
    }

    /// Makes this many changes, and queries the changed paths each time.
    #[track_caller]
    fn write_and_ask(&mut self, times: usize, ask: &mut dyn FnMut(&str) -> Option<String>) {
        for round in 0..times {
            for path in self.change() {
                assert_eq!(ask(&path).as_ref(), self.files.get(&path), "{path} in round {round}");
            }
        }
    }
}

fn commit(sandbox: &Sandbox, folder: &Path) {
    sandbox.git_in(folder, &["add", "-A"]);
    sandbox.git_in(folder, &["commit", "-q", "--allow-empty", "-m", "again"]);
}

#[test]
fn every_answer_reflects_all_earlier_writes_in_linked_folders() {
    let sandbox = Sandbox::repo();
    let mut writer = LinkedWriter::new(&sandbox);
    let daemon = TestDaemon::start(&sandbox);
    let mut connection = daemon.connect();
    writer.write_and_ask(rounds(300, 10_000), &mut |path| connection.text(path));
    daemon.assert_audit_is_clean();
}

#[test]
fn without_a_daemon_every_answer_reflects_all_earlier_writes_in_linked_folders() {
    let sandbox = Sandbox::repo();
    let mut writer = LinkedWriter::new(&sandbox);
    writer.write_and_ask(rounds(20, 10_000), &mut |path| {
        let ran = sandbox.slop(&["view", path, "--mode", "full", "--json"]);
        assert!(ran.code == 0 || ran.err.contains(path), "{ran:?}");
        (ran.code == 0).then(|| text(&data(&ran.out)[0]["text"]))
    });
}

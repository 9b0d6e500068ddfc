//! What the tests of this room put into a store, and a folder to have it in.

use std::path::PathBuf;

use rusqlite::Connection;

use super::Batch;
use super::Body;
use super::Derived;
use super::FileRow;
use super::FileState;
use super::Store;
use crate::model::Artifact;
use crate::model::ContentHash;
use crate::model::Dialect;
use crate::model::Facts;
use crate::model::Health;
use crate::model::Outline;
use crate::model::Producer;
use crate::model::RelPath;
use crate::model::Skeleton;
use crate::model::Span;
use crate::model::Stamp;
use crate::model::Symbol;
use crate::model::SymbolKind;

/// A folder that is deleted when it is dropped.
pub(super) struct Sandbox(tempfile::TempDir);

impl Sandbox {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(super) fn file(&self) -> PathBuf {
        self.path("index.db")
    }

    /// Opens the store, in which nothing may be wrong.
    #[track_caller]
    pub(super) fn open(&self) -> Store {
        let opened = Store::open(&self.file()).unwrap();
        assert_eq!(opened.recovery, None);
        opened.store
    }

    /// Opens the database past the store, to do harm to it.
    pub(super) fn raw(&self) -> Connection {
        Connection::open(self.file()).unwrap()
    }

    pub(super) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub(super) fn path(text: &str) -> RelPath {
    RelPath::new(text.as_bytes()).unwrap()
}

pub(super) fn producer(artifact: Artifact) -> Producer {
    Producer { artifact, language: "python", version: format!("{}/1", artifact.name()) }
}

/// The makers of what [`derived`] holds.
pub(super) fn producers() -> [Producer; 3] {
    [Artifact::Outline, Artifact::Skeleton, Artifact::Summary].map(producer)
}

pub(super) fn hash(text: &str) -> ContentHash {
    ContentHash::of(text.as_bytes())
}

pub(super) fn facts(text: &str) -> Facts {
    Facts {
        size: text.len() as u64,
        encoding: Some("UTF-8".to_owned()),
        lines: 3,
        dialect: Dialect::Cpp,
        claims: None,
    }
}

/// An outline of one function of that name.
pub(super) fn outline(name: &str) -> Outline {
    Outline {
        health: Health::perfect(10),
        doc: None,
        imports: vec!["os".to_owned()],
        symbols: vec![Symbol {
            kind: SymbolKind::Function,
            name: name.to_owned(),
            qualified_name: name.to_owned(),
            span: Span { start_byte: 0, end_byte: 10, start_line: 1, end_line: 3 },
            signature: format!("def {name}()"),
            doc: None,
            recovered: false,
            children: Vec::new(),
        }],
    }
}

/// A content with an artifact of each kind.
pub(super) fn derived(text: &str) -> Derived {
    let bodies = [
        Body::Outline(outline(text)),
        Body::Skeleton(skeleton(format!("def {text}(): ..."))),
        Body::Summary(format!("Defines {text}.")),
    ];
    Derived {
        hash: hash(text),
        facts: facts(text),
        artifacts: bodies.into_iter().map(|body| (producer(body.artifact()), body)).collect(),
    }
}

pub(super) fn row(name: &str, text: &str) -> FileRow {
    FileRow {
        path: path(name),
        stamp: Some(Stamp { dev: 1, ino: u64::MAX, size: text.len() as u64, mtime_ns: -5, ctime_ns: 7 }),
        read_at_ns: 9,
        state: FileState::Content { hash: hash(text), language: "python".to_owned(), facts: facts(text) },
    }
}

/// A batch that puts each text into its file, with all that is derived from it.
pub(super) fn batch(files: &[(&str, &str)], at_s: i64) -> Batch {
    Batch {
        contents: files.iter().map(|(_, text)| derived(text)).collect(),
        files: files.iter().map(|(name, text)| row(name, text)).collect(),
        removed: Vec::new(),
        at_s,
    }
}

/// A batch that takes files away.
pub(super) fn removal(names: &[&str], at_s: i64) -> Batch {
    Batch {
        contents: Vec::new(),
        files: Vec::new(),
        removed: names.iter().map(|name| path(name)).collect(),
        at_s,
    }
}

/// A skeleton of that text.
pub(super) fn skeleton(text: String) -> Skeleton {
    Skeleton { health: Health::perfect(9), text, is_checked: true }
}

//! Test data for the store, and a temporary folder for it.

use std::ops::Deref;

use super::file::{FileRow, StoredFileState};
use super::open::Store;
use super::write::{ArtifactBody, ContentArtifacts, WriteBatch};
use crate::model::{
    ArtifactKind, ContentFacts, ContentHash, FileStamp, HeaderDialect, Outline, ParseHealth, Producer,
    RelPath, Skeleton, Span, Symbol, SymbolKind,
};
use crate::store::testing::{DatabaseFolder, noise};

/// A folder with a database, deleted when it is dropped.
pub(super) struct TempStore(DatabaseFolder);

impl TempStore {
    pub(super) fn new() -> Self {
        Self(DatabaseFolder::new("index.db"))
    }

    /// Opens the store, which must not be damaged.
    #[track_caller]
    pub(super) fn open(&self) -> Store {
        let opened = Store::open(&self.file()).unwrap();
        assert_eq!(opened.recovery, None);
        opened.store
    }
}

impl Deref for TempStore {
    type Target = DatabaseFolder;

    fn deref(&self) -> &DatabaseFolder {
        &self.0
    }
}

pub(super) fn path(text: &str) -> RelPath {
    RelPath::new(text.as_bytes()).unwrap()
}

pub(super) fn producer(artifact: ArtifactKind) -> Producer {
    Producer { artifact, language: "python", version: format!("{}/1", artifact.name()) }
}

/// The producers of the artifacts in [`derived`].
pub(super) fn producers() -> [Producer; 3] {
    [ArtifactKind::Outline, ArtifactKind::Skeleton, ArtifactKind::Summary].map(producer)
}

pub(super) fn hash(text: &str) -> ContentHash {
    ContentHash::digest(text.as_bytes())
}

pub(super) fn facts(text: &str) -> ContentFacts {
    ContentFacts {
        size: text.len() as u64,
        encoding: Some("UTF-8".into()),
        lines: 3,
        dialect: HeaderDialect::Cpp,
        claimed_type: None,
    }
}

/// An outline of one function of that name.
pub(super) fn outline(name: &str) -> Outline {
    Outline {
        health: ParseHealth::perfect(10),
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
pub(super) fn derived(text: &str) -> ContentArtifacts {
    let bodies = [
        ArtifactBody::Outline(outline(text)),
        ArtifactBody::Skeleton(skeleton(format!("def {text}(): ..."))),
        ArtifactBody::Summary(format!("Defines {text}.")),
    ];
    ContentArtifacts {
        hash: hash(text),
        facts: facts(text),
        artifacts: bodies.into_iter().map(|body| (producer(body.artifact()), body)).collect(),
    }
}

pub(super) fn row(name: &str, text: &str) -> FileRow {
    FileRow {
        path: path(name),
        stamp: Some(FileStamp { dev: 1, ino: u64::MAX, size: text.len() as u64, mtime_ns: -5, ctime_ns: 7 }),
        read_at_ns: 9,
        state: StoredFileState::Content {
            hash: hash(text),
            language: "python".to_owned(),
            facts: facts(text),
        },
    }
}

/// A batch that stores each text as a file, with all its artifacts.
pub(super) fn batch(files: &[(&str, &str)], at_s: i64) -> WriteBatch {
    WriteBatch {
        contents: files.iter().map(|(_, text)| derived(text)).collect(),
        files: files.iter().map(|(name, text)| row(name, text)).collect(),
        removed: Vec::new(),
        at_s,
    }
}

/// A batch that removes files.
pub(super) fn removal(names: &[&str], at_s: i64) -> WriteBatch {
    WriteBatch {
        contents: Vec::new(),
        files: Vec::new(),
        removed: names.iter().map(|name| path(name)).collect(),
        at_s,
    }
}

/// A text that compression shrinks by at most an eighth.
pub(super) fn dense_text(bytes: usize) -> String {
    noise(bytes).into_iter().map(|byte| char::from(byte & 0x7f)).collect()
}

pub(super) fn skeleton(text: String) -> Skeleton {
    Skeleton { health: ParseHealth::perfect(9), text, docs: Vec::new(), is_checked: true }
}

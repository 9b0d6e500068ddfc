//! What was derived from a content, wherever it is: in memory, in the store, or still in the file.

use super::derive::derive;
use super::derive::identify;
use super::derive::producer;
use super::project::Project;
use super::scan::KnownFile;
use super::scan::KnownState;
use crate::discover::Neighbors;
use crate::model::Artifact;
use crate::model::ContentHash;
use crate::model::Facts;
use crate::model::FileType;
use crate::model::LeftOut;
use crate::model::Outline;
use crate::model::Producer;
use crate::model::RelPath;
use crate::model::Skeleton;
use crate::store;
use crate::store::Batch;
use crate::store::Body;
use crate::store::Derived;
use crate::store::Store;
use crate::sys::ReadError;

/// A content, and where it can be read should it have to be.
#[derive(Clone)]
pub(super) struct Subject<'a> {
    pub(super) path: &'a RelPath,
    pub(super) hash: ContentHash,
    pub(super) file_type: &'static FileType,
    pub(super) facts: &'a Facts,
}

impl<'a> Subject<'a> {
    /// Returns the subject that a file is, if it is text.
    pub(super) fn of(file: &'a KnownFile) -> Option<Self> {
        match &file.state {
            KnownState::Content { hash, file_type, facts } => {
                Some(Self { path: &file.path, hash: *hash, file_type, facts })
            }
            KnownState::LeftOut(_) => None,
        }
    }
}

impl Project<'_> {
    /// Returns the outline; `None` where the type has none, or the file is not what it was.
    pub(super) fn outline(&mut self, subject: &Subject<'_>) -> Option<Outline> {
        let take = |body: &Body| match body {
            Body::Outline(outline) => Some(outline.clone()),
            Body::Skeleton(_) | Body::Summary(_) | Body::References(_) => None,
        };
        self.artifact(subject, Artifact::Outline, Store::outline, take)
    }

    /// Returns the skeleton, which need not be checked; `None` where the type has none, or the file is not what it was.
    pub(super) fn plain_skeleton(&mut self, subject: &Subject<'_>) -> Option<Skeleton> {
        self.artifact(subject, Artifact::Skeleton, Store::skeleton, skeleton_in)
    }

    /// Returns the skeleton where it has been made before.
    pub(super) fn skeleton_at_hand(&mut self, subject: &Subject<'_>) -> Option<Skeleton> {
        let by = producer(Artifact::Skeleton, subject.file_type)?;
        self.at_hand(subject, &by, &Store::skeleton, &skeleton_in)
    }

    /// Returns the words about a file; `None` where the file is not what it was.
    pub(super) fn summary(&mut self, subject: &Subject<'_>) -> Option<String> {
        let take = |body: &Body| match body {
            Body::Summary(words) => Some(words.clone()),
            Body::Outline(_) | Body::Skeleton(_) | Body::References(_) => None,
        };
        self.artifact(subject, Artifact::Summary, Store::summary, take)
    }

    fn artifact<T>(
        &mut self,
        subject: &Subject<'_>,
        artifact: Artifact,
        ask: impl Fn(&Store, &Producer, &ContentHash) -> Result<Option<T>, store::Error>,
        take: impl Fn(&Body) -> Option<T>,
    ) -> Option<T> {
        let by = producer(artifact, subject.file_type)?;
        if let Some(found) = self.at_hand(subject, &by, &ask, &take) {
            return Some(found);
        }
        // It is not there, or its checksum does not hold: then it is made again.
        let derived = self.derive_again(subject)?;
        let found = in_memory(&derived, take);
        let batch = Batch {
            contents: vec![derived],
            files: Vec::new(),
            removed: Vec::new(),
            at_s: self.world.clock.now_s(),
        };
        self.save(batch);
        found
    }

    fn at_hand<T>(
        &mut self,
        subject: &Subject<'_>,
        by: &Producer,
        ask: &impl Fn(&Store, &Producer, &ContentHash) -> Result<Option<T>, store::Error>,
        take: &impl Fn(&Body) -> Option<T>,
    ) -> Option<T> {
        let key = (subject.hash, subject.file_type.id);
        let unsaved = self.unsaved.get(&key).and_then(|derived| in_memory(derived, take));
        unsaved.or_else(|| self.stored(|store| ask(store, by, &subject.hash)).flatten())
    }

    fn derive_again(&self, subject: &Subject<'_>) -> Option<Derived> {
        let reading = self.world.files.read(subject.path, self.options.structure_max_bytes).ok()?;
        let mut content = identify(subject.path, &reading.bytes, &Neighbors::of(std::iter::empty())).ok()?;
        // The type of a header depends on its neighbors, which were looked at when the subject was found.
        content.file_type = subject.file_type;
        (content.hash == subject.hash).then(|| derive(&content, self.options.parse_timeout, self.world.clock))
    }

    /// Reads a file's text, with the hash of the bytes that it was read from.
    pub(super) fn text(&self, path: &RelPath) -> Result<(ContentHash, String), LeftOut> {
        self.text_up_to(path, self.options.structure_max_bytes)
    }

    /// Reads the text of a file of at most `max_bytes`.
    pub(super) fn text_up_to(
        &self,
        path: &RelPath,
        max_bytes: u64,
    ) -> Result<(ContentHash, String), LeftOut> {
        let reading = self.world.files.read(path, max_bytes);
        let reading = reading.map_err(|error| match error {
            ReadError::TooLarge { .. } => LeftOut::TooLarge,
            ReadError::Changing => LeftOut::Unstable,
            ReadError::NotRegular(_) => LeftOut::Special,
            ReadError::Io(error) if error.kind() == std::io::ErrorKind::NotFound => LeftOut::Vanished,
            ReadError::Io(_) => LeftOut::Unreadable,
        })?;
        let hash = ContentHash::of(&reading.bytes);
        let text = crate::discover::read_as_text(&reading.bytes)?;
        Ok((hash, text.text.into_owned()))
    }
}

fn skeleton_in(body: &Body) -> Option<Skeleton> {
    match body {
        Body::Skeleton(skeleton) => Some(skeleton.clone()),
        Body::Outline(_) | Body::Summary(_) | Body::References(_) => None,
    }
}

fn in_memory<T>(derived: &Derived, take: impl Fn(&Body) -> Option<T>) -> Option<T> {
    derived.artifacts.iter().find_map(|(_, body)| take(body))
}

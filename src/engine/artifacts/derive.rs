//! Derives facts, outline, skeleton, summary and terms from bytes.

use std::sync::OnceLock;
use std::time::Duration;

use crate::discover::{DecodedText, HeaderNeighbors};
use crate::engine::timings::{AnswerStep, StepClock};
use crate::engine::workspace::RawText;
use crate::model::{
    ArtifactKind, ContentFacts, ContentHash, FileRole, FileType, Producer, RelPath, SkipReason,
};
use crate::search::{TERMS_VERSION, VECTOR_VERSION, VectorBuilder};
use crate::store::{ArtifactBody, ContentArtifacts};
use crate::summarize::secrets;
use crate::{discover, summarize, syntax};

/// A syntax tree takes some twenty times the bytes of its text. Texts larger than this are processed one at a time, so
/// that memory depends on the largest file and not on the number of cores.
pub(in crate::engine) const LARGE_BYTES: usize = 256 << 10;

/// The number of bytes of prose and data whose terms are indexed, because programs write megabytes of such files.
const MAX_BYTES_BESIDES_CODE: usize = 128 << 10;

/// A text that was read, before anything is derived from it.
pub(in crate::engine) struct IdentifiedText<'a> {
    pub(in crate::engine) hash: ContentHash,
    pub(in crate::engine) text: DecodedText<'a>,
    pub(in crate::engine) facts: ContentFacts,
    pub(in crate::engine) file_type: &'static FileType,
}

/// Bytes that were read, of which perhaps only the identity is needed.
pub(in crate::engine) struct IdentifiedBytes<'a> {
    pub(in crate::engine) hash: ContentHash,
    text: RawText<'a>,
    pub(in crate::engine) facts: ContentFacts,
    pub(in crate::engine) file_type: &'static FileType,
}

impl<'a> IdentifiedBytes<'a> {
    /// Identifies bytes: their hash, and their file type.
    pub(in crate::engine) fn new(
        path: &RelPath,
        bytes: &'a [u8],
        neighbors: &HeaderNeighbors,
    ) -> Result<Self, SkipReason> {
        let (text, facts) = RawText::decode(path, bytes)?;
        let file_type = discover::detect_file_type(path, &facts, neighbors);
        Ok(Self { hash: ContentHash::digest(bytes), text, facts, file_type })
    }

    pub(in crate::engine) fn into_text(self) -> IdentifiedText<'a> {
        let Self { hash, text, facts, file_type } = self;
        IdentifiedText { hash, text: text.without_secrets(), facts, file_type }
    }
}

/// Identifies bytes: their hash, their text, and their file type.
pub(in crate::engine) fn identify<'a>(
    path: &RelPath,
    bytes: &'a [u8],
    neighbors: &HeaderNeighbors,
) -> Result<IdentifiedText<'a>, SkipReason> {
    IdentifiedBytes::new(path, bytes, neighbors).map(IdentifiedBytes::into_text)
}

/// Returns the producers of what each scan derives from a file of this type.
pub(in crate::engine) fn producers(file_type: &'static FileType) -> Vec<Producer> {
    let derived = [ArtifactKind::Outline, ArtifactKind::Skeleton, ArtifactKind::Summary, ArtifactKind::Terms];
    derived.into_iter().filter_map(|artifact| producer(artifact, file_type)).collect()
}

/// Returns the producers of all artifacts of files of this type: those derived by each scan, and those derived on
/// demand.
pub(super) fn all_producers(file_type: &'static FileType) -> Vec<Producer> {
    ArtifactKind::ALL.into_iter().filter_map(|artifact| producer(artifact, file_type)).collect()
}

/// Returns the producers of the outlines of all languages that have them.
pub(in crate::engine) fn outline_producers() -> Vec<Producer> {
    discover::all_file_types().filter_map(|file_type| producer(ArtifactKind::Outline, file_type)).collect()
}

/// A summary names symbols of the outline, so both are parts of its producer.
fn summary_producer(file_type: &'static FileType) -> Producer {
    let mut by = summarize::producer(file_type.id);
    if let Some(outline) = syntax::outline_producer(file_type.id) {
        by.version.push(' ');
        by.version.push_str(&outline.version);
    }
    by
}

fn terms_producer(file_type: &'static FileType) -> Producer {
    let cells = if file_type.is_notebook() { " cells" } else { "" };
    let version = format!("terms/{TERMS_VERSION} {VECTOR_VERSION}{cells}");
    Producer { artifact: ArtifactKind::Terms, language: file_type.id, version }
}

/// Must be incremented when the hashes for the same outline and content change.
const SYMBOL_HASHES_VERSION: u32 = 1;

/// The hashes are those of the outline's symbols, in order.
fn symbol_hashes_producer(file_type: &'static FileType) -> Option<Producer> {
    let outline = syntax::outline_producer(file_type.id)?;
    let version = format!("symbols/{SYMBOL_HASHES_VERSION} {}", outline.version);
    Some(Producer { artifact: ArtifactKind::SymbolHashes, language: file_type.id, version })
}

pub(in crate::engine) fn producer(artifact: ArtifactKind, file_type: &'static FileType) -> Option<Producer> {
    let mut by = producer_of_text(artifact, file_type)?;
    // Everything is derived from texts without secrets.
    by.version.push_str(" secrets/");
    by.version.push_str(secrets::version());
    Some(by)
}

/// Returns the producer of an artifact that is derived from a text.
fn producer_of_text(artifact: ArtifactKind, file_type: &'static FileType) -> Option<Producer> {
    match artifact {
        ArtifactKind::Outline => syntax::outline_producer(file_type.id),
        ArtifactKind::Skeleton => syntax::skeleton_producer(file_type.id),
        ArtifactKind::Summary => Some(summary_producer(file_type)),
        ArtifactKind::References => {
            (file_type.role == FileRole::Code).then(|| syntax::references_producer(file_type.id))
        }
        ArtifactKind::Terms => Some(terms_producer(file_type)),
        ArtifactKind::Facts => syntax::facts_producer(file_type.id),
        ArtifactKind::SymbolHashes => symbol_hashes_producer(file_type),
    }
}

/// Derives everything from a content. Parsing is abandoned once it has taken `timeout` of processor time: with wall
/// time, the result would depend on the load of the machine.
pub(in crate::engine) fn derive(
    content: &IdentifiedText<'_>,
    timeout: Duration,
    steps: &StepClock<'_>,
) -> ContentArtifacts {
    let _timer = steps.time(AnswerStep::Derive);
    let (clock, language) = (steps.clock, content.file_type.id);
    // The time of this thread: other threads parse other files concurrently.
    let began = clock.thread_time();
    let mut give_up = || timeout < clock.thread_time().saturating_sub(began);
    let parsing = steps.time(AnswerStep::Parse);
    let structure = syntax::derive(language, &content.text.text, &mut give_up);
    drop(parsing);
    let source = summarize::SummaryInput {
        file_type: content.file_type,
        text: &content.text.text,
        lines: content.facts.lines,
        outline: structure.as_ref().map(|structure| &structure.outline),
    };
    let mut bodies = vec![
        (ArtifactKind::Summary, ArtifactBody::Summary(summarize::heuristic(&source))),
        (ArtifactKind::Terms, ArtifactBody::Terms(terms_of(content))),
    ];
    if let Some(structure) = structure {
        bodies.push((ArtifactKind::Outline, ArtifactBody::Outline(structure.outline)));
        bodies.push((ArtifactKind::Skeleton, ArtifactBody::Skeleton(structure.skeleton)));
    }
    let by = |artifact| producer(artifact, content.file_type);
    let artifacts = bodies.into_iter().filter_map(|(artifact, body)| Some((by(artifact)?, body))).collect();
    ContentArtifacts { hash: content.hash, facts: content.facts.clone(), artifacts }
}

/// Returns the encoded term vector of a text.
pub(super) fn terms_of(content: &IdentifiedText<'_>) -> Vec<u8> {
    let text = content.text.text.as_bytes();
    // The output of a notebook may be a thousand times its code.
    if content.file_type.is_notebook()
        && let Some(script) = syntax::notebook_excerpt(&content.text.text, &[1..=u32::MAX])
    {
        return VectorBuilder::default().build(script.as_bytes());
    }
    VectorBuilder::default().build(&text[..indexed_bytes(text, content.file_type)])
}

/// Returns how much of a text is indexed: whole lines, unless the first one is very long.
fn indexed_bytes(text: &[u8], file_type: &FileType) -> usize {
    if file_type.role == FileRole::Code || text.len() <= MAX_BYTES_BESIDES_CODE {
        return text.len();
    }
    memchr::memrchr(b'\n', &text[..MAX_BYTES_BESIDES_CODE]).unwrap_or(MAX_BYTES_BESIDES_CODE)
}

/// Returns a text that changes whenever the producers of any file type change.
pub(super) fn producers_fingerprint() -> &'static str {
    static FINGERPRINT: OnceLock<String> = OnceLock::new();
    FINGERPRINT.get_or_init(|| {
        // Without references and facts: they are derived on demand, under their own producers, so that a new version of
        // them does not make a scan read every file.
        let all = discover::all_file_types().flat_map(producers);
        let mut lines: Vec<String> =
            all.map(|producer| format!("{} {}", producer.language, producer.version)).collect();
        // The mapping of names to types depends on the program's version.
        lines.push(env!("CARGO_PKG_VERSION").to_owned());
        // The order of file types has no effect on what is stored.
        lines.sort();
        ContentHash::digest(lines.join("\n").as_bytes()).to_string()
    })
}

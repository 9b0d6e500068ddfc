//! Bytes become what is kept of them: facts, outline, skeleton, summary.

use std::sync::OnceLock;
use std::time::Duration;

use crate::discover;
use crate::discover::Neighbors;
use crate::discover::Text;
use crate::model::Artifact;
use crate::model::ContentHash;
use crate::model::Facts;
use crate::model::FileType;
use crate::model::LeftOut;
use crate::model::Producer;
use crate::model::RelPath;
use crate::model::Role;
use crate::store::Body;
use crate::store::Derived;
use crate::summarize;
use crate::syntax;
use crate::sys::Clock;

/// A text that was read, before anything is derived from it.
pub(super) struct Content<'a> {
    pub(super) hash: ContentHash,
    pub(super) text: Text<'a>,
    pub(super) facts: Facts,
    pub(super) file_type: &'static FileType,
}

/// Identifies bytes: their hash, their text, the type that they are read as.
pub(super) fn identify<'a>(
    path: &RelPath,
    bytes: &'a [u8],
    neighbors: &Neighbors,
) -> Result<Content<'a>, LeftOut> {
    let text = discover::read_as_text(bytes)?;
    let facts = discover::facts(bytes, Some(&text), discover::is_header(path));
    let file_type = discover::file_type_of(path, &facts, neighbors);
    Ok(Content { hash: ContentHash::of(bytes), text, facts, file_type })
}

/// Returns who makes what each scan derives from a file of this type, with the code of this program.
pub(super) fn producers(file_type: &'static FileType) -> Vec<Producer> {
    let language = file_type.id;
    let structure = [syntax::outline_producer(language), syntax::skeleton_producer(language)];
    structure.into_iter().flatten().chain([summary_producer(file_type)]).collect()
}

/// Returns who makes what is kept of files of this type: what each scan derives, and what is derived when it is asked
/// for.
pub(super) fn all_producers(file_type: &'static FileType) -> Vec<Producer> {
    Artifact::ALL.into_iter().filter_map(|artifact| producer(artifact, file_type)).collect()
}

/// Returns who makes the outlines of every language that has them.
pub(super) fn outline_producers() -> Vec<Producer> {
    discover::file_types().filter_map(|file_type| syntax::outline_producer(file_type.id)).collect()
}

/// A summary names the symbols of the outline, so that it is made by both.
fn summary_producer(file_type: &'static FileType) -> Producer {
    let mut by = summarize::producer(file_type.id);
    if let Some(outline) = syntax::outline_producer(file_type.id) {
        by.version.push(' ');
        by.version.push_str(&outline.version);
    }
    by
}

/// Returns the producer of that kind of artifact, if this type of file has it.
pub(super) fn producer(artifact: Artifact, file_type: &'static FileType) -> Option<Producer> {
    match artifact {
        Artifact::Outline => syntax::outline_producer(file_type.id),
        Artifact::Skeleton => syntax::skeleton_producer(file_type.id),
        Artifact::Summary => Some(summary_producer(file_type)),
        Artifact::References => {
            (file_type.role == Role::Code).then(|| syntax::references_producer(file_type.id))
        }
    }
}

/// Derives everything from a content. A parse is given up once it has cost `timeout` of processor time: wall time
/// would make the result depend on what else the machine does.
pub(super) fn derive(content: &Content<'_>, timeout: Duration, clock: &dyn Clock) -> Derived {
    let language = content.file_type.id;
    let began = clock.thread_time();
    let mut give_up = || timeout < clock.thread_time().saturating_sub(began);
    let structure = syntax::derive(language, &content.text.text, &mut give_up);
    let source = summarize::Source {
        file_type: content.file_type,
        text: &content.text.text,
        lines: content.facts.lines,
        outline: structure.as_ref().map(|structure| &structure.outline),
    };
    let words = Body::Summary(summarize::heuristic(&source));
    let mut artifacts = vec![(summary_producer(content.file_type), words)];
    if let Some(structure) = structure {
        let outline = syntax::outline_producer(language).map(|by| (by, Body::Outline(structure.outline)));
        let skeleton = syntax::skeleton_producer(language).map(|by| (by, Body::Skeleton(structure.skeleton)));
        artifacts.extend(outline.into_iter().chain(skeleton));
    }
    Derived { hash: content.hash, facts: content.facts.clone(), artifacts }
}

/// Returns a text that changes whenever the producers of any type of file do.
pub(super) fn producers_fingerprint() -> &'static str {
    static FINGERPRINT: OnceLock<String> = OnceLock::new();
    FINGERPRINT.get_or_init(|| {
        let all = discover::file_types().flat_map(producers);
        let mut lines: Vec<String> =
            all.map(|producer| format!("{} {}", producer.language, producer.version)).collect();
        // Which name is of which type is a matter of the program's own version.
        lines.push(env!("CARGO_PKG_VERSION").to_owned());
        lines.sort();
        ContentHash::of(lines.join("\n").as_bytes()).to_string()
    })
}

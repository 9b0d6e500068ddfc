//! What of a content is sent to a model.

use crate::model::ContentHash;

use super::super::heuristic::Source;
use super::Strategy;
use super::boundary::fenced;
use super::boundary::overhead;
use super::code;
use super::config;
use super::prose;

/// What of a subject is sent to a model: data, between marks that the data cannot hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Material {
    /// The text, of no more bytes than were allowed.
    pub text: String,
    /// Whether something was left out for its length.
    pub is_cut: bool,
}

/// The data of a question before it is fenced.
pub(super) struct Data {
    pub(super) text: String,
    pub(super) is_cut: bool,
}

/// Returns what a model is to read of a content, in at most `most_bytes`, which are at least some hundred. Says nothing of
/// where the content lies.
pub fn material(
    source: &Source<'_>,
    strategy: Strategy,
    subject: &ContentHash,
    most_bytes: usize,
) -> Material {
    let about = about(source, strategy);
    let room = most_bytes.saturating_sub(overhead(&about));
    let data = match strategy {
        Strategy::Code => code::data(source, room),
        Strategy::Config => config::data(source, room),
        // What lies in folders is no source; should one be taken for it, its text is what there is.
        Strategy::Prose | Strategy::Folder | Strategy::Project => prose::data(source, room),
    };
    Material { text: fenced(subject, &about, &data.text), is_cut: data.is_cut }
}

fn about(source: &Source<'_>, strategy: Strategy) -> String {
    let kind = match strategy {
        Strategy::Code => "Source file",
        Strategy::Prose => "Document",
        Strategy::Config => "Configuration file",
        Strategy::Folder | Strategy::Project => "Folder",
    };
    format!("{kind}: {}, {} lines, {} bytes", source.file_type.name, source.lines, source.text.len())
}

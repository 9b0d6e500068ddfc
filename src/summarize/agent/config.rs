//! The material about a configuration file: its keys, with values that are not secrets.

use crate::model::FileRole;

use super::super::comments;
use super::super::config;
use super::super::heuristic::SummaryInput;
use super::super::words;
use super::material::MaterialText;
use super::prose;

/// The most bytes of the comment at the top.
const COMMENT_BYTES: usize = 600;

/// Returns the keys, below the comment at the top of the file.
pub(super) fn data(source: &SummaryInput<'_>, room: usize) -> MaterialText {
    let FileRole::Config(syntax) = source.file_type.role else { return prose::data(source, room) };
    let mut text = String::new();
    if let Some(said) = comments::leading_paragraph(source.text) {
        text.push_str(&words::clip(&words::one_line(&said), COMMENT_BYTES.min(room / 4)));
        text.push('\n');
    }
    let keys = config::keys(source, syntax, room - text.len());
    text.push_str(&keys.text);
    // The listing keeps to its budget except for its last line.
    let end = text.floor_char_boundary(room);
    let is_cut = keys.is_cut || end < text.len();
    text.truncate(end);
    MaterialText { text, is_cut }
}

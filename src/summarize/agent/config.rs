//! What of a configuration file is sent: its keys, with values that are no secrets.

use crate::model::FileRole;

use super::super::comments;
use super::super::config;
use super::super::heuristic::SummaryInput;
use super::super::words;
use super::material::MaterialText;
use super::prose;

/// What a file says of itself at its top.
const COMMENT_BYTES: usize = 600;

/// Returns the keys, and above them what the file says of itself.
pub(super) fn data(source: &SummaryInput<'_>, room: usize) -> MaterialText {
    let FileRole::Config(syntax) = source.file_type.role else { return prose::data(source, room) };
    let mut text = String::new();
    if let Some(said) = comments::leading_paragraph(source.text) {
        text.push_str(&words::clip(&words::one_line(&said), COMMENT_BYTES.min(room / 4)));
        text.push('\n');
    }
    let keys = config::keys(source, syntax, room - text.len());
    text.push_str(&keys.text);
    // The budget of the listing is kept but for its last line.
    let end = text.floor_char_boundary(room);
    let is_cut = keys.is_cut || end < text.len();
    text.truncate(end);
    MaterialText { text, is_cut }
}

//! A script without its data, which is most of a dump and tells a grammar nothing.

use super::cuts::data_cuts;
use super::statements::split_statements;
use crate::syntax::reduced::PreprocessedText;

/// A text that is shorter than this is parsed as it is.
const MIN_BYTES: usize = 16 << 10;

/// Returns a script without its data; `None` where that saves little.
pub(super) fn preprocess_script(text: &str) -> Option<PreprocessedText> {
    if text.len() < MIN_BYTES {
        return None;
    }
    let statements = split_statements(text);
    let (mut reduced, mut at, mut seen) = (PreprocessedText::default(), 0, 0);
    while seen < statements.len() {
        let (cuts, count) = data_cuts(text, "\n", &statements[seen..]);
        for (range, mark) in cuts {
            // What stands within another cut is gone with it.
            if at <= range.start && mark.len() < range.len() {
                reduced.copy(text, at..range.start);
                reduced.substitute(&mark, range.clone());
                at = range.end;
            }
        }
        seen += count;
    }
    reduced.copy(text, at..text.len());
    (reduced.text.len() < text.len() / 2).then_some(reduced)
}

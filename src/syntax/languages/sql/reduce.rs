//! A script without its data, which is most of a dump and tells a grammar nothing.

use super::cuts::data;
use super::statements::statements;
use crate::syntax::reduced::Reduced;

/// A text that is shorter than this is parsed as it is.
const LEAST: usize = 16 << 10;

/// Returns a script without its data; `None` where that saves little.
pub(super) fn reduce(text: &str) -> Option<Reduced> {
    if text.len() < LEAST {
        return None;
    }
    let statements = statements(text);
    let (mut reduced, mut at, mut seen) = (Reduced::default(), 0, 0);
    while seen < statements.len() {
        let (cuts, count) = data(text, "\n", &statements[seen..]);
        for (range, mark) in cuts {
            // What stands within another cut is gone with it.
            if at <= range.start && mark.len() < range.len() {
                reduced.copy(text, at..range.start);
                reduced.stand_in(&mark, range.clone());
                at = range.end;
            }
        }
        seen += count;
    }
    reduced.copy(text, at..text.len());
    (reduced.text.len() < text.len() / 2).then_some(reduced)
}

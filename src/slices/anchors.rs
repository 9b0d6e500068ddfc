//! The anchors of a slice: its lines and their surroundings, as stored and as one sequence to align with a text.

use std::collections::HashMap;

use super::lines::{
    Error, LineId, LineTable, find_occurrences, is_solid, short_hash, split_lines, to_index, to_line_number,
};
use crate::model::{ContentHash, Slice, SliceAnchors};

/// The number of lines that are recorded before a slice, and after it.
const CONTEXT_LINES: usize = 8;
/// The number of lines that are unique in the file and recorded before a slice, and after it.
const UNIQUE_LINES: usize = 3;
/// The longest line that is recorded; a longer one is usually data, and not a landmark.
const MAX_LINE_BYTES: usize = 1 << 10;

/// Marks the lines `start_line` to `end_line` of a text, from 1 and inclusive.
pub fn create_slice(text: &str, start_line: u32, end_line: u32) -> Result<Slice, Error> {
    let lines = split_lines(text);
    if start_line < 1 || end_line < start_line || lines.len() < to_index(end_line) {
        return Err(Error::NoSuchLines { start_line, end_line, lines: to_line_number(lines.len()) });
    }
    let (first, end) = (to_index(start_line) - 1, to_index(end_line));
    let marked = &lines[first..end];
    let counts = count_lines(&lines);
    // A bracket on a line of its own may be unique now, but the next edit adds another.
    let is_unique = |line: &&&str| counts[**line] == 1 && is_solid(line) && is_short(line);
    let mut unique_before = to_owned_lines(lines[..first].iter().rev().filter(is_unique).take(UNIQUE_LINES));
    unique_before.reverse();
    // The context ends at a line that is too long, so that it is always adjacent to the slice.
    let mut before =
        to_owned_lines(lines[..first].iter().rev().take_while(|line| is_short(line)).take(CONTEXT_LINES));
    before.reverse();
    let after = lines[end..].iter().take_while(|line| is_short(line)).take(CONTEXT_LINES);
    let anchors = SliceAnchors {
        content_hash: Some(ContentHash::digest(marked.join("\n").as_bytes())),
        before,
        after: to_owned_lines(after),
        line_hashes: marked.iter().map(|line| format!("{:08x}", short_hash(line))).collect(),
        unique_before,
        unique_after: to_owned_lines(lines[end..].iter().filter(is_unique).take(UNIQUE_LINES)),
        copies: count_copies(&lines, marked),
    };
    Ok(Slice { start_line, end_line, tag: String::new(), comment: String::new(), anchors })
}

fn is_short(line: &str) -> bool {
    line.len() <= MAX_LINE_BYTES
}

fn count_lines<'t>(lines: &[&'t str]) -> HashMap<&'t str, u32> {
    let mut counts = HashMap::with_capacity(lines.len());
    for line in lines {
        *counts.entry(*line).or_insert(0) += 1;
    }
    counts
}

fn to_owned_lines<'l>(lines: impl Iterator<Item = &'l &'l str>) -> Vec<String> {
    lines.map(|line| (*line).to_owned()).collect()
}

/// Returns how often the marked lines occur in the file, including overlapping copies.
fn count_copies(lines: &[&str], marked: &[&str]) -> u32 {
    to_line_number(find_occurrences(lines, marked).len())
}

/// The weight of a line that is unique in the text; scores are in thousandths, because integers are the same on every
/// machine.
pub(super) const UNIT: i64 = 1000;
/// How many times less a line of only brackets or blanks weighs.
const HOLLOW_DIVISOR: i64 = 8;

#[derive(Debug, Clone, Copy)]
pub(super) struct AnchorLine {
    /// The equal line in the text; `None` if there is none.
    pub(super) id: Option<LineId>,
    /// Its weight: lower if more lines are equal to it.
    pub(super) weight: i64,
    /// Whether it contains more than brackets and blanks; unknown for a line that is gone.
    pub(super) is_solid: bool,
}

/// The recorded lines before a slice, inside it, and after it, in file order.
pub(super) struct AnchorSequence {
    pub(super) before: Vec<AnchorLine>,
    /// One for each line of the slice; empty if its lines are not recorded.
    pub(super) inside: Vec<AnchorLine>,
    /// Where all of the slice's lines are adjacent according to their short hashes; from 0, ascending.
    pub(super) alike: Vec<usize>,
    pub(super) after: Vec<AnchorLine>,
}

impl AnchorSequence {
    pub(super) fn from_slice(slice: &Slice, length: usize, lines: &LineTable<'_>) -> Self {
        let anchors = &slice.anchors;
        let named = |line: &String| anchor_line(lines.id_of(line), lines);
        // A unique line nearby is in both lists; counted twice, it would outweigh all others.
        let is_apart = |unique: &&String, context: &[String]| !context.contains(unique);
        let far = anchors.unique_before.iter().filter(|line| is_apart(line, &anchors.before));
        let before = far.chain(&anchors.before).map(named).collect();
        let far = anchors.unique_after.iter().filter(|line| is_apart(line, &anchors.after));
        let after = anchors.after.iter().chain(far).map(named).collect();
        let (inside, alike) = match_inside(anchors, length, lines);
        Self { before, inside, alike, after }
    }

    /// Returns whether nothing is recorded.
    pub(super) fn is_empty(&self) -> bool {
        self.before.is_empty() && self.inside.is_empty() && self.after.is_empty()
    }

    /// Returns the total weight of the slice's own lines.
    pub(super) fn inside_weight(&self) -> i64 {
        self.inside.iter().map(|item| item.weight).sum()
    }

    /// Returns all anchor lines, and the position of the slice's first line among them.
    pub(super) fn concatenated(&self) -> (Vec<AnchorLine>, usize) {
        let all = self.before.iter().chain(&self.inside).chain(&self.after).copied().collect();
        (all, self.before.len())
    }
}

fn match_inside(
    anchors: &SliceAnchors,
    length: usize,
    lines: &LineTable<'_>,
) -> (Vec<AnchorLine>, Vec<usize>) {
    // Otherwise somebody has edited one and not the other.
    if anchors.line_hashes.len() != length {
        return (Vec::new(), Vec::new());
    }
    let hashes = lines.short_hashes();
    // Of two lines with the same hash, either will do: a collision only proposes a wrong place, and the SHA-256 of the
    // whole slice decides.
    let by_hash: HashMap<u32, LineId> = hashes.iter().copied().zip(0..).collect();
    let wanted: Vec<Option<u32>> =
        anchors.line_hashes.iter().map(|hash| u32::from_str_radix(hash, 16).ok()).collect();
    let id = |hash: &Option<u32>| by_hash.get(hash.as_ref()?).copied();
    let inside = wanted.iter().map(|hash| anchor_line(id(hash), lines)).collect();
    let of_lines: Vec<Option<u32>> = lines.ids.iter().map(|id| Some(hashes[to_index(*id)])).collect();
    (inside, find_occurrences(&of_lines, &wanted))
}

fn anchor_line(id: Option<LineId>, lines: &LineTable<'_>) -> AnchorLine {
    // A line that is gone weighs as much as a unique one, so that a slice of which most is gone is not considered
    // unchanged. Nothing is linked to it, so `is_solid` does not matter.
    let Some(id) = id else { return AnchorLine { id, weight: UNIT, is_solid: true } };
    let places = lines.places(id);
    let is_solid = is_solid(lines.texts[to_index(places[0])]);
    // By the square root: a rare line weighs more than a common one, but not so much that several common lines in the
    // right order count for nothing.
    let count = i64::try_from(places.len()).unwrap_or(i64::MAX);
    let weight = (UNIT * UNIT / count).isqrt() / if is_solid { 1 } else { HOLLOW_DIVISOR };
    // Never 0: even the most common line must improve a chain.
    AnchorLine { id: Some(id), weight: weight.max(1), is_solid }
}

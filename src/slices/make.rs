//! What is remembered of the lines that are marked.

use std::collections::HashMap;

use super::error::Error;
use super::lines::is_solid;
use super::lines::short_hash;
use super::lines::split_lines;
use super::lines::to_index;
use super::lines::to_line_number;
use crate::model::ContentHash;
use crate::model::Slice;
use crate::model::SliceAnchors;

/// How many lines are remembered before a slice, and after it.
const CONTEXT_LINES: usize = 8;
/// How many lines that stand once in the file are remembered before a slice, and after it.
const UNIQUE_LINES: usize = 3;
/// The longest line that is remembered: in a longer one, as data has, nobody looks for a landmark.
const MAX_LINE_BYTES: usize = 1 << 10;

/// Marks the lines `start_line` to `end_line` of a text, from 1 and inclusive.
pub fn create_slice(text: &str, start_line: u32, end_line: u32) -> Result<Slice, Error> {
    let lines = split_lines(text);
    if start_line < 1 || end_line < start_line || lines.len() < to_index(end_line) {
        return Err(Error::NoSuchLines { start_line, end_line, lines: to_line_number(lines.len()) });
    }
    let (first, behind) = (to_index(start_line) - 1, to_index(end_line));
    let marked = &lines[first..behind];
    let counts = count_lines(&lines);
    let is_unique = |line: &&&str| counts[**line] == 1 && is_solid(line) && is_short(line);
    let mut unique_before = to_owned_lines(lines[..first].iter().rev().filter(is_unique).take(UNIQUE_LINES));
    unique_before.reverse();
    // A context ends at a line that is too long to be remembered, so that it is always what stands next to the slice.
    let mut before =
        to_owned_lines(lines[..first].iter().rev().take_while(|line| is_short(line)).take(CONTEXT_LINES));
    before.reverse();
    let after = lines[behind..].iter().take_while(|line| is_short(line)).take(CONTEXT_LINES);
    let anchors = SliceAnchors {
        content_hash: Some(ContentHash::digest(marked.join("\n").as_bytes())),
        before,
        after: to_owned_lines(after),
        line_hashes: marked.iter().map(|line| format!("{:08x}", short_hash(line))).collect(),
        unique_before,
        unique_after: to_owned_lines(lines[behind..].iter().filter(is_unique).take(UNIQUE_LINES)),
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

/// Returns how often the marked lines stand in the file, copies that overlap among them.
fn count_copies(lines: &[&str], marked: &[&str]) -> u32 {
    to_line_number(super::occurrences::find_occurrences(lines, marked).len())
}

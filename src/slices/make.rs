//! What is remembered of the lines that are marked.

use std::collections::HashMap;

use super::error::Error;
use super::lines::index;
use super::lines::is_solid;
use super::lines::number;
use super::lines::short_hash;
use super::lines::split;
use crate::model::Anchors;
use crate::model::ContentHash;
use crate::model::Slice;

/// How many lines are remembered before a slice, and after it.
const CONTEXT_LINES: usize = 8;
/// How many lines that stand once in the file are remembered before a slice, and after it.
const UNIQUE_LINES: usize = 3;
/// The longest line that is remembered: in a longer one, as data has, nobody looks for a landmark.
const MAX_LINE_BYTES: usize = 1 << 10;

/// Marks the lines `start_line` to `end_line` of a text, from 1 and inclusive.
pub fn make(text: &str, start_line: u32, end_line: u32) -> Result<Slice, Error> {
    let lines = split(text);
    if start_line < 1 || end_line < start_line || lines.len() < index(end_line) {
        return Err(Error::NoSuchLines { start_line, end_line, lines: number(lines.len()) });
    }
    let (first, behind) = (index(start_line) - 1, index(end_line));
    let marked = &lines[first..behind];
    let counts = counts(&lines);
    let is_unique = |line: &&&str| counts[**line] == 1 && is_solid(line) && is_short(line);
    let mut unique_before = owned(lines[..first].iter().rev().filter(is_unique).take(UNIQUE_LINES));
    unique_before.reverse();
    // A context ends at a line that is too long to be remembered, so that it is always what stands next to the slice.
    let mut before = owned(lines[..first].iter().rev().take_while(|line| is_short(line)).take(CONTEXT_LINES));
    before.reverse();
    let after = lines[behind..].iter().take_while(|line| is_short(line)).take(CONTEXT_LINES);
    let anchors = Anchors {
        content_hash: Some(ContentHash::of(marked.join("\n").as_bytes())),
        before,
        after: owned(after),
        line_hashes: marked.iter().map(|line| format!("{:08x}", short_hash(line))).collect(),
        unique_before,
        unique_after: owned(lines[behind..].iter().filter(is_unique).take(UNIQUE_LINES)),
        copies: copies(&lines, marked),
    };
    Ok(Slice { start_line, end_line, tag: String::new(), comment: String::new(), anchors })
}

fn is_short(line: &str) -> bool {
    line.len() <= MAX_LINE_BYTES
}

fn counts<'t>(lines: &[&'t str]) -> HashMap<&'t str, u32> {
    let mut counts = HashMap::with_capacity(lines.len());
    for line in lines {
        *counts.entry(*line).or_insert(0) += 1;
    }
    counts
}

fn owned<'l>(lines: impl Iterator<Item = &'l &'l str>) -> Vec<String> {
    lines.map(|line| (*line).to_owned()).collect()
}

/// Returns how often the marked lines stand in the file, copies that overlap among them.
fn copies(lines: &[&str], marked: &[&str]) -> u32 {
    number(super::occurrences::of(lines, marked).len())
}

//! Cuts long functions, and long runs of data, around the lines that a task points to.
//!
//! A function is shown whole, and one that is too long for a document only by its signature. If a trace, a diagnostic
//! or a link names a line in it, that line and its surroundings are more useful.

use super::chunks::{Chunk, ChunkKind, FileChunks};
use super::query::LineMention;

/// The number of lines shown before and after a line that the task points to.
const LINES_AROUND: u32 = 40;
/// The minimum of these lines, used outside of functions where they do not all fit.
const FEWEST_LINES_AROUND: u32 = 8;

/// Cuts the chunks of more than `most_bytes` in a file of which the task points to some lines: the surroundings of the lines, and
/// the parts before, between and after them, become chunks of their own.
pub fn cut_around_mentions<'a>(
    chunks: &mut FileChunks<'a>,
    text: &str,
    mentions: &[LineMention],
    most_bytes: usize,
) {
    if mentions.is_empty() {
        return;
    }
    let mut mentions = mentions.to_vec();
    let is_chunk = |name: &str| {
        let mut functions = chunks.chunks.iter().filter(|chunk| chunk.kind == ChunkKind::Function);
        functions.any(|chunk| chunk.name() == name)
    };
    for mention in &mut mentions {
        // A nested function is found by its line.
        mention.function = mention.function.take().filter(|name| is_chunk(name));
    }
    join_runs(&mut chunks.chunks, &mentions);
    let cut = |chunk: Chunk<'a>| {
        let is_whole = chunk.bytes.len() <= most_bytes;
        let windows = if is_whole { Vec::new() } else { windows(&chunk, &mentions, most_bytes) };
        pieces(chunk, &windows, text)
    };
    chunks.chunks = std::mem::take(&mut chunks.chunks).into_iter().flat_map(cut).collect();
}

/// Joins loose runs if the task points to a line so near the end of one that its surroundings are in the other: where a
/// run ends is arbitrary.
fn join_runs(chunks: &mut Vec<Chunk<'_>>, mentions: &[LineMention]) {
    let is_near = |line: u32| {
        move |mention: &LineMention| {
            mention.first_line <= line + FEWEST_LINES_AROUND
                && line <= mention.last_line + FEWEST_LINES_AROUND
        }
    };
    chunks.dedup_by(|next, before| {
        let is_run = next.kind == before.kind && next.kind != ChunkKind::Function;
        let is_of_same = next.container == before.container
            && next.symbol.map(std::ptr::from_ref) == before.symbol.map(std::ptr::from_ref);
        let is_joined = is_run && is_of_same && mentions.iter().any(is_near(next.start_line));
        if is_joined {
            (before.end_line, before.bytes.end) = (next.end_line, next.bytes.end);
        }
        is_joined
    });
}

/// Returns the first and last lines of the windows in a chunk, ascending and disjoint.
fn windows(chunk: &Chunk<'_>, mentions: &[LineMention], most_bytes: usize) -> Vec<(u32, u32)> {
    let is_function = chunk.kind == ChunkKind::Function;
    let is_within = |mention: &&LineMention| {
        let is_named = mention.function.as_deref().is_none_or(|function| function == chunk.name());
        is_named && (chunk.start_line <= mention.first_line && mention.last_line <= chunk.end_line)
    };
    let lines_around = if is_function { LINES_AROUND } else { fitting_lines(chunk, most_bytes) };
    let around = |mention: &LineMention| {
        let first = mention.first_line.saturating_sub(lines_around).max(chunk.start_line);
        (first, mention.last_line.saturating_add(lines_around).min(chunk.end_line))
    };
    let mut found: Vec<(u32, u32)> = mentions.iter().filter(is_within).map(around).collect();
    found.sort_unstable();
    found.dedup_by(|next, before| {
        let is_joined = next.0 <= before.1 + 1;
        before.1 = if is_joined { before.1.max(next.1) } else { before.1 };
        is_joined
    });
    found
}

/// Returns how many lines before and after a line of a chunk fit in `most_bytes`.
fn fitting_lines(chunk: &Chunk<'_>, most_bytes: usize) -> u32 {
    let bytes_a_line = (chunk.bytes.len() / chunk.lines() as usize).max(1);
    let around = u32::try_from(most_bytes / bytes_a_line / 2).unwrap_or(LINES_AROUND);
    around.clamp(FEWEST_LINES_AROUND, LINES_AROUND)
}

/// Returns a chunk in parts: the windows, and the rest around them.
fn pieces<'a>(chunk: Chunk<'a>, windows: &[(u32, u32)], text: &str) -> Vec<Chunk<'a>> {
    if windows.is_empty() {
        return vec![chunk];
    }
    let mut starts: Vec<u32> = windows.iter().flat_map(|(first, last)| [*first, last + 1]).collect();
    starts.push(chunk.start_line);
    starts.retain(|start| *start <= chunk.end_line);
    starts.sort_unstable();
    starts.dedup();
    let ends: Vec<u32> = starts[1..].iter().map(|next| next - 1).chain([chunk.end_line]).collect();
    let mut offset = chunk.bytes.start;
    let piece = |(start_line, end_line): (u32, u32)| {
        let lines = text[offset..chunk.bytes.end].split_inclusive('\n');
        let bytes: usize = lines.take((end_line - start_line + 1) as usize).map(str::len).sum();
        let start = offset;
        offset += bytes;
        Chunk { start_line, end_line, bytes: start..offset, ..chunk.clone() }
    };
    starts.into_iter().zip(ends).map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::super::chunks::chunk_file;
    use super::super::chunks::tests::symbol;
    use super::*;
    use crate::model::{Outline, ParseHealth, SymbolKind};

    fn mention(lines: (u32, u32), function: Option<&str>) -> LineMention {
        LineMention {
            path: "src/a.py".to_owned(),
            first_line: lines.0,
            last_line: lines.1,
            function: function.map(str::to_owned),
            strength: 1.0,
        }
    }

    /// Returns the lines of the chunks of a function of 300 lines, and of one of three lines below.
    fn lines_of(mentions: &[LineMention], most_bytes: usize) -> Vec<(u32, u32)> {
        let text =
            format!("def long():\n{}\ndef short():\n    x = 1\n    return x\n", "    y = 1\n".repeat(299));
        let symbol = |name, lines| symbol(SymbolKind::Function, name, lines, Vec::new());
        let symbols = vec![symbol("long", (1, 300)), symbol("short", (302, 304))];
        let outline = Outline { health: ParseHealth::perfect(0), doc: None, imports: Vec::new(), symbols };
        let mut chunks = chunk_file(&text, Some(&outline));
        let whole = chunks.chunks.clone();
        cut_around_mentions(&mut chunks, &text, mentions, most_bytes);
        for chunk in &chunks.chunks {
            let around = whole.iter().find(|whole| whole.name() == chunk.name()).unwrap();
            let lines = text[chunk.bytes.clone()].lines().count();
            assert_eq!(lines, chunk.lines() as usize);
            let before = text[around.bytes.start..chunk.bytes.start].lines().count();
            assert_eq!(before, (chunk.start_line - around.start_line) as usize);
        }
        chunks.chunks.iter().map(|chunk| (chunk.start_line, chunk.end_line)).collect()
    }

    #[test]
    fn a_long_function_is_cut_around_the_lines_that_the_task_points_to() {
        let named = || mention((200, 200), Some("long"));
        assert_eq!(lines_of(&[named()], 1_000), [(1, 159), (160, 240), (241, 300), (302, 304)]);
        let near = || mention((260, 262), Some("inner"));
        assert_eq!(lines_of(&[near(), named()], 1_000), [(1, 159), (160, 300), (302, 304)]);
        let ends = &[mention((1, 1), None), mention((300, 300), None)];
        assert_eq!(lines_of(ends, 1_000), [(1, 41), (42, 259), (260, 300), (302, 304)]);
    }

    /// Returns the lines of the chunks of a file of 180 lines without an outline.
    fn lines_of_data(first: u32, most_bytes: usize) -> Vec<(u32, u32)> {
        let text = "key: value\n".repeat(180);
        let mut chunks = chunk_file(&text, None);
        cut_around_mentions(&mut chunks, &text, &[mention((first, first), None)], most_bytes);
        assert!(
            chunks
                .chunks
                .iter()
                .all(|chunk| text[chunk.bytes.clone()].lines().count() == chunk.lines() as usize)
        );
        chunks.chunks.iter().map(|chunk| (chunk.start_line, chunk.end_line)).collect()
    }

    #[test]
    fn lines_of_data_are_cut_if_space_is_short_and_joined_if_a_run_ends_near_them() {
        assert_eq!(lines_of_data(90, 10_000), [(1, 60), (61, 120), (121, 180)]);
        assert_eq!(lines_of_data(90, 220), [(1, 60), (61, 79), (80, 100), (101, 120), (121, 180)]);
        assert_eq!(lines_of_data(61, 10_000), [(1, 120), (121, 180)]);
        assert_eq!(lines_of_data(61, 100), [(1, 52), (53, 69), (70, 120), (121, 180)]);
    }

    #[test]
    fn other_functions_are_whole() {
        let whole = [(1, 300), (302, 304)];
        assert_eq!(lines_of(&[mention((200, 200), Some("short"))], 1_000), whole);
        assert_eq!(lines_of(&[mention((200, 302), None)], 1_000), whole);
        assert_eq!(lines_of(&[mention((200, 200), Some("long"))], 10_000), whole);
        assert_eq!(lines_of(&[mention((303, 303), None)], 1_000), whole);
    }
}

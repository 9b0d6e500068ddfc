//! Cuts a file into chunks, the units in which symbols are found and shown.
//!
//! A chunk is an outermost function with its decorators, attributes and leading comments; or a run of at most
//! [`MAX_RUN_LINES`] of the remaining lines of a class, a namespace or the file between functions, cut at a blank line.
//! Nested functions belong to the outermost one. On real issues, whole functions led to the lines of the fix more often
//! than windows of a fixed size.
//!
//! Chunks consist of whole lines, do not overlap, and cover every line that is neither blank nor part of the license at
//! the beginning. If two symbols share a line, it belongs to the later one.

use std::ops::Range;

use super::comment_lines::{is_comment_line, lines_of_license};
use crate::model::{Outline, Symbol, SymbolKind};

/// The maximum number of lines of a run between functions.
const MAX_RUN_LINES: usize = 60;
/// A run is not cut at a blank line before this line.
const MIN_RUN_LINES: usize = 20;
/// Containers nested deeper, which no person writes, are not entered; their functions are part of them.
const MAX_DEPTH: usize = 64;
/// The number of lines, from its decorators on, within which a declaration names its symbol; a command with many
/// options has dozens.
const MAX_HEAD_LINES: usize = 200;
/// Only the beginning of a longer line is searched for a name, because all symbols of a minified file are on one line.
const MAX_HEAD_BYTES: usize = 400;

/// The kind of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkKind {
    /// A whole function, method or macro.
    Function,
    /// Lines of a class, a namespace or a heading's section that are outside of its functions.
    Container,
    /// Lines outside of symbols.
    Loose,
}

/// A unit of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// What it is.
    pub kind: ChunkKind,
    /// The function, or the container of the remaining lines; `None` for loose lines.
    pub symbol: Option<&'a Symbol>,
    /// The innermost container of the chunk, as its position in [`FileChunks::containers`]. The remaining lines of a
    /// container are in that container.
    pub container: Option<usize>,
    /// First line, from 1.
    pub start_line: u32,
    /// Last line, inclusive.
    pub end_line: u32,
    /// The line that names the symbol; the first line for loose lines.
    pub head_line: u32,
    /// The bytes of its lines, including the last line break.
    pub bytes: Range<usize>,
}

impl Chunk<'_> {
    /// Returns the name of its symbol; empty for loose lines.
    pub fn name(&self) -> &str {
        self.symbol.map_or("", |symbol| symbol.name.as_str())
    }

    /// Returns how many lines it has.
    pub fn lines(&self) -> u32 {
        self.end_line - self.start_line + 1
    }
}

/// A class, a namespace or another symbol that contains functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container<'a> {
    /// Its symbol.
    pub symbol: &'a Symbol,
    /// Its enclosing container.
    pub parent: Option<usize>,
    /// The line that names it.
    pub head_line: u32,
}

/// The chunks of one file, in the order of its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileChunks<'a> {
    /// The chunks.
    pub chunks: Vec<Chunk<'a>>,
    /// The containers of chunks, each after its enclosing one.
    pub containers: Vec<Container<'a>>,
}

impl<'a> FileChunks<'a> {
    /// Returns the containers of a chunk, innermost first. A reader needs their head lines to understand it.
    pub fn enclosing(&self, chunk: &Chunk<'a>) -> impl Iterator<Item = &Container<'a>> {
        let at = |position: Option<usize>| position.and_then(|at| self.containers.get(at));
        std::iter::successors(at(chunk.container), move |container| at(container.parent))
    }
}

/// Cuts a text into chunks. `outline` is its structure; without it all lines are loose.
pub fn chunk_file<'a>(text: &str, outline: Option<&'a Outline>) -> FileChunks<'a> {
    let mut owners = LineOwners::new(text);
    if let Some(outline) = outline {
        owners.assign(&outline.symbols);
    }
    owners.cut()
}

/// The owner of a line: the position in `symbols`, or `LOOSE`.
type Owner = u32;

const LOOSE: Owner = u32::MAX;

/// A symbol that owns lines.
struct OwningSymbol<'a> {
    symbol: &'a Symbol,
    is_function: bool,
    /// The position among the containers: its own, or for a function that of its enclosing one.
    container: Option<usize>,
    head_line: u32,
}

struct LineOwners<'a, 't> {
    text: &'t str,
    /// The start of each line, and the end of the text.
    starts: Vec<usize>,
    owners: Vec<Owner>,
    symbols: Vec<OwningSymbol<'a>>,
    containers: Vec<Container<'a>>,
}

/// A list of siblings; those from `next` on are yet to be visited.
struct OpenSiblings<'a> {
    siblings: &'a [Symbol],
    next: usize,
    container: Option<usize>,
    /// The first line, from 0, that may belong to a leading comment of the next sibling.
    free_from: usize,
}

impl<'a, 't> LineOwners<'a, 't> {
    fn new(text: &'t str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let mut starts: Vec<usize> = std::iter::once(0).chain(ends).collect();
        if starts.last() != Some(&text.len()) {
            starts.push(text.len());
        }
        let owners = vec![LOOSE; starts.len() - 1];
        Self { text, starts, owners, symbols: Vec::new(), containers: Vec::new() }
    }

    fn line(&self, line: usize) -> &'t str {
        self.text[self.starts[line]..self.starts[line + 1]].trim()
    }

    /// Assigns lines to symbols, containers before their contents. A loop instead of recursion, because outlines may be
    /// nested arbitrarily deep.
    fn assign(&mut self, symbols: &'a [Symbol]) {
        let mut open = vec![OpenSiblings { siblings: symbols, next: 0, container: None, free_from: 0 }];
        while let Some(level) = open.last_mut() {
            let Some(symbol) = level.siblings.get(level.next) else {
                open.pop();
                continue;
            };
            level.next += 1;
            let (container, free_from) = (level.container, level.free_from);
            let Some((first, last)) = self.lines_of(symbol) else { continue };
            level.free_from = level.free_from.max(last + 1);
            let mut inner = container;
            let is_function = is_function(symbol.kind);
            if is_function || is_container(symbol.kind) {
                let first = self.start_of_leading_comments(first, free_from);
                inner = self.own(symbol, is_function, container, first..last + 1);
            }
            if !is_function && !symbol.children.is_empty() && open.len() < MAX_DEPTH {
                open.push(OpenSiblings {
                    siblings: &symbol.children,
                    next: 0,
                    container: inner,
                    free_from: first + 1,
                });
            }
        }
    }

    /// Returns the first and the last line of a symbol, from 0.
    fn lines_of(&self, symbol: &Symbol) -> Option<(usize, usize)> {
        let first = (symbol.span.start_line as usize).checked_sub(1)?;
        let last = (symbol.span.end_line as usize).min(self.owners.len()).checked_sub(1)?;
        (first <= last).then_some((first, last))
    }

    /// Records that a symbol owns some lines. Returns the container that its children are in.
    fn own(
        &mut self,
        symbol: &'a Symbol,
        is_function: bool,
        around: Option<usize>,
        lines: Range<usize>,
    ) -> Option<usize> {
        let head_line = self.head_line(symbol);
        let mut container = around;
        if !is_function {
            container = Some(self.containers.len());
            self.containers.push(Container { symbol, parent: around, head_line });
        }
        let owner = Owner::try_from(self.symbols.len()).unwrap_or(LOOSE);
        self.symbols.push(OwningSymbol { symbol, is_function, container, head_line });
        self.owners[lines].fill(owner);
        container
    }

    /// Returns the line, from 1, on which a symbol's declaration names it: not that of its first decorator.
    fn head_line(&self, symbol: &Symbol) -> u32 {
        let first = symbol.span.start_line;
        let Some((start, last)) = self.lines_of(symbol) else { return first };
        let searched = start..(last + 1).min(start + MAX_HEAD_LINES);
        let name = symbol.name.as_str();
        let names_it = |line: &usize| {
            let line = self.line(*line);
            let line = &line[..line.floor_char_boundary(MAX_HEAD_BYTES)];
            !is_comment_line(line) && !line.starts_with(['@', '[']) && contains_word(line, name)
        };
        match searched.into_iter().find(names_it) {
            Some(line) if !name.is_empty() => u32::try_from(line + 1).unwrap_or(first),
            Some(_) | None => first,
        }
    }

    /// Returns the start of the comments directly above a line, but not before `free_from`.
    fn start_of_leading_comments(&self, line: usize, free_from: usize) -> usize {
        let mut start = line;
        let mut candidate = line;
        // Going up, every line inside a block comment belongs to it.
        let mut in_block = false;
        while free_from < candidate {
            candidate -= 1;
            let text = self.line(candidate);
            if in_block {
                in_block = !text.starts_with("/*");
                if !in_block {
                    start = candidate;
                }
            } else if text.ends_with("*/") && !text.contains("/*") {
                in_block = true;
            } else if is_comment_line(text) {
                start = candidate;
            } else {
                break;
            }
        }
        start
    }

    fn cut(self) -> FileChunks<'a> {
        let mut chunks = Vec::new();
        // Comments directly above a function belong to it.
        let is_loose = |owner: &&Owner| **owner == LOOSE;
        let mut line = self.owners[..lines_of_license(self.text)].iter().take_while(is_loose).count();
        while line < self.owners.len() {
            let owner = self.owners[line];
            let same = self.owners[line..].iter().take_while(|other| **other == owner).count();
            let owning = self.symbols.get(owner as usize);
            let is_whole = owning.is_some_and(|owning| owning.is_function);
            let mut rest = line..line + same;
            while !rest.is_empty() {
                let run = if is_whole { rest.clone() } else { self.next_run(&rest) };
                rest.start = run.end;
                chunks.extend(self.chunk(run, owning));
            }
            line += same;
        }
        FileChunks { chunks, containers: self.containers }
    }

    /// Returns the first lines of a range that form one run: all of them if they are few, else up to a blank line at a
    /// suitable length. That is the last such line, or in a file without symbols the last one before the least indented
    /// lines, so that blocks in languages without a grammar are rarely cut.
    fn next_run(&self, lines: &Range<usize>) -> Range<usize> {
        if lines.len() <= MAX_RUN_LINES {
            return lines.clone();
        }
        let longest = lines.start + MAX_RUN_LINES;
        let blanks = (lines.start + MIN_RUN_LINES..longest).rev().filter(|line| self.line(*line).is_empty());
        let blank =
            blanks.min_by_key(|line| if self.symbols.is_empty() { self.indentation_after(*line) } else { 0 });
        lines.start..blank.map_or(longest, |blank| blank + 1)
    }

    /// Returns the indentation of the first non-blank line after a blank one.
    fn indentation_after(&self, blank: usize) -> usize {
        let next = (blank..self.owners.len()).find(|line| !self.line(*line).is_empty());
        next.map_or(0, |line| {
            let text = &self.text[self.starts[line]..];
            text.len() - text.trim_start_matches([' ', '\t']).len()
        })
    }

    /// Makes a chunk of some lines, trimmed of blank lines; `None` if all are blank.
    fn chunk(&self, mut lines: Range<usize>, owning: Option<&OwningSymbol<'a>>) -> Option<Chunk<'a>> {
        let is_written = |line: &usize| !self.line(*line).is_empty();
        lines.start = lines.clone().find(is_written)?;
        lines.end = lines.clone().rfind(is_written)? + 1;
        let start_line = u32::try_from(lines.start + 1).ok()?;
        Some(Chunk {
            kind: match owning {
                Some(owning) if owning.is_function => ChunkKind::Function,
                Some(_) => ChunkKind::Container,
                None => ChunkKind::Loose,
            },
            symbol: owning.map(|owning| owning.symbol),
            container: owning.and_then(|owning| owning.container),
            start_line,
            end_line: u32::try_from(lines.end).ok()?,
            head_line: owning.map_or(start_line, |owning| owning.head_line),
            bytes: self.starts[lines.start]..self.starts[lines.end],
        })
    }
}

/// Returns whether symbols of a kind are chunks as a whole. A prototype is just a line in its header.
const fn is_function(kind: SymbolKind) -> bool {
    matches!(
        kind,
        SymbolKind::Function
            | SymbolKind::Method
            | SymbolKind::Constructor
            | SymbolKind::Destructor
            | SymbolKind::Macro
    )
}

/// Returns whether the remaining lines of symbols of a kind are chunks of their own. Not for fields, keys and
/// variables: each chunk would be a single line.
const fn is_container(kind: SymbolKind) -> bool {
    kind.is_type()
        || kind.is_namespace()
        || matches!(kind, SymbolKind::Heading | SymbolKind::Target | SymbolKind::Stage | SymbolKind::Cell)
}

/// Returns whether a name occurs in a line between bytes that cannot be part of a name.
fn contains_word(line: &str, name: &str) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (line.as_bytes()[..at].last(), line.as_bytes().get(at + name.len()));
        !is_part(before) && !is_part(after)
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::{ParseHealth, Span};

    pub(in crate::search) fn symbol(
        kind: SymbolKind,
        name: &str,
        lines: (u32, u32),
        children: Vec<Symbol>,
    ) -> Symbol {
        Symbol {
            kind,
            name: name.to_owned(),
            qualified_name: name.to_owned(),
            span: Span { start_byte: 0, end_byte: 0, start_line: lines.0, end_line: lines.1 },
            signature: String::new(),
            doc: None,
            recovered: false,
            children,
        }
    }

    fn outline(symbols: Vec<Symbol>) -> Outline {
        Outline { health: ParseHealth::perfect(0), doc: None, imports: Vec::new(), symbols }
    }

    /// Returns one line for each chunk: its kind, its lines, the path of its names and the lines of their heads.
    fn described(text: &str, symbols: Vec<Symbol>) -> Vec<String> {
        let outline = outline(symbols);
        let file = chunk_file(text, Some(&outline));
        let described = file.chunks.iter().map(|chunk| {
            let kind = match chunk.kind {
                ChunkKind::Function => "function",
                ChunkKind::Container => "container",
                ChunkKind::Loose => "loose",
            };
            let around: Vec<_> = file
                .enclosing(chunk)
                .map(|container| format!("{}:{}", container.symbol.name, container.head_line))
                .collect();
            let (first, last, head) = (chunk.start_line, chunk.end_line, chunk.head_line);
            format!("{kind} {first}-{last} {}:{head} in [{}]", chunk.name(), around.join(" "))
        });
        described.collect()
    }

    #[track_caller]
    fn check(text: &str, symbols: Vec<Symbol>, expected: &[&str]) {
        assert_eq!(described(text, symbols), expected);
    }

    #[test]
    fn a_file_without_an_outline_is_cut_at_blank_lines() {
        let text = format!("{}\n{}", "word\n".repeat(50), "word\n".repeat(100));
        let file = chunk_file(&text, None);
        let lines: Vec<_> = file.chunks.iter().map(|chunk| (chunk.start_line, chunk.end_line)).collect();
        assert_eq!(lines, [(1, 50), (52, 111), (112, 151)]);
        assert_eq!(&text[file.chunks[0].bytes.clone()], "word\n".repeat(50));
        assert!(file.chunks.iter().all(|chunk| chunk.kind == ChunkKind::Loose && chunk.name().is_empty()));
    }

    #[test]
    fn a_file_without_an_outline_is_cut_between_its_blocks() {
        let block = format!("sub f {{\n{}\n{}}}\n\n", "    word\n".repeat(20), "    word\n".repeat(15));
        let text = block.repeat(2);
        let starts = chunk_file(&text, None).chunks.iter().map(|chunk| chunk.start_line).collect::<Vec<_>>();
        assert_eq!(starts, [1, 40]);
    }

    #[test]
    fn an_empty_file_has_no_chunks() {
        assert!(chunk_file("", None).chunks.is_empty());
        assert!(chunk_file("\n  \n", None).chunks.is_empty());
    }

    #[test]
    fn a_license_at_the_beginning_is_in_no_chunk() {
        let loose = chunk_file("# Copyright 2020 A\n\nimport os\n", None);
        assert_eq!(loose.chunks[0].start_line, 3);
        let outline = outline(vec![symbol(SymbolKind::Function, "f", (2, 3), Vec::new())]);
        let file = chunk_file("// Copyright: how f is called.\nvoid f() {\n}\n", Some(&outline));
        assert_eq!(file.chunks[0].start_line, 1, "it is the comment of a function");
    }

    #[test]
    fn functions_are_whole_and_the_rest_of_a_class_is_chunks_of_its_own() {
        let text = "\
import os

class Engine:
    speed = 1

    # Starts it.
    @cached
    def run(self):
        def inner():
            pass
        return inner

    limit = 2

    def stop(self): pass

x = 1
";
        let inner = symbol(SymbolKind::Function, "inner", (9, 10), Vec::new());
        let run = symbol(SymbolKind::Method, "run", (7, 11), vec![inner]);
        let stop = symbol(SymbolKind::Method, "stop", (15, 15), Vec::new());
        let engine = symbol(SymbolKind::Class, "Engine", (3, 15), vec![run, stop]);
        check(
            text,
            vec![engine],
            &[
                "loose 1-1 :1 in []",
                "container 3-4 Engine:3 in [Engine:3]",
                "function 6-11 run:8 in [Engine:3]",
                "container 13-13 Engine:3 in [Engine:3]",
                "function 15-15 stop:15 in [Engine:3]",
                "loose 17-17 :17 in []",
            ],
        );
    }

    #[test]
    fn leading_comments_belong_to_the_function_and_trailing_ones_of_the_previous_do_not() {
        let text = "\
/* The license
   of the file. */

int a(void) {
} // end
/**
 * Adds.
   plain text
 */
// static
int b(void) {
}
#define X 1
int c(void) {}
";
        let function = |name, lines| symbol(SymbolKind::Function, name, lines, Vec::new());
        check(
            text,
            vec![function("a", (4, 5)), function("b", (11, 12)), function("c", (14, 14))],
            &[
                "loose 1-2 :1 in []",
                "function 4-5 a:4 in []",
                "function 6-12 b:11 in []",
                "loose 13-13 :13 in []",
                "function 14-14 c:14 in []",
            ],
        );
    }

    #[test]
    fn nested_containers_are_listed_innermost_first() {
        let text = "namespace a {\nstruct B {\n  int x;\n  void f() {}\n};\n}\n";
        let f = symbol(SymbolKind::Method, "f", (4, 4), Vec::new());
        let x = symbol(SymbolKind::Field, "x", (3, 3), Vec::new());
        let b = symbol(SymbolKind::Struct, "B", (2, 5), vec![x, f]);
        let a = symbol(SymbolKind::Namespace, "a", (1, 6), vec![b]);
        check(
            text,
            vec![a],
            &[
                "container 1-1 a:1 in [a:1]",
                "container 2-3 B:2 in [B:2 a:1]",
                "function 4-4 f:4 in [B:2 a:1]",
                "container 5-5 B:2 in [B:2 a:1]",
                "container 6-6 a:1 in [a:1]",
            ],
        );
    }

    #[test]
    fn functions_of_a_variable_are_chunks_and_the_variable_is_not() {
        let text = "const api = {\n  get() {},\n  size: 1,\n};\n";
        let get = symbol(SymbolKind::Method, "get", (2, 2), Vec::new());
        let api = symbol(SymbolKind::Constant, "api", (1, 4), vec![get]);
        check(text, vec![api], &["loose 1-1 :1 in []", "function 2-2 get:2 in []", "loose 3-4 :3 in []"]);
    }

    #[test]
    fn symbols_outside_of_the_text_are_ignored_or_cut() {
        let function = |name, lines| symbol(SymbolKind::Function, name, lines, Vec::new());
        let symbols = vec![function("a", (0, 0)), function("b", (2, 900)), function("c", (800, 900))];
        check("x\ny\nz", symbols, &["loose 1-1 :1 in []", "function 2-3 b:2 in []"]);
    }

    #[test]
    fn every_written_line_is_in_exactly_one_chunk_even_if_symbols_overlap() {
        let text: String = (0..200).map(|line| if line % 7 == 0 { "\n" } else { "word\n" }).collect();
        let function = |lines| symbol(SymbolKind::Function, "f", lines, Vec::new());
        let class = |lines, children| symbol(SymbolKind::Class, "C", lines, children);
        let symbols = vec![
            function((5, 20)),
            class((15, 90), vec![function((30, 95)), function((20, 40))]),
            function((10, 12)),
        ];
        let outline = outline(symbols);
        let file = chunk_file(&text, Some(&outline));
        let mut next = 0;
        for chunk in &file.chunks {
            assert!(next <= chunk.bytes.start);
            assert!(text[next..chunk.bytes.start].trim().is_empty());
            assert_eq!(text[chunk.bytes.clone()].lines().count(), chunk.lines() as usize);
            next = chunk.bytes.end;
        }
        assert!(text[next..].trim().is_empty());
    }

    #[test]
    fn a_minified_file_is_one_chunk() {
        let function = || symbol(SymbolKind::Function, "g", (1, 1), Vec::new());
        // In quadratic time, this would take minutes.
        let outline = outline((0..100_000).map(|_| function()).collect());
        let file = chunk_file(&"function f(){}".repeat(100_000), Some(&outline));
        assert_eq!(file.chunks.len(), 1);
    }

    #[test]
    fn an_outline_of_any_depth_is_chunked() {
        let deepest = symbol(SymbolKind::Function, "f", (1, 1), Vec::new());
        let nested = (0..900).fold(deepest, |inner, _| symbol(SymbolKind::Class, "C", (1, 1), vec![inner]));
        let outline = outline(vec![nested]);
        let file = chunk_file("class C {}", Some(&outline));
        assert_eq!((file.chunks.len(), file.containers.len()), (1, MAX_DEPTH));
    }
}

//! The text of a file with some bodies in full, and as much of the rest as is asked for by signature.
//!
//! An excerpt is a skeleton of which some cuts are not made. Where only some signatures are wanted, the statements and
//! declarations between them are cut as well, by whole lines: each gap is one comment with the numbers of its lines, so
//! that every line that is shown is a line of the source. A cut for which no such comment can be written, as one in the
//! middle of a line, keeps the mark of the skeleton.
//!
//! The result is parsed again. If it has more errors than its source, less is cut: first only what a skeleton cuts,
//! then what the grammar tolerates best, in the end nothing.

use std::ops::{Range, RangeInclusive};
use std::sync::OnceLock;

use super::excerpt_parts::{ExcerptParts, NodeContent};
use super::gap_style::GapStyle;
use super::language::CompiledLanguage;
use super::parse::{error_count, parse};
use super::skeleton::{CutMode, SkeletonCut, apply_cuts, sort_cuts};
use crate::syntax::text::SourceText;

/// A pointer longer than 1/`POINTER_SHARE` of what it stands for is left out: it would cost what the gap saves.
const POINTER_SHARE: usize = 4;
/// An excerpt of fewer bytes may be replaced by one that is larger by as many.
const SMALL_EXCERPT: usize = 4_000;

/// What an excerpt shows. All lines are those of the file, from 1.
pub struct ExcerptRequest<'a> {
    /// The lines that are shown as they are: the bodies of symbols, with their decorators and comments.
    pub bodies: &'a [RangeInclusive<u32>],
    /// The lines of which the signatures are shown. A declaration is kept if it has one of these lines, and what is in
    /// it only if that has one as well: the first line alone of a class keeps its head. `None` keeps all signatures.
    pub signatures: Option<&'a [RangeInclusive<u32>]>,
    /// Returns how to get the lines of a gap, in words that take the place of their numbers in its comment.
    pub pointer: &'a dyn Fn(&RangeInclusive<u32>) -> Option<String>,
    /// The errors of the text, which are counted once for all its excerpts.
    pub errors: &'a SourceErrors,
}

/// How many errors a parser finds in a text, once that was counted.
#[derive(Debug, Default)]
pub struct SourceErrors(OnceLock<usize>);

impl SourceErrors {
    /// Returns the number. It is counted by `count` unless it is known; `None` where that gives up.
    fn get(&self, count: impl FnOnce() -> Option<usize>) -> Option<usize> {
        let known = self.0.get().copied();
        known.or_else(|| count().map(|errors| *self.0.get_or_init(|| errors)))
    }
}

/// Returns the excerpt of a text that has these parts.
pub(in crate::syntax) fn excerpt_text(
    compiled: &CompiledLanguage,
    text: &str,
    parts: &ExcerptParts,
    request: &ExcerptRequest<'_>,
    give_up: &mut dyn FnMut() -> bool,
) -> String {
    let source = SourceText::new(text);
    let style = GapStyle::for_language(compiled.language.id);
    let lines = ExcerptLines::new(&source, style, request);
    request.errors.get(|| parts.errors);
    let is_sparse = request.signatures.is_some() && style.is_some();
    let unwanted = is_sparse.then(|| {
        let bodies = lines.elided_bodies(compiled, parts, give_up);
        lines.unwanted(parts, &bodies)
    });
    let mut is_sound = |excerpt: &str| is_as_sound(compiled, excerpt, text, request.errors, give_up);
    if let Some(unwanted) = unwanted.as_ref().filter(|_| matches!(compiled.language.id, "c" | "cpp")) {
        let mut dropped = unwanted.clone();
        for group in lines.unwanted_conditions() {
            dropped[group].fill(true);
        }
        // The halves of a statement may be in different conditions.
        let excerpt = (dropped != *unwanted).then(|| lines.excerpt(parts, dropped, request));
        if let Some(excerpt) = excerpt.filter(|excerpt| is_sound(excerpt)) {
            return excerpt;
        }
    }
    let sparse = unwanted.map(|unwanted| lines.excerpt(parts, unwanted, request));
    if let Some(sparse) = &sparse
        && is_sound(sparse)
    {
        return sparse.clone();
    }
    // What is asked for is a part of the file. All signatures may be many times that, which is worse for a reader than
    // an excerpt that a parser stumbles over.
    let most = sparse.as_ref().map_or(usize::MAX, |sparse| sparse.len() * 2 + SMALL_EXCERPT);
    let complete = lines.excerpt(parts, vec![false; lines.count()], request);
    if complete.len() <= most && is_sound(&complete) {
        return complete;
    }
    let cautious = apply_cuts(text, &lines.outside_bodies(&parts.cuts), CutMode::Conservative);
    if cautious.len() <= most && is_sound(&cautious) {
        return cautious;
    }
    match sparse {
        Some(sparse) if most < text.len() => sparse,
        _ => text.to_owned(),
    }
}

/// Returns whether an excerpt has no more errors than its source. If the source cannot be parsed in time, the excerpt
/// is accepted.
fn is_as_sound(
    compiled: &CompiledLanguage,
    excerpt: &str,
    text: &str,
    errors: &SourceErrors,
    give_up: &mut dyn FnMut() -> bool,
) -> bool {
    let Ok(tree) = parse(compiled, excerpt, give_up) else { return false };
    let now = error_count(tree.root_node());
    if now == 0 {
        return true;
    }
    let before = errors.get(|| parse(compiled, text, give_up).ok().map(|tree| error_count(tree.root_node())));
    before.is_none_or(|before| now <= before)
}

/// The lines of a source, and which of them are wanted.
struct ExcerptLines<'s> {
    source: &'s SourceText<'s>,
    style: Option<GapStyle>,
    /// Where each line begins.
    starts: Vec<usize>,
    /// For each line, whether it is shown as it is.
    is_body: Vec<bool>,
    /// For each line, how many lines up to and with it are wanted in any way: a range is asked by a difference.
    wanted_before: Vec<u32>,
}

impl<'s> ExcerptLines<'s> {
    fn new(source: &'s SourceText<'s>, style: Option<GapStyle>, request: &ExcerptRequest<'_>) -> Self {
        let text = source.original_text();
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        if 1 < starts.len() && starts.last() == Some(&text.len()) {
            starts.pop();
        }
        let mut is_body = vec![false; starts.len()];
        mark_lines(&mut is_body, request.bodies);
        let mut is_wanted = is_body.clone();
        mark_lines(&mut is_wanted, request.signatures.unwrap_or_default());
        let mut wanted_before = vec![0];
        for wanted in is_wanted {
            wanted_before.push(wanted_before.last().copied().unwrap_or(0) + u32::from(wanted));
        }
        Self { source, style, starts, is_body, wanted_before }
    }

    fn count(&self) -> usize {
        self.starts.len()
    }

    /// Returns the index of the line that holds the byte at `offset`.
    fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// Returns the lines that a range of bytes has a part in.
    fn lines(&self, range: &Range<usize>) -> Range<usize> {
        self.line(range.start)..self.line(range.end.saturating_sub(1).max(range.start)) + 1
    }

    /// Returns the bytes of some lines, the last line's end included.
    fn bytes(&self, lines: &Range<usize>) -> Range<usize> {
        let end = self.starts.get(lines.end).copied().unwrap_or(self.source.original_text().len());
        self.starts[lines.start]..end
    }

    fn text(&self, line: usize) -> &'s str {
        self.source.text(self.bytes(&(line..line + 1)))
    }

    fn has_wanted(&self, lines: &Range<usize>) -> bool {
        self.wanted_before[lines.start] < self.wanted_before[lines.end]
    }

    fn is_all_body(&self, lines: &Range<usize>) -> bool {
        self.is_body[lines.clone()].iter().all(|is_body| *is_body)
    }

    /// Returns those cuts that take nothing from a body.
    fn outside_bodies(&self, cuts: &[SkeletonCut]) -> Vec<SkeletonCut> {
        let takes_none = |cut: &&SkeletonCut| !self.is_body[self.lines(cut.range())].contains(&true);
        cuts.iter().filter(takes_none).cloned().collect()
    }

    /// Returns the parts of those bodies that the scanner elided and of which some lines are wanted and others are not.
    fn elided_bodies(
        &self,
        compiled: &CompiledLanguage,
        parts: &ExcerptParts,
        give_up: &mut dyn FnMut() -> bool,
    ) -> Vec<ExcerptParts> {
        let is_in_part = |range: &Range<usize>| {
            let lines = self.lines(range);
            self.is_body[lines.clone()].contains(&true) && !self.is_all_body(&lines)
        };
        let ranges = parts.cuts.iter().map(SkeletonCut::range).filter(|range| is_in_part(range));
        let elided = ranges.filter(|range| !parts.has_statements_of(range));
        let text = self.source.original_text();
        let read = elided.filter_map(|range| ExcerptParts::of_body(compiled, text, range, give_up));
        read.collect()
    }

    /// Returns for each line whether it may be dropped because nothing on it is wanted.
    fn unwanted(&self, parts: &ExcerptParts, bodies: &[ExcerptParts]) -> Vec<bool> {
        let mut unwanted: Vec<Range<usize>> =
            std::iter::once(parts).chain(bodies).flat_map(|parts| self.unwanted_nodes(parts)).collect();
        unwanted.extend(parts.elided.iter().cloned());
        unwanted.retain(|part| !part.is_empty() && !self.has_wanted(&self.lines(part)));
        unwanted.sort_by_key(|part| (part.start, part.end));
        self.whole_lines(&unwanted)
    }

    /// Returns the lines of each condition of the preprocessor, from `#if` to `#endif`, in which nothing is wanted.
    fn unwanted_conditions(&self) -> Vec<Range<usize>> {
        let (mut open, mut groups) = (Vec::new(), Vec::new());
        for line in 0..self.count() {
            let directive = self.text(line).trim_start().strip_prefix('#').map_or("", str::trim_start);
            if directive.starts_with("if") {
                open.push(line);
            } else if directive.starts_with("endif") {
                groups.extend(open.pop().map(|first| first..line + 1));
            }
        }
        groups.retain(|group| !self.has_wanted(group));
        groups
    }

    /// Returns the statements and declarations that have no part in a wanted line. What is around a wanted line is kept
    /// as it is, except for the other elements of the lists around it.
    fn unwanted_nodes(&self, parts: &ExcerptParts) -> Vec<Range<usize>> {
        let mut unwanted = Vec::new();
        let mut open = vec![parts.root()];
        while let Some(node) = open.pop() {
            let is_list = node.holds == NodeContent::List || parts.is_root(node);
            for child in parts.children(node) {
                let lines = self.lines(&child.range());
                if self.has_wanted(&lines) {
                    if !self.is_all_body(&lines) {
                        open.push(child);
                    }
                } else if !is_list && child.holds != NodeContent::Other {
                    // The members of what has a wanted head, and the other branches of a wanted one.
                    open.push(child);
                } else if (is_list && child.is_item) || child.is_aside {
                    unwanted.push(child.range());
                }
            }
        }
        unwanted
    }

    /// Returns for each line whether it can be dropped with the parts on it. A part that shares a line with something
    /// else is kept, and with it the other parts on its lines.
    fn whole_lines(&self, parts: &[Range<usize>]) -> Vec<bool> {
        let mut is_covered: Vec<bool> = vec![true; self.count()];
        let mut at = 0;
        for part in parts.iter().chain(std::iter::once(&(usize::MAX..usize::MAX))) {
            let until = part.start.min(self.source.original_text().len());
            self.uncover(at..until, &mut is_covered);
            at = at.max(part.end.min(self.source.original_text().len()));
        }
        let keep = |part: &Range<usize>, is_covered: &mut Vec<bool>| {
            let lines = self.lines(part);
            if !is_covered[lines.start] || !is_covered[lines.end - 1] {
                is_covered[lines].fill(false);
            }
        };
        // A part that is kept keeps its neighbours on the same lines, on either side.
        for part in parts.iter().chain(parts.iter().rev()) {
            keep(part, &mut is_covered);
        }
        is_covered
    }

    /// Notes that the code in a range is on lines that are not dropped; signs that end a statement are not code.
    fn uncover(&self, range: Range<usize>, is_covered: &mut [bool]) {
        if range.is_empty() {
            return;
        }
        for line in self.lines(&range) {
            let bytes = self.bytes(&(line..line + 1));
            let text = self.source.text(bytes.start.max(range.start)..bytes.end.min(range.end));
            // A scanner elides some directives without a record.
            if is_whole_directive(text) && range.start <= bytes.start && !self.has_wanted(&(line..line + 1)) {
                continue;
            }
            if !text.trim_matches(|c: char| c.is_whitespace() || c == ';' || c == ',').is_empty() {
                is_covered[line] = false;
            }
        }
    }

    /// Returns the text without the dropped lines and without what a skeleton cuts, except in bodies.
    fn excerpt(&self, parts: &ExcerptParts, mut dropped: Vec<bool>, request: &ExcerptRequest<'_>) -> String {
        let mut made: Vec<SkeletonCut> = Vec::new();
        let mut end = 0;
        for cut in self.outside_bodies(&parts.cuts) {
            // A cut within another is part of that one.
            if cut.range().start < end {
                continue;
            }
            end = cut.range().end;
            match self.whole_lines_of(&cut) {
                Some(lines) if !lines.is_empty() => dropped[lines].fill(true),
                _ => made.push(cut),
            }
        }
        for run in self.runs(&dropped) {
            let end = self.block_end(parts, &run).unwrap_or(run.start);
            for lines in [run.start..end, end..run.end].into_iter().filter(|lines| !lines.is_empty()) {
                // What follows a block is in one that has this block.
                let needs_statement = lines.start == run.start;
                let style = self.gap_style(parts, &lines);
                made.extend(style.and_then(|style| self.gap_cut(style, &lines, needs_statement, request)));
            }
        }
        sort_cuts(&mut made);
        apply_cuts(self.source.original_text(), &made, CutMode::Plain)
    }

    /// Returns the style of the comment for dropped lines.
    fn gap_style(&self, parts: &ExcerptParts, dropped: &Range<usize>) -> Option<GapStyle> {
        let style = self.style?;
        let code = dropped.clone().find(|line| !self.text(*line).trim().is_empty());
        let start = code.map(|line| self.starts[line] + self.indent(line).len())?;
        let is_elided = parts.elided.iter().any(|range| range.contains(&start));
        Some(if is_elided { style.for_elided() } else { style })
    }

    /// Returns the cut that replaces lines by one comment; `None` if that would not make the text shorter.
    fn gap_cut(
        &self,
        style: GapStyle,
        lines: &Range<usize>,
        needs_statement: bool,
        request: &ExcerptRequest<'_>,
    ) -> Option<SkeletonCut> {
        let gap = &(line_number(lines.start)..=line_number(lines.end - 1));
        let bytes = self.bytes(lines);
        let first = lines.clone().find(|line| !self.text(*line).trim().is_empty())?;
        let indent = self.indent(first);
        let pointer = (request.pointer)(gap)
            .filter(|pointer| style.can_hold(pointer) && pointer.len() <= bytes.len() / POINTER_SHARE);
        // Between decorators there can be no statement.
        let is_in_block = needs_statement && !indent.is_empty() && !self.follows_decorator(lines.start);
        let mark = style.mark(gap, is_in_block, pointer.as_deref());
        let mark = format!("{indent}{mark}{}", self.source.line_ending());
        (mark.len() < bytes.len()).then(|| SkeletonCut::new(bytes, mark))
    }

    fn follows_decorator(&self, line: usize) -> bool {
        let mut above = (0..line).rev().map(|line| self.text(line).trim()).filter(|text| !text.is_empty());
        above.next().is_some_and(|text| text.starts_with('@'))
    }

    /// Returns the line after the block that a run of dropped lines begins in, if the run goes on after it and nothing
    /// that is shown would end the block: one gap for both would pass for a part of the block.
    fn block_end(&self, parts: &ExcerptParts, run: &Range<usize>) -> Option<usize> {
        if !self.style?.ends_blocks_by_indent {
            return None;
        }
        let code_of = |line: usize| self.text(line).split('#').next().unwrap_or_default().trim();
        let first = run.clone().find(|line| !code_of(*line).is_empty())?;
        let is_head = (0..run.start).rev().map(code_of).find(|code| !code.is_empty())?.ends_with(':');
        let is_definition =
            ["def ", "async ", "class ", "@"].iter().any(|word| code_of(first).starts_with(word));
        // Among the members of a class, more definitions are what a reader expects of a gap.
        if is_definition && !is_head {
            return None;
        }
        let block = parts.innermost_list(self.starts[first] + self.indent(first).len())?;
        let is_indented =
            |line: &usize| code_of(*line).is_empty() && self.indent(first).len() <= self.indent(*line).len();
        let after = self.lines(&block).end;
        let comments =
            (after..run.end).take_while(is_indented).filter(|line| !self.text(*line).trim().is_empty());
        let end = comments.last().map_or(after, |line| line + 1);
        (end..run.end).any(|line| !code_of(line).is_empty()).then_some(end)
    }

    fn indent(&self, line: usize) -> &'s str {
        let text = self.text(line);
        &text[..text.len() - text.trim_start_matches([' ', '\t']).len()]
    }

    /// Returns runs of dropped lines, each with the blank lines around it.
    fn runs(&self, dropped: &[bool]) -> Vec<Range<usize>> {
        let is_gap =
            |line: usize| dropped[line] || (!self.is_body[line] && self.text(line).trim().is_empty());
        let mut runs = Vec::new();
        let mut line = 0;
        while line < dropped.len() {
            let start = line;
            while line < dropped.len() && is_gap(line) {
                line += 1;
            }
            // Blank lines alone are not a gap.
            if dropped[start..line]
                .iter()
                .zip(start..)
                .any(|(dropped, at)| *dropped && !self.text(at).trim().is_empty())
            {
                runs.push(start..line);
            }
            line = line.max(start + 1);
        }
        runs
    }

    /// Returns the lines that a cut takes away as a whole, if a comment on a line of its own can replace them: those
    /// between braces, or those of a block that begins and ends with a line.
    fn whole_lines_of(&self, cut: &SkeletonCut) -> Option<Range<usize>> {
        let style = self.style?;
        let text = self.source.text(cut.range().clone());
        let start = cut.range().start + (text.len() - text.trim_start().len());
        let text = text.trim();
        let range = start..start + text.len();
        let lines = self.lines(&range);
        let first = text.lines().next().unwrap_or_default().trim();
        let last = text.lines().next_back().unwrap_or_default().trim();
        if first == "{" && last == "}" && 2 < lines.len() {
            return Some(lines.start + 1..lines.end - 1);
        }
        // The initializers of a constructor of C++ are shown with its head: without them, the mark is an empty body.
        if first.starts_with(':') && last == "}" {
            return initializer_lines(text).map(|count| lines.start + count..lines.end - 1);
        }
        let is_block = self.source.line_prefix(range.start).trim().is_empty()
            && self.source.line_suffix(range.end).trim().is_empty();
        // A mark that is not a comment says more than a size, or is a value that must not be missing.
        let mark = cut.plain_mark().trim_start();
        let is_comment = mark.strip_prefix(style.statement).unwrap_or(mark).starts_with(style.comment.0)
            || mark.starts_with("/*");
        (is_block && is_comment).then_some(lines)
    }
}

/// Returns how many lines the initializers of a constructor have, up to the brace of the body that follows them.
fn initializer_lines(text: &str) -> Option<usize> {
    let (mut opened, mut closed) = (0, 0);
    let line = text.lines().position(|line| {
        let code = line.split("//").next().unwrap_or_default().trim();
        opened += code.matches('(').count();
        closed += code.matches(')').count();
        // The brace of an initializer follows a name.
        let head = code.strip_suffix('{').map(str::trim_end);
        opened == closed && head.is_some_and(|head| head.is_empty() || head.ends_with([')', '}', '.']))
    });
    line.map(|line| line + 1)
}

/// Returns whether a line is a directive of the C preprocessor that needs no other line.
fn is_whole_directive(line: &str) -> bool {
    let directive = line.trim().strip_prefix('#').map(str::trim_start);
    directive.is_some_and(|directive| {
        let is_known =
            ["define", "undef", "include", "pragma"].iter().any(|name| directive.starts_with(name));
        let ends_here =
            !directive.ends_with('\\') && (!directive.contains("/*") || directive.ends_with("*/"));
        is_known && ends_here
    })
}

fn mark_lines(marks: &mut [bool], ranges: &[RangeInclusive<u32>]) {
    for range in ranges {
        let start = (*range.start() as usize).saturating_sub(1).min(marks.len());
        let end = (*range.end() as usize).min(marks.len()).max(start);
        marks[start..end].fill(true);
    }
}

/// Returns the number of a line, from 1.
fn line_number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

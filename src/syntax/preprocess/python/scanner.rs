//! Line by line: which lines stay, which begin a body, and what is between them.

use std::ops::Range;

use memchr::{memchr, memchr_iter};

use super::statements::{PlaceholderEdit, PythonBracket, ScanStop};
use super::tokens::word_end;
use crate::model::SymbolKind;
use crate::syntax::text::{ExpectedSymbol, PreprocessedText};

/// More comments and symbols than this are not found in real code, and would only take memory.
const MAX_RECORDS: usize = 500_000;

/// A line that begins a statement.
#[derive(Clone, Copy)]
pub(super) struct CodeLine {
    pub(super) start: usize,
    /// Where its code begins.
    pub(super) code: usize,
    /// How far it is indented, as the grammar counts.
    pub(super) indent: usize,
}

/// Comments on lines that follow each other, all of which begin in the same column.
struct CommentLines {
    line: usize,
    range: Range<usize>,
    next_line: usize,
}

/// A class whose end is not reached yet.
struct OpenClass {
    indent: usize,
    expected: usize,
}

/// Reads a text from its beginning to its end.
#[derive(Default)]
pub(super) struct PythonScanner<'a> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    /// Where the next line begins.
    pub(super) at: usize,
    pub(super) out: PreprocessedText,
    /// Where the last code ends.
    pub(super) code_end: usize,
    /// A line that was read ahead.
    pub(super) pending: Option<CodeLine>,
    /// The edits of the current lines.
    pub(super) edits: Vec<PlaceholderEdit>,
    /// The comments among what is elided from the current lines.
    pub(super) taken_comments: Vec<Range<usize>>,
    /// The brackets that are open.
    pub(super) brackets: Vec<PythonBracket>,
    /// Brackets that are open in a body that is passed over, each as the byte that closes it.
    pub(super) closers: Vec<u8>,
    blocks: Vec<usize>,
    classes: Vec<OpenClass>,
    decorators: Option<usize>,
    expects_block: bool,
}

impl<'a> PythonScanner<'a> {
    /// Returns a scanner, unless the text ends its lines as the grammar does not.
    pub(super) fn new(text: &'a str) -> Option<Self> {
        let bytes = text.as_bytes();
        // Edits store positions as 32-bit numbers.
        u32::try_from(bytes.len()).ok()?;
        if memchr_iter(b'\r', bytes).any(|at| bytes.get(at + 1) != Some(&b'\n')) {
            return None;
        }
        Some(Self { text, bytes, blocks: vec![0], ..Self::default() })
    }

    /// Reads all lines; `None` at the first one that the scanner does not support.
    pub(super) fn preprocess(mut self) -> Option<PreprocessedText> {
        while let Some(line) = self.pending.take().or_else(|| self.next_line()) {
            self.read(line)?;
            if MAX_RECORDS < self.out.elided_comments.len() + self.out.expected_symbols.len() {
                return None;
            }
        }
        // The last block is empty, which is for the grammar to recover from.
        if self.expects_block {
            return None;
        }
        self.close_classes(0);
        // Each line is written with the line ending before it, so that the last one is missing.
        if self.text.ends_with('\n') {
            self.out.copy(self.text, self.text.len() - 1..self.text.len());
        }
        Some(self.out)
    }

    /// Returns the next line that has code; the comments before it stay, each run of them as one.
    pub(super) fn next_line(&mut self) -> Option<CodeLine> {
        let mut run: Option<CommentLines> = None;
        loop {
            let start = self.at;
            let (indent, code) = self.indent(start);
            match self.bytes.get(code) {
                None => {
                    self.keep_run(run);
                    return None;
                }
                Some(b'\n') => self.at = code + 1,
                Some(b'\r') => self.at = code + 2,
                Some(b'#') => {
                    let end = self.line_end(code);
                    self.at = end + 1;
                    let follows = |run: &CommentLines| {
                        run.next_line == start && run.range.start - run.line == code - start
                    };
                    if let Some(run) = run.as_mut().filter(|run| follows(run)) {
                        (run.range.end, run.next_line) = (end, end + 1);
                    } else {
                        self.keep_run(run);
                        run = Some(CommentLines { line: start, range: code..end, next_line: end + 1 });
                    }
                }
                Some(_) => {
                    self.keep_run(run);
                    return Some(CodeLine { start, code, indent });
                }
            }
        }
    }

    fn keep_run(&mut self, run: Option<CommentLines>) {
        if let Some(run) = run {
            self.copy_indent(run.line, run.range.start);
            // One comment for the whole run: the walk needs its position, and its text is read from the original.
            self.out.substitute("#", run.range);
        }
    }

    /// Appends the indent of a line, and the end of the line before it; empty lines are elided.
    pub(super) fn copy_indent(&mut self, line: usize, code: usize) {
        self.out.copy(self.text, line.saturating_sub(1)..code);
    }

    /// Returns how far the line at `start` is indented, and where its code begins. A tab counts 8, as in the grammar.
    pub(super) fn indent(&self, start: usize) -> (usize, usize) {
        let (mut indent, mut at) = (0, start);
        if start == 0 && self.bytes.starts_with(b"\xef\xbb\xbf") {
            at = 3;
        }
        loop {
            match self.bytes.get(at) {
                Some(b' ') => indent += 1,
                Some(b'\t') => indent += 8,
                // A form feed restarts the column, as it does in the grammar.
                Some(b'\x0c') => indent = 0,
                Some(_) | None => return (indent, at),
            }
            at += 1;
        }
    }

    pub(super) fn line_end(&self, at: usize) -> usize {
        let rest = &self.bytes[at.min(self.bytes.len())..];
        self.bytes.len() - rest.len() + memchr(b'\n', rest).unwrap_or(rest.len())
    }

    fn read(&mut self, line: CodeLine) -> Option<()> {
        self.enter_block(line.indent)?;
        self.copy_indent(line.start, line.code);
        // Decorators belong to the symbol that follows, which begins with the first of them.
        if self.bytes[line.code] == b'@' {
            self.decorators.get_or_insert(line.code);
            return self.keep(line.code);
        }
        let start = self.decorators.take().unwrap_or(line.code);
        let (mut word, mut name) = self.word(line.code);
        if word == b"async" {
            (word, name) = self.word(name);
        }
        match word {
            b"def" => self.function(line, start, name),
            b"class" => self.class(line, start, name),
            _ => self.keep(line.code),
        }
    }

    /// Returns the word at `start`, and where what follows it begins.
    fn word(&self, start: usize) -> (&'a [u8], usize) {
        let end = word_end(self.bytes, start);
        let spaces = self.bytes[end..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        (&self.bytes[start..end], end + spaces)
    }

    /// Enters the block of a line, or leaves those that it is not in.
    fn enter_block(&mut self, indent: usize) -> Option<()> {
        let around = *self.blocks.last()?;
        if self.expects_block {
            self.blocks.push(indent);
            self.expects_block = false;
            // A block that is not indented is an error of the source, and the grammar's to recover from.
            return (around < indent).then_some(());
        }
        while self.blocks.last().is_some_and(|block| indent < *block) {
            self.blocks.pop();
        }
        self.close_classes(indent);
        // A line between two known depths is an error of the source.
        (self.blocks.last() == Some(&indent)).then_some(())
    }

    fn close_classes(&mut self, indent: usize) {
        while let Some(class) = self.classes.pop_if(|class| indent <= class.indent) {
            self.out.expected_symbols[class.expected].range.end = self.code_end;
        }
    }

    /// Keeps a statement, except for the contents of its strings and brackets.
    fn keep(&mut self, start: usize) -> Option<()> {
        let end = self.scan_statement(start, ScanStop::AtLineEnd)?;
        self.code_end = self.code_end_before(start, end)?;
        self.flush(start..self.code_end);
        // Outside of brackets nothing but the head of a block ends with a colon.
        self.expects_block = self.bytes[self.code_end - 1] == b':';
        self.end_line(self.code_end);
        Some(())
    }

    fn class(&mut self, line: CodeLine, start: usize, name: usize) -> Option<()> {
        let expected = self.record_head(SymbolKind::Class, line.code, start, name)?;
        let colon = self.code_end;
        self.classes.push(OpenClass { indent: line.indent, expected });
        if let Some(first) = self.code_on_line(colon) {
            // A body on the line of a class is not a block.
            self.out.copy(self.text, colon..first);
            return self.keep(first);
        }
        self.end_line(colon);
        self.expects_block = true;
        Some(())
    }

    fn function(&mut self, line: CodeLine, start: usize, name: usize) -> Option<()> {
        let expected = self.record_head(SymbolKind::Function, line.code, start, name)?;
        self.elide_body(line.indent)?;
        self.out.expected_symbols[expected].range.end = self.code_end;
        Some(())
    }

    /// Keeps a head up to its colon, and records its symbol as expected.
    fn record_head(&mut self, kind: SymbolKind, code: usize, start: usize, name: usize) -> Option<usize> {
        let (word, _) = self.word(name);
        let colon = self.scan_statement(code, ScanStop::AtColon)?;
        if word.is_empty() || self.bytes.get(colon) != Some(&b':') {
            return None;
        }
        self.code_end = colon + 1;
        self.flush(code..self.code_end);
        let name = self.text.get(name..name + word.len())?.to_owned();
        self.out.expected_symbols.push(ExpectedSymbol {
            kind,
            name,
            range: start..self.code_end,
            signature: code..colon,
        });
        Some(self.out.expected_symbols.len() - 1)
    }

    /// Returns where code begins from `start` on and on its line, which a backslash may continue.
    pub(super) fn code_on_line(&self, start: usize) -> Option<usize> {
        let mut at = start;
        loop {
            let rest = self.bytes.get(at..)?;
            match rest.first()? {
                b' ' | b'\t' | b'\r' | b'\x0c' => at += 1,
                b'\\' => at = self.after_continuation(at)?,
                b'\n' | b'#' => return None,
                _ => return Some(at),
            }
        }
    }

    /// Goes on to the next line, after code that ends at `end`; a comment on the line stays.
    pub(super) fn end_line(&mut self, end: usize) {
        let line_end = self.line_end(end);
        // No string follows the end of the code, so that the first `#` begins a comment.
        if let Some(comment) = memchr(b'#', &self.bytes[end..line_end]) {
            self.out.copy(self.text, end..end + comment);
            self.out.substitute("#", end + comment..line_end);
        }
        self.at = line_end + 1;
    }

    /// Returns where code ends that extends to `end` at most; `None` where a continued line has no continuation.
    pub(super) fn code_end_before(&self, start: usize, end: usize) -> Option<usize> {
        let code = self.bytes[start..end].trim_ascii_end();
        (!code.is_empty() && code.last() != Some(&b'\\')).then_some(start + code.len())
    }
}

/// Elides from a Python text what neither its outline nor its skeleton needs.
pub(in crate::syntax) fn preprocess_python(text: &str) -> Option<PreprocessedText> {
    PythonScanner::new(text)?.preprocess()
}

//! The bodies of functions, which are elided.

use super::scanner::{CodeLine, PythonScanner};
use super::tokens::{STOPS, is_prefix, scan_string, word_before, word_end};

/// Brackets nested deeper than this are left to the limits of the parser.
const MAX_NESTING: usize = 20_000;

/// What follows a docstring in a body.
enum AfterDocstring {
    /// Statements, the first of which begins there.
    Begins(usize),
    Nothing,
}

impl PythonScanner<'_> {
    /// Elides the body of a function whose head ends with the last code. A docstring stays.
    pub(super) fn elide_body(&mut self, around: usize) -> Option<()> {
        let colon = self.code_end;
        let same_line = self.code_on_line(colon);
        let (mut start, indent) = if let Some(start) = same_line {
            self.out.copy(self.text, colon..start);
            // No indent is as deep as this, so that the body ends with the line.
            (start, usize::MAX)
        } else {
            self.end_line(colon);
            // A body that is not indented is an error of the source, and the grammar's to recover from.
            let line = self.next_line().filter(|line| around < line.indent)?;
            self.copy_indent(line.start, line.code);
            (line.code, line.indent)
        };
        // A docstring stays, because the walk reads the doc of the symbol from it.
        if let Some(end) = self.only_strings(start) {
            self.code_end = end;
            self.flush(start..end);
            match self.after_docstring(around, indent)? {
                AfterDocstring::Begins(next) => start = next,
                AfterDocstring::Nothing => return Some(()),
            }
        }
        let end = self.body_end(start, around, indent)?;
        // A name is the shortest statement, and the grammar requires one.
        self.out.substitute("_", start..end);
        self.code_end = end;
        self.end_line(end);
        Some(())
    }

    /// Returns where the statements after a docstring begin, if there are any.
    fn after_docstring(&mut self, around: usize, indent: usize) -> Option<AfterDocstring> {
        let end = self.code_end;
        if let Some(semicolon) = self.code_on_line(end) {
            self.code_end = semicolon + 1;
            if let Some(next) = self.code_on_line(semicolon + 1) {
                self.out.copy(self.text, end..next);
                return Some(AfterDocstring::Begins(next));
            }
            self.out.copy(self.text, end..semicolon + 1);
        }
        self.end_line(self.code_end);
        if indent == usize::MAX {
            return Some(AfterDocstring::Nothing);
        }
        let next: Option<CodeLine> = self.next_line();
        match next {
            Some(line) if around < line.indent => {
                self.copy_indent(line.start, line.code);
                // A statement at another depth than the docstring is an error of the source.
                (line.indent == indent).then_some(AfterDocstring::Begins(line.code))
            }
            Some(_) | None => {
                // The line is outside of the body, so that it is the next statement to be read.
                self.pending = next;
                Some(AfterDocstring::Nothing)
            }
        }
    }

    /// Returns the end of a statement that consists of strings alone, and elides their texts; `None` where it is
    /// another statement.
    fn only_strings(&mut self, start: usize) -> Option<usize> {
        let end = self.end_of_strings(start);
        if end.is_none() {
            self.edits.clear();
        }
        end
    }

    fn end_of_strings(&mut self, start: usize) -> Option<usize> {
        let (mut at, mut depth, mut end) = (start, 0_usize, None);
        loop {
            let byte = self.bytes.get(at).copied();
            match byte {
                Some(b' ' | b'\t' | b'\r' | b'\x0c') => at += 1,
                Some(b'(') => (at, depth) = (at + 1, depth + 1),
                Some(b')') => {
                    depth = depth.checked_sub(1)?;
                    at += 1;
                    end = end.map(|_| at);
                }
                Some(b'\\') => at = self.after_continuation(at)?,
                Some(b'\n') if 0 < depth => at += 1,
                Some(b'#') if 0 < depth => at = self.line_end(at),
                None | Some(b'\n' | b'#' | b';') => return end.filter(|_| depth == 0),
                Some(_) => {
                    let quote = word_end(self.bytes, at);
                    let is_string = matches!(self.bytes.get(quote), Some(b'"' | b'\''));
                    let prefix = &self.bytes[at..quote];
                    if !is_string || !is_prefix(prefix) {
                        return None;
                    }
                    at = self.string(prefix, quote)?;
                    end = Some(at);
                }
            }
        }
    }

    /// Returns where the last statement of a body ends that begins at `start`.
    fn body_end(&mut self, start: usize, around: usize, indent: usize) -> Option<usize> {
        let mut code_end = self.statement_end(start)?;
        if indent == usize::MAX {
            return Some(code_end);
        }
        loop {
            let (own, code) = self.indent(self.at);
            match self.bytes.get(code) {
                None => return Some(code_end),
                Some(b'\n') => self.at = code + 1,
                Some(b'\r') => self.at = code + 2,
                Some(b'#') => self.at = self.line_end(code) + 1,
                Some(_) if own <= around => return Some(code_end),
                // No block can be between the two depths.
                Some(_) if own < indent => return None,
                Some(_) => code_end = self.statement_end(code)?,
            }
        }
    }

    /// Passes over the lines of one statement, and returns where its code ends.
    fn statement_end(&mut self, start: usize) -> Option<usize> {
        let mut at = start;
        self.closers.clear();
        loop {
            let rest = &self.bytes[at..];
            at += rest.iter().position(|byte| STOPS[usize::from(*byte)]).unwrap_or(rest.len());
            match self.bytes.get(at).copied() {
                None | Some(b'\n' | b'#') if self.closers.is_empty() => break,
                // Python 2 quotes expressions with backquotes.
                Some(b'\n' | b'`') => at += 1,
                Some(b'#') => at = self.line_end(at),
                Some(b'\\') => at = self.after_continuation(at)?,
                Some(b'"' | b'\'') => {
                    at = scan_string(self.bytes, word_before(self.bytes, start, at), at)?.after;
                }
                Some(open @ (b'(' | b'[' | b'{')) => {
                    // In ASCII `]` and `}` are two places after the brackets that they close.
                    self.closers.push(if open == b'(' { b')' } else { open + 2 });
                    if MAX_NESTING < self.closers.len() {
                        return None;
                    }
                    at += 1;
                }
                Some(close @ (b')' | b']' | b'}')) => {
                    self.closers.pop_if(|closer| *closer == close)?;
                    at += 1;
                }
                // What no Python has outside of strings, or the end of the text within brackets.
                Some(_) | None => return None,
            }
        }
        self.at = self.line_end(at) + 1;
        self.code_end_before(start, at)
    }
}

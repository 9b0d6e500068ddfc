//! Lines of the preprocessor between items, and within them.

use std::ops::Range;

use super::conditions::ConditionDirective;
use super::scanner::{CScanner, Unsupported};
use super::tokens::{comment_end, directive_end, word_end};
use crate::model::SymbolKind;
use crate::syntax::text::{SynthesizedItem, SynthesizedSymbol};

impl CScanner<'_> {
    /// Reads the directive that begins here.
    pub(super) fn directive(&mut self) -> Result<(), Unsupported> {
        let start = self.at;
        let end = directive_end(self.bytes, start);
        self.end_lone_call();
        if !self.tokens.is_empty() {
            self.edits.push((start..end, ""));
        }
        let turn = self.condition_directive(start);
        if turn != ConditionDirective::Other {
            // Before the checkpoint of a condition that begins, so that an empty branch is detected as one.
            if self.tokens.is_empty() && matches!(turn, ConditionDirective::If | ConditionDirective::IfZero) {
                self.out.synthesized.push(SynthesizedItem::Ignored(start..end));
            }
            return self.follow_condition(turn, end, 0);
        }
        self.at = end;
        let name = self.after_spaces(start + 1);
        let name = name..word_end(self.bytes, name);
        match &self.bytes[name.clone()] {
            b"include" | b"import" | b"include_next" => self.include(start..end, name.end),
            b"define" => self.define(start..end, name.end),
            _ if self.tokens.is_empty() => self.out.synthesized.push(SynthesizedItem::Ignored(start..end)),
            _ => {}
        }
        Ok(())
    }

    fn after_spaces(&self, at: usize) -> usize {
        let mut at = at;
        loop {
            match self.bytes[at..] {
                [b' ' | b'\t', ..] => at += 1,
                [b'\\', b'\n', ..] => at += 2,
                [b'\\', b'\r', b'\n', ..] => at += 3,
                _ => return at,
            }
        }
    }

    fn include(&mut self, line: Range<usize>, at: usize) {
        let start = self.after_spaces(at).min(line.end);
        let rest = &self.bytes[start..line.end];
        let close = match rest.first() {
            Some(b'<') => b'>',
            Some(b'"') => b'"',
            Some(_) | None => b' ',
        };
        let is_quoted = close != b' ';
        let length = rest.iter().skip(1).position(|byte| *byte == close || (!is_quoted && *byte == b'/'));
        let end = match length {
            Some(length) => start + 1 + length + usize::from(is_quoted),
            None => start + rest.trim_ascii_end().len(),
        };
        self.out.synthesized.push(SynthesizedItem::Import(line.clone(), start..end));
        self.remember_comments(end..line.end);
    }

    fn define(&mut self, line: Range<usize>, at: usize) {
        let start = self.after_spaces(at).min(line.end);
        let name = start..word_end(self.bytes, start).min(line.end);
        if name.is_empty() {
            self.out.synthesized.push(SynthesizedItem::Ignored(line));
            return;
        }
        if self.bytes.get(name.end) != Some(&b'(') {
            let value = self.macro_value(name.end..line.end);
            self.remember_comments(value.end..line.end);
            let value = if value.is_empty() { None } else { Some(SynthesizedItem::MacroValue(value)) };
            self.out.synthesized.push(value.unwrap_or(SynthesizedItem::Ignored(line)));
            return;
        }
        let rest = &self.bytes[name.end..line.end];
        let Some(close) = rest.iter().position(|byte| *byte == b')') else {
            self.out.synthesized.push(SynthesizedItem::Ignored(line));
            return;
        };
        let head_end = name.end + close + 1;
        let value = self.macro_value(head_end..line.end);
        self.remember_comments(value.end..line.end);
        let end = if value.is_empty() { head_end } else { value.end };
        self.out.synthesized.push(SynthesizedItem::Symbol(SynthesizedSymbol {
            kind: SymbolKind::Macro,
            name: self.text[name].to_owned(),
            scope: String::new(),
            range: line.start..end,
            signature: line.start..head_end,
            cut: (!value.is_empty()).then_some(value),
            has_type: true,
        }));
    }

    /// Returns the value in the rest of a line that defines a macro: to its end, or to a comment.
    fn macro_value(&self, rest: Range<usize>) -> Range<usize> {
        let start = self.after_spaces(rest.start).min(rest.end);
        let text = &self.bytes[start..rest.end];
        if text.starts_with(b"//") {
            return start..start;
        }
        let length = memchr::memmem::find(text, b"/*").unwrap_or(text.len());
        start..start + text[..length].trim_ascii_end().len()
    }

    /// Records the comments in the rest of a line, which are about what precedes them.
    fn remember_comments(&mut self, rest: Range<usize>) {
        let mut at = rest.start;
        while let Some(found) = self.bytes.get(at..rest.end).and_then(|rest| memchr::memchr(b'/', rest)) {
            at += found;
            if !matches!(self.bytes.get(at + 1), Some(b'/' | b'*')) {
                at += 1;
                continue;
            }
            // One that nothing closes is not a comment, and none after it is closed either.
            let Some(end) = comment_end(self.bytes, at).map(|end| end.min(rest.end)) else { return };
            self.out.elided_comments.push(at..end);
            at = end;
        }
    }
}

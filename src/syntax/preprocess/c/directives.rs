//! Lines of the preprocessor, and the branches of `#if` that are skipped, between items and within blocks.
//!
//! It is not known here what is defined. So the first branch is read, and another one too if it is whole: if it begins
//! between two items, and closes what it opens. In the body of a function only the first branch is scanned. What
//! follows `#if 0` need not be code, and is read if it is whole.

use std::ops::Range;

use super::scanner::{CScanner, MAX_DEPTH, OpenCondition, Unsupported};
use super::tokens::{CTokenKind, begins_line, directive_end};
use crate::model::SymbolKind;
use crate::syntax::text::c_lexemes::{comment_end, line_end, quote_end, quoted_end, word_end};
use crate::syntax::text::{SynthesizedItem, SynthesizedSymbol};

/// The bytes that are significant in the body of a function.
const SIGNIFICANT: [bool; 256] = {
    let mut matters = [false; 256];
    let signs = *b"{}\"'/#";
    let mut at = 0;
    while at < signs.len() {
        matters[signs[at] as usize] = true;
        at += 1;
    }
    matters
};

/// What a line of the preprocessor does with conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConditionDirective {
    If,
    /// `#if 0`
    IfZero,
    Else,
    End,
    /// Nothing.
    Other,
}

impl CScanner<'_> {
    /// Reads the name of the directive at `at`.
    fn condition_directive(&self, at: usize) -> ConditionDirective {
        let rest = self.bytes[at + 1..].trim_ascii_start();
        let end = rest.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(rest.len());
        match &rest[..end] {
            b"if" => {
                let value = rest[end..].trim_ascii_start();
                // `#if 0x10` is a condition like any other.
                let is_zero = value.first() == Some(&b'0')
                    && value.get(1).is_none_or(|byte| byte.is_ascii_whitespace() || *byte == b'/');
                if is_zero { ConditionDirective::IfZero } else { ConditionDirective::If }
            }
            b"ifdef" | b"ifndef" => ConditionDirective::If,
            b"else" | b"elif" | b"elifdef" | b"elifndef" => ConditionDirective::Else,
            b"endif" => ConditionDirective::End,
            _ => ConditionDirective::Other,
        }
    }

    /// Follows a directive that ends at `end` and is `inner` braces deep in the body of a function, if in one.
    fn follow_condition(
        &mut self,
        directive: ConditionDirective,
        end: usize,
        inner: usize,
    ) -> Result<(), Unsupported> {
        let depth = self.scopes.len() + inner;
        self.at = end;
        match directive {
            ConditionDirective::If | ConditionDirective::IfZero => self.begin_condition(directive, depth),
            ConditionDirective::Else => self.begin_branch(depth, 0 < inner),
            ConditionDirective::End => self.end_condition(depth),
            ConditionDirective::Other => Ok(()),
        }
    }

    fn begin_condition(&mut self, directive: ConditionDirective, depth: usize) -> Result<(), Unsupported> {
        if self.conditions.len() == MAX_DEPTH {
            return Err(Unsupported);
        }
        let is_inside = self.scopes.len() < depth;
        // Between items, `#if 0` may exclude whole declarations, which are worth showing; within an item or a body it
        // excludes a fragment, which is not.
        if directive == ConditionDirective::IfZero
            && (is_inside || !self.tokens.is_empty())
            && self.skip_branches(true)? == ConditionDirective::End
        {
            return Ok(());
        }
        let mark = self.out.checkpoint();
        let can_be_abandoned =
            directive == ConditionDirective::IfZero && !is_inside && self.tokens.is_empty();
        self.conditions.push(OpenCondition {
            depth,
            tokens: self.tokens.count(),
            groups: self.tokens.depth(),
            branch: can_be_abandoned.then(|| (self.at, mark.clone())),
            mark,
        });
        Ok(())
    }

    fn begin_branch(&mut self, depth: usize, is_inside: bool) -> Result<(), Unsupported> {
        let is_level = self.is_balanced(depth)?;
        let Some(condition) = self.conditions.last_mut() else { return Err(Unsupported) };
        // The branch leaves brackets open, or closes some that it did not open. The error makes the scanner
        // go back and skip it.
        if !is_level && condition.branch.is_some() {
            return Err(Unsupported);
        }
        // A branch can be abandoned only where no item spans its start: an item that is half in each branch has no
        // other beginning.
        let is_between = condition.tokens == 0;
        let is_empty = is_level && self.out.is_unchanged_since(&condition.mark);
        if is_level && is_empty && !is_inside {
            // Nothing was in the branch before, so that this one is the first.
            condition.branch = None;
            return Ok(());
        }
        if is_level && is_between && !is_inside {
            condition.branch = Some((self.at, self.out.checkpoint()));
            return Ok(());
        }
        // Within an item only one branch can be read, or the item would contain both.
        self.conditions.pop();
        self.skip_branches(false)?;
        Ok(())
    }

    fn end_condition(&mut self, depth: usize) -> Result<(), Unsupported> {
        let is_level = self.is_balanced(depth)?;
        let Some(condition) = self.conditions.last() else { return Err(Unsupported) };
        if !is_level && condition.branch.is_some() {
            return Err(Unsupported);
        }
        self.conditions.pop();
        Ok(())
    }

    /// Returns whether as much is open as when the condition began.
    fn is_balanced(&self, depth: usize) -> Result<bool, Unsupported> {
        let condition = self.conditions.last().ok_or(Unsupported)?;
        Ok(condition.depth == depth
            && condition.tokens == self.tokens.count()
            && condition.groups == self.tokens.depth())
    }

    /// Returns whether the current scope was opened before a branch that can be abandoned: it cannot be closed in
    /// there.
    pub(super) fn is_scope_pinned(&self) -> bool {
        let branch = self.conditions.iter().rev().find(|condition| condition.branch.is_some());
        branch.is_some_and(|condition| self.scopes.len() <= condition.depth)
    }

    /// Goes back to where the innermost branch began that can be abandoned, and skips it.
    pub(super) fn abandon_branch(&mut self) -> Result<(), Unsupported> {
        // Conditions that began within the abandoned branch are dropped with it.
        while let Some(mut condition) = self.conditions.pop() {
            let Some((at, mark)) = condition.branch.take() else { continue };
            // What was read of the branch so far may be wrong too, not only what could not be read.
            self.out.roll_back(&mark);
            self.clear_item();
            self.scopes.truncate(condition.depth);
            self.at = at;
            if self.skip_branches(true)? == ConditionDirective::Else {
                let is_first = self.out.is_unchanged_since(&condition.mark);
                condition.branch = (!is_first).then_some((self.at, mark));
                self.conditions.push(condition);
            }
            return Ok(());
        }
        Err(Unsupported)
    }

    /// Skips the branches up to the `#endif`, or up to the next `#else`, and returns which of them it was.
    fn skip_branches(&mut self, stops_at_else: bool) -> Result<ConditionDirective, Unsupported> {
        let start = self.at;
        let mut depth = 0_usize;
        while let Some((sign, end)) = self.next_directive() {
            self.at = end;
            let directive = self.condition_directive(sign);
            match directive {
                ConditionDirective::If | ConditionDirective::IfZero => depth += 1,
                ConditionDirective::End if depth == 0 => return Ok(self.record_skipped(start, directive)),
                ConditionDirective::End => depth -= 1,
                ConditionDirective::Else if depth == 0 && stops_at_else => {
                    return Ok(self.record_skipped(start, directive));
                }
                ConditionDirective::Else | ConditionDirective::Other => {}
            }
        }
        Err(Unsupported)
    }

    fn record_skipped(&mut self, start: usize, directive: ConditionDirective) -> ConditionDirective {
        // Between items nothing is copied that is not read, so that only an item has something to remove.
        if !self.tokens.is_empty() {
            self.edits.push((start..self.at, ""));
        }
        self.out.repairs += 1;
        directive
    }

    /// Returns the next directive from here on, and where it ends.
    fn next_directive(&self) -> Option<(usize, usize)> {
        let mut at = self.at;
        loop {
            let rest = self.bytes.get(at..)?;
            let step = memchr::memchr3(b'\n', b'/', b'"', rest)?;
            at += step + 1;
            // Only a comment can hide a `#` at the beginning of a line, and only a string the beginning of a comment.
            // Characters are not tracked: in a skipped branch an apostrophe may be prose.
            match rest[step] {
                b'/' if matches!(self.bytes.get(at), Some(b'*' | b'/')) => {
                    at = comment_end(self.bytes, at - 1)?;
                    continue;
                }
                b'/' => continue,
                b'"' => {
                    at = quoted_end(self.bytes, at - 1);
                    continue;
                }
                _ => {}
            }
            let spaces = self.bytes[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            if self.bytes.get(at + spaces) == Some(&b'#') {
                return Some((at + spaces, directive_end(self.bytes, at + spaces)));
            }
            at += spaces;
        }
    }

    /// Returns where the block ends that is opened at `open`. Conditions in it are followed; one that is still open
    /// when the block ends stays so.
    pub(super) fn matching_brace(&mut self, open: usize) -> Result<usize, Unsupported> {
        let item = self.at;
        let mut depth = 0_usize;
        let mut at = open;
        loop {
            let rest = self.bytes.get(at..).unwrap_or_default();
            // A table and not tokens: most bytes of a text are in bodies, of which nothing but the end matters.
            let Some(step) = rest.iter().position(|byte| SIGNIFICANT[usize::from(*byte)]) else {
                return Err(Unsupported);
            };
            at += step;
            match self.bytes[at] {
                b'{' => depth += 1,
                b'}' => {
                    depth = depth.checked_sub(1).ok_or(Unsupported)?;
                    if depth == 0 {
                        // `follow_condition` moved the position, but the item has not ended.
                        self.at = item;
                        return Ok(at + 1);
                    }
                }
                b'/' if matches!(self.bytes.get(at + 1), Some(b'/' | b'*')) => {
                    at = comment_end(self.bytes, at).ok_or(Unsupported)?;
                    continue;
                }
                b'#' if begins_line(self.bytes, at) => {
                    let end = self.directive_or_assembly_end(at);
                    self.follow_condition(self.condition_directive(at), end, depth)?;
                    at = self.at;
                    continue;
                }
                b'/' | b'#' => {}
                _ => {
                    at = quote_end(self.bytes, at, &mut self.unended);
                    continue;
                }
            }
            at += 1;
        }
    }

    /// Skips `{…}` that is a part of the current item.
    pub(super) fn push_braces(&mut self) -> Result<(), Unsupported> {
        let end = self.matching_brace(self.at)?;
        self.push(CTokenKind::Braces, end - self.at);
        Ok(())
    }

    /// Reads the directive that begins here.
    pub(super) fn directive(&mut self) -> Result<(), Unsupported> {
        let start = self.at;
        let end = self.directive_or_assembly_end(start);
        // First, because a macro on a line of its own is not an item that the directive could be in.
        self.end_lone_call();
        if !self.tokens.is_empty() {
            self.edits.push((start..end, ""));
        }
        let directive = self.condition_directive(start);
        if directive != ConditionDirective::Other {
            // Before the checkpoint of a condition that begins, so that an empty branch is detected as one.
            if self.tokens.is_empty()
                && matches!(directive, ConditionDirective::If | ConditionDirective::IfZero)
            {
                self.out.synthesized.push(SynthesizedItem::Ignored(start..end));
            }
            return self.follow_condition(directive, end, 0);
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

    /// Returns where a directive ends; for `#pragma asm` or `#asm`, after the assembler code, with `#pragma endasm`.
    fn directive_or_assembly_end(&mut self, at: usize) -> usize {
        if self.unended_assembly || !self.is_assembly(at, b"asm") {
            return directive_end(self.bytes, at);
        }
        let mut line = line_end(self.bytes, at);
        while line < self.bytes.len() {
            let sign = self.after_spaces(line + 1);
            if self.bytes.get(sign) == Some(&b'#') && self.is_assembly(sign, b"endasm") {
                return line_end(self.bytes, sign);
            }
            line = line_end(self.bytes, line + 1);
        }
        self.unended_assembly = true;
        directive_end(self.bytes, at)
    }

    /// Returns whether a directive is `#pragma` with that word, or the word itself.
    fn is_assembly(&self, sign: usize, word: &[u8]) -> bool {
        let mut at = self.after_spaces(sign + 1);
        if self.bytes[at..].starts_with(b"pragma") {
            at = self.after_spaces(at + b"pragma".len());
        }
        self.bytes[at..word_end(self.bytes, at)].eq_ignore_ascii_case(word)
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
        // Only a parenthesis directly after the name begins parameters; after a blank it begins the value.
        if self.bytes.get(name.end) != Some(&b'(') {
            let value = self.macro_value(name.end..line.end);
            self.remember_comments(value.end..line.end);
            let value = if value.is_empty() { None } else { Some(SynthesizedItem::MacroValue(value)) };
            self.out.synthesized.push(value.unwrap_or(SynthesizedItem::Ignored(line)));
            return;
        }
        let rest = &self.bytes[name.end..line.end];
        // The first one, because the parameters of a macro contain no parentheses.
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
        // Strings are not tracked: with `/*` in one, less of the value is cut.
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

//! Copies an item for the grammar, without the macros and attributes that it would not understand.

use std::ops::Range;

use super::scanner::CScanner;
use super::tokens::{CToken, CTokenKind};
use super::words::{MAX_MACROS, is_attribute, is_macro_name, is_specifier};

impl CScanner<'_> {
    /// Elides macros and attributes from the current item.
    pub(super) fn repair(&mut self) {
        let count = self.tokens.len();
        let mut seen_parameters = false;
        for top in 0..count {
            let next = self.tokens.kind(top + 1);
            let kind = self.tokens.kind(top);
            if kind == Some(CTokenKind::Paren) {
                seen_parameters = true;
                continue;
            }
            if kind != Some(CTokenKind::Word) {
                continue;
            }
            let word = self.top_text(top);
            let takes_arguments = next == Some(CTokenKind::Paren);
            // The grammar understands these three, and they belong to the signature.
            let is_plain_attribute = is_attribute(word) && !matches!(word, "noexcept" | "throw" | "explicit");
            let is_trailing = seen_parameters && (is_macro_name(word) || word.starts_with("__"));
            if takes_arguments && (is_plain_attribute || is_trailing) {
                self.leave_out(top, top + 1);
            } else if is_trailing || (self.is_leading_macro(top) && next == Some(CTokenKind::Word)) {
                self.leave_out(top, top);
            }
        }
    }

    /// Returns whether a word before the type is a macro: `EXPORT int f()`, `static __always_inline int f()`.
    fn is_leading_macro(&self, top: usize) -> bool {
        let word = self.top_text(top);
        let leads = top < MAX_MACROS && (0..top).all(|before| is_specifier(self.top_text(before)));
        let is_followed = self.tokens.kind(top + 2).is_some_and(|kind| {
            matches!(
                kind,
                CTokenKind::Word
                    | CTokenKind::Star
                    | CTokenKind::Ampersand
                    | CTokenKind::Scope
                    | CTokenKind::Less
            )
        });
        let looks_so = is_macro_name(word) || word.starts_with("__") && !is_specifier(word);
        leads && is_followed && looks_so
    }

    /// Elides macros from what precedes the keyword of a type or a namespace.
    pub(super) fn repair_lead(&mut self, keyword: usize) {
        let mut top = 0;
        while top < keyword {
            let word = self.top_text(top);
            let takes_arguments = self.tokens.is(top + 1, CTokenKind::Paren);
            let last = if takes_arguments { top + 1 } else { top };
            if self.tokens.is(top, CTokenKind::Word)
                && (is_attribute(word) || is_macro_name(word) || word == "export")
            {
                self.leave_out(top, last);
            }
            top = last + 1;
        }
    }

    /// Elides a part of the row from the item. The start of the item is mapped to what follows an elided start, so that
    /// the item still begins where it is written.
    fn leave_out(&mut self, first: usize, last: usize) {
        let Some(start) = self.tokens.top_level(first).map(CToken::start) else { return };
        let end = self.tokens.top_end(last);
        self.out.repairs += 1;
        match self.tokens.top_level(last + 1) {
            Some(next) if first == 0 && next.kind == CTokenKind::Word => {
                let (end, word) = (next.end(), next.range());
                let text = self.text;
                self.edits.push((start..end, &text[word]));
            }
            Some(_) | None => self.edits.push((start..end, "")),
        }
    }

    /// Copies a part of the current item, with its edits.
    pub(super) fn copy_item(&mut self, range: Range<usize>) {
        self.ensure_separator(range.start);
        // Comments are recorded while an item is read, and repairs once it is whole.
        self.edits.sort_by_key(|(edited, _)| edited.start);
        let mut at = range.start;
        // Edits may overlap, such as that of a comment within an attribute: the one that begins first
        // includes the others.
        for (edited, text) in std::mem::take(&mut self.edits) {
            if edited.start < at || range.end < edited.end {
                continue;
            }
            self.out.copy(self.text, at..edited.start);
            self.out.substitute(text, edited.clone());
            at = edited.end;
        }
        self.out.copy(self.text, at..range.end);
    }

    /// Separates what follows from the last output.
    fn ensure_separator(&mut self, start: usize) {
        // What was elided may have been all that separated two items.
        if self.out.text.is_empty() || self.out.text.ends_with(['\n', ' ']) {
            return;
        }
        // The blank before the item is copied and not made up, so that it is mapped to itself.
        if self.bytes[..start].last().is_some_and(|byte| matches!(byte, b' ' | b'\n' | b'\t')) {
            self.out.copy(self.text, start - 1..start);
        } else {
            self.out.substitute("\n", start..start);
        }
    }
}

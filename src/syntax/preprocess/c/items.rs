//! Items: what is between two semicolons or braces of a file, a namespace, a class or an enumeration.

use super::heads::ScopeHead;
use super::item_reader::{ItemEnding, ItemReading};
use super::scanner::{CScanner, Dialect, MAX_DEPTH, OpenScope, ScopeKind, Unsupported};
use super::tokens::{CToken, CTokenKind};
use super::words::{
    MAX_MACROS, begins_declaration, begins_scope_head, is_about_layout, is_access, is_attribute,
    is_macro_name, is_specifier,
};
use crate::model::SymbolKind;
use crate::syntax::text::{ExpectedSymbol, SynthesizedItem, SynthesizedSymbol};

/// An initializer, or another block within an item, of more bytes than this is not given to the grammar.
const LARGE_BLOCK: usize = 40;

impl CScanner<'_> {
    /// Checks a word that begins a line and ends at `end`: if only a macro or its call precedes it on lines of its own,
    /// that item has ended without a semicolon.
    pub(super) fn end_unterminated_macro(&mut self, end: usize) {
        let word = &self.text[self.at..end];
        if self.is_ended_before(word) {
            self.discard_item();
            return;
        }
        // `static MACRO(a)`, or `MACRO(a)` below other macros.
        let lead = match self.lone_macros() {
            0 => (0..self.tokens.len().min(3)).take_while(|top| is_specifier(self.top_text(*top))).count(),
            lead => lead,
        };
        let is_call = self.tokens.len() == lead + 2 && self.tokens.is(lead + 1, CTokenKind::Paren);
        if !self.tokens.is(0, CTokenKind::Word) || (self.tokens.len() != 1 && !is_call) {
            if is_access(word) && self.is_in_type() && self.is_only_macros() {
                self.discard_item();
            }
            return;
        }
        // `DEPRECATED(void f() { })`
        let has_code = is_call && {
            let inside = self.tokens.group(lead + 1);
            inside.iter().any(|token| matches!(token.kind, CTokenKind::Braces | CTokenKind::Semicolon))
        };
        let name = self.top_text(if is_call { lead } else { 0 });
        // `EXPORT(int)` on a line of its own is the type of what follows.
        let is_type = is_call && !is_macro_name(word) && self.is_called(end);
        let is_macro = is_macro_name(name) && !is_type && (is_call || is_access(word));
        let continues =
            begins_declaration(name) || is_attribute(name) || name == "extern" || name == "export";
        if is_macro || has_code || (begins_declaration(word) && !continues) {
            self.discard_item();
        }
    }

    /// Returns how many macros on lines of their own the current item begins with.
    fn lone_macros(&self) -> usize {
        let is_lone = |top: &usize| {
            let next = self.tokens.top_level(top + 1);
            let is_followed = next.is_some_and(|next| next.is_line_start && next.kind == CTokenKind::Word);
            is_followed && is_macro_name(self.top_text(*top))
        };
        (0..self.tokens.len().min(MAX_MACROS)).take_while(is_lone).count()
    }

    /// Returns whether the current item consists of macros that have ended before a line that begins with `word`.
    fn is_ended_before(&self, word: &str) -> bool {
        if self.is_in_enum() {
            return false;
        }
        let is_call = self.tokens.len() == 2 && self.tokens.is(1, CTokenKind::Paren);
        // `X(one)` above `X(two)`
        let is_repeated = is_call && self.top_text(0) == word;
        // `D(int, sse2)`, an empty line, and then something else.
        let is_lone_call = is_call
            && self.top_text(0).starts_with(|c: char| c.is_ascii_uppercase())
            && !self.is_in_type()
            && self.is_after_gap();
        // `SEQUENCE(a) = {…} SEQUENCE_END(a)`
        let is_definition =
            self.has_value && self.is_definition_by_macro() && self.bytes[..self.at].ends_with(b"\n");
        let is_lone = || self.is_only_macros() && (begins_scope_head(word) || self.is_after_gap());
        is_repeated || is_lone_call || is_definition || is_lone()
    }

    /// Returns whether the current item is `MACRO(…) = …`, or begins with it.
    fn is_definition_by_macro(&self) -> bool {
        let mut top = 0;
        while top < MAX_MACROS && is_specifier(self.top_text(top)) {
            top += 1;
        }
        self.tokens.is(top, CTokenKind::Word)
            && !self.is_in_type()
            && self.tokens.is(top + 1, CTokenKind::Paren)
            && self.tokens.is(top + 2, CTokenKind::Equals)
    }

    /// Returns whether an empty line or a comment precedes the next token.
    fn is_after_gap(&self) -> bool {
        let end = self.tokens.last().map_or(self.at, CToken::end);
        memchr::memchr_iter(b'\n', &self.bytes[end..self.at]).nth(1).is_some()
    }

    fn is_in_enum(&self) -> bool {
        self.scopes.last().is_some_and(|scope| scope.kind == ScopeKind::Enum)
    }

    /// Returns whether the word that ends at `end` is followed by parentheses.
    fn is_called(&self, end: usize) -> bool {
        self.bytes[end..].trim_ascii_start().first() == Some(&b'(')
    }

    /// Ends an item before a line of the preprocessor where it is nothing but a macro.
    pub(super) fn end_lone_call(&mut self) {
        if self.tokens.is_empty() || 2 < self.tokens.len() || !self.tokens.is_outside_groups() {
            return;
        }
        let is_call = self.tokens.is(0, CTokenKind::Word) && self.tokens.is(1, CTokenKind::Paren);
        if self.is_only_macros() || (is_call && !self.is_in_type()) {
            self.discard_item();
        }
    }

    fn is_only_macros(&self) -> bool {
        let count = self.tokens.len();
        count <= MAX_MACROS
            && (0..count).all(|top| match self.tokens.kind(top) {
                Some(CTokenKind::Word) => {
                    is_macro_name(self.top_text(top)) || self.top_text(top).starts_with("Q_")
                }
                Some(CTokenKind::Paren) => true,
                Some(_) | None => false,
            })
    }

    /// Elides the current item: it is a macro, or nothing that can be read.
    pub(super) fn discard_item(&mut self) {
        let Some(last) = self.tokens.last() else { return };
        let (start, end) = (self.start(), last.end());
        self.out.synthesized.push(SynthesizedItem::Ignored(start..end));
        self.out.repairs += 1;
        self.clear_item();
    }

    /// Ends an item with the `:` of an access label.
    pub(super) fn end_access_label(&mut self) {
        if !self.is_in_type() || 4 < self.tokens.len() {
            return;
        }
        let count = self.tokens.len() - 1;
        let is_label = (0..count).all(|top| {
            let word = self.top_text(top);
            self.tokens.is(top, CTokenKind::Word)
                && (is_access(word) || word == "slots" || word == "Q_SLOTS" || is_macro_name(word))
        });
        let names_access = (0..count).any(|top| is_access(self.top_text(top)));
        // `PRIVATE_UNLESS_TESTED:` expands to a label.
        let is_macro = count == 1 && self.dialect == Dialect::Cpp && self.is_before_member();
        if is_label && (names_access || is_macro) {
            self.out.repairs += usize::from(!names_access);
            let start = self.start();
            self.out.synthesized.push(SynthesizedItem::Ignored(start..self.at));
            self.clear_item();
        }
    }

    /// Returns whether a member follows a `:`, and not the width of a field without a name: `UINT32 : 4;`,
    /// `UINT32 : WIDTH;`.
    fn is_before_member(&self) -> bool {
        let after = &self.bytes[self.at..];
        let blanks = after.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
        let rest = after.trim_ascii_start();
        if matches!(after[blanks..].first(), Some(b'\n' | b'/')) {
            return !rest.first().is_some_and(u8::is_ascii_digit);
        }
        // `LABEL: int a;`, `LABEL: A *b;`
        let word = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let next = rest[word..].trim_ascii_start().first();
        !rest.first().is_some_and(u8::is_ascii_digit)
            && 0 < word
            && next.is_some_and(|next| next.is_ascii_alphabetic() || b"_*&:<".contains(next))
    }

    /// Ends the current item with the semicolon that was read last.
    pub(super) fn end_declaration(&mut self) {
        match self.read_item(ItemEnding::Semicolon) {
            ItemReading::Symbol(symbol) => self.synthesize(*symbol),
            ItemReading::Ignored => {
                let start = self.start();
                self.out.synthesized.push(SynthesizedItem::Ignored(start..self.at));
                self.clear_item();
            }
            ItemReading::Import(name) => {
                let start = self.tokens.top_level(0).map_or(self.at, CToken::start);
                self.out.synthesized.push(SynthesizedItem::Import(start..self.at, name..self.at - 1));
                self.clear_item();
            }
            // `int f(a) int a; {`: the parameters of a function in the old style. The grammar misreads some, so the
            // skeleton has to be checked.
            ItemReading::Continues => self.out.repairs += 1,
            ItemReading::Ambiguous(_) => self.emit_declaration(),
        }
    }

    fn synthesize(&mut self, symbol: SynthesizedSymbol) {
        self.out.synthesized.push(SynthesizedItem::Symbol(symbol));
        self.clear_item();
    }

    /// Gives the current item to the grammar, without large blocks in it.
    fn emit_declaration(&mut self) {
        self.repair();
        if self.tokens.is(0, CTokenKind::TypeEnd) {
            self.elide_attributes_of_type();
        }
        self.elide_large_blocks();
        self.copy_item(self.own_start()..self.at);
        self.clear_item();
    }

    /// Leaves out the attributes between the members of a type and what is declared of it: `} __packed;`,
    /// `} PACKED header_t;`, `} __aligned(8) table[3];`.
    fn elide_attributes_of_type(&mut self) {
        let (mut top, mut has_name) = (1, false);
        while self.tokens.is(top, CTokenKind::Word) {
            let word = self.top_text(top);
            let has_arguments = self.tokens.is(top + 1, CTokenKind::Paren);
            let next = top + 1 + usize::from(has_arguments);
            let is_macro = word.starts_with("__") || is_macro_name(word);
            let is_before_name = (self.tokens.is(next, CTokenKind::Word)
                || self.tokens.is(next, CTokenKind::Star))
                && !is_about_layout(self.top_text(next));
            if is_about_layout(word) || is_macro && (has_name || has_arguments || is_before_name) {
                let start = self.tokens.top_level(top).map_or(0, CToken::start);
                self.edits.push((start..self.tokens.top_end(next - 1), ""));
            } else {
                has_name = true;
            }
            top = next;
        }
    }

    fn elide_large_blocks(&mut self) {
        for token in self.tokens.all() {
            if token.kind == CTokenKind::Braces && LARGE_BLOCK < token.range().len() {
                self.edits.push((token.start() + 1..token.end() - 1, ""));
            }
        }
    }

    /// Reads a `{` that is not a value: it begins a scope, or the body of a function.
    pub(super) fn begin_block(&mut self) -> Result<(), Unsupported> {
        if self.tokens.is_empty() {
            // A block that nothing introduces was a function's, before a macro was elided.
            let end = self.matching_brace(self.at)?;
            self.out.synthesized.push(SynthesizedItem::Ignored(self.at..end));
            self.out.repairs += 1;
            self.at = end;
            return Ok(());
        }
        if let Some(head) = self.scope_head().or_else(|| self.macro_class()) {
            return self.begin_scope(head);
        }
        if (0..self.tokens.len()).any(|top| self.tokens.is(top, CTokenKind::Paren)) {
            return self.function();
        }
        // Further blocks of the item are values too.
        self.has_value = true;
        self.push_braces()
    }

    /// Reads the body of a function whose head is the current item.
    fn function(&mut self) -> Result<(), Unsupported> {
        if self.is_in_initializers() {
            return self.push_braces();
        }
        let start = self.start();
        let open = self.at;
        let body_end = self.matching_brace(open)?;
        let end = self.after_handlers(body_end)?;
        match self.read_item(ItemEnding::Body(end)) {
            ItemReading::Symbol(symbol) => {
                self.at = end;
                self.synthesize(*symbol);
            }
            ItemReading::Ignored | ItemReading::Continues | ItemReading::Import(_) => {
                self.at = end;
                self.out.synthesized.push(SynthesizedItem::Ignored(start..end));
                self.clear_item();
            }
            ItemReading::Ambiguous(name) => {
                self.at = end;
                self.emit_function(name, start, open, end);
            }
        }
        Ok(())
    }

    /// Returns where the handlers end of a function whose body is `try {…}` and ends at `end`.
    fn after_handlers(&mut self, end: usize) -> Result<usize, Unsupported> {
        let mut end = end;
        if !(0..self.tokens.len()).any(|top| self.top_text(top) == "try") {
            return Ok(end);
        }
        while self.bytes[end..].trim_ascii_start().starts_with(b"catch") {
            let open = memchr::memchr(b'{', &self.bytes[end..]).ok_or(Unsupported)?;
            end = self.matching_brace(end + open)?;
        }
        Ok(end)
    }

    /// Returns whether a `{` begins the value of a member, as in `A() : a{1}, b{2} {`.
    fn is_in_initializers(&self) -> bool {
        let last = self.tokens.len() - 1;
        let is_named = matches!(self.tokens.kind(last), Some(CTokenKind::Word | CTokenKind::Greater));
        let colon = || (0..last).find(|top| self.tokens.is(*top, CTokenKind::Colon));
        self.dialect == Dialect::Cpp && is_named && self.top_text(last) != "try" && colon().is_some()
    }

    fn emit_function(&mut self, name: Option<String>, start: usize, open: usize, end: usize) {
        self.out.expected_symbols.extend(name.map(|name| ExpectedSymbol {
            kind: if self.is_in_type() { SymbolKind::Method } else { SymbolKind::Function },
            name,
            range: start..end,
            signature: start..open,
        }));
        self.repair();
        self.elide_large_blocks();
        self.copy_item(self.own_start()..open + 1);
        // `f() {}` can be read as an initializer, and `f() {;}` as a body alone.
        self.out.substitute(";", open + 1..end - 1);
        self.out.copy(self.text, end - 1..end);
        self.clear_item();
    }

    fn begin_scope(&mut self, head: ScopeHead) -> Result<(), Unsupported> {
        if self.scopes.len() == MAX_DEPTH {
            return Err(Unsupported);
        }
        let start = self.start();
        let open = self.at;
        self.at += 1;
        // The end is not known yet: it is set when the brace of the scope is closed.
        let expected = head.symbol.filter(|_| !head.name.is_empty()).map(|kind| {
            let name = self.text[head.name.clone()].to_owned();
            self.out.expected_symbols.push(ExpectedSymbol {
                kind,
                name,
                range: start..self.at,
                signature: start..open,
            });
            self.out.expected_symbols.len() - 1
        });
        if head.kind == ScopeKind::Elided {
            self.out.repairs += 1;
            self.out.synthesized.push(SynthesizedItem::Ignored(start..self.at));
        } else {
            self.repair_head(&head);
            self.copy_item(self.own_start()..self.at);
        }
        self.clear_item();
        self.scopes.push(OpenScope { kind: head.kind, name: head.name, expected });
        Ok(())
    }

    /// Reads a `}` that closes a scope.
    pub(super) fn close_brace(&mut self) -> Result<(), Unsupported> {
        // A scope that a branch closes would be closed once more by the next branch.
        if !self.tokens.is_outside_groups() || self.is_scope_pinned() {
            return Err(Unsupported);
        }
        let scope = self.scopes.last().ok_or(Unsupported)?;
        let kind = scope.kind;
        if kind == ScopeKind::Enum {
            self.end_constant();
        } else if !self.tokens.is_empty() {
            self.discard_item();
        }
        let scope = self.scopes.pop().ok_or(Unsupported)?;
        let end = self.at + 1;
        if let Some(expected) = scope.expected.and_then(|at| self.out.expected_symbols.get_mut(at)) {
            expected.range.end = end;
        }
        match kind {
            ScopeKind::Namespace => self.out.copy(self.text, self.at..end),
            ScopeKind::Elided => {}
            ScopeKind::Type | ScopeKind::Enum => {
                self.out.copy(self.text, self.at..end);
                self.push(CTokenKind::TypeEnd, 1);
            }
        }
        self.at = end;
        Ok(())
    }

    /// Ends a constant of an enumeration: with a comma, or where the enumeration ends.
    pub(super) fn end_constant(&mut self) {
        let count = self.tokens.len();
        let has_comma = self.tokens.is(count.saturating_sub(1), CTokenKind::Comma);
        let parts = if has_comma { count - 1 } else { count };
        let name = self.constant_name(parts);
        let mut value = name + 1;
        // `A [[deprecated]] = 1`, `A __attribute__((unused))`
        while matches!(
            self.tokens.kind(value),
            Some(CTokenKind::Bracket | CTokenKind::Word | CTokenKind::Paren)
        ) {
            value += 1;
        }
        // `X(a)`: what a macro expands to has a name that is not known here.
        let is_made = self.tokens.is(name + 1, CTokenKind::Paren);
        let is_plain = name < parts
            && !is_made
            && self.tokens.is(name, CTokenKind::Word)
            && (value == parts || self.tokens.is(value, CTokenKind::Equals) && value + 1 < parts);
        if !is_plain {
            if 0 < parts {
                // An X-macro makes constants whose names are not known here.
                self.discard_item();
            }
            self.clear_item();
            return;
        }
        let start = self.tokens.top_level(name).map_or(0, CToken::start);
        let range = start..self.tokens.top_end(parts - 1);
        self.synthesize(SynthesizedSymbol {
            kind: SymbolKind::EnumMember,
            name: self.top_text(name).to_owned(),
            scope: String::new(),
            signature: range.clone(),
            range,
            cut: None,
            has_type: true,
        });
    }

    /// Returns the position of a constant's name in the row: after the calls of macros that make other constants.
    fn constant_name(&self, parts: usize) -> usize {
        let mut name = 0;
        while name + 2 < parts
            && self.tokens.is(name, CTokenKind::Word)
            && self.tokens.is(name + 1, CTokenKind::Paren)
            && self.tokens.is(name + 2, CTokenKind::Word)
        {
            name += 2;
        }
        name
    }
}

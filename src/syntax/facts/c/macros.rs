//! C: macros of a file that define functions whose names depend on their arguments: `#define FN(name) int f_##name(void)
//! { … }`.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::reader::{CFactsReader, source_facts};
use super::tokens::{SourceToken, SourceTokenKind as Kind, tokens};
use crate::model::{DefinitionFlags, DefinitionKind};

/// The maximum number of nested macro expansions.
const MAX_REPLACEMENTS: usize = 4;
/// The maximum number of bytes that the calls of a file expand to in total.
const MAX_TEXT: usize = 1 << 20;

/// The macros with parameters that a file has defined so far, and that compose names or call such macros.
#[derive(Default)]
pub(super) struct DefiningMacros<'t> {
    by_name: FxHashMap<&'t str, MacroText<'t>>,
    /// The number of bytes that calls have expanded to.
    made: usize,
}

#[derive(Clone, Copy)]
struct MacroText<'t> {
    /// The text between its parentheses.
    parameters: &'t str,
    body: &'t str,
}

/// A function that a macro defines.
struct DefinedFunction {
    name: String,
    flags: u16,
}

impl<'t> DefiningMacros<'t> {
    /// Adds a macro if it may define functions; `rest` is the text after its name.
    pub(super) fn add(&mut self, name: &'t str, rest: &'t str) {
        let Some(close) = rest.find(')').filter(|_| rest.starts_with('(')) else { return };
        let body = &rest[close + 1..];
        let body = &body[..directive_end(body)];
        let parameters = &rest[1..close];
        let is_defining = body.contains("##") && body.contains('(') || defines_argument(parameters, body);
        let first = words_and_others(body.trim_start_matches(['\\', ' ', '\t', '\r', '\n'])).next();
        if is_defining || first.is_some_and(|first| self.by_name.contains_key(first)) {
            self.by_name.insert(name, MacroText { parameters, body });
        }
    }

    /// Returns the functions that a call of a macro defines; `arguments` includes the parentheses.
    fn functions(&mut self, name: &str, arguments: &str) -> Vec<DefinedFunction> {
        let Some(text) = self.replaced(name, arguments, MAX_REPLACEMENTS) else { return Vec::new() };
        let facts = source_facts(&text);
        let functions = facts.definitions.iter().filter(|fact| {
            fact.kind == DefinitionKind::Function && !fact.flags.has(DefinitionFlags::PROTOTYPE)
        });
        let defined = functions
            .map(|fact| DefinedFunction { name: facts.name(fact.name).to_owned(), flags: fact.flags.0 });
        defined.collect()
    }

    /// Returns the expansion of a macro call.
    fn replaced(&mut self, name: &str, arguments: &str, replacements: usize) -> Option<String> {
        let known = *self.by_name.get(name).filter(|_| 0 < replacements)?;
        let names: Vec<&str> = known.parameters.split(',').map(str::trim).collect();
        let given = split_arguments(arguments);
        let argument = |word: &str| {
            let at =
                names.iter().position(|name| *name == word || word == "__VA_ARGS__" && *name == "...")?;
            match names[at] {
                "..." => Some(Cow::Owned(given.get(at..).unwrap_or_default().join(","))),
                _ => given.get(at).map(|given| Cow::Borrowed(given.trim())),
            }
        };
        let mut text = String::new();
        for part in words_and_others(known.body) {
            match argument(part) {
                Some(argument) => text.push_str(&argument),
                None => text.push_str(part),
            }
            if MAX_TEXT < self.made + text.len() {
                return None;
            }
        }
        self.made += text.len();
        // In the expansion, a continued line no longer ends a directive.
        let text = joined(&text.replace("\\\n", "\n").replace("\\\r\n", "\n"));
        Some(self.with_replaced_calls(&text, replacements - 1))
    }

    /// Returns a text in which the calls of macros outside of braces are replaced by their expansions.
    fn with_replaced_calls(&mut self, text: &str, replacements: usize) -> String {
        let (mut replaced, mut copied, mut braces) = (String::new(), 0, 0_usize);
        let tokens = tokens(text);
        for (at, token) in tokens.iter().enumerate() {
            let (start, end) = (token.start as usize, token.end as usize);
            match token.kind {
                Kind::Sign(b'{') => braces += 1,
                Kind::Sign(b'}') => braces = braces.saturating_sub(1),
                Kind::Word
                    if braces == 0 && copied <= start && self.by_name.contains_key(&text[start..end]) =>
                {
                    let Some(close) = closing_parenthesis(&tokens[at + 1..]) else { continue };
                    let arguments = text.get(end..close.end as usize).unwrap_or_default();
                    if let Some(expansion) = self.replaced(&text[start..end], arguments, replacements) {
                        replaced.push_str(&text[copied..start]);
                        replaced.push_str(&expansion);
                        replaced.push('\n');
                        copied = close.end as usize;
                    }
                }
                _ => {}
            }
        }
        replaced.push_str(&text[copied..]);
        replaced
    }
}

impl CFactsReader<'_> {
    /// Adds the functions that a macro call defines whose arguments begin at the current bracket; returns whether there
    /// are any.
    pub(super) fn defined_by_macro(&mut self) -> bool {
        let Some(name) = self.at.checked_sub(1).filter(|name| self.item_start <= *name) else { return false };
        let (token, end) = (self.tokens[name], self.group_end(self.at));
        let range = self.tokens[self.at].start as usize..self.end_of(end - 1);
        let text = self.facts.text;
        let arguments = text.get(range).unwrap_or_default();
        let functions = self.macros.functions(self.text(token), arguments);
        let outer = if self.has_word("static") { DefinitionFlags::PRIVATE } else { 0 };
        for function in &functions {
            let name = self.facts.composed_name(&function.name);
            let flags = outer | function.flags;
            let definition = self.add(DefinitionKind::Function, name, token.line, flags);
            self.facts.definition(definition).last_line = self.tokens[end - 1].line;
        }
        !functions.is_empty()
    }

    fn end_of(&self, token: usize) -> usize {
        self.tokens.get(token).map_or(0, |token: &SourceToken| token.end as usize)
    }
}

/// Returns whether a macro defines a function that an argument names: `#define FN(name) int name(void) { … }`.
fn defines_argument(parameters: &str, body: &str) -> bool {
    let Some((head, _)) = body.split_once('{') else { return false };
    let mut parts = words_and_others(head).peekable();
    while let Some(part) = parts.next() {
        let is_called = parts.peek().is_some_and(|next| next.trim_start().starts_with('('));
        if is_called && parameters.split(',').any(|parameter| parameter.trim() == part) {
            return true;
        }
    }
    false
}

/// Returns the end of the group that begins with the first token, if that is a parenthesis.
fn closing_parenthesis(tokens: &[SourceToken]) -> Option<SourceToken> {
    let mut depth = 0_usize;
    for token in tokens {
        match token.kind {
            Kind::Sign(b'(') => depth += 1,
            _ if depth == 0 => return None,
            Kind::Sign(b')') if depth == 1 => return Some(*token),
            Kind::Sign(b')') => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns the end of a directive, which continues after a backslash at the end of a line.
fn directive_end(text: &str) -> usize {
    let mut end = 0;
    loop {
        end = text[end..].find('\n').map_or(text.len(), |found| end + found);
        let line = text[..end].trim_end_matches('\r');
        if !line.ends_with('\\') || end == text.len() {
            return end;
        }
        end += 1;
    }
}

/// Returns the arguments between parentheses.
fn split_arguments(text: &str) -> Vec<&str> {
    let inner = text.trim().strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or_default();
    let (mut found, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                found.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&inner[start..]);
    found
}

/// Returns the words of a text and the texts between them, in order.
fn words_and_others(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest.find(|c| is_word(c) != is_word(first)).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        rest = after;
        Some(part)
    })
}

/// Joins the parts on both sides of each `##`.
fn joined(text: &str) -> String {
    let mut parts = text.split("##");
    let mut joined = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        joined.truncate(joined.trim_end().len());
        joined.push_str(part.trim_start());
    }
    joined
}

//! Languages of which only names are compared: definitions are the symbols of the outline, and every identifier is a
//! use.
//!
//! Functions, methods, types, macros and modules are definitions; keys, fields and headings are not. Identifiers in
//! comments and literals are not uses.

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::builder::{FactsBuilder, index};
use crate::model::{
    BindingValue, DefinitionFact, DefinitionFlags, DefinitionKind, ScopeId, ScopeKind, SourceFacts, Symbol,
    SymbolKind, UseFact,
};
use crate::syntax::outline::{
    CompiledLanguage, SkeletonCheck, derive_text, outline_symbols, visit_descendants,
};

/// Symbols nested deeper are not read.
const MAX_DEPTH: usize = 64;

/// Returns the facts of a parsed text.
pub(super) fn source_facts(
    compiled: &'static CompiledLanguage,
    text: &str,
    root: Node<'_>,
    give_up: &mut dyn FnMut() -> bool,
) -> SourceFacts {
    let language = compiled.language;
    let is_preprocessed = language.preprocess.is_some_and(|preprocess| preprocess(text).is_some())
        || language.preprocess_broken.is_some() && root.has_error();
    // The grammar may not find the symbols of a text that is not preprocessed. The copy lacks the bodies, whose names
    // are uses.
    let symbols = if is_preprocessed {
        derive_text(compiled, text, SkeletonCheck::Deferred, give_up).outline.symbols
    } else {
        outline_symbols(compiled, text, root)
    };
    let mut reader =
        NameReader { facts: FactsBuilder::new(text), spans: Vec::new(), unnamed: FxHashMap::default() };
    for symbol in &symbols {
        reader.define(symbol, 0);
    }
    // Outer spans precede the spans that they contain.
    reader.spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    reader.read_uses(root);
    reader.facts.finish()
}

/// The span of a definition.
struct DefinitionSpan {
    start: usize,
    end: usize,
    scope: ScopeId,
}

struct NameReader<'t> {
    facts: FactsBuilder<'t>,
    spans: Vec<DefinitionSpan>,
    /// The definitions whose own names have not been read yet, by scope of the body.
    unnamed: FxHashMap<ScopeId, u32>,
}

impl NameReader<'_> {
    fn define(&mut self, symbol: &Symbol, depth: usize) {
        if MAX_DEPTH <= depth {
            return;
        }
        let outer = self.facts.scope;
        if let Some((kind, scope_kind)) = kinds(symbol.kind) {
            let name = self.facts.composed_name(&symbol.name);
            let first_line = symbol.span.start_line;
            self.facts.facts.definitions.push(DefinitionFact {
                name,
                kind,
                scope: outer,
                body: None,
                first_line,
                name_line: first_line,
                last_line: symbol.span.end_line.max(first_line),
                flags: DefinitionFlags(match symbol.kind {
                    SymbolKind::Prototype => DefinitionFlags::PROTOTYPE,
                    _ => 0,
                }),
                bases: Vec::new(),
                returns: Vec::new(),
            });
            let definition = index(self.facts.facts.definitions.len() - 1);
            self.facts.bind(outer, name, BindingValue::Definition(definition), first_line);
            self.facts.open_body(definition, scope_kind);
            self.unnamed.insert(self.facts.scope, definition);
            self.spans.push(DefinitionSpan {
                start: symbol.span.start_byte,
                end: symbol.span.end_byte,
                scope: self.facts.scope,
            });
        }
        for child in &symbol.children {
            self.define(child, depth + 1);
        }
        self.facts.scope = outer;
    }

    fn read_uses(&mut self, root: Node<'_>) {
        let mut next = 0;
        let mut open: Vec<usize> = Vec::new();
        visit_descendants(root, &mut |node| {
            if is_text(node.kind()) {
                return false;
            }
            if 0 < node.child_count() {
                return true;
            }
            let at = node.start_byte();
            while self.spans.get(next).is_some_and(|span| span.start <= at) {
                open.push(next);
                next += 1;
            }
            open.retain(|span| at < self.spans[*span].end);
            let scope = open.last().map_or(0, |span| self.spans[*span].scope);
            self.leaf(node, scope);
            false
        });
    }

    fn leaf(&mut self, node: Node<'_>, scope: ScopeId) {
        let range = node.byte_range();
        let text = self.facts.text.get(range.clone()).unwrap_or_default();
        // Ruby names a method by a symbol that is called later: `before_action :load`.
        let text = if node.kind() == "simple_symbol" { text.trim_start_matches(':') } else { text };
        if !node.is_named() || !is_identifier(text) {
            return;
        }
        let name = self.facts.name(text);
        let line = index(node.start_position().row + 1);
        // The first identifier of that name within a definition is the definition's own.
        if let Some(definition) = self.unnamed.get(&scope).copied() {
            let fact = self.facts.definition(definition);
            if fact.name == name {
                fact.name_line = line;
                self.unnamed.remove(&scope);
                return;
            }
        }
        let rest = self.facts.text.get(range.end..).unwrap_or_default();
        let is_call = rest.trim_start_matches([' ', '\t']).starts_with('(');
        self.facts.facts.uses.push(UseFact { is_call, ..UseFact::new(name, line, scope) });
    }
}

/// Returns the kind of a symbol's definition, and of the scope of its body; `None` for symbols that are not used by
/// name alone.
fn kinds(kind: SymbolKind) -> Option<(DefinitionKind, ScopeKind)> {
    Some(match kind {
        SymbolKind::Method
        | SymbolKind::Constructor
        | SymbolKind::Destructor
        | SymbolKind::Function
        | SymbolKind::Prototype
        | SymbolKind::Target => (DefinitionKind::Function, ScopeKind::Function),
        SymbolKind::Class
        | SymbolKind::Struct
        | SymbolKind::Union
        | SymbolKind::Enum
        | SymbolKind::Object
        | SymbolKind::Stage
        | SymbolKind::Table => (DefinitionKind::Class, ScopeKind::Class),
        SymbolKind::Interface => (DefinitionKind::Interface, ScopeKind::Class),
        SymbolKind::Typedef => (DefinitionKind::Alias, ScopeKind::Block),
        SymbolKind::Macro => (DefinitionKind::Macro, ScopeKind::Function),
        SymbolKind::Module | SymbolKind::Namespace => (DefinitionKind::Module, ScopeKind::Module),
        _ => return None,
    })
}

/// Returns whether a node is prose or data, whose words are not names.
fn is_text(kind: &str) -> bool {
    kind.ends_with("comment") || kind.ends_with("string_content") || kind.ends_with("string_literal")
}

fn is_identifier(text: &str) -> bool {
    2 <= text.len()
        && text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '?' | '!'))
}

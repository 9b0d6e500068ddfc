//! Adds to the outline what a scanner elided.
//!
//! Comments and synthesized items are visited in their place, between the nodes of the tree that is left. Each symbol
//! that the scanner expects has to turn up: one of the same class, with its name, where its signature is. One that does
//! not is added from the scanner's own reading, into the innermost class or namespace that encloses it. A function that
//! the outline has under another name and with the same body stays what it is: the grammar read a macro's name where
//! the scanner read what the macro expands to, or the other way round, and both would be one too many.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::nodes::signature_line;
use super::walk::{MAX_SCOPES, NamedScope, OutlineWalk};
use crate::model::{Symbol, SymbolKind};
use crate::syntax::text::{
    ElisionCursor, ExpectedSymbol, SourceText, SynthesizedItem, SynthesizedSymbol, documentation,
};

/// Symbols nested as deep as this are not added: the walk does not find them there either.
const MAX_DEPTH: usize = 120;

/// The starts of two readings of one function are no farther apart than this: a head is shorter, and another symbol
/// that ends in the same place begins farther away.
const MAX_HEAD: usize = 1000;

impl<'t> OutlineWalk<'t> {
    /// Visits what was elided up to `until`, in the order of the text.
    pub(super) fn visit_elided_until(&mut self, place: &mut ElisionCursor, until: usize) {
        let Some(preprocessed) = self.source.preprocessed() else { return };
        loop {
            let comment =
                preprocessed.elided_comments.get(place.next_comment).filter(|comment| comment.start < until);
            let synthesized =
                preprocessed.synthesized.get(place.next_synthesized).filter(|one| one.range().start < until);
            match (comment, synthesized) {
                // Comments and items are two lists in the order of the text, which are merged here.
                (Some(comment), next) if next.is_none_or(|next| comment.start < next.range().start) => {
                    place.next_comment += 1;
                    self.record_comment(comment.clone(), place.last_code_line);
                }
                (_, Some(synthesized)) => self.add_synthesized(synthesized, place),
                (_, None) => return,
            }
        }
    }

    fn add_synthesized(&mut self, synthesized: &'t SynthesizedItem, place: &mut ElisionCursor) {
        place.next_synthesized += 1;
        let range = synthesized.range();
        // A condition among the includes does not end the head of a file, so that a comment above it may be
        // the file's.
        let is_condition = matches!(synthesized, SynthesizedItem::Ignored(_))
            && self.source.text(range.clone()).starts_with('#');
        let is_import = is_condition || matches!(synthesized, SynthesizedItem::Import(..));
        self.detach_distant_comments(is_import, range.start);
        match synthesized {
            SynthesizedItem::Symbol(symbol) => self.add_synthesized_symbol(symbol, place),
            SynthesizedItem::Import(_, name) => {
                self.add_import(self.source.text(name.clone()).trim_matches('"'));
            }
            SynthesizedItem::MacroValue(_) | SynthesizedItem::Ignored(_) => {}
        }
        if let Some(cut) = self.compiled.language.cut_synthesized {
            cut(self, synthesized);
        }
        self.clear_comments();
        place.advance_past(self.source, range.end);
    }

    /// Adds a symbol that the scanner has read, with those that it has read within it.
    fn add_synthesized_symbol(&mut self, read: &SynthesizedSymbol, place: &mut ElisionCursor) {
        let (name, scope) = (read.name.clone(), &read.scope);
        let separator = self.compiled.language.separator;
        let full = if scope.is_empty() { name.clone() } else { format!("{scope}{separator}{name}") };
        let mut symbol = Symbol {
            kind: read.kind,
            // Macros know no scopes.
            qualified_name: if read.kind == SymbolKind::Macro { full.clone() } else { self.qualified(&full) },
            span: self.source.span(read.range.clone()),
            signature: elided_signature(self.source, read.signature.clone()),
            doc: self.preceding_doc(),
            name,
            recovered: false,
            children: Vec::new(),
        };
        // A comment on the line of the opening brace trails the head, not the first member.
        if read.kind.is_type() || read.kind.is_namespace() {
            place.last_code_line = self.source.line(read.signature.end.saturating_sub(1));
            let scope = NamedScope { name: full, kind: read.kind };
            symbol.children = self.collect_symbols(scope, |walk| {
                walk.visit_inside(|walk| walk.visit_elided_until(place, read.range.end));
            });
        }
        self.add_symbol(symbol);
    }
}

/// Returns the signature of a symbol that has no node.
fn elided_signature(source: &SourceText<'_>, range: Range<usize>) -> String {
    signature_line(source, None, range, None).trim_end_matches([';', ' ']).to_owned()
}

/// Returns the doc in the comments that were elided directly above `start`.
fn elided_doc_above(source: &SourceText<'_>, start: usize) -> Option<String> {
    let mut line = source.line(start);
    let mut run: Option<Range<usize>> = None;
    for comment in source.elided_comments_in(&(0..start)).iter().rev() {
        let span = source.span(comment.clone());
        let is_alone = source.line_prefix(comment.start).trim().is_empty();
        if span.end_line + 1 < line || !is_alone {
            break;
        }
        line = span.start_line;
        run = Some(comment.start..run.map_or(comment.end, |run| run.end));
    }
    documentation(source.text(run?))
}

/// Adds the symbols that the scanner expects and the grammar lost; returns how many bytes their heads have, which only
/// the scanner understood.
pub(super) fn recover_lost_symbols(
    source: &SourceText<'_>,
    separator: &str,
    symbols: &mut Vec<Symbol>,
) -> usize {
    let mut lost = lost_symbols(source, separator, symbols);
    if lost.is_empty() {
        return 0;
    }
    // Enclosing symbols come before those that they enclose, so that one pass can nest them.
    lost.sort_by(|a, b| a.range.start.cmp(&b.range.start).then(b.range.end.cmp(&a.range.end)));
    let broken = lost.iter().map(|expected| expected.signature.len()).sum();
    let lost = lost.into_iter().map(|expected| symbol_from_expected(source, separator, expected)).collect();
    *symbols = merge_level(std::mem::take(symbols), lost, None, separator, 0);
    broken
}

/// Returns the symbols that the scanner expects and that are not among those that were found.
pub(super) fn lost_symbols<'s>(
    source: &'s SourceText<'_>,
    separator: &str,
    found: &[Symbol],
) -> Vec<&'s ExpectedSymbol> {
    let Some(preprocessed) = source.preprocessed().filter(|all| !all.expected_symbols.is_empty()) else {
        return Vec::new();
    };
    let known = SymbolIndex::new(source, found);
    let expected = preprocessed.expected_symbols.iter();
    expected.filter(|expected| !known.contains_expected(source, separator, expected)).collect()
}

/// What a symbol is, as roughly as a scanner and a grammar may differ: callable, a type or a namespace; none of these
/// for any other.
type SymbolClass = [bool; 3];

fn symbol_class(kind: SymbolKind) -> SymbolClass {
    [kind.is_callable(), kind.is_type(), kind.is_namespace()]
}

/// The symbols that were found, by what they are asked for.
#[derive(Default)]
struct SymbolIndex {
    by_name: HashMap<(SymbolClass, String), Vec<Range<usize>>>,
    /// Where each begins, by where its body ends.
    by_end: HashMap<(SymbolClass, usize), Vec<usize>>,
}

impl SymbolIndex {
    fn new(source: &SourceText<'_>, symbols: &[Symbol]) -> Self {
        let mut known = Self::default();
        for symbol in symbols {
            symbol.walk(0, &mut |symbol, _| {
                let sort = symbol_class(symbol.kind);
                let range = symbol.span.start_byte..symbol.span.end_byte;
                // The grammar may count a semicolon after a body as part of the symbol, and the scanner not.
                let end = code_end(source, range.end);
                known.by_end.entry((sort, end)).or_default().push(range.start);
                known.by_name.entry((sort, symbol.name.clone())).or_default().push(range);
            });
        }
        known
    }

    fn contains_expected(&self, source: &SourceText<'_>, separator: &str, expected: &ExpectedSymbol) -> bool {
        let sort = symbol_class(expected.kind);
        let name = last_segment(separator, &expected.name).to_owned();
        let same_name = self.by_name.get(&(sort, name)).map_or(&[][..], Vec::as_slice);
        // That the two overlap is enough, because they may disagree about the macros before a head.
        if same_name
            .iter()
            .any(|range| range.start <= expected.signature.end && expected.signature.start < range.end)
        {
            return true;
        }
        let same_end = self.by_end.get(&(sort, code_end(source, expected.range.end)));
        same_end.is_some_and(|starts| {
            starts.iter().any(|&start| {
                // Only a head is between the two starts.
                let between = start.min(expected.range.start)..start.max(expected.range.start);
                between.len() <= MAX_HEAD && !source.text(between).contains(['{', '}'])
            })
        })
    }
}

/// Returns where the text before `end` ends without the semicolon that follows some bodies.
fn code_end(source: &SourceText<'_>, end: usize) -> usize {
    source.text(0..end).trim_end_matches([';', ' ', '\t', '\r', '\n']).len()
}

/// Returns `c` of `a::B::c`.
fn last_segment<'r>(separator: &str, name: &'r str) -> &'r str {
    name.rsplit_once(separator).filter(|(outer, _)| !outer.is_empty()).map_or(name, |(_, own)| own)
}

fn symbol_from_expected(source: &SourceText<'_>, separator: &str, expected: &ExpectedSymbol) -> Symbol {
    Symbol {
        kind: expected.kind,
        name: last_segment(separator, &expected.name).to_owned(),
        qualified_name: expected.name.clone(),
        span: source.span(expected.range.clone()),
        signature: elided_signature(source, expected.signature.clone()),
        doc: elided_doc_above(source, expected.range.start),
        recovered: true,
        children: Vec::new(),
    }
}

/// Returns the qualified name of what is within `around`.
fn qualified_within(around: Option<&Symbol>, separator: &str, name: &str) -> String {
    match around.map(|around| around.qualified_name.as_str()) {
        Some(outer) if !outer.is_empty() && outer.len() <= MAX_SCOPES => format!("{outer}{separator}{name}"),
        Some(_) | None => name.to_owned(),
    }
}

/// Returns what a symbol is within `around` that would be of that kind outside of any class.
fn kind_within(around: Option<&Symbol>, kind: SymbolKind, name: &str) -> SymbolKind {
    let Some(class) = around.filter(|around| around.kind.is_type()) else { return kind };
    match kind {
        SymbolKind::Function | SymbolKind::Prototype if name == class.name => SymbolKind::Constructor,
        SymbolKind::Function | SymbolKind::Prototype if name.starts_with('~') => SymbolKind::Destructor,
        SymbolKind::Function | SymbolKind::Prototype => SymbolKind::Method,
        SymbolKind::Variable => SymbolKind::Field,
        other => other,
    }
}

/// Symbols that move into one that precedes them on its level.
struct NestedSymbols {
    at: usize,
    found: Vec<Symbol>,
    lost: Vec<Symbol>,
}

/// Merges `lost` into the symbols of one level, or into those of them that enclose them. What was found within a class
/// or namespace that had been lost moves there, too.
fn merge_level(
    found: Vec<Symbol>,
    lost: Vec<Symbol>,
    around: Option<&Symbol>,
    separator: &str,
    depth: usize,
) -> Vec<Symbol> {
    let mut all: Vec<(Symbol, bool)> = lost.into_iter().map(|symbol| (symbol, true)).collect();
    all.extend(found.into_iter().map(|symbol| (symbol, false)));
    all.sort_by_key(|(symbol, _)| symbol.span.start_byte);
    let mut level: Vec<Symbol> = Vec::with_capacity(all.len());
    let mut insides: Vec<NestedSymbols> = Vec::new();
    for (mut symbol, is_lost) in all {
        // Two symbols that the grammar found are nested as it found them.
        let holder = level.last().filter(|last| (is_lost || last.recovered) && encloses(last, &symbol));
        if is_lost && depth == MAX_DEPTH {
            continue;
        }
        if holder.is_none() {
            if is_lost {
                symbol.qualified_name = qualified_within(around, separator, &symbol.qualified_name);
                symbol.kind = kind_within(around, symbol.kind, &symbol.name);
            }
            level.push(symbol);
            continue;
        }
        let at = level.len() - 1;
        if insides.last().is_none_or(|inside| inside.at != at) {
            insides.push(NestedSymbols { at, found: Vec::new(), lost: Vec::new() });
        }
        let Some(inside) = insides.last_mut() else { continue };
        if is_lost { inside.lost.push(symbol) } else { inside.found.push(symbol) }
    }
    for inside in insides {
        let mut children = std::mem::take(&mut level[inside.at].children);
        let holder = Some(&level[inside.at]);
        children.extend(inside.found.into_iter().map(|symbol| moved_into(holder, symbol, around, separator)));
        level[inside.at].children = merge_level(children, inside.lost, holder, separator, depth + 1);
    }
    level
}

/// Returns a symbol that was found on the level of `around`, as it is within `holder`.
fn moved_into(
    holder: Option<&Symbol>,
    mut symbol: Symbol,
    around: Option<&Symbol>,
    separator: &str,
) -> Symbol {
    symbol.kind = kind_within(holder, symbol.kind, &symbol.name);
    requalify(&mut symbol, around, holder, separator);
    symbol
}

/// Returns whether one symbol is within another that can contain some.
fn encloses(holder: &Symbol, symbol: &Symbol) -> bool {
    let (outer, inner) = (holder.span, symbol.span);
    (holder.kind.is_type() || holder.kind.is_namespace())
        && outer.start_byte <= inner.start_byte
        && inner.end_byte <= outer.end_byte
}

/// Gives a symbol, and those in it, the qualified names that they have inside another.
fn requalify(symbol: &mut Symbol, from: Option<&Symbol>, to: Option<&Symbol>, separator: &str) {
    let own = symbol.qualified_name.strip_prefix(from.map_or("", |from| &from.qualified_name));
    let own = own.map_or(symbol.name.as_str(), |own| own.trim_start_matches(separator));
    symbol.qualified_name = qualified_within(to, separator, own);
    for child in &mut symbol.children {
        requalify(child, from, to, separator);
    }
}

/// Removes the prototypes of functions that the same scope defines. Where names can be overloaded, a prototype is
/// identified by its whole signature.
pub(super) fn remove_defined_prototypes(symbols: &mut Vec<Symbol>, has_overloads: bool) {
    let defined: HashSet<String> = symbols
        .iter()
        .filter(|symbol| symbol.kind == SymbolKind::Function)
        .map(|symbol| identity(symbol, has_overloads).to_owned())
        .collect();
    symbols.retain(|symbol| {
        symbol.kind != SymbolKind::Prototype || !defined.contains(identity(symbol, has_overloads))
    });
    for symbol in symbols.iter_mut().filter(|symbol| symbol.kind == SymbolKind::Namespace) {
        remove_defined_prototypes(&mut symbol.children, has_overloads);
    }
}

fn identity(symbol: &Symbol, has_overloads: bool) -> &str {
    if has_overloads { &symbol.signature } else { &symbol.name }
}

#[cfg(test)]
mod tests {
    use crate::syntax::derive::derive;

    #[track_caller]
    fn check(language: &str, text: &str, expected: &[(&str, &str)]) {
        let outline = derive(language, text, &mut || false).unwrap().outline;
        let found: Vec<_> = outline.symbols.iter().map(|s| (s.kind.name(), s.signature.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_prototype_of_a_defined_function_is_not_listed() {
        let text = "static int f(int);\nint g(void);\nstatic int f(int a) { return a; }\n";
        check("c", text, &[("prototype", "int g(void)"), ("function", "static int f(int a)")]);
    }

    #[test]
    fn overloads_are_listed_separately() {
        let text = "int f(int a);\nint f(char a);\nint f(int a) { return a; }\n";
        check("cpp", text, &[("prototype", "int f(char a)"), ("function", "int f(int a)")]);
    }
}

//! Resolves the keys of masks to symbols.
//!
//! A key is a qualified name, which selects every symbol of that name; or `name(parameters)`, which selects the one
//! with these parameters; or `name#2`, the second of that name in the text.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::model::{Outline, Symbol, typo_distance};

/// How many names are suggested for one that does not exist.
const MAX_OFFERED: usize = 3;

/// Returns the symbols that `key` selects, in the order of the text; empty if there are none. For many keys,
/// [`SymbolsByName`] is faster.
pub fn select_symbols<'o>(outline: &'o Outline, key: &str) -> Vec<&'o Symbol> {
    SymbolsByName::new(outline).select(key)
}

/// The symbols of an outline by their names: a mask may have thousands of keys.
#[derive(Default)]
pub struct SymbolsByName<'o>(HashMap<Cow<'o, str>, Vec<&'o Symbol>>);

impl<'o> SymbolsByName<'o> {
    /// Indexes the symbols of an outline.
    pub fn new(outline: &'o Outline) -> Self {
        let mut by_name: HashMap<Cow<'o, str>, Vec<&'o Symbol>> = HashMap::new();
        outline.walk(|symbol, _| {
            let name = symbol.qualified_name.as_str();
            by_name.entry(Cow::Borrowed(name)).or_default().push(symbol);
            // `Engine.run` selects `Engine::run` too, as references spell it.
            if name.contains("::") {
                by_name.entry(Cow::Owned(name.replace("::", "."))).or_default().push(symbol);
            }
        });
        Self(by_name)
    }

    /// Returns the symbols that `key` selects, in the order of the text; empty if there are none.
    pub fn select(&self, key: &str) -> Vec<&'o Symbol> {
        let key = key.trim();
        // The whole key first, because a name may contain `#` or brackets itself, as `Frame#read` does in Ruby.
        let named = self.named(key);
        if !named.is_empty() {
            return named.to_vec();
        }
        if let Some((name, number)) = split_number(key) {
            return number
                .checked_sub(1)
                .and_then(|at| self.named(name).get(at).copied())
                .into_iter()
                .collect();
        }
        // In `operator()(int)`, the parameters might begin at two places.
        let splits = key.match_indices('(').map(|(at, _)| key.split_at(at)).filter(|_| key.ends_with(')'));
        for (name, wanted) in splits {
            let mut found = self.named(name.trim_end()).to_vec();
            found.retain(|symbol| parameters(symbol).is_some_and(|own| is_alike(own, wanted)));
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// Returns whether `key` selects no symbol.
    pub fn has_none(&self, key: &str) -> bool {
        self.select(key).is_empty()
    }

    /// Returns whether `key` selects none of these symbols, but selected some of the earlier ones.
    pub fn has_lost(&self, earlier: &Self, key: &str) -> bool {
        !earlier.has_none(key) && self.has_none(key)
    }

    /// Returns whether these symbols include the names of all other ones.
    pub fn has_all_of(&self, others: &Self) -> bool {
        others.names().all(|name| self.0.contains_key(name))
    }

    /// Returns the qualified names, in arbitrary order.
    pub(in crate::aggregate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.values().flatten().map(|symbol| symbol.qualified_name.as_str())
    }

    fn named(&self, name: &str) -> &[&'o Symbol] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }
}

/// Returns the keys of the outline that `key` may be a typo of, best first; if only the overload is wrong, the existing
/// overloads.
pub fn nearest_keys(outline: &Outline, key: &str) -> Vec<String> {
    let key = key.trim();
    let symbols = all_symbols(outline);
    let bases = key.match_indices(['(', '#']).map(|(at, _)| key[..at].trim_end());
    let overloads = bases.map(|base| symbols_named(&symbols, base)).find(|found| !found.is_empty());
    if let Some(overloads) = overloads {
        return overloads
            .iter()
            .enumerate()
            .take(MAX_OFFERED)
            .map(|(at, symbol)| unique_key(symbol, at))
            .collect();
    }
    let score = |symbol: &&'_ Symbol| Some((symbol_distance(key, symbol)?, symbol.qualified_name.clone()));
    let mut scored: Vec<(usize, String)> = symbols.iter().filter_map(score).collect();
    // The sort is stable: among equally similar names, the first in the text comes first.
    scored.sort_by_key(|(score, _)| *score);
    let mut names: Vec<String> = Vec::new();
    for (_, name) in scored {
        if names.len() == MAX_OFFERED {
            break;
        }
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn all_symbols(outline: &Outline) -> Vec<&Symbol> {
    let mut symbols = Vec::new();
    outline.walk(|symbol, _| symbols.push(symbol));
    symbols
}

fn symbols_named<'o>(symbols: &[&'o Symbol], name: &str) -> Vec<&'o Symbol> {
    symbols.iter().copied().filter(|symbol| is_name_of(symbol, name)).collect()
}

/// Returns whether a name is a symbol's qualified name; `Engine.run` also matches `Engine::run`, as references spell
/// it.
pub(super) fn is_name_of(symbol: &Symbol, name: &str) -> bool {
    let own = symbol.qualified_name.as_str();
    own == name || own.contains("::") && own.replace("::", ".") == name
}

/// Parses `name#2`.
fn split_number(key: &str) -> Option<(&str, usize)> {
    let (name, number) = key.rsplit_once('#')?;
    Some((name.trim_end(), number.parse().ok()?))
}

/// Returns a key that selects this symbol only; `at` is its position among those of its name.
fn unique_key(symbol: &Symbol, at: usize) -> String {
    match parameters(symbol) {
        Some(parameters) => format!("{}{parameters}", symbol.qualified_name),
        None => format!("{}#{}", symbol.qualified_name, at + 1),
    }
}

/// Returns the parameters in a symbol's signature, including the parentheses.
fn parameters(symbol: &Symbol) -> Option<&str> {
    let signature = symbol.signature.as_str();
    for (at, _) in signature.match_indices(symbol.name.as_str()) {
        let is_inside = signature[..at].chars().next_back().is_some_and(is_name_char);
        let rest = signature[at + symbol.name.len()..].trim_start();
        if !is_inside && rest.starts_with('(') {
            return bracketed(rest);
        }
    }
    None
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the text up to the bracket that matches the first one, ignoring brackets in strings.
fn bracketed(text: &str) -> Option<&str> {
    let (mut depth, mut quote, mut is_escaped) = (0usize, None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), close) if open == close => quote = None,
            // An odd number of Rust lifetimes looks like an unterminated quote. Such symbols can only be selected by
            // number, which is enough in a language without overloads.
            (None, '"' | '\'') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') if depth <= 1 => return Some(&text[..=at]),
            (None, ')') => depth -= 1,
            (Some(_) | None, _) => {}
        }
    }
    None
}

/// Returns whether two texts differ only in white space.
fn is_alike(one: &str, other: &str) -> bool {
    let letters = |text: &'_ str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    letters(one) == letters(other)
}

/// Returns the distance between a symbol's names and `key`; `None` if neither name is near. A wrong container counts as
/// half an edit: `run` is nearer to `Engine.run` than to `ran`.
fn symbol_distance(key: &str, symbol: &Symbol) -> Option<usize> {
    let last = key.rsplit(['.', ':']).next().unwrap_or(key);
    let whole = typo_distance(key, &symbol.qualified_name).map(|edits| edits * 2);
    let by_name = typo_distance(last, &symbol.name).map(|edits| edits * 2 + 1);
    whole.into_iter().chain(by_name).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ParseHealth, Span, SymbolKind};

    fn outline(symbols: &[(&str, &str, &str)]) -> Outline {
        let symbol = |(line, (name, qualified_name, signature)): (u32, &(&str, &str, &str))| Symbol {
            kind: SymbolKind::Function,
            name: (*name).to_owned(),
            qualified_name: (*qualified_name).to_owned(),
            span: Span { start_byte: 0, end_byte: 0, start_line: line, end_line: line },
            signature: (*signature).to_owned(),
            doc: None,
            recovered: false,
            children: Vec::new(),
        };
        let symbols = (1..).zip(symbols).map(symbol).collect();
        Outline { health: ParseHealth::perfect(0), doc: None, imports: Vec::new(), symbols }
    }

    fn engine() -> Outline {
        outline(&[
            ("run", "Engine::run", "void Engine::run(int speed, const char *how = \")\") const"),
            ("run", "Engine::run", "void Engine::run()"),
            ("operator()", "Engine::operator()", "int operator()(int a) const"),
            ("operator()", "Engine::operator()", "int operator()() const"),
            ("rerun", "rerun", "int rerun(int speed)"),
            ("speed", "speed", "int speed"),
            ("speed", "speed", "extern int speed"),
        ])
    }

    #[track_caller]
    fn check(key: &str, lines: &[u32]) {
        let outline = engine();
        let found = select_symbols(&outline, key);
        assert_eq!(found.iter().map(|symbol| symbol.span.start_line).collect::<Vec<_>>(), lines, "{key}");
    }

    #[test]
    fn a_name_selects_every_symbol_of_that_name_and_no_other() {
        check("Engine::run", &[1, 2]);
        check(" rerun ", &[5]);
        check("run", &[]);
        check("", &[]);
        check("Engine::operator()", &[3, 4]);
    }

    #[test]
    fn an_overload_is_selected_by_its_parameters_in_any_white_space() {
        check("Engine::run(int speed,const char* how=\")\")", &[1]);
        check("Engine::run( )", &[2]);
        check("Engine::operator()(int a)", &[3]);
        check("Engine::operator()()", &[4]);
        check("Engine::run(int)", &[]);
        check("rerun(int speed", &[]);
        check(&"(".repeat(10_000), &[]);
    }

    #[test]
    fn an_overload_is_selected_by_its_number() {
        check("Engine::run#2", &[2]);
        check("speed#1", &[6]);
        for key in ["speed#0", "speed#3", "speed#", "speed#-1", "#1", "speed#99999999999999999999999"] {
            check(key, &[]);
        }
    }

    #[test]
    fn symbols_inside_of_others_are_found() {
        let mut nested = engine();
        let inner = nested.symbols.pop().unwrap();
        nested.symbols[0].children.push(inner);
        assert_eq!(select_symbols(&nested, "speed").len(), 2);
    }

    #[test]
    fn near_names_are_suggested_and_overloads_where_only_those_are_wrong() {
        let near = |key: &str| nearest_keys(&engine(), key);
        assert_eq!(near("run")[0], "Engine::run");
        assert_eq!(near("Engin::run")[0], "Engine::run");
        assert_eq!(near("spead")[0], "speed");
        assert_eq!(near("Engine::run(char)")[1], "Engine::run()");
        assert_eq!(near("speed#7"), ["speed#1", "speed#2"]);
        assert_eq!(near("x"), Vec::<String>::new());
        assert_eq!(nearest_keys(&outline(&[]), "x"), Vec::<String>::new());
    }

    #[test]
    fn every_suggested_overload_selects_itself() {
        let outline = engine();
        for key in nearest_keys(&outline, "Engine::run#9") {
            assert_eq!(select_symbols(&outline, &key).len(), 1, "{key}");
        }
    }
}

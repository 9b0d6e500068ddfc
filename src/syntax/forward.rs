//! Declarations that only announce what the same file defines.

use std::collections::HashSet;

use crate::model::Symbol;
use crate::model::SymbolKind;

/// Takes out the prototypes of functions that are defined beside them. Where names can be overloaded, a prototype is
/// known by its whole signature.
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
    use crate::syntax::derive;

    #[track_caller]
    fn check(language: &str, text: &str, expected: &[(&str, &str)]) {
        let outline = derive(language, text, &mut || false).unwrap().outline;
        let found: Vec<_> = outline.symbols.iter().map(|s| (s.kind.name(), s.signature.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_function_is_listed_once() {
        let text = "static int f(int);\nint g(void);\nstatic int f(int a) { return a; }\n";
        check("c", text, &[("prototype", "int g(void)"), ("function", "static int f(int a)")]);
    }

    #[test]
    fn an_overload_is_not_taken_for_another() {
        let text = "int f(int a);\nint f(char a);\nint f(int a) { return a; }\n";
        check("cpp", text, &[("prototype", "int f(char a)"), ("function", "int f(int a)")]);
    }
}

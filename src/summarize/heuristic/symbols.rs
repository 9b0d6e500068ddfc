//! The symbols of a file in a summary: their order, and the line of each.
//!
//! Public symbols precede private ones, and tests are listed by their titles. Methods defined outside of their type,
//! and implementations, are shown in the type's line.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::exports::Exports;
use super::page::SummaryInput;
use crate::model::{Outline, Symbol, SymbolKind, is_component_type};
use crate::summarize::words;

const SIGNATURE_BYTES: usize = 120;

/// The symbols of a file, sorted for a summary.
#[derive(Default)]
pub(crate) struct FileSymbols<'a> {
    /// The most important first.
    pub(crate) shown: Vec<ShownSymbol<'a>>,
    /// In the order of the text.
    pub(crate) tests: Vec<&'a Symbol>,
    names: HashSet<&'a str>,
}

/// A symbol, with the parts of it that are defined elsewhere in the file.
pub(crate) struct ShownSymbol<'a> {
    pub(crate) symbol: &'a Symbol,
    pub(crate) is_private: bool,
    is_default: bool,
    /// Methods that are defined outside of their type.
    methods: Vec<&'a Symbol>,
}

impl FileSymbols<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.shown.is_empty() && self.tests.is_empty()
    }

    /// Returns whether the file defines such a name at its top level.
    pub(crate) fn defines(&self, name: &str) -> bool {
        self.names.contains(name)
    }
}

/// Returns the symbols of the top level; members of namespaces count as such.
pub(crate) fn file_symbols<'a>(
    outline: &'a Outline,
    source: &SummaryInput<'_>,
    exports: &Exports,
) -> FileSymbols<'a> {
    let language = source.file_type.id;
    let is_test = |symbol: &Symbol| {
        let is_function = symbol.kind == SymbolKind::Function;
        is_test(symbol, language)
            || language == "rust" && is_function && symbol.has_test_attribute(source.text)
    };
    let mut found = FileSymbols::default();
    let mut plain = Vec::new();
    let mut waiting: Vec<(&Symbol, bool)> =
        outline.symbols.iter().rev().map(|symbol| (symbol, false)).collect();
    // The template and the styles of a component.
    let is_section = |symbol: &Symbol| symbol.kind == SymbolKind::Element && is_component_type(language);
    while let Some((symbol, in_tests)) = waiting.pop() {
        if is_section(symbol) {
            continue;
        }
        found.names.insert(symbol.name.as_str());
        if in_tests || is_test(symbol) {
            found.tests.push(symbol);
            // A group of tests is shown with what it contains.
            if symbol.kind.is_namespace() {
                waiting.extend(symbol.children.iter().rev().map(|child| (child, true)));
            }
        } else if symbol.kind.is_namespace() {
            // A namespace without members is declared here for its name alone.
            let holds_tests = matches!(symbol.name.as_str(), "test" | "tests");
            let has_methods = language == "ruby" && symbol.children.iter().any(is_method);
            // A Ruby module with methods is more than a namespace, and is shown with them.
            plain.extend(Some(symbol).filter(|_| has_methods));
            let members = symbol
                .children
                .iter()
                .rev()
                .filter(|child| !has_methods || !is_method(child) && child.kind != SymbolKind::Property);
            waiting.extend(members.map(|child| (child, holds_tests)));
        } else if !is_metadata(symbol) {
            plain.push(symbol);
        }
    }
    // Helpers within a module of tests are not worth a line.
    if found.tests.iter().any(|test| is_test(test)) {
        found.tests.retain(|test| is_test(test));
    } else {
        found.tests.retain(|test| test.kind.is_callable());
    }
    found.shown = with_methods(plain, |symbol| ShownSymbol {
        symbol,
        is_private: is_hidden(symbol, language, exports),
        is_default: exports.default.as_deref() == Some(symbol.name.as_str()),
        methods: Vec::new(),
    });
    found.shown.sort_by_key(|shown| {
        let (_, rank, Reverse(size)) = importance(shown.symbol);
        (!shown.is_default, shown.is_private, rank, Reverse(size + words::rounded(shown.methods.len())))
    });
    // A prototype and its function, or a name defined under both `#if` and `#else`, are listed once.
    let mut seen = HashSet::new();
    found
        .shown
        .retain(|shown| seen.insert((shown.symbol.kind.is_callable(), shown.symbol.qualified_name.as_str())));
    found
}

/// Adds methods that are defined outside of their types to these, where the file has both.
fn with_methods<'a>(
    symbols: Vec<&'a Symbol>,
    show: impl Fn(&'a Symbol) -> ShownSymbol<'a>,
) -> Vec<ShownSymbol<'a>> {
    let mut types: HashMap<&str, usize> = HashMap::new();
    let mut shown: Vec<ShownSymbol<'a>> = Vec::new();
    let (members, others): (Vec<_>, Vec<_>) = symbols.into_iter().partition(|symbol| {
        is_implementation(symbol) || symbol.qualified_name != symbol.name && is_method(symbol)
    });
    for symbol in others {
        if symbol.kind.is_type() {
            types.entry(symbol.name.as_str()).or_insert(shown.len());
        }
        shown.push(show(symbol));
    }
    for symbol in members {
        let name = if is_implementation(symbol) { symbol.name.as_str() } else { owner(symbol) };
        match types.get(name) {
            Some(at) if is_implementation(symbol) => {
                // The trait already describes its methods.
                if !symbol.signature.contains(" for ") {
                    shown[*at].methods.extend(&symbol.children);
                }
            }
            Some(at) => shown[*at].methods.push(symbol),
            None => shown.push(show(symbol)),
        }
    }
    shown
}

fn is_implementation(symbol: &Symbol) -> bool {
    symbol.kind == SymbolKind::Object && symbol.signature.starts_with("impl")
}

fn is_method(symbol: &Symbol) -> bool {
    matches!(symbol.kind, SymbolKind::Method | SymbolKind::Constructor | SymbolKind::Destructor)
}

/// Returns the type that qualifies the name of a symbol: `Server` of `Server.Serve` and of `net::Server::serve`.
fn owner(symbol: &Symbol) -> &str {
    let before = symbol.qualified_name.strip_suffix(symbol.name.as_str()).unwrap_or_default();
    let before = before.trim_end_matches([':', '.']);
    before.rsplit([':', '.']).next().unwrap_or_default()
}

/// Returns whether a symbol is a test, or a group of tests.
fn is_test(symbol: &Symbol, language: &str) -> bool {
    const CALLS: [&str; 13] = [
        "describe(", "describe.", "it(", "it.", "test(", "test.", "suite(", "context(", "TEST(", "TEST_",
        "BOOST_AUTO_TEST", "SCENARIO(", "@test ",
    ];
    let name = symbol.name.as_str();
    let begins = |start: &str| {
        name.strip_prefix(start).is_some_and(|rest| rest.starts_with(|c: char| c.is_uppercase() || c == '_'))
    };
    let head = symbol.signature.as_str();
    match language {
        "python" => name.starts_with("test_") || symbol.kind == SymbolKind::Class && begins("Test"),
        "go" => {
            ["Test", "Benchmark", "Example", "Fuzz"].iter().any(|start| begins(start))
                && head.contains('(')
                && symbol.kind == SymbolKind::Function
        }
        _ => CALLS.iter().any(|call| head.starts_with(call)),
    }
}

/// Returns the title of a test, as in `it('reads frames', …)`, or its name.
pub(crate) fn test_title(test: &Symbol) -> String {
    let name = words::one_line(&test.name);
    let quoted = test.signature.split('"').nth(1).filter(|title| !title.is_empty());
    if let Some(title) =
        quoted.filter(|_| test.signature.starts_with("TEST") || test.signature.starts_with("SCENARIO"))
    {
        return words::one_line(title);
    }
    match name.split_once(' ') {
        Some((call, title)) if test.signature.starts_with(call) && !title.is_empty() => title.to_owned(),
        Some(_) | None => name,
    }
}

/// Returns whether a name like `__all__` or `__author__` is for tools and not for readers of the code.
fn is_metadata(symbol: &Symbol) -> bool {
    symbol.kind == SymbolKind::Constant && symbol.name.starts_with("__") && symbol.name.ends_with("__")
}

/// Returns whether other files cannot use a symbol, or are not meant to.
fn is_hidden(symbol: &Symbol, language: &str, exports: &Exports) -> bool {
    let head = symbol.signature.as_str();
    if exports.names.contains(&symbol.name) || exports.default.as_ref() == Some(&symbol.name) {
        return false;
    }
    match language {
        "rust" => match head.strip_prefix("impl") {
            // The type is of another file, and so is the trait as a rule.
            Some(implementation) => implementation.contains(" for "),
            None => !head.starts_with("pub") && !head.starts_with("macro_rules!"),
        },
        // A script exports nothing, so all of it counts as public.
        "javascript" | "typescript" | "tsx" if exports.is_module => !head.starts_with("export"),
        "python" if exports.is_complete => true,
        _ => is_method_hidden(symbol, language),
    }
}

/// Returns whether a member is not for users of its type.
fn is_method_hidden(symbol: &Symbol, language: &str) -> bool {
    let name = symbol.name.as_str();
    let head = symbol.signature.as_str();
    match language {
        "go" => !name.starts_with(char::is_uppercase),
        "java" | "typescript" | "tsx" | "csharp" | "kotlin" | "php" | "swift" | "scala" => {
            name.starts_with('#')
                || ["private ", "protected ", "fileprivate "].iter().any(|word| head.contains(word))
        }
        _ => is_private(symbol),
    }
}

/// Returns the line of a symbol: its signature, and the names of its members.
pub(crate) fn symbol_line(shown: &ShownSymbol<'_>) -> String {
    const MEMBERS_BYTES: usize = 100;
    let symbol = shown.symbol;
    let signature = words::safe_signature(symbol);
    let signature = signature.trim_end_matches([' ', ':', '{', ';', '=']);
    let head = if signature.is_empty() {
        format!("{} {}", symbol.kind.title().to_lowercase(), words::one_line(&symbol.name))
    } else {
        words::clip(signature, SIGNATURE_BYTES)
    };
    let head =
        if shown.is_default && !head.contains("default") { format!("{head} (default export)") } else { head };
    let members = main_members(shown);
    if members.is_empty() {
        return head;
    }
    format!("{head}: {}", words::join_within(&members, ", ", MEMBERS_BYTES))
}

/// Returns the names that describe a type: its public methods, or its fields if it has none.
fn main_members(shown: &ShownSymbol<'_>) -> Vec<String> {
    const MOST: usize = 6;
    let wanted = |kind: SymbolKind| match kind {
        SymbolKind::Method | SymbolKind::Function | SymbolKind::Prototype => Some(0_u8),
        SymbolKind::Field | SymbolKind::Property | SymbolKind::EnumMember => Some(1),
        _ => None,
    };
    if !shown.symbol.kind.is_type() && shown.symbol.kind != SymbolKind::Module {
        return Vec::new();
    }
    let all = || shown.symbol.children.iter().chain(shown.methods.iter().copied());
    let head = shown.symbol.signature.as_str();
    let is_go = head.starts_with("type ") && ["struct", "interface"].iter().any(|word| head.ends_with(word));
    let is_marked = |child: &Symbol| child.signature.starts_with("pub");
    let has_marks = all().any(is_marked);
    let hidden = |child: &Symbol| {
        is_private(child)
            || has_marks && !is_marked(child)
            || is_go && is_method_hidden(child, "go")
            || child.signature.starts_with("private ")
            || child.name.starts_with("operator")
            || is_parameter(child, head)
    };
    let public = || all().filter(|child| !hidden(child));
    let Some(best) = public().filter_map(|child| wanted(child.kind)).min() else {
        return Vec::new();
    };
    let mut members: Vec<&Symbol> = public().filter(|child| wanted(child.kind) == Some(best)).collect();
    // Fields stay in the order of the file, which is part of what a record means.
    if best == 0 {
        members.sort_by_key(|member| importance(member));
    }
    let mut seen = HashSet::new();
    members.retain(|member| seen.insert(member.name.as_str()));
    let more = MOST < members.len();
    let mut names: Vec<String> =
        members.iter().take(MOST).map(|member| words::one_line(&member.name)).collect();
    if more {
        names.push(words::ELLIPSIS.to_string());
    }
    names
}

/// Returns whether a field is a parameter that its type's head shows: `class User(val id: Int)`.
fn is_parameter(member: &Symbol, head: &str) -> bool {
    let is_value = matches!(
        member.kind,
        SymbolKind::Field | SymbolKind::Property | SymbolKind::Constant | SymbolKind::Variable
    );
    let parameters = head.split_once('(').map_or("", |(_, parameters)| parameters);
    is_value && !member.signature.is_empty() && parameters.contains(member.signature.as_str())
}

/// Returns the top-level symbols, most important first; members of namespaces count as top level.
pub(crate) fn main_symbols(outline: &Outline) -> Vec<&Symbol> {
    let mut symbols = Vec::new();
    let mut waiting: Vec<&Symbol> = outline.symbols.iter().rev().collect();
    while let Some(symbol) = waiting.pop() {
        if symbol.kind.is_namespace() && !symbol.children.is_empty() {
            waiting.extend(symbol.children.iter().rev());
        } else {
            symbols.push(symbol);
        }
    }
    // Stable, so that ties keep their position.
    symbols.sort_by_key(|symbol| importance(symbol));
    // A prototype and its function, or a name defined under both `#if` and `#else`, are listed once.
    let mut seen = HashSet::new();
    symbols.retain(|symbol| seen.insert((symbol.kind.is_callable(), symbol.qualified_name.as_str())));
    symbols
}

/// Orders symbols: public before private, types before functions before constants, large before small.
///
/// Sizes are rounded, so that one more line in a function seldom changes the order.
pub(crate) fn importance(symbol: &Symbol) -> (bool, u8, Reverse<usize>) {
    let rank = match symbol.kind {
        SymbolKind::Class
        | SymbolKind::Struct
        | SymbolKind::Union
        | SymbolKind::Enum
        | SymbolKind::Typedef
        | SymbolKind::Interface
        | SymbolKind::Object
        | SymbolKind::Table
        | SymbolKind::Heading
        | SymbolKind::Stage
        | SymbolKind::Module
        | SymbolKind::Namespace => 0,
        SymbolKind::Function
        | SymbolKind::Method
        | SymbolKind::Constructor
        | SymbolKind::Destructor
        | SymbolKind::Target
        | SymbolKind::Prototype => 1,
        SymbolKind::Macro | SymbolKind::Element | SymbolKind::Selector | SymbolKind::Cell => 2,
        SymbolKind::EnumMember
        | SymbolKind::Field
        | SymbolKind::Property
        | SymbolKind::Event
        | SymbolKind::Key
        | SymbolKind::Variable
        | SymbolKind::Constant => 3,
    };
    let lines = symbol.span.end_line.saturating_sub(symbol.span.start_line) as usize;
    let size = words::rounded(lines.saturating_add(symbol.children.len()));
    (is_private(symbol), rank, Reverse(size))
}

fn is_private(symbol: &Symbol) -> bool {
    // In C, `static` makes a function private to its file. Static functions of classes are methods.
    let is_static_function = symbol.kind == SymbolKind::Function && symbol.signature.starts_with("static ");
    symbol.name.starts_with('_') || is_static_function
}

//! Writes a symbol without its body: its signature, the members that are shown, and what closes it in its language.

use super::page::{BlockLayout, LanguageStyle, SourcePage};
use crate::model::{Symbol, SymbolKind};

/// Shows that the members of a signature are omitted.
const MEMBERS_MARK: &str = "{…}";

/// Returns a symbol's signature with its shown members, if any, without a final line break.
pub(super) fn symbol_head(
    page: &SourcePage<'_>,
    symbol: &Symbol,
    text: &str,
    indent: &str,
    inside: &str,
) -> String {
    match page.style.layout {
        BlockLayout::Indented => indented(page, symbol, text, indent, inside),
        BlockLayout::Braced => braced(page, symbol, text, indent, inside),
        BlockLayout::Worded(end) => below(page, symbol, indent, inside, end),
        BlockLayout::Listed => below(page, symbol, indent, inside, ""),
    }
}

/// Returns a signature with its members below it, and the keyword that closes them.
fn below(page: &SourcePage<'_>, symbol: &Symbol, indent: &str, inside: &str, last: &str) -> String {
    let line_end = page.line_end;
    let mut head = format!("{indent}{}", symbol.signature);
    let is_opened = opens_block(&symbol.signature);
    let is_container = symbol.kind.is_type() || symbol.kind.is_namespace();
    if !inside.is_empty() {
        // Without a keyword of its own, it is a call with a block: `Point = Struct.new(:x) do`.
        head.push_str(if is_container && !is_opened && !last.is_empty() { " do" } else { "" });
        head.extend([line_end, inside]);
    }
    let is_ended = is_opened || is_container && !inside.is_empty();
    if is_ended && !last.is_empty() {
        // Without members, `class Foo; end` on one line is valid too.
        let space = if inside.is_empty() { "; " } else { line_end };
        let indent = if inside.is_empty() { "" } else { indent };
        head.extend([space, indent, last]);
    }
    head
}

/// Returns whether a Ruby or Lua signature opens a block that a keyword has to close.
fn opens_block(signature: &str) -> bool {
    let is_function = ["function ", "function("].iter().any(|word| signature.contains(word));
    let (_, definition) = signature.split_once("def ").unwrap_or_default();
    let is_class = ["class ", "module "].iter().any(|word| signature.starts_with(word));
    // `class << self; …; end` is complete.
    is_function
        || is_class && !signature.ends_with("; end")
        || !definition.is_empty() && !is_class && !is_endless(definition)
}

/// Returns whether the rest of `def` is an endless Ruby method, whose body is an expression: `area = @x * @y`. A
/// setter, `area=(value)`, is not.
fn is_endless(definition: &str) -> bool {
    let name_end = definition.find(['(', ' ']).unwrap_or(definition.len());
    let rest = &definition[name_end..];
    let mut depth = 0_usize;
    let parameters_end = rest.find(|c| {
        depth = if c == '(' { depth + 1 } else { depth.saturating_sub(usize::from(c == ')')) };
        depth == 0
    });
    let after = if rest.starts_with('(') { parameters_end.map_or("", |end| &rest[end + 1..]) } else { rest };
    after.trim_start().starts_with("= ")
}

fn indented(page: &SourcePage<'_>, symbol: &Symbol, text: &str, indent: &str, inside: &str) -> String {
    let (signature, end) = (&symbol.signature, page.line_end);
    let mut head = String::new();
    for decorator in decorators(text) {
        head.extend([indent, decorator.as_str(), end]);
    }
    head.extend([indent, signature.as_str()]);
    if !symbol.kind.is_callable() && !symbol.kind.is_type() {
        return head;
    }
    if inside.is_empty() {
        head.push_str(": ...");
    } else {
        head.extend([":", end, inside]);
    }
    head
}

/// Returns the decorators above a definition, one line each: they distinguish a property from a method, and an overload
/// from its implementation. Longer arguments are omitted.
fn decorators(text: &str) -> Vec<String> {
    let is_head = |line: &str| ["def ", "class ", "async "].iter().any(|word| line.starts_with(word));
    if !text.starts_with('@') {
        return Vec::new();
    }
    let lines = text.lines().map(str::trim).take_while(|line| !is_head(line));
    let decorators = lines.filter(|line| line.starts_with('@')).map(|line| {
        // Showing arguments on further lines completely would need a parser.
        let is_whole = line.matches('(').count() == line.matches(')').count();
        match line.split_once('(') {
            Some((name, _)) if !is_whole => format!("{name}(...)"),
            Some(_) | None => line.to_owned(),
        }
    });
    decorators.collect()
}

fn braced(page: &SourcePage<'_>, symbol: &Symbol, text: &str, indent: &str, inside: &str) -> String {
    let signature = symbol.signature.as_str();
    if let Some((before, after)) = signature.split_once(MEMBERS_MARK) {
        return block(page, before, &format!("{after}{}", page.style.statement_end), indent, inside);
    }
    let statement_end = page.style.statement_end;
    // The members of a function or an object among the arguments of a call: `describe("frames", () => …)`.
    if let Some((before, after)) = signature.rsplit_once('…')
        && !inside.is_empty()
        && after.starts_with(')')
    {
        return block(page, before, &format!("{after}{statement_end}"), indent, inside);
    }
    if symbol.kind == SymbolKind::EnumMember {
        // `case A` is a statement in Swift, PHP and Scala.
        let end = if signature.starts_with("case ") { statement_end } else { "," };
        return format!("{indent}{signature}{end}");
    }
    if is_accessor(symbol) {
        return format!("{indent}{signature}");
    }
    if symbol.kind == SymbolKind::Typedef && !inside.is_empty() && signature_word(signature, "type") {
        return block(page, &format!("{signature} ="), statement_end, indent, inside);
    }
    match BraceForm::of_kind(symbol.kind, &page.style) {
        // For example `namespace A;`, or a class that consists of its parameters.
        BraceForm::Block(_) if inside.is_empty() && !text.contains('{') => {
            format!("{indent}{signature}{statement_end}")
        }
        BraceForm::Block(end) => block(page, signature, end, indent, inside),
        BraceForm::Statement(end) => {
            let space = if inside.is_empty() { "" } else { page.line_end };
            format!("{indent}{signature}{end}{space}{inside}")
        }
    }
}

/// Returns whether a signature ends with accessors in braces, after which no semicolon follows: `Name { get; set; }`.
fn is_accessor(symbol: &Symbol) -> bool {
    let kinds = [SymbolKind::Property, SymbolKind::Event, SymbolKind::Method];
    kinds.contains(&symbol.kind) && symbol.signature.ends_with('}')
}

fn signature_word(signature: &str, wanted: &str) -> bool {
    let mut words = signature.split_whitespace().take_while(|word| *word != "=");
    words.any(|word| word == wanted)
}

/// How a language with braces writes and closes a symbol.
enum BraceForm {
    Block(&'static str),
    /// On one line, with its members, if any, below.
    Statement(&'static str),
}

impl BraceForm {
    const fn of_kind(kind: SymbolKind, style: &LanguageStyle) -> Self {
        match kind {
            SymbolKind::Namespace
            | SymbolKind::Module
            | SymbolKind::Interface
            | SymbolKind::Object
            | SymbolKind::Table => Self::Block(""),
            SymbolKind::Class | SymbolKind::Struct | SymbolKind::Union | SymbolKind::Enum => {
                Self::Block(style.type_end)
            }
            // Not statements: a macro ends with its line, and the others are not code.
            SymbolKind::Macro
            | SymbolKind::Key
            | SymbolKind::Heading
            | SymbolKind::Selector
            | SymbolKind::Element
            | SymbolKind::Target
            | SymbolKind::Stage
            | SymbolKind::Cell => Self::Statement(""),
            SymbolKind::Method
            | SymbolKind::Constructor
            | SymbolKind::Destructor
            | SymbolKind::Function
            | SymbolKind::Prototype
            | SymbolKind::Typedef
            | SymbolKind::Field
            | SymbolKind::Property
            | SymbolKind::Event
            | SymbolKind::EnumMember
            | SymbolKind::Variable
            | SymbolKind::Constant => Self::Statement(style.statement_end),
        }
    }
}

/// Returns a head with its members in braces, or with a mark that members are omitted.
fn block(page: &SourcePage<'_>, head: &str, end: &str, indent: &str, inside: &str) -> String {
    let head = head.trim_end();
    if inside.is_empty() {
        return format!("{indent}{head} {MEMBERS_MARK}{end}");
    }
    let line_end = page.line_end;
    format!("{indent}{head} {{{line_end}{inside}{line_end}{indent}}}{end}")
}

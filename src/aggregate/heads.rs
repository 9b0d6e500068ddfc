//! A symbol by its signature, written as its language writes it.

use super::page::SourcePage;
use super::style::BlockLayout;
use crate::model::Symbol;
use crate::model::SymbolKind;

/// How a signature shows that members stand there.
const MEMBERS_MARK: &str = "{…}";

/// Returns a symbol's signature with what is shown of its members, if anything is; without the end of the last line.
pub(super) fn symbol_head(
    page: &SourcePage<'_>,
    symbol: &Symbol,
    text: &str,
    indent: &str,
    inside: &str,
) -> String {
    match page.style.layout {
        BlockLayout::Indented => indented(page, symbol, text, indent, inside),
        BlockLayout::Braced => braced(page, symbol, indent, inside),
        BlockLayout::Worded(end) => below(page, symbol, indent, inside, end),
        BlockLayout::Listed => below(page, symbol, indent, inside, ""),
    }
}

/// Returns a signature with its members below it, and the word that ends them.
fn below(page: &SourcePage<'_>, symbol: &Symbol, indent: &str, inside: &str, last: &str) -> String {
    let line_end = page.line_end;
    let mut head = format!("{indent}{}", symbol.signature);
    if !inside.is_empty() {
        head.extend([line_end, inside]);
    }
    let is_ended = symbol.kind.is_callable() || symbol.kind.is_type() || symbol.kind.is_namespace();
    if is_ended && !last.is_empty() {
        let space = if inside.is_empty() { "; " } else { line_end };
        let indent = if inside.is_empty() { "" } else { indent };
        head.extend([space, indent, last]);
    }
    head
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

/// Returns the decorators above a definition, each on one line: they tell a property from a method, and an overload
/// from what implements it. The arguments of one that is longer are left out.
fn decorators(text: &str) -> Vec<String> {
    let is_head = |line: &str| ["def ", "class ", "async "].iter().any(|word| line.starts_with(word));
    if !text.starts_with('@') {
        return Vec::new();
    }
    let lines = text.lines().map(str::trim).take_while(|line| !is_head(line));
    let decorators = lines.filter(|line| line.starts_with('@')).map(|line| {
        let is_whole = line.matches('(').count() == line.matches(')').count();
        match line.split_once('(') {
            Some((name, _)) if !is_whole => format!("{name}(...)"),
            Some(_) | None => line.to_owned(),
        }
    });
    decorators.collect()
}

fn braced(page: &SourcePage<'_>, symbol: &Symbol, indent: &str, inside: &str) -> String {
    let signature = symbol.signature.as_str();
    let (before, after) = match signature.split_once(MEMBERS_MARK) {
        Some((before, after)) => (before, format!("{after}{}", page.style.statement_end)),
        None => match symbol.kind {
            SymbolKind::Namespace
            | SymbolKind::Module
            | SymbolKind::Interface
            | SymbolKind::Object
            | SymbolKind::Table => (signature, String::new()),
            SymbolKind::Class | SymbolKind::Struct | SymbolKind::Union | SymbolKind::Enum => {
                (signature, page.style.type_end.to_owned())
            }
            SymbolKind::EnumMember => return format!("{indent}{signature},"),
            SymbolKind::Macro
            | SymbolKind::Key
            | SymbolKind::Heading
            | SymbolKind::Selector
            | SymbolKind::Element
            | SymbolKind::Target
            | SymbolKind::Stage
            | SymbolKind::Cell => {
                let space = if inside.is_empty() { "" } else { page.line_end };
                return format!("{indent}{signature}{space}{inside}");
            }
            SymbolKind::Method
            | SymbolKind::Constructor
            | SymbolKind::Destructor
            | SymbolKind::Function
            | SymbolKind::Prototype
            | SymbolKind::Typedef
            | SymbolKind::Field
            | SymbolKind::Property
            | SymbolKind::Event
            | SymbolKind::Variable
            | SymbolKind::Constant => {
                let space = if inside.is_empty() { "" } else { page.line_end };
                return format!("{indent}{signature}{}{space}{inside}", page.style.statement_end);
            }
        },
    };
    let before = before.trim_end();
    if inside.is_empty() {
        return format!("{indent}{before} {MEMBERS_MARK}{after}");
    }
    let end = page.line_end;
    format!("{indent}{before} {{{end}{inside}{end}{indent}}}{after}")
}

//! The structure of a file: its symbols, the names it refers to, and how well it was parsed.

use std::fmt;
use std::ops::Range;

use super::named_enum::named_enum;

/// A range of text: byte offsets and lines of the *original* text, even if a preprocessed text was parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start_byte: usize,
    /// Offset after the last byte; never before `start_byte`.
    pub end_byte: usize,
    /// First line, from 1.
    pub start_line: u32,
    /// Last line, inclusive, from 1.
    pub end_line: u32,
}

named_enum! {
    /// The kind of a symbol, named as in the Language Server Protocol where possible.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum SymbolKind {
        Class = "class",
        Method = "method",
        /// A function that creates an object of its class.
        Constructor = "constructor",
        /// A function that destroys an object of its class.
        Destructor = "destructor",
        Function = "function",
        /// A function declared here and defined elsewhere.
        Prototype = "prototype",
        Struct = "struct",
        Union = "union",
        Enum = "enum",
        EnumMember = "enum_member",
        Typedef = "typedef",
        Field = "field",
        Namespace = "namespace",
        Macro = "macro",
        /// A variable at the level of the file or program.
        Variable = "variable",
        /// A variable that is meant to be constant.
        Constant = "constant",
        /// A module: a part of a program with its own namespace.
        Module = "module",
        /// An interface, a trait, a protocol or a service.
        Interface = "interface",
        /// An object without a class, or an extension of a type: `impl`, an extension.
        Object = "object",
        /// A field that code reads or writes.
        Property = "property",
        Event = "event",
        /// A key of a structured text, or a table of it.
        Key = "key",
        Heading = "heading",
        Selector = "selector",
        Element = "element",
        Target = "target",
        Stage = "stage",
        /// A table or view of a database, or a part of one.
        Table = "table",
        Cell = "cell",
    }
}

impl SymbolKind {
    /// Returns the name as in a line of an outline: `Enum Member`.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Class => "Class",
            Self::Method => "Method",
            Self::Constructor => "Constructor",
            Self::Destructor => "Destructor",
            Self::Function => "Function",
            Self::Prototype => "Prototype",
            Self::Struct => "Struct",
            Self::Union => "Union",
            Self::Enum => "Enum",
            Self::EnumMember => "Enum Member",
            Self::Typedef => "Typedef",
            Self::Field => "Field",
            Self::Namespace => "Namespace",
            Self::Macro => "Macro",
            Self::Variable => "Variable",
            Self::Constant => "Constant",
            Self::Module => "Module",
            Self::Interface => "Interface",
            Self::Object => "Object",
            Self::Property => "Property",
            Self::Event => "Event",
            Self::Key => "Key",
            Self::Heading => "Heading",
            Self::Selector => "Selector",
            Self::Element => "Element",
            Self::Target => "Target",
            Self::Stage => "Stage",
            Self::Table => "Table",
            Self::Cell => "Cell",
        }
    }

    pub const fn is_callable(self) -> bool {
        matches!(self, Self::Function | Self::Method | Self::Constructor | Self::Destructor | Self::Prototype)
    }

    pub const fn is_type(self) -> bool {
        matches!(
            self,
            Self::Class
                | Self::Struct
                | Self::Union
                | Self::Enum
                | Self::Typedef
                | Self::Interface
                | Self::Object
                | Self::Table
        )
    }

    /// Returns whether it only groups names.
    pub const fn is_namespace(self) -> bool {
        matches!(self, Self::Namespace | Self::Module)
    }
}

/// A named piece of structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its kind.
    pub kind: SymbolKind,
    /// Its unqualified name.
    pub name: String,
    /// Its name qualified as in the language: `Engine.run`, `ns::Engine::run`.
    pub qualified_name: String,
    /// Its range, including decorators, attributes and `template<…>`.
    pub span: Span,
    /// Its head on one line: what is needed to use it.
    pub signature: String,
    /// First paragraph of its documentation, on one line.
    pub doc: Option<String>,
    /// Whether the parser lost it and only the preprocessor found it: its name and lines are usually right, and its
    /// contents are unknown.
    pub recovered: bool,
    /// The symbols inside it, in the order of the text.
    pub children: Vec<Symbol>,
}

impl Symbol {
    /// Calls `visit` with this symbol and all symbols inside it, each with its depth from 0, parents first.
    pub fn walk<'a>(&'a self, depth: usize, visit: &mut impl FnMut(&'a Self, usize)) {
        visit(self, depth);
        for child in &self.children {
            child.walk(depth + 1, visit);
        }
    }

    /// Returns whether a Rust test attribute such as `#[test]`, `#[tokio::test]` or `#[cfg(test)]` precedes the symbol
    /// in the text of its file.
    pub fn has_test_attribute(&self, text: &str) -> bool {
        const ATTRIBUTES: [&str; 4] = ["test]", "test(", "(test)", "(test,"];
        let lines = text.get(self.span.start_byte..).unwrap_or_default().lines().map(str::trim_start);
        let mut attributes = lines.take_while(|line| line.starts_with("#["));
        attributes.any(|line| !line.contains("not(") && ATTRIBUTES.iter().any(|mark| line.contains(mark)))
    }
}

named_enum! {
    /// Why a file's structure does not come from a complete parse.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ParseFallback {
        /// The parser did not finish within the time limit for a file.
        TimedOut = "timed_out",
        /// Brackets or blocks are nested too deep for a parser.
        TooDeep = "too_deep",
        /// It has more tokens than the memory limit for a file allows.
        TooLarge = "too_large",
        /// The parser returned nothing.
        Failed = "failed",
    }
}

impl ParseFallback {
    /// Describes the reason in words that fit after "no outline:".
    pub const fn description(self) -> &'static str {
        match self {
            Self::TimedOut => "its parse takes longer than limits.parse_timeout_ms",
            Self::TooDeep => "it is nested too deeply to be parsed",
            Self::TooLarge => "it has too many tokens to be parsed",
            Self::Failed => "its parser gave up",
        }
    }
}

/// How well a file was understood: the share of its bytes that are neither in error nodes nor in the heads of symbols
/// that only the scanner found ([`Symbol::recovered`]).
///
/// Only text that the parser sees can be in an error node: function bodies that a scanner removed were not checked, and
/// count as understood. So does text that a scanner repaired before the parse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ParseHealth {
    /// Bytes in error nodes, and in the heads of recovered symbols.
    pub broken_bytes: u64,
    pub total_bytes: u64,
    /// Set if the structure does not come from a complete parse.
    pub fallback: Option<ParseFallback>,
}

impl ParseHealth {
    /// Returns the health of a text that was understood in full.
    pub const fn perfect(total_bytes: u64) -> Self {
        Self { broken_bytes: 0, total_bytes, fallback: None }
    }

    /// Returns the health of a text without a structure.
    pub const fn fallen_back(total_bytes: u64, fallback: ParseFallback) -> Self {
        Self { broken_bytes: total_bytes, total_bytes, fallback: Some(fallback) }
    }

    /// Returns whether nothing was lost.
    pub const fn is_perfect(self) -> bool {
        self.broken_bytes == 0 && self.fallback.is_none()
    }

    /// Returns the understood share, from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "a share of at most 8 MiB, which f64 holds exactly")]
    pub fn share(self) -> f64 {
        if self.total_bytes == 0 {
            return if self.fallback.is_none() { 1.0 } else { 0.0 };
        }
        1.0 - self.broken_bytes as f64 / self.total_bytes as f64
    }
}

/// Formats the share as `99.8 %`; never rounded up to 100 if anything is broken.
impl fmt::Display for ParseHealth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.share() * 1000.0).floor() / 10.0;
        write!(f, "{tenths:.1} %")
    }
}

/// The structure of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// How well the file was understood.
    pub health: ParseHealth,
    /// First paragraph of the file's own documentation, on one line.
    pub doc: Option<String>,
    /// The file's imports as written: `os.path`, `<stdio.h>`, in order and without duplicates.
    pub imports: Vec<String>,
    /// The symbols of the top level, in the order of the text.
    pub symbols: Vec<Symbol>,
}

impl Outline {
    /// Calls `visit` with every symbol and its depth, in the order of the text, parents first.
    pub fn walk<'a>(&'a self, mut visit: impl FnMut(&'a Symbol, usize)) {
        for symbol in &self.symbols {
            symbol.walk(0, &mut visit);
        }
    }
}

/// The text of a file without bodies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skeleton {
    /// How well the file was understood.
    pub health: ParseHealth,
    /// The remaining text, with marks for removed parts and complete documentation.
    pub text: String,
    /// The documentation comments in it, in the order of the text.
    pub docs: Vec<SkeletonDoc>,
    /// Whether it may be shown: it has been checked to have no more errors than its source, or the language makes no
    /// such promise, or the check would take too long.
    pub is_checked: bool,
}

/// A comment or a docstring in the text of a skeleton.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkeletonDoc {
    /// The whole comment, with its markers.
    pub range: Range<usize>,
    /// What a brief view omits: everything after the first paragraph, or a whole license. Often empty.
    pub rest: Range<usize>,
    /// The replacement of `rest`; it closes the comment if its end is omitted.
    pub mark: String,
    /// The replacement of `range` where no documentation is shown; empty if the code is valid without it.
    pub placeholder: String,
}

/// The names of one file, each as the number that `syntax::name_number` assigns; every list is sorted and has no
/// duplicates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileReferences {
    /// Names that it defines for others: types, functions, methods, macros, top-level variables.
    pub defines: Vec<u32>,
    /// Every identifier in it, including those in comments and strings.
    pub uses: Vec<u32>,
    /// Its imports by their last names: `path` for `import os.path`, `Python` for `#include "Python.h"`.
    pub imports: Vec<u32>,
}

/// Returns whether the name with that number may be a plain English word: it has only lower-case letters.
pub const fn is_plain_word(name: u32) -> bool {
    name & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn health_is_never_rounded_up_to_perfect() {
        let health = ParseHealth { broken_bytes: 1, total_bytes: 1_000_000, fallback: None };
        assert_eq!(health.to_string(), "99.9 %");
        assert_eq!(ParseHealth::perfect(10).to_string(), "100.0 %");
        assert_eq!(ParseHealth::fallen_back(0, ParseFallback::TimedOut).to_string(), "0.0 %");
    }

    #[test]
    fn a_kind_reads_back_from_its_name() {
        for kind in SymbolKind::ALL {
            assert_eq!(SymbolKind::from_name(kind.name()), Some(kind));
        }
    }
}

//! References between symbols: who uses what, who calls whom, and what a change may affect.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scalars::{display_path, wire_path};
use crate::engine::{
    CallAnswer, GraphReference, ImpactAnswer, ReachedNode, ReachedSymbol, ReferenceGraph, SymbolId,
    UsesAnswer,
};
use crate::model::{DefinitionKind, RelPath, printable};
use crate::render::format_grouped;

/// If a use may mean more definitions than this, a row states only their number.
const MAX_MEANT: usize = 3;

/// The uses of a symbol, or of all symbols.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SymbolUses {
    /// The definitions that the symbol's name means; none if all uses were asked for.
    pub definitions: Vec<SymbolPlace>,
    /// The uses, by path and line. A use that may mean several definitions is listed with each.
    pub references: Vec<ReferenceEdge>,
    /// How many uses of the name could not be resolved.
    pub unresolved: u64,
}

/// A definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SymbolPlace {
    /// The file, relative to the project's folder.
    pub path: String,
    /// The bytes of the path in hex, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// The line of the name, counted from 1.
    pub line: u32,
    /// The last line, inclusive.
    pub end_line: u32,
    /// The kind: `function`, `method`, `class`, `interface`, `alias`, `macro` or `module`.
    pub kind: String,
    /// The qualified name: `Engine.run`.
    pub symbol: String,
}

/// A use of a name, and a definition that it may mean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReferenceEdge {
    /// Where the name is used.
    pub from: ReferencePlace,
    /// The definition.
    pub to: ReferencePlace,
    /// `sure` if the language allows no other reading, `likely` for the best reading, `maybe` for one of several.
    pub grade: String,
    /// Whether the name is called.
    pub call: bool,
}

/// A line, and the symbol that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReferencePlace {
    /// The file, relative to the project's folder.
    pub path: String,
    /// The bytes of the path in hex, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// The line, counted from 1.
    pub line: u32,
    /// The qualified name of the symbol; null outside of all symbols.
    pub symbol: Option<String>,
}

/// Who calls a symbol, or what it calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SymbolCalls {
    /// The definitions that the symbol's name means.
    pub definitions: Vec<SymbolPlace>,
    /// What was found, the nearest first.
    pub calls: Vec<ReachedPlace>,
    /// How many uses of the name, or within the symbol, could not be resolved.
    pub unresolved: u64,
}

/// A symbol that is reached by references.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReachedPlace {
    /// The file, relative to the project's folder.
    pub path: String,
    /// The bytes of the path in hex, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// The line of the symbol's name, or of the use outside of all symbols, counted from 1.
    pub line: u32,
    /// The qualified name of the symbol; null outside of all symbols.
    pub symbol: Option<String>,
    /// How many references lie between it and what was asked for.
    pub distance: u32,
    /// The least sure grade of these references: `sure`, `likely` or `maybe`.
    pub grade: String,
    /// The last of these references: where the name is used. Absent at distance 0, and if the test is only known from a
    /// coverage file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<ReferencePlace>,
    /// The member that this reference uses, if it is not the symbol itself but one that the symbol overrides or
    /// implements: `Runner.run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<String>,
    /// Where the test is defined, if it is inherited; the path and the line are then those of the class that inherits
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inherited_from: Option<ReferencePlace>,
}

/// What a change may affect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeImpact {
    /// What changes.
    pub changed: Vec<ChangedPlace>,
    /// What may be affected, the nearest first; or the tests, the most likely first.
    pub affected: Vec<ReachedPlace>,
    /// How many uses of the changed names could not be resolved.
    pub unresolved: u64,
}

/// A symbol that changes, or the lines of a file outside of all symbols.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedPlace {
    /// The file, relative to the project's folder.
    pub path: String,
    /// The bytes of the path in hex, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// The line of the symbol's name; null where there is none.
    pub line: Option<u32>,
    /// The qualified name of the symbol; null for the lines outside of all symbols.
    pub symbol: Option<String>,
    /// Whether it has been removed since the revision.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub removed: bool,
}

impl ReferenceEdge {
    /// Returns a reference as JSON.
    pub fn new(graph: &ReferenceGraph, reference: &GraphReference) -> Self {
        let to = graph.symbol(reference.to);
        Self {
            from: use_place(graph, reference),
            to: place(graph.path(to.file), to.line, Some(&to.qualified_name)),
            grade: reference.grade.name().to_owned(),
            call: reference.is_call,
        }
    }
}

impl SymbolPlace {
    /// Returns the definition as a row: its lines, its kind and its name.
    pub fn text(&self) -> String {
        let Self { path, path_hex, line, end_line, kind, symbol } = self;
        format!(
            "{}:{line}-{end_line} [{kind}] {}",
            display_path(path, path_hex.as_deref()),
            printable(symbol)
        )
    }
}

impl ReferencePlace {
    /// Returns the file and the line.
    fn line_text(&self) -> String {
        format!("{}:{}", display_path(&self.path, self.path_hex.as_deref()), self.line)
    }

    /// Returns the file, the line and the symbol.
    pub fn text(&self) -> String {
        format!("{}{}", self.line_text(), symbol_text(self.symbol.as_deref()))
    }
}

impl ReachedPlace {
    /// Returns the symbol as a row, with its own line. The distance is stated if it is greater than `usual`.
    pub fn text(&self, usual: u32) -> String {
        self.text_at(self.line, usual)
    }

    /// Returns the symbol as a row, with the line of its use.
    fn use_text(&self, usual: u32) -> String {
        self.text_at(self.via.as_ref().map_or(self.line, |via| via.line), usual)
    }

    fn text_at(&self, line: u32, usual: u32) -> String {
        let path = display_path(&self.path, self.path_hex.as_deref());
        let steps = match self.distance {
            distance if distance <= usual => String::new(),
            1 => " · 1 step".to_owned(),
            distance => format!(" · {distance} steps"),
        };
        let through = self.through.as_ref().map(|base| format!(" through {}", printable(base)));
        let inherited = self.inherited_from.as_ref().map(|from| format!(" · from {}", from.text()));
        let (symbol, through) = (symbol_text(self.symbol.as_deref()), through.unwrap_or_default());
        format!("{path}:{line}{symbol} · {}{through}{steps}{}", self.grade, inherited.unwrap_or_default())
    }
}

impl SymbolUses {
    /// Returns the definitions and the uses, a row for each line. If there are several definitions, each use states
    /// which one it means.
    pub fn text(&self) -> String {
        let is_ambiguous = 1 < self.definitions.len();
        let use_row = |edges: &[ReferenceEdge]| {
            let to = if is_ambiguous { meant_text(edges) } else { String::new() };
            format!("  {} · {}{to}\n", edges[0].from.text(), edges[0].grade)
        };
        definition_rows(&self.definitions) + &self.lines().map(use_row).collect::<String>()
    }

    /// Returns on how many lines the symbol is used.
    pub fn line_count(&self) -> usize {
        self.lines().count()
    }

    /// Returns the references grouped by line; those of one line differ in their definitions.
    fn lines(&self) -> impl Iterator<Item = &[ReferenceEdge]> {
        self.references.chunk_by(|a, b| a.from == b.from && a.grade == b.grade)
    }
}

/// Returns which definitions the references of a line may mean, or only the number of many.
fn meant_text(edges: &[ReferenceEdge]) -> String {
    let mut meant: Vec<String> = edges.iter().map(|edge| edge.to.line_text()).collect();
    meant.dedup();
    match meant.len() {
        1..=MAX_MEANT => format!(" · {}", meant.join(", ")),
        many => format!(" · one of {many}"),
    }
}

impl SymbolCalls {
    /// Returns the definitions and the calls, one per row: callers with the line of the call, called symbols with the
    /// line of their definition.
    pub fn text(&self, are_callers: bool) -> String {
        let row = |reached: &ReachedPlace| {
            let text = if are_callers { reached.use_text(1) } else { reached.text(1) };
            format!("  {text}\n")
        };
        definition_rows(&self.definitions) + &self.calls.iter().map(row).collect::<String>()
    }
}

impl ChangeImpact {
    /// Returns what may be affected, one symbol per row.
    pub fn text(&self) -> String {
        self.affected.iter().map(|reached| reached.text(0) + "\n").collect()
    }

    /// Returns a sentence for each removed symbol.
    pub fn removal_notes(&self) -> Vec<String> {
        let removed = self.changed.iter().filter(|changed| changed.removed);
        let note = |changed: &ChangedPlace| {
            let path = display_path(&changed.path, changed.path_hex.as_deref());
            let name = printable(changed.symbol.as_deref().unwrap_or_default());
            format!("{name} of {path} was removed, and its former uses are not followed")
        };
        removed.map(note).collect()
    }
}

fn definition_rows(definitions: &[SymbolPlace]) -> String {
    definitions.iter().map(|definition| definition.text() + "\n").collect()
}

fn symbol_text(symbol: Option<&str>) -> String {
    symbol.map(|symbol| format!(" {}", printable(symbol))).unwrap_or_default()
}

/// Returns how many were found, in words, and how many uses could not be resolved: those of the name that was asked
/// about, if there is one.
pub fn found_text(count: usize, words: [&str; 2], unresolved: u64, is_of_name: bool) -> String {
    let word = words[usize::from(count != 1)];
    let of_name = if is_of_name { " of the same name" } else { "" };
    let unresolved = match unresolved {
        0 => String::new(),
        1 => format!("; 1 use{of_name} could not be resolved"),
        many => format!("; {} uses{of_name} could not be resolved", format_grouped(many)),
    };
    format!("{} {word}{unresolved}", format_grouped(count as u64))
}

impl From<Arc<ReferenceGraph>> for SymbolUses {
    fn from(graph: Arc<ReferenceGraph>) -> Self {
        let edge = |reference| ReferenceEdge::new(&graph, reference);
        Self {
            definitions: Vec::new(),
            references: graph.references().map(edge).collect(),
            unresolved: graph.unresolved(),
        }
    }
}

impl From<UsesAnswer> for SymbolUses {
    fn from(answer: UsesAnswer) -> Self {
        let graph = &answer.graph;
        let edge = |reference| ReferenceEdge::new(graph, reference);
        Self {
            definitions: definitions(graph, &answer.definitions),
            references: answer.references.iter().map(edge).collect(),
            unresolved: answer.unresolved,
        }
    }
}

impl From<CallAnswer> for SymbolCalls {
    fn from(answer: CallAnswer) -> Self {
        let graph = &answer.graph;
        let reached = |reached| reached_place(graph, reached);
        Self {
            definitions: definitions(graph, &answer.definitions),
            calls: answer.reached.iter().map(reached).collect(),
            unresolved: answer.unresolved,
        }
    }
}

impl From<ImpactAnswer> for ChangeImpact {
    fn from(answer: ImpactAnswer) -> Self {
        let graph = &answer.graph;
        let changed = answer.changed.iter().map(|node| {
            let (path, line, symbol) = match *node {
                ReachedNode::Symbol(symbol) => {
                    let symbol = graph.symbol(symbol);
                    (graph.path(symbol.file), Some(symbol.line), Some(symbol.qualified_name.to_string()))
                }
                ReachedNode::File(file) => (graph.path(file), None, None),
            };
            let (path, path_hex) = wire_path(path);
            ChangedPlace { path, path_hex, line, symbol, removed: false }
        });
        let removed = answer.removed.iter().map(|removed| {
            let (path, path_hex) = wire_path(&removed.path);
            let symbol = Some(removed.qualified_name.clone());
            ChangedPlace { path, path_hex, line: None, symbol, removed: true }
        });
        let reached = |reached| reached_place(graph, reached);
        Self {
            changed: changed.chain(removed).collect(),
            affected: answer.affected.iter().map(reached).collect(),
            unresolved: answer.unresolved,
        }
    }
}

fn definitions(graph: &ReferenceGraph, symbols: &[SymbolId]) -> Vec<SymbolPlace> {
    let definition = |id: &SymbolId| {
        let symbol = graph.symbol(*id);
        let (path, path_hex) = wire_path(graph.path(symbol.file));
        SymbolPlace {
            path,
            path_hex,
            line: symbol.line,
            end_line: symbol.last_line,
            kind: kind_name(symbol.kind, symbol.is_member).to_owned(),
            symbol: symbol.qualified_name.to_string(),
        }
    };
    symbols.iter().map(definition).collect()
}

const fn kind_name(kind: DefinitionKind, is_member: bool) -> &'static str {
    match kind {
        DefinitionKind::Function if is_member => "method",
        DefinitionKind::Function => "function",
        DefinitionKind::Class => "class",
        DefinitionKind::Interface => "interface",
        DefinitionKind::Alias => "alias",
        DefinitionKind::Macro => "macro",
        DefinitionKind::Module => "module",
    }
}

fn reached_place(graph: &ReferenceGraph, reached: &ReachedSymbol) -> ReachedPlace {
    let (mut file, mut line, mut symbol) = match reached.node {
        ReachedNode::Symbol(symbol) => {
            let symbol = graph.symbol(symbol);
            (symbol.file, symbol.line, Some(symbol.qualified_name.to_string()))
        }
        ReachedNode::File(file) => {
            let line = reached.via.filter(|via| via.file == file).map_or(1, |via| via.line);
            (file, line, None)
        }
    };
    let mut inherited_from = None;
    if let (Some(subclass), ReachedNode::Symbol(test)) = (reached.subclass, reached.node) {
        inherited_from = Some(place(graph.path(file), line, symbol.as_deref()));
        let class = graph.symbol(subclass);
        (file, line) = (class.file, class.line);
        symbol = Some(format!("{}.{}", class.qualified_name, graph.symbol(test).name()));
    }
    let (path, path_hex) = wire_path(graph.path(file));
    ReachedPlace {
        path,
        path_hex,
        line,
        symbol,
        distance: reached.distance,
        grade: reached.grade.name().to_owned(),
        via: reached.via.map(|via| use_place(graph, &via)),
        through: reached.through.map(|base| graph.symbol(base).qualified_name.to_string()),
        inherited_from,
    }
}

fn use_place(graph: &ReferenceGraph, reference: &GraphReference) -> ReferencePlace {
    let symbol = reference.from.map(|from| &*graph.symbol(from).qualified_name);
    place(graph.path(reference.file), reference.line, symbol)
}

fn place(path: &RelPath, line: u32, symbol: Option<&str>) -> ReferencePlace {
    let (path, path_hex) = wire_path(path);
    ReferencePlace { path, path_hex, line, symbol: symbol.map(str::to_owned) }
}

//! The costs of the pieces of a limited document.
//!
//! A piece is counted by itself, before it is rendered, and only when it is needed. The document is counted as a whole
//! in the end, so these costs have to be close, not exact.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::named_files::NamedFiles;
use crate::aggregate::{
    BYTES_PER_TOKEN, DocumentLimits, PackCosts, PackShares, TokenCounter, code_lines, important_names,
};
use crate::engine::artifacts::ContentRef;
use crate::engine::document::draft::ShownFile;
use crate::engine::document::rendering::{NameList, Renderer, ViewKey};
use crate::engine::fingerprint::Fingerprint;
use crate::engine::ranking::{ProjectRanking, RankedSymbol};
use crate::model::{FileRole, FileType, Outline, Symbol, SymbolKind, ViewMode, is_component_type};
use crate::summarize;
use crate::summarize::SummaryInput;

/// The mark of the gap that follows a piece of an excerpt, in tokens.
const GAP: u64 = 8;
/// The head of a container around a shown symbol.
const CONTAINER_HEAD: u64 = 10;
/// The header line and the fences of a block, without its path.
const BLOCK_FRAME: u64 = 26;
/// The summary at the beginning of a block, where the tier shows summaries.
const SUMMARY: u64 = 60;
/// More than any document has room for: the cost of a row for a file without names.
const IMPOSSIBLE: u64 = 1 << 40;
/// The number of lines that represent a source without symbols, and their maximum length: longer ones are data.
const ROW_LINES: usize = 3;
const MAX_LINE: usize = 200;
/// A block is as large as expected if it exceeds its pieces by no more than half of them plus this, in tokens.
const EXCESS_SLACK: u64 = 100;
/// The maximum number of names of a row.
const MAX_NAMES: usize = 40;

/// The unit that a limit counts in.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::engine::document) enum BudgetUnit {
    Tokens(TokenCounter),
    /// If only bytes are limited.
    Bytes,
}

impl BudgetUnit {
    pub(in crate::engine::document) fn for_limits(limits: DocumentLimits, counter: TokenCounter) -> Self {
        if limits.tokens.is_some() { Self::Tokens(counter) } else { Self::Bytes }
    }

    pub(in crate::engine::document) fn count(self, text: &str) -> u64 {
        match self {
            Self::Tokens(counter) => counter.count(text),
            Self::Bytes => text.len() as u64,
        }
    }

    /// Returns the cost of a number of tokens.
    pub(in crate::engine::document) const fn tokens(self, tokens: u64) -> u64 {
        match self {
            Self::Tokens(_) => tokens,
            Self::Bytes => tokens * BYTES_PER_TOKEN,
        }
    }

    /// Returns the approximate cost of a number of bytes.
    pub(super) const fn of_bytes(self, bytes: u64) -> u64 {
        match self {
            Self::Tokens(_) => bytes.div_ceil(BYTES_PER_TOKEN),
            Self::Bytes => bytes,
        }
    }

    /// Returns the approximate number of tokens of an amount.
    pub(in crate::engine::document) const fn to_tokens(self, amount: u64) -> u64 {
        match self {
            Self::Tokens(_) => amount,
            Self::Bytes => amount / BYTES_PER_TOKEN,
        }
    }
}

/// A piece whose cost is known.
#[derive(Clone, Copy)]
enum Piece {
    Block(usize),
    Body(usize),
    Signature(usize),
    Names(usize, usize),
    Path(usize),
}

/// The costs of pieces in one unit. Each is looked up a dozen times, and a file may have a hundred thousand symbols:
/// too many lookups for a hash table.
#[derive(Default)]
struct PieceCosts {
    blocks: CostTable,
    bodies: CostTable,
    signatures: CostTable,
    paths: CostTable,
    names: FxHashMap<(usize, usize), u64>,
}

impl PieceCosts {
    fn get(&self, piece: Piece) -> Option<u64> {
        match piece {
            Piece::Block(file) => self.blocks.get(file),
            Piece::Body(symbol) => self.bodies.get(symbol),
            Piece::Signature(symbol) => self.signatures.get(symbol),
            Piece::Names(file, count) => self.names.get(&(file, count)).copied(),
            Piece::Path(file) => self.paths.get(file),
        }
    }

    fn set(&mut self, piece: Piece, cost: u64) {
        match piece {
            Piece::Block(file) => self.blocks.set(file, cost),
            Piece::Body(symbol) => self.bodies.set(symbol, cost),
            Piece::Signature(symbol) => self.signatures.set(symbol, cost),
            Piece::Names(file, count) => drop(self.names.insert((file, count), cost)),
            Piece::Path(file) => self.paths.set(file, cost),
        }
    }
}

/// The known costs by position.
#[derive(Default)]
struct CostTable(Vec<Option<u64>>);

impl CostTable {
    fn get(&self, at: usize) -> Option<u64> {
        self.0.get(at).copied().flatten()
    }

    fn set(&mut self, at: usize, cost: u64) {
        if self.0.len() <= at {
            self.0.resize(at + 1, None);
        }
        self.0[at] = Some(cost);
    }
}

/// What is known of the pieces of a document; it remains valid for other limits.
#[derive(Default)]
pub(super) struct CostMemo {
    costs: FxHashMap<BudgetUnit, PieceCosts>,
    names: FxHashMap<usize, NameList>,
    /// The names of rows, by the file and their number.
    rows: FxHashMap<(usize, usize), Arc<[String]>>,
}

/// Returns the lines that represent a source without names in a row: its first lines that are neither blank nor
/// comments, which are often a license; the first comments if a file has nothing else.
fn first_lines(text: &str, language: &str) -> Vec<String> {
    let mut lines: Vec<&str> = code_lines(text, language).take(ROW_LINES).collect();
    if lines.is_empty() {
        lines = text.lines().filter(|line| !line.trim().is_empty()).take(ROW_LINES).collect();
    }
    if lines.iter().any(|line| MAX_LINE < line.len()) {
        return Vec::new();
    }
    let shown = lines.into_iter().map(str::trim).filter(|line| !line.chars().any(char::is_control));
    shown.map(str::to_owned).collect()
}

/// Returns the names in a text that has no symbols for its grammar, or no grammar.
fn declared_names(text: &str, file_type: &'static FileType) -> Vec<String> {
    let lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    let source = SummaryInput { file_type, text, lines, outline: None };
    summarize::names_without_outline(&source, MAX_NAMES)
}

impl CostMemo {
    /// Returns the first names of a file; `file` is its position in the draft.
    pub(in crate::engine::document) fn names(&mut self, file: usize, count: usize) -> Arc<[String]> {
        let Self { rows, names, .. } = self;
        let row = rows.entry((file, count)).or_insert_with(|| {
            let names = names.get(&file).into_iter().flat_map(NameList::iter);
            names.take(count).map(str::to_owned).collect()
        });
        Arc::clone(row)
    }

    fn first_names(&self, file: usize, count: usize) -> impl Iterator<Item = &str> {
        self.names.get(&file).into_iter().flat_map(NameList::iter).take(count)
    }

    /// Returns the costs of those pieces of a block that were counted.
    pub(in crate::engine::document) fn pieces(
        &self,
        unit: BudgetUnit,
        file: usize,
        bodies: &[usize],
        signatures: &[usize],
    ) -> PieceTokens {
        let costs = self.costs.get(&unit);
        let cost = |piece: Piece| costs.and_then(|costs| costs.get(piece)).unwrap_or(0);
        PieceTokens {
            frame: cost(Piece::Block(file)),
            bodies: bodies.iter().map(|symbol| cost(Piece::Body(*symbol))).sum(),
            signatures: signatures.iter().map(|symbol| cost(Piece::Signature(*symbol))).sum(),
        }
    }

    /// Compares a block with the bodies and signatures that were selected for it. If it is much larger, because it
    /// contains more that could not be cut out, the difference is added to its cost from now on. Returns whether it is.
    pub(super) fn correct(
        &mut self,
        unit: BudgetUnit,
        file: usize,
        bodies: &[usize],
        signatures: &[usize],
        block_bytes: usize,
    ) -> bool {
        let expected = self.pieces(unit, file, bodies, signatures).total();
        let size = unit.of_bytes(block_bytes as u64);
        let is_larger = expected + expected / 2 + unit.tokens(EXCESS_SLACK) < size;
        if is_larger {
            let costs = self.costs.entry(unit).or_default();
            let block = costs.get(Piece::Block(file)).unwrap_or(0);
            costs.set(Piece::Block(file), block + size - expected);
        }
        is_larger
    }
}

/// The cost of a file's block, by parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PieceTokens {
    frame: u64,
    bodies: u64,
    signatures: u64,
}

impl PieceTokens {
    pub(in crate::engine::document) const fn total(self) -> u64 {
        self.frame + self.bodies + self.signatures
    }

    /// Returns the shares that divide another version of the file in the same way.
    pub(super) fn shares(self) -> PackShares {
        let bodies = self.bodies * 1000 / (self.bodies + self.signatures).max(1);
        PackShares { bodies, signatures: 1000 - bodies, names: 0, paths: 0, row_names: 1 }
    }
}

/// The costs of a selection that consists of one file.
pub(super) struct FileCosts<'f, 'a, 'r, 'w> {
    pub(in crate::engine::document) all: &'f mut DraftCosts<'a, 'r, 'w>,
    /// The rank of the file.
    pub(in crate::engine::document) place: usize,
    pub(in crate::engine::document) symbols: &'f [usize],
}

impl PackCosts for FileCosts<'_, '_, '_, '_> {
    fn block(&mut self, _: usize) -> u64 {
        self.all.block(self.place)
    }

    fn body(&mut self, symbol: usize) -> u64 {
        self.all.body(self.symbols[symbol])
    }

    fn signature(&mut self, symbol: usize) -> u64 {
        self.all.signature(self.symbols[symbol])
    }

    fn names(&mut self, _: usize, count: usize) -> u64 {
        self.all.names(self.place, count)
    }

    fn path(&mut self, _: usize) -> u64 {
        self.all.path(self.place)
    }
}

/// The costs of one selection, which refers to files by rank.
pub(super) struct DraftCosts<'a, 'r, 'w> {
    pub(in crate::engine::document) renderer: &'a mut Renderer<'r, 'w>,
    pub(in crate::engine::document) files: &'a [ShownFile],
    pub(in crate::engine::document) named: &'a NamedFiles<'a>,
    pub(in crate::engine::document) ranking: &'a ProjectRanking,
    pub(super) memo: &'a mut CostMemo,
    pub(in crate::engine::document) unit: BudgetUnit,
    /// Whether blocks begin with a summary.
    pub(super) has_summaries: bool,
    /// The positions of the ranked symbols of each file that has any.
    pub(in crate::engine::document) symbols: &'a FxHashMap<usize, Vec<usize>>,
}

/// Returns the positions of the symbols of each file, in order.
pub(super) fn symbols_by_file(ranking: &ProjectRanking) -> FxHashMap<usize, Vec<usize>> {
    let mut symbols: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for (at, symbol) in ranking.symbols.iter().enumerate() {
        symbols.entry(symbol.file).or_default().push(at);
    }
    symbols
}

impl DraftCosts<'_, '_, '_> {
    fn cost(&mut self, piece: Piece, count: impl FnOnce(&mut Self) -> u64) -> u64 {
        if let Some(cost) = self.memo.costs.get(&self.unit).and_then(|costs| costs.get(piece)) {
            return cost;
        }
        let cost = count(self);
        self.memo.costs.entry(self.unit).or_default().set(piece, cost);
        cost
    }

    fn symbol(&self, symbol: usize) -> &RankedSymbol {
        &self.ranking.symbols[symbol]
    }

    /// Returns the cost of what is shown around a symbol, besides its own lines.
    fn surroundings(&self, symbol: usize) -> u64 {
        self.unit.tokens(GAP + if self.symbol(symbol).depth == 0 { 0 } else { CONTAINER_HEAD })
    }

    /// Returns the cost of the heading and the fences of a block.
    fn block_frame(&self, file: usize) -> u64 {
        let path = self.unit.count(&self.files[file].file.path.to_string());
        path + self.unit.tokens(BLOCK_FRAME)
    }

    /// Returns the text that a file is ranked by; `None` if the file has changed since.
    fn text_of(&self, file: usize, subject: &ContentRef<'_>) -> Option<Cow<'_, str>> {
        if let Some(source) = self.ranking.sources.get(&file) {
            return Some(Cow::Borrowed(&source.text));
        }
        let (hash, text) = self.renderer.cache.workspace.read_text(subject.path).ok()?;
        (hash == subject.hash).then_some(Cow::Owned(text))
    }

    /// Counts a row of the first names of a file.
    fn count_row(&mut self, file: usize, count: usize) -> u64 {
        let has_no_row =
            self.ranking.scores[file].is_generated() || self.named.is_copy(&self.files[file].candidate);
        if has_no_row {
            return IMPOSSIBLE;
        }
        self.look_up_names(file);
        let mut row = format!("{}:", self.files[file].file.path);
        let without_names = row.len();
        for name in self.memo.first_names(file, count) {
            row.extend([if row.len() == without_names { " " } else { ", " }, name]);
        }
        if row.len() == without_names {
            return IMPOSSIBLE;
        }
        row.push('\n');
        self.unit.count(&row)
    }

    /// Looks up the names of a file, the most important first, or its first lines if it has none.
    fn look_up_names(&mut self, file: usize) {
        if self.memo.names.contains_key(&file) {
            return;
        }
        let version = self.ranking.versions.get(&file).unwrap_or(&self.files[file].file);
        let subject = ContentRef::from_file(version);
        let source = self.ranking.sources.get(&file);
        let ranked = self.symbols.get(&file).map(Vec::as_slice).unwrap_or_default();
        let ranked: Vec<&RankedSymbol> = ranked.iter().map(|at| &self.ranking.symbols[*at]).collect();
        let key = subject.as_ref().map(|subject| names_key(subject, &ranked));
        if let Some(names) = key.and_then(|key| self.renderer.cached_names(&key)) {
            self.memo.names.insert(file, names);
            return;
        }
        let outline = match source {
            Some(source) if source.outline.is_some() => source.outline.clone(),
            _ => subject.as_ref().and_then(|subject| self.renderer.cache.outline(subject)),
        };
        let scores: HashMap<&str, f64> =
            ranked.iter().rev().map(|symbol| (symbol.name.as_str(), symbol.score)).collect();
        let score = |symbol: &Symbol| scores.get(symbol.name.as_str()).copied().unwrap_or(0.0);
        // Without a grammar, a file may well have symbols, and its first lines would not represent it.
        let mut is_known = outline.as_ref().is_some_and(|outline| outline.health.fallback.is_none());
        let is_program = subject.as_ref().is_some_and(|subject| subject.file_type.is_program());
        let names_of = |outline: &Outline| {
            let mut names = important_names(outline, MAX_NAMES, &score);
            // Every component has a template and styles.
            let is_section = |name: &String| {
                outline
                    .symbols
                    .iter()
                    .any(|symbol| symbol.kind == SymbolKind::Element && symbol.name == *name)
            };
            names.retain(|name| !is_program || !is_section(name));
            names
        };
        let mut names = outline.as_ref().map(names_of).unwrap_or_default();
        if names.is_empty()
            && let Some(subject) = subject.filter(|subject| subject.file_type.role == FileRole::Code)
        {
            let text = self.text_of(file, &subject);
            let has_grammar = is_known;
            is_known = text.is_some();
            let text = text.unwrap_or_default();
            if !has_grammar
                || matches!(subject.file_type.id, "php" | "c" | "cpp")
                || is_component_type(subject.file_type.id)
            {
                names = declared_names(&text, subject.file_type);
            }
            if names.is_empty() && has_grammar {
                names = first_lines(&text, subject.file_type.id);
            }
        }
        let names = NameList::new(&names);
        if let Some(key) = key.filter(|_| is_known || !names.is_empty()) {
            self.renderer.cache_names(key, &names);
        }
        self.memo.names.insert(file, names);
    }
}

/// Returns the key under which the names of a content are cached in the order of their importance; no answer shows them
/// as they are. The names depend on the scores of the content's symbols, as far as these are ranked.
fn names_key(subject: &ContentRef<'_>, ranked: &[&RankedSymbol]) -> ViewKey {
    let (content, file_type) = subject.key();
    // Most files have none.
    let words = (!ranked.is_empty()).then(|| {
        let mut scores = Fingerprint::default();
        for symbol in ranked {
            scores.bytes(symbol.name.as_bytes()).number(symbol.score.to_bits());
        }
        scores.finish()
    });
    ViewKey { content, file_type, view: ViewMode::Names, detail: None, docs: None, words }
}

impl PackCosts for DraftCosts<'_, '_, '_> {
    fn block(&mut self, file: usize) -> u64 {
        let file = self.ranking.order[file];
        self.cost(Piece::Block(file), |costs| {
            let summary = if costs.has_summaries { SUMMARY } else { 0 };
            costs.block_frame(file) + costs.unit.tokens(summary)
        })
    }

    fn body(&mut self, symbol: usize) -> u64 {
        self.cost(Piece::Body(symbol), |costs| {
            let symbol_of = costs.symbol(symbol);
            let source = costs.ranking.sources.get(&symbol_of.file);
            let text = source.and_then(|source| source.text.get(symbol_of.bytes.clone())).unwrap_or_default();
            costs.unit.count(text) + costs.surroundings(symbol)
        })
    }

    fn signature(&mut self, symbol: usize) -> u64 {
        self.cost(Piece::Signature(symbol), |costs| {
            let text = costs.symbol(symbol).signature.as_ref().map_or("", |signature| &signature.text);
            // Below a summary, signatures are consecutive; in an excerpt, there are gaps between them.
            let around = if costs.has_summaries { costs.unit.tokens(1) } else { costs.surroundings(symbol) };
            costs.unit.count(text) + around
        })
    }

    fn names(&mut self, file: usize, count: usize) -> u64 {
        let file = self.ranking.order[file];
        self.cost(Piece::Names(file, count), |costs| costs.count_row(file, count))
    }

    fn path(&mut self, file: usize) -> u64 {
        let file = self.ranking.order[file];
        self.cost(Piece::Path(file), |costs| {
            let path = &costs.files[file].file.path;
            let depth = path.components().count() as u64;
            let name = String::from_utf8_lossy(path.file_name());
            costs.unit.count(&name) + costs.unit.tokens(2 + depth / 2)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_of_a_file_without_names_has_its_code() {
        let exports = ["export * from './a'", "export * from './b' // B."];
        let script = format!("/**\n * @module\n */\n\n// A.\n{}\n", exports.join("\n"));
        assert_eq!(first_lines(&script, "typescript"), exports);
        let imports = "# License.\nimport a\n  import b\nimport c\na()\n";
        assert_eq!(first_lines(imports, "python"), ["import a", "import b", "import c"]);
        assert_eq!(first_lines("/* A. */\n\n/* B. */\n", "c"), ["/* A. */", "/* B. */"]);
        assert_eq!(first_lines(" \n", "c"), [""; 0]);
        assert_eq!(first_lines(&format!("[{}]\n", "1,".repeat(200)), "javascript"), [""; 0]);
    }

    #[test]
    fn a_block_that_is_much_larger_than_its_pieces_costs_more_from_then_on() {
        let unit = BudgetUnit::Bytes;
        let mut memo = CostMemo::default();
        let costs = memo.costs.entry(unit).or_default();
        costs.set(Piece::Block(3), 100);
        costs.set(Piece::Body(7), 900);
        assert!(!memo.correct(unit, 3, &[7], &[], 1_400));
        assert_eq!(memo.costs[&unit].get(Piece::Block(3)), Some(100));
        assert!(memo.correct(unit, 3, &[7], &[], 9_000));
        assert_eq!(memo.costs[&unit].get(Piece::Block(3)), Some(8_100));
        // Now it is as large as expected.
        assert!(!memo.correct(unit, 3, &[7], &[], 9_000));
    }
}

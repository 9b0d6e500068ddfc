//! Assigns lines to symbols, and finds the symbols that differ between two versions of a file.
//!
//! A line belongs to the innermost symbol around it. Versions are compared by hashes of these lines, so that a version
//! can be compared even if its text is no longer known.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};

use crate::model::{ContentHash, Outline};

/// How many bytes of a hash are kept.
const HASH_BYTES: usize = 8;

/// A symbol and its lines, counted from 1, both ends included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolLines {
    /// Its name qualified with those of its containers. Overloads share it.
    pub qualified_name: String,
    pub first_line: u32,
    pub last_line: u32,
}

/// Hashes of the lines that belong to each symbol but to none inside it, and of those outside of symbols. Blank lines
/// and trailing blanks are excluded, because they come and go with neighboring symbols.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnHashes {
    pub symbols: Vec<u64>,
    pub rest: u64,
}

/// How the symbols of two versions of a file correspond.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolComparison {
    /// For each symbol of the old version its position in the new one.
    pub new_positions: Vec<Option<usize>>,
    /// For each symbol of the new version its position in the old one.
    pub old_positions: Vec<Option<usize>>,
    /// For each symbol of the new version, whether it is new, or its own lines have changed.
    pub is_changed: Vec<bool>,
    /// Whether the lines outside of symbols have changed.
    pub is_rest_changed: bool,
}

/// Returns the symbols of an outline with their lines, containers first.
pub fn outline_lines(outline: &Outline) -> Vec<SymbolLines> {
    let mut symbols = Vec::new();
    outline.walk(|symbol, _| {
        symbols.push(SymbolLines {
            qualified_name: symbol.qualified_name.clone(),
            first_line: symbol.span.start_line,
            last_line: symbol.span.end_line,
        });
    });
    symbols
}

/// Returns for each line the position of the innermost symbol around it.
pub(in crate::aggregate) fn line_owners(symbols: &[SymbolLines], lines: usize) -> Vec<Option<usize>> {
    let mut owners: Vec<Option<usize>> = vec![None; lines];
    // An outline lists a C type and its typedef one after the other, although they have the same lines: the second
    // would take the members' lines of the first.
    let mut outermost_first: Vec<usize> = (0..symbols.len()).collect();
    outermost_first.sort_by_key(|at| (symbols[*at].first_line, Reverse(symbols[*at].last_line)));
    for at in outermost_first {
        let symbol = &symbols[at];
        let first = (symbol.first_line.max(1) as usize - 1).min(lines);
        let end = (symbol.last_line as usize).clamp(first, lines);
        owners[first..end].fill(Some(at));
    }
    owners
}

impl OwnHashes {
    /// Returns the hashes of a text with these symbols.
    pub fn of_text(symbols: &[SymbolLines], text: &str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let mut own: Vec<String> = vec![String::new(); symbols.len()];
        let mut rest = String::new();
        for (line, owner) in lines.iter().zip(line_owners(symbols, lines.len())) {
            let text = owner.map_or(&mut rest, |at| &mut own[at]);
            if !line.trim().is_empty() {
                text.push_str(line.trim_end());
                text.push('\n');
            }
        }
        Self { symbols: own.iter().map(|text| short_hash(text)).collect(), rest: short_hash(&rest) }
    }

    /// Returns the hashes as bytes.
    pub fn encode(&self) -> Vec<u8> {
        self.symbols.iter().chain([&self.rest]).flat_map(|hash| hash.to_le_bytes()).collect()
    }

    /// Parses the output of [`OwnHashes::encode`]; `None` if it is invalid.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (chunks, []) = bytes.as_chunks::<HASH_BYTES>() else { return None };
        let (rest, symbols) = chunks.split_last()?;
        Some(Self {
            symbols: symbols.iter().map(|hash| u64::from_le_bytes(*hash)).collect(),
            rest: u64::from_le_bytes(*rest),
        })
    }
}

fn short_hash(text: &str) -> u64 {
    let digest = ContentHash::digest(text.as_bytes());
    digest.as_bytes().first_chunk::<HASH_BYTES>().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Finds for each symbol of one version the one of the same name in the other. Of several with one name, those with the
/// same lines are paired first, and the others in order.
pub fn compare_symbols(
    (old, old_hashes): (&[SymbolLines], &OwnHashes),
    (new, new_hashes): (&[SymbolLines], &OwnHashes),
) -> SymbolComparison {
    let mut comparison = SymbolComparison {
        new_positions: vec![None; old.len()],
        old_positions: vec![None; new.len()],
        is_changed: vec![true; new.len()],
        is_rest_changed: old_hashes.rest != new_hashes.rest,
    };
    let mut same: HashMap<(&str, u64), VecDeque<usize>> = HashMap::new();
    for (at, (symbol, hash)) in old.iter().zip(&old_hashes.symbols).enumerate() {
        same.entry((&symbol.qualified_name, *hash)).or_default().push_back(at);
    }
    for (at, (symbol, hash)) in new.iter().zip(&new_hashes.symbols).enumerate() {
        let twin = same.get_mut(&(symbol.qualified_name.as_str(), *hash)).and_then(VecDeque::pop_front);
        if let Some(twin) = twin {
            comparison.pair(twin, at);
            comparison.is_changed[at] = false;
        }
    }
    let mut named: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (at, symbol) in old.iter().enumerate().filter(|(at, _)| comparison.new_positions[*at].is_none()) {
        named.entry(&symbol.qualified_name).or_default().push_back(at);
    }
    for (at, symbol) in new.iter().enumerate() {
        if comparison.old_positions[at].is_none()
            && let Some(old) = named.get_mut(symbol.qualified_name.as_str()).and_then(VecDeque::pop_front)
        {
            comparison.pair(old, at);
        }
    }
    comparison
}

impl SymbolComparison {
    fn pair(&mut self, old: usize, new: usize) {
        self.new_positions[old] = Some(new);
        self.old_positions[new] = Some(old);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(names: &[(&str, u32, u32)]) -> Vec<SymbolLines> {
        let symbol = |(name, first_line, last_line): &(&str, u32, u32)| SymbolLines {
            qualified_name: (*name).to_owned(),
            first_line: *first_line,
            last_line: *last_line,
        };
        names.iter().map(symbol).collect()
    }

    #[test]
    fn a_line_belongs_to_the_innermost_symbol_and_blank_lines_to_none() {
        let symbols = symbols(&[("A", 1, 4), ("A.f", 2, 3)]);
        assert_eq!(line_owners(&symbols, 5), [Some(0), Some(1), Some(1), Some(0), None]);
        let hashes = |text: &str| OwnHashes::of_text(&symbols, text);
        let old = hashes("class A:\n  def f():\n    x\n  y = 1\nz\n");
        let new = hashes("class A:  \n  def f():\n    x2\n  y = 1\nz\n\n");
        assert_eq!(
            (old.symbols[0] == new.symbols[0], old.symbols[1] == new.symbols[1], old.rest == new.rest),
            (true, false, true)
        );
        assert_eq!(OwnHashes::decode(&old.encode()), Some(old));
        assert_eq!((OwnHashes::decode(b""), OwnHashes::decode(b"123456789")), (None, None));
    }

    #[test]
    fn a_member_keeps_its_lines_although_its_container_has_two_names() {
        let symbols = symbols(&[("S", 1, 3), ("S.a", 2, 2), ("T", 1, 3)]);
        assert_eq!(line_owners(&symbols, 3), [Some(2), Some(1), Some(2)]);
    }

    #[test]
    fn an_overload_that_is_added_before_others_is_the_only_new_one() {
        let (old, new) =
            (symbols(&[("f", 1, 1), ("f", 2, 2)]), symbols(&[("f", 1, 1), ("f", 2, 2), ("f", 3, 3)]));
        let (old_hashes, new_hashes) =
            (OwnHashes::of_text(&old, "1\n2\n"), OwnHashes::of_text(&new, "0\n1\n2\n"));
        let found = compare_symbols((&old, &old_hashes), (&new, &new_hashes));
        assert_eq!(found.old_positions, [None, Some(0), Some(1)]);
        assert_eq!(found.is_changed, [true, false, false]);
        assert!(!found.is_rest_changed);
    }
}

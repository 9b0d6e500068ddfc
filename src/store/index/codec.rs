//! Encodes and decodes outlines and skeletons as postcard rows, converted by hand from and to `model` types.
//!
//! The tree is stored flat, each symbol with its depth, so that neither direction needs recursion, with which hostile
//! bytes could overflow the stack. Any change here must raise the version of the artifact's producer, or that in
//! `artifact.rs`'s checksum.

use serde::{Deserialize, Serialize};

use crate::model::{
    FileReferences, Outline, ParseFallback, ParseHealth, Skeleton, SkeletonDoc, Span, Symbol, SymbolKind,
};

/// Symbols nested deeper than this are rejected, because the model's tree is dropped recursively.
const MAX_DEPTH: u32 = 1_000;

#[derive(Serialize, Deserialize)]
struct HealthRow {
    broken_bytes: u64,
    total_bytes: u64,
    fallback: Option<u8>,
}

#[derive(Serialize, Deserialize)]
struct SkeletonRow<'a> {
    health: HealthRow,
    is_checked: bool,
    text: &'a str,
    #[serde(borrow)]
    docs: Vec<SkeletonDocRow<'a>>,
}

#[derive(Serialize, Deserialize)]
struct SkeletonDocRow<'a> {
    start: u64,
    end: u64,
    rest_start: u64,
    rest_end: u64,
    mark: &'a str,
    placeholder: &'a str,
}

#[derive(Serialize, Deserialize)]
struct OutlineRow<'a> {
    health: HealthRow,
    #[serde(borrow)]
    doc: Option<&'a str>,
    #[serde(borrow)]
    imports: Vec<&'a str>,
    #[serde(borrow)]
    symbols: Vec<SymbolRow<'a>>,
}

#[derive(Serialize, Deserialize)]
struct SymbolRow<'a> {
    depth: u32,
    kind: u8,
    name: &'a str,
    qualified_name: &'a str,
    start_byte: u64,
    end_byte: u64,
    start_line: u32,
    end_line: u32,
    signature: &'a str,
    #[serde(borrow)]
    doc: Option<&'a str>,
    recovered: bool,
}

pub(super) fn encode_outline(outline: &Outline) -> Vec<u8> {
    let mut symbols = Vec::new();
    outline.walk(|symbol, depth| symbols.push(symbol_to_row(symbol, depth)));
    let row = OutlineRow {
        health: health_to_row(outline.health),
        doc: outline.doc.as_deref(),
        imports: outline.imports.iter().map(String::as_str).collect(),
        symbols,
    };
    postcard::to_stdvec(&row).expect("numbers, texts and lists of known length always fit into a vector")
}

/// Decodes an outline; `None` if the bytes are not one.
pub(super) fn decode_outline(bytes: &[u8]) -> Option<Outline> {
    let (row, rest) = postcard::take_from_bytes::<OutlineRow<'_>>(bytes).ok()?;
    // Remaining bytes indicate a different layout, even if the beginning happens to decode.
    if !rest.is_empty() {
        return None;
    }
    Some(Outline {
        health: health_from_row(&row.health)?,
        doc: row.doc.map(str::to_owned),
        imports: row.imports.into_iter().map(str::to_owned).collect(),
        symbols: build_tree(&row.symbols)?,
    })
}

pub(super) fn encode_skeleton(skeleton: &Skeleton) -> Vec<u8> {
    let (health, is_checked) = (health_to_row(skeleton.health), skeleton.is_checked);
    let docs = skeleton.docs.iter().map(|doc| SkeletonDocRow {
        start: doc.range.start as u64,
        end: doc.range.end as u64,
        rest_start: doc.rest.start as u64,
        rest_end: doc.rest.end as u64,
        mark: &doc.mark,
        placeholder: &doc.placeholder,
    });
    let row = SkeletonRow { health, is_checked, text: &skeleton.text, docs: docs.collect() };
    postcard::to_stdvec(&row).expect("numbers and texts always fit into a vector")
}

/// Decodes a skeleton; `None` if the bytes are not one.
pub(super) fn decode_skeleton(bytes: &[u8]) -> Option<Skeleton> {
    let (row, rest) = postcard::take_from_bytes::<SkeletonRow<'_>>(bytes).ok()?;
    let (health, is_checked) = (health_from_row(&row.health)?, row.is_checked);
    let docs = row.docs.iter().map(doc_from_row).collect::<Option<_>>()?;
    let skeleton = Skeleton { health, text: row.text.to_owned(), docs, is_checked };
    rest.is_empty().then_some(skeleton)
}

fn doc_from_row(row: &SkeletonDocRow<'_>) -> Option<SkeletonDoc> {
    let offset = |offset: u64| usize::try_from(offset).ok();
    Some(SkeletonDoc {
        range: offset(row.start)?..offset(row.end)?,
        rest: offset(row.rest_start)?..offset(row.rest_end)?,
        mark: row.mark.to_owned(),
        placeholder: row.placeholder.to_owned(),
    })
}

/// Decodes a text; `None` if the bytes are not one.
pub(super) fn decode_text(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes).ok().map(str::to_owned)
}

/// Encodes the names of a file: three lists, each prefixed with its length. The numbers are not delta-encoded: a few
/// hundred hashes spread over 32 bits would hardly become shorter.
pub(super) fn encode_references(references: &FileReferences) -> Vec<u8> {
    let lists = [&references.defines, &references.uses, &references.imports];
    let mut bytes = Vec::with_capacity(lists.iter().map(|list| 4 + 4 * list.len()).sum());
    for list in lists {
        let length =
            u32::try_from(list.len()).expect("a file has fewer names than bytes, and those are few millions");
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend(list.iter().flat_map(|name| name.to_le_bytes()));
    }
    bytes
}

/// Decodes the names of a file; `None` if the bytes are invalid.
pub(super) fn decode_references(mut bytes: &[u8]) -> Option<FileReferences> {
    let mut list = || {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        // The length may be damaged, so it is checked against the bytes before anything is allocated.
        let (numbers, rest) = rest.split_at_checked(length.checked_mul(4)?)?;
        bytes = rest;
        let (numbers, _) = numbers.as_chunks::<4>();
        Some(numbers.iter().map(|number| u32::from_le_bytes(*number)).collect())
    };
    let references = FileReferences { defines: list()?, uses: list()?, imports: list()? };
    bytes.is_empty().then_some(references)
}

fn symbol_to_row(symbol: &Symbol, depth: usize) -> SymbolRow<'_> {
    SymbolRow {
        depth: u32::try_from(depth).unwrap_or(u32::MAX),
        kind: kind_to_number(symbol.kind),
        name: &symbol.name,
        qualified_name: &symbol.qualified_name,
        start_byte: symbol.span.start_byte as u64,
        end_byte: symbol.span.end_byte as u64,
        start_line: symbol.span.start_line,
        end_line: symbol.span.end_line,
        signature: &symbol.signature,
        doc: symbol.doc.as_deref(),
        recovered: symbol.recovered,
    }
}

/// Attaches each symbol to the last one that is one level above.
fn build_tree(rows: &[SymbolRow<'_>]) -> Option<Vec<Symbol>> {
    let mut top = Vec::new();
    // The last symbol that was read, and the ones that contain it.
    let mut open: Vec<Symbol> = Vec::new();
    for row in rows {
        let depth = usize::try_from(row.depth).ok()?;
        // A symbol that skips a level has no parent, which never happens in an encoded outline.
        if open.len() < depth || MAX_DEPTH < row.depth {
            return None;
        }
        close_symbols(&mut open, depth, &mut top);
        open.push(symbol_from_row(row)?);
    }
    close_symbols(&mut open, 0, &mut top);
    Some(top)
}

fn close_symbols(open: &mut Vec<Symbol>, depth: usize, top: &mut Vec<Symbol>) {
    while depth < open.len() {
        let Some(done) = open.pop() else { return };
        match open.last_mut() {
            Some(parent) => parent.children.push(done),
            None => top.push(done),
        }
    }
}

fn symbol_from_row(row: &SymbolRow<'_>) -> Option<Symbol> {
    if row.end_byte < row.start_byte {
        return None;
    }
    Some(Symbol {
        kind: SymbolKind::ALL.get(usize::from(row.kind)).copied()?,
        name: row.name.to_owned(),
        qualified_name: row.qualified_name.to_owned(),
        span: Span {
            start_byte: usize::try_from(row.start_byte).ok()?,
            end_byte: usize::try_from(row.end_byte).ok()?,
            start_line: row.start_line,
            end_line: row.end_line,
        },
        signature: row.signature.to_owned(),
        doc: row.doc.map(str::to_owned),
        recovered: row.recovered,
        children: Vec::new(),
    })
}

/// Returns the index of `kind` among all kinds; the order of [`SymbolKind::ALL`] is part of the format.
fn kind_to_number(kind: SymbolKind) -> u8 {
    let place = SymbolKind::ALL.iter().position(|other| *other == kind);
    place.and_then(|place| u8::try_from(place).ok()).expect("every kind is among all kinds, and they are few")
}

fn health_to_row(health: ParseHealth) -> HealthRow {
    HealthRow {
        broken_bytes: health.broken_bytes,
        total_bytes: health.total_bytes,
        fallback: health.fallback.map(fallback_to_number),
    }
}

fn health_from_row(row: &HealthRow) -> Option<ParseHealth> {
    let fallback = match row.fallback {
        Some(number) => Some(fallback_from_number(number)?),
        None => None,
    };
    Some(ParseHealth { broken_bytes: row.broken_bytes, total_bytes: row.total_bytes, fallback })
}

const fn fallback_to_number(fallback: ParseFallback) -> u8 {
    match fallback {
        ParseFallback::TimedOut => 0,
        ParseFallback::TooDeep => 1,
        ParseFallback::Failed => 2,
        ParseFallback::TooLarge => 3,
    }
}

const fn fallback_from_number(number: u8) -> Option<ParseFallback> {
    match number {
        0 => Some(ParseFallback::TimedOut),
        1 => Some(ParseFallback::TooDeep),
        2 => Some(ParseFallback::Failed),
        3 => Some(ParseFallback::TooLarge),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    fn symbol(name: &str, children: Vec<Symbol>) -> Symbol {
        Symbol {
            kind: SymbolKind::Method,
            name: name.to_owned(),
            qualified_name: format!("A.{name}"),
            span: Span { start_byte: 3, end_byte: 300_000, start_line: 1, end_line: 900 },
            signature: format!("def {name}(self) -> \"ü\""),
            doc: (name.len() == 1).then(|| "Runs.".to_owned()),
            recovered: name.len() == 2,
            children,
        }
    }

    fn outline(symbols: Vec<Symbol>) -> Outline {
        Outline {
            health: ParseHealth {
                broken_bytes: 7,
                total_bytes: u64::MAX,
                fallback: Some(ParseFallback::TooDeep),
            },
            doc: Some(String::new()),
            imports: vec!["os.path".to_owned(), "<stdio.h>".to_owned()],
            symbols,
        }
    }

    #[track_caller]
    fn check_round_trip(outline: &Outline) {
        assert_eq!(decode_outline(&encode_outline(outline)).as_ref(), Some(outline));
    }

    #[test]
    fn an_outline_round_trips() {
        check_round_trip(&outline(Vec::new()));
        let inner = symbol("c", vec![symbol("dd", Vec::new()), symbol("e", Vec::new())]);
        check_round_trip(&outline(vec![
            symbol("a", Vec::new()),
            symbol("b", vec![inner]),
            symbol("ff", vec![symbol("g", Vec::new())]),
        ]));
        for fallback in
            [ParseFallback::TimedOut, ParseFallback::TooDeep, ParseFallback::Failed, ParseFallback::TooLarge]
        {
            let mut fallen = outline(Vec::new());
            fallen.health.fallback = Some(fallback);
            check_round_trip(&fallen);
        }
        for kind in SymbolKind::ALL {
            let mut one = symbol("k", Vec::new());
            one.kind = kind;
            check_round_trip(&outline(vec![one]));
        }
    }

    #[test]
    fn a_skeleton_round_trips() {
        for is_checked in [true, false] {
            let doc = |mark: &str| SkeletonDoc {
                range: 0..2,
                rest: 1..2,
                mark: mark.to_owned(),
                placeholder: "...".to_owned(),
            };
            let docs = vec![doc(""), doc(" */")];
            let skeleton =
                Skeleton { health: ParseHealth::perfect(9), text: "ü".to_owned(), docs, is_checked };
            assert_eq!(decode_skeleton(&encode_skeleton(&skeleton)), Some(skeleton));
        }
    }

    #[test]
    fn the_numbers_of_kinds_are_stable() {
        let names: Vec<_> = SymbolKind::ALL.iter().map(|kind| kind.name()).collect();
        expect_test::expect![[
            "class method constructor destructor function prototype struct union enum enum_member typedef field namespace macro variable constant module interface object property event key heading selector element target stage table cell"
        ]]
        .assert_eq(&names.join(" "));
    }

    #[test]
    fn a_symbol_without_its_parent_is_rejected() {
        let orphan = symbol("a", Vec::new());
        assert_eq!(build_tree(&[symbol_to_row(&orphan, 1)]), None);
        assert_eq!(build_tree(&[symbol_to_row(&orphan, 0), symbol_to_row(&orphan, 2)]), None);
    }

    #[test]
    fn a_tree_too_deep_to_drop_is_rejected() {
        let one = symbol("a", Vec::new());
        let rows: Vec<_> = (0..100_000).map(|depth| symbol_to_row(&one, depth)).collect();
        assert_eq!(build_tree(&rows), None);
    }

    #[test]
    fn a_list_longer_than_its_bytes_allocates_no_memory() {
        // No health, no doc, and a list of 2^63 imports.
        let bytes = [0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0];
        assert_eq!(decode_outline(&bytes), None);
    }

    #[test]
    fn bytes_after_the_end_are_rejected() {
        let mut bytes = encode_outline(&outline(Vec::new()));
        bytes.push(0);
        assert_eq!(decode_outline(&bytes), None);
    }

    proptest! {
        // The same cases each time, so that the test is deterministic.
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode_outline(&bytes);
        }

        #[test]
        fn a_damaged_outline_is_read_without_panic(at in 0_usize..200, byte in any::<u8>()) {
            let mut bytes = encode_outline(&outline(vec![symbol("a", vec![symbol("b", Vec::new())])]));
            let at = at % bytes.len();
            bytes[at] = byte;
            let _ = decode_outline(&bytes);
        }
    }
}

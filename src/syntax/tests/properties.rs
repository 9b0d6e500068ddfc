//! Properties that hold for any text, tested on random texts and on fixtures with pieces deleted, doubled and moved.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::{SplitMix, fixtures};
use crate::model::{DocsDetail, Span, Symbol};
use crate::syntax::derive::{checked_skeleton, count_errors, derive};
use crate::syntax::outline::skeleton_text;

const MUTANTS: u64 = 15;

/// Checks all properties that this room guarantees for any text.
#[track_caller]
fn check_invariants(language: &str, text: &str) {
    let structure = derive(language, text, &mut || false).unwrap();
    let outline = &structure.outline;
    assert!(outline.health.broken_bytes <= outline.health.total_bytes);
    check_symbols(text, &outline.symbols, None);
    // A notebook becomes a script, which is another text.
    if language == "notebook" {
        return;
    }
    let skeleton = checked_skeleton(language, text, &mut || false).unwrap();
    assert!(
        !structure.skeleton.is_checked || structure.skeleton == skeleton,
        "it was checked and is another"
    );
    for skeleton in [&structure.skeleton, &skeleton] {
        assert!(skeleton.text.len() <= text.len(), "the skeleton is longer than the text");
    }
    for detail in DocsDetail::ALL {
        let shown = skeleton_text(&skeleton, detail);
        assert!(shown.len() <= skeleton.text.len(), "with {detail:?} docs it is longer");
        if language != "python" {
            let before = count_errors(language, text, &mut || false).unwrap();
            let after = count_errors(language, &shown, &mut || false).unwrap();
            assert!(after <= before, "{before} errors became {after} with {detail:?} docs in\n{shown}");
        }
    }
}

/// Checks that spans are in the order of the text, within it and within what is around them.
#[track_caller]
fn check_symbols(text: &str, symbols: &[Symbol], around: Option<Span>) {
    let mut last_start = 0;
    for symbol in symbols {
        let span = symbol.span;
        assert!(span.start_byte <= span.end_byte && span.end_byte <= text.len(), "{symbol:?}");
        assert!(text.get(span.start_byte..span.end_byte).is_some(), "{symbol:?}");
        assert_eq!(span.start_line, line(text, span.start_byte), "{symbol:?}");
        assert_eq!(
            span.end_line,
            line(text, span.end_byte.saturating_sub(1).max(span.start_byte)),
            "{symbol:?}"
        );
        assert!(last_start <= span.start_byte, "{symbol:?} precedes the one above it");
        if let Some(around) = around {
            assert!(around.start_byte <= span.start_byte && span.end_byte <= around.end_byte, "{symbol:?}");
        }
        assert!(!symbol.name.is_empty() && symbol.qualified_name.ends_with(&symbol.name), "{symbol:?}");
        assert!(!symbol.signature.contains('\n'), "{symbol:?}");
        last_start = span.start_byte;
        check_symbols(text, &symbol.children, Some(span));
    }
}

fn line(text: &str, offset: usize) -> u32 {
    // The byte before the end of a span may be the last of several of one character.
    let lines = text.as_bytes()[..offset].split(|byte| *byte == b'\n').count();
    u32::try_from(lines).unwrap()
}

#[test]
fn fixtures_satisfy_the_properties() {
    for fixture in fixtures() {
        check_invariants(fixture.language, &fixture.text);
    }
}

#[test]
fn mutated_fixtures_satisfy_the_properties() {
    for fixture in fixtures() {
        for seed in 0..MUTANTS {
            check_invariants(fixture.language, &mutant(&fixture.text, seed));
        }
    }
}

#[test]
fn a_text_read_as_another_language_satisfies_the_properties() {
    for fixture in fixtures() {
        for language in ["python", "c", "cpp"] {
            check_invariants(language, &fixture.text);
        }
    }
}

/// Returns `text` with some pieces deleted, doubled, moved, or replaced by what confuses a parser.
fn mutant(text: &str, seed: u64) -> String {
    const CONFUSING: [&str; 16] = [
        "{", "}", "(", ")", "\"", "'''", "/*", "*/", "//", "#", "\n", "\\\n", ";", "#if\n", "#endif\n",
        "\u{1f600}",
    ];
    let mut dice = SplitMix(seed);
    let mut text = text.to_owned();
    for _ in 0..=dice.below(4) {
        let start = boundary(&text, dice.below(text.len() + 1));
        let end = boundary(&text, start + dice.below(80)).max(start);
        let piece = text[start..end].to_owned();
        let to = boundary(&text, dice.below(text.len() + 1));
        match dice.below(4) {
            0 => text.replace_range(start..end, ""),
            1 => text.insert_str(end, &piece),
            2 => text.insert_str(to, &piece),
            _ => text.insert_str(to, CONFUSING[dice.below(CONFUSING.len())]),
        }
    }
    text
}

fn boundary(text: &str, near: usize) -> usize {
    let mut at = near.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Words of all three languages, so that random texts are sometimes meaningful.
fn source_fragments() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "class ", "def f", "int ", "struct ", "template <", "namespace ", "typedef ", "enum ", "union ",
        "operator", "friend ", "using ", "#define ", "#include <", "async ", "import ", "from ", "return ",
        "if ", "else", "a", "B", "::", ".", ",", ";", ":", "(", ")", "{", "}", "[", "]", "<", ">", "=", "*",
        "&", "~", "->", "...", "\"", "'", "\"\"\"", "#", "//", "/*", "*/", "@", "\\", "\n", "\n    ", "\t",
        " ", "\r\n", "é", "\u{c}", "0", "[HOT]",
    ]);
    prop::collection::vec(words, 0..60).prop_map(|words| words.concat())
}

proptest! {
    // The same cases each time, so that the test is not flaky.
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::with_cases(500)
    })]

    #[test]
    fn random_words_keep_the_invariants(text in source_fragments()) {
        for language in ["python", "c", "cpp"] {
            check_invariants(language, &text);
        }
    }

    #[test]
    fn random_characters_keep_the_invariants(text in any::<String>()) {
        for language in ["python", "c", "cpp"] {
            check_invariants(language, &text);
        }
    }
}

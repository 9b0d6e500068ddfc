//! What holds of a masked view of any text, tried on the fixtures of the languages and on pieces of them.

use std::path::Path;

use crate::model::{MaskMode, Outline};
use crate::{aggregate, syntax};

/// Pieces that each fixture is cut into; each is missing once.
const PIECES: usize = 12;

#[expect(clippy::disallowed_methods, reason = "a test reads its own fixtures")]
fn fixtures() -> Vec<(&'static str, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut found = Vec::new();
    for language in ["python", "c", "cpp"] {
        for entry in std::fs::read_dir(folder.join(language)).unwrap() {
            let path = entry.unwrap().path();
            let ending = path.extension().and_then(|ending| ending.to_str());
            if matches!(ending, Some("py" | "c" | "h" | "cpp" | "hpp")) {
                found.push((language, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(!found.is_empty());
    found
}

fn outline(language: &str, text: &str) -> Outline {
    syntax::derive(language, text, &mut || false).unwrap().outline
}

/// Returns a mask in which the place of each symbol in the outline decides its mode.
fn mask(outline: &Outline, first: usize) -> Vec<(String, MaskMode)> {
    let mut mask = Vec::new();
    outline.walk(|symbol, _| {
        let mode = MaskMode::ALL[(mask.len() + first) % MaskMode::ALL.len()];
        mask.push((symbol.qualified_name.clone(), mode));
    });
    mask
}

#[track_caller]
fn check(language: &str, text: &str) {
    let outline = outline(language, text);
    let definitions = aggregate::render_definitions(text, &outline, language);
    for line in definitions.lines().filter(|line| !line.contains("# in a block: ")) {
        // What begins within a line has that line's indent.
        assert!(text.contains(line.trim_start()), "`{line}` is not of the text");
    }
    let signatures = aggregate::render_signatures(text, &outline, language);
    outline.walk(|symbol, _| {
        let head = symbol.signature.split("{…}").next().unwrap();
        assert!(signatures.contains(head.trim_end()), "no `{head}` in {signatures}");
    });
    for first in 0..MaskMode::ALL.len() {
        let view = aggregate::render_masked(text, &outline, &mask(&outline, first), language);
        assert!(view.missing.is_empty(), "{:?}", view.missing);
    }
}

#[test]
fn views_of_the_fixtures_and_of_what_is_left_of_them_hold_what_they_promise() {
    for (language, text) in fixtures() {
        check(language, &text);
        for piece in 0..PIECES {
            let cut = |at: usize| text.floor_char_boundary(text.len() * at / PIECES);
            check(language, &format!("{}{}", &text[..cut(piece)], &text[cut(piece + 1)..]));
        }
    }
}

#[test]
fn an_outline_of_another_text_is_no_reason_to_stop() {
    for (language, text) in fixtures() {
        let outline = outline(language, &text);
        for other in ["", "é", "éééééééééé\r\n", &text.replace(['a', ' '], "é")] {
            let all = mask(&outline, 0);
            aggregate::render_masked(other, &outline, &all, language);
            aggregate::render_signatures(other, &outline, language);
            aggregate::render_definitions(other, &outline, language);
        }
    }
}

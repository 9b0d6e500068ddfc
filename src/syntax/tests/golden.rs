//! The output for each fixture, in the files next to it: `x.py.outline` and `x.py.skeleton`.
//!
//! `UPDATE_EXPECT=1 cargo test` rewrites them; then read what changed.

use std::fmt::Write;
use std::path::PathBuf;

use expect_test::expect_file;

use super::{SyntaxFixture, fixtures};
use crate::model::Outline;
use crate::syntax::derive::{checked_skeleton, count_errors, derive};
use crate::syntax::languages::LANGUAGES;

#[test]
fn each_fixture_has_its_golden_outline() {
    for fixture in fixtures() {
        let structure = derive(fixture.language, &fixture.text, &mut || false).unwrap();
        expect_file![golden_path(&fixture, "outline")].assert_eq(&rendered(&structure.outline));
    }
}

#[test]
fn each_fixture_has_its_golden_skeleton() {
    for fixture in fixtures() {
        let skeleton = checked_skeleton(fixture.language, &fixture.text, &mut || false).unwrap();
        assert!(skeleton.is_checked);
        // A golden file is compared without regard to carriage returns, so they are made visible.
        let skeleton = skeleton.text.replace('\r', "␍");
        expect_file![golden_path(&fixture, "skeleton")].assert_eq(&skeleton);
    }
}

#[test]
fn every_language_has_torture_files() {
    let fixtures = fixtures();
    for language in LANGUAGES {
        assert!(fixtures.iter().any(|fixture| fixture.language == language.id), "{} has none", language.id);
    }
}

#[test]
fn a_skeleton_has_no_more_errors_than_its_source() {
    for fixture in fixtures() {
        let skeleton = checked_skeleton(fixture.language, &fixture.text, &mut || false).unwrap();
        let errors = |text: &str| count_errors(fixture.language, text, &mut || false);
        // A notebook is not a program, and becomes one: there is nothing to compare.
        let (Some(before), Some(after)) = (errors(&fixture.text), errors(&skeleton.text)) else {
            assert_eq!(fixture.language, "notebook");
            continue;
        };
        assert!(after <= before, "{}: {before} became {after}", fixture.path.display());
    }
}

fn golden_path(fixture: &SyntaxFixture, ending: &str) -> PathBuf {
    let mut path = fixture.path.clone().into_os_string();
    path.push(".");
    path.push(ending);
    path.into()
}

fn rendered(outline: &Outline) -> String {
    let mut out = format!("health: {}\n", outline.health);
    writeln!(out, "doc: {}", outline.doc.as_deref().unwrap_or("-")).unwrap();
    writeln!(out, "imports: {}", outline.imports.join(", ")).unwrap();
    outline.walk(|symbol, depth| {
        let indent = "  ".repeat(depth);
        let kind = symbol.kind.name();
        let span = symbol.span;
        writeln!(
            out,
            "{indent}{}-{} {kind} {} = {}",
            span.start_line, span.end_line, symbol.qualified_name, symbol.signature
        )
        .unwrap();
        if let Some(doc) = &symbol.doc {
            writeln!(out, "{indent}    “{doc}”").unwrap();
        }
    });
    out
}

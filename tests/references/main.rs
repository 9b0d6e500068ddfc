//! References of small projects, from the texts of their files: what each use means, and how sure that is.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[cfg(feature = "lang-javascript")]
mod common_js;
#[cfg(feature = "lang-typescript")]
mod components;
mod edits;
#[cfg(feature = "lang-java")]
mod java;
#[cfg(all(feature = "lang-java", feature = "lang-ruby"))]
mod java_cpp;
mod pytest_fixtures;
mod python;
#[cfg(feature = "lang-rust")]
mod rust_calls;
#[cfg(all(feature = "lang-rust", feature = "lang-go"))]
mod rust_go;
#[cfg(feature = "lang-typescript")]
mod script;
#[cfg(all(feature = "lang-javascript", feature = "lang-typescript"))]
mod script_packages;
#[cfg(feature = "lang-typescript")]
mod script_types;
mod tests_and_sources;

use slop::internals::references::{ProjectFile, Reference, decode_facts, encode_facts, find_references};
use slop::internals::syntax::source_facts;

fn language(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap() {
        "rs" => "rust",
        "go" => "go",
        "toml" => "toml",
        "mod" => "go-mod",
        "java" => "java",
        "rb" => "ruby",
        "c" => "c",
        "kt" => "kotlin",
        "bats" => "shell",
        "py" => "python",
        "ts" => "typescript",
        "js" => "javascript",
        "json" => "json",
        "yaml" => "yaml",
        "vue" => "vue",
        "svelte" => "svelte",
        "astro" => "astro",
        _ => "cpp",
    }
}

fn project(texts: &[(&str, &str)]) -> Vec<ProjectFile> {
    let read = |(path, text): &(&str, &str)| {
        let facts = source_facts(language(path), text, &mut || false).unwrap();
        assert_eq!(decode_facts(&encode_facts(&facts)).as_ref(), Some(&facts), "{path}");
        let is_test = path.contains("test");
        ProjectFile { path: (*path).to_owned(), language: language(path), is_test, facts: facts.into() }
    };
    texts.iter().map(read).collect()
}

/// Returns the uses without a reading as `FILE:LINE NAME`.
#[cfg(all(feature = "lang-javascript", feature = "lang-typescript"))]
fn unresolved(texts: &[(&str, &str)]) -> Vec<String> {
    let files = project(texts);
    let found = find_references(&files).unresolved;
    let row = |usage: &slop::internals::references::UnresolvedUse| {
        let file = &files[usage.file as usize];
        format!("{}:{} {}", file.path, usage.line, file.facts.name(usage.name))
    };
    found.iter().map(row).collect()
}

/// Returns each reference as `FILE:LINE -> DEFINITION GRADE`; the definition's file is named if it is another one.
fn references(texts: &[(&str, &str)]) -> Vec<String> {
    rows(texts, |_| true)
}

/// Returns the references that [`references`] returns and that `is_shown` accepts.
fn rows(texts: &[(&str, &str)], is_shown: fn(&Reference) -> bool) -> Vec<String> {
    let files = project(texts);
    let row = |reference: &Reference| {
        let (from, to) = (&files[reference.from_file as usize], &files[reference.to_file as usize]);
        let name = to.facts.qualified_name(reference.to_definition);
        let place = if from.path == to.path { String::new() } else { format!("{}/", to.path) };
        format!("{}:{} -> {place}{name} {}", from.path, reference.from_line, reference.grade.name())
    };
    find_references(&files).references.iter().filter(|found| is_shown(found)).map(row).collect()
}

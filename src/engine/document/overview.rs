//! The head of a document about a whole project: what the project is, and how to read what follows.
//!
//! It precedes everything else, so edits of a source must not change it: it has no counts, and languages are compared
//! by orders of magnitude.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use memchr::memmem;

use super::draft::ShownFile;
use crate::aggregate::{DocumentLimits, sanitize_line};
use crate::engine::workspace::{KnownState, Workspace};
use crate::model::{FileRole, FileType, RelPath, parent_folder};
use crate::{summarize, syntax};

/// Under a smaller limit, the head would take too much room from the files.
const MIN_LIMIT_TOKENS: u64 = 4_000;
const MIN_LIMIT_BYTES: u64 = 16_000;
/// The maximum size in bytes of the paragraph that says what the project is.
const PARAGRAPH_BYTES: usize = 500;
const MAX_LANGUAGES: usize = 3;
/// A source counts by its size up to this one.
const MAX_COUNTED_BYTES: u64 = 16_384;
const MAX_ENTRY_POINTS: usize = 4;
/// Files at the root that describe a project to its build tool.
const MANIFESTS: [&str; 25] = [
    "Cargo.toml", "pyproject.toml", "setup.py", "package.json", "deno.json", "go.mod", "pom.xml",
    "build.gradle", "build.gradle.kts", "CMakeLists.txt", "meson.build", "configure.ac", "Makefile",
    "composer.json", "Gemfile", "Package.swift", "build.sbt", "build.zig", "mix.exs", "rebar.config",
    "pubspec.yaml", "stack.yaml", "cabal.project", "dune-project", "dbt_project.yml",
];
/// Names of files that are entry points of programs or libraries.
const ENTRY_POINTS: [&str; 17] = [
    "main.rs", "lib.rs", "__main__.py", "main.py", "manage.py", "main.go", "main.c", "main.cc", "main.cpp",
    "Main.java", "Main.kt", "Program.cs", "main.swift", "main.ts", "main.tsx", "main.js", "artisan",
];
/// The same, if the package's manifest is in the same folder or the one above; elsewhere, these are only the entry
/// points of folders.
const INDEX_FILES: [&str; 5] = ["index.ts", "index.tsx", "index.js", "index.mjs", "index.php"];
const INDEXED_PACKAGES: [&str; 2] = ["package.json", "composer.json"];
/// Parts of the names of folders whose programs are not the project's.
const AUXILIARY: [&str; 9] =
    ["test", "example", "fixture", "bench", "docs", "vendor", "playground", "template", "third_party"];
/// The same for folders whose programs are named only if there are no others: they use the project.
const SECONDARY: [&str; 4] = ["integration", "sample", "demo", "e2e"];
const LEGEND: &str = "Each file begins with `### PATH` and a line with its language and view: `full` is its text; \
                      `skeleton` and `excerpt` leave out bodies, marked by `...` or a comment; `outline` lists its \
                      symbols; `summary` describes it.";

/// Returns the head as Markdown, without a line end; empty where a document is too small for one.
pub(super) fn overview(workspace: &Workspace<'_>, files: &[ShownFile], limits: DocumentLimits) -> String {
    let is_small = limits.tokens.is_some_and(|tokens| tokens < MIN_LIMIT_TOKENS)
        || limits.bytes.is_some_and(|bytes| bytes < MIN_LIMIT_BYTES);
    if is_small || files.is_empty() {
        return String::new();
    }
    let introduction = introduction(workspace, files);
    let folder = workspace.root.file_name().map(|name| sanitize_line(&name.to_string_lossy()));
    let name = introduction.title.or(folder).unwrap_or_default();
    let mut lines = vec![format!("Project: {name}")];
    lines.extend(introduction.paragraph.map(|words| format!("About: {words}")));
    let at_top = |name: &str| files.iter().any(|shown| shown.file.path.as_bytes() == name.as_bytes());
    let manifests = MANIFESTS.into_iter().filter(|name| at_top(name)).map(str::to_owned).collect();
    for (label, names) in [
        ("Languages", languages(workspace, files)),
        ("Manifests", manifests),
        ("Entry points", entry_points(files)),
    ] {
        if !names.is_empty() {
            lines.push(format!("{label}: {}", names.join(", ")));
        }
    }
    // A list, so that Markdown keeps the lines apart.
    let lines: Vec<String> = lines.iter().map(|line| format!("- {line}")).collect();
    format!("{}\n\n{LEGEND}", lines.join("\n"))
}

/// Returns the beginning of the project's README; nothing if its view is curated or requested.
fn introduction(workspace: &Workspace<'_>, files: &[ShownFile]) -> summarize::Introduction {
    let is_readme = |shown: &&ShownFile| {
        // By the whole path, which excludes the READMEs of folders.
        let path = shown.file.path.as_bytes();
        path.split(|byte| *byte == b'.').next().is_some_and(|stem| stem.eq_ignore_ascii_case(b"readme"))
            && shown.candidate.rule.is_general()
    };
    // `README.md` before `README.rst` and others; a translation such as `README.de.md` comes last.
    let readme = files.iter().filter(is_readme).min_by_key(|shown| {
        let path = shown.file.path.as_bytes();
        let dots = path.split(|byte| *byte == b'.').count();
        (dots, shown.file.file_type().map(|found| found.id != "markdown"), path.to_vec())
    });
    let read = readme.and_then(|shown| {
        let file_type = shown.file.file_type()?;
        let (_, text) = workspace.read_text(&shown.file.path).ok()?;
        Some(summarize::introduction(file_type, &text, PARAGRAPH_BYTES))
    });
    read.unwrap_or_default()
}

fn is_code(shown: &ShownFile) -> bool {
    shown.file.file_type().is_some_and(|found| found.role == FileRole::Code)
}

fn is_notebook(shown: &ShownFile) -> bool {
    shown.file.file_type().is_some_and(FileType::is_notebook)
}

/// Returns the name of the language of a notebook's code; `notebook_language` names notebooks themselves if the
/// language is not known.
fn notebook_language(workspace: &Workspace<'_>, path: &RelPath) -> &'static str {
    let language = workspace.read_text(path).ok().and_then(|(_, text)| syntax::notebook_language(&text));
    match language.as_deref() {
        Some("python" | "ipython" | "python3" | "ipython3") => "Python",
        Some("r") => "R",
        Some("julia") => "Julia",
        Some(_) | None => "Jupyter notebook",
    }
}

/// Returns the languages that have at least an eighth as much code as the most common one.
fn languages(workspace: &Workspace<'_>, files: &[ShownFile]) -> Vec<String> {
    let mut sizes: BTreeMap<&str, u64> = BTreeMap::new();
    // Limited, so that no bundle or table of data outweighs a program.
    let size_of = |shown: &ShownFile| match &shown.file.state {
        KnownState::Content { facts, .. } => facts.size.clamp(1, MAX_COUNTED_BYTES),
        KnownState::LeftOut(_) => 0,
    };
    let code = || files.iter().filter(|shown| is_code(shown) || is_notebook(shown));
    // Folders of documentation and tests do not count; a Helm chart does, although its files are in `templates`.
    let is_chart = |shown: &ShownFile| shown.file.file_type().is_some_and(|found| found.id == "helm");
    let is_own = |shown: &ShownFile| !is_auxiliary(&shown.file.path) || is_chart(shown);
    let has_own = code().any(is_own);
    let own = || code().filter(|shown| !has_own || is_own(shown));
    for shown in own().filter(|shown| !is_notebook(shown)) {
        if let Some(found) = shown.file.file_type() {
            *sizes.entry(found.name).or_default() += size_of(shown);
        }
    }
    let notebooks = own().filter(|shown| is_notebook(shown));
    let size: u64 = notebooks.clone().map(size_of).sum();
    // The notebooks of a project are nearly all in one language, and may be too long to read just for its name.
    if let Some(first) = notebooks.min_by_key(|shown| &shown.file.path) {
        *sizes.entry(notebook_language(workspace, &first.file.path)).or_default() += size;
    }
    // By powers of two, which an edit seldom changes.
    let mut ranked: Vec<(Reverse<u32>, &str)> =
        sizes.into_iter().map(|(name, size)| (Reverse(size.max(1).ilog2()), name)).collect();
    ranked.sort_unstable();
    let most = ranked.first().map_or(0, |(Reverse(most), _)| *most);
    let common = ranked.into_iter().filter(|(Reverse(size), _)| most <= size + 3);
    common.take(MAX_LANGUAGES).map(|(_, name)| name.to_owned()).collect()
}

/// Returns the entry points of the project, those nearest to its root first, programs before libraries, and those of
/// samples last.
fn entry_points(files: &[ShownFile]) -> Vec<String> {
    let has_name =
        |path: &RelPath, names: &[&str]| names.iter().any(|name| name.as_bytes() == path.file_name());
    let paths = || files.iter().map(|shown| &shown.file.path);
    let packages: HashSet<&[u8]> =
        paths().filter(|path| has_name(path, &INDEXED_PACKAGES)).map(RelPath::parent).collect();
    let is_index = |path: &RelPath| {
        let folder = path.parent();
        let is_package = packages.contains(folder) || packages.contains(parent_folder(folder));
        has_name(path, &INDEX_FILES) && is_package
    };
    let is_entry = |path: &&RelPath| (has_name(path, &ENTRY_POINTS) || is_index(path)) && !is_auxiliary(path);
    let mut found: Vec<&RelPath> = paths().filter(is_entry).collect();
    let is_library = |path: &RelPath| path.file_name() == b"lib.rs";
    found.sort_by_key(|path| {
        (is_secondary(path), path.components().count(), is_library(path), (*path).clone())
    });
    found.into_iter().take(MAX_ENTRY_POINTS).map(ToString::to_string).collect()
}

/// Returns whether a file is in a folder of tests, documentation, or anything else that is not the program.
fn is_auxiliary(path: &RelPath) -> bool {
    static NAMES: LazyLock<AhoCorasick> = LazyLock::new(|| {
        let automaton = AhoCorasick::builder().ascii_case_insensitive(true).build(AUXILIARY);
        automaton.expect("a few short names are within the limits of the automaton")
    });
    NAMES.is_match(path.as_bytes())
}

fn is_secondary(path: &RelPath) -> bool {
    let path = path.as_bytes().to_ascii_lowercase();
    SECONDARY.iter().any(|name| memmem::find(&path, name.as_bytes()).is_some())
}

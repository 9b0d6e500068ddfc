//! The purpose of a file, by its path: the program itself, its tests, or neither.

use crate::model::{FileRole, FileType, RelPath};

/// The purpose of a file, in the order in which files are read if nothing else orders them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathClass {
    /// The program itself.
    Source,
    /// Tests of it.
    Test,
    /// Documentation, examples, benchmarks and contributed tools.
    Peripheral,
    /// Copied from elsewhere, or generated.
    Vendored,
    /// Not code: prose, configuration or data.
    NotCode,
    /// Composed of other files of the project (`amalgamations.rs`).
    Amalgamation,
    /// Generated pages of documentation (`generated_pages.rs`).
    Generated,
}

impl PathClass {
    /// Returns the class of a file. `is_foreign` is whether the project declares it as vendored or generated, for
    /// example by `linguist-vendored` in `.gitattributes`.
    pub fn from_path(path: &RelPath, role: FileRole, is_foreign: bool) -> Self {
        let mut folders = path.parent().split(|byte| *byte == b'/');
        let is_vendored = |folder: &[u8]| is_any(folder, VENDOR_FOLDERS) || folder.ends_with(b".docset");
        // Pages of documentation are often generated, and change with every release.
        let is_page = || path.extension().is_some_and(|extension| is_any(extension, PAGE_EXTENSIONS));
        if is_foreign || folders.any(is_vendored) {
            Self::Vendored
        } else if role != FileRole::Code {
            Self::NotCode
        } else if is_test(path) {
            Self::Test
        } else if is_peripheral(path) {
            if is_page() { Self::NotCode } else { Self::Peripheral }
        } else {
            Self::Source
        }
    }

    /// Returns whether a document about the whole project may omit a file: it is empty, a translation, test data, or
    /// such a small file of tests, examples or templates that its block would be mostly its own heading.
    pub fn is_uninteresting(path: &RelPath, file_type: &FileType, size: u64) -> bool {
        let is_in =
            |folders: &[&str]| path.parent().split(|byte| *byte == b'/').any(|name| is_any(name, folders));
        let is_code = file_type.is_program();
        let is_tiny = size <= MAX_TINY_BYTES;
        size == 0
            || is_in(FIXTURE_FOLDERS)
            || !is_code && is_in(LOCALE_FOLDERS)
            || is_tiny && !is_code && is_in(TEMPLATE_FOLDERS)
            || is_tiny && !is_named_test(path) && (is_in(TEST_FOLDERS) || is_peripheral(path))
    }

    /// Returns the factor for a file's score. A quarter of the files that commits edit are tests, so they count as much
    /// as sources.
    pub(super) fn file_factor(self) -> f64 {
        match self {
            Self::Source | Self::Test | Self::Peripheral => 1.0,
            Self::Vendored => 0.2,
            Self::NotCode => 0.3,
            // Each release changes all of them, but nobody edits them.
            Self::Amalgamation | Self::Generated => GENERATED_FACTOR,
        }
    }

    /// Returns the factor for the score of a symbol in such a file. Whoever fixes an issue needs the bodies of the
    /// program more than those of its tests, which mention the same words.
    pub(super) fn symbol_factor(self) -> f64 {
        match self {
            Self::Source => 1.0,
            Self::Test => 0.3,
            Self::Peripheral | Self::Vendored => 0.4,
            Self::NotCode | Self::Generated => 0.2,
            // Its parts have the same functions, and are what is edited.
            Self::Amalgamation => 0.05,
        }
    }
}

/// Endings of test file names.
pub(super) const TEST_ENDINGS: [&[u8]; 5] = [b"_tests", b"_test", b"-test", b"Tests", b"Test"];

/// The factor for the score of a generated file.
pub(super) const GENERATED_FACTOR: f64 = 0.01;

const VENDOR_FOLDERS: &[&str] =
    &["third_party", "thirdparty", "third-party", "vendor", "vendored", "_vendor", "deps", "node_modules"];
const PERIPHERAL_FOLDERS: &[&str] = &[
    "docs", "doc", "examples", "example", "demo", "demos", "bench", "benchmark", "benchmarks", "samples",
    "playground", "playgrounds",
];
/// Its contents are contributed if it is at the top of a project; within the program, as in `django/contrib/auth`, they
/// are part of it.
const CONTRIBUTED: &[u8] = b"contrib";
/// Scripts in them complete command lines in a shell, and name every option of the program.
const COMPLETION_FOLDERS: &[&str] = &["completions", "completion", "complete"];
const SHELL_EXTENSIONS: &[&str] = &["bash", "elv", "fish", "nu", "ps1", "sh", "zsh"];
const PAGE_EXTENSIONS: &[&str] = &["html", "htm", "xhtml"];
const TEST_FOLDERS: &[&str] = &[
    "test", "tests", "testing", "__tests__", "testdata", "fixtures", "spec", "unittest", "selftest",
    "benches",
];

/// Files in them are input or expected output of tests.
const FIXTURE_FOLDERS: &[&str] = &[
    "fixtures", "fixture", "__fixtures__", "testdata", "test_data", "test-data", "snapshots", "__snapshots__",
];
const LOCALE_FOLDERS: &[&str] = &["locale", "locales", "i18n", "l10n", "translations"];
const TEMPLATE_FOLDERS: &[&str] = &["templates", "template", "static", "assets", "public"];
/// A smaller file is not longer than the heading and summary of its block.
const MAX_TINY_BYTES: u64 = 256;

fn is_peripheral(path: &RelPath) -> bool {
    path.as_bytes().starts_with(&[CONTRIBUTED, b"/"].concat())
        || is_completion(path)
        || folders_outside_of_packages(path).any(|folder| is_any(folder, PERIPHERAL_FOLDERS))
}

fn is_completion(path: &RelPath) -> bool {
    let is_of_zsh = || path.extension().is_none() && path.file_name().starts_with(b"_");
    let mut folders = path.parent().split(|byte| *byte == b'/');
    folders.any(|folder| is_any(folder, COMPLETION_FOLDERS))
        && (path.extension().is_some_and(|extension| is_any(extension, SHELL_EXTENSIONS)) || is_of_zsh())
}

/// Returns the folders of a file without those of its Java package, which may have any names.
fn folders_outside_of_packages(path: &RelPath) -> impl Iterator<Item = &[u8]> {
    let folders = || path.parent().split(|byte| *byte == b'/');
    let is_sources = |pair: (&[u8], &[u8])| pair == (b"src", b"main");
    let package = folders().zip(folders().skip(1)).position(is_sources);
    folders().take(package.map_or(usize::MAX, |at| at + 1))
}

fn is_any(name: &[u8], names: &[&str]) -> bool {
    names.iter().any(|other| name.eq_ignore_ascii_case(other.as_bytes()))
}

fn is_test(path: &RelPath) -> bool {
    path.parent().split(|byte| *byte == b'/').any(|folder| is_any(folder, TEST_FOLDERS))
        || is_named_test(path)
}

/// Returns whether a file has the name of a test, in any folder.
fn is_named_test(path: &RelPath) -> bool {
    let name = path.file_name();
    let stem = name.split(|byte| *byte == b'.').next().unwrap_or_default();
    let has_infix = |infix: &[u8]| name.windows(infix.len()).any(|part| part == infix);
    stem.starts_with(b"test_")
        || TEST_ENDINGS.iter().any(|ending| stem.ends_with(ending))
        || is_any(stem, &["test", "tests", "conftest"])
        || has_infix(b".spec.")
        || has_infix(b".test.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: PathClass) {
        let path = RelPath::new(path.as_bytes()).unwrap();
        assert_eq!(PathClass::from_path(&path, FileRole::Code, false), expected, "{path}");
    }

    #[test]
    fn the_class_is_read_from_folders_and_name() {
        check("src/engine.py", PathClass::Source);
        check("src/latest/contest.py", PathClass::Source);
        check("src/EngineTest.java", PathClass::Test);
        check("src/attest/engine.py", PathClass::Source);
        check("pkg/Tests/engine.py", PathClass::Test);
        check("src/app.spec.ts", PathClass::Test);
        check("pkg/run_test.go", PathClass::Test);
        check("examples/first.rs", PathClass::Peripheral);
        check("app/src/main/java/org/samples/owner/Pet.java", PathClass::Source);
        check("samples/src/main/java/org/owner/Pet.java", PathClass::Peripheral);
        check("contrib/tools/run.py", PathClass::Peripheral);
        check("django/contrib/auth/models.py", PathClass::Source);
        check("extras/short_id.rb", PathClass::Source);
        check("share/completions/slop.fish", PathClass::Peripheral);
        check("completion/zsh/_slop", PathClass::Peripheral);
        check("src/complete/fish.rs", PathClass::Source);
        check("docs/api/index.html", PathClass::NotCode);
        check("docs/conf.py", PathClass::Peripheral);
        check("docs/Engine.docset/Contents/index.html", PathClass::Vendored);
        check("app/pages/index.html", PathClass::Source);
        check("deps/lua/lapi.c", PathClass::Vendored);
        check("deps/lua/tests/api.c", PathClass::Vendored);
    }

    #[track_caller]
    fn check_interest(path: &str, role: FileRole, id: &'static str, size: u64, expected: bool) {
        let file_type = FileType { id, name: "", fence: "", role };
        let path = RelPath::new(path.as_bytes()).unwrap();
        assert_eq!(!PathClass::is_uninteresting(&path, &file_type, size), expected, "{path}");
    }

    #[test]
    fn empty_files_test_data_translations_and_tiny_test_files_are_uninteresting() {
        let code = FileRole::Code;
        check_interest("src/app/__init__.py", code, "python", 0, false);
        check_interest("src/app/__main__.py", code, "python", 40, true);
        check_interest("tests/fixtures/large.py", code, "python", 90_000, false);
        check_interest("app/locale/de/LC_MESSAGES/app.po", FileRole::Data, "unknown", 90_000, false);
        check_interest("app/locale/load.py", code, "python", 900, true);
        check_interest("app/templates/mail.txt", FileRole::Prose, "text", 80, false);
        check_interest("app/templates/index.html", code, "html", 80, false);
        check_interest("app/templates/index.html", code, "html", 800, true);
        check_interest("app/templates/filters.py", code, "python", 80, true);
        check_interest("tests/apps/hello.py", code, "python", 80, false);
        check_interest("tests/test_app.py", code, "python", 80, true);
        check_interest("pyproject.toml", FileRole::Data, "toml", 80, true);
    }

    #[test]
    fn prose_is_not_code_and_what_the_project_declares_foreign_is_vendored() {
        let path = RelPath::new(b"docs/guide.md").unwrap();
        assert_eq!(PathClass::from_path(&path, FileRole::Prose, false), PathClass::NotCode);
        assert_eq!(PathClass::from_path(&path, FileRole::Prose, true), PathClass::Vendored);
    }
}

//! Determines the type of a file from its name, its first line and the other files in its folder.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::file_types::{C, CPP, FILE_TYPES, FileTypeRow, LFS_POINTER, UNKNOWN};
use super::header_neighbors::HeaderNeighbors;
use super::shared_extensions;
use crate::model::{ContentFacts, FileType, HeaderDialect, RelPath};

pub fn file_type_by_id(id: &str) -> Option<&'static FileType> {
    INDEX.ids.get(id.as_bytes()).copied()
}

/// Returns the type of unknown files.
pub fn unknown_type() -> &'static FileType {
    &UNKNOWN
}

/// Returns all file types.
pub fn all_file_types() -> impl Iterator<Item = &'static FileType> {
    INDEX.ids.values().copied()
}

/// Returns the type of a file. A pointer of Git LFS is recognized by its first line. Otherwise, the type is determined
/// by the text if languages share the extension; then by the whole name, the end of the name, the extension, the first
/// line, and the first word of the name, in this order; else it is `unknown`.
pub fn detect_file_type(
    path: &RelPath,
    facts: &ContentFacts,
    neighbors: &HeaderNeighbors,
) -> &'static FileType {
    let claimed = facts.claimed_type.as_deref();
    if let Some(pointer) = claimed.filter(|claimed| *claimed == LFS_POINTER).and_then(file_type_by_id) {
        return pointer;
    }
    if is_header(path) {
        return header_type(path, facts, neighbors);
    }
    if let Some(id) = claimed.filter(|claimed| shared_extensions::may_be(path, claimed)) {
        return file_type_by_id(id).unwrap_or(&UNKNOWN);
    }
    let by_first_line = || file_type_by_id(claimed?);
    type_by_name(path).or_else(by_first_line).or_else(|| type_by_first_word(path)).unwrap_or(&UNKNOWN)
}

/// Returns whether the name is that of a header, which may be C or C++ depending on its text and its neighbors.
pub fn is_header(path: &RelPath) -> bool {
    path.extension() == Some(b"h")
}

/// Returns the type of files for an interpreter with this name, without version.
pub(super) fn file_type_for_interpreter(name: &str) -> Option<&'static FileType> {
    INDEX.interpreters.get(name.as_bytes()).copied()
}

fn header_type(path: &RelPath, facts: &ContentFacts, neighbors: &HeaderNeighbors) -> &'static FileType {
    let is_cpp = match facts.dialect {
        HeaderDialect::Cpp => true,
        HeaderDialect::Neutral => neighbors.suggests_cpp(path),
    };
    file_type_by_id(if is_cpp { CPP } else { C }).expect("the table has a row for C and one for C++")
}

fn type_by_name(path: &RelPath) -> Option<&'static FileType> {
    let name = path.file_name();
    if let Some(file_type) = INDEX.names.get(name) {
        return Some(file_type);
    }
    // Only the uppercase `.C` is C++, by old convention.
    let extension = match path.extension() {
        Some(b"C" | b"H") => return file_type_by_id(CPP),
        Some(extension) => extension.to_ascii_lowercase(),
        None => Vec::new(),
    };
    let name = name.to_ascii_lowercase();
    // Before the extension, which is only the last part of such an ending: `.min.js` is data, but `.js` is code.
    let mut endings = INDEX.endings.iter();
    if let Some((_, file_type)) = endings.find(|(ending, _)| name.ends_with(ending)) {
        return Some(file_type);
    }
    let file_type = INDEX.extensions.get(extension.as_slice()).copied()?;
    Some(templated_prose(&name, file_type).unwrap_or(file_type))
}

/// Returns the type of `README.md` for `README.md.gotmpl`: a template of prose is treated like its output.
fn templated_prose(name: &[u8], template: &FileType) -> Option<&'static FileType> {
    const ENGINES: [&str; 3] = ["go-template", "jinja", "erb"];
    const MARKUPS: [&str; 4] = ["markdown", "rst", "asciidoc", "org"];
    if !ENGINES.contains(&template.id) {
        return None;
    }
    let mut parts = name.rsplit(|byte| *byte == b'.').skip(1);
    let extension = parts.next().filter(|_| parts.next().is_some())?;
    INDEX.extensions.get(extension).copied().filter(|made| MARKUPS.contains(&made.id))
}

/// `LICENSE-MIT`, `Dockerfile.dev`, `.env.local`: a known word, followed by the end of the name or a separator.
fn type_by_first_word(path: &RelPath) -> Option<&'static FileType> {
    let name = path.file_name().to_ascii_lowercase();
    // The dot of `.env` is part of its word.
    let separator = name.iter().skip(1).position(|byte| !byte.is_ascii_alphanumeric());
    let end = separator.map_or(name.len(), |at| at + 1);
    INDEX.beginnings.get(&name[..end]).copied()
}

type TypesByWord = HashMap<&'static [u8], &'static FileType>;

/// The columns of the table, indexed for lookups.
struct FileTypeIndex {
    ids: TypesByWord,
    names: TypesByWord,
    endings: Vec<(&'static [u8], &'static FileType)>,
    extensions: TypesByWord,
    interpreters: TypesByWord,
    beginnings: TypesByWord,
}

static INDEX: LazyLock<FileTypeIndex> = LazyLock::new(|| FileTypeIndex {
    ids: column(|row| row.file_type.id).chain([(UNKNOWN.id.as_bytes(), &UNKNOWN)]).collect(),
    names: column(|row| row.names).collect(),
    endings: column(|row| row.endings).collect(),
    extensions: column(|row| row.extensions).collect(),
    interpreters: column(|row| row.interpreters).collect(),
    beginnings: column(|row| row.beginnings).collect(),
});

fn column(
    words: fn(&'static FileTypeRow) -> &'static str,
) -> impl Iterator<Item = (&'static [u8], &'static FileType)> {
    FILE_TYPES.iter().flat_map(move |row| {
        let words = words(row).split_ascii_whitespace();
        words.map(|word| (word.as_bytes(), &row.file_type))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::model::FileRole;

    fn facts(claims: Option<&str>, dialect: HeaderDialect) -> ContentFacts {
        ContentFacts { size: 0, encoding: None, lines: 0, dialect, claimed_type: claims.map(str::to_owned) }
    }

    fn type_of(name: &[u8], claims: Option<&str>) -> &'static str {
        let path = RelPath::new(name).unwrap();
        detect_file_type(&path, &facts(claims, HeaderDialect::Neutral), &HeaderNeighbors::default()).id
    }

    #[track_caller]
    fn check(id: &str, names: &[&str]) {
        for name in names {
            assert_eq!(type_of(name.as_bytes(), None), id, "{name}");
        }
    }

    #[test]
    fn a_pointer_of_git_lfs_does_not_have_the_type_of_its_target() {
        for name in [&b"model.py"[..], b"a.h", b"logo.svg", b"weights"] {
            assert_eq!(type_of(name, Some(LFS_POINTER)), LFS_POINTER);
        }
    }

    #[test]
    fn no_word_occurs_twice_in_a_column() {
        let columns: [fn(&'static FileTypeRow) -> &'static str; 6] = [
            |row| row.file_type.id,
            |row| row.names,
            |row| row.endings,
            |row| row.extensions,
            |row| row.interpreters,
            |row| row.beginnings,
        ];
        for words in columns {
            let mut seen = HashSet::new();
            for (word, file_type) in column(words) {
                assert!(seen.insert(word), "{} twice: {}", word.escape_ascii(), file_type.id);
            }
        }
    }

    #[test]
    fn case_insensitive_columns_are_lowercase() {
        let lower: [fn(&'static FileTypeRow) -> &'static str; 3] =
            [|row| row.endings, |row| row.extensions, |row| row.beginnings];
        for words in lower {
            for (word, _) in column(words) {
                assert_eq!(word, word.to_ascii_lowercase());
            }
        }
    }

    #[test]
    fn an_extension_determines_the_type_in_any_case() {
        check("python", &["a.py", "x/a.PYI", "a.b.pyw"]);
        check("c", &["a.c", "a/c.c"]);
        check("cpp", &["a.cc", "a.hpp", "a.C", "a.H", "a.c++", "a.CPP", "a.ixx"]);
        check("assembly", &["a.s", "a.S"]);
        check("markdown", &["README.md", "LICENSE.md", "README.md.gotmpl", "a.md.erb", "x/a.md.j2"]);
        check("go-template", &["md.gotmpl", "NOTES.txt.tpl"]);
        check("apex", &["a.cls", "a.trigger"]);
        check("json", &["a.jsonc", "package.json"]);
    }

    #[test]
    fn a_whole_name_precedes_an_extension() {
        check(
            "lock",
            &["Cargo.lock", "package-lock.json", "go.sum", "uv.lock", "pnpm-lock.yaml", "yarn.lock"],
        );
        check("cmake", &["CMakeLists.txt", "a.cmake"]);
        check("meson", &["meson.build"]);
        check("python", &["SConstruct"]);
        check("ini", &[".editorconfig", "setup.cfg", ".gitconfig"]);
    }

    #[test]
    fn the_end_of_a_name_precedes_an_extension() {
        check("minified-javascript", &["jquery.min.js", "A.MIN.JS"]);
        check("minified-css", &["a.min.css"]);
        check("source-map", &["a.js.map"]);
        check("make", &["Makefile.in", "Makefile.am"]);
        check("javascript", &["min.js"]);
    }

    #[test]
    fn the_first_word_of_a_name_counts_if_its_extension_is_unknown() {
        check("text", &["README", "readme", "LICENSE-MIT", "COPYING.LESSER", "Changes", "AUTHORS"]);
        check("dockerfile", &["Dockerfile", "Dockerfile.dev"]);
        check("make", &["Makefile", "GNUmakefile", "makefile.linux"]);
        check("env", &[".env", ".env.local", ".envrc", "prod.env"]);
        check("unknown", &["newsletter", "environment", "a.readme.b", ".environment"]);
    }

    #[test]
    fn a_first_line_counts_if_the_extension_is_unknown() {
        assert_eq!(type_of(b"configure", Some("shell")), "shell");
        assert_eq!(type_of(b"install-sh", Some("shell")), "shell");
        assert_eq!(type_of(b"a.py", Some("shell")), "python");
        assert_eq!(type_of(b"shop.module", Some("php")), "php");
        assert_eq!(type_of(b"a.cls", Some("latex")), "latex");
        assert_eq!(type_of(b"a.ts", Some("xml")), "xml");
        assert_eq!(type_of(b"a.ts", Some("javascript")), "typescript");
        assert_eq!(type_of(b"a.unheard", Some("python")), "python");
        assert_eq!(type_of(b"a", Some("no such id")), "unknown");
    }

    #[test]
    fn any_name_has_a_type() {
        for name in [&b"\xff\xfe"[..], b"...", b"a.", b".", b"\n", b"-", b"a.\xff"] {
            if RelPath::new(name).is_ok() {
                assert_eq!(type_of(name, None), "unknown");
            }
        }
        assert_eq!(type_of(&[b'x'; 255], None), "unknown");
    }

    #[test]
    fn a_header_follows_its_text_or_else_its_neighbors() {
        let header = RelPath::new(b"a/x.h").unwrap();
        let source = RelPath::new(b"a/x.c").unwrap();
        let cpp_source = RelPath::new(b"a/x.cc").unwrap();
        let of = |dialect, neighbors: &HeaderNeighbors| {
            detect_file_type(&header, &facts(None, dialect), neighbors).id
        };
        assert_eq!(of(HeaderDialect::Neutral, &HeaderNeighbors::default()), "c");
        assert_eq!(
            of(HeaderDialect::Neutral, &HeaderNeighbors::from_paths([&cpp_source].into_iter())),
            "cpp"
        );
        assert_eq!(of(HeaderDialect::Cpp, &HeaderNeighbors::from_paths([&source].into_iter())), "cpp");
        assert!(is_header(&header) && !is_header(&source));
        assert!(!is_header(&RelPath::new(b"a.H").unwrap()));
    }

    #[test]
    fn a_known_id_is_found_and_an_unknown_one_is_not() {
        assert_eq!(file_type_by_id("python").map(|found| found.name), Some("Python"));
        assert_eq!(file_type_by_id("unknown").map(|found| found.role), Some(FileRole::Data));
        assert_eq!(file_type_by_id(""), None);
    }

    #[test]
    fn an_interpreter_determines_the_type() {
        let id = |name| file_type_for_interpreter(name).map(|found| found.id);
        assert_eq!(id("bash"), Some("shell"));
        assert_eq!(id("Rscript"), Some("r"));
        assert_eq!(id("nothing"), None);
    }
}

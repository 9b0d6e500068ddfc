//! Parses `path:line:column` in the formats of various tools.

/// A path with a line, as a tool prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) struct Location<'a> {
    /// The path as written.
    pub(in crate::search) path: &'a str,
    /// The line, from 1.
    pub(in crate::search) line: u32,
    /// The column.
    pub(in crate::search) column: Option<u32>,
}

/// Extensions of files that a compiler, an interpreter or a build tool reads. Longer lists would match hosts and
/// versions.
const SOURCE_EXTENSIONS: &[&str] = &[
    "adb", "asm", "astro", "bash", "bat", "bazel", "bib", "bzl", "c", "cc", "cfg", "cjs", "clj", "cljs",
    "cls", "cmake", "coffee", "conf", "cpp", "cr", "cs", "css", "csv", "cts", "cu", "cxx", "d", "dart", "el",
    "erl", "ex", "exs", "f90", "feature", "fish", "fs", "gd", "go", "gradle", "graphql", "groovy", "h",
    "hbs", "hcl", "hh", "hpp", "hrl", "hs", "htm", "html", "hxx", "inc", "ini", "inl", "ipp", "ipynb",
    "java", "jl", "js", "json", "json5", "jsonc", "jsx", "kt", "kts", "less", "lisp", "lock", "ltx", "lua",
    "m", "mak", "md", "mdx", "mjs", "mk", "ml", "mli", "mm", "mts", "nim", "nix", "patch", "php", "pl", "pm",
    "properties", "proto", "ps1", "pug", "py", "pyi", "pyx", "r", "rake", "rb", "rego", "rs", "rst", "s",
    "sass", "sbt", "scala", "scm", "scss", "sh", "sol", "spec", "sql", "sty", "svelte", "svg", "swift", "t",
    "tcl", "tex", "tf", "tfvars", "thrift", "toml", "tpl", "ts", "tscn", "tsx", "txt", "v", "vb", "vhd",
    "vim", "vue", "wat", "xml", "xsd", "yaml", "yml", "zig", "zsh",
];

/// Names of source files without an extension.
const SOURCE_NAMES: &[&str] = &[
    "BUILD", "Brewfile", "CODEOWNERS", "Containerfile", "Dockerfile", "GNUmakefile", "Gemfile",
    "Jenkinsfile", "Justfile", "Makefile", "Procfile", "Rakefile", "Vagrantfile", "WORKSPACE", "justfile",
    "makefile",
];

/// Returns whether a path ends with a possible name of a source file.
pub(super) fn has_source_extension(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    match name.rsplit_once('.') {
        // `testing.T` is a type.
        Some((_, ending)) if ending.len() == 1 && !["C", "H", "R", "S"].contains(&ending) => {
            SOURCE_EXTENSIONS.binary_search(&ending).is_ok()
        }
        Some((stem, ending)) if !stem.is_empty() => {
            let ending = ending.to_ascii_lowercase();
            SOURCE_EXTENSIONS.binary_search(&ending.as_str()).is_ok()
        }
        Some(_) => false,
        None => SOURCE_NAMES.contains(&name),
    }
}

/// Returns the extension of a path in lower case, without its dot.
pub(super) fn extension(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    name.rsplit_once('.').map_or_else(String::new, |(_, ending)| ending.to_ascii_lowercase())
}

/// Parses a location at the start of a text, and returns the rest. The path has no spaces; the line is written as in
/// `a.c:1`, `a.c:1:2`, `a.c(1)`, `a.c(1,2)`, `A.java:[1,2]` or `a.kt: (1, 2)`.
pub(super) fn parse_prefix(text: &str) -> Option<(Location<'_>, &str)> {
    let token_end = text.find(char::is_whitespace).unwrap_or(text.len());
    parse_at(text, path_end(&text[..token_end])?)
}

/// Parses a location as [`parse_prefix`] does, but its path may contain spaces: `/Users/me/My Project/a.c:1`.
pub(in crate::search) fn parse_spaced_prefix(text: &str) -> Option<(Location<'_>, &str)> {
    // A colon with a space after it ends the name of a program or a kind of message.
    parse_at(text, path_end(text)?).filter(|(at, _)| !at.path.contains(": "))
}

fn parse_at(text: &str, path_end: usize) -> Option<(Location<'_>, &str)> {
    let (path, rest) = text.split_at(path_end);
    if path.is_empty() {
        return None;
    }
    let (line, column, rest) = parse_line(rest)?;
    Some((Location { path, line, column }, rest))
}

/// Returns where the path at the start of a text ends: before a colon or parenthesis with a number. The colon of a
/// drive is part of the path.
fn path_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_end = |at: &usize| match bytes[*at] {
        b':' => match bytes.get(at + 1) {
            Some(b'[') => bytes.get(at + 2).is_some_and(u8::is_ascii_digit),
            Some(next) => next.is_ascii_digit(),
            // `a.kt: (1, 2)` has a space after the colon.
            None => true,
        },
        b'(' => bytes.get(at + 1).is_some_and(u8::is_ascii_digit),
        _ => false,
    };
    (0..bytes.len()).find(is_end)
}

/// Parses the line and column after a path.
fn parse_line(rest: &str) -> Option<(u32, Option<u32>, &str)> {
    if let Some(rest) =
        rest.strip_prefix(":[").or_else(|| rest.strip_prefix(": (")).or_else(|| rest.strip_prefix('('))
    {
        let (line, rest) = parse_number(rest)?;
        let (column, rest) = match rest.strip_prefix(',') {
            Some(rest) => parse_number(rest.trim_start()).map(|(column, rest)| (Some(column), rest))?,
            None => (None, rest),
        };
        return Some((line, column, rest.strip_prefix([']', ')'])?));
    }
    let (line, rest) = parse_number(rest.strip_prefix(':')?)?;
    match rest.strip_prefix(':').and_then(parse_number) {
        Some((column, rest)) => Some((line, Some(column), rest)),
        None => Some((line, None, rest)),
    }
}

/// Parses a location at the end of a text: `path:line` or `path:line:column`. The path may contain spaces.
pub(super) fn parse_whole(text: &str) -> Option<Location<'_>> {
    let (path, last) = split_number(text.trim_end())?;
    let location = match split_number(path) {
        Some((path, line)) => Location { path, line, column: Some(last) },
        None => Location { path, line: last, column: None },
    };
    (!location.path.is_empty()).then_some(location)
}

/// Splits `text:number`. A drive such as `C:` is not a text.
fn split_number(text: &str) -> Option<(&str, u32)> {
    let (before, digits) = text.rsplit_once(':')?;
    let number = parse_number(digits).filter(|(_, rest)| rest.is_empty())?;
    Some((before, number.0))
}

/// Parses a decimal number at the start of a text.
pub(super) fn parse_number(text: &str) -> Option<(u32, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    // No file has a line of ten digits; such a number is an address or a time.
    let number = if end <= 9 { text[..end].parse().ok()? } else { return None };
    Some((number, &text[end..]))
}

/// Returns a path with `/` as separator, without a scheme, a server, a query, and the prefixes of bundlers.
pub(super) fn without_scheme(path: &str) -> String {
    let path = path.trim();
    let path = match path.split_once("://") {
        Some(("file", rest)) => rest.strip_prefix("localhost").unwrap_or(rest),
        // The folder of a Godot project.
        Some(("res", rest)) => rest,
        Some((_, rest)) => rest.split_once('/').map_or(rest, |(_, path)| path),
        None => path,
    };
    let path = path.split('?').next().unwrap_or_default();
    // `file:///C:/code/a.js`
    let path = match path.as_bytes() {
        [b'/', drive, b':', ..] if drive.is_ascii_alphabetic() => &path[1..],
        _ => path,
    };
    with_slashes(path)
}

/// Returns a path as in the project: with `/` as separator, also for the doubled `\` of JSON, and without a leading
/// `./`. The folder of a Dart package's libraries is not written.
pub(in crate::search) fn with_slashes(path: &str) -> String {
    let path = path.replace("\\\\", "/").replace('\\', "/");
    let path = path.trim_start_matches("./");
    match path.strip_prefix("package:").and_then(|path| path.split_once('/')) {
        Some((package, path)) => format!("{package}/lib/{path}"),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extensions_are_sorted_for_binary_search() {
        assert!(SOURCE_EXTENSIONS.is_sorted());
    }

    #[track_caller]
    fn check(text: &str, expected: Option<(&str, u32, Option<u32>, &str)>) {
        let read = parse_prefix(text);
        assert_eq!(read.map(|(at, rest)| (at.path, at.line, at.column, rest)), expected, "{text}");
    }

    #[test]
    fn a_location_is_parsed_in_each_format() {
        check("src/a.c:12: error", Some(("src/a.c", 12, None, ": error")));
        check("src/a.c:12:5: error", Some(("src/a.c", 12, Some(5), ": error")));
        check("C:\\code\\a.cpp(12,5): error", Some(("C:\\code\\a.cpp", 12, Some(5), ": error")));
        check("C:\\code\\a.cpp:12", Some(("C:\\code\\a.cpp", 12, None, "")));
        check("a.ts(4): error", Some(("a.ts", 4, None, ": error")));
        check("/a/B.java:[5,23] incompatible", Some(("/a/B.java", 5, Some(23), " incompatible")));
        check("/a/B.kt: (5, 23): unresolved", Some(("/a/B.kt", 5, Some(23), ": unresolved")));
        check("tests/a.py::test_b", None);
        check(":12", None);
        check("at 12:30", None);
        check("a.c:12345678901", None);
    }

    #[test]
    fn a_location_at_the_end_may_have_spaces_in_its_path() {
        let at = parse_whole("/Users/me/My Project/a.js:3:14").unwrap();
        assert_eq!((at.path, at.line, at.column), ("/Users/me/My Project/a.js", 3, Some(14)));
        assert_eq!(parse_whole("node:internal").map(|at| at.line), None);
    }

    #[test]
    fn schemes_and_other_prefixes_are_removed_from_a_path() {
        assert_eq!(without_scheme("file:///srv/app/a.mjs"), "/srv/app/a.mjs");
        assert_eq!(without_scheme("file:///C:/app/a.mjs"), "C:/app/a.mjs");
        assert_eq!(without_scheme("http://localhost:3000/src/a.js?t=12"), "src/a.js");
        assert_eq!(without_scheme("webpack-internal:///./src/a.js"), "src/a.js");
        assert_eq!(without_scheme("src\\cart\\a.cpp"), "src/cart/a.cpp");
        assert_eq!(without_scheme("src\\\\cart\\\\a.cpp"), "src/cart/a.cpp");
        assert_eq!(without_scheme("package:shop/cart.dart"), "shop/lib/cart.dart");
    }
}

//! Files that are shown only by name: rows of symbols, and a tree of paths.
//!
//! A row is `path: name, name, …`, most important symbols first. The tree has one line per file and per folder that
//! holds one, indented two spaces below its folder; a folder that holds only one folder shares its line. Files that are
//! not shown at all are counted.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;

use crate::model::{Outline, RelPath, Symbol, SymbolKind};

/// A folder of which no file is shown gets a line of its own if it has at least this many files.
const MIN_COUNTED: usize = 10;
/// The maximum number of such folders listed below one folder; those with the most files are chosen.
const MAX_COUNTED: usize = 6;
/// A name longer than this is a sentence, or hostile.
const MAX_NAME: usize = 80;
/// The maximum number of test or section titles among the names of a row. A title takes several times the tokens of a
/// name in the code: without a limit, titles made up more than half of all rows in a document of 32,000 tokens of Hono,
/// a TypeScript project.
const MAX_TITLES: usize = 3;

/// Returns the names of the most important symbols: by score, then public before private or nested ones, then the
/// largest. Names are not repeated, and at most three are titles. A method that does not follow its type or another
/// method of it is qualified with the type's name, as in `Engine.run`.
pub fn important_names(outline: &Outline, most: usize, score: &dyn Fn(&Symbol) -> f64) -> Vec<String> {
    let mut ranked = Vec::new();
    outline.walk(|symbol, depth| {
        if is_listed(symbol) {
            let lines = symbol.span.end_line.saturating_sub(symbol.span.start_line);
            let score = score(symbol);
            let score = if score.is_finite() { score } else { 0.0 };
            let name = row_name(symbol);
            let rank = if is_title(&name) { TITLE_RANK } else { kind_rank(symbol.kind) };
            ranked.push((score, (rank, is_private(&name), depth), lines, symbol, name));
        }
    });
    // The sort is stable: among equals the first in the text comes first.
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)).then_with(|| b.2.cmp(&a.2)));
    let mut names: Vec<String> = Vec::new();
    let mut seen: HashSet<Cow<'_, str>> = HashSet::new();
    let mut titles = 0;
    // The type that a reader assumes a method belongs to.
    let mut current = "";
    for (.., symbol, name) in ranked {
        if names.len() == most {
            break;
        }
        let is_title = is_title(&name);
        if is_title && titles == MAX_TITLES || !seen.insert(name.clone()) {
            continue;
        }
        titles += usize::from(is_title);
        let method = method_of_type(symbol).filter(|(container, _)| *container != current);
        if let Some((container, _)) = method {
            seen.insert(Cow::Borrowed(container));
            current = container;
        } else if symbol.kind.is_type() {
            current = symbol.name.rsplit(['.', ':']).next().unwrap_or_default();
        }
        names.push(method.map_or(name.into_owned(), |(_, qualified)| qualified.to_owned()));
    }
    // At least one of the first names can be searched for in the code.
    let first = names.iter().position(|name| !is_title(name));
    if let Some(at) = first.filter(|at| 1 < *at) {
        let name = names.remove(at);
        names.insert(1, name);
    }
    names
}

/// Returns the name of a symbol in a row. A test whose only name is that of its macro gets its title, as in
/// `TEST_CASE sizes of vectors`.
pub fn row_name(symbol: &Symbol) -> Cow<'_, str> {
    let name = symbol.name.as_str();
    let arguments = symbol.signature.strip_prefix(name).and_then(|rest| rest.strip_prefix('('));
    // `TEST_CASE_METHOD(Fixture, "title")`, and not `on(event: "click")`.
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    let is_fixture =
        |text: &str| text.trim_end().strip_suffix(',').is_some_and(|word| word.chars().all(is_word));
    let quoted = arguments.and_then(|text| text.split_once('"'));
    let quoted = quoted.filter(|(before, _)| before.is_empty() || is_fixture(before));
    match quoted.and_then(|(_, text)| text.split_once('"')) {
        Some((title, _)) if is_plain(title) => Cow::Owned(format!("{name} {title}")),
        Some(_) | None => Cow::Borrowed(name),
    }
}

/// Returns whether a name can be part of a row, which is one line of names between commas.
fn is_listed(symbol: &Symbol) -> bool {
    is_plain(&symbol.name) && !symbol.kind.is_namespace()
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_NAME
        && !name.contains([',', '`'])
        && !name.chars().any(char::is_control)
}

/// Returns the rank of a kind: the higher, the less it says about its file.
const fn kind_rank(kind: SymbolKind) -> u8 {
    match kind {
        kind if kind.is_type() => 0,
        SymbolKind::Prototype => 2,
        kind if kind.is_callable() => 1,
        SymbolKind::Constant | SymbolKind::Variable | SymbolKind::Property | SymbolKind::Event => 3,
        SymbolKind::Macro | SymbolKind::Key | SymbolKind::Heading | SymbolKind::Target => 4,
        _ => 5,
    }
}

/// The rank of a test or section title: that of keys and headings, after named symbols of the code.
const TITLE_RANK: u8 = 4;

/// Returns whether a name consists of words, like test titles in JavaScript.
fn is_title(name: &str) -> bool {
    name.contains(' ') && !name.starts_with("operator")
}

/// Returns the name of a method's type and the name of the method.
fn method_of_type(symbol: &Symbol) -> Option<(&str, &str)> {
    if symbol.kind != SymbolKind::Method {
        return None;
    }
    let around = symbol.qualified_name.strip_suffix(symbol.name.as_str())?;
    let container = around.strip_suffix("::").or_else(|| around.strip_suffix('.'))?;
    let is_outside = |c: char| !c.is_alphanumeric() && c != '_';
    let start = container
        .rfind(is_outside)
        .map_or(0, |at| at + container[at..].chars().next().map_or(1, char::len_utf8));
    let qualified = &symbol.qualified_name[start..];
    // PHP calls anonymous classes `class@anonymous`.
    let is_named = !container[start..].is_empty() && !container[..start].ends_with('@');
    let is_short = is_named && qualified.len() <= MAX_NAME;
    is_short.then_some((&container[start..], qualified))
}

fn is_private(name: &str) -> bool {
    name.starts_with('_')
}

/// Returns as much of the tree as fits, and the number of files that it shows. `shown` is sorted by rank, and `count`
/// returns the tokens of a text. The text is empty if not even one file fits.
pub fn fit_path_tree(
    shown: &[&RelPath],
    hidden: &[&RelPath],
    room: u64,
    count: &mut dyn FnMut(&str) -> u64,
) -> (String, usize) {
    let mut render = |most: usize| {
        let text = render_path_tree(&shown[..most], hidden);
        (count(&text) <= room).then_some(text)
    };
    let (mut fits, mut too_many) = (0, shown.len() + 1);
    let mut best = String::new();
    // Usually all of them fit, as they were selected for that.
    let mut at = shown.len();
    while 0 < at && fits < at {
        match render(at) {
            Some(text) => (best, fits) = (text, at),
            None => too_many = at,
        }
        at = usize::midpoint(fits, too_many);
    }
    (best, fits)
}

/// Returns the tree of some files. The `hidden` files, which are sorted by their bytes and distinct from the shown
/// ones, are counted: a folder that contains only hidden files, and many of them, gets a line with their number.
pub fn render_path_tree(shown: &[&RelPath], hidden: &[&RelPath]) -> String {
    let mut shown: Vec<&[u8]> = shown.iter().map(|path| path.as_bytes()).collect();
    shown.sort_unstable();
    let hidden: Vec<&[u8]> = hidden.iter().map(|path| path.as_bytes()).collect();
    let mut tree = TreeWriter { text: String::new() };
    tree.write_folder(&shown, &hidden, 0, 0);
    tree.text
}

/// A direct entry of a folder: a file, or a folder with its contents.
struct FolderEntry<'p, 's> {
    /// The name; a folder's name ends with a slash.
    name: &'p [u8],
    shown: &'s [&'p [u8]],
    hidden: &'s [&'p [u8]],
}

struct TreeWriter {
    text: String,
}

impl TreeWriter {
    /// Writes the entries of a folder whose path has `prefix` bytes.
    fn write_folder(&mut self, shown: &[&[u8]], hidden: &[&[u8]], prefix: usize, depth: usize) {
        let mut counted: Vec<(&[u8], usize)> = Vec::new();
        let mut more = 0;
        for entry in entries(shown, hidden, prefix) {
            let is_folder = entry.name.ends_with(b"/");
            match (entry.shown.is_empty(), is_folder) {
                (true, true) if MIN_COUNTED <= entry.hidden.len() => {
                    counted.push((entry.name, entry.hidden.len()));
                }
                (true, _) => more += entry.hidden.len(),
                (false, false) => self.write_line(depth, entry.name, ""),
                (false, true) => self.write_chain(&entry, prefix, depth),
            }
        }
        counted.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        for (_, files) in counted.split_off(MAX_COUNTED.min(counted.len())) {
            more += files;
        }
        counted.sort_unstable();
        for (name, files) in counted {
            self.write_line(depth, name, &format!(" ({files} files)"));
        }
        match more {
            0 => {}
            1 => self.write_line(depth, b"", "(1 more file)"),
            _ => self.write_line(depth, b"", &format!("({more} more files)")),
        }
    }

    /// Writes a folder, on one line with its subfolders as long as each contains nothing but the next.
    fn write_chain(&mut self, folder: &FolderEntry<'_, '_>, prefix: usize, depth: usize) {
        let mut end = prefix + folder.name.len();
        loop {
            let mut inside = entries(folder.shown, folder.hidden, end);
            match (inside.next(), inside.next()) {
                (Some(only), None) if only.name.ends_with(b"/") => end += only.name.len(),
                (_, _) => break,
            }
        }
        let path = folder.shown[0];
        self.write_line(depth, &path[prefix..end], "");
        self.write_folder(folder.shown, folder.hidden, end, depth + 1);
    }

    fn write_line(&mut self, depth: usize, name: &[u8], rest: &str) {
        // A name is escaped like a path, because it could break the line as well.
        let folder = name.strip_suffix(b"/");
        let shown = RelPath::new(folder.unwrap_or(name)).map_or(String::new(), |name| name.to_string());
        let slash = if folder.is_some() { "/" } else { "" };
        let _ = writeln!(self.text, "{:indent$}{shown}{slash}{rest}", "", indent = depth * 2);
    }
}

/// Returns the direct entries of a folder whose path has `prefix` bytes, in byte order.
fn entries<'p, 's>(
    mut shown: &'s [&'p [u8]],
    mut hidden: &'s [&'p [u8]],
    prefix: usize,
) -> impl Iterator<Item = FolderEntry<'p, 's>> {
    std::iter::from_fn(move || {
        let name = match (shown.first(), hidden.first()) {
            (Some(shown), Some(hidden)) => entry_name(shown, prefix).min(entry_name(hidden, prefix)),
            (Some(path), None) | (None, Some(path)) => entry_name(path, prefix),
            (None, None) => return None,
        };
        // The paths of a folder are contiguous, so a large folder is skipped without looking at each.
        let is_inside = |path: &&[u8]| entry_name(path, prefix) <= name;
        let (own_shown, rest) = shown.split_at(shown.partition_point(is_inside));
        shown = rest;
        let (own_hidden, rest) = hidden.split_at(hidden.partition_point(is_inside));
        hidden = rest;
        Some(FolderEntry { name, shown: own_shown, hidden: own_hidden })
    })
}

/// Returns the name of the file in the folder, or that of the next folder with its slash.
fn entry_name(path: &[u8], prefix: usize) -> &[u8] {
    let rest = path.get(prefix..).unwrap_or_default();
    let end = memchr::memchr(b'/', rest).map_or(rest.len(), |slash| slash + 1);
    &rest[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ParseHealth, Span};

    fn paths(names: &[&str]) -> Vec<RelPath> {
        let mut paths: Vec<RelPath> =
            names.iter().map(|name| RelPath::new(name.as_bytes()).unwrap()).collect();
        paths.sort();
        paths
    }

    #[track_caller]
    fn check(shown: &[&str], hidden: &[RelPath], expected: &str) {
        let shown = paths(shown);
        let tree = render_path_tree(&shown.iter().collect::<Vec<_>>(), &hidden.iter().collect::<Vec<_>>());
        assert_eq!(tree, expected);
    }

    fn many(folder: &str, count: usize) -> Vec<RelPath> {
        (0..count).map(|at| RelPath::new(format!("{folder}/f{at:03}.py").as_bytes()).unwrap()).collect()
    }

    #[test]
    fn a_file_is_a_line_below_its_folder() {
        check(
            &["src/a.py", "src/deep/b.py", "z.py", "src/deep/c/d/e.py"],
            &[],
            "src/\n  a.py\n  deep/\n    b.py\n    c/d/\n      e.py\nz.py\n",
        );
    }

    #[test]
    fn folders_that_hold_one_folder_share_its_line() {
        check(&["a/b/c/d.py", "a/b/c/e.py"], &[], "a/b/c/\n  d.py\n  e.py\n");
        check(&["a/b/c/d.py"], &paths(&["a/x.py"]), "a/\n  b/c/\n    d.py\n  (1 more file)\n");
    }

    #[test]
    fn what_is_not_shown_is_a_count_of_its_folder() {
        let mut hidden = many("vendor/x", 300);
        hidden.extend(paths(&["src/old.py", "src/older.py", "setup.py"]));
        hidden.extend(many("src/gen", 12));
        hidden.sort();
        let expected =
            "src/\n  a.py\n  gen/ (12 files)\n  (2 more files)\nvendor/ (300 files)\n(1 more file)\n";
        check(&["src/a.py"], &hidden, expected);
    }

    #[test]
    fn the_tree_shows_as_many_files_as_have_room() {
        let shown = many("src", 100);
        let shown: Vec<&RelPath> = shown.iter().collect();
        let mut count = |text: &str| text.lines().count() as u64;
        let (text, files) = fit_path_tree(&shown, &[], 41, &mut count);
        assert_eq!((files, text.lines().count()), (40, 41));
        assert_eq!(fit_path_tree(&shown, &[], 1, &mut count), (String::new(), 0));
        assert_eq!(fit_path_tree(&shown, &[], 1000, &mut count).1, 100);
        assert_eq!(fit_path_tree(&[], &[], 10, &mut count), (String::new(), 0));
    }

    fn symbol(kind: SymbolKind, name: &str, lines: u32, children: Vec<Symbol>) -> Symbol {
        Symbol {
            kind,
            name: name.to_owned(),
            qualified_name: name.to_owned(),
            span: Span { start_byte: 0, end_byte: 0, start_line: 1, end_line: lines },
            signature: name.to_owned(),
            doc: None,
            recovered: false,
            children,
        }
    }

    #[test]
    fn the_most_important_names_come_first_and_each_is_there_once() {
        let run = symbol(SymbolKind::Method, "run", 30, vec![]);
        let engine = symbol(SymbolKind::Class, "Engine", 50, vec![run.clone(), run]);
        let symbols = vec![
            symbol(SymbolKind::Constant, "LIMIT", 1, vec![]),
            symbol(SymbolKind::Function, "_help", 90, vec![]),
            symbol(SymbolKind::Function, "main", 9, vec![]),
            symbol(SymbolKind::Namespace, "space", 100, vec![engine]),
            symbol(SymbolKind::Heading, "One, two", 100, vec![]),
        ];
        let outline = Outline { health: ParseHealth::perfect(1), doc: None, imports: vec![], symbols };
        let names = |most, score: &dyn Fn(&Symbol) -> f64| important_names(&outline, most, score).join(" ");
        assert_eq!(names(9, &|_| 0.0), "Engine main run _help LIMIT");
        assert_eq!(names(2, &|symbol| f64::from(u8::from(symbol.name == "LIMIT"))), "LIMIT Engine");
    }

    #[test]
    fn a_method_that_does_not_follow_its_type_is_named_with_it() {
        let method = |qualified_name: &str| Symbol {
            qualified_name: qualified_name.to_owned(),
            ..symbol(SymbolKind::Method, qualified_name.rsplit(['.', ':']).next().unwrap(), 1, vec![])
        };
        let names = |methods: &[&str]| {
            let symbols = methods.iter().map(|name| method(name)).collect();
            let outline = Outline { health: ParseHealth::perfect(1), doc: None, imports: vec![], symbols };
            important_names(&outline, 9, &|_| 0.0).join(", ")
        };
        assert_eq!(names(&["Engine.run", "Engine.stop", "Other.go"]), "Engine.run, stop, Other.go");
        assert_eq!(names(&["Engine.run", "Other.go", "Engine.stop"]), "Engine.run, Other.go, Engine.stop");
        assert_eq!(names(&["a::Engine::run", "v9::État::go"]), "Engine::run, État::go");
        assert_eq!(names(&["Map<K, V>::get", "get", ".go", "::"]), "get, go");
        assert_eq!(names(&["class@anonymous::up"]), "up");
    }

    #[test]
    fn a_test_of_a_macro_is_named_with_its_title() {
        let test = |name: &str, signature: &str| Symbol {
            signature: signature.to_owned(),
            ..symbol(SymbolKind::Function, name, 1, vec![])
        };
        let symbols = vec![
            test("TEST_CASE", "TEST_CASE(\"sizes of vectors\", \"[vector]\")"),
            test("TEST_CASE", "TEST_CASE(\"one, two\")"),
            test("TEST_CASE_METHOD", "TEST_CASE_METHOD(Fixture, \"no name\")"),
            test("print", "print(text: \"none\")"),
        ];
        let outline = Outline { health: ParseHealth::perfect(1), doc: None, imports: vec![], symbols };
        let names = important_names(&outline, 9, &|_| 0.0);
        let expected = ["TEST_CASE", "print", "TEST_CASE sizes of vectors", "TEST_CASE_METHOD no name"];
        assert_eq!(names, expected);
    }

    #[test]
    fn one_of_the_first_names_is_not_a_title() {
        let titles = ["test parses", "test fails", "test ends"];
        let titles = titles.map(|title| symbol(SymbolKind::Function, title, 9, vec![]));
        let mut symbols = titles.to_vec();
        symbols.push(symbol(SymbolKind::Constant, "minimum", 1, vec![]));
        let outline = Outline { health: ParseHealth::perfect(1), doc: None, imports: vec![], symbols };
        let names = |score: &dyn Fn(&Symbol) -> f64| important_names(&outline, 3, score).join(", ");
        assert_eq!(names(&|_| 0.0), "minimum, test parses, test fails");
        let is_title = |symbol: &Symbol| f64::from(u8::from(symbol.name.starts_with("test")));
        let all = important_names(&outline, 4, &is_title).join(", ");
        assert_eq!(all, "test parses, minimum, test fails, test ends");
    }
}

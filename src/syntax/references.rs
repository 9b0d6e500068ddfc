//! The identifiers in a text of any language, and which of its names a file exports.
//!
//! A plain scan instead of a parse: comments and literals count too. A name in a comment is still a reference that a
//! reader follows, and a word that is an identifier by chance is seldom a name that only one file defines.

use super::derive::outline_producer;
use crate::model::{ArtifactKind, FileReferences, Outline, Producer, Symbol, SymbolKind};

/// Version of the code here: raise it when the same text gives other hashes.
const VERSION: u32 = 2;
/// The most names that are kept of one file: of more, those with the lowest numbers, which are the same in each file.
const MAX_NAMES: usize = 20_000;
/// Shorter names, such as `i` and `id`, carry no information where they are not imported.
const MIN_NAME_BYTES: usize = 3;

/// What an import ends with that names a file and not a module.
const HEADER_ENDINGS: [&str; 10] = ["h", "hh", "hpp", "hxx", "inc", "inl", "ipp", "def", "c", "cpp"];

/// Returns the producer of references of that language. Definitions come from the outline, so its version is part of
/// this one.
pub fn references_producer(language: &'static str) -> Producer {
    let artifact = ArtifactKind::References;
    let mut version = format!("{}/{VERSION}", artifact.name());
    if let Some(outline) = outline_producer(language) {
        version.push(' ');
        version.push_str(&outline.version);
    }
    Producer { artifact, language, version }
}

/// Returns the names that occur in a text. `outline` is its structure, where its language has one.
pub fn references(text: &str, outline: Option<&Outline>) -> FileReferences {
    let mut references = FileReferences { uses: identifiers(text), ..FileReferences::default() };
    let Some(outline) = outline else { return references };
    let mut stack: Vec<&Symbol> = outline.symbols.iter().collect();
    while let Some(symbol) = stack.pop() {
        if !is_exported(symbol) {
            continue;
        }
        references.defines.extend(name_number(&symbol.name));
        // What a function contains cannot be used by another file.
        if symbol.kind.is_type() || symbol.kind.is_namespace() {
            stack.extend(&symbol.children);
        }
    }
    references.imports = outline.imports.iter().filter_map(|import| import_target_number(import)).collect();
    // Not limited to Python: lines like these are rare in other languages, and a name that is not a file's
    // has no effect.
    references.imports.extend(python_from_imports(text));
    for list in [&mut references.defines, &mut references.imports] {
        sort_and_truncate(list);
    }
    references
}

/// Returns the numbers of all identifiers in a text, ascending and each once.
pub fn identifiers(text: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for number in identifier_numbers(text, MIN_NAME_BYTES) {
        found.push(number);
        // So that a text of a million identifiers never takes a list of a million hashes.
        if 4 * MAX_NAMES < found.len() {
            sort_and_truncate(&mut found);
        }
    }
    sort_and_truncate(&mut found);
    found
}

/// Returns the number of the first identifier in a name: of `List` in `List<T>`.
pub fn name_number(name: &str) -> Option<u32> {
    identifier_numbers(name, MIN_NAME_BYTES).next()
}

/// Returns the hash of the name that a file is imported by. It may be as short as `os`, because an import is never a
/// coincidence.
pub fn import_number(name: &str) -> Option<u32> {
    identifier_numbers(name, 1).next()
}

/// Returns the hash of what is imported: of `path` in `os.path`, which does not import the folder, and of `types` in
/// `<sys/types.h>`.
fn import_target_number(import: &str) -> Option<u32> {
    let file = import.trim_matches(['<', '>', '"']).rsplit('/').next()?;
    match file.rsplit_once('.') {
        Some((stem, ending)) if HEADER_ENDINGS.contains(&ending) => import_number(stem),
        Some(_) | None => identifier_numbers(file, 1).last(),
    }
}

/// Returns the hashes of the names after `import` in `from . import a, b as c`, which in Python may be modules. One
/// that is not a module is, as a rule, not the name of a file either.
fn python_from_imports(text: &str) -> Vec<u32> {
    let mut found = Vec::new();
    let (mut in_brackets, mut continues) = (false, false);
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        let names = if in_brackets || continues {
            Some(line)
        } else {
            line.trim_start().strip_prefix("from ").and_then(|rest| Some(rest.split_once(" import ")?.1))
        };
        let Some(names) = names else { continue };
        in_brackets = (in_brackets || names.contains('(')) && !names.contains(')');
        continues = names.ends_with('\\');
        found.extend(names.split(',').filter_map(import_number));
    }
    found
}

fn sort_and_truncate(list: &mut Vec<u32>) {
    list.sort_unstable();
    list.dedup();
    list.truncate(MAX_NAMES);
}

/// Fields are named `next` and `data` everywhere, and names between two `__` belong to the language.
fn is_exported(symbol: &Symbol) -> bool {
    let is_of_language = symbol.name.starts_with("__") && symbol.name.ends_with("__");
    // The title of a test is not a name that other files use.
    let is_title = symbol.name.contains(' ');
    symbol.kind != SymbolKind::Field && !is_of_language && !is_title
}

/// Returns the identifiers of a text in order. Every character beyond ASCII counts as part of one: a quotation mark
/// next to a word in a comment costs a mention, but no table of characters is consulted a million times.
fn identifier_numbers(text: &str, shortest: usize) -> impl Iterator<Item = u32> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    let runs = text.as_bytes().split(move |byte| !is_part(byte));
    let names = runs.filter(move |run| shortest <= run.len() && !run[0].is_ascii_digit());
    names.map(hash_identifier)
}

/// FNV-1a, the same on every machine; the lowest bit is set for names that could be plain words.
fn hash_identifier(name: &[u8]) -> u32 {
    let mut hash: u32 = 0x811c_9dc5;
    let mut is_plain = true;
    for byte in name {
        hash = (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        is_plain &= byte.is_ascii_lowercase();
    }
    hash & !1 | u32::from(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::is_plain_word;

    fn sorted(names: &[&str]) -> Vec<u32> {
        let mut numbers: Vec<u32> = names.iter().map(|name| name_number(name).unwrap()).collect();
        numbers.sort_unstable();
        numbers
    }

    #[test]
    fn identifiers_are_runs_that_do_not_begin_with_a_digit() {
        let text = "int run_it(a, ab, 0xFFFF, 12abc) { état->run_it = \"see Other\"; } // word";
        assert_eq!(identifiers(text), sorted(&["int", "run_it", "état", "see", "Other", "word"]));
        assert_eq!(identifiers(""), [0; 0]);
    }

    #[test]
    fn plain_words_are_recognized() {
        let is_plain = |name: &str| is_plain_word(name_number(name).unwrap());
        assert!(is_plain("value"));
        assert!(!is_plain("Value") && !is_plain("get_value") && !is_plain("value2") && !is_plain("été"));
    }

    #[test]
    fn the_first_identifier_of_a_name_represents_it() {
        assert_eq!(name_number("List<Item>"), name_number("List"));
        assert_eq!(name_number("~Engine"), name_number("Engine"));
        assert_eq!(name_number("ok"), None);
    }

    #[test]
    fn an_import_is_identified_by_its_last_name() {
        for (import, name) in [
            ("os", "os"),
            ("a.b_c", "b_c"),
            (".up", "up"),
            ("<sys/types.h>", "types"),
            ("\"Python.h\"", "Python"),
            ("sys/types.h", "types"),
            ("dict.h", "dict"),
        ] {
            assert_eq!(import_target_number(import), import_number(name), "{import}");
        }
        assert_eq!(import_target_number("."), None);
    }

    #[test]
    fn what_is_imported_from_somewhere_may_be_a_module() {
        let text = "from . import a, b as c  # d\nfrom x.y import (\n    e,\n    f,\n)\ng, h\n  from z import i, \\\n  j\nk\n";
        let expected = ["a", "b", "e", "f", "i", "j"].map(|name| import_number(name).unwrap());
        assert_eq!(python_from_imports(text), expected);
    }

    #[test]
    fn of_a_million_names_the_same_part_is_kept_everywhere() {
        let name = |number: u32| format!("name{number} ");
        let many: String = (0..200_000).map(name).collect();
        let found = identifiers(&many);
        assert_eq!(found.len(), MAX_NAMES);
        assert!(found.is_sorted());
        let backwards: String = (0..200_000).rev().map(name).collect();
        assert_eq!(identifiers(&backwards), found);
    }

    #[test]
    fn a_file_defines_what_others_may_use_and_imports_by_name() {
        let text = "import os.path\nLIMIT = 1\nclass Engine:\n    def run(self): ...\n    def __len__(self): ...\ndef main(): pass\n";
        let structure = crate::syntax::derive::derive("python", text, &mut || false).unwrap();
        let references = references(text, Some(&structure.outline));
        assert_eq!(references.defines, sorted(&["LIMIT", "Engine", "run", "main"]));
        assert_eq!(references.imports, [import_number("path").unwrap()]);
        assert_eq!(references.uses, identifiers(text));
    }
}

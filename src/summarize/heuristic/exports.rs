//! What a module exports by lists of names: `__all__`, re-exports, and the default export.

use super::page::SummaryInput;
use crate::model::Outline;
use crate::summarize::words;

/// Bytes at the top that are read.
const HEAD_BYTES: usize = 256 * 1024;

/// The maximum number of names that are read.
const MOST: usize = 200;

/// The maximum length of a statement that is read.
const STATEMENT_BYTES: usize = 8 * 1024;

/// The exports of a module.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Exports {
    /// In the order of the text: `Flask`, `* from ./other`.
    pub(crate) names: Vec<String>,
    /// The name of the default export, if it is declared elsewhere in the file.
    pub(crate) default: Option<String>,
    /// Whether the file exports anything, so that what it does not export is private.
    pub(crate) is_module: bool,
    /// Whether `names` lists all that is exported, as `__all__` does.
    pub(crate) is_complete: bool,
}

impl Exports {
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    fn push(&mut self, name: &str) {
        let name = name.trim();
        if !name.is_empty() && self.names.len() < MOST {
            self.names.push(name.to_owned());
        }
    }
}

/// Returns the names exported by the lists of a file.
pub(crate) fn exports(source: &SummaryInput<'_>) -> Exports {
    let text = words::head(source.text, HEAD_BYTES);
    match source.file_type.id {
        "python" => python(source, text),
        "javascript" | "typescript" | "tsx" => script(text),
        "rust" => rust(text),
        _ => Exports::default(),
    }
}

/// Returns where lines begin with a word.
fn lines_from<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = &'a str> {
    let starts = text.match_indices(word).map(|(at, _)| at);
    starts.filter(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n').map(|at| &text[at..])
}

/// Returns the beginning of a text up to a character, if it is near.
fn up_to(text: &str, end: char) -> Option<&str> {
    let near = &text[..text.floor_char_boundary(STATEMENT_BYTES)];
    near.split_once(end).map(|(before, _)| before)
}

/// Reads `__all__`; without it, what a module of imports alone imports from its own package.
fn python(source: &SummaryInput<'_>, text: &str) -> Exports {
    let mut exports = Exports::default();
    for statement in lines_from(text, "__all__") {
        let Some((_, value)) = statement.split_once('=') else { continue };
        let end = match value.trim_start().chars().next() {
            Some('(') => ')',
            Some('[') => ']',
            // `__all__ += other.__all__`
            Some(_) | None => continue,
        };
        let Some(list) = up_to(value, end) else { continue };
        let code = list.lines().map(|line| line.split('#').next().unwrap_or_default());
        for piece in code.flat_map(|line| line.split(',')) {
            let name = piece.trim().trim_start_matches(['[', '(']).trim();
            let is_quoted = 2 < name.len() && name.starts_with(['"', '\'']);
            if is_quoted {
                exports.push(name.trim_matches(['"', '\'']));
            }
        }
    }
    if !exports.is_empty() {
        exports.is_complete = true;
        return exports;
    }
    let defines = |outline: &Outline| {
        outline.symbols.iter().any(|symbol| symbol.kind.is_callable() || symbol.kind.is_type())
    };
    if source.outline.is_some_and(|outline| !defines(outline)) {
        for statement in lines_from(text, "from .") {
            python_import(statement, &mut exports);
        }
    }
    exports
}

/// Reads `from .a import b, c as d` and `from .a import *`.
fn python_import(statement: &str, exports: &mut Exports) {
    let first = statement.lines().next().unwrap_or_default();
    let Some((from, names)) = first.split_once(" import ") else { return };
    let module = from.trim_start_matches("from").trim();
    let names = match names.trim_start().strip_prefix('(') {
        Some(_) => up_to(statement, ')').and_then(|text| text.split_once('(')).map_or("", |(_, names)| names),
        None => names,
    };
    for line in names.lines() {
        for name in line.split('#').next().unwrap_or_default().split(',') {
            let name = name.rsplit(" as ").next().unwrap_or_default().trim();
            if name == "*" {
                exports.push(&format!("* from {module}"));
            } else if !name.starts_with('_') {
                exports.push(name.trim_end_matches(['\\', ')']));
            }
        }
    }
}

/// Reads `export { a, b as c } from "d"`, `export * from "d"`, `export default a` and `module.exports = …`.
fn script(text: &str) -> Exports {
    let mut exports = Exports::default();
    for statement in lines_from(text, "export ").chain(lines_from(text, "export{")) {
        exports.is_module = true;
        let rest = statement["export".len()..].trim_start();
        let rest = rest.strip_prefix("type ").unwrap_or(rest);
        if let Some(list) = rest.strip_prefix('{').and_then(|rest| up_to(rest, '}')) {
            push_list(list, &mut exports);
        } else if let Some(rest) = rest.strip_prefix('*') {
            let line = rest.lines().next().unwrap_or_default();
            let (name, module) = line.split_once("from").unwrap_or(("", line));
            let module = module.trim().trim_matches(['"', '\'', ';']);
            match name.trim().strip_prefix("as ") {
                Some(name) => exports.push(name),
                None => exports.push(&format!("* from {module}")),
            }
        } else if let Some(value) = rest.strip_prefix("default ") {
            exports.default = plain_name(value).map(str::to_owned);
        }
    }
    for statement in lines_from(text, "module.exports") {
        exports.is_module = true;
        let Some((_, value)) = statement.split_once('=').filter(|(left, _)| left.trim() == "module.exports")
        else {
            continue;
        };
        match value.trim_start().strip_prefix('{') {
            Some(list) => push_list(up_to(list, '}').unwrap_or_default(), &mut exports),
            None => exports.default = plain_name(value).map(str::to_owned),
        }
    }
    exports
}

/// Adds the names in `a, b as c`; none for an object whose values are not names.
fn push_list(list: &str, exports: &mut Exports) {
    let code = list.lines().map(|line| line.split("//").next().unwrap_or_default());
    for name in code.flat_map(|line| line.split(',')) {
        let name = name.rsplit(" as ").next().unwrap_or_default().trim();
        let name = name.strip_prefix("type ").unwrap_or(name);
        let is_name = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'));
        if is_name {
            exports.push(name);
        }
    }
}

/// Returns a value that is a name and nothing else.
fn plain_name(value: &str) -> Option<&str> {
    let line = value.lines().next()?.trim().trim_end_matches(';').trim_end();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    (!line.is_empty() && line.chars().all(is_name)).then_some(line)
}

/// Reads `pub use a::{B, c::D as E};`.
fn rust(text: &str) -> Exports {
    let mut exports = Exports::default();
    // The line may be indented, because it may be within a macro for conditional compilation.
    let statements = text.match_indices("pub use ").map(|(at, _)| at);
    let begins_line = |at: &usize| text[..*at].trim_end_matches([' ', '\t']).ends_with('\n') || *at == 0;
    for statement in statements.filter(begins_line).map(|at| &text[at..]) {
        let Some(tree) = up_to(&statement["pub use ".len()..], ';') else { continue };
        let mut path = tree;
        for piece in tree.split([',', '{', '}']) {
            let name = piece.rsplit(" as ").next().unwrap_or_default().trim();
            if name.ends_with("::") {
                path = name.trim_end_matches("::");
                continue;
            }
            match name.rsplit("::").next().unwrap_or_default() {
                "*" => exports.push(&format!("* from {}", name.strip_suffix("::*").unwrap_or(path))),
                "self" => exports.push(path.rsplit("::").next().unwrap_or_default()),
                last => exports.push(last),
            }
        }
    }
    exports
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(exports: &Exports, names: &str, default: Option<&str>) {
        assert_eq!((exports.names.join(" | ").as_str(), exports.default.as_deref()), (names, default));
    }

    #[test]
    fn javascript_exports_are_lists_stars_and_a_default() {
        let text = "import a from 'a';\nexport { b, c as d } from \"./x\";\nexport * from './y';\n\
            export * as z from './z'\nexport {\n  e, // f\n  type G,\n};\nexport const h = 1;\nclass I {}\nexport default I;\n";
        check(&script(text), "b | d | * from ./y | z | e | G", Some("I"));
        check(&script("module.exports = { a, b: c, d };\n"), "a | d", None);
        check(&script("module.exports = Engine;\n"), "", Some("Engine"));
        check(&script("export default { name: 'x' }\n"), "", None);
    }

    #[test]
    fn rust_exports_are_public_uses() {
        let text = "use a::B;\npub use c::{D, e::F as G, self};\npub use h::*;\npub use i::J;\n";
        check(&rust(text), "D | G | c | * from h | J", None);
    }
}

//! Declarations in source code without an outline, found by the keywords at the start of lines.

use super::language_names::{macro_names, names_in_language};
use super::page::{SummaryInput, SummaryPage};
use crate::summarize::words;

/// Bytes that are read.
const HEAD_BYTES: usize = 1024 * 1024;
/// The maximum number of names that are listed.
const MOST_MEMBERS: usize = 40;

/// Words that begin a declaration at the start of a line.
const KEYWORDS: [&str; 46] = [
    "abstract", "async", "class", "contract", "create", "data", "def", "defdelegate", "defimpl", "defmacro",
    "defmodule", "defn", "defp", "defprotocol", "defun", "entity", "enum", "export", "extension", "final",
    "fn", "fun", "func", "function", "interface", "macro", "message", "mod", "module", "mutable",
    "namespace", "object", "package", "proc", "procedure", "protocol", "pub", "public", "record", "sealed",
    "service", "struct", "sub", "trait", "type", "union",
];

/// Words that follow a keyword only in prose.
const PROSE: [&str; 20] = [
    "a", "an", "and", "are", "by", "can", "do", "for", "has", "in", "is", "it", "of", "or", "that", "the",
    "to", "which", "will", "with",
];

/// Visibility keywords: declarations that begin with them come first.
const PUBLIC: [&str; 4] = ["pub ", "pub(", "export ", "public "];

/// Adds the declarations to the page, public ones first, as many as fit.
pub(crate) fn push(page: &mut SummaryPage, source: &SummaryInput<'_>) {
    let text = words::head(source.text, HEAD_BYTES);
    if source.file_type.id == "make" {
        let targets = make_targets(text);
        if !targets.is_empty() {
            page.push_clipped(&format!("Targets: {}", words::join_within(&targets, ", ", 300)), 320);
        }
        return;
    }
    if let Some(names) = names_in_language(source.file_type.id, text, MOST_MEMBERS) {
        push_names(page, &names);
        return;
    }
    let mut found = declarations(text);
    if found.is_empty() && matches!(source.file_type.id, "c" | "cpp") {
        return push_names(page, &macro_names(text, MOST_MEMBERS));
    }
    // Stable: among equals the order of the text is kept.
    found.sort_by_key(|line| match line.split_once(' ') {
        _ if PUBLIC.iter().any(|word| line.starts_with(word)) => 0,
        Some((_, name)) if name.starts_with('_') => 2,
        Some(_) | None => 1,
    });
    for line in &found {
        if !page.push(line) {
            page.push_ellipsis();
            return;
        }
    }
    push_members(page, text, &found);
}

/// Adds the names that are declared within others, such as the functions of an Elixir module.
fn push_members(page: &mut SummaryPage, text: &str, declared: &[String]) {
    let mut members = names(text, MOST_MEMBERS);
    members.retain(|name| !declared.iter().any(|line| declared_name(line) == Some(name)));
    push_names(page, &members);
}

fn push_names(page: &mut SummaryPage, names: &[String]) {
    const NAMES_BYTES: usize = 300;
    if !names.is_empty() {
        let label = "Declares: ";
        let room = page.room().min(NAMES_BYTES).saturating_sub(label.len());
        page.push_clipped(&format!("{label}{}", words::join_within(names, ", ", room)), NAMES_BYTES);
    }
}

fn declarations(text: &str) -> Vec<String> {
    const LOOKED_AT: usize = 2000;
    const MOST: usize = 60;
    const LINE_BYTES: usize = 100;
    let mut found: Vec<String> = Vec::new();
    for line in lines_of_code(text).filter(|line| is_declaration(line)).take(LOOKED_AT) {
        let line = words::one_line(line);
        let line = without_body(&line);
        let line = words::clip(line.trim_end_matches([' ', '{', ':', '(', ';', '=']), LINE_BYTES);
        if !found.contains(&line) {
            found.push(line);
        }
        if found.len() == MOST {
            break;
        }
    }
    found
}

/// Returns the distinct names declared by lines with such a keyword; those without indentation first.
pub(crate) fn names(text: &str, most: usize) -> Vec<String> {
    const LOOKED_AT: usize = 2000;
    let text = words::head(text, HEAD_BYTES);
    let is_found = |line: &&str| is_declaration(line.trim_start_matches([' ', '\t', '(']));
    let mut lines: Vec<&str> = lines_of_code(text).filter(is_found).take(LOOKED_AT).collect();
    lines.sort_by_key(|line| line.starts_with([' ', '\t']));
    let mut names: Vec<String> = Vec::new();
    for name in lines.into_iter().filter_map(declared_name).map(words::one_line) {
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
        if names.len() == most {
            break;
        }
    }
    names
}

/// Returns the lines outside of texts in triple quotation marks, which are documentation in Elixir and Julia.
fn lines_of_code(text: &str) -> impl Iterator<Item = &str> {
    const MARK: &str = "\"\"\"";
    let mut is_inside = false;
    text.lines().filter(move |line| {
        let was_inside = is_inside;
        let opens = || {
            let before = line.trim_end().strip_suffix(MARK);
            before.is_some_and(|before| !before.ends_with('"') && !before.contains(MARK))
        };
        is_inside = if was_inside { !line.trim_start().starts_with(MARK) } else { opens() };
        !was_inside
    })
}

/// Returns the name that a line declares: the first word that is not a keyword.
fn declared_name(line: &str) -> Option<&str> {
    const NAME_BYTES: usize = 80;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '?' | '!' | '$' | '\'' | '-');
    let mut rest = line.trim_start_matches([' ', '\t', '(']);
    loop {
        // The receiver of a Go method, and `pub(crate)`.
        if let Some(inside) = rest.trim_start().strip_prefix('(') {
            rest = inside.split_once(')')?.1;
        }
        rest = rest.trim_start_matches(|c: char| !is_name(c) && c != '(' || c == '-');
        let word = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
        if !KEYWORDS.iter().any(|keyword| word.eq_ignore_ascii_case(keyword)) {
            let word = word.trim_end_matches(['.', '-']);
            let is_name = !word.is_empty() && word.len() <= NAME_BYTES && !PROSE.contains(&word);
            return is_name.then_some(word);
        }
        rest = &rest[word.len()..];
    }
}

fn is_declaration(line: &str) -> bool {
    let end = line.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    if KEYWORDS.iter().any(|keyword| word.eq_ignore_ascii_case(keyword)) {
        // `type = 1` and `data.x()` only contain such a word.
        let is_receiver = |c: char| word == "func" && c == '(';
        let is_name = |c: char| {
            c.is_alphanumeric() || matches!(c, '_' | '*' | '\'' | '"' | '$' | '{' | '<') || is_receiver(c)
        };
        let rest = rest
            .strip_prefix('(')
            .map_or(rest, |inside| inside.split_once(')').map_or("", |(_, after)| after));
        if word == "data"
            && !rest.trim_start().starts_with(|c: char| c.is_uppercase())
            && !rest.starts_with(" class")
        {
            return false;
        }
        // An anonymous function in Elixir.
        if word == "fn" && !rest.split("->").next().unwrap_or_default().contains('(') {
            return false;
        }
        return !rest.starts_with(" use ")
            && rest.starts_with([' ', '\t'])
            && rest.trim_start().starts_with(is_name);
    }
    // A shell function.
    !word.is_empty() && rest.trim_start().starts_with("()") && rest.trim_end().ends_with('{')
}

/// Removes the body of `sub name { … }`, and the `do` of Elixir; `export { a, b }` has no body.
fn without_body(line: &str) -> &str {
    let line = line.strip_suffix(" do").unwrap_or(line);
    match line.split_once(" {") {
        Some((head, _)) if head.contains(' ') => head,
        Some(_) | None => line,
    }
}

fn make_targets(text: &str) -> Vec<String> {
    const MOST: usize = 40;
    let mut targets: Vec<String> = Vec::new();
    for line in text.lines() {
        let Some((name, rest)) = line.split_once(':') else {
            continue;
        };
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/'));
        let name = words::clip(name, 40);
        if is_name && !rest.starts_with('=') && !targets.contains(&name) {
            targets.push(name);
        }
        if targets.len() == MOST {
            break;
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::summary::tests::check;

    #[test]
    fn an_elixir_module_shows_its_documentation_and_its_declarations() {
        check(
            "elixir",
            "defmodule Plug.Session do\n  @moduledoc \"\"\"\n  A plug to handle\n  sessions.\n\n  It is lazy.\n  \"\"\"\n  @doc \"def none\"\n  @doc \"\"\"\n  function that does\n  \"\"\"\n  def init(opts), do: opts\n  fn conn ->\n  defmacro get(a) do\n  end\n  defp fetch(conn) do\n  end\nend\n",
            expect![[r"
                Elixir source, about 20 lines.
                A plug to handle sessions.
                defmodule Plug.Session
                Declares: init, get, fetch"]],
        );
    }

    #[test]
    fn a_rust_file_shows_public_items_first() {
        check(
            "rust",
            "// Copyright 2024 Somebody\n\n//! Walks trees.\n//!\n//! Slowly.\n\nuse std::fmt;\n\nfn helper(x: u8) -> u8 {\n    x\n}\n\npub(crate) struct Walker {\n    depth: u8,\n}\n\nimpl Walker {\n    pub fn go(&self) {}\n}\n\npub fn walk(root: &Path) -> Result<(), Error> {\n}\n",
            expect![[r"
                Rust source, about 20 lines.
                Walks trees.
                pub(crate) struct Walker
                pub fn walk(root: &Path) -> Result<(), Error>
                fn helper(x: u8) -> u8
                Declares: go"]],
        );
    }

    #[test]
    fn a_go_file_shows_its_package() {
        check(
            "go",
            "// Package shop sells things.\npackage shop\n\nimport \"fmt\"\n\ntype Cart struct {\n\titems []Item\n}\n\nfunc (c *Cart) Add(i Item) error {\n}\n\nfunc New() *Cart {\n}\n",
            expect![[r"
                Go source, about 10 lines.
                Package shop sells things.
                package shop
                type Cart struct
                func (c *Cart) Add(i Item) error
                func New() *Cart"]],
        );
    }

    #[test]
    fn a_script_shows_its_functions() {
        check(
            "shell",
            "#!/usr/bin/env bash\n#\n# Deploys the site.\nset -euo pipefail\n\nusage() {\n  echo x\n}\nfunction main {\n  usage\n}\nmain \"$@\"\n",
            expect![[r"
                Shell script, about 10 lines.
                Deploys the site.
                usage()
                function main"]],
        );
    }

    #[test]
    fn tables_and_targets_are_declarations() {
        check(
            "sql",
            "-- The shop's tables.\ncreate table item (\n  id int\n);\nCREATE INDEX x ON item (id);\nSEL x;\n",
            expect![[r"
                SQL source, a few lines.
                The shop's tables.
                create table item
                CREATE INDEX x ON item (id)"]],
        );
        check(
            "make",
            "# Builds it.\nCC := gcc\nall: a b\n\techo\n.PHONY: all\nclean:\n\trm x\n$(OUT): y\n",
            expect![[r"
                Makefile, a few lines.
                Builds it.
                Targets: all, clean"]],
        );
    }

    #[test]
    fn a_web_page_shows_its_title() {
        check(
            "html",
            "<!DOCTYPE html>\n<html><head>\n<title>The\n shop</title></head></html>\n",
            expect![[r"
                HTML page, a few lines.
                The shop"]],
        );
    }
}

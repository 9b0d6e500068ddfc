//! The names of a file without symbols, for its row in a document.

use super::declarations;
use super::language_names::{macro_names, names_in_language};
use super::page::{self, SummaryInput};
use super::templates::{self, TemplateParts};
use crate::model::FileRole;
use crate::summarize::words;

/// Returns the names in a template or the names that a source file declares, the most important first.
pub fn names_without_outline(source: &SummaryInput<'_>, most: usize) -> Vec<String> {
    if source.file_type.role != FileRole::Code || page::is_minified(source) {
        return Vec::new();
    }
    let mut names = if source.file_type.id == "php" {
        returned_keys(source.text)
    } else if templates::is_template(source.file_type.id) {
        TemplateParts::of(source).into_names()
    } else {
        let by_form = match source.file_type.id {
            // A header without symbols has only macros.
            "c" | "cpp" => Some(macro_names(source.text, most)).filter(|macros| !macros.is_empty()),
            other => names_in_language(other, source.text, most),
        };
        by_form.unwrap_or_else(|| declarations::names(source.text, most))
    };
    // The names in a row are separated by commas.
    names.retain(|name| !name.contains([',', '`']));
    names.truncate(most);
    names
}

/// Returns the keys of the array of which a PHP file consists, such as settings or translations.
pub(super) fn returned_keys(text: &str) -> Vec<String> {
    const MOST: usize = 400;
    let is_start = |line: &str| line == "return [" || line == "return array(";
    let lines = text.lines().skip_while(|line| !is_start(line.trim())).skip(1);
    let key = |line: &str| {
        let rest = line.trim_start();
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let (name, value) = rest[1..].split_once(quote)?;
        value.trim_start().starts_with("=>").then(|| (line.len() - rest.len(), words::one_line(name)))
    };
    let keys: Vec<(usize, String)> = lines.filter_map(key).take(MOST).collect();
    // The keys of nested arrays are indented further.
    let least = keys.iter().map(|(indent, _)| *indent).min();
    keys.into_iter().filter(|(indent, _)| Some(*indent) == least).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::super::summary::tests::file_type;
    use super::*;

    #[track_caller]
    fn check(id: &str, text: &str, expected: &str) {
        let source = SummaryInput { file_type: file_type(id), text, lines: 1, outline: None };
        assert_eq!(names_without_outline(&source, 5).join(" "), expected);
    }

    #[test]
    fn the_names_of_a_source_file_without_a_grammar_are_its_declarations() {
        let module = "defmodule Plug.Conn do\n  # def none\n  def put(conn), do: conn\n  def put(a, b), do: a\n  defp valid?(x) do\n  end\nend\n";
        check("elixir", module, "Plug.Conn put valid?");
        check("go", "func (c *Cart) Add(i Item) error {\ntype = 1\n", "Add");
        check("rust", "pub(crate) struct Walker {\n", "Walker");
        check("unknown", "def a\n", "");
        check("haskell", "module A where\nname :: Int\n", "name");
        let settings = "<?php\n\nreturn [\n    'path' => env('a'),\n    'disks' => [\n        'local' => 1,\n    ],\n];\n";
        check("php", settings, "path disks");
        check("php", "<?php\n'a' => 1;\n", "");
        let header = "#ifndef A_H\n#define A_H /* guard */\n#define SIZE 4\n# define  MOST  ( SIZE )\n#define F(a) a\n#endif\n";
        check("c", header, "SIZE MOST F");
    }

    #[test]
    fn the_names_of_a_template_are_its_functions_blocks_and_includes() {
        let component = "<template><Row /></template>\n<script setup>\nconst save = () => {}\ndefineProps(['song'])\n</script>\n";
        check("vue", component, "save song Row");
        check("jinja", "{% block a %}{% include 'b.html' %}", "a b.html");
    }
}

//! From a notebook's bytes to its structure.

use super::super::languages::PYTHON;
use super::super::source::SourceText;
use super::super::structure;
use super::super::structure::FileStructure;
use super::cells;
use super::script;
use super::symbols;
use crate::model::Outline;
use crate::model::ParseFallback;
use crate::model::ParseHealth;
use crate::model::Skeleton;

/// Id of the file type.
pub(in crate::syntax) const ID: &str = "notebook";

/// Who reads notebooks: the version of the code here, raised when it gives other results, and the grammar of the cells.
pub(in crate::syntax) const READER: &str = "cells 1, tree-sitter-python 0.25.0";

/// Returns the structure of a notebook. The code of a kernel that does not speak Python is shown and has no symbols.
pub(in crate::syntax) fn derive(text: &str, give_up: &mut dyn FnMut() -> bool) -> FileStructure {
    let Some(notebook) = cells::parse_notebook(text) else {
        let health = ParseHealth::fallen_back(text.len() as u64, ParseFallback::Failed);
        let outline = Outline { health, doc: None, imports: Vec::new(), symbols: Vec::new() };
        return FileStructure {
            outline,
            skeleton: Skeleton { health, text: String::new(), is_checked: true },
        };
    };
    let mut outline = Outline {
        health: ParseHealth::perfect(text.len() as u64),
        doc: symbols::notebook_doc(&notebook),
        imports: Vec::new(),
        symbols: Vec::new(),
    };
    let source = SourceText::new(text);
    let mut skeleton = String::new();
    for (at, cell) in notebook.cells.iter().enumerate() {
        let code = (notebook.is_python && cell.is_code()).then(|| script::code_without_magics(cell));
        let structure = code.and_then(|code| structure::derive(PYTHON.id, &code, give_up));
        symbols::add_cell(&mut outline, &source, at + 1, cell, structure.as_ref());
        script::write_cell(
            &mut skeleton,
            cell,
            notebook.comment,
            structure.map(|structure| structure.skeleton.text),
        );
    }
    let health = outline.health;
    // Skeletons of Python are not checked, and a script is no program that could be held against the notebook.
    FileStructure { outline, skeleton: Skeleton { health, text: skeleton, is_checked: true } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_in_the_key_is_that_of_the_grammar() {
        assert!(READER.ends_with(PYTHON.grammar_version));
    }

    #[test]
    fn what_is_no_notebook_has_no_symbols_and_says_so() {
        for text in ["{", "[]", "{}", "{\"cells\": 3}"] {
            let structure = derive(text, &mut || false);
            assert_eq!(structure.outline.health.fallback, Some(ParseFallback::Failed), "{text}");
        }
    }
}

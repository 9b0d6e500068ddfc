//! Notebooks of Jupyter: their cells of code and of prose, without what the code has put out.
//!
//! A notebook is JSON. Its cells' lines are read out of it, each with the place where it stands, so that the symbols of
//! the code have lines of the file. The skeleton is the notebook as a script in the "percent" format that editors know
//! (<https://jupytext.readthedocs.io/en/latest/formats-scripts.html>): prose in comments, code with bodies taken out.

mod cells;
mod script;
mod symbols;

use super::languages::PYTHON;
use super::source::Source;
use super::structure::Structure;
use crate::model::Fallback;
use crate::model::Health;
use crate::model::Outline;
use crate::model::Skeleton;

/// Id of the file type.
pub(super) const ID: &str = "notebook";

/// Who reads notebooks: the version of the code here, raised when it gives other results, and the grammar of the cells.
pub(super) const READER: &str = "cells 1, tree-sitter-python 0.25.0";

/// Returns the structure of a notebook. The code of a kernel that does not speak Python is shown and has no symbols.
pub(super) fn derive(text: &str, give_up: &mut dyn FnMut() -> bool) -> Structure {
    let Some(notebook) = cells::read(text) else {
        let health = Health::fallen_back(text.len() as u64, Fallback::Failed);
        let outline = Outline { health, doc: None, imports: Vec::new(), symbols: Vec::new() };
        return Structure { outline, skeleton: Skeleton { health, text: String::new() } };
    };
    let mut outline = Outline {
        health: Health::perfect(text.len() as u64),
        doc: symbols::doc(&notebook),
        imports: Vec::new(),
        symbols: Vec::new(),
    };
    let source = Source::new(text);
    let mut skeleton = String::new();
    for (at, cell) in notebook.cells.iter().enumerate() {
        let code = (notebook.is_python && cell.is_code()).then(|| script::without_magics(cell));
        let structure = code.and_then(|code| super::derive(PYTHON.id, &code, give_up));
        symbols::add(&mut outline, &source, at + 1, cell, structure.as_ref());
        script::write(
            &mut skeleton,
            cell,
            notebook.comment,
            structure.map(|structure| structure.skeleton.text),
        );
    }
    let health = outline.health;
    Structure { outline, skeleton: Skeleton { health, text: skeleton } }
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
            assert_eq!(structure.outline.health.fallback, Some(Fallback::Failed), "{text}");
        }
    }
}

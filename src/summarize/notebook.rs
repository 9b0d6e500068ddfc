//! Notebooks: the language of the kernel, the cells, the title.

use serde::Deserialize;

use super::heuristic::SummaryInput;
use super::page::SummaryPage;
use super::words;

/// Notebooks up to this size are parsed.
const PARSED_BYTES: usize = 8 * 1024 * 1024;

/// Describes a notebook; a malformed or very large one only by its size.
pub(super) fn describe(source: &SummaryInput<'_>) -> String {
    let name = source.file_type.name;
    let size = words::size(source.text.len());
    if PARSED_BYTES < source.text.len() {
        return format!("{name}, {size}.");
    }
    let Ok(notebook) = serde_json::from_str::<NotebookFile>(source.text) else {
        return format!("{name} that does not parse, {size}.");
    };
    let language = notebook.language().map(|language| format!(" in {language}")).unwrap_or_default();
    let cells = words::count(notebook.cells.len(), "cell", "cells");
    let mut page = SummaryPage::new(&format!("{name}{language}: {cells}."));
    let mut lines =
        notebook.cells.iter().filter(|cell| cell.cell_type == "markdown").flat_map(CellSource::lines);
    if let Some(heading) = lines.find(|line| line.starts_with('#')) {
        page.push_clipped(&words::one_line(heading.trim_start_matches('#')), 200);
    }
    page.into_text()
}

/// The parsed part of a notebook: everything else, above all its outputs, is skipped.
#[derive(Deserialize)]
struct NotebookFile {
    cells: Vec<CellSource>,
    metadata: Option<NotebookHeader>,
}

#[derive(Deserialize)]
struct NotebookHeader {
    kernelspec: Option<LanguageName>,
    language_info: Option<LanguageName>,
}

#[derive(Deserialize)]
struct LanguageName {
    name: Option<String>,
    language: Option<String>,
}

#[derive(Deserialize)]
struct CellSource {
    cell_type: String,
    source: Option<CellText>,
}

/// The two notations of a cell's text.
#[derive(Deserialize)]
#[serde(untagged)]
enum CellText {
    Whole(String),
    Lines(Vec<String>),
}

impl NotebookFile {
    fn language(&self) -> Option<String> {
        let metadata = self.metadata.as_ref()?;
        let of_kernel = metadata.kernelspec.as_ref().and_then(|kernel| kernel.language.as_deref());
        let of_language = metadata.language_info.as_ref().and_then(|info| info.name.as_deref());
        let name = words::clip(&words::one_line(of_language.or(of_kernel)?), 40);
        (!name.is_empty()).then_some(name)
    }
}

impl CellSource {
    fn lines(&self) -> impl Iterator<Item = &str> {
        let pieces: &[String] = match &self.source {
            Some(CellText::Whole(text)) => std::slice::from_ref(text),
            Some(CellText::Lines(lines)) => lines,
            None => &[],
        };
        pieces.iter().flat_map(|piece| piece.lines())
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::heuristic::tests::check;

    #[test]
    fn a_notebook_shows_its_language_and_title() {
        check(
            "notebook",
            "{\"cells\": [{\"cell_type\": \"code\", \"source\": [\"# no\"], \"outputs\": [{\"x\": 1}]}, {\"cell_type\": \"markdown\", \"source\": [\"text\\n\", \"# Our data\\n\"]}, {\"cell_type\": \"raw\", \"source\": \"\"}], \"metadata\": {\"kernelspec\": {\"name\": \"python3\"}, \"language_info\": {\"name\": \"python\"}}, \"nbformat\": 4}",
            expect![[r"
                Jupyter notebook in python: 3 cells.
                Our data"]],
        );
    }

    #[test]
    fn a_notebook_may_lack_or_break_anything() {
        check("notebook", "{\"cells\": []}", expect!["Jupyter notebook: 0 cells."]);
        check("notebook", "{\"cells\": 3}", expect!["Jupyter notebook that does not parse, under 1 KiB."]);
        check("notebook", "<html>", expect!["Jupyter notebook that does not parse, under 1 KiB."]);
    }
}

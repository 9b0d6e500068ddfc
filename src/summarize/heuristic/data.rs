//! Summaries of data: its type, its size, and how it begins.

use serde::Deserialize;

use super::page;
use super::page::{SummaryInput, SummaryPage};
use crate::model::{Symbol, SymbolKind};
use crate::summarize::{secrets, words};

/// Bytes at the top that are read; only counts use the whole file.
const HEAD_BYTES: usize = 64 * 1024;

pub(crate) fn describe(source: &SummaryInput<'_>) -> String {
    match source.file_type.id {
        "notebook" | "ipynb" | "jupyter" => describe_notebook(source),
        "csv" | "tsv" => table(source),
        "jsonl" | "ndjson" => records(source),
        "lock" | "lockfile" => lock(source),
        "svg" | "xml" => marked_up(source),
        "po" | "pot" | "gettext" => catalog(source),
        "patch" | "diff" => patch(source),
        "lfs-pointer" => lfs_pointer(source),
        "pem" | "key" | "source_map" | "sourcemap" | "map" => nameless(source),
        _ => beginning(source),
    }
}

/// Describes only type and size: showing the content would be useless or harmful.
fn nameless(source: &SummaryInput<'_>) -> String {
    format!("{}, {}.", source.file_type.name, words::size(source.text.len()))
}

/// Describes the file that a Git LFS pointer replaces by its size, which is all that is known of it.
fn lfs_pointer(source: &SummaryInput<'_>) -> String {
    let size = source.text.lines().find_map(|line| line.strip_prefix("size ")?.trim().parse::<u64>().ok());
    let name = source.file_type.name;
    size.map_or_else(|| nameless(source), |size| format!("{name}, {size} bytes."))
}

fn table(source: &SummaryInput<'_>) -> String {
    let name = source.file_type.name;
    let head = words::head(source.text, HEAD_BYTES);
    let first = head.lines().next().unwrap_or_default();
    let columns = columns(first, separator(source, first));
    let number = words::count(columns.len(), "column", "columns");
    if !is_header(&columns) {
        let rows = rows(source.lines as usize);
        return format!("{name}, {rows} of {number}, without a header.");
    }
    let mut page = SummaryPage::new(&format!(
        "{name}, {} of {number}.",
        rows((source.lines as usize).saturating_sub(1))
    ));
    page.push_clipped(&format!("Columns: {}", words::join_within(&columns, ", ", 400)), 420);
    page.into_text()
}

fn rows(number: usize) -> String {
    words::count(number, "row", "rows")
}

fn separator(source: &SummaryInput<'_>, header: &str) -> char {
    if source.file_type.id == "tsv" {
        return '\t';
    }
    let count = |separator: char| header.matches(separator).count();
    // Of equal maxima the last one wins, which is the comma.
    ['|', '\t', ';', ','].into_iter().max_by_key(|&separator| count(separator)).unwrap_or(',')
}

fn columns(header: &str, separator: char) -> Vec<String> {
    const MOST: usize = 2000;
    const COLUMN_BYTES: usize = 60;
    let mut in_quotes = false;
    let fields = header.split(|c: char| {
        in_quotes ^= c == '"';
        c == separator && !in_quotes
    });
    fields
        .take(MOST)
        .map(|field| words::clip(&words::one_line(field.trim().trim_matches('"')), COLUMN_BYTES))
        .collect()
}

/// Returns whether a first row names columns: values are often numbers, addresses or empty, names never are.
fn is_header(columns: &[String]) -> bool {
    let is_name = |column: &String| {
        column.chars().any(char::is_alphabetic)
            && !column.contains(['@', '…'])
            && !column.contains(secrets::REDACTED)
    };
    // The first column of a table with an index has no name.
    columns.iter().skip(1).all(is_name)
        && columns.first().is_some_and(|first| first.is_empty() && 1 < columns.len() || is_name(first))
}

fn records(source: &SummaryInput<'_>) -> String {
    let name = source.file_type.name;
    let mut page =
        SummaryPage::new(&format!("{name}, {}.", words::count(source.lines as usize, "record", "records")));
    let first = source.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let record =
        (first.len() <= HEAD_BYTES).then(|| serde_json::from_str::<serde_json::Value>(first).ok()).flatten();
    if let Some(serde_json::Value::Object(record)) = record {
        let keys: Vec<String> = record.keys().take(100).map(|key| words::one_line(key)).collect();
        page.push_clipped(&format!("Keys of the first: {}", words::join_within(&keys, ", ", 400)), 420);
    }
    page.into_text()
}

fn lock(source: &SummaryInput<'_>) -> String {
    let is_package = |line: &&str| *line == "[[package]]" || line.starts_with("    \"node_modules/");
    let packages = source.text.lines().filter(is_package).count();
    // Every lock file is generated, so the word would add nothing.
    let opening = format!("{}, {}", source.file_type.name, words::lines(source.lines));
    if packages == 0 {
        return format!("{opening}.");
    }
    format!("{opening}: {}.", words::count(packages, "package", "packages"))
}

fn marked_up(source: &SummaryInput<'_>) -> String {
    let mut page = SummaryPage::new(&nameless(source));
    if let Some(root) = root(source.text).filter(|root| root != source.file_type.id) {
        page.push_clipped(&format!("Root element: {root}"), 100);
    }
    if let Some(title) = title(source.text) {
        page.push_clipped(&title, 200);
    }
    page.into_text()
}

fn catalog(source: &SummaryInput<'_>) -> String {
    const HEADER_LINES: usize = 60;
    let messages = source.text.lines().filter(|line| line.starts_with("msgid ")).count();
    // The first message is the header.
    let messages = words::count(messages.saturating_sub(1), "message", "messages");
    let language = words::head(source.text, HEAD_BYTES).lines().take(HEADER_LINES).find_map(|line| {
        let value = line.strip_prefix("\"Language: ")?.split(['\\', '"']).next()?;
        (!value.is_empty()).then(|| words::clip(&words::one_line(value), 40))
    });
    match language {
        Some(language) => format!("{}, language {language}: {messages}.", source.file_type.name),
        None => format!("{}: {messages}.", source.file_type.name),
    }
}

fn patch(source: &SummaryInput<'_>) -> String {
    const LOOKED_AT: usize = 20;
    let mut page = SummaryPage::new(&format!("{}.", page::opening(source)));
    if let Some(subject) =
        words::head(source.text, HEAD_BYTES).lines().find_map(|line| line.strip_prefix("Subject: "))
    {
        page.push_clipped(&words::one_line(subject), 160);
    }
    let number = touched_files(source.text).count();
    if 0 < number {
        let names: Vec<String> = touched_files(source.text)
            .take(LOOKED_AT)
            .map(|name| words::clip(&words::one_line(name), 100))
            .collect();
        let files = words::count(number, "file", "files");
        page.push_clipped(&format!("Touches {files}: {}", words::join_within(&names, ", ", 300)), 330);
    }
    page.into_text()
}

/// Returns the files that a patch writes or deletes.
fn touched_files(text: &str) -> impl Iterator<Item = &str> {
    let old = text.lines();
    let new = text.lines().skip(1);
    old.zip(new).filter_map(|(old, new)| {
        // Both lines are required: a deleted comment of SQL (`-- …`) looks like the first of them.
        let (old, new) = (old.strip_prefix("--- ")?, new.strip_prefix("+++ ")?);
        let name = if new.starts_with("/dev/null") { old } else { new };
        let name = name.split('\t').next().unwrap_or(name).trim();
        Some(name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name))
    })
}

/// Describes a text of unknown type by its first line.
pub(crate) fn beginning(source: &SummaryInput<'_>) -> String {
    let mut page = SummaryPage::new(&format!("{}.", page::opening(source)));
    let head = secrets::without_pem(words::head(source.text, HEAD_BYTES));
    let first = head.lines().map(words::one_line).find(|line| line.chars().any(char::is_alphanumeric));
    if let Some(first) = first {
        page.push_clipped(&format!("Begins: {first}"), 200);
    }
    page.into_text()
}

/// Notebooks up to this size are parsed.
const PARSED_BYTES: usize = 8 * 1024 * 1024;

/// Describes a notebook; a malformed or very large one only by its size.
fn describe_notebook(source: &SummaryInput<'_>) -> String {
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
    let lines = notebook.cells.iter().filter(|cell| cell.cell_type == "markdown").flat_map(CellSource::lines);
    let headings = lines.filter(|line| line.starts_with('#'));
    let mut headings = headings.map(|line| words::one_line(line.trim_start_matches('#')));
    if let Some(title) = headings.next() {
        page.push_clipped(&title, 200);
    }
    push_names(&mut page, "Sections: ", &headings.take(LISTED_NAMES).collect::<Vec<_>>());
    if let Some(outline) = source.outline {
        let is_shown =
            |symbol: &&Symbol| matches!(symbol.kind, SymbolKind::Function) || symbol.kind.is_type();
        let defined = outline.symbols.iter().flat_map(|cell| &cell.children).filter(is_shown);
        let mut names: Vec<String> = Vec::new();
        for name in defined.map(|symbol| words::one_line(&symbol.name)).take(LISTED_NAMES) {
            // Cells are often repeated with small changes.
            if !names.contains(&name) {
                names.push(name);
            }
        }
        push_names(&mut page, "Defines: ", &names);
        let imports = outline.imports.iter().map(|name| words::one_line(name)).take(LISTED_NAMES);
        push_names(&mut page, "Imports: ", &imports.collect::<Vec<_>>());
    }
    page.into_text()
}

/// The maximum number of names that are listed of each kind, and the maximum length of their line, in bytes.
const LISTED_NAMES: usize = 60;
const LISTED_BYTES: usize = 160;

fn push_names(page: &mut SummaryPage, label: &str, names: &[String]) {
    let names: Vec<String> = names.iter().filter(|name| !name.is_empty()).cloned().collect();
    if !names.is_empty() {
        let listed = words::join_within(&names, ", ", LISTED_BYTES - label.len());
        page.push_clipped(&format!("{label}{listed}"), LISTED_BYTES);
    }
}

/// The parsed part of a notebook; everything else, such as its outputs, is skipped.
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

/// Returns the text of the first `<title>`.
pub(crate) fn title(text: &str) -> Option<String> {
    let head = words::head(text, HEAD_BYTES);
    let start = find_ignoring_case(head, "<title")?;
    let (_, inside) = head[start..].split_once('>')?;
    let title = words::one_line(inside.split('<').next().unwrap_or_default());
    (!title.is_empty()).then_some(title)
}

/// Returns the name of the root element, such as `urlset` of a sitemap.
pub(crate) fn root(text: &str) -> Option<String> {
    let name = words::head(text, HEAD_BYTES).split('<').skip(1).find_map(|tag| {
        let end = tag.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/'))?;
        Some(&tag[..end]).filter(|name| name.starts_with(char::is_alphabetic))
    })?;
    Some(words::clip(&words::one_line(name), 60))
}

fn find_ignoring_case(text: &str, wanted: &str) -> Option<usize> {
    let windows = text.as_bytes().windows(wanted.len());
    windows.into_iter().position(|window| window.eq_ignore_ascii_case(wanted.as_bytes()))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::summary::tests::check;
    use super::*;

    #[test]
    fn a_git_lfs_pointer_shows_the_size_of_its_file() {
        check(
            "lfs-pointer",
            "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 48123\n",
            expect!["Git LFS pointer, 48123 bytes."],
        );
    }

    #[test]
    fn a_table_shows_its_columns() {
        check(
            "csv",
            "id,\"last, first\",e-mail\n1,a,b\n2,c,d\n",
            expect![[r"
            CSV, 2 rows of 3 columns.
            Columns: id, last, first, e-mail"]],
        );
        check(
            "csv",
            ",name;x,age\n1,2,3\n",
            expect![[r"
            CSV, 1 row of 3 columns.
            Columns: , name;x, age"]],
        );
        check(
            "tsv",
            &format!("a\tb\n{}", "1\t2\n".repeat(480)),
            expect![[r"
            TSV, about 500 rows of 2 columns.
            Columns: a, b"]],
        );
        check("csv", "1,2,3\n4,5,6\n", expect!["CSV, 2 rows of 3 columns, without a header."]);
        check("csv", "Jo,jo@x.org,77\n", expect!["CSV, 1 row of 3 columns, without a header."]);
    }

    #[test]
    fn records_show_the_keys_of_the_first_one() {
        check(
            "jsonl",
            "{\"id\": 1, \"secret\": \"abc\"}\n{\"id\": 2}\n",
            expect![[r"
                JSON Lines, 2 records.
                Keys of the first: id, secret"]],
        );
        check("jsonl", "broken\n", expect!["JSON Lines, 1 record."]);
    }

    #[test]
    fn a_lock_file_counts_its_packages() {
        check(
            "lock",
            &"# This file is automatically @generated by Cargo.\n[[package]]\nname = \"a\"\n".repeat(42),
            expect!["Lock file, about 100 lines: about 50 packages."],
        );
        check("lock", "a v1 h1:x=\n", expect!["Lock file, 1 line."]);
    }

    #[test]
    fn markup_shows_its_root_and_title() {
        check(
            "svg",
            "<svg xmlns='x'><title>Logo</title></svg>",
            expect![[r"
            SVG, under 1 KiB.
            Logo"]],
        );
        check(
            "xml",
            "<?xml version='1.0'?>\n<project><name>x</name></project>",
            expect![[r"
                XML, under 1 KiB.
                Root element: project"]],
        );
    }

    #[test]
    fn a_catalog_counts_its_messages() {
        check(
            "po",
            "msgid \"\"\nmsgstr \"\"\n\"Language: de\\n\"\n\nmsgid \"a\"\nmsgstr \"b\"\n",
            expect!["Gettext catalog, language de: 1 message."],
        );
    }

    #[test]
    fn a_patch_names_the_files_it_touches() {
        check(
            "patch",
            "Subject: [PATCH] Mend it\n---\n--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ /dev/null\n",
            expect![[r"
                Patch, a few lines.
                [PATCH] Mend it
                Touches 2 files: x.c, y"]],
        );
    }

    #[test]
    fn a_key_is_never_shown() {
        check("pem", "-----BEGIN PRIVATE KEY-----\nMIIE\n", expect!["PEM, under 1 KiB."]);
        check(
            "unknown",
            "-----BEGIN PRIVATE KEY-----\nMIIE\n",
            expect![[r"
            Text, a few lines.
            Begins: [redacted]"]],
        );
    }

    #[test]
    fn a_log_shows_its_first_line() {
        check(
            "log",
            "\x1b[32m2020-01-01 INFO start user=me password=hunter2\x1b[0m\nnext\n",
            expect![[r"
                Log, a few lines.
                Begins: 2020-01-01 INFO start user=me password=[redacted]"]],
        );
    }

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
    fn a_notebook_may_be_incomplete_or_malformed() {
        check("notebook", "{\"cells\": []}", expect!["Jupyter notebook: 0 cells."]);
        check("notebook", "{\"cells\": 3}", expect!["Jupyter notebook that does not parse, under 1 KiB."]);
        check("notebook", "<html>", expect!["Jupyter notebook that does not parse, under 1 KiB."]);
    }

    #[test]
    fn a_title_and_a_root_are_found() {
        let page =
            "<?xml version=\"1.0\"?><!-- <no> --><svg width='1'><TITLE lang=en> A\nlogo </TITLE></svg>";
        assert_eq!(title(page).as_deref(), Some("A logo"));
        assert_eq!(root("<?xml?>\n<!DOCTYPE x>\n<svg a='b'>").as_deref(), Some("svg"));
    }

    #[test]
    fn malformed_markup_has_none() {
        for text in ["", "<", "<title", "<title>", "<title></title>", "é<é"] {
            assert_eq!(title(text), None, "{text}");
        }
        assert_eq!(root("a < b"), None);
    }
}

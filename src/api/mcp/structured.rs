//! Answers with a structured value in addition to their text: the states of files, and definitions of names.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::StatusArguments;
use super::show::{MAX_CHARACTERS, ToolOutput, shorten, truncate};
use crate::api::fault::ApiError;
use crate::api::wire::{FileState, FileStates, FoundSymbol, spelled_path};
use crate::model::{printable, printable_lines};

/// The most files that are listed in one answer.
const MAX_FILES: usize = 100;

/// What `slop_status` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StatusPage {
    /// How many files of the project are in each state.
    counts: StateCounts,
    /// How many files are as they were asked for.
    matching: usize,
    /// These files, or the first of them, by path.
    files: Vec<StatusFile>,
    /// What to give as `cursor` for the files after these; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    next_cursor: Option<String>,
}

/// How many files of the project are in each state.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct StateCounts {
    /// The cache holds their contents.
    fresh: usize,
    /// They may have changed since they were read.
    stale: usize,
    /// They were never read.
    new: usize,
    /// They are no text that can be shown.
    left_out: usize,
}

/// One file.
#[derive(Debug, Serialize, JsonSchema)]
struct StatusFile {
    /// The file, from the project's root.
    path: String,
    /// `fresh`, `stale`, `new` or `left_out`.
    state: String,
    /// Why it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    reason: Option<String>,
    /// What it is written in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    language: Option<String>,
}

/// Returns the counts, and one page of the files.
pub(super) fn files(states: FileStates, arguments: &StatusArguments, below: Option<&str>) -> ToolOutput {
    let FileStates { mut files, .. } = states;
    // Counted before filtering: the counts describe the project, not the page.
    let counts = count_states(&files);
    files.retain(|file| {
        let is_below = below.is_none_or(|folder| is_below_folder(&file.path, folder));
        is_below && arguments.state.is_none_or(|state| state.name() == file.state)
    });
    let matching = files.len();
    let (files, next_cursor) = page_of_files(files, arguments.cursor.as_deref(), MAX_FILES);
    let files = files.into_iter().map(|file| {
        let FileState { path, state, reason, language, .. } = file;
        StatusFile { path, state, reason, language }
    });
    let page = StatusPage { counts, matching, files: files.collect(), next_cursor };
    let text = page_text(&page);
    let structured = serde_json::to_value(page).expect("strings and numbers become JSON");
    ToolOutput { text, structured: Some(structured), long: None }
}

/// Returns the page of the files after the path `cursor`, by path, and the cursor for the next page. A name that is not
/// UTF-8 is escaped.
pub(super) fn page_of_files(
    mut files: Vec<FileState>,
    cursor: Option<&str>,
    most: usize,
) -> (Vec<FileState>, Option<String>) {
    for file in &mut files {
        file.path = spelled_path(&file.path, file.path_hex.as_deref());
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    // The cursor is a path instead of an offset, so that added or removed files do not shift the next page.
    files.retain(|file| cursor.is_none_or(|cursor| cursor < file.path.as_str()));
    let has_more = most < files.len();
    files.truncate(most);
    let next_cursor = files.last().filter(|_| has_more).map(|file| file.path.clone());
    (files, next_cursor)
}

fn count_states(files: &[FileState]) -> StateCounts {
    let mut counts = StateCounts::default();
    for file in files {
        match file.state.as_str() {
            "fresh" => counts.fresh += 1,
            "stale" => counts.stale += 1,
            "new" => counts.new += 1,
            _ => counts.left_out += 1,
        }
    }
    counts
}

fn is_below_folder(path: &str, folder: &str) -> bool {
    // Compared by whole components: `src` is not the folder of `srcs/a.py`.
    let is_root = folder.is_empty() || folder == ".";
    is_root || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn page_text(page: &StatusPage) -> String {
    let StateCounts { fresh, stale, new, left_out } = page.counts;
    let mut text = format!("{fresh} fresh, {stale} stale, {new} new, {left_out} left out\n");
    for file in &page.files {
        let about = file.reason.as_ref().or(file.language.as_ref());
        let about = about.map_or(String::new(), |about| format!(" ({about})"));
        writeln!(text, "{} {}{about}", file.state, printable(&file.path))
            .expect("writing to a String does not fail");
    }
    if page.matching == 0 {
        text.push_str("[no file matches]\n");
    }
    if let Some(cursor) = &page.next_cursor {
        let (shown, cursor) = (page.files.len(), serde_json::Value::from(cursor.as_str()));
        writeln!(
            text,
            "[cut: {shown} of {} files are listed; for more give \"cursor\": {cursor}, or narrow by `state` or `below`]",
            page.matching,
        )
        .expect("writing to a String does not fail");
    }
    text
}

/// The most symbols that are shown.
const MAX_SYMBOLS: usize = 50;

/// What `slop_symbol` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SymbolList {
    /// How many symbols have the name.
    total: usize,
    /// The first of them, by path and line.
    symbols: Vec<SymbolLocation>,
}

/// One symbol that has the name.
#[derive(Debug, Serialize, JsonSchema)]
struct SymbolLocation {
    /// The file, from the project's root.
    path: String,
    /// The first line, counted from 1.
    start_line: u32,
    /// The last line, inclusive.
    end_line: u32,
    /// What it is: `function`, `class`.
    kind: String,
    /// Its name with those of the symbols around it.
    qualified_name: String,
    /// Its signature.
    signature: String,
    /// The text, where it was asked for; its beginning, where it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    definition: Option<String>,
}

/// Returns the definitions, each with its signature or its text, as far as they fit. If there are none, the notes
/// become part of the error, because they suggest similar names.
pub(super) fn symbols(
    mut all: Vec<FoundSymbol>,
    name: &str,
    notes: &[String],
) -> Result<ToolOutput, ApiError> {
    if all.is_empty() {
        let mut message = format!("no symbol named `{}` in the project", printable(name));
        for note in notes {
            message.push_str("; ");
            message.push_str(&printable(note));
        }
        let message = shorten(message);
        return Err(ApiError::user("not_found", message, "slop_outline lists the symbols of a file"));
    }
    let total = all.len();
    all.truncate(MAX_SYMBOLS);
    // All symbols get the same share, so that one long definition does not displace the others.
    let share = MAX_CHARACTERS / all.len();
    let mut text = String::new();
    let symbols = all.into_iter().map(|symbol| write_symbol(&mut text, symbol, share)).collect();
    if MAX_SYMBOLS < total {
        writeln!(text, "[cut: {MAX_SYMBOLS} of {total} are shown; give more of the qualified name]")
            .expect("writing to a String does not fail");
    }
    let list = serde_json::to_value(SymbolList { total, symbols }).expect("strings and numbers become JSON");
    Ok(ToolOutput { text, structured: Some(list), long: None })
}

fn write_symbol(text: &mut String, symbol: FoundSymbol, characters: usize) -> SymbolLocation {
    let path = spelled_path(&symbol.path, symbol.path_hex.as_deref());
    let FoundSymbol { kind, qualified_name, start_line, end_line, signature, doc, definition, .. } = symbol;
    let place = format!("{}:{start_line}-{end_line}", printable(&path));
    writeln!(text, "{place} [{kind}] {}", printable(&qualified_name))
        .expect("writing to a String does not fail");
    // The text and the structured value are cut in the same way, so that a client may use either.
    let mut shown = definition.as_deref().unwrap_or(&signature);
    let is_cut = truncate(shown, characters).map(|cut| shown = cut.head).is_some();
    writeln!(text, "{}", printable_lines(shown.trim_end_matches(['\n', '\r'])))
        .expect("writing to a String does not fail");
    if is_cut {
        writeln!(text, "[cut: slop_view shows the lines {start_line}-{end_line}]")
            .expect("writing to a String does not fail");
    }
    // The text of a definition includes its documentation.
    if let (Some(doc), None) = (&doc, &definition) {
        writeln!(text, "{}", printable(doc)).expect("writing to a String does not fail");
    }
    text.push('\n');
    let shown = shown.to_owned();
    let (signature, definition) = if definition.is_some() { (signature, Some(shown)) } else { (shown, None) };
    SymbolLocation { path, start_line, end_line, kind, qualified_name, signature, definition }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn names_that_look_alike_in_utf_8_are_on_successive_pages() {
        let file = |path: &str, hex: Option<&str>| json!({"path": path, "path_hex": hex, "state": "fresh"});
        let mut all: Vec<Value> = (1..MAX_FILES).map(|at| file(&format!("a{at:03}"), None)).collect();
        all.extend(["62fe", "62ff"].map(|hex| file("b\u{fffd}", Some(hex))));
        let states: FileStates = serde_json::from_value(json!({"files": all})).unwrap();
        let page = |cursor: Option<String>| {
            let arguments = StatusArguments { cursor, ..StatusArguments::default() };
            files(states.clone(), &arguments, None).structured.unwrap()
        };
        let first = page(None);
        let second = page(first["next_cursor"].as_str().map(str::to_owned));
        assert_eq!(first["files"][MAX_FILES - 1]["path"], "b\\xfe");
        assert_eq!(second["files"][0]["path"], "b\\xff");
    }
}

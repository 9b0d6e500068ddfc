//! Cells as a script.

use std::fmt::Write;

use super::cells::CellKind;
use super::cells::NotebookCell;

/// Prose of more lines than this is cut to its beginning.
const MOST_PROSE: usize = 12;

/// Returns the code of a cell with what only the notebook understands in comments: `%magic`, `!command`, `name?`. A cell
/// that is handed to another program (`%%bash`) is a comment throughout.
pub(super) fn code_without_magics(cell: &NotebookCell) -> String {
    let mut code = String::new();
    let first = cell.lines.iter().find(|line| !line.text.trim().is_empty());
    let is_elsewhere = first.is_some_and(|line| {
        let name = line.text.trim_start().strip_prefix("%%").map(|rest| rest.split(' ').next());
        // These run what follows as Python.
        name.flatten().is_some_and(|name| !["capture", "prun", "time", "timeit"].contains(&name))
    });
    for line in &cell.lines {
        if is_elsewhere || is_magic(&line.text) {
            code.push_str("# ");
        }
        code.push_str(&line.text);
        code.push('\n');
    }
    code
}

/// Says whether a line is for the notebook itself: `%magic`, `!command`, `name?`.
pub(super) fn is_magic(line: &str) -> bool {
    let line = line.trim();
    line.starts_with(['%', '!', '?']) || (line.ends_with('?') && !line.contains(['#', '"', '\'']))
}

/// Appends a cell, with `comment` before what is no code; of its code what `code` has left of it, where that is known.
pub(super) fn write_cell(script: &mut String, cell: &NotebookCell, comment: &str, code: Option<String>) {
    if !script.is_empty() {
        script.push('\n');
    }
    let kind = match cell.kind {
        CellKind::Code => "",
        CellKind::Markdown => " [markdown]",
        CellKind::Raw => " [raw]",
    };
    let _ = writeln!(script, "{comment} %%{kind}");
    match (cell.kind, code) {
        (CellKind::Code, Some(code)) => script.push_str(&code),
        (CellKind::Code, None) => write_lines(script, cell, "", usize::MAX),
        (CellKind::Markdown | CellKind::Raw, _) => {
            write_lines(script, cell, &format!("{comment} "), MOST_PROSE);
        }
    }
    if !script.ends_with('\n') {
        script.push('\n');
    }
    if 0 < cell.output_bytes {
        let _ = writeln!(script, "{comment} output left out: {} bytes", cell.output_bytes);
    }
}

fn write_lines(script: &mut String, cell: &NotebookCell, mark: &str, most: usize) {
    for line in cell.lines.iter().take(most) {
        script.push_str(format!("{mark}{}", line.text).trim_end());
        script.push('\n');
    }
    let more = cell.lines.len().saturating_sub(most);
    if 0 < more {
        let _ = writeln!(script, "{mark}… {}", crate::syntax::walk::format_line_count(more));
    }
}

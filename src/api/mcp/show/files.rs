//! The state of files.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;

use super::ToolOutput;
use crate::api::mcp::arguments::StatusArguments;
use crate::api::wire::{FileState, FileStates, spelled_path};
use crate::model::printable;

/// So many files are listed in one answer.
const MAX_FILES: usize = 100;

/// What `slop_status` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::api::mcp) struct StatusPage {
    /// How many files of the project are in each state.
    counts: StateCounts,
    /// How many files are as they were asked for.
    matching: usize,
    /// These files, or the first of them, by path.
    files: Vec<StatusFile>,
    /// What to give as `cursor` for the files behind these; absent at the end.
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
pub(in crate::api::mcp) fn files(
    states: FileStates,
    arguments: &StatusArguments,
    below: Option<&str>,
) -> ToolOutput {
    let FileStates { mut files } = states;
    let counts = count_states(&files);
    files.retain(|file| {
        let is_below = below.is_none_or(|folder| is_below_folder(&file.path, folder));
        is_below && arguments.state.is_none_or(|state| state.name() == file.state)
    });
    let matching = files.len();
    // By the path as it is sent, because a cursor is compared with that.
    files.sort_by(|a, b| a.path.cmp(&b.path));
    if let Some(cursor) = &arguments.cursor {
        files.retain(|file| cursor < &file.path);
    }
    let has_more = MAX_FILES < files.len();
    files.truncate(MAX_FILES);
    let next_cursor = files.last().filter(|_| has_more).map(|file| file.path.clone());
    let files = files.into_iter().map(|file| {
        let path = spelled_path(&file.path, file.path_hex.as_deref());
        let FileState { state, reason, language, .. } = file;
        StatusFile { path, state, reason, language }
    });
    let page = StatusPage { counts, matching, files: files.collect(), next_cursor };
    let text = page_text(&page);
    let structured = serde_json::to_value(page).expect("strings and numbers become JSON");
    ToolOutput { text, structured: Some(structured) }
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
    let is_root = folder.is_empty() || folder == ".";
    is_root || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn page_text(page: &StatusPage) -> String {
    let StateCounts { fresh, stale, new, left_out } = page.counts;
    let mut text = format!("{fresh} fresh, {stale} stale, {new} new, {left_out} left out\n");
    for file in &page.files {
        let about = file.reason.as_ref().or(file.language.as_ref());
        let about = about.map_or(String::new(), |about| format!(" ({about})"));
        writeln!(text, "{} {}{about}", file.state, printable(&file.path)).expect("a String takes all");
    }
    if let Some(cursor) = &page.next_cursor {
        let (shown, cursor) = (page.files.len(), serde_json::Value::from(cursor.as_str()));
        writeln!(
            text,
            "[cut: {shown} of {} files are listed; for more give \"cursor\": {cursor}, or narrow by `state` or `below`]",
            page.matching,
        )
        .expect("a String takes all");
    }
    text
}

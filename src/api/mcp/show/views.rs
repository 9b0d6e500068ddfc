//! Views of files.

use super::ToolOutput;
use crate::api::mcp::cut::{MAX_CHARACTERS, TruncatedText, truncate};
use crate::api::wire::{FileView, spelled_path};
use crate::model::printable;
use crate::render;

/// A file of which no more than so many characters could be shown is left to another call.
const MIN_CHARACTERS: usize = 200;

/// So many files that are left to another call are named.
const MAX_NAMED: usize = 20;

/// Returns the files under a heading each, as far as an agent can take them.
pub(in crate::api::mcp) fn views(views: &[FileView]) -> ToolOutput {
    let mut text = String::new();
    let mut left = MAX_CHARACTERS;
    for (place, view) in views.iter().enumerate() {
        if left < MIN_CHARACTERS && 0 < place {
            text.push_str(&omitted_notice(&views[place..]));
            break;
        }
        let characters = view.text.chars().count();
        text.push_str(&heading(view));
        match truncate(&view.text, left) {
            None => write_body(&mut text, view, &view.text),
            Some(cut) => {
                write_body(&mut text, view, cut.head);
                text.push_str(&cut_notice(view, &cut, characters));
            }
        }
        left = left.saturating_sub(characters);
    }
    ToolOutput { text, structured: None }
}

fn view_path(view: &FileView) -> String {
    spelled_path(&view.path, view.path_hex.as_deref())
}

fn heading(view: &FileView) -> String {
    let why = view.why.as_ref().map_or(String::new(), |why| format!(" ({})", printable(why)));
    format!("### {}\n{}{why}\n", printable(&view_path(view)), printable(&view.head))
}

fn write_body(text: &mut String, view: &FileView, body: &str) {
    // What could not be shown has its reason in the heading.
    if body.is_empty() && view.sha256.is_none() {
        text.push('\n');
        return;
    }
    let language = match view.view.as_str() {
        "full" | "skeleton" | "masked" | "custom" | "ast_definitions" => &view.language,
        "diff" => "diff",
        _ => "",
    };
    text.push('\n');
    render::write_fenced(text, language, body);
    text.push('\n');
}

/// Returns the call with which an agent gets the rest.
fn cut_notice(view: &FileView, cut: &TruncatedText<'_>, characters: usize) -> String {
    let path = serde_json::Value::from(view_path(view));
    let shown = cut.head.chars().count();
    if cut.is_within_line {
        return format!(
            "[cut: {shown} of {characters} characters are shown; the line is too long for more]\n"
        );
    }
    if view.view == "full" {
        let (next, last) = (cut.lines + 1, view.text.lines().count());
        return format!(
            "[cut: lines {next}-{last} of {last} are not shown; for the rest call slop_view with \
             {{\"files\": [{path}], \"lines\": [{{\"start\": {next}, \"end\": {last}}}]}}]\n",
        );
    }
    format!(
        "[cut: {shown} of {characters} characters are shown; for the rest call slop_view with \
         {{\"files\": [{path}]}} and narrower `lines` or `symbols`]\n",
    )
}

fn omitted_notice(views: &[FileView]) -> String {
    let names: Vec<String> = views.iter().take(MAX_NAMED).map(|view| printable(&view_path(view))).collect();
    let more = views.len() - names.len();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let count = if views.len() == 1 { "1 file is".to_owned() } else { format!("{} files are", views.len()) };
    format!(
        "[cut: {count} not shown: {}{more}; name what you need, or a narrower folder, in another call]\n",
        names.join(", "),
    )
}

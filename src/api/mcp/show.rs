//! The text of answers for a model: documents, views and outlines, limited to the size of a message and cut at line
//! ends if possible.

use std::fmt::Write;

use super::kept::LongAnswer;
use crate::api::fault::ApiError;
use crate::api::wire::{
    ComposedDocument, DocumentReceipt, FileOutline, FileView, SearchResult, SymbolNode, display_path,
    spelled_path,
};
use crate::engine::UNKNOWN_SYMBOLS;
use crate::model::printable;
use crate::render;

#[derive(Debug)]
pub(super) struct ToolOutput {
    pub(super) text: String,
    /// The answer in the form of the tool's output schema, if it has one.
    pub(super) structured: Option<serde_json::Value>,
    /// The rest of the answer, to be kept for a while.
    pub(super) long: Option<LongAnswer>,
}

impl ToolOutput {
    pub(super) const fn text(text: String) -> Self {
        Self { text, structured: None, long: None }
    }
}

/// A note that maps the commands in a document to tools. The document itself is the same for all readers, so that they
/// share the provider's cache.
const VIEW_COMMANDS: &str = "\n[`slop view PATH --lines A-B --mask NAME=def` in the document is the tool slop_view with \
     files [PATH], lines [A-B], symbols [NAME]]";

/// The most missing paths that are listed.
const MAX_MISSING: usize = 10;

/// Returns the document, followed by notes about it. It is not cut, because its budget is what the agent requested.
/// With `as_links`, it is kept, and only links to its parts are returned.
pub(super) fn document(document: ComposedDocument, as_links: bool) -> ToolOutput {
    let ComposedDocument { text, receipt, .. } = document;
    let mut text = text.map_or_else(String::new, |text| text.text().into_owned());
    let mut words = summary(&receipt);
    if [": slop view ", "@@ slop view "].iter().any(|command| text.contains(command)) {
        words.push_str(VIEW_COMMANDS);
    }
    if as_links {
        let long = Some(LongAnswer::of_all(&text));
        return ToolOutput { text: words, structured: None, long };
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push('\n');
    text.push_str(&words);
    ToolOutput::text(text)
}

fn summary(receipt: &DocumentReceipt) -> String {
    let totals = &receipt.totals;
    let named = totals.named();
    let budget = receipt.budget_tokens.map_or(String::new(), |budget| format!(" of {budget}"));
    let (tokens, counter) = (receipt.tokens, &receipt.tokens_counted_by);
    let shown = totals.files - named;
    let files = if shown == 1 { "file" } else { "files" };
    let mut words = format!(
        "[{tokens} tokens{budget}, by {counter}; {shown} {files} shown, {named} more named; {} left out]",
        totals.left_out.values().sum::<u64>(),
    );
    for missing in receipt.missing.iter().take(MAX_MISSING) {
        let missing = shorten(format!("{}: {}", printable(&missing.word), printable(&missing.why)));
        write!(words, "\n[{missing}]").expect("writing to a String does not fail");
    }
    if MAX_MISSING < receipt.missing.len() {
        write!(words, "\n[{} more words mean no file]", receipt.missing.len() - MAX_MISSING)
            .expect("writing to a String does not fail");
    }
    words
}

/// A file of which fewer characters could be shown is left for another call.
const MIN_CHARACTERS: usize = 200;

/// The most omitted files that are named.
const MAX_NAMED: usize = 20;

/// Returns the files, each under a heading, as far as they fit.
pub(super) fn views(views: &[FileView]) -> ToolOutput {
    let mut text = String::new();
    let mut left = MAX_CHARACTERS;
    for (place, view) in views.iter().enumerate() {
        // The first file is always shown, cut if necessary: an answer without any text would be useless.
        if left < MIN_CHARACTERS && 0 < place {
            text.push_str(&omitted_notice(&views[place..]));
            break;
        }
        let (characters, begin) = (view.text.chars().count(), text.len());
        text.push_str(&heading(view));
        match truncate(&view.text, left) {
            None => write_body(&mut text, view, &view.text),
            Some(cut) => {
                write_body(&mut text, view, cut.head);
                text.push_str(&cut_notice(view, &cut, characters));
            }
        }
        // With the heading, which may be longer than what follows it.
        left = left.saturating_sub(text[begin..].chars().count());
    }
    ToolOutput::text(text)
}

/// Returns an error if none of the files has any of the requested symbols.
pub(super) fn check_symbols(views: &[FileView]) -> Result<(), ApiError> {
    let unknown = |view: &FileView| {
        let why = view.why.as_ref().filter(|why| view.view != "masked" && why.contains(UNKNOWN_SYMBOLS))?;
        Some(format!("{}: {}", printable(&view_path(view)), printable(why)))
    };
    let reasons: Option<Vec<String>> = views.iter().map(unknown).collect();
    match reasons {
        Some(reasons) if !reasons.is_empty() => {
            let hint = "slop_outline shows the symbols of files";
            Err(ApiError::user("no_such_symbol", shorten(reasons.join("; ")), hint))
        }
        _ => Ok(()),
    }
}

fn view_path(view: &FileView) -> String {
    spelled_path(&view.path, view.path_hex.as_deref())
}

fn heading(view: &FileView) -> String {
    let why = view.why.as_ref().map_or(String::new(), |why| format!(" ({})", printable(why)));
    // Escaped, because a line break in a name could forge the heading of another file. The text itself is inside a
    // fence.
    format!("### {}\n{}{why}\n", printable(&view_path(view)), printable(&view.head))
}

fn write_body(text: &mut String, view: &FileView, body: &str) {
    // For a file that could not be shown, the heading has the reason.
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

/// Returns a notice with the call for the rest.
fn cut_notice(view: &FileView, cut: &TruncatedText<'_>, characters: usize) -> String {
    let path = serde_json::Value::from(view_path(view));
    let shown = cut.head.chars().count();
    if cut.is_within_line {
        return format!(
            "[cut: {shown} of {characters} characters are shown; the line is too long for more]\n"
        );
    }
    // Only the lines of a full text are numbered as in the file, so only here a range continues the answer exactly.
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

/// Returns hits, one per line, with the parts of their scores.
pub(super) fn hits(found: &SearchResult) -> ToolOutput {
    let mut text = String::new();
    for hit in &found.hits {
        let path = display_path(&hit.path, hit.path_hex.as_deref());
        let lines = match (hit.start_line, hit.end_line) {
            (Some(first), Some(last)) => format!(":{first}-{last}"),
            (_, _) => String::new(),
        };
        let name = hit.name.as_deref().map(|name| format!(" {}", printable(name))).unwrap_or_default();
        let parts: Vec<&str> = hit.score.parts.iter().map(|part| part.part.as_str()).collect();
        let _ = writeln!(text, "{path}{lines} [{}]{name} · {}", hit.kind, parts.join(", "));
    }
    if found.hits.is_empty() {
        text.push_str(if found.matched {
            "[nothing of that kind matches]\n"
        } else {
            "[nothing in the project matches]\n"
        });
    }
    ToolOutput::text(text)
}

/// Returns the symbols, one per line with their lines in the file, as far as they fit.
pub(super) fn outlines(outlines: &[FileOutline]) -> ToolOutput {
    let mut text = String::new();
    for outline in outlines {
        let FileOutline { path, path_hex, language, symbols, .. } = outline;
        let path = spelled_path(path, path_hex.as_deref());
        let length = outline.length();
        writeln!(text, "### {}\n{language} · {length}", printable(&path))
            .expect("writing to a String does not fail");
        for symbol in symbols {
            write_symbol(&mut text, symbol, 0);
        }
        if symbols.is_empty() {
            text.push_str(&outline.without_symbols());
        }
        text.push('\n');
    }
    if outlines.is_empty() {
        text.push_str("[none of these files has an outline; slop_view shows them]\n");
    }
    let Some(cut) = truncate(&text, MAX_CHARACTERS) else { return ToolOutput::text(text) };
    // The headings are cut with the rest, so the file in which the text ends is found by the last heading.
    let last = cut.head.lines().rev().find_map(|line| line.strip_prefix("### ")).unwrap_or_default();
    let (shown, all) = (cut.head.chars().count(), text.chars().count());
    let words = format!(
        "[cut within {last}: {shown} of {all} characters are shown; for the rest call slop_outline with fewer files, \
         or slop_view with mode `summary`]\n",
    );
    let long = Some(LongAnswer::after_first(&text));
    ToolOutput { text: format!("{}{words}", cut.head), structured: None, long }
}

fn write_symbol(text: &mut String, symbol: &SymbolNode, depth: usize) {
    let SymbolNode { kind, qualified_name, start_line, end_line, signature, children, .. } = symbol;
    let words = if signature.is_empty() { qualified_name } else { signature };
    let (indent, words) = ("  ".repeat(depth), printable(words));
    writeln!(text, "{indent}{start_line}-{end_line} [{kind}] {words}")
        .expect("writing to a String does not fail");
    for child in children {
        write_symbol(text, child, depth + 1);
    }
}

/// The most characters of an answer, without the notes about it: about 10,000 tokens, which is less than the limit at
/// which common clients silently truncate.
pub(super) const MAX_CHARACTERS: usize = 40_000;

/// The most characters of an agent's own text that an error repeats.
const MAX_QUOTED: usize = 1_000;

/// Shortens a message that may contain an agent's own text of any length.
pub(super) fn shorten(words: String) -> String {
    match words.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct TruncatedText<'a> {
    pub(super) head: &'a str,
    /// The number of shown lines; the last one is partial if `is_within_line`.
    pub(super) lines: usize,
    /// Whether the cut is within a line, because the first line alone is too long.
    pub(super) is_within_line: bool,
}

/// Returns the beginning of a text of at most this many characters; `None` if all of it fits.
pub(super) fn truncate(text: &str, characters: usize) -> Option<TruncatedText<'_>> {
    let (end, _) = text.char_indices().nth(characters)?;
    let head = &text[..end];
    // A partial line would look complete to a model, and could change the meaning of code.
    match head.rfind('\n') {
        Some(at) => {
            let head = &head[..=at];
            Some(TruncatedText { head, lines: head.matches('\n').count(), is_within_line: false })
        }
        None => Some(TruncatedText { head, lines: 1, is_within_line: true }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_after_a_line() {
        assert_eq!(truncate("a\nb\n", 4), None);
        let head = |head, lines, is_within_line| Some(TruncatedText { head, lines, is_within_line });
        assert_eq!(truncate("a\nbcd\n", 4), head("a\n", 1, false));
        assert_eq!(truncate("äöü", 2), head("äö", 1, true));
        assert_eq!(truncate("", 0), None);
        assert_eq!(truncate("a", 0), head("", 1, true));
    }
}

//! Docs within a skeleton: where they are, and the skeleton with less of them.
//!
//! A skeleton is stored with its docs in full. What a shorter view of them leaves out is recorded with it, so that no
//! view needs another parse.

use std::borrow::Cow;
use std::ops::Range;

use crate::model::{DocsDetail, Skeleton, SkeletonDoc};
use crate::syntax::text::{DocBreak, SourceText, comment_break, is_license_text};

/// A comment or a docstring of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::syntax) struct SourceDoc {
    /// All of it, its markers included.
    pub(in crate::syntax) range: Range<usize>,
    /// What follows the first paragraph, and what replaces that; `None` if the first paragraph is all.
    pub(in crate::syntax) rest: Option<(Range<usize>, String)>,
    /// What must replace it where no doc is shown, so that the code around it stays valid.
    pub(in crate::syntax) placeholder: &'static str,
}

/// Returns the docs that comments are, each run of comments as one. Comments that stand alone on their lines form a run
/// if no blank line is between them.
pub(super) fn comment_docs(source: &SourceText<'_>, mut comments: Vec<Range<usize>>) -> Vec<SourceDoc> {
    comments.sort_by_key(|comment| (comment.start, comment.end));
    let mut runs: Vec<(Range<usize>, bool)> = Vec::new();
    for comment in comments {
        let comment = comment.start..comment.start + source.text(comment.clone()).trim_end().len();
        let is_alone = source.line_prefix(comment.start).trim().is_empty();
        match runs.last_mut() {
            Some((run, _)) if comment.start < run.end => {}
            Some((run, true)) if is_alone && is_one_line_end(source.text(run.end..comment.start)) => {
                run.end = comment.end;
            }
            _ => runs.push((comment, is_alone)),
        }
    }
    let mut docs = Vec::new();
    for (range, _) in runs {
        let text = source.text(range.clone());
        if is_directive(text) {
            continue;
        }
        let rest = comment_break(text);
        let first = rest.as_ref().map_or(text, |rest| &text[..rest.at]);
        let rest = if docs.is_empty() && is_license_text(first) {
            // At the head of a file it says nothing about the file.
            Some((range.clone(), String::new()))
        } else {
            rest.map(|DocBreak { at, mark }| (range.start + at..range.end, mark))
        };
        docs.push(SourceDoc { range, rest, placeholder: "" });
    }
    docs
}

/// Returns whether a text is white space with the end of one line in it.
fn is_one_line_end(between: &str) -> bool {
    between.trim().is_empty() && between.matches('\n').count() == 1
}

/// Returns whether a comment is read by a program, so that the code would not mean the same without it.
fn is_directive(comment: &str) -> bool {
    let starts = ["#!", "//go:", "// +build", "//export ", "#cgo", "// swift-tools-version", "#["];
    starts.iter().any(|start| comment.starts_with(start))
}

/// Returns where a doc is in the skeleton, if all of it is in the part of the source that begins at `from` and is kept
/// in the skeleton from `at` on.
pub(super) fn place_doc(doc: &SourceDoc, from: usize, at: usize) -> SkeletonDoc {
    let place = |range: &Range<usize>| range.start - from + at..range.end - from + at;
    let end = doc.range.end - from + at;
    SkeletonDoc {
        range: place(&doc.range),
        rest: doc.rest.as_ref().map_or(end..end, |(rest, _)| place(rest)),
        mark: doc.rest.as_ref().map_or_else(String::new, |(_, mark)| mark.clone()),
        placeholder: doc.placeholder.to_owned(),
    }
}

/// Returns the text of a skeleton with as much of its docs as is asked for.
pub fn skeleton_text(skeleton: &Skeleton, detail: DocsDetail) -> Cow<'_, str> {
    if detail == DocsDetail::Full || skeleton.docs.is_empty() {
        return Cow::Borrowed(&skeleton.text);
    }
    let text = &skeleton.text;
    // What comes from the store may be anything.
    let is_in_text = |range: &Range<usize>| text.get(range.clone()).is_some();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for doc in skeleton.docs.iter().filter(|doc| is_in_text(&doc.range) && is_in_text(&doc.rest)) {
        let Some((range, mark)) = replacement(text, doc, detail) else { continue };
        let Some(kept) = text.get(at..range.start) else { continue };
        out.push_str(kept);
        out.push_str(mark);
        at = range.end;
    }
    out.push_str(&text[at..]);
    Cow::Owned(out)
}

/// Returns what is replaced of a doc, and by what; `None` if it stays as it is.
fn replacement<'d>(text: &str, doc: &'d SkeletonDoc, detail: DocsDetail) -> Option<(Range<usize>, &'d str)> {
    let is_removed = match detail {
        DocsDetail::Full => return None,
        DocsDetail::Brief => doc.rest == doc.range,
        DocsDetail::None => true,
    };
    if !is_removed {
        return (doc.mark.len() < doc.rest.len()).then(|| (doc.rest.clone(), doc.mark.as_str()));
    }
    if !doc.placeholder.is_empty() {
        return Some((doc.range.clone(), &doc.placeholder));
    }
    Some(with_line(text, &doc.range))
}

/// Returns a range with the lines that would be blank without it. In the middle of a line a space remains, which keeps
/// the names on either side apart.
fn with_line(text: &str, range: &Range<usize>) -> (Range<usize>, &'static str) {
    let before = text[..range.start].trim_end_matches([' ', '\t']);
    let blank = text[range.end..].len() - text[range.end..].trim_start_matches([' ', '\t']).len();
    let after = &text[range.end + blank..];
    let line_end = if after.starts_with("\r\n") { 2 } else { usize::from(after.starts_with('\n')) };
    if line_end == 0 && !after.is_empty() {
        return (range.clone(), " ");
    }
    let is_alone = before.is_empty() || before.ends_with('\n');
    (before.len()..range.end + blank + if is_alone { line_end } else { 0 }, "")
}

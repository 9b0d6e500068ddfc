//! The files in focus of a document: resolves them, and reduces them if a default limit is too small.

use std::collections::{BTreeMap, BTreeSet};

use crate::aggregate::{AmbiguousFocus, Focus, FocusCandidate, nearest_paths};
use crate::engine::artifacts::{ArtifactCache, ContentRef};
use crate::engine::error::{Error, MAX_NEAREST};
use crate::engine::workspace::{KnownFile, KnownState};
use crate::model::{RelPath, SkipReason};
use crate::search::PathClass;

/// The maximum number of other matching files that are named for an ambiguous word.
const MAX_OTHERS: usize = 5;

/// Decides which of the files are in focus. A word that matches no file of the whole project is an error; if only some
/// files were selected, the focus adds none to them, and such a word is only noted.
pub(in crate::engine::document) fn resolve_focus(
    cache: &mut ArtifactCache<'_>,
    focus: &mut Focus,
    files: &[KnownFile],
    is_whole: bool,
) -> Result<(), Error> {
    // All paths are searched for the file that is most likely meant.
    let files = if focus.is_empty() { &[] } else { files };
    // Git also lists deleted files, until the deletion is committed.
    let present =
        || files.iter().filter(|file| !matches!(file.state, KnownState::LeftOut(SkipReason::Vanished)));
    let candidates: Vec<FocusCandidate<'_>> =
        present().map(|file| FocusCandidate { path: &file.path, penalty: penalty(file) }).collect();
    let problems = focus.resolve(&candidates);
    for word in problems.unmatched {
        if is_whole {
            let nearest = nearest_paths(&word, present().map(|file| &file.path), MAX_NEAREST);
            return Err(Error::NothingInFocus { word, nearest });
        }
        cache.workspace.note(format!("focus `{word}` matches none of the selected files"));
    }
    for word in problems.ambiguous {
        let note = ambiguity_note(cache, &word);
        cache.workspace.note(note);
    }
    note_left_out(cache, focus, files);
    for file in files {
        let KnownState::Content { facts, .. } = &file.state else { continue };
        let last = focus.lines(&file.path).and_then(|lines| lines.0.iter().max().copied());
        if let Some(line) = last.filter(|line| facts.lines < *line) {
            let (path, lines) = (&file.path, facts.lines);
            cache
                .workspace
                .note(format!("line {line} of the focus is not in {path}, which has {lines} lines"));
        }
    }
    Ok(())
}

/// Notes the words of the focus that select only files that cannot be shown.
fn note_left_out(cache: &mut ArtifactCache<'_>, focus: &Focus, files: &[KnownFile]) {
    let (mut shown, mut left_out) = (BTreeSet::new(), BTreeMap::new());
    for file in files {
        let Some(word) = focus.place(&file.path) else { continue };
        match file.state {
            KnownState::Content { .. } => {
                shown.insert(word);
            }
            KnownState::LeftOut(reason) => {
                left_out.entry(word).or_insert((&file.path, reason));
            }
        }
    }
    for (word, (path, reason)) in left_out {
        // A file that cannot be read is reported as an error elsewhere.
        if !shown.contains(&word) && !reason.is_error() {
            let why = reason.description();
            cache.workspace.note(format!("{path} is in focus, but cannot be shown: {why}"));
        }
    }
}

/// Returns how unlikely a file is to be meant by a word that matches several.
fn penalty(file: &KnownFile) -> u8 {
    let Some(subject) = ContentRef::from_file(file) else { return 5 };
    match PathClass::from_path(&file.path, subject.file_type.role, false) {
        PathClass::Source => 0,
        PathClass::Test => 1,
        PathClass::Peripheral => 2,
        PathClass::NotCode => 3,
        PathClass::Vendored | PathClass::Amalgamation | PathClass::Generated => 4,
    }
}

fn ambiguity_note(cache: &mut ArtifactCache<'_>, word: &AmbiguousFocus) -> String {
    let read = |path: &RelPath| cache.workspace.read_text(path).map(|(_, text)| text).unwrap_or_default();
    let named: Vec<&RelPath> = word.others.iter().take(MAX_OTHERS).collect();
    let texts: Vec<String> = named.iter().map(|path| read(path)).collect();
    let counts = cache.count_tokens(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let others = named.iter().zip(counts).map(|(path, tokens)| format!("{path} ({tokens} tokens)"));
    let mut others: Vec<String> = others.collect();
    if MAX_OTHERS < word.others.len() {
        others.push(format!("{} more", word.others.len() - MAX_OTHERS));
    }
    format!("focus `{}` is {}; it also matches {}", word.word, word.chosen, others.join(", "))
}

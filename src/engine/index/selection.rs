//! The files that arguments select. A path of a file is looked at by itself, so that an answer comes in milliseconds.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::examine::{ExaminedFile, ReadOutcome, examiner};
use super::scan::{ScanRequest, Trust, scan, state_from_row};
use super::snapshot::{neighbors_of, report_stamp_mismatch};
use crate::aggregate::Selector;
use crate::engine::artifacts::ArtifactCache;
use crate::engine::error::Error;
use crate::engine::workspace::{HashedText, KnownFile, KnownState, TreeSnapshot, is_racy};
use crate::model::{ContentHash, MissingFile, RelPath, SkipReason, error_chain};
use crate::store::{FileRow, StoredFileState, WriteBatch};
use crate::sys::FileKind;

/// The files that some words mean.
pub(in crate::engine) struct FileSelection {
    /// Those that were named by their paths first, in the order of the words; the rest by path.
    pub(in crate::engine) files: Vec<KnownFile>,
    /// Texts that were read on the way.
    pub(in crate::engine) texts: HashMap<RelPath, HashedText>,
    /// The files that were named by their paths.
    pub(in crate::engine) named: HashSet<RelPath>,
    /// Words that mean no file, and need not.
    pub(in crate::engine) missing: Vec<MissingFile>,
    /// A hash of the rules by which all files were listed; `None` if they were not, or it is not known.
    pub(in crate::engine) rules: Option<ContentHash>,
}

/// A word for files.
pub(in crate::engine) struct FileArgument<'a> {
    pub(in crate::engine) text: &'a str,
    /// Whether it is an error if it means no file.
    pub(in crate::engine) is_required: bool,
}

/// Returns the files that words mean. A path of a file is looked at by itself; for a folder or a pattern the whole
/// project is listed. No words mean every file.
/// A text that is read on the way and that `keeps_text` asks for is kept.
pub(in crate::engine) fn select_named(
    cache: &mut ArtifactCache<'_>,
    words: &[String],
    trust: Trust,
    keeps_text: &(dyn Fn(&RelPath) -> bool + Sync),
) -> Result<FileSelection, Error> {
    let words: Vec<FileArgument<'_>> =
        words.iter().map(|text| FileArgument { text, is_required: true }).collect();
    select(cache, &words, trust, keeps_text)
}

pub(in crate::engine) fn select(
    cache: &mut ArtifactCache<'_>,
    words: &[FileArgument<'_>],
    trust: Trust,
    keeps_text: &(dyn Fn(&RelPath) -> bool + Sync),
) -> Result<FileSelection, Error> {
    let mut selection = FileSelection::empty();
    let mut selectors = Vec::new();
    for word in words {
        match resolve_file(cache, word.text, trust, keeps_text) {
            Ok(Some((file, text))) => {
                selection.texts.extend(text.map(|text| (file.path.clone(), text)));
                selection.named.insert(file.path.clone());
                selection.files.push(file);
            }
            Ok(None) if word.is_required => selectors.push((word, Selector::new(word.text)?)),
            Ok(None) => selectors.push((word, Selector::new_lenient(word.text))),
            Err(error) => selection.record_missing(word, error)?,
        }
    }
    if words.is_empty() || !selectors.is_empty() {
        let scope: Vec<Selector> = selectors.iter().map(|(_, selector)| selector.clone()).collect();
        let request = ScanRequest { trust, scope: &scope, keeps_text, keeps_known: true, settles: false };
        let found = scan(cache, &request)?;
        for (word, selector) in &selectors {
            if !found.files.iter().any(|file| selector.selects(&file.path)) {
                selection.record_missing(word, Error::NothingSelected { word: word.text.to_owned() })?;
            }
            // A repository within this one is a folder, and yet listed by its name.
            let is_named = |file: &&KnownFile| file.path.as_bytes() == word.text.as_bytes();
            selection.named.extend(found.files.iter().find(is_named).map(|file| file.path.clone()));
        }
        selection.files.extend(found.files);
        selection.texts.extend(found.texts);
        selection.rules = found.rules;
    }
    let mut seen = HashSet::new();
    selection.files.retain(|file| seen.insert(file.path.clone()));
    Ok(selection)
}

/// Returns the file of that path; `None` if there is no such file, but perhaps a folder.
fn resolve_file(
    cache: &mut ArtifactCache<'_>,
    word: &str,
    trust: Trust,
    keeps_text: &(dyn Fn(&RelPath) -> bool + Sync),
) -> Result<Option<(KnownFile, Option<HashedText>)>, Error> {
    let Some(path) = cache.workspace.resolve_path(word)? else { return Ok(None) };
    if cache.workspace.names.is_excluded(&path) {
        return Err(Error::Apart { path });
    }
    let found = match cache.workspace.world.files.stat(&path) {
        Err(_) if word.contains(['*', '?', '[', '{']) => return Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(SkipReason::Vanished),
        Err(_) => Some(SkipReason::Unreadable),
        Ok(stat) => match stat.kind {
            FileKind::Directory => return Ok(None),
            FileKind::Symlink => Some(SkipReason::Symlink),
            FileKind::Special => Some(SkipReason::Special),
            FileKind::Regular => None,
        },
    };
    let reason = found.or_else(|| cache.workspace.names.skip_reason(&path));
    let (state, text) = match reason {
        Some(reason) => (KnownState::LeftOut(reason), None),
        None => examine_one(cache, &path, trust, keeps_text),
    };
    Ok(Some((KnownFile { path, tracked: true, state }, text)))
}

/// Returns what a single file is now; reads it only if its stamp has changed.
fn examine_one(
    cache: &mut ArtifactCache<'_>,
    path: &RelPath,
    trust: Trust,
    keeps_text: &(dyn Fn(&RelPath) -> bool + Sync),
) -> (KnownState, Option<HashedText>) {
    let is_current = cache.has_current_producers();
    let (row, began) = match cache.workspace.tracker.clone() {
        Some(tree) => {
            // Before the rows are taken: what another session settles in between is in them.
            let began = tree.snapshot(&cache.workspace.options.names);
            (cache.shared_rows(&tree).get(path).cloned(), Some(began))
        }
        None => (cache.query_store(|store| store.file(path)).flatten().map(Arc::new), None),
    };
    let is_dirty = began.as_ref().is_some_and(|began| began.dirty.contains(path));
    let is_doubted = cache.workspace.paranoid || is_dirty || trust == Trust::Nothing;
    let neighbors = neighbors_of(cache, path);
    if let Some(row) = row.as_ref().filter(|_| is_current && !is_doubted)
        && let Ok(stat) = cache.workspace.world.files.stat(path)
        && row.stamp == Some(stat.stamp)
        && !is_racy(&stat.stamp, row.read_at_ns)
        && let Some(state) = state_from_row(row, Some(&neighbors))
    {
        return (state, None);
    }
    let examiner = examiner(cache, &neighbors, keeps_text);
    let seen = examiner.examine(path);
    drop(examiner);
    report_stamp_mismatch(cache, &seen, row.as_ref(), is_dirty);
    store_examined(cache, seen, began.as_ref())
}

fn store_examined(
    cache: &mut ArtifactCache<'_>,
    examined: ExaminedFile,
    began: Option<&TreeSnapshot>,
) -> (KnownState, Option<HashedText>) {
    let ExaminedFile { path, stamp, read_at_ns, outcome, .. } = examined;
    let (contents, known, state, text) = match outcome {
        ReadOutcome::LeftOut(reason) => {
            (Vec::new(), KnownState::LeftOut(reason), StoredFileState::LeftOut(reason), None)
        }
        ReadOutcome::Content { hash, file_type, facts, derived, text } => {
            let language = file_type.id.to_owned();
            let state = StoredFileState::Content { hash, language, facts: facts.clone() };
            let contents = derived.map(|derived| *derived).into_iter().collect();
            let text = text.map(|text| (hash, text));
            (contents, KnownState::Content { hash, file_type, facts }, state, text)
        }
    };
    cache.workspace.log.count_unstable(u64::from(matches!(known, KnownState::LeftOut(SkipReason::Unstable))));
    let at_s = cache.workspace.world.clock.now_s();
    let (files, removed) = if let Some(stamp) = stamp {
        (vec![FileRow { path, stamp: Some(stamp), read_at_ns, state }], Vec::new())
    } else {
        // Without rows in memory, finding out whether there is one to remove would cost a query.
        let rows = cache.workspace.tracker.as_ref().and_then(|tree| tree.rows());
        (Vec::new(), rows.filter(|rows| rows.contains_key(&path)).map(|_| path).into_iter().collect())
    };
    cache.save_scanned(WriteBatch { contents, files, removed, at_s }, began);
    (known, text)
}

impl FileSelection {
    pub(in crate::engine) fn empty() -> Self {
        Self {
            files: Vec::new(),
            texts: HashMap::new(),
            named: HashSet::new(),
            missing: Vec::new(),
            rules: None,
        }
    }

    /// Records that an argument selects no file, or fails if it has to select one.
    fn record_missing(&mut self, word: &FileArgument<'_>, error: Error) -> Result<(), Error> {
        if word.is_required {
            return Err(error);
        }
        let why = match &error {
            Error::NothingSelected { .. } => "no file of the project matches it".to_owned(),
            error => error_chain(error),
        };
        self.missing.push(MissingFile { pattern: word.text.to_owned(), reason: why });
        Ok(())
    }
}

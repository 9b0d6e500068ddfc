//! The files that arguments select. The path of a single file is checked directly, so that an answer takes
//! milliseconds.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::examine::{examiner, reason_of_kind};
use super::scan::{PendingRows, ScanRequest, ScanResult, Trust, scan, state_from_row};
use super::snapshot::{NamedHeaders, report_stamp_mismatch};
use crate::aggregate::Selector;
use crate::engine::artifacts::{ArtifactCache, hide_by_settings};
use crate::engine::error::Error;
use crate::engine::workspace::{HashedText, KnownFile, KnownState, TreeSnapshot, Workspace, is_racy};
use crate::model::{ContentHash, FileStamp, MissingFile, RelPath, SkipReason, error_chain};
use crate::sys::{FileKind, Files};

/// The files that some arguments select.
#[derive(Default)]
pub(in crate::engine) struct FileSelection {
    /// Files named by their paths first, in the order of the arguments; the rest by path.
    pub(in crate::engine) files: Vec<KnownFile>,
    pub(in crate::engine) texts: HashMap<RelPath, HashedText>,
    pub(in crate::engine) named: HashSet<RelPath>,
    /// Arguments that select no file, where that is allowed.
    pub(in crate::engine) missing: Vec<MissingFile>,
    /// A hash of the rules by which all files were listed; `None` if they were not listed, or it is unknown.
    pub(in crate::engine) rules: Option<ContentHash>,
}

pub(in crate::engine) struct FileArgument<'a> {
    pub(in crate::engine) text: &'a str,
    pub(in crate::engine) is_required: bool,
}

impl<'a> FileArgument<'a> {
    pub(in crate::engine) const fn required(text: &'a str) -> Self {
        Self { text, is_required: true }
    }
}

/// Returns the files that arguments select. The path of a file is checked directly; for a folder or a pattern, the
/// whole project is listed. Without arguments, all files are selected. A text that is read in the process is kept if
/// `keeps_text` requests it.
pub(in crate::engine) fn select_named(
    cache: &mut ArtifactCache<'_>,
    words: &[String],
    trust: Trust,
    keeps_text: &(dyn Fn(&RelPath) -> bool + Sync),
) -> Result<FileSelection, Error> {
    let words: Vec<FileArgument<'_>> = words.iter().map(|text| FileArgument::required(text)).collect();
    FileSelector::new(cache, trust, keeps_text).select(cache, &words)
}

/// Returns all files of the project, without what masks hide, and notes those that cannot be read.
pub(in crate::engine) fn select_visible(
    cache: &mut ArtifactCache<'_>,
    trust: Trust,
) -> Result<FileSelection, Error> {
    let mut selection = select_named(cache, &[], trust, &|_| false)?;
    note_unreadable(&mut cache.workspace, &selection.files);
    hide_by_settings(cache, &mut selection.files);
    Ok(selection)
}

/// Returns the files with wanted contents (by hash and file type), and all files that had to be read.
pub(in crate::engine) fn select_contents(
    cache: &mut ArtifactCache<'_>,
    trust: Trust,
    is_wanted: &dyn Fn(&ContentHash, &'static str) -> bool,
) -> Result<Vec<KnownFile>, Error> {
    cache.workspace.hidden.clear();
    let request = ScanRequest { trust, keeps_known: is_wanted, ..ScanRequest::BY_STAMPS };
    Ok(scan(cache, &request)?.files)
}

/// Notes the files that an answer about all files lacks, because they cannot be read.
pub(in crate::engine) fn note_unreadable(workspace: &mut Workspace<'_>, files: &[KnownFile]) {
    let is_unreadable = |file: &&KnownFile| matches!(file.state, KnownState::LeftOut(SkipReason::Unreadable));
    let mut unreadable = files.iter().filter(is_unreadable).map(|file| &file.path);
    let Some(first) = unreadable.next() else { return };
    let others = match unreadable.count() {
        0 => String::new(),
        1 => " and another file".to_owned(),
        more => format!(" and {more} other files"),
    };
    workspace.note(format!("{first}{others} cannot be read, and the answer has nothing of what is in there"));
}

/// Selects files for one answer.
pub(in crate::engine) struct FileSelector<'k> {
    trust: Trust,
    keeps_text: &'k (dyn Fn(&RelPath) -> bool + Sync),
    /// The state of the tree when the answer began, if anything is cached between answers.
    began: Option<TreeSnapshot>,
    headers: NamedHeaders,
    pending: PendingRows,
}

impl<'k> FileSelector<'k> {
    pub(in crate::engine) fn new(
        cache: &ArtifactCache<'_>,
        trust: Trust,
        keeps_text: &'k (dyn Fn(&RelPath) -> bool + Sync),
    ) -> Self {
        let tree = cache.workspace.tracker.as_ref();
        // Before any rows are taken: they then include what another session stores in between.
        let began = tree.map(|tree| tree.snapshot(&cache.workspace.options.names));
        let pending = PendingRows::new(cache);
        Self { trust, keeps_text, began, headers: NamedHeaders::default(), pending }
    }

    /// Returns the files that arguments select. Another answer may have hidden other symbols; the caller hides its own.
    pub(in crate::engine) fn select(
        &mut self,
        cache: &mut ArtifactCache<'_>,
        words: &[FileArgument<'_>],
    ) -> Result<FileSelection, Error> {
        cache.workspace.hidden.clear();
        let mut selection = FileSelection::default();
        let mut selectors = Vec::new();
        for word in words {
            match self.resolve_file(cache, word.text) {
                Ok(Some((file, text))) => {
                    if !word.is_required
                        && let KnownState::LeftOut(reason @ SkipReason::Vanished) = file.state
                    {
                        let (pattern, reason) = (word.text.to_owned(), reason.description().to_owned());
                        selection.missing.push(MissingFile { pattern, reason });
                    }
                    selection.texts.extend(text.map(|text| (file.path.clone(), text)));
                    selection.named.insert(file.path.clone());
                    selection.files.push(file);
                }
                Ok(None) if word.is_required => selectors.push((word, Selector::new(word.text)?)),
                // A preset was written earlier; a malformed pattern in it should not invalidate the others.
                Ok(None) => selectors.push((word, Selector::new_lenient(word.text))),
                Err(error) => selection.record_missing(word, error)?,
            }
        }
        self.save(cache);
        if words.is_empty() || !selectors.is_empty() {
            let scope: Vec<Selector> = selectors.iter().map(|(_, selector)| selector.clone()).collect();
            let request = ScanRequest {
                trust: self.trust,
                scope: &scope,
                keeps_text: self.keeps_text,
                ..ScanRequest::BY_STAMPS
            };
            let found = scan(cache, &request)?;
            for (word, selector) in &selectors {
                if !found.files.iter().any(|file| selector.selects(&file.path)) {
                    selection.record_missing(word, Error::NothingSelected { word: word.text.to_owned() })?;
                }
                // A nested repository is a folder, but listed by its name.
                let is_named = |file: &&KnownFile| file.path.as_bytes() == word.text.as_bytes();
                selection.named.extend(found.files.iter().find(is_named).map(|file| file.path.clone()));
            }
            if selection.files.is_empty() {
                selection.files = found.files;
            } else {
                selection.files.extend(found.files);
            }
            selection.texts.extend(found.texts);
            selection.rules = found.rules;
        }
        // Arguments may overlap: a file stays where it was selected first.
        if !words.is_empty() {
            let mut seen = HashSet::new();
            selection.files.retain(|file| seen.insert(file.path.clone()));
        }
        Ok(selection)
    }

    /// Returns the file that an argument names by its path, never as a pattern; `None` for a folder. A file that does
    /// not exist is left out as vanished. [`FileSelector::save`] stores what was read.
    pub(in crate::engine) fn select_path(
        &mut self,
        cache: &mut ArtifactCache<'_>,
        word: &str,
    ) -> Result<Option<KnownFile>, Error> {
        let Some(path) = cache.workspace.resolve_path(word)? else { return Ok(None) };
        Ok(self.file_at(cache, path)?.map(|(file, _)| file))
    }

    /// Returns the file of that path; `None` if there is no such file, but perhaps a folder.
    fn resolve_file(
        &mut self,
        cache: &mut ArtifactCache<'_>,
        word: &str,
    ) -> Result<Option<(KnownFile, Option<HashedText>)>, Error> {
        let Some(path) = cache.workspace.resolve_path(word)? else { return Ok(None) };
        // Names such as `[id].tsx` are common: it is a pattern only if no file has that name.
        let may_be_pattern = word.contains(['*', '?', '[', '{']) && !cache.workspace.names.is_excluded(&path);
        if may_be_pattern && cache.workspace.files.stat(&path).is_err() {
            return Ok(None);
        }
        self.file_at(cache, path)
    }

    fn file_at(
        &mut self,
        cache: &mut ArtifactCache<'_>,
        path: RelPath,
    ) -> Result<Option<(KnownFile, Option<HashedText>)>, Error> {
        if cache.workspace.names.is_excluded(&path) {
            return Err(Error::Apart { path });
        }
        let found = match cache.workspace.files.stat(&path) {
            Err(_) if cache.workspace.files.is_gone(&path) => Some(SkipReason::ResourceGone),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(SkipReason::Vanished),
            Err(_) => Some(SkipReason::Unreadable),
            Ok(stat) if stat.kind == FileKind::Directory => return Ok(None),
            Ok(stat) => reason_of_kind(stat.kind),
        };
        let reason = found.or_else(|| cache.workspace.names.skip_reason(&path));
        cache.workspace.check_cancelled()?;
        let (state, stamp, text) = match reason {
            Some(reason) => (KnownState::LeftOut(reason), None, None),
            None => self.examine(cache, &path),
        };
        // Git is assumed to track it, because finding out takes a listing. So in the stable order, an untracked file
        // that is named by its path is placed like one that never changed.
        Ok(Some((KnownFile { path, tracked: true, state, stamp }, text)))
    }

    /// Returns the current state of a file, and its stamp; reads it only if its stamp has changed.
    fn examine(
        &mut self,
        cache: &mut ArtifactCache<'_>,
        path: &RelPath,
    ) -> (KnownState, Option<FileStamp>, Option<HashedText>) {
        let began = self.began.as_ref();
        let is_current = cache.has_current_producers();
        let row = match cache.workspace.tracker.clone() {
            Some(tree) => cache.shared_rows(&tree).get(path).cloned(),
            None => cache.query_store(|store| store.file(path)).flatten().map(Arc::new),
        };
        let is_dirty = began.is_some_and(|began| began.is_dirty(path));
        let is_doubted = cache.workspace.paranoid || is_dirty || self.trust == Trust::Nothing;
        // Needed before the row is trusted: a header's language may change with its neighbors while its bytes do not.
        let neighbors = self.headers.neighbors(cache, path, began);
        if let Some(row) = row.as_ref().filter(|_| is_current && !is_doubted)
            && let Ok(stat) = cache.workspace.files.stat(path)
            && row.stamp == Some(stat.stamp)
            && !is_racy(&stat.stamp, row.read_at_ns)
            && let Some(state) = state_from_row(row, Some(&neighbors))
        {
            return (state, Some(stat.stamp), None);
        }
        let examiner = examiner(cache, &neighbors, self.keeps_text);
        let seen = examiner.examine(path);
        drop(examiner);
        let bytes = seen.bytes;
        report_stamp_mismatch(cache, &seen, row.as_ref(), is_dirty);
        let mut scan = ScanResult::default();
        scan.add_examined(seen, true, &mut self.pending.batch);
        self.pending.save_if_large(cache, began, bytes);
        let (state, stamp) = scan
            .files
            .pop()
            .map_or((KnownState::LeftOut(SkipReason::Vanished), None), |file| (file.state, file.stamp));
        let is_unstable = matches!(state, KnownState::LeftOut(SkipReason::Unstable));
        cache.workspace.log.count_unstable(u64::from(is_unstable));
        (state, stamp, scan.texts.remove(path))
    }

    /// Stores what was read of single files.
    pub(in crate::engine) fn save(&mut self, cache: &mut ArtifactCache<'_>) {
        // Without rows in memory, finding out whether there is one to remove would cost a query.
        let rows = cache.workspace.tracker.as_ref().and_then(|tree| tree.rows()).unwrap_or_default();
        self.pending.batch.removed.retain(|path| rows.contains_key(path));
        self.pending.save(cache, self.began.as_ref());
    }
}

impl FileSelection {
    /// Records that an argument selects no file, or fails if it has to select one.
    fn record_missing(&mut self, word: &FileArgument<'_>, error: Error) -> Result<(), Error> {
        if word.is_required {
            return Err(error);
        }
        let reason = match &error {
            Error::NothingSelected { .. } => "no file of the project matches it".to_owned(),
            error => error_chain(error),
        };
        self.missing.push(MissingFile { pattern: word.text.to_owned(), reason });
        Ok(())
    }
}

//! Questions about single files: they look at those files alone, so that an answer comes in milliseconds.

use std::collections::HashMap;
use std::collections::HashSet;
use std::sync::Arc;

use crate::aggregate;
use crate::aggregate::CuratedItems;
use crate::aggregate::FocusLines;
use crate::aggregate::Selector;
use crate::engine::artifacts::{ContentRef, producers_fingerprint};
use crate::engine::document::{AggregationRequest, BaseText, ViewOverrides, ViewParams, ViewRequest, block};
use crate::engine::error::Error;
use crate::engine::index::{
    ExaminedFile, HashedText, KnownFile, KnownState, PRODUCERS, ReadOutcome, ScanRequest, Trust,
    state_from_row,
};
use crate::engine::project::Project;
use crate::engine::workspace::{TreeSnapshot, is_racy};
use crate::model::ContentHash;
use crate::model::DocumentBlock;
use crate::model::FileType;
use crate::model::MissingFile;
use crate::model::Outline;
use crate::model::RelPath;
use crate::model::SkipReason;
use crate::model::SummaryDetail;
use crate::model::ViewMode;
use crate::model::error_chain;
use crate::store::FileRow;
use crate::store::StoredFileState;
use crate::store::WriteBatch;
use crate::sys::FileKind;

/// The outline of one file.
#[derive(Debug, Clone)]
pub struct OutlineAnswer {
    /// The file.
    pub path: RelPath,
    /// Its content.
    pub hash: ContentHash,
    /// Its type.
    pub file_type: &'static FileType,
    /// Lines of its text.
    pub lines: u32,
    /// The outline.
    pub outline: Outline,
}

impl OutlineAnswer {
    /// Returns the symbols, one a line.
    pub fn text(&self) -> String {
        aggregate::render_outline(&self.outline)
    }
}

/// One view of one file.
#[derive(Debug, Clone)]
pub struct ViewAnswer {
    /// The file as it is shown.
    pub block: DocumentBlock,
    /// Why it is not shown as it was asked for.
    pub reason: Option<String>,
}

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
    /// A hash of the rules by which all files were listed; `None` where they were not, or it is not known.
    pub(in crate::engine) rules: Option<ContentHash>,
}

/// A word for files.
struct FileArgument<'a> {
    text: &'a str,
    /// Whether it is an error if it means no file.
    is_required: bool,
}

impl Project<'_> {
    /// Returns the outlines of the files that are named, or of all files that have one, by path.
    pub fn outlines(&mut self, words: &[String], trust: Trust) -> Result<Vec<OutlineAnswer>, Error> {
        let FileSelection { mut files, named: by_name, .. } = self.select_named(words, trust, &|_| false)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        for file in files.iter().filter(|file| by_name.contains(&file.path)) {
            must_have_outline(file)?;
        }
        let outlines = self.outlines_of(&files);
        self.check_cancelled()?;
        Ok(outlines)
    }

    /// Returns the outlines of those files that have one.
    pub(in crate::engine) fn outlines_of(&mut self, files: &[KnownFile]) -> Vec<OutlineAnswer> {
        let mut answers = Vec::new();
        for subject in files.iter().filter_map(ContentRef::from_file) {
            if self.world.progress.is_cancelled() {
                // The caller is to look whether these are all.
                break;
            }
            let answer = self.outline(&subject).map(|outline| OutlineAnswer {
                path: subject.path.clone(),
                hash: subject.hash,
                file_type: subject.file_type,
                lines: subject.facts.lines,
                outline,
            });
            answers.extend(answer);
        }
        answers
    }

    /// Returns one view of each file that is named, in the order of their paths within each word. Without a mode the
    /// text is shown, or the largest view that the limits allow.
    pub fn views(&mut self, request: &ViewRequest) -> Result<Vec<ViewAnswer>, Error> {
        let (mut answers, mut left_out, mut unchanged) = (Vec::new(), 0, 0);
        let items = CuratedItems::new(self.relative_items(&request.items));
        for word in &request.files {
            let wants_text = request.mode.is_none_or(ViewMode::needs_text);
            let mut selection =
                self.select_named(std::slice::from_ref(word), request.trust, &|_| wants_text)?;
            let (mut pasts, same) = self.view_base_texts(request, word, &mut selection)?;
            unchanged += same;
            let is_skeleton = request.mode == Some(ViewMode::Skeleton);
            self.prefetch_skeletons(selection.files.iter().filter(|_| is_skeleton));
            for file in selection.files {
                self.check_cancelled()?;
                let old = self.base_text(&mut pasts, &file.path);
                if let KnownState::LeftOut(SkipReason::Vanished) = file.state
                    && let Some(deleted) = self.view_of_deleted(&file.path, old.clone())
                {
                    answers.push(deleted);
                    continue;
                }
                match file.state {
                    KnownState::LeftOut(reason) if selection.named.contains(&file.path) => {
                        return Err(Error::LeftOut { path: file.path, reason });
                    }
                    KnownState::LeftOut(reason) if !reason.is_error() => {
                        left_out += 1;
                        continue;
                    }
                    KnownState::LeftOut(_) | KnownState::Content { .. } => {}
                }
                let text = selection.texts.remove(&file.path);
                answers.push(self.view(&file, (request, &items), old, text));
            }
        }
        if 0 < unchanged {
            self.note(format!("files that have not changed: {unchanged}"));
        }
        if 0 < left_out {
            self.note(format!(
                "files that have no text to show: {left_out}; `slop status` says which and why"
            ));
        }
        Ok(answers)
    }

    fn view(
        &mut self,
        file: &KnownFile,
        (request, items): (&ViewRequest, &CuratedItems),
        old: BaseText,
        text: Option<HashedText>,
    ) -> ViewAnswer {
        let lines = FocusLines(Vec::new());
        let picks = ViewOverrides { mask: &request.mask, lines: &request.lines, base: old };
        // What is asked for by name is shown as it is asked for, whatever its size.
        let max_bytes = if request.mode.is_some() { u64::MAX } else { self.options.max_bytes };
        let view = request.mode.unwrap_or(ViewMode::Full);
        let (detail, item, picks) = (SummaryDetail::Words, items.find(&file.path), Some(&picks));
        // No tier is asked for, so that the words are the heuristic's.
        let by_model = false;
        let rendering = ViewParams { view, detail, by_model, lines: &lines, item, overrides: picks, text };
        let rendered = self.render(file, rendering, max_bytes);
        let why = rendered.reason.clone();
        ViewAnswer { block: block(file, rendered), reason: why }
    }

    /// Returns the files that words mean. A path of a file is looked at by itself; for a folder or a pattern the whole
    /// project is listed. No words mean every file.
    /// A text that is read on the way and that `keeps_text` asks for is kept.
    pub(in crate::engine) fn select_named(
        &mut self,
        words: &[String],
        trust: Trust,
        keeps_text: &(dyn Fn(&RelPath) -> bool + Sync),
    ) -> Result<FileSelection, Error> {
        let words: Vec<FileArgument<'_>> =
            words.iter().map(|text| FileArgument { text, is_required: true }).collect();
        self.select(&words, trust, keeps_text)
    }

    /// Returns the files that an aggregation is about: those of its preset first. What a preset names and is gone is
    /// reported, not an error.
    pub(in crate::engine) fn select_requested(
        &mut self,
        request: &AggregationRequest,
        keeps_text: &(dyn Fn(&RelPath) -> bool + Sync),
    ) -> Result<FileSelection, Error> {
        let preset = request.preset.iter().flatten();
        let preset = preset.map(|item| FileArgument { text: &item.path, is_required: false });
        let given = request.files.iter().map(|text| FileArgument { text, is_required: true });
        let words: Vec<FileArgument<'_>> = preset.chain(given).collect();
        if words.is_empty() && request.preset.is_some() {
            return Ok(FileSelection::empty());
        }
        self.select(&words, request.trust, keeps_text)
    }

    fn select(
        &mut self,
        words: &[FileArgument<'_>],
        trust: Trust,
        keeps_text: &(dyn Fn(&RelPath) -> bool + Sync),
    ) -> Result<FileSelection, Error> {
        let mut selection = FileSelection::empty();
        let mut selectors = Vec::new();
        for word in words {
            match self.resolve_file(word.text, trust, keeps_text) {
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
            let found = self.scan(&request)?;
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

    /// Returns the file of that path; `None` where there is no such file, but perhaps a folder.
    fn resolve_file(
        &mut self,
        word: &str,
        trust: Trust,
        keeps_text: &(dyn Fn(&RelPath) -> bool + Sync),
    ) -> Result<Option<(KnownFile, Option<HashedText>)>, Error> {
        let Some(path) = self.resolve_path(word)? else { return Ok(None) };
        if self.names.is_excluded(&path) {
            return Err(Error::Apart { path });
        }
        let found = match self.world.files.stat(&path) {
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
        let reason = found.or_else(|| self.names.skip_reason(&path));
        let (state, text) = match reason {
            Some(reason) => (KnownState::LeftOut(reason), None),
            None => self.examine_one(&path, trust, keeps_text),
        };
        Ok(Some((KnownFile { path, tracked: true, state }, text)))
    }

    /// Returns the path within the project that a word spells, absolute or relative to the root.
    pub(in crate::engine) fn resolve_path(&self, word: &str) -> Result<Option<RelPath>, Error> {
        use std::os::unix::ffi::OsStrExt;
        let path = std::path::Path::new(word);
        let inside = path.strip_prefix(&self.root).unwrap_or(path);
        let bytes = inside.as_os_str().as_bytes();
        let bytes = bytes.strip_prefix(b"./").unwrap_or(bytes);
        let is_root = bytes.is_empty() && !word.is_empty();
        if is_root || bytes == b"." || bytes.ends_with(b"/") {
            return Ok(None);
        }
        match RelPath::new(bytes) {
            Ok(path) => Ok(Some(path)),
            Err(source) => Err(Error::BadPath { path: word.to_owned(), source }),
        }
    }

    /// Returns what a single file is now; reads it only if its stamp has changed.
    fn examine_one(
        &mut self,
        path: &RelPath,
        trust: Trust,
        keeps_text: &(dyn Fn(&RelPath) -> bool + Sync),
    ) -> (KnownState, Option<HashedText>) {
        let is_current = self.query_store(|store| store.get_meta(PRODUCERS)).flatten().as_deref()
            == Some(producers_fingerprint().as_bytes());
        let (row, began) = match self.shared.clone() {
            Some(tree) => {
                // Before the rows are taken: what another session settles in between is in them.
                let began = tree.snapshot(&self.names_key);
                (self.shared_rows(&tree).get(path).cloned(), Some(began))
            }
            None => (self.query_store(|store| store.file(path)).flatten().map(Arc::new), None),
        };
        let is_dirty = began.as_ref().is_some_and(|began| began.dirty.contains(path));
        let is_doubted = self.paranoid || is_dirty || trust == Trust::Nothing;
        let neighbors = self.neighbors_of(path);
        if let Some(row) = row.as_ref().filter(|_| is_current && !is_doubted)
            && let Ok(stat) = self.world.files.stat(path)
            && row.stamp == Some(stat.stamp)
            && !is_racy(&stat.stamp, row.read_at_ns)
            && let Some(state) = state_from_row(row, Some(&neighbors))
        {
            return (state, None);
        }
        let examiner = self.examiner(&neighbors, keeps_text);
        let seen = examiner.examine(path);
        drop(examiner);
        self.report_stamp_mismatch(&seen, row.as_ref(), is_dirty);
        self.store_examined(seen, began.as_ref())
    }

    fn store_examined(
        &mut self,
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
        self.unstable += u64::from(matches!(known, KnownState::LeftOut(SkipReason::Unstable)));
        let at_s = self.world.clock.now_s();
        let (files, removed) = if let Some(stamp) = stamp {
            (vec![FileRow { path, stamp: Some(stamp), read_at_ns, state }], Vec::new())
        } else {
            // Only where rows are at hand is it known without a question whether there is one to remove.
            let rows = self.shared.as_ref().and_then(|tree| tree.rows());
            (Vec::new(), rows.filter(|rows| rows.contains_key(&path)).map(|_| path).into_iter().collect())
        };
        self.save_scanned(WriteBatch { contents, files, removed, at_s }, began);
        (known, text)
    }
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

    /// Notes that a word means no file, or fails where it must mean one.
    fn record_missing(&mut self, word: &FileArgument<'_>, error: Error) -> Result<(), Error> {
        if word.is_required {
            return Err(error);
        }
        let why = match &error {
            Error::NothingSelected { .. } => "no file of the project answers to it".to_owned(),
            error => format!("cannot {}", error_chain(error)),
        };
        self.missing.push(MissingFile { pattern: word.text.to_owned(), reason: why });
        Ok(())
    }
}

fn must_have_outline(file: &KnownFile) -> Result<(), Error> {
    let path = file.path.clone();
    match &file.state {
        KnownState::LeftOut(reason) => Err(Error::LeftOut { path, reason: *reason }),
        KnownState::Content { file_type, .. } if crate::syntax::has_structure(file_type.id) => Ok(()),
        KnownState::Content { file_type, .. } => {
            let feature = crate::syntax::missing_feature(file_type.id);
            Err(Error::NoSuchView { path, view: ViewMode::Outline, file_type: file_type.name, feature })
        }
    }
}

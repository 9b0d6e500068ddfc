//! Questions about single files: they look at those files alone, so that an answer comes in milliseconds.

use std::collections::HashMap;
use std::collections::HashSet;
use std::sync::Mutex;

use super::artifacts::Subject;
use super::error::Error;
use super::freshness::is_racy;
use super::project::Project;
use super::reading::Examined;
use super::reading::Examiner;
use super::reading::Outcome;
use super::report::Silent;
use super::scan::KnownFile;
use super::scan::KnownState;
use super::scan::ScanRequest;
use super::scan::Trust;
use super::scan::producers_fingerprint;
use super::scan::state_of;
use crate::aggregate;
use crate::aggregate::FocusLines;
use crate::aggregate::Selector;
use crate::discover::Neighbors;
use crate::model::Block;
use crate::model::ContentHash;
use crate::model::Facts;
use crate::model::FileType;
use crate::model::Health;
use crate::model::LeftOut;
use crate::model::Outline;
use crate::model::RelPath;
use crate::model::SummaryDetail;
use crate::model::ViewMode;
use crate::store::Batch;
use crate::store::FileRow;
use crate::store::FileState;
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

/// One view of one file.
#[derive(Debug, Clone)]
pub struct ViewAnswer {
    /// The file as it is shown.
    pub block: Block,
    /// Why it is not shown as it was asked for.
    pub why: Option<String>,
}

/// The files that some words mean.
pub(super) struct Selection {
    /// Those that were named by their paths first, in the order of the words; the rest by path.
    pub(super) files: Vec<KnownFile>,
    /// Texts that were read on the way.
    pub(super) texts: HashMap<RelPath, (ContentHash, String)>,
    /// The files that were named by their paths.
    pub(super) by_name: HashSet<RelPath>,
}

/// How a file was rendered.
pub(super) struct Rendered {
    pub(super) view: ViewMode,
    pub(super) content: Option<ContentHash>,
    pub(super) remarks: Vec<String>,
    pub(super) body: String,
    pub(super) why: Option<String>,
}

/// What a rendering depends on beside the file.
pub(super) struct Rendering<'a> {
    pub(super) view: ViewMode,
    pub(super) detail: SummaryDetail,
    pub(super) lines: &'a FocusLines,
    /// The text, where it has been read in this run already.
    pub(super) text: Option<(ContentHash, String)>,
}

impl Project<'_> {
    /// Returns the outlines of the files that are named, or of all files that have one, by path.
    pub fn outlines(&mut self, words: &[String], trust: Trust) -> Result<Vec<OutlineAnswer>, Error> {
        let Selection { mut files, by_name, .. } = self.files_named(words, trust, &|_| false)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        for file in files.iter().filter(|file| by_name.contains(&file.path)) {
            self.must_have_outline(file)?;
        }
        Ok(self.outlines_of(&files))
    }

    /// Returns the outlines of those files that have one.
    pub(super) fn outlines_of(&mut self, files: &[KnownFile]) -> Vec<OutlineAnswer> {
        let mut answers = Vec::new();
        for subject in files.iter().filter_map(Subject::of) {
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

    fn must_have_outline(&self, file: &KnownFile) -> Result<(), Error> {
        let path = file.path.clone();
        match &file.state {
            KnownState::LeftOut(reason) => Err(Error::LeftOut { path, reason: *reason }),
            KnownState::Content { file_type, .. } if crate::syntax::has_structure(file_type.id) => Ok(()),
            KnownState::Content { file_type, .. } => {
                Err(Error::NoSuchView { path, view: ViewMode::Outline, file_type: file_type.name })
            }
        }
    }

    /// Returns one view of each file that is named, in the order of their paths within each word. Without a mode the
    /// text is shown, or the largest view that the limits allow.
    pub fn views(
        &mut self,
        words: &[String],
        mode: Option<ViewMode>,
        trust: Trust,
    ) -> Result<Vec<ViewAnswer>, Error> {
        let mut answers = Vec::new();
        for word in words {
            let wants_text = mode.is_none_or(|mode| mode == ViewMode::Full);
            let mut selection = self.files_named(std::slice::from_ref(word), trust, &|_| wants_text)?;
            for file in selection.files {
                if let KnownState::LeftOut(reason) = file.state
                    && selection.by_name.contains(&file.path)
                {
                    return Err(Error::LeftOut { path: file.path, reason });
                }
                let text = selection.texts.remove(&file.path);
                answers.push(self.view(&file, mode, text));
            }
        }
        Ok(answers)
    }

    fn view(
        &mut self,
        file: &KnownFile,
        mode: Option<ViewMode>,
        text: Option<(ContentHash, String)>,
    ) -> ViewAnswer {
        let lines = FocusLines(Vec::new());
        // What is asked for by name is shown as it is asked for, whatever its size.
        let max_bytes = if mode.is_some() { u64::MAX } else { self.options.max_bytes };
        let view = mode.unwrap_or(ViewMode::Full);
        let rendering = Rendering { view, detail: SummaryDetail::Words, lines: &lines, text };
        let rendered = self.render(file, rendering, max_bytes);
        let why = rendered.why.clone();
        ViewAnswer { block: block(file, rendered), why }
    }

    /// Returns the files that words mean. A path of a file is looked at by itself; for a folder or a pattern the whole
    /// project is listed. No words mean every file.
    /// A text that is read on the way and that `keeps_text` asks for is kept.
    pub(super) fn files_named(
        &mut self,
        words: &[String],
        trust: Trust,
        keeps_text: &(dyn Fn(&RelPath) -> bool + Sync),
    ) -> Result<Selection, Error> {
        let mut selection = Selection { files: Vec::new(), texts: HashMap::new(), by_name: HashSet::new() };
        let mut selectors = Vec::new();
        for word in words {
            match self.file_named(word, trust, keeps_text)? {
                Some((file, text)) => {
                    selection.texts.extend(text.map(|text| (file.path.clone(), text)));
                    selection.by_name.insert(file.path.clone());
                    selection.files.push(file);
                }
                None => selectors.push((word, Selector::new(word)?)),
            }
        }
        if words.is_empty() || !selectors.is_empty() {
            let scope: Vec<Selector> = selectors.iter().map(|(_, selector)| selector.clone()).collect();
            let request = ScanRequest { trust, scope: &scope, keeps_text, settles: false, progress: &Silent };
            let found = self.scan(&request)?;
            for (word, selector) in &selectors {
                if !found.files.iter().any(|file| selector.selects(&file.path)) {
                    return Err(Error::NothingSelected { word: (*word).clone() });
                }
            }
            selection.files.extend(found.files);
            selection.texts.extend(found.texts);
        }
        let mut seen = HashSet::new();
        selection.files.retain(|file| seen.insert(file.path.clone()));
        Ok(selection)
    }

    /// Returns the file of that path; `None` where there is no such file, but perhaps a folder.
    fn file_named(
        &mut self,
        word: &str,
        trust: Trust,
        keeps_text: &(dyn Fn(&RelPath) -> bool + Sync),
    ) -> Result<Option<(KnownFile, Option<(ContentHash, String)>)>, Error> {
        let Some(path) = self.path_named(word)? else { return Ok(None) };
        if self.names.is_apart(&path) {
            return Err(Error::Apart { path });
        }
        let found = match self.world.files.stat(&path) {
            Err(_) if word.contains(['*', '?', '[', '{']) => return Ok(None),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(LeftOut::Vanished),
            Err(_) => Some(LeftOut::Unreadable),
            Ok(stat) => match stat.kind {
                FileKind::Directory => return Ok(None),
                FileKind::Symlink => Some(LeftOut::Symlink),
                FileKind::Special => Some(LeftOut::Special),
                FileKind::Regular => None,
            },
        };
        let reason = found.or_else(|| self.names.left_out(&path));
        let (state, text) = match reason {
            Some(reason) => (KnownState::LeftOut(reason), None),
            None => self.examine_one(&path, trust, keeps_text),
        };
        Ok(Some((KnownFile { path, tracked: true, state }, text)))
    }

    /// Returns the path within the project that a word spells, absolute or relative to the root.
    fn path_named(&self, word: &str) -> Result<Option<RelPath>, Error> {
        use std::os::unix::ffi::OsStrExt;
        let path = std::path::Path::new(word);
        let inside = path.strip_prefix(&self.root).unwrap_or(path);
        let bytes = inside.as_os_str().as_bytes();
        let bytes = bytes.strip_prefix(b"./").unwrap_or(bytes);
        if bytes.is_empty() || bytes == b"." || bytes.ends_with(b"/") {
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
    ) -> (KnownState, Option<(ContentHash, String)>) {
        let is_current = self.stored(|store| store.recall(super::scan::PRODUCERS)).flatten().as_deref()
            == Some(producers_fingerprint().as_bytes());
        let row = self.stored(|store| store.file(path)).flatten();
        if let Some(row) = row.filter(|_| is_current && trust == Trust::Stamps)
            && let Ok(stat) = self.world.files.stat(path)
            && row.stamp == Some(stat.stamp)
            && !is_racy(&stat.stamp, row.read_at_ns)
            && let Some(state) = state_of(&row, None)
        {
            return (state, None);
        }
        let neighbors = self.neighbors_of(path);
        let examiner = Examiner {
            files: self.world.files,
            clock: self.world.clock,
            skew_ns: self.clock_skew_ns(),
            neighbors: &neighbors,
            max_bytes: self.options.structure_max_bytes,
            parse_timeout: self.options.parse_timeout,
            known: self.open_reader().map(Mutex::new),
            claimed: Mutex::default(),
            keeps_text,
        };
        let examined = examiner.examine(path);
        self.keep(examined)
    }

    /// The files in the same folder, as far as they tell what a header is.
    fn neighbors_of(&self, path: &RelPath) -> Neighbors {
        let folder = path.parent();
        let names = self.world.files.names(folder).unwrap_or_default();
        let join = |name: Vec<u8>| match folder {
            b"" => RelPath::new(&name).ok(),
            folder => RelPath::new(&[folder, b"/", &name].concat()).ok(),
        };
        let paths: Vec<RelPath> = names.into_iter().filter_map(join).collect();
        Neighbors::of(paths.iter())
    }

    fn keep(&mut self, examined: Examined) -> (KnownState, Option<(ContentHash, String)>) {
        let Examined { path, stamp, read_at_ns, outcome, .. } = examined;
        let (contents, known, state, text) = match outcome {
            Outcome::LeftOut(reason) => {
                (Vec::new(), KnownState::LeftOut(reason), FileState::LeftOut(reason), None)
            }
            Outcome::Content { hash, file_type, facts, derived, text } => {
                let language = file_type.id.to_owned();
                let state = FileState::Content { hash, language, facts: facts.clone() };
                let contents = derived.map(|derived| *derived).into_iter().collect();
                let text = text.map(|text| (hash, text));
                (contents, KnownState::Content { hash, file_type, facts }, state, text)
            }
        };
        let files = stamp.map(|stamp| FileRow { path, stamp: Some(stamp), read_at_ns, state });
        let batch = Batch {
            contents,
            files: files.into_iter().collect(),
            removed: Vec::new(),
            at_s: self.world.clock.now_s(),
        };
        self.save(batch);
        (known, text)
    }

    /// Renders a file. What cannot be rendered becomes one line that says so.
    pub(super) fn render(&mut self, file: &KnownFile, rendering: Rendering<'_>, max_bytes: u64) -> Rendered {
        let wanted = rendering.view;
        let subject = match (&file.state, Subject::of(file)) {
            (_, Some(subject)) => subject,
            (KnownState::LeftOut(reason), None) => return failed(file, wanted, reason.words()),
            (KnownState::Content { .. }, None) => return failed(file, wanted, LeftOut::Unreadable.words()),
        };
        let has_structure = crate::syntax::has_structure(subject.file_type.id);
        let (view, why) = aggregate::fit_to_size(wanted, subject.facts.size, max_bytes, has_structure);
        let mut remarks = encoding_remark(subject.facts);
        let mut content = Some(subject.hash);
        let body = match view {
            ViewMode::None => {
                content = None;
                Some(aggregate::EXCLUDED.to_owned())
            }
            ViewMode::Full | ViewMode::Window => {
                match rendering.text.map_or_else(|| self.text(&file.path), Ok) {
                    Ok((hash, text)) => {
                        content = Some(hash);
                        Some(match view {
                            ViewMode::Window => {
                                aggregate::view_window(&text, rendering.lines, self.options.window_lines)
                            }
                            _ => text,
                        })
                    }
                    Err(reason) => return failed(file, wanted, reason.words()),
                }
            }
            ViewMode::Skeleton => self.skeleton(&subject).map(|skeleton| {
                remarks.extend(health_remark(skeleton.health));
                skeleton.text
            }),
            ViewMode::Outline => self.outline(&subject).map(|outline| {
                remarks.extend(health_remark(outline.health));
                aggregate::view_outline(&outline)
            }),
            ViewMode::Summary => self.summary(&subject).map(|words| {
                let outline = match rendering.detail {
                    SummaryDetail::Words => None,
                    SummaryDetail::TopLevel | SummaryDetail::Signatures => self.outline(&subject),
                };
                let is_broken = outline.as_ref().is_some_and(|outline| !outline.health.is_perfect());
                remarks.extend(is_broken.then(|| "understood in part".to_owned()));
                aggregate::view_summary(&words, outline.as_ref(), rendering.detail)
            }),
        };
        match body {
            Some(body) => Rendered { view, content, remarks, body, why },
            None => failed(file, wanted, LeftOut::Unstable.words()),
        }
    }
}

/// Returns the block that a rendered file is.
pub(super) fn block(file: &KnownFile, rendered: Rendered) -> Block {
    let Rendered { view, content, remarks, body, .. } = rendered;
    let file_type = match &file.state {
        KnownState::Content { file_type, .. } => file_type,
        KnownState::LeftOut(_) => crate::discover::unknown_type(),
    };
    Block { path: file.path.clone(), file_type, view, content, remarks, body }
}

fn failed(file: &KnownFile, view: ViewMode, reason: &str) -> Rendered {
    let body = aggregate::error_line(&file.path, view, reason);
    Rendered { view, content: None, remarks: Vec::new(), body, why: Some(reason.to_owned()) }
}

fn encoding_remark(facts: &Facts) -> Vec<String> {
    let foreign = facts.encoding.as_deref().filter(|encoding| *encoding != "UTF-8");
    foreign.map(|encoding| format!("decoded from {encoding}")).into_iter().collect()
}

fn health_remark(health: Health) -> Option<String> {
    if health.is_perfect() {
        return None;
    }
    let fallback = health.fallback.map_or(String::new(), |fallback| format!(", {}", fallback.name()));
    Some(format!("parse health {health}{fallback}"))
}

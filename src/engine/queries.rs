//! Outlines, symbols and slices of single files: only those files are read, so that an answer comes in milliseconds.

use std::collections::{HashMap, HashSet};

use super::error::Error;
use crate::engine::artifacts::{ArtifactCache, ContentRef, outline_producers};
use crate::engine::index::{FileSelection, Trust, select_named};
use crate::engine::workspace::{KnownFile, KnownState, Workspace, with_byte_order_mark};
use crate::model::{
    ContentHash, FileType, Outline, RelPath, SkipReason, Slice, SliceResolution, SliceStatus, Symbol,
    ViewMode,
};
use crate::sys::FileKind;
use crate::{aggregate, slices};

#[derive(Debug, Clone)]
pub struct OutlineAnswer {
    pub path: RelPath,
    pub hash: ContentHash,
    pub file_type: &'static FileType,
    pub lines: u32,
    pub outline: Outline,
}

impl OutlineAnswer {
    /// Returns the symbols, one a line.
    pub fn text(&self) -> String {
        aggregate::render_outline(&self.outline)
    }
}

pub(super) fn outlines(
    cache: &mut ArtifactCache<'_>,
    words: &[String],
    trust: Trust,
) -> Result<Vec<OutlineAnswer>, Error> {
    let FileSelection { mut files, named: by_name, .. } = select_named(cache, words, trust, &|_| false)?;
    // A selection lists the files that were named first, in the order of the arguments.
    files.sort_by(|a, b| a.path.cmp(&b.path));
    // Only those named by their paths have to have one: within a folder, files without an outline are nothing unusual.
    for file in files.iter().filter(|file| by_name.contains(&file.path)) {
        must_have_outline(file)?;
    }
    let outlines = outlines_of(cache, &files);
    cache.workspace.check_cancelled()?;
    Ok(outlines)
}

pub(super) fn outlines_of(cache: &mut ArtifactCache<'_>, files: &[KnownFile]) -> Vec<OutlineAnswer> {
    let mut answers = Vec::new();
    for subject in files.iter().filter_map(ContentRef::from_file) {
        if cache.workspace.world.progress.is_cancelled() {
            // The caller has to check whether it was cancelled.
            break;
        }
        let answer = cache.outline(&subject).map(|outline| OutlineAnswer {
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

/// A symbol that bears the name that was asked for.
#[derive(Debug, Clone)]
pub struct SymbolAnswer {
    pub path: RelPath,
    pub hash: ContentHash,
    pub symbol: Symbol,
    /// Its text; `None` if it was not asked for.
    pub definition: Option<String>,
}

pub(super) fn symbols(
    cache: &mut ArtifactCache<'_>,
    name: &str,
    with_text: bool,
    trust: Trust,
) -> Result<Vec<SymbolAnswer>, Error> {
    let mut answers = Vec::new();
    for (path, hash, outline) in outlines_that_mention(cache, name, trust)? {
        let mut found = Vec::new();
        outline.walk(|symbol, _| found.extend(matches_name(symbol, name).then(|| symbol.clone())));
        // An outline that contains the name need not define it: its text, a doc or an import may. Such a file is not
        // read.
        let text = if with_text && !found.is_empty() { cache.workspace.read_text(&path).ok() } else { None };
        for symbol in found {
            let definition = text.as_ref().and_then(|(of, text)| {
                // The file may have been edited since its outline was made; the spans would then delimit other text.
                let is_same = *of == hash;
                is_same.then(|| text.get(symbol.span.start_byte..symbol.span.end_byte)).flatten()
            });
            let definition = definition.map(str::to_owned);
            answers.push(SymbolAnswer { path: path.clone(), hash, symbol, definition });
        }
    }
    // Outlines from the store come before those that had to be derived, so the order in which they were found is not by
    // path.
    answers.sort_by(|a, b| a.path.cmp(&b.path).then(a.symbol.span.start_byte.cmp(&b.symbol.span.start_byte)));
    Ok(answers)
}

fn outlines_that_mention(
    cache: &mut ArtifactCache<'_>,
    name: &str,
    trust: Trust,
) -> Result<Vec<(RelPath, ContentHash, Outline)>, Error> {
    let mut files = select_named(cache, &[], trust, &|_| false)?.files;
    // The store is searched for the last part alone: it finds bytes within outlines, and how a qualified name is joined
    // there depends on the language.
    let own = name.rsplit(['.', ':']).next().unwrap_or(name);
    // A method of Ruby is `Frame#read`; a private field of JavaScript is `#read`.
    let own = own.rsplit_once('#').filter(|(owner, _)| !owner.is_empty()).map_or(own, |(_, own)| own);
    let by = outline_producers();
    let (mut searched, mut mentioning) = (HashSet::new(), HashMap::new());
    cache.query_store(|store| {
        store.search_outlines(own, &by, &mut |found| {
            let key = (found.hash, found.producer.language);
            searched.insert(key);
            mentioning.extend(found.outline.map(|outline| (key, outline)));
        })
    });
    let mut mentions = Vec::new();
    files.retain(|file| {
        let Some(subject) = ContentRef::from_file(file) else { return false };
        let key = (subject.hash, subject.file_type.id);
        let outline = mentioning.get(&key).cloned();
        mentions.extend(outline.map(|outline| (file.path.clone(), subject.hash, outline)));
        !searched.contains(&key)
    });
    // What the store does not hold, or cannot vouch for, is looked at one by one.
    let others = outlines_of(cache, &files);
    cache.workspace.check_cancelled()?;
    mentions.extend(others.into_iter().map(|answer| (answer.path, answer.hash, answer.outline)));
    Ok(mentions)
}

fn matches_name(symbol: &Symbol, name: &str) -> bool {
    if symbol.name == name || symbol.qualified_name == name {
        return true;
    }
    let rest = symbol.qualified_name.strip_suffix(name);
    // Only whole parts match: `run` is the end of `Engine.rerun`, but not its name. PHP joins its names by `\`.
    rest.is_some_and(|rest| rest.ends_with(['.', '\\']) || rest.ends_with("::"))
}

/// A larger file is not read to mark its lines. It is more than what is parsed: to find lines takes no parser, and
/// sources that were put together into one file (SQLite's) are larger than that.
const MOST_BYTES: u64 = 128 << 20;

pub(super) fn make_slice(
    workspace: &Workspace<'_>,
    word: &str,
    start_line: u32,
    end_line: u32,
) -> Result<Slice, Error> {
    let path = file_to_slice(workspace, word)?;
    match text_to_slice(workspace, &path) {
        Err(reason) => Err(Error::LeftOut { path, reason }),
        Ok(text) => {
            let made = slices::create_slice(&text, start_line, end_line);
            made.map_err(|source| Error::Slice { path, source })
        }
    }
}

pub(super) fn resolve_slice(
    workspace: &Workspace<'_>,
    word: &str,
    slice: &Slice,
) -> Result<SliceResolution, Error> {
    Ok(resolve_slices(workspace, word, std::slice::from_ref(slice))?.remove(0))
}

pub(super) fn resolve_slices(
    workspace: &Workspace<'_>,
    word: &str,
    marked: &[Slice],
) -> Result<Vec<SliceResolution>, Error> {
    let path = file_to_slice(workspace, word)?;
    let stale = |slice: &Slice, reason: SkipReason| SliceResolution {
        status: SliceStatus::Stale,
        start_line: slice.start_line,
        end_line: slice.end_line,
        reason: reason.description().to_owned(),
    };
    match text_to_slice(workspace, &path) {
        Ok(text) => Ok(marked.iter().map(|slice| slices::locate_slice(slice, &text)).collect()),
        Err(reason) if is_withheld(reason) => Err(Error::LeftOut { path, reason }),
        Err(reason) => Ok(marked.iter().map(|slice| stale(slice, reason)).collect()),
    }
}

fn file_to_slice(workspace: &Workspace<'_>, word: &str) -> Result<RelPath, Error> {
    let nothing = || Error::NothingSelected { word: word.to_owned() };
    let path = workspace.resolve_path(word)?.ok_or_else(nothing)?;
    if workspace.names.is_excluded(&path) {
        return Err(Error::Apart { path });
    }
    Ok(path)
}

fn text_to_slice(workspace: &Workspace<'_>, path: &RelPath) -> Result<String, SkipReason> {
    // Before the file is touched, so that one with the name of a secret is never opened.
    if let Some(reason) = workspace.names.skip_reason(path) {
        return Err(reason);
    }
    // Asked for before reading, because a failed reading reports a link as any other special file.
    match workspace.world.files.stat(path).map(|stat| stat.kind) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(SkipReason::Vanished),
        Err(_) => Err(SkipReason::Unreadable),
        Ok(FileKind::Symlink) => Err(SkipReason::Symlink),
        Ok(FileKind::Directory | FileKind::Special) => Err(SkipReason::Special),
        Ok(FileKind::Regular) => workspace.read_text_up_to(path, MOST_BYTES).map(with_byte_order_mark),
    }
}

/// Returns whether a file is kept from readers by its name, whatever is in it.
const fn is_withheld(reason: SkipReason) -> bool {
    match reason {
        SkipReason::Secret | SkipReason::History => true,
        // These are properties of the bytes or of the file as it is now, and may pass: then the slice is found again.
        SkipReason::Binary
        | SkipReason::TooLarge
        | SkipReason::Unreadable
        | SkipReason::Undecodable
        | SkipReason::Vanished
        | SkipReason::Unstable
        | SkipReason::Symlink
        | SkipReason::Special
        | SkipReason::Submodule
        | SkipReason::NestedRepository
        | SkipReason::SkippedFolder
        | SkipReason::HiddenFolder
        | SkipReason::OtherFileSystem => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Span, SymbolKind};

    #[test]
    fn a_name_means_a_symbol_by_the_end_of_its_qualified_name() {
        let symbol = Symbol {
            kind: SymbolKind::Method,
            name: "run".to_owned(),
            qualified_name: "core.Engine.run".to_owned(),
            span: Span { start_byte: 0, end_byte: 0, start_line: 1, end_line: 1 },
            signature: String::new(),
            doc: None,
            recovered: false,
            children: Vec::new(),
        };
        for name in ["run", "Engine.run", "core.Engine.run"] {
            assert!(matches_name(&symbol, name), "{name}");
        }
        for name in ["un", "gine.run", "Engine", "x.run"] {
            assert!(!matches_name(&symbol, name), "{name}");
        }
    }
}

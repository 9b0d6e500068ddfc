//! Curated items, and which of them applies to a file.

use std::collections::{BTreeSet, HashMap, HashSet};

use globset::GlobMatcher;

use super::selector::Selector;
use crate::model::{FileItem, RelPath, normalized_path, unescaped_path};

/// The items of a project, of a preset, or of both.
///
/// An item that spells a file's path wins over one whose pattern or folder the file falls under; among equals the last
/// one wins. So a rule for many files can come first, and its exceptions below.
#[derive(Debug, Clone, Default)]
pub struct CuratedItems {
    items: Vec<FileItem>,
    by_path: HashMap<Vec<u8>, usize>,
    patterns: PatternIndex,
    /// The last item that is about the whole project.
    everything: Option<usize>,
    overlay: Option<Box<CuratedItems>>,
    overrides: Option<Box<CuratedItems>>,
}

impl CuratedItems {
    /// Reads the items' paths, which are relative to the project's root. One that looks like a pattern and is none is a
    /// path like any other.
    pub fn new(items: Vec<FileItem>) -> Self {
        let (mut by_path, mut patterns, mut everything) = (HashMap::new(), PatternIndex::default(), None);
        for (at, item) in items.iter().enumerate() {
            let plain = normalized_path(&item.path).into_bytes();
            by_path.extend(unescaped_path(&plain).map(|meant| (meant, at)));
            // Inserted in order, so that of two items for the same path the later one wins, as with patterns.
            by_path.insert(plain, at);
            match Selector::new_lenient(&item.path) {
                Selector::Parts(word) if is_everything(&word) => everything = Some(at),
                Selector::Parts(_) => {}
                Selector::Pattern { glob, word } => patterns.insert(&word, *glob, at),
            }
        }
        Self { items, by_path, patterns, everything, overlay: None, overrides: None }
    }

    /// Returns these items with others laid over them: the others' items win. One that does nothing but
    /// that the file is wanted hides nothing.
    #[must_use]
    pub fn overlaid_by(self, above: Self) -> Self {
        Self { overlay: Some(Box::new(above)), ..self }
    }

    /// Returns these items with those of a question before them: the first of those that applies to a file decides, even
    /// if it is plain, for it was given for this one answer.
    #[must_use]
    pub fn overridden_by(self, first: Self) -> Self {
        Self { overrides: Some(Box::new(first)), ..self }
    }

    pub fn find(&self, path: &RelPath) -> Option<&FileItem> {
        if let Some(first) = self.find_override(path) {
            return Some(first);
        }
        // A plain item of a preset only says that the file belongs to it; what the project says of the file still
        // holds. It is returned last, because it does say that.
        let above = self.overlay.as_ref().and_then(|above| above.find(path));
        above.filter(|item| !item.is_plain()).or_else(|| self.find_own(path)).or(above)
    }

    /// Returns the item of the question itself that applies to a file.
    pub fn find_override(&self, path: &RelPath) -> Option<&FileItem> {
        self.overrides.as_ref().and_then(|overrides| overrides.find(path))
    }

    fn find_own(&self, path: &RelPath) -> Option<&FileItem> {
        if let Some(at) = self.by_path.get(path.as_bytes()) {
            return Some(&self.items[*at]);
        }
        let folders = folders_of(path).filter_map(|folder| self.by_path.get(folder).copied());
        let last = folders.max().max(self.everything);
        self.patterns.last_match(path, last).or(last).map(|at| &self.items[at])
    }

    /// Returns whether something is so of any item, of those too that take precedence over others.
    pub fn any(&self, is_so: fn(&FileItem) -> bool) -> bool {
        let others = [&self.overlay, &self.overrides];
        self.items.iter().any(is_so) || others.into_iter().flatten().any(|others| others.any(is_so))
    }

    /// Returns the items that none of these files answers to: those of the project, and those that
    /// [`Self::overridden_by`] put before them.
    pub fn unmatched(&self, files: &[&RelPath]) -> [Vec<&FileItem>; 2] {
        let index = FileIndex::new(files);
        let unmatched = |items: &'_ Self| -> Vec<usize> {
            (0..items.items.len()).filter(|at| !index.has(&items.items[*at].path)).collect()
        };
        let own = unmatched(self).into_iter().map(|at| &self.items[at]).collect();
        let first = self.overrides.as_deref();
        let first = first
            .map_or(Vec::new(), |first| unmatched(first).into_iter().map(|at| &first.items[at]).collect());
        [own, first]
    }
}

/// Returns whether a word means all files.
fn is_everything(word: &[u8]) -> bool {
    word.is_empty() || word == b"."
}

/// Returns the folders that a file lies in.
fn folders_of(path: &RelPath) -> impl Iterator<Item = &[u8]> {
    let path = path.as_bytes();
    memchr::memchr_iter(b'/', path).map(|end| &path[..end])
}

/// Patterns by what they begin with, so that a file is compared only with those that may match it: a request may bring ten
/// thousand.
#[derive(Debug, Clone, Default)]
struct PatternIndex {
    /// The lengths of the keys below.
    lengths: BTreeSet<usize>,
    by_prefix: HashMap<Vec<u8>, Vec<(usize, GlobMatcher)>>,
}

impl PatternIndex {
    /// Adds a pattern; those that are added later have greater numbers.
    fn insert(&mut self, word: &[u8], glob: GlobMatcher, at: usize) {
        let prefix = literal_prefix(word);
        self.lengths.insert(prefix.len());
        self.by_prefix.entry(prefix.to_vec()).or_default().push((at, glob));
    }

    /// Returns the last pattern that matches a path, if it comes after `best`.
    fn last_match(&self, path: &RelPath, best: Option<usize>) -> Option<usize> {
        let mut last = None;
        for length in self.lengths.range(..=path.as_bytes().len()) {
            let patterns = self.by_prefix.get(&path.as_bytes()[..*length]).into_iter().flatten();
            let later = patterns.rev().take_while(|(at, _)| best.max(last) < Some(*at));
            last = later
                .map(|(at, glob)| (at, glob))
                .find(|(_, glob)| glob.is_match(path.as_path()))
                .map_or(last, |(at, _)| Some(*at));
        }
        last
    }
}

/// Returns what every path begins with that a pattern matches.
fn literal_prefix(word: &[u8]) -> &[u8] {
    let end = word.iter().position(|byte| b"*?[{\\".contains(byte)).unwrap_or(word.len());
    // Not the slash, so that it does not matter whether `a/**` matches `a`.
    word[..end].strip_suffix(b"/").unwrap_or(&word[..end])
}

/// Files, for questions about which words select any of them.
struct FileIndex<'a> {
    sorted: Vec<&'a RelPath>,
    /// The paths of the files, and of the folders that they are in.
    names: HashSet<&'a [u8]>,
}

impl<'a> FileIndex<'a> {
    fn new(files: &[&'a RelPath]) -> Self {
        let mut sorted = files.to_vec();
        sorted.sort_unstable_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
        let names = files.iter().flat_map(|file| folders_of(file).chain([file.as_bytes()])).collect();
        Self { sorted, names }
    }

    /// Returns whether a word selects one of the files.
    fn has(&self, word: &str) -> bool {
        let has_name = |word: &[u8]| {
            self.names.contains(word)
                || unescaped_path(word).is_some_and(|meant| self.names.contains(meant.as_slice()))
        };
        match Selector::new_lenient(word) {
            Selector::Parts(word) => !self.sorted.is_empty() && is_everything(&word) || has_name(&word),
            Selector::Pattern { glob, word } => {
                let prefix = literal_prefix(&word);
                let from = self.sorted.partition_point(|file| file.as_bytes() < prefix);
                let mut near =
                    self.sorted[from..].iter().take_while(|file| file.as_bytes().starts_with(prefix));
                has_name(&word) || near.any(|file| glob.is_match(file.as_path()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares what the index finds with what the selectors say one by one.
    #[test]
    fn an_item_is_found_as_if_all_were_tried() {
        let words = [
            "src", "*.py", "src/*.py", "src/**", "src/[id].py", "src/[id]*", "docs/", "./a.py", "**/b.c",
            "{src,docs}/*.md", "src/deep/**/x?.py", "gone.py", "src\\deep", ".", "src/deep", "b\\xff.c",
            "s*",
        ];
        let files = [
            "a.py", "src/a.py", "src/[id].py", "src/i.py", "src/deep/x1.py", "src/deep/er/x2.py",
            "docs/a.md", "b.c", "lib/b.c", "srcs/a.md", "other",
        ];
        let files: Vec<RelPath> = files.iter().map(|file| RelPath::new(file.as_bytes()).unwrap()).collect();
        // Every run of words, so that each is once the last one.
        for (from, to) in (0..words.len()).flat_map(|from| (from + 1..=words.len()).map(move |to| (from, to)))
        {
            let chosen = &words[from..to];
            let items = CuratedItems::new(chosen.iter().map(|word| FileItem::plain(*word)).collect());
            for file in &files {
                let exact = |word: &&&str| normalized_path(word).as_bytes() == file.as_bytes();
                let selects = |word: &&&str| Selector::new_lenient(word).selects(file);
                let expected = chosen.iter().rfind(exact).or_else(|| chosen.iter().rfind(selects));
                let found = items.find(file).map(|item| item.path.as_str());
                assert_eq!(found, expected.copied(), "{file} in {chosen:?}");
            }
            let gone = chosen
                .iter()
                .filter(|word| !files.iter().any(|file| Selector::new_lenient(word).selects(file)));
            let [unmatched, _] = items.unmatched(&files.iter().collect::<Vec<_>>());
            let unmatched: Vec<&str> = unmatched.iter().map(|item| item.path.as_str()).collect();
            assert_eq!(unmatched, gone.copied().collect::<Vec<_>>());
        }
    }
}

//! Curated items, and the lookup of the item that applies to a file.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use aho_corasick::AhoCorasick;
use globset::GlobMatcher;
use rustc_hash::FxHashMap;

use super::selector::Selector;
use crate::model::{FileItem, MaskMode, RelPath, normalized_path, unescaped_path};

/// The items of a project, of a preset, or of both.
///
/// An item that names a file's exact path takes precedence over patterns and folders; among equals the last one wins.
/// So a general rule can come first, and its exceptions below it.
#[derive(Debug, Clone, Default)]
pub struct CuratedItems {
    items: Vec<FileItem>,
    by_path: FxHashMap<Vec<u8>, usize>,
    patterns: PatternIndex,
    /// The last item for the whole project.
    everything: Option<usize>,
    overlay: Option<Box<CuratedItems>>,
    overrides: Option<Box<CuratedItems>>,
}

impl CuratedItems {
    /// Parses the items' paths, which are relative to the project's root. An invalid pattern is taken as a literal
    /// path.
    pub fn new(items: Vec<FileItem>) -> Self {
        let (mut by_path, mut patterns, mut everything) = (FxHashMap::default(), Vec::new(), None);
        for (at, item) in items.iter().enumerate() {
            let plain = normalized_path(&item.path).into_bytes();
            by_path.extend(unescaped_path(&plain).map(|meant| (meant, at)));
            // Inserted in order, so that the later of two items for the same path wins, as with patterns.
            by_path.insert(plain, at);
            match Selector::new_lenient(&item.path) {
                Selector::Parts(word) if is_everything(&word) => everything = Some(at),
                Selector::Parts(_) => {}
                Selector::Pattern { glob, word } => patterns.push((at, *glob, word)),
            }
        }
        let patterns = PatternIndex::new(patterns);
        Self { items, by_path, patterns, everything, overlay: None, overrides: None }
    }

    /// Returns these items overlaid by others, which win. A plain item among the others, which only says that the file
    /// is wanted, does not hide an item below it.
    #[must_use]
    pub fn overlaid_by(self, above: Self) -> Self {
        Self { overlay: Some(Box::new(above)), ..self }
    }

    /// Returns these items preceded by those of a question. An item of the question that applies to a file decides,
    /// even if it is plain, because it was given for this answer.
    #[must_use]
    pub fn overridden_by(self, first: Self) -> Self {
        Self { overrides: Some(Box::new(first)), ..self }
    }

    pub fn find(&self, path: &RelPath) -> Option<&FileItem> {
        if let Some(first) = self.find_override(path) {
            return Some(first);
        }
        // A plain item of a preset only says that the file belongs to it; what the project says about the file still
        // holds. It is returned last, if nothing else applies.
        let above = self.overlay.as_ref().and_then(|above| above.find(path));
        above.filter(|item| !item.is_plain()).or_else(|| Some(&self.items[self.find_own(path)?])).or(above)
    }

    /// Returns the position of the project's own item that applies to a file; `None` if none does, or an item of
    /// another list takes precedence.
    pub fn own_position(&self, path: &RelPath) -> Option<usize> {
        let is_plain = |above: &Self| above.find(path).is_none_or(FileItem::is_plain);
        let is_own = self.find_override(path).is_none() && self.overlay.as_deref().is_none_or(is_plain);
        if is_own { self.find_own(path) } else { None }
    }

    /// Returns whether the item at the same position applies to a file in both lists, with equal contents.
    pub fn apply_as(&self, other: &Self, path: &RelPath) -> bool {
        match (self.find(path), other.find(path)) {
            (None, None) => true,
            (item, before) => item == before && self.own_position(path) == other.own_position(path),
        }
    }

    /// Returns the items that the other list does not have at the same position, for both lists. For a file to which
    /// none of them applies, [`Self::apply_as`] is true.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let mut items = Vec::new();
        self.add_difference(Some(other), &mut items);
        other.add_difference(Some(self), &mut items);
        Self::new(items)
    }

    fn add_difference(&self, other: Option<&Self>, items: &mut Vec<FileItem>) {
        let before = other.map_or(&[][..], |other| &other.items);
        let same = self.items.iter().zip(before).take_while(|(item, before)| item == before).count();
        items.extend_from_slice(&self.items[same..]);
        let levels: [fn(&Self) -> Option<&Self>; 2] =
            [|items| items.overlay.as_deref(), |items| items.overrides.as_deref()];
        for level in levels {
            if let Some(own) = level(self) {
                own.add_difference(other.and_then(level), items);
            }
        }
    }

    /// Returns the item of the question itself that applies to a file.
    pub fn find_override(&self, path: &RelPath) -> Option<&FileItem> {
        self.overrides.as_ref().and_then(|overrides| overrides.find(path))
    }

    fn find_own(&self, path: &RelPath) -> Option<usize> {
        // The usual case: otherwise each of tens of thousands of files would be looked up with all of its folders.
        if self.items.is_empty() {
            return None;
        }
        if let Some(at) = self.by_path.get(path.as_bytes()) {
            return Some(*at);
        }
        let folders = folders_of(path).filter_map(|folder| self.by_path.get(folder).copied());
        let last = folders.max().max(self.everything);
        self.patterns.last_match(path, last).or(last)
    }

    /// Returns whether any item satisfies a predicate, including those of overlays and overrides.
    pub fn any(&self, is_so: fn(&FileItem) -> bool) -> bool {
        let others = [&self.overlay, &self.overrides];
        self.items.iter().any(is_so) || others.into_iter().flatten().any(|others| others.any(is_so))
    }

    /// Returns the names of all symbols that the items hide.
    pub fn hidden_keys(&self) -> Vec<&str> {
        let own = self.items.iter().flat_map(|item| &item.ast_mask);
        let own = own.filter(|(_, mode)| *mode == MaskMode::Hide).map(|(key, _)| key.as_str());
        let others = [&self.overlay, &self.overrides].into_iter().flatten();
        own.chain(others.flat_map(|others| others.hidden_keys())).collect()
    }

    /// Returns the items that apply to none of these files: those of the project, and those added by
    /// [`Self::overridden_by`].
    pub fn unmatched(&self, files: &[&RelPath]) -> [Vec<&FileItem>; 2] {
        // The paths of the files, and of the folders that they are in.
        let names = files.iter().flat_map(|file| folders_of(file).chain([file.as_bytes()])).collect();
        let first = self.overrides.as_deref().map_or(Vec::new(), |first| first.own_unmatched(files, &names));
        [self.own_unmatched(files, &names), first]
    }

    fn own_unmatched(&self, files: &[&RelPath], names: &HashSet<&[u8]>) -> Vec<&FileItem> {
        let matched = self.patterns.matching_any(files);
        let has_name = |word: &[u8]| {
            names.contains(word) || unescaped_path(word).is_some_and(|meant| names.contains(meant.as_slice()))
        };
        let selects_any = |at: usize, item: &FileItem| {
            let word = normalized_path(&item.path).into_bytes();
            matched.contains(&at) || !files.is_empty() && is_everything(&word) || has_name(&word)
        };
        let items = self.items.iter().enumerate().filter(|(at, item)| !selects_any(*at, item));
        items.map(|(_, item)| item).collect()
    }
}

/// Returns whether a path or pattern means all files.
fn is_everything(word: &[u8]) -> bool {
    word.is_empty() || word == b"."
}

/// Returns the folders that contain a file.
fn folders_of(path: &RelPath) -> impl Iterator<Item = &[u8]> {
    let path = path.as_bytes();
    memchr::memchr_iter(b'/', path).map(|end| &path[..end])
}

/// Patterns indexed by a literal that every path they match contains, so that a file is compared with few of them: a
/// request may bring ten thousand patterns.
#[derive(Debug, Clone, Default)]
struct PatternIndex {
    /// With the positions of their items, ascending.
    patterns: Vec<(usize, GlobMatcher)>,
    /// Finds the literals in a path; `None` if there are none.
    literals: Option<AhoCorasick>,
    /// The positions of the patterns of each literal.
    by_literal: Vec<Vec<usize>>,
    /// The positions of the patterns without a literal.
    others: Vec<usize>,
}

impl PatternIndex {
    /// Indexes patterns, each with its text and the position of its item; the positions ascend.
    fn new(patterns: Vec<(usize, GlobMatcher, Vec<u8>)>) -> Self {
        let mut counts: HashMap<&[u8], usize> = HashMap::new();
        let literals: Vec<Vec<&[u8]>> = patterns.iter().map(|(.., word)| literals(word)).collect();
        literals.iter().flatten().for_each(|literal| *counts.entry(*literal).or_default() += 1);
        let mut by_literal: HashMap<&[u8], Vec<usize>> = HashMap::new();
        let mut others = Vec::new();
        for (at, of_pattern) in literals.iter().enumerate() {
            // The literal that the fewest patterns share; among those the longest.
            let best = of_pattern.iter().min_by_key(|literal| (counts[**literal], Reverse(literal.len())));
            match best {
                Some(literal) => by_literal.entry(*literal).or_default().push(at),
                None => others.push(at),
            }
        }
        let (words, mut by_literal): (Vec<&[u8]>, Vec<Vec<usize>>) = by_literal.into_iter().unzip();
        let literals = AhoCorasick::new(&words).ok().filter(|_| !words.is_empty());
        if literals.is_none() {
            // Too many for the automaton: every pattern is compared.
            others.extend(by_literal.drain(..).flatten());
        }
        let patterns = patterns.into_iter().map(|(item, glob, _)| (item, glob)).collect();
        Self { patterns, literals, by_literal, others }
    }

    /// Returns the positions of the patterns that may match a path, in descending order.
    fn candidates(&self, path: &RelPath) -> Vec<usize> {
        let mut candidates = self.others.clone();
        let found = self.literals.iter().flat_map(|literals| literals.find_overlapping_iter(path.as_bytes()));
        candidates.extend(found.flat_map(|literal| &self.by_literal[literal.pattern().as_usize()]));
        candidates.sort_unstable_by_key(|at| Reverse(*at));
        candidates.dedup();
        candidates
    }

    /// Returns the items whose patterns match any of the paths. A pattern that has matched is not compared again.
    fn matching_any(&self, paths: &[&RelPath]) -> HashSet<usize> {
        let mut matched = HashSet::new();
        for path in paths {
            for at in self.candidates(path) {
                let (item, glob) = &self.patterns[at];
                if !matched.contains(item) && glob.is_match(path.as_path()) {
                    matched.insert(*item);
                }
            }
        }
        matched
    }

    /// Returns the last item whose pattern matches a path, if it comes after `best`.
    fn last_match(&self, path: &RelPath, best: Option<usize>) -> Option<usize> {
        let mut candidates = self.candidates(path).into_iter().map(|at| &self.patterns[at]);
        let later = candidates.by_ref().take_while(|(item, _)| best < Some(*item));
        later.filter(|(_, glob)| glob.is_match(path.as_path())).map(|(item, _)| *item).next()
    }
}

/// Returns literals that occur in every path that a pattern matches. None contains a slash, because `**/` also matches
/// nothing.
fn literals(word: &[u8]) -> Vec<&[u8]> {
    let mut literals = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < word.len() {
        let next = match word[at] {
            b'[' => end_of_class(word, at),
            b'{' => end_of_alternatives(word, at),
            // An escaped byte is a literal too, but is not needed.
            b'\\' => at + 2,
            b'*' | b'?' | b'/' => at + 1,
            _ => {
                at += 1;
                continue;
            }
        };
        literals.push(&word[start..at]);
        (start, at) = (next.min(word.len()), next.min(word.len()));
    }
    literals.push(&word[start..]);
    literals.retain(|literal| !literal.is_empty());
    literals
}

/// Returns where the character class that begins at `start` ends, after its bracket.
fn end_of_class(word: &[u8], start: usize) -> usize {
    let negation = usize::from(matches!(word.get(start + 1), Some(b'!' | b'^')));
    // A bracket in first position is a member of the class.
    let first = start + 1 + negation + 1;
    let end = word.get(first..).and_then(|rest| rest.iter().position(|byte| *byte == b']'));
    end.map_or(word.len(), |end| first + end + 1)
}

/// Returns where the alternatives that begin at `start` end, after the last brace.
fn end_of_alternatives(word: &[u8], start: usize) -> usize {
    let (mut depth, mut at) = (0_usize, start);
    while at < word.len() {
        match word[at] {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b'[' => at = end_of_class(word, at) - 1,
            b'\\' => at += 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the result of the index with that of trying each selector.
    #[test]
    fn an_item_is_found_as_if_all_were_tried() {
        let words = [
            "src", "*.py", "src/*.py", "src/**", "src/[id].py", "src/[id]*", "docs/", "./a.py", "**/b.c",
            "{src,docs}/*.md", "src/deep/**/x?.py", "gone.py", "src\\deep", ".", "src/deep", "b\\xff.c",
            "s*", "**/*.py", "*/[!]a]*/**", "{a,b{c,d}}.*", "[{]*", "src/{i,\\{}.p[xy]", "?.c", "**",
        ];
        let files = [
            "a.py", "src/a.py", "src/[id].py", "src/i.py", "src/deep/x1.py", "src/deep/er/x2.py",
            "docs/a.md", "b.c", "lib/b.c", "srcs/a.md", "other", "{a", "src/{.py",
        ];
        let files: Vec<RelPath> = files.iter().map(|file| RelPath::new(file.as_bytes()).unwrap()).collect();
        // Every contiguous range, so that each item is the last one at some point.
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

    #[test]
    fn a_file_to_which_no_item_of_the_difference_applies_is_curated_as_before() {
        let words = ["src", "*.py", "src/a.py", "docs/**", "src/*.py", "docs/a.md", "**"];
        let files = ["a.py", "src/a.py", "src/b.c", "docs/a.md", "other"];
        let files: Vec<RelPath> = files.iter().map(|file| RelPath::new(file.as_bytes()).unwrap()).collect();
        let items =
            |words: &[&str]| CuratedItems::new(words.iter().map(|word| FileItem::plain(*word)).collect());
        let (mut same, mut other) = (0, 0);
        for cut in 0..words.len() {
            for (before, now) in [
                (items(&words), items(&[&words[..cut], &words[cut + 1..]].concat())),
                (items(&words[..cut]), items(&words)),
                (items(&words[..cut]), items(&words[..cut]).overlaid_by(items(&words[cut..=cut]))),
                (items(&words).overridden_by(items(&words[..cut])), items(&words)),
            ] {
                for file in &files {
                    let is_different = now.difference(&before).find(file).is_some();
                    assert!(is_different || now.apply_as(&before, file), "{file} without {}", words[cut]);
                    *(if is_different { &mut other } else { &mut same }) += 1;
                }
            }
        }
        assert!(30 < same && 30 < other, "{same} {other}");
        assert_eq!(items(&words).difference(&items(&words)).find(&files[0]), None);
    }
}

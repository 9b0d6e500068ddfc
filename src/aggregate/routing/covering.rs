//! Finds entries that cover a selection of files: one for each folder that is selected as a whole, and one for each
//! other file.

use std::collections::{BTreeMap, BTreeSet};

use super::selector::Selector;
use crate::model::{RelPath, normalized_path, path_text, unescaped_path};

/// The entries that cover a selection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Covering {
    pub entries: Vec<CoveringEntry>,
    /// The files that are covered.
    pub files: BTreeSet<RelPath>,
    /// The arguments that select no file.
    pub unmatched: Vec<String>,
    /// The folders most of whose files are selected by entries of their own.
    pub crowded: Vec<CrowdedFolder>,
}

/// An entry for a file, a folder or a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoveringEntry {
    /// A path or a pattern.
    pub path: String,
    /// The folder that the entry covers completely, if any; empty for the root.
    pub folder: Option<String>,
}

/// A folder of which only some files are selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrowdedFolder {
    /// The pattern that would cover the whole folder.
    pub pattern: String,
    pub selected: usize,
    pub files: usize,
}

const LISTED_FOLDERS: usize = 3;

/// Returns the entries that cover the files selected by `words`: paths, folders and patterns. `files` are all files of
/// the project, sorted by their bytes; `is_shown` returns whether a file can be shown. Patterns become entries
/// unchanged.
pub fn cover_files<'p>(
    files: impl Iterator<Item = &'p RelPath>,
    is_shown: &dyn Fn(&RelPath) -> bool,
    words: &[String],
) -> Covering {
    let mut sorted: Vec<Candidate<'_>> = files.map(|path| Candidate { path, is_selected: false }).collect();
    let mut covering = Covering::default();
    let (mut patterns, mut named) = (BTreeSet::new(), BTreeSet::new());
    for word in words {
        let plain = normalized_path(word);
        let meant = [Some(plain.clone().into_bytes()), unescaped_path(plain.as_bytes())];
        if let Some(path) = meant.into_iter().flatten().find(|path| select_path(&mut sorted, path)) {
            named.insert(path);
            continue;
        }
        let selector = Selector::new_lenient(&plain);
        let matched: Vec<RelPath> = sorted
            .iter()
            .filter(|file| matches!(selector, Selector::Pattern { .. }) && selector.selects(file.path))
            .map(|file| file.path.clone())
            .collect();
        if matched.is_empty() {
            covering.unmatched.push(word.clone());
        } else {
            covering.files.extend(matched);
            patterns.insert(plain);
        }
    }
    covering.files.extend(sorted.iter().filter(|file| file.is_selected).map(|file| file.path.clone()));
    let mut cover = FolderCover { is_shown, named: &named, entries: Vec::new() };
    cover.cover(&sorted, 0);
    covering.entries = cover.entries;
    covering.crowded = crowded_folders(&sorted, &covering.entries);
    covering.entries.extend(patterns.into_iter().map(|path| CoveringEntry { path, folder: None }));
    covering
}

#[derive(Debug, Clone, Copy)]
struct Candidate<'a> {
    path: &'a RelPath,
    is_selected: bool,
}

/// Selects a file, or everything in a folder. Returns whether the file or folder exists.
fn select_path(sorted: &mut [Candidate<'_>], path: &[u8]) -> bool {
    if path.is_empty() {
        for file in sorted.iter_mut() {
            file.is_selected = true;
        }
        return !sorted.is_empty();
    }
    if let Ok(at) = sorted.binary_search_by(|file| file.path.as_bytes().cmp(path)) {
        sorted[at].is_selected = true;
        return true;
    }
    let folder = [path, b"/"].concat();
    let inside = range_of(sorted, &folder);
    for file in &mut sorted[inside.clone()] {
        file.is_selected = true;
    }
    !inside.is_empty()
}

/// Returns the range of the files whose paths begin with `prefix`.
fn range_of(sorted: &[Candidate<'_>], prefix: &[u8]) -> std::ops::Range<usize> {
    let from = sorted.partition_point(|file| file.path.as_bytes() < prefix);
    let count = sorted[from..].partition_point(|file| file.path.as_bytes().starts_with(prefix));
    from..from + count
}

struct FolderCover<'c> {
    is_shown: &'c dyn Fn(&RelPath) -> bool,
    /// The files and folders that were named.
    named: &'c BTreeSet<Vec<u8>>,
    entries: Vec<CoveringEntry>,
}

impl FolderCover<'_> {
    /// Adds the entries that cover the selected files of a folder. The paths of `files` have their first `prefix` bytes
    /// in common. A folder that was named gets an entry even if it contains only one file.
    fn cover(&mut self, files: &[Candidate<'_>], prefix: usize) {
        let selected = files.iter().filter(|file| file.is_selected).count();
        if selected == 0 {
            return;
        }
        let folder = &files[0].path.as_bytes()[..prefix];
        let is_named = || self.named.contains(folder.strip_suffix(b"/").unwrap_or(folder));
        // A folder that was named is never covered by one around it, which may get other files later.
        let is_above_named = || {
            let mut below = self.named.range(folder.to_vec()..).take_while(|named| named.starts_with(folder));
            let is_file =
                |named: &Vec<u8>| files.binary_search_by(|file| file.path.as_bytes().cmp(named)).is_ok();
            below.any(|named| named.len() > prefix && !is_file(named))
        };
        // A file that cannot be shown has no effect; selecting all others means the folder.
        let is_whole = || files.iter().all(|file| file.is_selected || !(self.is_shown)(file.path));
        if (is_named() || 1 < selected && !is_above_named()) && is_whole() {
            self.entries.push(folder_entry(folder));
            return;
        }
        let mut rest = files;
        while let Some(first) = rest.first() {
            let path = first.path.as_bytes();
            let count = if let Some(end) = memchr::memchr(b'/', &path[prefix..]) {
                let below = prefix + end + 1;
                let count = rest.partition_point(|file| file.path.as_bytes().starts_with(&path[..below]));
                self.cover(&rest[..count], below);
                count
            } else {
                if first.is_selected {
                    self.entries.push(CoveringEntry { path: path_text(path), folder: None });
                }
                1
            };
            rest = &rest[count..];
        }
    }
}

/// Returns the entry for a folder. Its path ends with a slash, unless it is the root.
fn folder_entry(folder: &[u8]) -> CoveringEntry {
    let folder = path_text(folder.strip_suffix(b"/").unwrap_or(folder));
    let path = match &*folder {
        "" => "**".to_owned(),
        // Such a name has another meaning in a pattern. The plain path of a folder is an entry for all of it as well.
        name if name.contains(['*', '?', '[', ']', '{', '}', '\\']) => name.to_owned(),
        name => format!("{name}/**"),
    };
    CoveringEntry { path, folder: Some(folder) }
}

/// Returns the folders in which most files have entries of their own.
fn crowded_folders(sorted: &[Candidate<'_>], entries: &[CoveringEntry]) -> Vec<CrowdedFolder> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.folder.is_none()) {
        let folder = entry.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        *counts.entry(folder).or_default() += 1;
    }
    let mut folders: Vec<(&str, usize)> = counts.into_iter().collect();
    folders.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    folders.truncate(LISTED_FOLDERS);
    let crowded = folders.into_iter().map(|(folder, _)| {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let inside = &sorted[range_of(sorted, prefix.as_bytes())];
        let selected = inside.iter().filter(|file| file.is_selected).count();
        CrowdedFolder { pattern: folder_entry(prefix.as_bytes()).path, selected, files: inside.len() }
    });
    crowded.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&str; 10] = [
        "README.md", "app/[id]/a.ts", "app/[id]/b.ts", "app/x.ts", "src/a.c", "src/b.c", "src/logo.png",
        "src/net/tcp.c", "src/net/udp.c", "src-old/a.c",
    ];

    fn cover(words: &[&str]) -> Covering {
        let mut paths: Vec<RelPath> =
            FILES.iter().map(|path| RelPath::new(path.as_bytes()).unwrap()).collect();
        paths.sort_unstable();
        let is_shown = |path: &RelPath| !path.as_bytes().ends_with(b".png");
        cover_files(paths.iter(), &is_shown, &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[track_caller]
    fn check(words: &[&str], entries: &[&str], files: usize) {
        let covering = cover(words);
        let paths: Vec<&str> = covering.entries.iter().map(|entry| &*entry.path).collect();
        assert_eq!((&*paths, covering.files.len()), (entries, files));
    }

    #[test]
    fn a_folder_that_is_selected_as_a_whole_becomes_one_entry() {
        check(&["src/net/tcp.c"], &["src/net/tcp.c"], 1);
        check(&["src/net/tcp.c", "./src//net/udp.c"], &["src/net/**"], 2);
        // Without the image, which can never be shown.
        check(&["src/a.c", "src/b.c", "src/net/tcp.c", "src/net/udp.c"], &["src/**"], 4);
        check(&["src/"], &["src/**"], 5);
        check(&["src", "README.md"], &["README.md", "src/**"], 6);
        check(&["src-old/a.c"], &["src-old/a.c"], 1);
        check(&["src-old"], &["src-old/**"], 1);
        check(&["."], &["**"], 10);
        // Not as `**`, although no other file could be shown.
        check(&["README.md", "app", "src", "src-old"], &["README.md", "app/**", "src-old/**", "src/**"], 10);
        check(&["src/a.c", "src/b.c", "src/net"], &["src/a.c", "src/b.c", "src/net/**"], 4);
        check(&["app/[id]/a.ts", "app/[id]/b.ts"], &["app/[id]"], 2);
        // A pattern is kept as it was given.
        check(&["src/*.c"], &["src/*.c"], 2);
    }

    #[test]
    fn arguments_that_select_nothing_and_crowded_folders_are_listed() {
        let covering = cover(&["gone.c", "src/a.c", "*.py"]);
        assert_eq!(covering.unmatched, ["gone.c", "*.py"]);
        let crowded = CrowdedFolder { pattern: "src/**".to_owned(), selected: 1, files: 5 };
        assert_eq!(covering.crowded, [crowded]);
    }
}

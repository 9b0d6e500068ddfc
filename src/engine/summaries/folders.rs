//! The subject of a folder: the contents in it, whatever their names.
//!
//! A folder's subject is a hash of its children's subjects. No name and no path enters it, so that a folder that is
//! renamed or moved is not asked about again, and one file that changes has those folders alone asked about that hold
//! it.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{ContentHash, RelPath, SummaryScope};

/// Something that a summary may be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubjectKey {
    /// What kind of subject it is.
    pub scope: SummaryScope,
    /// What it is about.
    pub subject: ContentHash,
    /// Id of the file type that a content is read as; empty for a folder.
    pub language: &'static str,
}

/// A file that has a place in the tree.
#[derive(Debug, Clone, Copy)]
pub struct SubjectFile<'a> {
    /// Where it is.
    pub path: &'a RelPath,
    /// What it is: its content, read as a type of file.
    pub key: SubjectKey,
    /// How many bytes it has.
    pub bytes: u64,
}

/// A folder, and its subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectFolder {
    /// Where it is; `None` for the root.
    pub path: Option<RelPath>,
    /// What it is about. Where all that lies in it is one thing, it is that thing.
    pub key: SubjectKey,
    /// What lies in it, each thing once, with its bytes; nothing where it is the one thing that lies in it.
    pub children: BTreeMap<SubjectKey, u64>,
    /// How many bytes the files in it have.
    pub bytes: u64,
}

/// Returns the folders that hold some of these files, those below before those that they lie in; the root is the last.
pub fn subject_folders(leaves: &[SubjectFile<'_>]) -> Vec<SubjectFolder> {
    let mut inside: BTreeMap<&[u8], BTreeMap<SubjectKey, u64>> = BTreeMap::new();
    for leaf in leaves {
        inside.entry(leaf.path.parent()).or_default().insert(leaf.key, leaf.bytes);
    }
    let paths: BTreeSet<&[u8]> = inside.keys().flat_map(|path| with_ancestors(path)).collect();
    let mut folders = Vec::with_capacity(paths.len());
    // A folder's path is a prefix of the paths of everything in it, and so sorts before them.
    for path in paths.into_iter().rev() {
        let children = inside.remove(path).unwrap_or_default();
        let folder = folder(path, children);
        if let Some(above) = parent_folder(path) {
            inside.entry(above).or_default().insert(folder.key, folder.bytes);
        }
        folders.push(folder);
    }
    folders
}

fn folder(path: &[u8], children: BTreeMap<SubjectKey, u64>) -> SubjectFolder {
    let path = RelPath::new(path).ok();
    let bytes = children.values().sum();
    if let (Some(node), 1) = (children.keys().next().copied(), children.len()) {
        return SubjectFolder { path, key: node, children: BTreeMap::new(), bytes };
    }
    let scope = if path.is_some() { SummaryScope::Folder } else { SummaryScope::Project };
    let mut text = format!("{}/1\n", scope.name());
    for child in children.keys() {
        text.extend([child.scope.name(), " ", &child.subject.to_string(), " ", child.language, "\n"]);
    }
    let node = SubjectKey { scope, subject: ContentHash::digest(text.as_bytes()), language: "" };
    SubjectFolder { path, key: node, children, bytes }
}

fn parent_folder(path: &[u8]) -> Option<&[u8]> {
    if path.is_empty() {
        return None;
    }
    Some(path.iter().rposition(|byte| *byte == b'/').map_or(&[], |slash| &path[..slash]))
}

fn with_ancestors(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::successors(Some(path), |path| parent_folder(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the subject of each folder, by its path, given files as their paths and texts.
    fn folders(files: &[(&str, &str)]) -> BTreeMap<String, SubjectFolder> {
        let paths: Vec<RelPath> =
            files.iter().map(|(path, _)| RelPath::new(path.as_bytes()).unwrap()).collect();
        let leaf = |(path, (_, text)): (_, &(&str, &str))| {
            let node = SubjectKey {
                scope: SummaryScope::File,
                subject: ContentHash::digest(text.as_bytes()),
                language: "python",
            };
            SubjectFile { path, key: node, bytes: text.len() as u64 }
        };
        let leaves: Vec<SubjectFile<'_>> = paths.iter().zip(files).map(leaf).collect();
        let name = |folder: &SubjectFolder| folder.path.as_ref().map_or(".".to_owned(), ToString::to_string);
        subject_folders(&leaves).into_iter().map(|folder| (name(&folder), folder)).collect()
    }

    const FILES: &[(&str, &str)] = &[
        ("src/a.py", "a"),
        ("src/b.py", "b"),
        ("src/deep/c.py", "c"),
        ("src/deep/d.py", "d"),
        ("e.py", "e"),
    ];

    #[test]
    fn a_folder_is_what_lies_in_it() {
        let folders = folders(FILES);
        let names: Vec<&str> = folders.keys().map(String::as_str).collect();
        assert_eq!(names, [".", "src", "src/deep"]);
        assert_eq!(folders["src"].children.len(), 3);
        assert!(folders["src"].children.contains_key(&folders["src/deep"].key));
        assert_eq!((folders["."].key.scope, folders["."].bytes), (SummaryScope::Project, 5));
    }

    #[test]
    fn names_do_not_matter() {
        let moved =
            &[("lib/x.py", "b"), ("lib/y.py", "a"), ("lib/z/d.py", "c"), ("lib/z/c.py", "d"), ("f.py", "e")];
        let (before, after) = (folders(FILES), folders(moved));
        assert_eq!(before["src"].key, after["lib"].key);
        assert_eq!(before["."].key, after["."].key);
    }

    #[test]
    fn a_change_reaches_the_folders_above_and_no_others() {
        let mut changed = FILES.to_vec();
        changed[0].1 = "A";
        let (before, after) = (folders(FILES), folders(&changed));
        assert_eq!(before["src/deep"].key, after["src/deep"].key);
        assert_ne!(before["src"].key, after["src"].key);
        assert_ne!(before["."].key, after["."].key);
    }

    #[test]
    fn a_folder_with_one_thing_in_it_is_that_thing() {
        let folders = folders(&[("a/b/c/x.py", "x"), ("a/b/c/copy.py", "x")]);
        for folder in folders.values() {
            assert_eq!(folder.key.scope, SummaryScope::File);
            assert!(folder.children.is_empty());
        }
        assert_eq!(folders.len(), 4);
    }

    #[test]
    fn a_folder_whose_name_continues_another_is_no_part_of_it() {
        let folders = folders(&[("a/x.py", "x"), ("a/y.py", "y"), ("a-b/z.py", "z"), ("a-b/w.py", "w")]);
        assert_eq!(folders["a"].children.len(), 2);
        assert_eq!(folders["a-b"].children.len(), 2);
        assert_eq!(folders["."].children.len(), 2);
    }
}

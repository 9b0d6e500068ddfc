//! Which file of a room needs which other, and the cycles in that.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::source::Sources;

/// The files of one room, and the names for which one needs another. Tests are left out.
pub(crate) struct RoomGraph {
    /// Paths below `src`.
    pub(crate) files: BTreeSet<PathBuf>,
    /// From the file that names something to the file that defines it.
    pub(crate) edges: BTreeMap<(PathBuf, PathBuf), BTreeSet<String>>,
}

/// Folders and files of one folder that need each other; at least one of them is a folder.
pub(crate) struct FolderCycle {
    /// The folder whose entries these are.
    pub(crate) folder: PathBuf,
    /// The entries, each by its path.
    pub(crate) members: Vec<PathBuf>,
    /// From one member to another, with the files for which it needs it.
    pub(crate) edges: BTreeMap<(PathBuf, PathBuf), BTreeSet<(PathBuf, PathBuf)>>,
}

/// Returns the graph of each room, by its name.
pub(crate) fn rooms(sources: &Sources) -> BTreeMap<String, RoomGraph> {
    let mut rooms: BTreeMap<String, RoomGraph> = BTreeMap::new();
    for file in sources.files.iter().filter(|file| !file.is_test) {
        let Some(room) = file.room() else { continue };
        let graph = rooms
            .entry(room.to_owned())
            .or_insert_with(|| RoomGraph { files: BTreeSet::new(), edges: BTreeMap::new() });
        graph.files.insert(file.path.clone());
        let is_face = file.path.ends_with("mod.rs");
        for reference in file.references(false) {
            // A face passes names on and needs none of them.
            if reference.is_reexport && is_face {
                continue;
            }
            for definition in sources.resolve(&reference) {
                let other = &sources.files[definition.file];
                if other.path != file.path && other.room() == Some(room) && !other.is_test {
                    let edge = (file.path.clone(), other.path.clone());
                    graph.edges.entry(edge).or_default().insert(definition.name);
                }
            }
        }
    }
    rooms
}

impl RoomGraph {
    /// Returns the sets of files in which each needs each other, by some way; the largest first.
    pub(crate) fn components(&self) -> Vec<BTreeSet<PathBuf>> {
        let edges = self.edges.keys().map(|(from, to)| (from.as_path(), to.as_path()));
        let mut components = components(self.files.iter().map(PathBuf::as_path), edges);
        components.sort_by_key(|component| std::cmp::Reverse(component.len()));
        components
    }

    /// Returns how many files the largest component has.
    pub(crate) fn largest_component(&self) -> usize {
        self.components().first().map_or(1, BTreeSet::len)
    }

    /// Returns the cycles among the entries of each folder in which a folder takes part.
    pub(crate) fn folder_cycles(&self) -> Vec<FolderCycle> {
        let folders: BTreeSet<&Path> = self.files.iter().flat_map(|file| file.ancestors().skip(1)).collect();
        let mut cycles = Vec::new();
        // The last ancestor is `src` itself: its entries are the rooms.
        for folder in folders.into_iter().filter(|folder| !folder.as_os_str().is_empty()) {
            let mut lifted: BTreeMap<(PathBuf, PathBuf), BTreeSet<(PathBuf, PathBuf)>> = BTreeMap::new();
            for (from, to) in self.edges.keys() {
                let (Some(a), Some(b)) = (entry(folder, from), entry(folder, to)) else { continue };
                if a != b {
                    lifted.entry((a, b)).or_default().insert((from.clone(), to.clone()));
                }
            }
            let nodes: BTreeSet<&Path> =
                lifted.keys().flat_map(|(from, to)| [from.as_path(), to.as_path()]).collect();
            let edges = lifted.keys().map(|(from, to)| (from.as_path(), to.as_path()));
            for members in components(nodes.into_iter(), edges) {
                if members.iter().any(|member| !self.files.contains(member)) {
                    let edges = lifted
                        .iter()
                        .filter(|((from, to), _)| members.contains(from) && members.contains(to))
                        .map(|(edge, files)| (edge.clone(), files.clone()))
                        .collect();
                    let members = members.into_iter().collect();
                    cycles.push(FolderCycle { folder: folder.to_owned(), members, edges });
                }
            }
        }
        cycles
    }
}

/// Returns the entry of `folder` that holds `file` or is it.
fn entry(folder: &Path, file: &Path) -> Option<PathBuf> {
    let first = file.strip_prefix(folder).ok()?.components().next()?;
    Some(folder.join(first))
}

/// Returns the strongly connected components of at least two nodes (Tarjan's algorithm).
fn components<'p>(
    nodes: impl Iterator<Item = &'p Path>,
    edges: impl Iterator<Item = (&'p Path, &'p Path)>,
) -> Vec<BTreeSet<PathBuf>> {
    let mut search = Search::default();
    for (from, to) in edges {
        search.next.entry(from).or_default().push(to);
    }
    for node in nodes {
        if !search.index.contains_key(node) {
            search.visit(node);
        }
    }
    search.found
}

#[derive(Default)]
struct Search<'p> {
    next: BTreeMap<&'p Path, Vec<&'p Path>>,
    index: BTreeMap<&'p Path, usize>,
    lowest: BTreeMap<&'p Path, usize>,
    stack: Vec<&'p Path>,
    found: Vec<BTreeSet<PathBuf>>,
}

impl<'p> Search<'p> {
    fn visit(&mut self, node: &'p Path) {
        let index = self.index.len();
        self.index.insert(node, index);
        self.lowest.insert(node, index);
        self.stack.push(node);
        for next in self.next.get(node).cloned().unwrap_or_default() {
            if !self.index.contains_key(next) {
                self.visit(next);
                let reached = self.lowest[next].min(self.lowest[node]);
                self.lowest.insert(node, reached);
            } else if self.stack.contains(&next) {
                let reached = self.index[next].min(self.lowest[node]);
                self.lowest.insert(node, reached);
            }
        }
        if self.lowest[node] == index {
            let start = self.stack.iter().position(|other| *other == node).unwrap_or(0);
            let component: BTreeSet<PathBuf> = self.stack.drain(start..).map(Path::to_owned).collect();
            if 1 < component.len() {
                self.found.push(component);
            }
        }
    }
}

//! The images that a pattern names, as `shots/*.png` does.

use std::collections::HashSet;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::request::ImageFile;
use crate::aggregate::Selector;
use crate::engine::workspace::Workspace;
use crate::model::{RelPath, normalized_path, path_text};
use crate::sys::FileKind;

/// So many folders are looked into for one pattern, and so many images are taken: `**` may mean a whole disk.
const MAX_FOLDERS: usize = 10_000;
const MAX_IMAGES: usize = 1_000;

/// Returns the images, each once and in the order in which they were named; those of a pattern by path. A pattern that
/// names none is returned as it is, and fails like a file that is missing.
pub(super) fn expand_images(workspace: &Workspace<'_>, images: &[ImageFile]) -> Vec<ImageFile> {
    let mut seen = HashSet::new();
    let mut expanded = Vec::new();
    for image in images {
        let found = images_of(workspace, image);
        let named = if found.is_empty() { vec![image.clone()] } else { found };
        expanded.extend(named.into_iter().filter(|image| seen.insert(image.clone())));
    }
    expanded
}

/// Returns the images that a pattern names; none for a path.
fn images_of(workspace: &Workspace<'_>, image: &ImageFile) -> Vec<ImageFile> {
    let (word, is_confined) = match image {
        ImageFile::Asked(path) => (path_text(path.as_os_str().as_bytes()), false),
        ImageFile::OfProject(path) => (normalized_path(path), true),
    };
    let search = ImageSearch { workspace, is_confined };
    // Names such as `shot[1].png` are common: only where no file has the name is it a pattern.
    if !word.contains(['*', '?', '[', '{']) || search.is_file(Path::new(&word)) {
        return Vec::new();
    }
    let (start, pattern) = match word.strip_prefix('/') {
        Some(pattern) => (PathBuf::from("/"), pattern),
        None => (PathBuf::new(), word.as_str()),
    };
    let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let found = search.matches(start, &parts);
    let image = |path: PathBuf| match image {
        ImageFile::Asked(_) => ImageFile::Asked(path),
        ImageFile::OfProject(_) => ImageFile::OfProject(path_text(path.as_os_str().as_bytes())),
    };
    found.into_iter().map(image).collect()
}

struct ImageSearch<'s, 'w> {
    workspace: &'s Workspace<'w>,
    /// Whether nothing outside of the project is looked at, and no link is followed.
    is_confined: bool,
}

impl ImageSearch<'_, '_> {
    /// Returns the files below `start` whose parts match, by path.
    fn matches(&self, start: PathBuf, parts: &[&str]) -> Vec<PathBuf> {
        let (mut found, mut folders) = (Vec::new(), 0);
        // Each with the number of parts that it has matched.
        let mut stack = vec![(start, 0)];
        while let Some((folder, done)) = stack.pop() {
            let Some(part) = parts.get(done) else { continue };
            let is_last = done + 1 == parts.len();
            if *part == "**" && !is_last {
                stack.push((folder.clone(), done + 1));
            } else if !part.contains(['*', '?', '[', '{']) {
                let path = folder.join(part);
                if is_last && self.is_file(&path) {
                    found.push(path);
                } else if !is_last {
                    stack.push((path, done + 1));
                }
                continue;
            }
            folders += 1;
            if MAX_FOLDERS < folders || MAX_IMAGES <= found.len() {
                break;
            }
            let selector = Selector::new_lenient(if *part == "**" { "*" } else { part });
            for name in self.names(&folder) {
                // As in a shell, a pattern means hidden names only if it begins like one.
                let is_hidden = name.as_bytes().starts_with(b".") && !part.starts_with('.');
                let matches = RelPath::new(name.as_bytes()).is_ok_and(|name| selector.selects(&name));
                if is_hidden || !matches {
                    continue;
                }
                let path = folder.join(&name);
                match (is_last, *part == "**") {
                    (true, _) if self.is_file(&path) => found.push(path),
                    (_, true) if self.is_folder(&path) => stack.push((path, done)),
                    (false, false) if self.is_folder(&path) => stack.push((path, done + 1)),
                    (_, _) => {}
                }
            }
        }
        found.sort();
        found.dedup();
        found.truncate(MAX_IMAGES);
        found
    }

    fn names(&self, folder: &Path) -> Vec<std::ffi::OsString> {
        if self.is_confined && !folder.as_os_str().is_empty() && !self.is_folder(folder) {
            return Vec::new();
        }
        self.workspace.world.disk.entry_names(&self.workspace.root.join(folder)).unwrap_or_default()
    }

    fn is_file(&self, path: &Path) -> bool {
        match self.confined_kind(path) {
            Some(kind) => kind.is_ok_and(|kind| kind == FileKind::Regular),
            None => self.workspace.world.disk.read_prefix(&self.workspace.root.join(path), 0).is_ok(),
        }
    }

    fn is_folder(&self, path: &Path) -> bool {
        match self.confined_kind(path) {
            Some(kind) => kind.is_ok_and(|kind| kind == FileKind::Directory),
            None => self.workspace.world.disk.entry_names(&self.workspace.root.join(path)).is_ok(),
        }
    }

    /// Returns what a path within the project is; `None` if the search is not confined to it.
    fn confined_kind(&self, path: &Path) -> Option<io::Result<FileKind>> {
        if !self.is_confined {
            return None;
        }
        let path = path.strip_prefix(&self.workspace.root).unwrap_or(path);
        let path = RelPath::new(path.as_os_str().as_bytes()).map_err(io::Error::other);
        Some(path.and_then(|path| Ok(self.workspace.world.files.stat(&path)?.kind)))
    }
}

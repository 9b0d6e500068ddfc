//! The images that match a pattern such as `shots/*.png`.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::aggregate::Selector;
use crate::engine::document::request::ImageFile;
use crate::engine::workspace::Workspace;
use crate::model::{RelPath, normalized_path, path_bytes, path_text};
use crate::sys::{FileKind, Files};

/// The maximum numbers of folders that are searched for one pattern, and of images: `**` may mean a whole disk.
const MAX_FOLDERS: usize = 10_000;
const MAX_IMAGES: usize = 1_000;

/// Returns the images without repetition, in the order in which they were named, those of a pattern by path. A pattern
/// without matches is returned as it is, and fails like a missing file.
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

/// Returns the images that match a pattern; none for a path.
fn images_of(workspace: &Workspace<'_>, image: &ImageFile) -> Vec<ImageFile> {
    let (word, is_confined) = match image {
        ImageFile::Asked(path) => (path_text(path_bytes(path)), false),
        ImageFile::OfProject(path) => (normalized_path(path), true),
    };
    let search = ImageSearch { workspace, is_confined };
    // Names such as `shot[1].png` are common: a word is a pattern only if no file has that name.
    if !is_pattern(&word) || search.is_file(Path::new(&word)) {
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
        ImageFile::OfProject(_) => ImageFile::OfProject(path_text(path_bytes(&path))),
    };
    found.into_iter().map(image).collect()
}

fn is_pattern(word: &str) -> bool {
    word.contains(['*', '?', '[', '{'])
}

struct ImageSearch<'s, 'w> {
    workspace: &'s Workspace<'w>,
    /// Whether the search stays within the project and follows no links.
    is_confined: bool,
}

impl ImageSearch<'_, '_> {
    /// Returns the files below `start` that match the parts, by path.
    fn matches(&self, start: PathBuf, parts: &[&str]) -> Vec<PathBuf> {
        let (mut found, mut folders) = (Vec::new(), 0);
        // Each folder with the parts that remain to be matched in it.
        let mut stack = vec![(start, parts)];
        while let Some((folder, parts)) = stack.pop() {
            let Some((part, rest)) = parts.split_first() else { continue };
            if *part == "**" && !rest.is_empty() {
                stack.push((folder.clone(), rest));
            }
            if !is_pattern(part) {
                self.take(folder.join(part), parts, &mut stack, &mut found);
                continue;
            }
            folders += 1;
            if MAX_FOLDERS < folders || MAX_IMAGES <= found.len() {
                break;
            }
            for path in self.named_like(&folder, part) {
                self.take(path, parts, &mut stack, &mut found);
            }
        }
        found.sort();
        found.dedup();
        found.truncate(MAX_IMAGES);
        found
    }

    /// Adds a path whose last name matches the first of the parts.
    fn take<'p>(
        &self,
        path: PathBuf,
        parts: &'p [&'p str],
        stack: &mut Vec<(PathBuf, &'p [&'p str])>,
        found: &mut Vec<PathBuf>,
    ) {
        let Some((part, rest)) = parts.split_first() else { return };
        if rest.is_empty() && self.is_file(&path) {
            found.push(path);
        } else if *part == "**" && self.is_folder(&path) {
            stack.push((path, parts));
        } else if !rest.is_empty() && self.is_folder(&path) {
            stack.push((path, rest));
        }
    }

    fn named_like(&self, folder: &Path, pattern: &str) -> Vec<PathBuf> {
        let selector = Selector::new_lenient(if pattern == "**" { "*" } else { pattern });
        let is_meant = |name: &std::ffi::OsString| {
            // As in a shell, a pattern matches hidden names only if it begins with a dot.
            let is_hidden = path_bytes(name).starts_with(b".") && !pattern.starts_with('.');
            !is_hidden && RelPath::new(path_bytes(name)).is_ok_and(|name| selector.selects(&name))
        };
        self.names(folder).into_iter().filter(is_meant).map(|name| folder.join(name)).collect()
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

    /// Returns the kind of a path within the project; `None` if the search is not confined to it.
    fn confined_kind(&self, path: &Path) -> Option<io::Result<FileKind>> {
        if !self.is_confined {
            return None;
        }
        let path = path.strip_prefix(&self.workspace.root).unwrap_or(path);
        let path = RelPath::new(path_bytes(path)).map_err(io::Error::other);
        Some(path.and_then(|path| Ok(self.workspace.files.stat(&path)?.kind)))
    }
}

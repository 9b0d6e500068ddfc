//! The linked folders of a project, each opened once: the only place that resolves a path such as `@lib/src/a.py` to a
//! folder and a path below it.
//!
//! The project's files cannot influence this: linked folders are defined in the user's own file, and a folder that has
//! replaced a linked one is not read.

use std::io;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use crate::model::{LinkedFolder, RelPath, split_resource};
use crate::sys::{FileContent, FileKind, FileStat, Files, ReadError, RealFiles};

/// A linked folder, and its files while it exists.
#[derive(Debug, Clone)]
pub(in crate::engine) struct Mount {
    pub(in crate::engine) linked: LinkedFolder,
    /// `None` if the folder does not exist, or has been replaced by another one.
    files: Option<Arc<RealFiles>>,
}

impl Mount {
    fn open(linked: LinkedFolder) -> Self {
        let files = RealFiles::open_exact(&linked.path, linked.identity).ok().map(Arc::new);
        Self { linked, files }
    }

    pub(in crate::engine) const fn is_open(&self) -> bool {
        self.files.is_some()
    }

    /// Returns whether the path of the folder still leads to the opened folder.
    pub(in crate::engine) fn is_in_place(&self) -> bool {
        let opened = self.files.as_ref().and_then(|files| files.identity().ok());
        opened.is_some() && RealFiles::open_exact(&self.linked.path, opened).is_ok()
    }
}

/// The files of the root, and those of the linked folders below `@NAME`.
#[derive(Clone)]
pub(in crate::engine) struct MountedFiles<'w> {
    root: &'w dyn Files,
    mounts: Arc<[Mount]>,
}

impl<'w> MountedFiles<'w> {
    pub(in crate::engine) fn open(root: &'w dyn Files, linked: &[LinkedFolder]) -> Self {
        Self { root, mounts: linked.iter().cloned().map(Mount::open).collect() }
    }

    /// Returns the linked folders, by name.
    pub(in crate::engine) fn mounts(&self) -> &[Mount] {
        &self.mounts
    }

    /// Checks which linked folders exist now.
    pub(in crate::engine) fn reopen(&mut self) {
        if self.mounts.iter().all(Mount::is_in_place) {
            return;
        }
        let reopened = |mount: &Mount| {
            if mount.is_in_place() { mount.clone() } else { Mount::open(mount.linked.clone()) }
        };
        self.mounts = self.mounts.iter().map(reopened).collect();
    }

    /// Returns the linked folder that contains a file, and the file's path in it, which is empty for the folder itself.
    pub(in crate::engine) fn mount_of<'p>(&self, path: &'p [u8]) -> Option<(&Mount, &'p [u8])> {
        if self.mounts.is_empty() {
            return None;
        }
        let (name, inside) = split_resource(path)?;
        let mount = self.mounts.iter().find(|mount| mount.linked.name.as_bytes() == name)?;
        Some((mount, inside))
    }

    /// Returns whether a path is in a linked folder that does not exist now.
    pub(in crate::engine) fn is_gone(&self, path: &RelPath) -> bool {
        self.mount_of(path.as_bytes()).is_some_and(|(mount, _)| !mount.is_open())
    }

    /// Returns the path in the project of a file in a linked folder, given its absolute path.
    pub(in crate::engine) fn path_in_mount(&self, path: &Path) -> Option<Vec<u8>> {
        // A checkout inside a linked checkout can be linked too: the file belongs to the innermost.
        let around = self.mounts.iter().filter(|mount| path.starts_with(&mount.linked.path));
        let mount = around.max_by_key(|mount| mount.linked.path.components().count())?;
        let inside = path.strip_prefix(&mount.linked.path).ok()?.as_os_str().as_encoded_bytes();
        let separator: &[u8] = if inside.is_empty() { b"" } else { b"/" };
        Some([mount.linked.mount_point().as_bytes(), separator, inside].concat())
    }

    /// Returns the opened linked folder that contains a file, and the file's path in it; `None` for a file of the root.
    fn resolve<'p>(&self, path: &'p [u8]) -> io::Result<Option<(&RealFiles, &'p [u8])>> {
        let Some((mount, inside)) = self.mount_of(path) else { return Ok(None) };
        Ok(Some((mount.files.as_deref().ok_or(ErrorKind::NotFound)?, inside)))
    }
}

impl Files for MountedFiles<'_> {
    fn stat(&self, path: &RelPath) -> io::Result<FileStat> {
        match self.resolve(path.as_bytes())? {
            None => self.root.stat(path),
            Some((mounted, b"")) => mounted.root_stat(),
            Some((mounted, inside)) => mounted.stat(&below(inside)?),
        }
    }

    fn read(&self, path: &RelPath, limit: u64) -> Result<FileContent, ReadError> {
        match self.resolve(path.as_bytes())? {
            None => self.root.read(path, limit),
            Some((_, b"")) => Err(ReadError::NotRegular(FileKind::Directory)),
            Some((mounted, inside)) => mounted.read(&below(inside)?, limit),
        }
    }

    fn entry_names(&self, folder: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        match self.resolve(folder)? {
            None => self.root.entry_names(folder),
            Some((mounted, inside)) => mounted.entry_names(inside),
        }
    }

    fn entries(&self, folder: &[u8]) -> io::Result<Vec<(Vec<u8>, FileKind)>> {
        match self.resolve(folder)? {
            None => self.root.entries(folder),
            Some((mounted, inside)) => mounted.entries(inside),
        }
    }
}

fn below(inside: &[u8]) -> io::Result<RelPath> {
    RelPath::new(inside).map_err(|error| io::Error::new(ErrorKind::InvalidInput, error))
}

//! Files that slop itself reads and writes by a path of their own: settings, outputs, the cache's folder.

use std::fs::OpenOptions;
use std::io;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Reads and writes single files.
pub trait Disk: Sync {
    /// Returns a file's bytes; `None` where there is no such file.
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;

    /// Makes a new file, its folder too; an error of kind `AlreadyExists` where there is one.
    fn create_new(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Puts `bytes` in a file's place, whole or not at all.
    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Makes a folder and those above it, readable by the user alone; one that is there already is left as it is.
    fn make_private_folder(&self, path: &Path) -> io::Result<()>;

    /// Returns the names in a folder, in no order; none where there is no such folder.
    fn names(&self, folder: &Path) -> io::Result<Vec<std::ffi::OsString>>;

    /// Returns the size of a file in bytes; 0 where there is no such file.
    fn size(&self, path: &Path) -> io::Result<u64>;

    /// Writes one byte to a file and returns the time that the file system stamped it with, nanoseconds since
    /// the epoch: what the time is for the files beside it.
    fn stamp_now(&self, path: &Path) -> io::Result<i64>;
}

/// The machine's disk.
#[derive(Debug, Clone, Copy)]
pub struct RealDisk;

#[expect(clippy::disallowed_methods, reason = "this is the window")]
impl Disk for RealDisk {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn create_new(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
        let written = file.write_all(bytes);
        if written.is_err() {
            // Half an output is worse than none; the first error is the one to tell.
            let _ = std::fs::remove_file(path);
        }
        written
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            Some(_) | None => Path::new("."),
        };
        let mut file = tempfile::Builder::new();
        // The permissions of the file that is replaced, or those that any new file gets.
        let permissions = std::fs::metadata(path).map(|old| old.permissions());
        let permissions = permissions.unwrap_or_else(|_| std::os::unix::fs::PermissionsExt::from_mode(0o644));
        let mut file = file.permissions(permissions).tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.persist(path)?;
        Ok(())
    }

    fn make_private_folder(&self, path: &Path) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
    }

    fn names(&self, folder: &Path) -> io::Result<Vec<std::ffi::OsString>> {
        match std::fs::read_dir(folder) {
            Ok(entries) => entries.map(|entry| Ok(entry?.file_name())).collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn size(&self, path: &Path) -> io::Result<u64> {
        match std::fs::symlink_metadata(path) {
            Ok(metadata) => Ok(metadata.len()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        }
    }

    fn stamp_now(&self, path: &Path) -> io::Result<i64> {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
        file.write_all(b"\n")?;
        let metadata = file.metadata()?;
        Ok(metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec()))
    }
}

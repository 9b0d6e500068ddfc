//! Folders by handles: a handle for each part of a path, and reparse points are rejected.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use windows_sys::Wdk::Storage::FileSystem::{
    FILE_DIRECTORY_FILE, FILE_OPEN_FOR_BACKUP_INTENT, FILE_OPEN_REPARSE_POINT, FILE_SYNCHRONOUS_IO_NONALERT,
};
use windows_sys::Win32::Foundation::{ERROR_CANT_RESOLVE_FILENAME, ERROR_INVALID_NAME};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_REPARSE_POINT, FILE_FLAG_BACKUP_SEMANTICS,
    FILE_FLAG_OPEN_REPARSE_POINT, FILE_GENERIC_READ, FILE_LIST_DIRECTORY, FILE_READ_ATTRIBUTES,
    FILE_TRAVERSE, SYNCHRONIZE,
};

use crate::model::RelPath;
use crate::sys::file_access::stamp_of;
use crate::sys::file_stat::{FileKind, FileStat};
use crate::sys::win32;

/// An open folder.
#[derive(Debug)]
pub(in crate::sys) struct RootFolder {
    handle: File,
    /// Its path, with all links resolved.
    path: PathBuf,
}

const FOLDER_ACCESS: u32 = FILE_LIST_DIRECTORY | FILE_TRAVERSE | FILE_READ_ATTRIBUTES | SYNCHRONIZE;
const STAT_ACCESS: u32 = FILE_READ_ATTRIBUTES | SYNCHRONIZE;
/// Options to open a name itself, even if it is a reparse point.
const OPEN_ITSELF: u32 = FILE_SYNCHRONOUS_IO_NONALERT | FILE_OPEN_FOR_BACKUP_INTENT | FILE_OPEN_REPARSE_POINT;
const OPEN_FOLDER: u32 = OPEN_ITSELF | FILE_DIRECTORY_FILE;

impl RootFolder {
    /// Opens a folder. Links on its path are followed.
    pub(in crate::sys) fn open(root: &Path) -> io::Result<Self> {
        Self::new(open_folder(root, 0)?)
    }

    /// Opens a folder by an absolute path; a link on the path is an error.
    pub(in crate::sys) fn open_without_links(root: &Path) -> io::Result<Self> {
        let mut components = root.components();
        let (Some(Component::Prefix(prefix)), Some(Component::RootDir)) =
            (components.next(), components.next())
        else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let top = Path::new(prefix.as_os_str()).join("\\");
        let mut folder = open_folder(&top, FILE_FLAG_OPEN_REPARSE_POINT)?;
        for part in components {
            folder = open_part(&folder, part.as_os_str(), FOLDER_ACCESS, OPEN_FOLDER)?;
        }
        Self::new(folder)
    }

    fn new(handle: File) -> io::Result<Self> {
        if Self::file_stat(&handle)?.kind != FileKind::Directory {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let path = win32::final_path(&handle)?;
        Ok(Self { handle, path })
    }

    /// Returns the `stat` of the folder itself.
    pub(in crate::sys) fn root_stat(&self) -> io::Result<FileStat> {
        Self::file_stat(&self.handle)
    }

    /// Returns the `stat` of an open file.
    pub(in crate::sys) fn file_stat(file: &File) -> io::Result<FileStat> {
        let found = win32::file_information(file)?;
        Ok(FileStat { kind: kind_of(found.attributes), stamp: stamp_of(&found) })
    }

    /// Returns the `lstat` of `path`.
    pub(in crate::sys) fn stat(&self, path: &RelPath) -> io::Result<FileStat> {
        let name = path.as_path().components().collect::<PathBuf>();
        Self::file_stat(&win32::open_at(&self.handle, name.as_os_str(), STAT_ACCESS, OPEN_ITSELF)?)
    }

    /// Opens a file for reading. Never follows a link, never leaves the root.
    pub(in crate::sys) fn open_file(&self, path: &RelPath) -> io::Result<File> {
        let folder = self.open_folder_below(path.parent())?;
        let name = path.as_path().file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let file = open_part(folder.as_ref().unwrap_or(&self.handle), name, FILE_GENERIC_READ, OPEN_ITSELF)?;
        // Each part was opened in the one before it, so this only matters for a file system that resolves links itself.
        let is_below = |root: &Path| Ok::<_, io::Error>(win32::final_path(&file)?.starts_with(root));
        // The root may have been renamed since it was opened.
        if is_below(&self.path)? || is_below(&win32::final_path(&self.handle)?)? {
            return Ok(file);
        }
        Err(io::Error::from_raw_os_error(ERROR_CANT_RESOLVE_FILENAME.cast_signed()))
    }

    /// Opens a folder below the root, part by part; `None` if it is the root itself.
    fn open_folder_below(&self, folder: &[u8]) -> io::Result<Option<File>> {
        if folder.is_empty() {
            return Ok(None);
        }
        let path = RelPath::new(folder)
            .map_err(|_| io::Error::from_raw_os_error(ERROR_INVALID_NAME.cast_signed()))?;
        let mut opened: Option<File> = None;
        for part in path.as_path() {
            let folder = opened.as_ref().unwrap_or(&self.handle);
            opened = Some(open_part(folder, part, FOLDER_ACCESS, OPEN_FOLDER)?);
        }
        Ok(opened)
    }

    /// Returns the names in a folder with their kinds, in arbitrary order.
    pub(in crate::sys) fn entries(&self, folder: &[u8]) -> io::Result<Vec<(Vec<u8>, FileKind)>> {
        // The root is opened again, because a handle stores the position of its listing.
        let folder = match self.open_folder_below(folder)? {
            Some(folder) => folder,
            None => win32::open_at(&self.handle, OsStr::new(""), FOLDER_ACCESS, OPEN_FOLDER)?,
        };
        let mut entries = Vec::new();
        let mut buffer = vec![0_u64; 8 << 10];
        while win32::next_entries(&folder, &mut buffer)? {
            let bytes: Vec<u8> = buffer.iter().flat_map(|word| word.to_le_bytes()).collect();
            entries.extend(parse_entries(&bytes));
        }
        Ok(entries)
    }
}

fn open_folder(path: &Path, flags: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.access_mode(FOLDER_ACCESS).custom_flags(FILE_FLAG_BACKUP_SEMANTICS | flags).open(path)
}

/// Opens one part of a path in its parent; an error if it is a link.
fn open_part(folder: &File, name: &OsStr, access: u32, options: u32) -> io::Result<File> {
    let opened = win32::open_at(folder, name, access, options)?;
    if kind_of(win32::file_information(&opened)?.attributes) == FileKind::Symlink {
        return Err(io::Error::from_raw_os_error(ERROR_CANT_RESOLVE_FILENAME.cast_signed()));
    }
    Ok(opened)
}

/// Returns the kind of a file with these attributes. Every reparse point counts as a link, because its creator decides
/// where it leads.
const fn kind_of(attributes: u32) -> FileKind {
    if attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0 {
        FileKind::Symlink
    } else if attributes & FILE_ATTRIBUTE_DIRECTORY != 0 {
        FileKind::Directory
    } else {
        FileKind::Regular
    }
}

/// The offsets of fields in `FILE_ID_BOTH_DIR_INFO`: attributes, the bytes of the name, and the name itself.
const ATTRIBUTES_AT: usize = 56;
const NAME_BYTES_AT: usize = 60;
const NAME_AT: usize = 104;

/// Reads entries, each of which begins with the distance to the next one.
fn parse_entries(bytes: &[u8]) -> Vec<(Vec<u8>, FileKind)> {
    let number = |at: usize| {
        let digits = bytes.get(at..at + 4).and_then(|digits| digits.try_into().ok());
        digits.map_or(0, u32::from_le_bytes)
    };
    let (mut entries, mut at) = (Vec::new(), 0);
    loop {
        let length = number(at + NAME_BYTES_AT) as usize;
        let name = bytes.get(at + NAME_AT..at + NAME_AT + length).unwrap_or_default();
        let name: Vec<u16> =
            name.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
        let name = OsString::from_wide(&name);
        if !name.is_empty() && name != "." && name != ".." {
            entries.push((name.as_encoded_bytes().to_vec(), kind_of(number(at + ATTRIBUTES_AT))));
        }
        match number(at) as usize {
            0 => return entries,
            distance => at += distance,
        }
    }
}

//! Owners, access lists and file numbers.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use windows_sys::Win32::Foundation::ERROR_CANT_RESOLVE_FILENAME;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ADD_FILE, FILE_ATTRIBUTE_REPARSE_POINT, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT,
    FILE_READ_ATTRIBUTES, READ_CONTROL, WRITE_DAC,
};

use super::access_list::{Access, others_may};
use crate::model::{ContentHash, FileStamp, TEMPORARY_PREFIX, path_bytes};
use crate::sys::win32::{self, FileInformation};

/// Opens a path to read its attributes.
fn open_attributes(path: &Path, follows_links: bool) -> io::Result<File> {
    let flags = if follows_links { 0 } else { FILE_FLAG_OPEN_REPARSE_POINT };
    let mut options = OpenOptions::new();
    options.access_mode(FILE_READ_ATTRIBUTES | READ_CONTROL);
    options.custom_flags(FILE_FLAG_BACKUP_SEMANTICS | flags).open(path)
}

/// Returns the volume number of a path, following links.
pub fn device_id(path: &Path) -> io::Result<u64> {
    Ok(open_file_identity(&open_attributes(path, true)?)?.0)
}

/// Returns the volume and file numbers of a name, which may be a link. While it is open, no other has its number.
pub fn file_identity(path: &Path) -> io::Result<(u64, u64)> {
    open_file_identity(&open_attributes(path, false)?)
}

/// Returns the volume and file numbers of an open file.
pub fn open_file_identity(file: &File) -> io::Result<(u64, u64)> {
    let stamp = stamp_of(&win32::file_information(file)?);
    Ok((stamp.dev, stamp.ino))
}

/// Returns the stamp of a path's target, following links.
pub(in crate::sys) fn stamp(path: &Path) -> io::Result<FileStamp> {
    Ok(stamp_of(&win32::file_information(&open_attributes(path, true)?)?))
}

/// Returns the stamp of a file from its attributes.
#[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
pub(in crate::sys) fn stamp_of(found: &FileInformation) -> FileStamp {
    FileStamp {
        dev: found.volume,
        // NTFS uses only the lower half.
        ino: (found.index ^ (found.index >> 64)) as u64,
        size: found.size,
        mtime_ns: nanoseconds(found.write_time),
        ctime_ns: nanoseconds(found.change_time),
    }
}

/// Returns when an open file was last written to, in nanoseconds since the epoch.
pub(in crate::sys) fn write_time(file: &File) -> io::Result<i64> {
    Ok(nanoseconds(win32::file_information(file)?.write_time))
}

/// The time from 1601, the system's epoch, to 1970, in units of 100 ns.
const EPOCH: i64 = 116_444_736_000_000_000;

const fn nanoseconds(time: i64) -> i64 {
    time.saturating_sub(EPOCH).saturating_mul(100)
}

/// Opens a path without following a link at its end.
pub(in crate::sys) fn open_without_links(options: &OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.clone().custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(path)?;
    if win32::file_information(&file)?.attributes & FILE_ATTRIBUTE_REPARSE_POINT == 0 {
        return Ok(file);
    }
    Err(io::Error::from_raw_os_error(ERROR_CANT_RESOLVE_FILENAME.cast_signed()))
}

/// Opens a path for reading.
pub(in crate::sys) fn open_without_waiting(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(path)
}

/// Returns options for creating a file. Its permissions are inherited from its folder, which [`create_private_folder`]
/// has created.
pub fn private_file_options() -> OpenOptions {
    OpenOptions::new()
}

/// Creates a folder and its parents, accessible only to the user; an existing one is left unchanged.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    // New files in it inherit its access list.
    let missing = path.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    if let Some(highest) = missing.last() {
        match std::fs::create_dir(highest) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made.and_then(|()| make_private(highest, "OICI"))?,
        }
    }
    std::fs::create_dir_all(path)
}

/// Restricts a file or a folder to the user, and to those from whom nothing can be protected. `inheritance` has the
/// flags for new files in a folder.
fn make_private(path: &Path, inheritance: &str) -> io::Result<()> {
    let flags = FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT;
    let object = OpenOptions::new().access_mode(WRITE_DAC | READ_CONTROL).custom_flags(flags).open(path)?;
    let entry = |who: &str| format!("(A;{inheritance};FA;;;{who})");
    win32::set_access(&object, &format!("D:P{}{}{}", entry(&win32::user_sid()?), entry("SY"), entry("BA")))
}

/// Creates an empty folder that only the user may read, and that is deleted on drop.
pub(in crate::sys) fn private_temporary_folder() -> io::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    make_private(folder.path(), "OICI")?;
    Ok(folder)
}

/// Creates a temporary file in a folder that only the user may read, even after it is renamed.
pub(in crate::sys) fn private_temporary_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let file = tempfile::NamedTempFile::new_in(folder)?;
    make_private(file.path(), "")?;
    Ok(file)
}

/// Creates a temporary file in a folder.
pub(in crate::sys) fn shared_temporary_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::NamedTempFile::new_in(folder)
}

/// Creates a temporary file in a folder. Like a new file, it inherits its permissions; a read-only file cannot be
/// replaced.
pub(in crate::sys) fn temporary_file_like(_: &Path, folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new().prefix(TEMPORARY_PREFIX).tempfile_in(folder)
}

/// Opens the file that is locked on behalf of a folder. Folders cannot be locked on Windows, so each has a file among
/// the user's temporary files.
pub fn open_folder_lock(folder: &Path) -> io::Result<File> {
    // A missing folder is an error, as on other systems.
    let folder = win32::final_path(&open_attributes(folder, true)?)?;
    let name = ContentHash::digest(path_bytes(&folder)).to_string();
    let locks = std::env::temp_dir().join("slop-locks");
    std::fs::create_dir_all(&locks)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    open_without_links(&options, &locks.join(&name[..32]))
}

/// Returns the file that names the holder of a locked file: one next to it, because a locked file cannot be read.
pub(in crate::sys) fn holder_file(lock: &Path) -> PathBuf {
    lock.with_extension("pid")
}

/// Replaces the text about the holder of a locked file.
#[expect(clippy::disallowed_methods, reason = "this is the window")]
pub(in crate::sys) fn write_holder(lock: &Path, _locked: &File, text: &[u8]) -> io::Result<()> {
    std::fs::write(holder_file(lock), text)
}

/// Returns an error if the user may not write to a file or to a folder. Writes nothing.
pub(in crate::sys) fn check_writable(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    // For a file, the same bit is the right to write to it.
    options.access_mode(FILE_ADD_FILE).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path).map(drop)
}

/// Returns whether other users may read or write a file.
pub(in crate::sys) fn is_open_to_others(path: &Path) -> io::Result<bool> {
    let (_, access_list) = win32::security(&open_attributes(path, true)?)?;
    Ok(others_may(Access::Read, &access_list, &win32::user_sid()?))
}

/// Returns whether an open file belongs to the user, and no other user may read it.
pub(in crate::sys) fn is_own_secret(file: &File) -> io::Result<bool> {
    let ((owner, access_list), user) = (win32::security(file)?, win32::user_sid()?);
    Ok(is_user(&owner, &user) && !others_may(Access::Read, &access_list, &user))
}

/// Returns whether a file belongs to the user, and no other user can write to it.
pub fn is_private_file(path: &Path) -> bool {
    let check = || {
        let ((owner, access_list), user) =
            (win32::security(&open_attributes(path, true)?)?, win32::user_sid()?);
        Ok::<_, io::Error>(is_user(&owner, &user) && !others_may(Access::Write, &access_list, &user))
    };
    check().unwrap_or(false)
}

/// Returns whether a file, a folder or a link belongs to the user.
pub fn is_own(path: &Path) -> io::Result<bool> {
    let (owner, _) = win32::security(&open_attributes(path, false)?)?;
    Ok(is_user(&owner, &win32::user_sid()?))
}

/// Returns whether a folder belongs to another user, whose settings could make slop act on their behalf.
pub fn is_other_users(path: &Path) -> io::Result<bool> {
    let (owner, _) = win32::security(&open_attributes(path, true)?)?;
    Ok(!is_user(&owner, &win32::user_sid()?))
}

/// The group of administrators, which owns what an administrator creates with elevated rights.
const ADMINISTRATORS: &str = "S-1-5-32-544";

fn is_user(owner: &str, user: &str) -> bool {
    owner == user || owner == ADMINISTRATORS
}

/// Returns the path of the program with this name in a folder; `None` if there is none. Batch files do not count as
/// programs, because the command processor parses their arguments in its own way.
pub fn program_in(folder: &Path, name: &str) -> Option<PathBuf> {
    let candidates = [folder.join(name), folder.join(format!("{name}.exe"))];
    let is_program = |file: &&PathBuf| {
        file.extension().is_some_and(|end| end.eq_ignore_ascii_case("exe")) && file.is_file()
    };
    candidates.iter().find(is_program).cloned()
}

/// Returns an identifier of the user that this process runs as, for use in file names.
pub fn user_tag() -> String {
    win32::user_sid().unwrap_or_default()
}

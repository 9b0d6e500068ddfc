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
use crate::model::{ContentHash, FileStamp, path_bytes};
use crate::sys::win32::{self, FileInformation};

/// Opens what has this name to see what it is.
fn open_attributes(path: &Path, follows_links: bool) -> io::Result<File> {
    let flags = if follows_links { 0 } else { FILE_FLAG_OPEN_REPARSE_POINT };
    let mut options = OpenOptions::new();
    options.access_mode(FILE_READ_ATTRIBUTES | READ_CONTROL);
    options.custom_flags(FILE_FLAG_BACKUP_SEMANTICS | flags).open(path)
}

/// Returns the number of the volume that a path leads to, links followed.
pub fn device_id(path: &Path) -> io::Result<u64> {
    Ok(open_file_identity(&open_attributes(path, true)?)?.0)
}

/// Returns by which volume and number the system knows what has this name, be it a link. As long as it is open, no other
/// has its number.
pub fn file_identity(path: &Path) -> io::Result<(u64, u64)> {
    open_file_identity(&open_attributes(path, false)?)
}

/// Returns by which volume and number the system knows an open file.
pub fn open_file_identity(file: &File) -> io::Result<(u64, u64)> {
    let stamp = stamp_of(&win32::file_information(file)?);
    Ok((stamp.dev, stamp.ino))
}

/// Returns the stamp of what a path leads to, links followed.
pub(in crate::sys) fn stamp(path: &Path) -> io::Result<FileStamp> {
    Ok(stamp_of(&win32::file_information(&open_attributes(path, true)?)?))
}

/// Returns the stamp of a file from what the system knows of it.
#[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
pub(in crate::sys) fn stamp_of(found: &FileInformation) -> FileStamp {
    FileStamp {
        dev: found.volume,
        // NTFS uses the lower half alone.
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

/// Between the beginning of the system's time, in 1601, and the epoch, in units of 100 ns.
const EPOCH: i64 = 116_444_736_000_000_000;

const fn nanoseconds(time: i64) -> i64 {
    time.saturating_sub(EPOCH).saturating_mul(100)
}

/// Opens what has this name, but no link.
pub(in crate::sys) fn open_without_links(options: &OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.clone().custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(path)?;
    if win32::file_information(&file)?.attributes & FILE_ATTRIBUTE_REPARSE_POINT == 0 {
        return Ok(file);
    }
    Err(io::Error::from_raw_os_error(ERROR_CANT_RESOLVE_FILENAME.cast_signed()))
}

/// Opens what a path leads to for reading.
pub(in crate::sys) fn open_without_waiting(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(path)
}

/// Returns options by which a file is made. Who may read it is inherited from its folder, which
/// [`create_private_folder`] has made.
pub fn private_file_options() -> OpenOptions {
    OpenOptions::new()
}

/// Makes a folder and those above it, for the user alone; one that is there already is left as it is.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    // What is made in it inherits its list.
    let missing = path.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    if let Some(highest) = missing.last() {
        match std::fs::create_dir(highest) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made.and_then(|()| make_private(highest, "OICI"))?,
        }
    }
    std::fs::create_dir_all(path)
}

/// Has a file or a folder be used by the user, and by those from whom nothing can be kept, alone. `inheritance` says what is
/// for what will lie in a folder.
fn make_private(path: &Path, inheritance: &str) -> io::Result<()> {
    let flags = FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT;
    let object = OpenOptions::new().access_mode(WRITE_DAC | READ_CONTROL).custom_flags(flags).open(path)?;
    let entry = |who: &str| format!("(A;{inheritance};FA;;;{who})");
    win32::set_access(&object, &format!("D:P{}{}{}", entry(&win32::user_sid()?), entry("SY"), entry("BA")))
}

/// Makes an empty folder that the user alone may read, and that is deleted when it is dropped.
pub(in crate::sys) fn private_temporary_folder() -> io::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    make_private(folder.path(), "OICI")?;
    Ok(folder)
}

/// Makes a temporary file in a folder that the user alone may read, also when it has got another name.
pub(in crate::sys) fn private_temporary_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let file = tempfile::NamedTempFile::new_in(folder)?;
    make_private(file.path(), "")?;
    Ok(file)
}

/// Makes a temporary file in a folder.
pub(in crate::sys) fn shared_temporary_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::NamedTempFile::new_in(folder)
}

/// Makes a temporary file in a folder. Like a new file it inherits who may use it; a file that is read-only cannot be
/// replaced.
pub(in crate::sys) fn temporary_file_like(_: &Path, folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::NamedTempFile::new_in(folder)
}

/// Opens what is locked in a folder's place: folders themselves have no locks here, so it is a file of the folder's own
/// among the user's temporary files.
pub fn open_folder_lock(folder: &Path) -> io::Result<File> {
    // An error for a folder that is not there, as elsewhere.
    let folder = win32::final_path(&open_attributes(folder, true)?)?;
    let name = ContentHash::digest(path_bytes(&folder)).to_string();
    let locks = std::env::temp_dir().join("slop-locks");
    std::fs::create_dir_all(&locks)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    open_without_links(&options, &locks.join(&name[..32]))
}

/// Returns the file in which a locked file's holder is written down: one next to it, because nobody else can read a file
/// that is locked.
pub(in crate::sys) fn holder_file(lock: &Path) -> PathBuf {
    lock.with_extension("pid")
}

/// Writes the text about a locked file's holder in place of the one before.
#[expect(clippy::disallowed_methods, reason = "this is the window")]
pub(in crate::sys) fn write_holder(lock: &Path, _locked: &File, text: &[u8]) -> io::Result<()> {
    std::fs::write(holder_file(lock), text)
}

/// Returns an error if the user may not write to a file or to a folder. Writes nothing.
pub(in crate::sys) fn check_writable(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    // For a file, the same right is that to write to it.
    options.access_mode(FILE_ADD_FILE).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path).map(drop)
}

/// Returns whether other users may read or write a file.
pub(in crate::sys) fn is_open_to_others(path: &Path) -> io::Result<bool> {
    let (_, access_list) = win32::security(&open_attributes(path, true)?)?;
    Ok(others_may(Access::Read, &access_list, &win32::user_sid()?))
}

/// Returns whether an open file is the user's own, and nobody else may read it.
pub(in crate::sys) fn is_own_secret(file: &File) -> io::Result<bool> {
    let ((owner, access_list), user) = (win32::security(file)?, win32::user_sid()?);
    Ok(is_user(&owner, &user) && !others_may(Access::Read, &access_list, &user))
}

/// Returns whether a file is the user's own, and nobody else can write to it.
pub fn is_private_file(path: &Path) -> bool {
    let check = || {
        let ((owner, access_list), user) =
            (win32::security(&open_attributes(path, true)?)?, win32::user_sid()?);
        Ok::<_, io::Error>(is_user(&owner, &user) && !others_may(Access::Write, &access_list, &user))
    };
    check().unwrap_or(false)
}

/// Returns whether a file, a folder or a link is the user's own.
pub fn is_own(path: &Path) -> io::Result<bool> {
    let (owner, _) = win32::security(&open_attributes(path, false)?)?;
    Ok(is_user(&owner, &win32::user_sid()?))
}

/// Returns whether a folder belongs to another user, whose settings could make us work for him.
pub fn is_other_users(path: &Path) -> io::Result<bool> {
    let (owner, _) = win32::security(&open_attributes(path, true)?)?;
    Ok(!is_user(&owner, &win32::user_sid()?))
}

/// The group of administrators, to whom belongs what one of them makes with elevated rights.
const ADMINISTRATORS: &str = "S-1-5-32-544";

fn is_user(owner: &str, user: &str) -> bool {
    owner == user || owner == ADMINISTRATORS
}

/// Returns the file of the program of this name in a folder; `None` if there is none. Scripts of the command processor are
/// no programs: how it splits their arguments is not known here.
pub fn program_in(folder: &Path, name: &str) -> Option<PathBuf> {
    let candidates = [folder.join(name), folder.join(format!("{name}.exe"))];
    let is_program = |file: &&PathBuf| {
        file.extension().is_some_and(|end| end.eq_ignore_ascii_case("exe")) && file.is_file()
    };
    candidates.iter().find(is_program).cloned()
}

/// Returns what distinguishes the user that this process runs as from others, as part of a file's name.
pub fn user_tag() -> String {
    win32::user_sid().unwrap_or_default()
}

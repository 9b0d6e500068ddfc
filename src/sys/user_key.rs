//! The user's key, which is stored outside of every project.

use std::fs::OpenOptions;
use std::io;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use ring::rand::{SecureRandom, SystemRandom};

use super::disk::{Disk, RealDisk};
use super::file_access::{is_own_secret, open_without_links, private_temporary_file, user_tag};

const FILE: &str = "cache.key";
const MAX_TRIES: usize = 3;

/// Returns the user's key, which is generated on first use and stored in the folder for the user's state. Without a
/// writable home folder, it lasts only for the user's session; without any folder, it is unique to this process.
pub fn user_key() -> [u8; 32] {
    key_in_any(&key_folders())
}

#[expect(clippy::disallowed_methods, reason = "where a user's state is, is said by the environment alone")]
fn key_folders() -> Vec<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let state = folder("XDG_STATE_HOME")
        .or_else(|| Some(folder("HOME").or_else(|| folder("USERPROFILE"))?.join(".local/state")));
    let session = folder("XDG_RUNTIME_DIR").unwrap_or_else(std::env::temp_dir);
    let session = session.join(format!("slop-{}", user_tag()));
    state.into_iter().map(|folder| folder.join("slop")).chain([session]).collect()
}

fn key_in_any(folders: &[PathBuf]) -> [u8; 32] {
    folders.iter().find_map(|folder| key_in(folder).ok()).unwrap_or_else(random_key)
}

fn key_in(folder: &Path) -> io::Result<[u8; 32]> {
    let file = folder.join(FILE);
    let mut made = Err(io::Error::from(io::ErrorKind::NotFound));
    for _ in 0..MAX_TRIES {
        match read_key(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            read => return read,
        }
        made = make_key(folder, &file);
    }
    made.and_then(|()| read_key(&file))
}

fn read_key(path: &Path) -> io::Result<[u8; 32]> {
    // The folder may be writable by others, such as that for temporary files.
    let mut file = open_without_links(OpenOptions::new().read(true), path)?;
    // Other users may know it.
    if !file.metadata()?.is_file() || !is_own_secret(&file)? {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "not a file of this user alone"));
    }
    let mut key = [0; 32];
    file.read_exact(&mut key)?;
    Ok(key)
}

fn make_key(folder: &Path, file: &Path) -> io::Result<()> {
    RealDisk.create_private_folder(folder)?;
    let mut new = private_temporary_file(folder)?;
    new.write_all(&random_key())?;
    // Of two simultaneous processes, the first one wins.
    match new.persist_noclobber(file) {
        Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(error.error),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn random_key() -> [u8; 32] {
    let mut key = [0; 32];
    SystemRandom::new().fill(&mut key).expect("the system provides random numbers");
    key
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::slice;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_is_the_users_alone() {
        let folder = tempfile::tempdir().unwrap();
        let folders = [folder.path().join("state/slop")];
        let key = key_in_any(&folders);
        assert_eq!(key_in_any(&folders), key);
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folders[0]), mode(&folders[0].join(FILE))), (0o700, 0o600));
        fs::remove_file(folders[0].join(FILE)).unwrap();
        assert_ne!(key_in_any(&folders), key);
    }

    #[test]
    fn a_key_that_others_may_know_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let [known, own] = ["known", "own"].map(|name| folder.path().join(name));
        let key = key_in_any(slice::from_ref(&known));
        fs::set_permissions(known.join(FILE), fs::Permissions::from_mode(0o644)).unwrap();
        let folders = [known, own.clone()];
        assert_ne!(key_in_any(&folders), key);
        assert_eq!(key_in_any(&folders), key_in_any(&[own]));
    }

    #[test]
    fn without_a_folder_the_key_is_that_of_one_process() {
        let folders = [PathBuf::from("/proc/none"), PathBuf::from("/dev/null/none")];
        assert_ne!(key_in_any(&folders), key_in_any(&folders));
    }
}

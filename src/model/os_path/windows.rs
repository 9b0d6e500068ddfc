//! Paths are UTF-16, here as UTF-8; what is no UTF-16, which the file system allows, is the name of no file.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;

use super::windows_names::{is_usable, with_slashes};

/// Returns the bytes of a path or a name: UTF-8, with the separators as they are.
pub fn path_bytes<P: AsRef<OsStr> + ?Sized>(path: &P) -> &[u8] {
    path.as_ref().as_encoded_bytes()
}

/// Returns the path that has these bytes; one that cannot exist if they are not UTF-8.
pub fn bytes_as_path(bytes: &[u8]) -> &Path {
    Path::new(std::str::from_utf8(bytes).unwrap_or("\0"))
}

/// Returns a path with `/` between its parts; `None` if the system takes one of them for something else than a file's name.
pub(in crate::model) fn usable_path(path: &[u8]) -> Option<Cow<'_, [u8]>> {
    let path = with_slashes(path);
    is_usable(&path).then_some(path)
}

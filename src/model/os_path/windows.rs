//! Paths are UTF-16, here as UTF-8. Names that are invalid UTF-16, which the file system allows, are treated as
//! nonexistent.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;

use super::windows_names::{from_address, is_usable, to_address, with_slashes};

/// Returns the bytes of a path or a name: UTF-8, with the separators as they are.
pub fn path_bytes<P: AsRef<OsStr> + ?Sized>(path: &P) -> &[u8] {
    path.as_ref().as_encoded_bytes()
}

/// Returns the path that has these bytes; one that cannot exist if they are not UTF-8.
pub fn bytes_as_path(bytes: &[u8]) -> &Path {
    Path::new(std::str::from_utf8(bytes).unwrap_or("\0"))
}

/// Returns the bytes of a path with `/` between its parts.
pub fn slashed_bytes(path: &Path) -> Cow<'_, [u8]> {
    with_slashes(path_bytes(path))
}

/// Returns an absolute path as in a file URL before it is encoded: from its first `/`.
pub fn address_bytes(path: &Path) -> Cow<'_, [u8]> {
    to_address(path_bytes(path))
}

/// Returns the path of a file URL.
pub fn address_as_path(address: &[u8]) -> &Path {
    bytes_as_path(from_address(address))
}

/// Returns a path with `/` as separator; `None` if one of its names is reserved by the system.
pub(in crate::model) fn usable_path(path: &[u8]) -> Option<Cow<'_, [u8]>> {
    let path = with_slashes(path);
    is_usable(&path).then_some(path)
}

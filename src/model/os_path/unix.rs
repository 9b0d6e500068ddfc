//! Paths are bytes; names may contain any bytes except `/` and NUL.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Returns the bytes of a path or a name, as the file system has them.
pub fn path_bytes<P: AsRef<OsStr> + ?Sized>(path: &P) -> &[u8] {
    path.as_ref().as_bytes()
}

/// Returns the path that has these bytes.
pub fn bytes_as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// Returns the bytes of a path with `/` between its parts.
pub fn slashed_bytes(path: &Path) -> Cow<'_, [u8]> {
    Cow::Borrowed(path_bytes(path))
}

/// Returns an absolute path as in a file URL before it is encoded: from its first `/`.
pub fn address_bytes(path: &Path) -> Cow<'_, [u8]> {
    Cow::Borrowed(path_bytes(path))
}

/// Returns the path of a file URL.
pub fn address_as_path(address: &[u8]) -> &Path {
    bytes_as_path(address)
}

/// Returns a path with `/` as separator; `None` if one of its names is reserved by the system.
#[expect(clippy::unnecessary_wraps, reason = "other systems reserve names")]
pub(in crate::model) fn usable_path(path: &[u8]) -> Option<Cow<'_, [u8]>> {
    Some(Cow::Borrowed(path))
}

//! Paths are bytes, and any bytes but `/` and NUL are a name.

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

/// Returns an absolute path as the address of a file has it, before it is encoded: from its first `/`.
pub fn address_bytes(path: &Path) -> Cow<'_, [u8]> {
    Cow::Borrowed(path_bytes(path))
}

/// Returns the path that the address of a file has.
pub fn address_as_path(address: &[u8]) -> &Path {
    bytes_as_path(address)
}

/// Returns a path with `/` between its parts; `None` if the system takes one of them for something else than a file's name.
#[expect(clippy::unnecessary_wraps, reason = "other systems reserve names")]
pub(in crate::model) fn usable_path(path: &[u8]) -> Option<Cow<'_, [u8]>> {
    Some(Cow::Borrowed(path))
}

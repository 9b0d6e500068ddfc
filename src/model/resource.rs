//! The folders of a project: its root and linked folders.

use std::path::PathBuf;

use super::named_enum::named_enum;
use super::path::RelPath;

named_enum! {
    /// How the files of a resource are listed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ResourceKind {
        /// As git lists them.
        GitCheckout = "git-checkout",
        /// By a walk.
        Directory = "directory",
    }
}

/// The device and inode of a folder, which identify it regardless of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FolderIdentity {
    pub dev: u64,
    pub ino: u64,
}

/// A folder that is mounted in a project: there, its file `a.py` is `@name/a.py`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LinkedFolder {
    pub name: String,
    pub kind: ResourceKind,
    /// An absolute path without symbolic links.
    pub path: PathBuf,
    /// The folder that was linked; `None` for one within the root, where any folder is accepted.
    pub identity: Option<FolderIdentity>,
    /// When the user linked it, or consented to the project's proposal, in seconds since the epoch; `None` for one
    /// within the root, which needs no consent.
    pub linked_at_s: Option<i64>,
}

impl LinkedFolder {
    /// Returns the folder's path in the project: `@lib`.
    pub fn mount_point(&self) -> RelPath {
        RelPath::new(format!("@{}", self.name).as_bytes()).expect("a resource's name has no slash")
    }
}

/// The longest name of a resource, in bytes.
const MAX_NAME_BYTES: usize = 40;

/// Returns whether a resource can have this name.
pub fn is_resource_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    name.len() <= MAX_NAME_BYTES
        && name.bytes().next().is_some_and(is_plain)
        && name.bytes().all(|byte| is_plain(byte) || matches!(byte, b'.' | b'_' | b'-'))
}

/// Returns the name of the resource in a path such as `@lib/src/a.py`, and the path inside it, which is empty for the
/// resource itself. Callers have to check that the resource exists.
pub fn split_resource(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let path = path.strip_prefix(b"@")?;
    let end = path.iter().position(|byte| *byte == b'/').unwrap_or(path.len());
    Some((&path[..end], path.get(end + 1..).unwrap_or_default())).filter(|(name, _)| !name.is_empty())
}

/// Returns the name of the resource in a path such as `@lib/src/a.py`.
pub fn resource_name(path: &[u8]) -> Option<&[u8]> {
    split_resource(path).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_plain() {
        for name in ["a", "0", "lib", "a.b_c-d", &"x".repeat(40)] {
            assert!(is_resource_name(name), "{name}");
        }
        for name in ["", ".", "..", "-a", "_a", "A", "ä", "a/b", "a\0", "a\n", "a b", "@a", &"x".repeat(41)]
        {
            assert!(!is_resource_name(name), "{name:?}");
        }
    }

    #[test]
    fn a_path_names_its_resource() {
        let split = |path: &'static str| split_resource(path.as_bytes());
        assert_eq!(split("@lib/src/a.py"), Some((&b"lib"[..], &b"src/a.py"[..])));
        assert_eq!(split("@lib"), Some((&b"lib"[..], &b""[..])));
        for path in ["lib/a", "src/@lib/a", "@", "@/a", ""] {
            assert_eq!(split(path), None, "{path}");
        }
    }
}
